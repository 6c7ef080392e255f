/* Branches that only choose (rules.md I3): both ways, up to where they meet, do nothing but compute.
 *
 *     m = a > b ? a : b       without optimisation becomes       @p bra else;  mov m, a;  bra over;  else: mov m, b;
 *     over:
 *
 * Optimised, that is a selection or a guarded move: an undefined condition makes the result computed, and a finding
 * comes when the result is used. A -G build must not report more, so there such a branch is no use either: in lanes
 * whose condition is undefined, the registers that either way writes, and that are live where the ways meet, become
 * computed; what these lanes write on their way does not change that. A pointer may be among them (std::max chooses
 * between references): to load from it is no use, and what is loaded is computed.
 *
 * A branch that the optimiser has left in place, with loops and further branches on its ways, decides no more than that
 * as long as both ways only compute: its outcome may be thrown away, as that of the threads past the end of a tail
 * that cub::BlockStore leaves out. There, too, what either way writes becomes computed; where such a value reaches the
 * host, the finding is about the branch that decided it. Branches on undefined values inside are part of the choice. */
#include "sim/asked.h"
#include "sim/planes.h"

enum { REGION_MOST = 32 };
struct choice_region {
    u32 block[REGION_MOST], n;
}; /* between a branch and the block where its ways meet */

static u32 block_of(const struct lowered *l, u32 op)
{
    for (u32 b = 0; b < l->nblock; b++)
        if (op >= l->block[b].first && op < l->block[b].end) return b;
    return NONE;
}

static bool has(const struct choice_region *r, u32 b)
{
    for (u32 k = 0; k < r->n; k++)
        if (r->block[k] == b) return true;
    return false;
}

/* It only computes: registers, from registers and from memory that it reads. */
static bool is_pure(const struct lowered *l, const struct lop *o)
{
    switch (o->kind) {
    case K_LANE:
    case K_CMP:
    case K_PRED: return true;
    case K_WARP: return o->shape == SHAPE_MOVE;
    case K_CTRL: return o->flags & ISA_BRANCH && (o->guard.kind == O_NONE || !l->func->module->debug);
    case K_MEM: return lop_is_load(o) && l->site[o->site].sem == SEM_WEAK && o->guard.kind == O_NONE;
    default: return false;
    }
}

static bool writes(const struct lowered *l, const struct choice_region *r, u32 reg)
{
    for (u32 k = 0; k < r->n; k++)
        for (u32 o = l->block[r->block[k]].first; o < l->block[r->block[k]].end; o++)
            EACH_DEF (d, &l->op[o]) {
                if (d == reg) return true;
            }
    return false;
}

/* Every load in it has an address from before it: one that either way made would be in doubt. */
static bool addresses_stand(const struct lowered *l, const struct choice_region *r)
{
    for (u32 k = 0; k < r->n; k++)
        for (u32 o = l->block[r->block[k]].first; o < l->block[r->block[k]].end; o++) {
            const struct opnd *at = lop_src(&l->op[o], SRC_ADDRESS);
            if (l->op[o].kind == K_MEM && at->kind == O_REG && writes(l, r, at->reg)) return false;
        }
    return true;
}

/* The blocks of both ways; false: they do more than choose. */
static bool find_region(const struct lowered *l, u32 branch, struct choice_region *r)
{
    const struct block *b = &l->block[branch];
    u32 todo[2 * REGION_MOST + 2], n = 0;
    r->n = 0;
    if (b->term != TERM_BRA || b->ipdom == NONE || b->nsucc != 2) return false;
    todo[n++] = b->succ[0];
    todo[n++] = b->succ[1];
    while (n) {
        u32 at = todo[--n];
        const struct block *x = &l->block[at];
        if (at == b->ipdom || has(r, at)) continue;
        if (at == branch || r->n == REGION_MOST || x->nsucc < 1 || x->nsucc > (l->func->module->debug ? 1 : 2) ||
            (x->term != TERM_FALL && x->term != TERM_BRA))
            return false;
        for (u32 o = x->first; o < x->end; o++)
            if (!is_pure(l, &l->op[o])) return false;
        r->block[r->n++] = at;
        for (u32 k = 0; k < x->nsucc; k++) todo[n++] = x->succ[k];
    }
    return addresses_stand(l, r);
}

bool init_choice(struct warp *w, const struct insn *i, u32 lanes)
{
    const struct lowered *l = w->code->low;
    struct planes *p = w->planes;
    struct choice_region r;
    u32 branch = block_of(l, i->op);
    if (branch == NONE || !find_region(l, branch, &r)) return false;
    const u64 *live = l->block[l->block[branch].ipdom].live_in;
    for (u32 reg = 0; reg < l->nreg; reg++) {
        if (!(live[reg / 64] >> reg % 64 & 1) || !w->code->reg[reg].slot || !writes(l, &r, reg)) continue;
        struct taint t[LANES];
        u32 bits = l->reg_type[reg] == T_PRED ? 1 : 8u * l->reg_width[reg];
        EACH_SET (k, lanes) {
            u32 origin = plane_taint(p, i->guard, k).origin & ~ORIGIN_FLAGS;
            if (!l->func->module->debug) origin = origin_decided(w, i->op, origin);
            t[k] = taint_all(bits, origin | (bits == 64 ? ORIGIN_CHOSEN : 0));
        }
        planes_put(p, w->code->reg[reg].slot, lanes, t);
    }
    p->undecided |= lanes;
    EACH_SET (l, lanes) p->branch[l] = branch;
    return true;
}

u32 init_undecided(const struct warp *w, const struct insn *i, u32 lanes)
{
    const struct planes *p = w->planes;
    u32 here = block_of(w->code->low, i->op), out = 0, last = NONE;
    struct choice_region r = { .n = 0 };
    EACH_SET (k, p->undecided & lanes) {
        if (p->branch[k] != last) {
            last = p->branch[k];
            find_region(w->code->low, last, &r);
        }
        if (has(&r, here)) out |= 1u << k;
    }
    return out;
}
