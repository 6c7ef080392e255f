/* Decoding: a lowered function becomes flat code for one block shape, fast (with classes) or plain.
 *
 * Every operand is an offset into the warp's register file:
 *   head     constants, parameters, special registers: written when a warp is set up
 *   scalars  S registers, predicates (one word a warp), A registers (a base per group)
 *   vectors  scratch, then V registers: those that live across blocks, then those that live within one
 * V registers share slots by liveness. A register that lives within one block needs no blending: lanes that are
 * elsewhere have no value in it. */
#include "lower/decode.h"
#include "flow/classes.h"
#include "flow/overflow.h"
#include <stdlib.h>

struct alloc {
    u32 next;         /* the first slot that was never given out */
    VEC(u32) free[4]; /* slots given back, by log2 of their size & 3 */
};

struct decoder {
    struct lowered *l;
    struct code *c;
    struct arena *mem;
    struct divergence d;
    VEC(struct insn) insn;
    VEC(struct insn_opnd) operand; /* lists of the instructions */
    VEC(struct head) head;
    struct map head_map;
    u32 next; /* next free slot of the scalar part */
};

/* ---- slots ---- */

static u32 slots_of(u32 cls, u32 width, u32 groups)
{
    if (width == 1 || cls == CLS_S) return 1;
    if (cls == CLS_A) return groups;
    return width * LANES / 8;
}

struct span {
    u32 reg, start, end;
};
static int by_start(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return x->start != y->start ? (x->start < y->start ? -1 : 1) : x->reg < y->reg ? -1 : x->reg > y->reg;
}

static u32 take_slot(struct arena *mem, struct alloc *a, u32 size)
{
    u32 k = (u32)__builtin_ctz(size) & 3;
    (void)mem;
    if (a->free[k].n) return a->free[k].p[--a->free[k].n];
    u32 s = a->next;
    a->next += size;
    return s;
}

/* Linear scan over the spans that want slots from one pool; all sizes are 8, 16 or 32 slots. */
static void scan(struct decoder *d, struct span *s, u32 n, u32 *next)
{
    struct alloc a = { .next = *next };
    struct arena tmp = { 0 };
    u32 *active = NEW_ARRAY(&tmp, u32, n + 1), na = 0;
    qsort(s, n, sizeof *s, by_start);
    for (u32 k = 0; k < n; k++) {
        u32 m = 0;
        for (u32 j = 0; j < na; j++) {
            struct span *x = &s[active[j]];
            if (x->end < s[k].start) {
                struct where *w = &d->c->reg[x->reg];
                VEC_PUSH(&tmp, &a.free[(u32)__builtin_ctz(slots_of(w->cls, w->width, d->c->groups)) & 3], w->slot);
            } else
                active[m++] = active[j];
        }
        na = m;
        struct where *w = &d->c->reg[s[k].reg];
        w->slot = (u16)take_slot(&tmp, &a, slots_of(w->cls, w->width, d->c->groups));
        active[na++] = k;
    }
    *next = a.next;
    arena_free(&tmp);
}

/* First and last position of every register, over the blocks in order. */
static struct span *find_spans(const struct lowered *l, struct arena *a, u32 *block_pos)
{
    struct span *s = NEW_ARRAY(a, struct span, l->nreg + 1);
    u32 pos = 1;
    for (u32 k = 0; k < l->nreg; k++) s[k] = (struct span){ k, NONE, 0 };
#define TOUCH(reg, p)                         \
    do {                                      \
        struct span *t_ = &s[reg];            \
        if ((p) < t_->start) t_->start = (p); \
        if ((p) > t_->end) t_->end = (p);     \
    } while (0)
    for (u32 b = 0; b < l->nblock; b++) {
        const struct block *bl = &l->block[b];
        block_pos[b] = pos;
        for (u32 k = bl->first; k < bl->end; k++, pos++) {
            EACH_USE (r, &l->op[k]) TOUCH(r, pos);
            EACH_DEF (r, &l->op[k]) TOUCH(r, pos);
        }
        pos++;
        for (u32 w = 0; w < l->words; w++) {
            EACH_SET64 (bit, bl->live_in[w]) TOUCH(w * 64 + bit, block_pos[b]);
            EACH_SET64 (which, bl->live_out[w]) TOUCH(w * 64 + which, pos - 1);
        }
    }
    return s;
}

static bool assign_slots(struct decoder *d, struct error *e)
{
    struct lowered *l = d->l;
    struct code *c = d->c;
    struct arena tmp = { 0 };
    u32 *block_pos = NEW_ARRAY(&tmp, u32, l->nblock + 1), n = 0;
    struct span *all = find_spans(l, &tmp, block_pos), *s = NEW_ARRAY(&tmp, struct span, l->nreg + 1);
    for (u32 k = 0; k < l->nreg; k++) {
        struct where *w = &c->reg[k];
        if (all[k].start == NONE) continue;
        if (w->cls == CLS_V && w->width > 1) continue;
        w->slot = (u16)d->next;
        d->next += slots_of(w->cls, w->width, c->groups);
    }
    d->next = (d->next + 15) / 16 * 16;
    c->vector = d->next;
    u32 next = d->next + SCRATCHES * SCRATCH_BYTES / 8;
    for (u32 k = 0; k < d->head.n; k++) /* special registers that differ in every lane */
        if (d->head.p[k].cls == CLS_V) {
            d->head.p[k].slot = (u16)next;
            next += 16;
        }
    for (int local = 0; local < 2; local++) {
        n = 0;
        for (u32 k = 0; k < l->nreg; k++)
            if (all[k].start != NONE && c->reg[k].cls == CLS_V && c->reg[k].width > 1 && l->local[k] == local)
                s[n++] = all[k];
        scan(d, s, n, &next);
    }
    arena_free(&tmp);
    if (next >= 65536)
        return error_set(e, ERR_UNSUPPORTED, "function %.*s keeps too many registers alive (%u KB a warp)",
                         (int)l->func->name.n, l->func->name.p, next / 128);
    c->bytes = next * 8;
    return true;
}

/* ---- operands ---- */

static u64 head_key(struct opnd o)
{
    return (u64)o.kind << 56 ^ (u64)o.comp << 48 ^ (o.kind == O_SREG ? (u64)o.reg << 32 : 0) ^
           o.value * 0x9e3779b97f4a7c15u;
}

/* The head entry of a constant, parameter or special register; made when first asked for. */
static u32 head_entry(struct decoder *d, struct opnd o)
{
    u64 h = head_key(o);
    struct str key = { (const char *)&h, 8 };
    u32 k = (u32)(uintptr_t)map_get(&d->head_map, key);
    for (; k; k = 0) {
        struct head *e = &d->head.p[k - 1];
        if (e->o.kind == o.kind && e->o.comp == o.comp && e->o.value == o.value &&
            (o.kind != O_SREG || e->o.reg == o.reg))
            return k - 1;
    }
    struct head e = { .o = o, .cls = CLS_S, .width = 8 };
    if (o.kind == O_SREG) {
        struct lane_class v = classes_of_sreg(o.reg, o.comp, d->c->group);
        e.cls = v.cls;
        e.width = v.cls == CLS_V ? 4 : 8;
        if (o.reg == SR_CTAID && o.comp < 3) e.slot = (u16)(S_CTAID_X + o.comp);
    }
    if (e.cls != CLS_V && !e.slot) {
        e.slot = (u16)d->next;
        d->next += e.cls == CLS_A ? d->c->groups : 1;
    }
    VEC_PUSH(d->mem, &d->head, e);
    map_put(d->mem, &d->head_map, (struct str){ arena_str(d->mem, key), 8 }, (void *)(uintptr_t)d->head.n);
    return d->head.n - 1;
}

static void gather_head(struct decoder *d)
{
    for (u32 k = 0; k < d->l->nop; k++) {
        const struct lop *o = &d->l->op[k];
        for (u32 j = 0; j < o->nsrc && !o->dead; j++) {
            const struct opnd *s = lop_src(o, j);
            if (s->kind == O_CONST || s->kind == O_PARAM || s->kind == O_SREG) head_entry(d, *s);
        }
    }
}

static struct insn_opnd place(struct decoder *d, const struct opnd *o)
{
    switch (o->kind) {
    case O_REG: {
        const struct where *r = &d->c->reg[o->reg];
        return (struct insn_opnd){ r->slot, r->cls, r->width };
    }
    case O_CONST:
    case O_PARAM:
    case O_SREG: {
        const struct head *e = &d->head.p[head_entry(d, *o)];
        return (struct insn_opnd){ e->slot, e->cls, e->width };
    }
    default: return (struct insn_opnd){ S_ZERO, CLS_S, 0 };
    }
}

/* ---- instructions ---- */

static u32 push_list(struct decoder *d, const struct lop *o)
{
    u32 first = d->operand.n;
    for (u32 k = 0; k < o->ndst + o->nsrc; k++) VEC_PUSH(d->mem, &d->operand, place(d, &o->opnd[k]));
    return first;
}

static struct insn make(struct decoder *d, const struct lop *o, u32 k)
{
    struct insn_opnd data = place(d, lop_is_store(o) ? lop_src(o, SRC_DATA) : lop_dst(o, 0)),
                     a = place(d, lop_src(o, 0)), b = place(d, lop_src(o, 1)), c = place(d, lop_src(o, 2));
    struct insn i = { .form = (u16)o->form,
                      .kind = o->kind,
                      .d = data.slot,
                      .a = a.slot,
                      .b = b.slot,
                      .c = c.slot,
                      .site = o->site,
                      .op = k };
    i.cls = (u8)(data.cls | a.cls << 2 | b.cls << 4 | c.cls << 6);
    i.n = data.cls == CLS_A ? (u8)d->c->groups : 1;
    if (o->guard.kind == O_REG) {
        i.guard = d->c->reg[o->guard.reg].slot;
        if (o->guard.neg) i.flags |= IF_GUARD_NEG;
    }
    if (o->kind == K_MEM || o->kind == K_WARP) {
        i.off = (s32)o->off;
        i.list = push_list(d, o);
        return i;
    }
    struct insn_opnd e = place(d, lop_src(o, 3));
    i.e = e.slot;
    if (e.width) i.flags |= (u8)(e.cls << IF_CLS_E);
    if (o->kind == K_LANE) i.f = o->mods;
    return i;
}

/* An instruction that looks at operation k before it runs. */
static void insert(struct decoder *d, struct insn i, enum inserted what)
{
    i.kind = K_INSERTED;
    i.form = (u16)what;
    VEC_PUSH(d->mem, &d->insn, i);
}

/* Inserts the guard that an affine result needs, if any. Source code promises that an index does not overflow, PTX does
 * not: so that is tested at run time. */
static void push_guard(struct decoder *d, const struct lop *o, const struct insn *i)
{
    const struct isa_form *f = &isa_forms[o->form];
    if (d->c->plain) return; /* plain code has no affine registers, and nothing to deoptimise to */
    if (CLS_AT(i, 0) != CLS_A && !(CLS_AT(i, 0) == CLS_S && CLS_AT(i, 1) == CLS_A)) return;
    bool sg = type_is_signed((enum ptx_type)f->type);
    u32 mode;
    struct insn g = { .op = i->op, .n = (u8)d->c->groups, .c = (u16)(d->c->group - 1) };
    g.a = i->a;
    g.cls = (u8)(CLS_AT(i, 1) << 2);
    switch (o->shape) {
    case SHAPE_MUL_WIDE:
    case SHAPE_MAD_WIDE:
        mode = sg ? GUARD_SIGNED : GUARD_UNSIGNED;
        if (CLS_AT(i, 1) != CLS_A) {
            g.a = i->b;
            g.cls = (u8)(CLS_AT(i, 2) << 2);
        }
        break;
    case SHAPE_CONVERT:
        if (type_size[f->type] >= type_size[f->dtype]) return;
        mode = sg ? GUARD_SIGNED : GUARD_UNSIGNED;
        break;
    case SHAPE_AND:
        mode = GUARD_AND;
        g.imm = (s64)lop_src(o, 1)->value;
        break;
    case SHAPE_SHR:
        mode = (sg ? GUARD_SHR_SIGNED : GUARD_SHR_UNSIGNED) + (type_size[f->type] == 8);
        g.imm = (s64)lop_src(o, 1)->value;
        break;
    default: return;
    }
    g.b = (u16)mode;
    if (CLS_AT(&g, 1) != CLS_A || !d->c->stride[g.a]) return;
    insert(d, g, INS_GUARD);
}

static void push_lane(struct decoder *d, const struct lop *o, u32 k, bool div)
{
    struct insn i = make(d, o, k);
    if (d->l->speculated[k] && d->c->watch & WATCH_RACE) insert(d, i, INS_SELECTION);
    push_guard(d, o, &i);
    const struct opnd *result = lop_dst(o, 0);
    bool local = result->kind == O_REG && d->l->local[result->reg];
    /* a predicate is one word of lanes in every class: blending chooses its bits */
    bool wide = CLS_AT(&i, 0) == CLS_V || isa_forms[o->form].kind != K_LANE;
    if (i.guard || (div && wide && !local)) i.flags |= IF_BLEND;
    if (result->kind == O_REG && d->l->tag[result->reg]) i.flags |= IF_TAG;
    VEC_PUSH(d->mem, &d->insn, i);
}

/* An access: which registers it fills that have tags, and whether other lanes must keep theirs. */
static void push_access(struct decoder *d, const struct lop *o, struct insn i)
{
    bool local = lop_is_load(o);
    EACH_DEF (r, o) {
        if (d->l->tag[r]) i.flags |= IF_TAG;
        if (!d->l->local[r]) local = false;
    }
    if (local) i.flags &= (u8)~IF_BLEND;
    VEC_PUSH(d->mem, &d->insn, i);
}

static void push_op(struct decoder *d, u32 k, bool div)
{
    const struct lop *o = &d->l->op[k];
    if (o->dead) return;
    struct insn i = make(d, o, k);
    u8 overflow = d->c->watch & WATCH_OVERFLOW && d->l->overflow
                      ? (d->l->overflow_on ? d->l->overflow_on : d->l->overflow)[k]
                      : 0;
    if (overflow & ~OVERFLOW_USE) insert(d, i, INS_OVERFLOW);
    if (overflow & OVERFLOW_USE) insert(d, i, INS_OVERFLOW_USE);
    if (d->l->hazard[k]) insert(d, i, INS_HAZARD);
    if (d->l->in_flight[k] & TOUCHES_PRODUCT) insert(d, i, INS_IN_FLIGHT);
    if (d->l->in_flight[k] & WRITES_UNFENCED) insert(d, i, INS_UNFENCED);
    if (d->l->in_flight[k] & STORES_FOR_ASYNC) insert(d, i, INS_PROXY);
    if (o->kind == K_LANE || o->kind == K_CMP || o->kind == K_PRED) {
        push_lane(d, o, k, div);
        return;
    }
    if (div) i.flags |= IF_BLEND;
    if (o->flags & ISA_ACCESS)
        push_access(d, o, i);
    else
        VEC_PUSH(d->mem, &d->insn, i);
}

/* Whether it counts as a step of the warp. */
static bool counts(const struct insn *i)
{
#define X(id, counted) [INS_##id] = counted,
    static const bool counted[] = { INSERTED(X) };
#undef X
    return i->kind != K_INSERTED || counted[i->form];
}

static void emit(struct decoder *d)
{
    struct lowered *l = d->l;
    struct code *c = d->c;
    c->block = arena_alloc(d->mem, sizeof *c->block * (l->nblock + 1), 8);
    for (u32 b = 0; b < l->nblock; b++) {
        const struct block *bl = &l->block[b];
        bool has_term = bl->term != TERM_FALL && bl->end > bl->first;
        c->block[b] = (struct xblock){ .start = d->insn.n,
                                       .next = bl->next,
                                       .target = bl->target,
                                       .term = bl->term,
                                       .wait = bl->wait,
                                       .div = d->d.div[b],
                                       .next_exits = bl->next != NONE && l->block[bl->next].is_exit,
                                       .target_exits = bl->target != NONE && l->block[bl->target].is_exit };
        for (u32 k = bl->first; k < bl->end - has_term; k++) push_op(d, k, d->d.div[b]);
        if (has_term && d->c->plain && d->c->watch & WATCH_INIT)
            insert(d, make(d, &l->op[bl->end - 1], bl->end - 1), INS_TERMINATOR);
        c->block[b].end = d->insn.n;
        c->block[b].steps = 1;
        for (u32 k = c->block[b].start; k < c->block[b].end; k++) c->block[b].steps += counts(&d->insn.p[k]);
        if (has_term) {
            const struct lop *o = &l->op[bl->end - 1];
            struct insn t = make(d, o, bl->end - 1);
            if (o->flags & ISA_BARRIER && o->aux == (BAR_SYNC | BAR_ALIGNED) && lop_src(o, 0)->kind == O_CONST &&
                lop_src(o, 0)->value < MAX_BARS && lop_src(o, 1)->kind == O_NONE) {
                t.flags |= IF_PLAIN_BAR; /* barrier.c has a short way for these */
                t.site = (u32)lop_src(o, 0)->value;
            }
            VEC_PUSH(d->mem, &d->insn, t);
        }
    }
    c->insn = d->insn.p;
    c->operand = d->operand.p;
    c->ninsn = d->insn.n;
    c->head = d->head.p;
    c->nhead = d->head.n;
    for (u32 k = 0; k < c->nhead; k++)
        c->head_by_cta |= c->head[k].o.kind == O_SREG &&
                          (c->head[k].o.reg == SR_SMID || c->head[k].o.reg == SR_CLUSTERID);
    c->insn_of = NEW_ARRAY(d->mem, u32, l->nop + 1);
    for (u32 k = c->ninsn; k-- > 0;) c->insn_of[c->insn[k].op] = k;
}

struct code *decode(struct lowered *l, u32 ntid_x, u32 watch, bool plain, struct error *e)
{
    u32 group = 1u << __builtin_ctz(ntid_x | LANES); /* gcd(ntid.x, 32) */
    struct code **slot = &l->code[__builtin_ctz(group)][plain][watch];
    if (*slot) return *slot;
    struct arena *mem = &l->mem;
    struct code *c = NEW(mem, struct code);
    struct decoder d = { .l = l, .c = c, .mem = mem, .next = S_FIRST };
    c->low = l;
    c->plain = plain;
    c->watch = (u8)watch;
    c->group = group;
    c->groups = LANES / c->group;
    if (plain) {
        d.d.cls = NEW_ARRAY(mem, u8, l->nreg + 1);
        d.d.stride = NEW_ARRAY(mem, s32, l->nreg + 1);
        d.d.div = NEW_ARRAY(mem, u8, l->nblock + 1);
        memset(d.d.div, 1, l->nblock);
    } else
        classes_find(l, c->group, &d.d, mem);
    if (stop_asked()) {
        error_set(e, ERR_STOPPED, "stopped while the kernel was decoded");
        return NULL;
    }
    c->reg = NEW_ARRAY(mem, struct where, l->nreg + 1);
    for (u32 k = 0; k < l->nreg; k++)
        c->reg[k] = (struct where){ .cls = d.d.cls[k], .width = l->reg_width[k], .stride = d.d.stride[k] };
    gather_head(&d);
    if (!assign_slots(&d, e)) return NULL;
    c->stride = NEW_ARRAY(mem, s32, c->vector + 1);
    for (u32 k = 0; k < l->nreg; k++)
        if (c->reg[k].cls == CLS_A && c->reg[k].slot < c->vector) c->stride[c->reg[k].slot] = c->reg[k].stride;
    for (u32 k = 0; k < d.head.n; k++)
        if (d.head.p[k].cls == CLS_A)
            c->stride[d.head.p[k].slot] = classes_of_sreg(d.head.p[k].o.reg, d.head.p[k].o.comp, c->group).stride;
    emit(&d);
    return *slot = c;
}
