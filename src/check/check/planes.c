/* Planes beside registers, and the table of origins that taints point to. */
#include "sim/planes.h"
#include "code/shared_layout.h"
#include "sim/cluster.h"
#include "sim/finding_place.h"

struct planes *planes_new(const struct code *c)
{
    u32 n = c->vector + (c->bytes / 8 - c->vector) / 8 + 1;
    struct planes *p = base_need(sizeof *p);
    *p = (struct planes){ .vector = c->vector, .n = n, .of = base_need(n * sizeof *p->of) };
    return p;
}

void planes_free(struct planes *p)
{
    if (!p) return;
    for (u32 k = 0; k < p->n; k++) base_free(p->of[k]);
    base_free(p->of);
    base_free(p->raw);
    base_free(p);
}

void planes_reset(struct planes *p)
{
    for (u32 k = 0; p->dirty && k < p->n; k++)
        if (p->of[k] && p->of[k]->lanes) {
            p->of[k]->lanes = 0;
            p->dirty--;
        }
    p->undecided = 0;
}

void planes_clear(struct planes *p, u32 slot, u32 mask)
{
    struct plane *x = p->of[plane_place(p, slot)];
    if (!x || !(x->lanes & mask)) return;
    x->lanes &= ~mask;
    p->dirty -= !x->lanes;
}

void planes_put(struct planes *p, u32 slot, u32 mask, const struct taint t[LANES])
{
    u32 with = 0;
    EACH_SET (l, mask) {
        if (t[l].undef) with |= 1u << l;
    }
    planes_clear(p, slot, mask & ~with);
    if (!with) return;
    struct plane **x = &p->of[plane_place(p, slot)];
    if (!*x) *x = base_need(sizeof **x);
    p->dirty += !(*x)->lanes;
    (*x)->lanes |= with;
    EACH_SET (l, with) {
        (*x)->t[l] = t[l];
    }
}

void planes_fill(struct planes *p, u32 slot, struct taint t)
{
    struct plane **x = &p->of[plane_place(p, slot)];
    if (!*x) *x = base_need(sizeof **x);
    p->dirty += !(*x)->lanes;
    (*x)->lanes = ALL_LANES;
    for (u32 l = 0; l < LANES; l++) (*x)->t[l] = t;
}

/* ---- origins ---- */

struct key {
    const void *low;
    u64 serial;
    u32 op, a, b, zero;
}; /* what an origin was made for */

struct origins {
    lock_t lock;
    struct arena mem;
    struct map known;        /* struct key, as bytes, to id */
    VEC(struct origin *) of; /* by id - 1 */
    u32 raw;                 /* registers whose variables may be looked for, up to MAX_RAW */
};
/* Each is a scan of the function's operations and, once it is reported, of its source. */
enum { MAX_RAW = 256 };

struct origins *origins_new(void)
{
    struct origins *o = base_alloc(sizeof *o);
    if (o) pthread_mutex_init(&o->lock, NULL);
    return o;
}

void origins_free(struct origins *o)
{
    if (!o) return;
    pthread_mutex_destroy(&o->lock);
    arena_free(&o->mem);
    base_free(o);
}

/* Names the variable of a register, where the source tells. Only what is reported gets here. The lock is held. */
static void name_variable(struct origins *o, struct origin *r)
{
    struct variable v;
    char in[256];
    const struct raw_register *u = r->raw;
    r->raw = NULL;
    if (!variable_of_register(u, &v)) return;
    name_plain(str_of(u->place->function), in, sizeof in);
    r->text =
        arena_printf(&o->mem,
                     "variable %s of %s, declared in line %u, which is read on a path where nothing was written to "
                     "it (register %s)",
                     v.name, in, v.line, r->name);
    r->name = arena_str(&o->mem, str_of(v.name));
}

const struct origin *origin_get(const struct origins *o, u32 id)
{
    struct origins *x = (struct origins *)o;
    lock(&x->lock);
    id &= ~ORIGIN_FLAGS;
    struct origin *r = id && id <= o->of.n ? o->of.p[id - 1] : NULL;
    if (r && r->raw) name_variable(x, r);
    unlock(&x->lock);
    return r;
}

/* The origin made for this key, or a new one for the caller to fill in (*fresh). The lock is held. */
static u32 find(struct origins *o, struct key k, struct origin **fresh)
{
    struct str bytes = { (const char *)&k, sizeof k };
    u32 id = (u32)(uintptr_t)map_get(&o->known, bytes);
    *fresh = NULL;
    if (id) return id;
    *fresh = NEW(&o->mem, struct origin);
    VEC_PUSH(&o->mem, &o->of, *fresh);
    (*fresh)->root = o->of.n;
    map_put(&o->mem, &o->known, (struct str){ arena_str(&o->mem, bytes), sizeof k }, (void *)(uintptr_t)o->of.n);
    return o->of.n;
}

static struct key key_of(const struct warp *w, const struct lowered *l, u32 op, u32 a, u32 b)
{
    return (struct key){ l, w->cta->launch->serial, op, a, b, 0 };
}

/* Of several launches, the one that the warp is in (report_launch). */
static u32 launch_number(const struct warp *w) { return report_launch_number(w->cta->launch->in->report); }

/* The number of an origin depends on the order in which workers met it; its key does not. */
static void set_key(struct origin *r)
{
    /* copies of one line of the source, in an unrolled loop, are one cause */
    const struct place *p = r->place;
    u64 at = !p ? 0 : p->file ? str_hash(str_of(p->file)) + ((u64)p->line << 20) + p->col : p->ptx_line;
    r->key = str_hash(str_of(r->text)) ^ at * 0x9e3779b97f4a7c15u;
}

/* The shared or local array that an offset lies in, of those that the kernel can reach; NULL: not known. */
static const struct ptx_var *array_at(const struct access *a, u32 lane)
{
    if (a->site->prov.kind == FROM_VAR && a->site->prov.var->space == a->space[lane]) return a->site->prov.var;
    return a->space[lane] == SP_SHARED ? shared_variable(a->warp->cta->launch->kernel->func, a->addr[lane]) : NULL;
}

static void describe_memory(struct origins *o, struct origin *r, const struct access *a, u32 lane,
                            const struct mem_object *obj, const struct ptx_var *v)
{
    struct arena *mem = &o->mem;
    bool shared = a->space[lane] == SP_SHARED, local = a->space[lane] == SP_LOCAL || a->space[lane] == SP_CALL;
    bool depot = v && v->name.n > 7 && !memcmp(v->name.p, "__local", 7);
    r->name = obj           ? arena_printf(mem, "%s", obj->name)
              : v && !depot ? name_of_variable(mem, v->name)
              : shared      ? "shared memory"
                            : "local memory";
    const char *what = obj && obj->kind == MEM_HEAP ? ""
                       : obj                        ? ", device memory"
                       : shared                     ? ", shared memory"
                                                    : ", local memory of the thread";
    const char *type = obj && obj->type ? arena_printf(mem, "%s", obj->type) : "";
    bool named = obj || (v && !depot);
    if (!named)
        r->text = arena_printf(mem, "read from %s, which was never written",
                               shared  ? "shared memory"
                               : local ? "local memory of the thread"
                                       : "memory");
    else if (!*type && !*what)
        r->text = arena_printf(mem, "read from %s, which was never written", r->name);
    else
        r->text = arena_printf(mem, "read from %s (%s%s), which was never written", r->name, type,
                               *type   ? what
                               : *what ? what + 2
                                       : "");
    if (obj && obj->alloc_site) r->text = arena_printf(mem, "%s; allocated at %s", r->text, obj->alloc_site);
    r->fix = obj      ? arena_printf(mem,
                                     "Write all of %s before this kernel reads it: copy to it, set it with "
                                          "cudaMemset, or "
                                          "let a kernel fill it.",
                                     r->name)
             : shared ? arena_printf(mem,
                                     "Let a thread write every element of %s that is read, the halo and the last "
                                     "partial tile too, and synchronise before the read.",
                                     r->name)
                      : arena_printf(mem, "Set %s to a value where it is declared.", named ? r->name : "the variable");
}

/* Adds a read to what is known of the smallest thread. */
static void note_read(struct origin *r, const struct access *a, u32 lane, const struct mem_object *obj,
                      const struct ptx_var *v)
{
    const struct warp *w = a->warp;
    struct span_read *x = &r->read;
    u64 base = obj                    ? obj->base
               : !v                   ? 0
               : v->space == SP_LOCAL ? w->cur->fr->local_base + v->offset
                                      : v->offset,
        at = (a->space[lane] == SP_SHARED ? cluster_offset(a->addr[lane]) : a->addr[lane]) - base;
    u32 thread = w->id * LANES + lane;
    if ((!obj && !v) || (obj && obj->kind == MEM_HEAP)) return;
    int order = !x->to || w->cta->linear < x->cta || (w->cta->linear == x->cta && thread < x->thread) ? -1
                : w->cta->linear == x->cta && thread == x->thread                                     ? 0
                                                                                                      : 1;
    if (order < 0)
        *x = (struct span_read){ w->cta->linear, thread, at, at + a->bytes, a->site->width };
    else if (!order) {
        x->from = MIN_OF(x->from, at);
        x->to = MAX_OF(x->to, at + a->bytes);
    }
}

/* Adds the bytes of a read to those that all threads have read. */
static void note_bytes(struct origin *r, const struct access *a, u32 lane)
{
    r->shared = a->space[lane] == SP_SHARED;
    u64 at = r->shared ? cluster_offset(a->addr[lane]) : a->addr[lane];
    r->low = r->high ? MIN_OF(r->low, at) : at;
    r->high = MAX_OF(r->high, at + a->bytes);
}

/* A read of shared memory whose bytes are no padding: of a float, since compilers copy padding as integers; of all of a
 * variable that is one element. The members of a vector may be some that nobody uses. */
static bool reads_word(const struct access *a, u32 lane, const struct ptx_var *v)
{
    const struct site *s = a->site;
    bool all = v && v->size == s->width && v->offset == cluster_offset(a->addr[lane]);
    return a->space[lane] == SP_SHARED && s->vec == 1 && s->width >= 4 && (s->is_float || all);
}

u32 origin_of_memory(const struct access *a, u32 lane, bool whole)
{
    struct warp *w = a->warp;
    struct origins *o = w->cta->launch->sim->origins;
    u32 op = a->insn->op, space = a->space[lane];
    bool global = space != SP_SHARED && space != SP_LOCAL && space != SP_CALL;
    struct mem_object *obj = global ? mem_find(w->cta->launch->sim->mem, a->addr[lane]) : NULL;
    const struct ptx_var *v = global ? NULL : array_at(a, lane);
    struct origin *r;
    lock(&o->lock);
    /* allocations of device malloc are distinguished by the call that made them */
    u32 heap = obj && obj->kind == MEM_HEAP && obj->alloc_site ? (u32)str_hash(str_of(obj->alloc_site)) | 1 : 0;
    u32 id = find(o,
                  key_of(w, w->code->low, op,
                         heap  ? heap
                         : obj ? obj->id
                               : space,
                         heap ? NONE - 1
                         : v  ? (u32)(v->offset + 1)
                              : 0),
                  &r);
    if (r) {
        r->launch = launch_number(w);
        r->place = finding_place(&o->mem, w->code->low, op);
        r->op = op;
        r->is_word = reads_word(a, lane, v);
        describe_memory(o, r, a, lane, obj, v);
        set_key(r);
    }
    o->of.p[id - 1]->is_word &= whole;
    note_read(o->of.p[id - 1], a, lane, obj, v);
    if (global || space == SP_SHARED) note_bytes(o->of.p[id - 1], a, lane);
    unlock(&o->lock);
    return id;
}

const char sim_operator_fix[] = "Make the tensor with zeros or full where nothing fills it, or look whether the kernel "
                                "that is to fill it writes every "
                                "element.";

u32 sim_origin_operator(struct sim *s, const struct mem_object *obj, const char *site)
{
    struct origins *o = s->origins;
    struct arena *mem = &o->mem;
    struct origin *r;
    const char *call = site ? site : "an operator";
    lock(&o->lock);
    u32 id = find(o, (struct key){ obj, 0, 0, obj->id, (u32)str_hash(str_of(call)), 0 }, &r);
    if (r) {
        r->call = arena_str(mem, str_of(call));
        r->name = arena_str(mem, str_of(obj->name));
        r->text = arena_printf(mem, "read by %s from %s, which was never written%s%s", r->call, r->name,
                               obj->alloc_site ? "; allocated at " : "", obj->alloc_site ? obj->alloc_site : "");
        r->fix = sim_operator_fix;
        set_key(r);
    }
    unlock(&o->lock);
    return id;
}

void origin_bytes(const struct origins *o, const struct origin *of, struct finding *f)
{
    const struct origin *root = origin_get(o, of->root);
    if (!root || !root->high) return;
    f->origin_space = root->shared ? "shared" : "global";
    f->origin_low = root->low;
    f->origin_high = root->high;
}

static bool mentions(const struct lop *o, u32 reg)
{
    bool there = o->guard.kind == O_REG && o->guard.reg == reg;
    for (u32 k = 0; k < o->ndst + o->nsrc; k++) there |= o->opnd[k].kind == O_REG && o->opnd[k].reg == reg;
    return there;
}

/* What is known of a register's variable without its source; NULL: nothing. */
static const struct raw_register *raw_of(struct origins *o, const struct lowered *l, u32 reg)
{
    struct raw_register *u = NEW(&o->mem, struct raw_register);
    const struct ptx_reg *r = l->func->regs[reg];
    for (u32 op = 0; op < l->nop && u->nline < RAW_LINES; op++) {
        if (!mentions(&l->op[op], reg)) continue;
        struct place *p = finding_place(&o->mem, l, op);
        while (p->inlined_at) p = (struct place *)p->inlined_at;
        if (!p->file || !p->line || (u->place && strcmp(p->file, u->place->file) != 0)) continue;
        if (!u->place) u->place = p;
        u->line[u->nline++] = p->line;
    }
    if (r->variable.n && !r->is_shared) u->debug_name = arena_str(&o->mem, r->variable);
    u->debug_line = r->variable_line;
    return u->place ? u : NULL;
}

u32 origin_of_register(struct warp *w, const struct lowered *l, u32 reg)
{
    struct origins *o = w->cta->launch->sim->origins;
    const struct ptx_func *f = l->func;
    struct origin *r;
    char name[256];
    lock(&o->lock);
    u32 id = find(o, key_of(w, l, NONE, reg, 0), &r);
    if (r) {
        r->launch = launch_number(w);
        name_plain(f->name, name, sizeof name);
        r->name = reg < f->nregs ? arena_str(&o->mem, f->regs[reg]->name) : "a register";
        r->text = arena_printf(&o->mem, "register %s of %s, which is read on a path where nothing was written to it",
                               r->name, name);
        r->fix = "Give the variable a value where it is declared, or on every path that leads here.";
        r->op = NONE;
        if (reg < f->nregs && o->raw++ < MAX_RAW) r->raw = raw_of(o, l, reg);
        set_key(r);
    }
    unlock(&o->lock);
    return id;
}

/* A value that an operation itself makes undefined. */
static u32 origin_of_operation(struct warp *w, const struct lowered *l, u32 op, const char *name, const char *text,
                               const char *fix, bool is_word)
{
    struct origins *o = w->cta->launch->sim->origins;
    struct origin *r;
    lock(&o->lock);
    u32 id = find(o, key_of(w, l, op, NONE, 0), &r);
    if (r) {
        r->launch = launch_number(w);
        r->place = finding_place(&o->mem, l, op);
        r->name = name;
        r->text = text;
        r->fix = fix;
        r->op = op;
        r->is_word = is_word;
        set_key(r);
    }
    unlock(&o->lock);
    return id;
}

u32 origin_of_shuffle(struct warp *w, const struct lowered *l, u32 op)
{
    return origin_of_operation(
        w, l, op, "a lane that takes no part",
        "shuffled from a lane that has left or takes no part in the shuffle, whose value is undefined",
        "Let every lane that is read from reach the shuffle, and name it in the mask; give lanes without data a "
        "neutral "
        "value.",
        true);
}

u32 origin_of_tensor(struct warp *w, const struct lowered *l, u32 op)
{
    return origin_of_operation(
        w, l, op, "tensor memory", "read from tensor memory, which was never written since it was allocated",
        "Let the first product of a tile not add to what d holds (enable-input-d false), or store "
        "zeros with tcgen05.st first.",
        false);
}

u32 origin_decided(struct warp *w, u32 op, u32 origin)
{
    struct origins *o = w->cta->launch->sim->origins;
    struct origin *r = NULL;
    origin &= ~ORIGIN_FLAGS;
    lock(&o->lock);
    const struct origin *from = origin && origin <= o->of.n ? o->of.p[origin - 1] : NULL;
    u32 id = !from ? 0 : find(o, key_of(w, w->code->low, op, from->root, NONE - 2), &r);
    if (r) {
        *r = *from; /* its root, too */
        r->branch = finding_place(&o->mem, w->code->low, op);
    }
    unlock(&o->lock);
    return id;
}

u32 origin_stored(struct warp *w, u32 op, u32 origin)
{
    struct origins *o = w->cta->launch->sim->origins;
    struct origin *r = NULL;
    origin &= ~ORIGIN_FLAGS;
    lock(&o->lock);
    const struct origin *from = origin && origin <= o->of.n ? o->of.p[origin - 1] : NULL;
    u32 id = !from ? 0 : find(o, key_of(w, w->code->low, op, from->root, NONE), &r);
    if (r) {
        *r = *from; /* its root, too */
        r->launch = launch_number(w);
        r->op = op;
        r->stored = finding_place(&o->mem, w->code->low, op);
        r->kernel = arena_str(&o->mem, w->cta->launch->kernel->func->name);
        const struct launch_origin *host = w->cta->launch->in->origin;
        r->host = host ? *host : (struct launch_origin){ 0 };
        if (r->host.site) r->host.site = arena_str(&o->mem, str_of(r->host.site));
        if (r->host.by) r->host.by = arena_str(&o->mem, str_of(r->host.by));
    }
    unlock(&o->lock);
    return id;
}
