/* Optimistic loads (rules.md R2): old = *p; do { seen = old; old = atomicCAS(p, seen, f(seen)); } while (old !=
 * seen).
 *
 * The load only proposes what the compare-and-swap then verifies, so one that races with atomics does no harm. Such a
 * value reaches the comparison by copies and selections, through local variables, or, where nothing is inlined (-G),
 * as an argument of atomicCAS and what that calls. A function is lowered when it is first called, so what becomes of
 * its parameters is read from the text. */
#include "flow/analyses.h"
#include "lower/lower.h"
#include "flow/worklist.h"

enum { CALLS_DEEP = 4 }; /* levels of calls: atomicCAS, __ullAtomicCAS, and functions of the user around them */

/* ---- in the text of a function that is called ---- */

static bool is_base(const struct ptx_insn *i, const char *name) { return i->op && str_is(i->op->base, name); }

static u32 bytes_of(const struct ptx_insn *i)
{
    static const struct {
        const char *mod;
        u32 bytes;
    } t[] = { { "b16", 2 }, { "b32", 4 }, { "b64", 8 }, { "b128", 16 } };
    for (u32 k = 0; k < COUNT_OF(t); k++)
        if (lower_has_mod(i, t[k].mod)) return t[k].bytes;
    return 0;
}

/* Arguments of 16 bits travel in 32: an integer made wider and cut off again is the same. */
static bool fits(u32 size, u32 width) { return size == width || (width == 2 && size == 4); }

static bool keeps(const struct ptx_insn *i)
{
    static const char *const whole[] = { "u16", "s16", "u32", "s32" };
    if (is_base(i, "mov")) return true;
    u32 n = 0;
    for (u32 k = 0; k < COUNT_OF(whole) && is_base(i, "cvt"); k++)
        for (u32 m = 0; m < i->op->nmod; m++) n += str_is(i->op->mod[m], whole[k]);
    return n == 2 && i->op->nmod == 2;
}

struct speculation_asked { /* what was answered before: functions that call each other often are read once */
    struct arena mem;
    struct map answer; /* by struct speculation_question, as text */
};

struct speculation_question { /* whether a compare-and-swap compares with a parameter */
    const struct ptx_func *func;
    u32 param, width, deep; /* which one; bytes of the value; levels of calls that are looked into */
};

static const bool answers[2] = { false, true };

struct flow { /* where the value of a parameter goes in its function */
    struct speculation_asked *asked;
    const struct ptx_func *f;
    u8 *reg; /* by register: holds it */
    const struct ptx_var *arg[8];
    u32 narg;  /* .param variables of calls that hold it */
    u32 width; /* bytes of it */
    bool more; /* something new was found */
};

static bool holds(const struct flow *w, const struct ptx_operand *o)
{
    return o->kind == OP_REG && o->reg && w->reg[o->reg->index];
}

static void mark(struct flow *w, const struct ptx_operand *o)
{
    if (o->kind != OP_REG || !o->reg || w->reg[o->reg->index]) return;
    w->reg[o->reg->index] = 1;
    w->more = true;
}

static bool passes(const struct flow *w, const struct ptx_operand *o)
{
    for (u32 k = 0; k < w->narg; k++)
        if (o->kind == OP_SYM && o->var == w->arg[k]) return true;
    return holds(w, o);
}

static bool compares(struct speculation_asked *a, const struct ptx_func *f, u32 param, u32 width, u32 deep);

static bool call_compares(const struct flow *w, const struct ptx_insn *i, u32 deep)
{
    u32 k = i->narg && i->arg[0].kind == OP_LIST;
    const struct ptx_operand *to = k < i->narg ? &i->arg[k] : NULL, *args = k + 1 < i->narg ? &i->arg[k + 1] : NULL;
    if (!to || to->kind != OP_SYM || !to->func || !args || args->kind != OP_LIST) return false;
    for (u32 n = 0; n < args->nelem; n++)
        if (passes(w, &args->elem[n]) && compares(w->asked, to->func, n, w->width, deep)) return true;
    return false;
}

/* One instruction more; true: it is the comparison. */
static bool follow(struct flow *w, const struct ptx_insn *i, const struct ptx_var *param, u32 deep)
{
    const struct ptx_operand *a = i->arg;
    if (!i->op || (i->narg < 2 && !is_base(i, "call"))) return false;
    if (is_base(i, "ld") && a[1].kind == OP_MEM && a[1].var == param && !a[1].imm)
        mark(w, &a[0]);
    else if (keeps(i) && holds(w, &a[1]))
        mark(w, &a[0]);
    else if (is_base(i, "st") && a[0].kind == OP_MEM && a[0].var && a[0].var->space == SP_PARAM && !a[0].imm &&
             holds(w, &a[1])) {
        for (u32 k = 0; k < w->narg; k++)
            if (w->arg[k] == a[0].var) return false;
        if (w->narg < COUNT_OF(w->arg)) {
            w->arg[w->narg++] = a[0].var;
            w->more = true;
        }
    } else if (is_base(i, "atom"))
        return i->narg >= 4 && lower_has_mod(i, "cas") && bytes_of(i) == w->width && holds(w, &a[2]);
    else if (is_base(i, "call"))
        return deep && call_compares(w, i, deep - 1);
    return false;
}

static bool compares_by_text(struct speculation_asked *a, const struct ptx_func *f, u32 param, u32 width, u32 deep)
{
    struct arena tmp = { 0 };
    struct flow w = { .asked = a, .f = f, .reg = NEW_ARRAY(&tmp, u8, f->nregs + 1), .width = width };
    bool yes = false;
    if (f->param[param]->reg[0]) w.reg[f->param[param]->reg[0]->index] = 1;
    do {
        w.more = false;
        for (u32 k = 0; k < f->ninsn && !yes; k++) yes = follow(&w, &f->insn[k], f->param[param], deep);
    } while (w.more && !yes && !stop_asked());
    arena_free(&tmp);
    return yes;
}

/* A compare-and-swap compares with that parameter, in the function or one that it calls. */
static bool compares(struct speculation_asked *a, const struct ptx_func *f, u32 param, u32 width, u32 deep)
{
    if (f->alias_of) f = f->alias_of;
    if (!f->has_body || param >= f->nparam || !fits((u32)f->param[param]->size, width)) return false;
    struct speculation_question *q = NEW(&a->mem, struct speculation_question);
    *q = (struct speculation_question){ f, param, width, deep };
    struct str key = { (const char *)q, offsetof(struct speculation_question, deep) + sizeof q->deep };
    const bool *known = map_get(&a->answer, key);
    if (known) return *known;
    bool yes = compares_by_text(a, f, param, width, deep);
    map_put(&a->mem, &a->answer, key, (void *)&answers[yes]);
    return yes;
}

/* ---- in the function that loads ---- */

/* The value of a register goes on unchanged into another one. */
static bool carries(const struct lop *o)
{
    if (o->kind != K_LANE || o->form < 0) return false;
    if (o->shape != SHAPE_CONVERT) return o->shape == SHAPE_MOVE || o->shape == SHAPE_SELECT;
    enum ptx_type to = (enum ptx_type)isa_operand_type(&isa_forms[o->form], 0),
                  from = (enum ptx_type)isa_operand_type(&isa_forms[o->form], 1);
    return !type_is_float(to) && !type_is_float(from) && type_size[to] >= 2 && type_size[from] >= 2;
}

struct spot {
    const struct ptx_var *var;
    s64 at;
}; /* in the frame; var NULL: the text does not tell */

/* What a load or store of the frame has: a variable as a whole, or some bytes by their offset. */
static struct spot spot_of(const struct lowered *l, const struct lop *o)
{
    const struct opnd *data = lop_data(o, 0);
    const struct spot none = { NULL, 0 };
    if (o->kind != K_MEM || !(o->flags & ISA_ACCESS) || lop_is_atomic(o) || data->kind != O_REG ||
        l->site[o->site].vec != 1)
        return none;
    const struct site *s = &l->site[o->site];
    const struct ptx_var *v = s->prov.var;
    if (s->prov.kind != FROM_VAR || v->space != SP_LOCAL) return none;
    if (!s->prov.is_start) return v->size == s->width ? (struct spot){ v, 0 } : none;
    for (u32 k = 0; k < v->npart; k++)
        if (v->part[k].within == (u64)o->off && v->part[k].size == s->width) return (struct spot){ &v->part[k], 0 };
    return (struct spot){ v, o->off };
}

static bool is_cas(const struct lowered *l, const struct lop *o)
{
    return o->kind == K_MEM && lop_fetches(o) && l->site[o->site].atom == AT_CAS;
}

struct compared { /* registers and places whose value a compare-and-swap of one width compares with */
    u8 *reg;      /* by register */
    struct spot spot[8];
    u32 nspot;
    struct op_lists definers; /* by register */
    struct worklist due;      /* operations that may pass such a value on */
};

static void add_reg(struct compared *g, const struct opnd *o)
{
    if (o->kind != O_REG || g->reg[o->reg]) return;
    g->reg[o->reg] = 1;
    worklist_add_all(&g->due, &g->definers, o->reg);
}

static bool has_spot(const struct compared *g, struct spot p)
{
    for (u32 k = 0; p.var && k < g->nspot; k++)
        if (g->spot[k].var == p.var && g->spot[k].at == p.at) return true;
    return false;
}

/* The arguments of the call that ends a block: stored there before it. */
static void add_arguments(const struct lowered *l, const struct block *b, u32 width, struct compared *g,
                          struct speculation_asked *asked)
{
    const struct call *c = &l->call[l->op[b->end - 1].site];
    for (u32 n = 0; c->func && n < c->narg; n++) {
        if (!fits(c->arg[n].size, width) || !compares(asked, c->func, n, width, CALLS_DEEP)) continue;
        for (u32 k = b->first; k < b->end; k++) {
            const struct lop *o = &l->op[k];
            if (o->kind == K_MEM && lop_is_store(o) && l->site[o->site].space == SP_CALL &&
                lop_src(o, SRC_ADDRESS)->kind == O_CONST &&
                lop_src(o, SRC_ADDRESS)->value + (u64)o->off == c->arg[n].from)
                add_reg(g, lop_src(o, SRC_DATA));
        }
    }
}

/* One operation backwards: when its result is in the set and it passes a value on, its source joins the set. */
static void back(const struct lowered *l, const struct lop *o, struct compared *g)
{
    const struct opnd *d = lop_dst(o, 0);
    struct spot p = spot_of(l, o);
    if (lop_is_load(o) && p.var && g->reg[d->reg] && !has_spot(g, p) && g->nspot < COUNT_OF(g->spot)) {
        g->spot[g->nspot++] = p;
        for (u32 k = 0; k < l->nop; k++) worklist_add(&g->due, k); /* stores may come before it in the text */
    }
    if (lop_is_store(o) && has_spot(g, p)) add_reg(g, lop_src(o, SRC_DATA));
    if (!carries(o) || d->kind != O_REG || !g->reg[d->reg]) return;
    add_reg(g, lop_src(o, 0));
    if (o->shape == SHAPE_SELECT) add_reg(g, lop_src(o, 1));
}

/* Registers whose value some compare-and-swap of `width` bytes compares with. */
static u8 *compared(const struct lowered *l, u32 width, struct arena *a)
{
    struct compared g = { .reg = NEW_ARRAY(a, u8, l->nreg + 1),
                          .definers = op_definers(l, a),
                          .due = worklist_new(l->nop, a) };
    struct speculation_asked asked = { 0 };
    for (u32 k = 0; k < l->nop; k++)
        if (is_cas(l, &l->op[k]) && l->site[l->op[k].site].width == width) add_reg(&g, lop_src(&l->op[k], SRC_DATA));
    for (u32 b = 0; b < l->nblock; b++)
        if (l->block[b].term == TERM_CALL && l->block[b].end > l->block[b].first)
            add_arguments(l, &l->block[b], width, &g, &asked);
    arena_free(&asked.mem);
    for (u32 k; worklist_take(&g.due, &k);) back(l, &l->op[k], &g);
    return g.reg;
}

void optimistic_find(struct lowered *l)
{
    struct arena tmp = { 0 };
    u8 *is[4] = { NULL }; /* what compared() gives for widths of 2 to 16 bytes; made when a load asks */
    bool any = l->ncall > 0;
    for (u32 k = 0; k < l->nop; k++) any |= is_cas(l, &l->op[k]);
    for (u32 k = 0; any && k < l->nop; k++) {
        const struct lop *o = &l->op[k];
        const struct opnd *d = lop_dst(o, 0);
        if (o->kind != K_MEM || !lop_is_load(o) || d->kind != O_REG) continue;
        struct site *s = &l->site[o->site];
        if (s->sem != SEM_WEAK || s->vec != 1 || s->width < 2 ||
            (s->space != SP_GLOBAL && s->space != SP_SHARED && s->space != SP_GENERIC))
            continue;
        u32 n = (u32)__builtin_ctz(s->width) - 1;
        if (!is[n]) is[n] = compared(l, 2u << n, &tmp);
        if (is[n][d->reg]) s->flags |= SITE_OPTIMISTIC;
    }
    arena_free(&tmp);
}
