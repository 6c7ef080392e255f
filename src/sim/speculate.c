/* Loads whose value does not count as it is.
 *
 * Speculated ones (RULES.md R8): compilers load both sides of a selection and then choose. All that such a load gives is taken by
 * selections as one of their two values, so what is wrong with it counts only for the lanes that pick it.
 *
 * Guesses: old = *p; do { seen = old; old = atomicCAS(p, seen, f(seen)); } while (old != seen). The load only proposes what the
 * compare-and-swap then verifies, so one that races with atomics does no harm. */
#include "sim/lower.h"

enum { AS_SIDE = 1, OTHERWISE = 2 };

/* How the value of each register is used: as a side of a selection, in other ways. */
static u8 *uses_of(const struct lowered *l, struct arena *a)
{
    u8 *use = NEW_ARRAY(a, u8, l->nreg + 1);
    u32 r[16];
    for (u32 k = 0; k < l->nop; k++) {
        const struct lop *o = &l->op[k];
        if (o->kind == KX_DEAD) continue;
        bool selects = o->kind == K_LANE && o->name == N_selp;
        u32 n = lop_uses(o, l, r);
        for (u32 j = 0; j < n; j++) {
            bool side = selects && !(o->guard.kind == O_REG && o->guard.reg == r[j]) && !(o->c.kind == O_REG && o->c.reg == r[j]);
            use[r[j]] |= side ? AS_SIDE : OTHERWISE;
        }
    }
    return use;
}

/* Plain loads of memory that others may write, into registers that nothing else writes: an observer can wait for the selection. */
static void mark_deferred(struct lowered *l, u32 op, const u32 *r, u32 n, u8 *deferred)
{
    struct site *s = &l->site[l->op[op].site];
    if (s->sem != SEM_WEAK || (s->space != SP_SHARED && s->space != SP_GLOBAL && s->space != SP_GENERIC)) return;
    for (u32 j = 0; j < n; j++) if (l->ndef[r[j]] != 1) return;
    for (u32 j = 0; j < n; j++) deferred[r[j]] = 1;
    s->flags |= SITE_SPECULATED;
}

void speculated_find(struct lowered *l)
{
    struct arena tmp = { 0 };
    const u8 *use = uses_of(l, &tmp);
    u8 *deferred = NEW_ARRAY(&tmp, u8, l->nreg + 1);
    u32 r[16];
    l->speculated = NEW_ARRAY(&l->mem, u8, l->nop + 1);
    for (u32 k = 0; k < l->nop; k++) {
        if (l->op[k].kind != K_MEM || l->op[k].name != N_ld) continue;
        u32 n = lop_defs(&l->op[k], l, r), all = 0;
        for (u32 j = 0; j < n; j++) all |= use[r[j]];
        l->speculated[k] = n && !(all & OTHERWISE);
        if (l->speculated[k] && all) mark_deferred(l, k, r, n, deferred);
    }
    for (u32 k = 0; k < l->nop; k++) {
        const struct lop *o = &l->op[k];
        if (o->kind == K_LANE && o->name == N_selp) l->speculated[k] = (o->a.kind == O_REG && deferred[o->a.reg]) || (o->b.kind == O_REG && deferred[o->b.reg]);
    }
    arena_free(&tmp);
}

/* The value of a register goes on unchanged into another one. */
static bool carries(const struct lop *o) { return o->kind == K_LANE && (o->name == N_mov || o->name == N_selp); }

static bool is_cas(const struct lowered *l, const struct lop *o) { return o->kind == K_MEM && o->name == N_atom && l->site[o->site].atom == AT_CAS; }

/* Registers whose value some compare-and-swap of `width` bytes compares with. */
static void compared(const struct lowered *l, u32 width, u8 *is)
{
    bool more, any = false;
    for (u32 k = 0; k < l->nop; k++) {
        const struct lop *o = &l->op[k];
        if (is_cas(l, o) && l->site[o->site].width == width && o->b.kind == O_REG) { is[o->b.reg] = 1; any = true; }
    }
    do {
        more = false;
        for (u32 k = 0; any && k < l->nop; k++) {
            const struct lop *o = &l->op[k];
            if (!carries(o) || o->d.kind != O_REG || !is[o->d.reg]) continue;
            const struct opnd *from[2] = { &o->a, &o->b };
            for (u32 j = 0; j < (o->name == N_selp ? 2 : 1); j++)
                if (from[j]->kind == O_REG && !is[from[j]->reg]) { is[from[j]->reg] = 1; more = true; }
        }
    } while (more);
}

void guesses_find(struct lowered *l)
{
    struct arena tmp = { 0 };
    u8 *is[4] = { NULL };                       /* by width, 2 to 16 bytes; made when a load asks */
    bool any = false;
    for (u32 k = 0; k < l->nop; k++) any |= is_cas(l, &l->op[k]);
    for (u32 k = 0; any && k < l->nop; k++) {
        const struct lop *o = &l->op[k];
        if (o->kind != K_MEM || o->name != N_ld || l->site[o->site].sem != SEM_WEAK || l->site[o->site].vec != 1 || o->d.kind != O_REG || l->site[o->site].width < 2) continue;
        u32 n = (u32)__builtin_ctz(l->site[o->site].width) - 1;
        if (!is[n]) { is[n] = NEW_ARRAY(&tmp, u8, l->nreg + 1); compared(l, 2u << n, is[n]); }
        if (is[n][o->d.reg]) l->site[o->site].flags |= SITE_GUESS;
    }
    arena_free(&tmp);
}
