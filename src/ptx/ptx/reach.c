/* What a kernel can get to: the functions that it may call, itself or through others, and the variables that any of
 * them names.
 *
 * A call through a register goes to what its .calltargets say, else to any function of the program whose address
 * somebody takes, in an instruction or an initialiser. */
#include "isa/isa.h"
#include "ptx/ptx.h"

/* The place of a function or variable in the hash table. */
static const void **seen_at(const struct ptx_reach *r, const void *p)
{
    u32 k = (u32)((uintptr_t)p * 0x9e3779b97f4a7c15u >> 32);
    while (r->seen[k & (r->capseen - 1)] && r->seen[k & (r->capseen - 1)] != p) k++;
    return &r->seen[k & (r->capseen - 1)];
}

/* Adds it to the table; false: it was there. */
static bool is_new(struct ptx_reach *r, const void *p)
{
    if (2 * r->nseen >= r->capseen) {
        const void **old = r->seen;
        u32 n = r->capseen;
        r->capseen = n ? 2 * n : 64;
        r->seen = NEW_ARRAY(&r->mem, const void *, r->capseen);
        for (u32 k = 0; k < n; k++)
            if (old[k]) *seen_at(r, old[k]) = old[k];
    }
    const void **at = seen_at(r, p);
    if (*at) return false;
    *at = p;
    r->nseen++;
    return true;
}

/* A kernel's address is for a launch: nobody calls it, so what names it gets nowhere. */
static void add_func(struct ptx_reach *r, struct ptx_func *f)
{
    f = f->alias_of ? f->alias_of : f;
    if (!f->is_entry && is_new(r, f)) VEC_PUSH(&r->mem, &r->func, f);
}

static void add_var(struct ptx_reach *r, struct ptx_var *v)
{
    if (is_new(r, v)) VEC_PUSH(&r->mem, &r->var, v);
}

static void operands(struct ptx_reach *r, const struct ptx_operand *o, u32 n)
{
    for (u32 i = 0; i < n; i++) {
        if (o[i].func) add_func(r, o[i].func);
        if (o[i].var) add_var(r, o[i].var);
        operands(r, o[i].elem, o[i].nelem);
    }
}

static bool is_call(const struct ptx_insn *in) { return in->op && str_is(in->op->base, "call"); }

/* The operand that a call goes to: the first that is no list. */
static const struct ptx_operand *target_of(const struct ptx_insn *in)
{
    u32 k = in->narg && in->arg[0].kind == OP_LIST;
    return k < in->narg ? &in->arg[k] : NULL;
}

static void taken_in(struct ptx_reach *r, const struct ptx_func *f)
{
    for (u32 i = 0; i < f->ninsn; i++) {
        const struct ptx_insn *in = &f->insn[i];
        const struct ptx_operand *target = is_call(in) ? target_of(in) : NULL;
        for (u32 j = 0; j < in->narg; j++)
            if (&in->arg[j] != target && in->arg[j].func) add_func(r, in->arg[j].func);
    }
}

/* Every function of the program whose address is somewhere. */
static void add_taken(struct ptx_reach *r, const struct ptx_module *m)
{
    for (m = m->first; m; m = m->next) {
        for (u32 i = 0; i < m->nfunc; i++) taken_in(r, m->func[i]);
        for (u32 i = 0; i < m->nvar; i++)
            for (u32 j = 0; j < m->var[i]->ninit; j++) {
                const struct ptx_symbol *s = m->var[i]->init[j].sym.n ? map_get(&m->symbols, m->var[i]->init[j].sym)
                                                                      : NULL;
                if (s && s->func) add_func(r, s->func);
            }
    }
}

/* What one instruction leads to; true: a call to nobody knows whom. */
static bool follow(struct ptx_reach *r, const struct ptx_insn *in)
{
    operands(r, in->arg, in->narg);
    const struct ptx_operand *target = is_call(in) ? target_of(in) : NULL;
    if (!target || target->kind != OP_REG) return false;
    const struct ptx_label *list = in->arg[in->narg - 1].kind == OP_LABEL ? in->arg[in->narg - 1].label : NULL;
    if (!list || list->kind != LABEL_CALL_TARGETS) return true;
    operands(r, list->target, list->ntarget);
    return false;
}

void ptx_reach(struct ptx_reach *r, struct ptx_func *kernel)
{
    bool anywhere = false;
    *r = (struct ptx_reach){ 0 };
    VEC_PUSH(&r->mem, &r->func, kernel);
    for (u32 i = 0; i < r->func.n; i++) {
        const struct ptx_func *f = r->func.p[i];
        bool unknown = false;
        for (u32 k = 0; k < f->ninsn; k++) unknown |= follow(r, &f->insn[k]);
        for (u32 k = 0; k < f->nlocal; k++)
            if (f->local[k]->space == SP_LOCAL || f->local[k]->space == SP_SHARED) add_var(r, f->local[k]);
        if (unknown && !anywhere) add_taken(r, kernel->module);
        anywhere |= unknown;
    }
}

/* Whether a kernel can get to an instruction of that kind; *known keeps the answer. */
static bool gets_to(struct ptx_func *kernel, u8 *known, bool (*is)(const struct ptx_insn *in))
{
    u8 kept = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (kept) return kept > 1;
    struct ptx_reach r;
    bool found = false;
    ptx_reach(&r, kernel);
    for (u32 i = 0; i < r.func.n && !found; i++)
        for (u32 k = 0; k < r.func.p[i]->ninsn && !found; k++) found = is(&r.func.p[i]->insn[k]);
    arena_free(&r.mem);
    __atomic_store_n(known, 1 + found, __ATOMIC_RELAXED);
    return found;
}

static bool is_trigger(const struct ptx_insn *in) { return str_is(in->opcode, "griddepcontrol.launch_dependents"); }
bool ptx_triggers(struct ptx_func *kernel) { return gets_to(kernel, &kernel->triggers, is_trigger); }

bool ptx_has_mod(const struct ptx_opcode *op, const char *mod)
{
    for (u32 k = 0; k < op->nmod; k++)
        if (str_is(op->mod[k], mod)) return true;
    return false;
}

static bool is_signal(const struct ptx_insn *in)
{
    static const char *const writes[] = { "st", "atom", "red", "fence", "membar" };
    bool signals = false;
    for (u32 k = 0; in->op && k < COUNT_OF(writes); k++) signals |= str_is(in->op->base, writes[k]);
    return signals && (ptx_has_mod(in->op, "sys") || ptx_has_mod(in->op, "volatile") || ptx_has_mod(in->op, "mmio"));
}
bool ptx_signals(struct ptx_func *kernel) { return gets_to(kernel, &kernel->signals, is_signal); }

static bool is_asynchronous(const struct ptx_insn *in)
{
    if (!in->op || in->op->form < 0) return false; /* no such instruction runs */
    return isa_forms[in->op->form].flags & (ISA_COPY | ISA_GROUP);
}

bool ptx_asynchronous(struct ptx_module *m)
{
    struct ptx_module *first = m->first ? m->first : m;
    u8 kept = __atomic_load_n(&first->asynchronous, __ATOMIC_RELAXED);
    if (likely(kept)) return kept > 1;
    bool found = false;
    for (const struct ptx_module *p = first; p && !found; p = p->next)
        for (u32 i = 0; i < p->nfunc && !found; i++)
            for (u32 k = 0; k < p->func[i]->ninsn && !found; k++) found = is_asynchronous(&p->func[i]->insn[k]);
    __atomic_store_n(&first->asynchronous, 1 + found, __ATOMIC_RELAXED);
    return found;
}
