/* Loads whose value some lanes have no need of (rules.md R8). Triton lets every thread of a block load a scalar, or an
 * element that several threads share, and lets one of them store what comes of it:
 *
 *     ld.global.b32 v, [sum];  add.f32 v, v, x;  @p st.global.b32 [sum], v;
 *
 * Where p is false the value goes nowhere: whatever that lane has read, nothing follows from it, and its load may well
 * come after the store of the lane in which p is true.
 *
 * Each register gets the one predicate under which all uses of its values stand, through any arithmetic. The predicate
 * must be the same when the load is executed and when the value is used: nothing writes it after the load, or it is
 * made of the thread's number alone, as tid.x & 96 == 0, where several threads have the same element. */
#include "flow/unneeded.h"
#include "flow/analyses.h"

/* What needs a register: nobody, all lanes, or those in which a predicate is true (2 * register + negated). */
enum { NOBODY, ALL, PREDICATE };

static u32 both(u32 a, u32 b) { return a == NOBODY ? b : b == NOBODY || a == b ? a : ALL; }

static u32 guard_of(const struct lop *o)
{
    return o->guard.kind == O_REG ? PREDICATE + 2 * o->guard.reg + (o->guard.neg != 0) : ALL;
}

static u32 need_of_results(const struct lop *o, const u32 *need)
{
    u32 n = NOBODY;
    EACH_DEF (r, o) n = both(n, need[r]);
    return n;
}

/* One pass from the last operation to the first; false: nothing changed. */
static bool pass(const struct lowered *l, u32 *need)
{
    bool changed = false;
    for (u32 k = l->nop; k-- > 0;) {
        const struct lop *o = &l->op[k];
        u32 own = guard_of(o), n = o->kind <= K_PRED ? need_of_results(o, need) : own;
        if (n == ALL) n = own;
        EACH_USE (r, o) {
            u32 now = both(need[r], o->guard.kind == O_REG && o->guard.reg == r ? ALL : n);
            changed |= now != need[r];
            need[r] = now;
        }
    }
    return changed;
}

/* A function in which nothing that has an effect stands under a predicate has no such load. */
static bool has_guarded_store(const struct lowered *l)
{
    for (u32 k = 0; k < l->nop; k++)
        if (l->op[k].guard.kind == O_REG && l->op[k].kind == K_MEM && !lop_is_load(&l->op[k])) return true;
    return false;
}

/* Control may come from operation `from` to `to`, which is in block b. */
static bool reaches(const struct lowered *l, u32 from, u32 to, u32 b, struct arena *mem)
{
    u8 *seen = NEW_ARRAY(mem, u8, l->nblock);
    u32 *todo = NEW_ARRAY(mem, u32, l->nblock + 1), n = 0;
    if (from >= l->block[b].first && from < to) return true;
    for (todo[n++] = b; n;) {
        const struct block *at = &l->block[todo[--n]];
        for (u32 k = 0; k < at->npred; k++) {
            u32 p = at->pred[k];
            if (from >= l->block[p].first && from < l->block[p].end) return true;
            if (!seen[p]) todo[n++] = p;
            seen[p] = 1;
        }
    }
    return false;
}

/* Something writes register p after operation `from`. */
static bool written_behind(const struct lowered *l, u32 from, u32 p, struct arena *mem)
{
    for (u32 b = 0; b < l->nblock; b++)
        for (u32 k = l->block[b].first; k < l->block[b].end; k++)
            EACH_DEF (r, &l->op[k]) {
                if (r == p && reaches(l, from, k, b, mem)) return true;
            }
    return false;
}

static bool is_candidate(const struct lowered *l, u32 k)
{
    const struct site *s = &l->site[l->op[k].site];
    return l->op[k].kind == K_MEM && lop_is_load(&l->op[k]) && s->sem == SEM_WEAK && !(s->flags & SITE_SPECULATED) &&
           (s->space == SP_SHARED || s->space == SP_GLOBAL || s->space == SP_GENERIC);
}

/* By register: the operation that alone writes it, in all lanes; NONE. */
static const u32 *definitions(struct lowered *l)
{
    u32 *def = NEW_ARRAY(&l->mem, u32, l->nreg + 1);
    memset(def, 0xff, sizeof *def * l->nreg);
    for (u32 k = 0; k < l->nop; k++)
        EACH_DEF (r, &l->op[k]) {
            if (l->ndef[r] == 1 && l->op[k].guard.kind != O_REG && l->op[k].ndst == 1) def[r] = k;
        }
    return def;
}

static bool compared(u32 relation, s64 a, s64 b, u64 *out)
{
    switch (relation) {
    case REL_eq: *out = a == b; return true;
    case REL_ne: *out = a != b; return true;
    case REL_lt: *out = a < b; return true;
    case REL_le: *out = a <= b; return true;
    case REL_gt: *out = a > b; return true;
    case REL_ge: *out = a >= b; return true;
    default: return false;
    }
}

/* The value of an operation of 32 bits, or of predicates; false: it is another one. */
static bool computed(const struct lop *o, u32 a, u32 b, u64 *out)
{
    bool is_signed = type_is_signed((enum ptx_type)isa_forms[o->form].type);
    switch (o->shape) {
    case SHAPE_MOVE: *out = a; return true;
    case SHAPE_ADD: *out = (u32)(a + b); return true;
    case SHAPE_SUB: *out = (u32)(a - b); return true;
    case SHAPE_PRED_AND:
    case SHAPE_AND: *out = a & b; return true;
    case SHAPE_PRED_OR:
    case SHAPE_OR: *out = a | b; return true;
    case SHAPE_XOR: *out = a ^ b; return true;
    case SHAPE_NOT: *out = ~a; return true;
    case SHAPE_PRED_NOT: *out = !a; return true;
    case SHAPE_SHL: *out = b > 31 ? 0 : a << b; return true;
    case SHAPE_SHR: *out = is_signed ? (u32)((s32)a >> MIN_OF(b, 31u)) : b > 31 ? 0 : a >> b; return true;
    case SHAPE_COMPARE:
        return compared(isa_forms[o->form].relation, is_signed ? (s64)(s32)a : (s64)a, is_signed ? (s64)(s32)b : (s64)b,
                        out);
    default: return false;
    }
}

static bool value_of(const struct thread_numbers *t, const struct opnd *o, u32 *steps, u64 *out)
{
    const struct lowered *l = t->l;
    u64 x[2] = { 0 };
    if (o->kind == O_SREG && o->reg == SR_TID) {
        *out = t->tid(t->of, *o);
        return true;
    }
    if (o->kind == O_CONST && !o->reg && !o->comp) {
        *out = o->value;
        return true;
    }
    if (o->kind != O_REG || l->def[o->reg] == NONE || !*steps) return false;
    const struct lop *d = &l->op[l->def[o->reg]];
    --*steps;
    if (d->form < 0 || d->kind > K_PRED || d->mods || d->nsrc > 2) return false;
    if (isa_forms[d->form].type != T_PRED && type_size[isa_forms[d->form].type] != 4) return false;
    for (u32 k = 0; k < d->nsrc; k++)
        if (!value_of(t, lop_src(d, k), steps, &x[k])) return false;
    return computed(d, (u32)x[0], (u32)x[1], out);
}

bool unneeded_value(const struct thread_numbers *t, u32 reg, u64 *out)
{
    u32 steps = 32; /* of a value that takes more, nothing is said */
    return value_of(t, &(struct opnd){ .kind = O_REG, .reg = reg }, &steps, out);
}

static u64 any_thread(const void *of, struct opnd o)
{
    (void)of, (void)o;
    return 0;
}

static bool is_of_thread(struct lowered *l, u32 predicate)
{
    u64 unused;
    if (!l->def) l->def = definitions(l);
    return unneeded_value(&(struct thread_numbers){ l, any_thread, NULL }, predicate, &unused);
}

void unneeded_find(struct lowered *l)
{
    if (!has_guarded_store(l)) return;
    struct arena tmp = { 0 };
    u32 *need = NEW_ARRAY(&tmp, u32, l->nreg + 1);
    while (pass(l, need)) {}
    for (u32 k = 0; k < l->nop; k++) {
        if (!is_candidate(l, k)) continue;
        u32 by = need_of_results(&l->op[k], need), p = (by - PREDICATE) / 2;
        if (by < PREDICATE || by == guard_of(&l->op[k])) continue;
        struct site *s = &l->site[l->op[k].site];
        s->needed_late = written_behind(l, k, p, &tmp);
        if (!s->needed_late || is_of_thread(l, p)) s->needed_by = by - PREDICATE + 1;
    }
    arena_free(&tmp);
}
