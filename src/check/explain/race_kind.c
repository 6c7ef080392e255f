/* Which kind of race two accesses are (rules.md R4 to R9), from the words that the cells had of them, the code of both,
 * and the values that they store. */
#include "explain/race_kind.h"
#include "explain/race_code.h"
#include "explain/race_flight_text.h"
#include "race/race_launch.h"
#include "sim/lanes.h"
#include "sim/special_registers.h"
#include "sim/cluster.h"

bool draft_same_cta(const struct draft *x)
{
    return x->old_linear == x->t->warp->cta->linear && word_kind(x->old->a) != WHO_GRID && !x->other_launch;
}
bool draft_same_warp(const struct draft *x)
{
    return draft_same_cta(x) && word_kind(x->old->a) != WHO_CTA && word_warp(x->old->a) == (u32)x->t->w->key >> 14;
}
bool draft_in_shared(const struct draft *x)
{
    return x->t->space == SPACE_SHARED || x->at < (u64)MEM_WINDOW_CTA * MEM_WINDOW_CTAS;
}

u32 draft_prior_lane(const struct draft *x)
{
    u32 k = (u32)(x->at % SECTOR);
    u64 a = x->old->a;
    if (word_kind(a) == WHO_WARP && x->old->lanes) { /* any of them but our own lane */
        u32 others = x->old->lanes, mine = draft_same_warp(x) ? 1u << x->lane : 0;
        return (u32)__builtin_ctz(others & ~mine ? others & ~mine : others);
    }
    return lane_of_byte(a, k);
}

/* The same number, the address of the same variable, or the same parameter. */
static bool same_operand(const struct opnd *p, const struct opnd *q, bool one_function)
{
    if (p->kind != q->kind || p->value != q->value) return false;
    if (p->kind == O_PARAM) return one_function;
    return p->kind == O_CONST && p->comp == q->comp && p->reg == q->reg && (one_function || !p->reg);
}

/* What a store writes: its operand, or what the register was set to before it in the same block. */
static const struct opnd *written_operand(const struct lowered *l, u32 op)
{
    const struct opnd *d = lop_data(&l->op[op], 0);
    u32 b = 0;
    /* a constant that is set once is in its place already */
    if (d->kind != O_REG || l->ndef[d->reg] == 1) return d;
    while (b < l->nblock && (op < l->block[b].first || op >= l->block[b].end)) b++;
    for (u32 k = op; b < l->nblock && k-- > l->block[b].first;) {
        const struct lop *o = &l->op[k];
        bool sets = false;
        EACH_DEF (r, o) sets |= r == d->reg;
        if (sets) return o->kind == K_LANE && o->shape == SHAPE_MOVE && o->guard.kind == O_NONE ? lop_src(o, 0) : d;
    }
    return d;
}

bool race_same_constant(const struct draft *x)
{
    const struct lowered *l = x->t->warp->code->low;
    if (!(x->old->op & x->me->op & OP_WRITE) || x->old_low == NULL) return false;
    const struct lop *a = &l->op[x->t->op_index], *b = &x->old_low->op[x->old_op];
    if (!lop_is_store(a) || !lop_is_store(b) || l->site[a->site].vec != 1 || x->old_low->site[b->site].vec != 1)
        return false;
    return same_operand(written_operand(l, x->t->op_index), written_operand(x->old_low, x->old_op), l == x->old_low);
}

/* R5b in a simple kernel: a .sync operation of both lanes lies between the two accesses. */
static bool sync_between(const struct draft *x)
{
    const struct race_warp *w = x->t->w;
    if (word_warp(x->old->a) != (u32)w->key >> 14 || word_time(x->old->a) < w->c->start ||
        word_kind(x->old->a) > WHO_WARP)
        return false;
    u32 theirs = word_kind(x->old->a) == WHO_WARP && x->old->lanes ? x->old->lanes : 1u << draft_prior_lane(x),
        both = theirs | 1u << x->lane;
    if (word_kind(x->old->a) == WHO_WARP && !x->old->lanes) both = w->all;
    for (u32 n = 0; n < RECENT; n++)
        if (w->recent[n].time > word_time(x->old->a) && (w->recent[n].mask & both) == both) return true;
    return false;
}

/* The access goes past the first cache, or is strong. */
static bool uncached(const struct lowered *l, u32 op, u32 how)
{
    const struct site *s = site_at(l, op);
    return how & OP_STRONG || (s && s->flags & SITE_UNCACHED);
}

/* R5: the warps of a warpgroup come together at a product. The warp that wrote has issued the instruction since, or, if
 * another warp has read already, has not reached it yet. */
static bool product_is_between(const struct draft *x)
{
    u64 a = x->old->a;
    u32 warp = word_warp(a) % 32;
    const struct race_warp *me = x->t->w, *theirs = &me->c->warp[warp];
    if (!draft_same_cta(x) || word_kind(a) > WHO_WARP || warp / 4 != x->t->warp->id / 4) return false;
    if (x->t->product)
        return theirs->nissued < x->t->product || word_time(a) < theirs->issued[x->t->product % PRODUCTS];
    if (!race_product_is(x) || x->old->op & OP_WRITE) return false;
    for (u32 n = theirs->nissued; n > me->nissued && theirs->nissued - n < PRODUCTS; n--)
        if (theirs->issued[n % PRODUCTS] == word_time(a)) return true;
    return false;
}

/* R5: the hardware orders the two, the memory model does not. */
static bool is_ordered_weakly(const struct draft *x)
{
    bool exact = x->t->w->c->exact;
    if (exact ? hb_byte_weak(x->t->w, x->old, x->me, (u32)(x->at % SECTOR), x->t->space) : sync_between(x)) return true;
    return uncached(x->t->warp->code->low, x->t->op_index, x->me->op) && uncached(x->old_low, x->old_op, x->old->op) &&
           !(x->old->op & x->me->op & OP_STRONG);
}

struct async_flight race_copy_in_flight(const struct draft *x)
{
    struct async_flight a = { 0 };
    const struct cta *c = x->t->warp->cta;
    u32 warp = word_warp(x->old->a) % 32;
    if (x->at < (u64)MEM_WINDOW_CTA * MEM_WINDOW_CTAS && warp < c->nwarps)
        async_flight(c->warp[warp], draft_prior_lane(x), x->t->warp->shared + x->at, &a);
    return a;
}

bool race_optimistic_read(const struct draft *x)
{
    const struct site *mine = site_at(x->t->warp->code->low, x->t->op_index), *theirs = site_at(x->old_low, x->old_op);
    bool mine_proposes = mine && mine->flags & SITE_OPTIMISTIC && !(x->me->op & OP_WRITE) && x->old->op & OP_STRONG;
    return mine_proposes ||
           (theirs && theirs->flags & SITE_OPTIMISTIC && !(x->old->op & OP_WRITE) && x->me->op & OP_STRONG);
}

const char *race_bytes_now(const struct draft *x, u64 at)
{
    if (draft_in_shared(x)) {
        const struct cta *c = cluster_cta(x->t->warp->cta, at);
        return c ? c->shared + cluster_offset(at) : NULL;
    }
    struct mem_object *o = mem_find(x->t->w->c->race->mem, at);
    return o ? mem_view(o, at) : NULL;
}

u64 race_stored_value(const struct warp *w, const struct opnd *d, u32 width, u32 lane)
{
    if (d->kind != O_REG) return d->kind == O_NONE ? 0 : opnd_value(w, *d, lane);
    const struct where *at = &w->code->reg[d->reg];
    return lane_value(w, w->code, w->R, at->slot, at->cls, width, lane);
}

bool race_stored_bits(const struct draft *x, const struct site *s, u32 lane, u64 *bits)
{
    const struct warp *w = x->t->warp;
    const struct lop *o = &w->code->low->op[x->t->op_index];
    if (!s || !site_is_store(s) || s->width > 8) return false;
    u32 k = s->vec > 1 ? (u32)(x->at % ((u64)s->width * s->vec)) / s->width : 0;
    *bits = race_stored_value(w, lop_data(o, k), s->reg_width, lane);
    if (s->width < 8) *bits &= (1ull << 8 * s->width) - 1;
    return true;
}

/* Both are stores of one statement of the source, and what is stored is there already. */
static bool equal_stores(struct draft *x)
{
    const struct site *mine = site_at(x->t->warp->code->low, x->t->op_index), *theirs = site_at(x->old_low, x->old_op);
    u64 now = 0;
    if (x->old->op != OP_WRITE || x->me->op != OP_WRITE || !mine || !theirs || mine->width != theirs->width ||
        !race_same_statement(x) || !race_stored_bits(x, mine, x->lane, &x->f.stored))
        return false;
    const char *p = race_bytes_now(x, x->at & ~(u64)(mine->width - 1));
    if (p) memcpy(&now, p, mine->width);
    return p && now == x->f.stored;
}

/* R7: threads of one block write what depends on the block alone, with one instruction. */
static bool same_of_block(struct draft *x)
{
    const struct lowered *l = x->t->warp->code->low;
    const struct opnd *d = lop_data(&l->op[x->t->op_index], 0);
    return draft_same_cta(x) && x->old_low == l && x->old_op == x->t->op_index && d->kind == O_REG && equal_stores(x) &&
           l->site[l->op[x->t->op_index].site].vec == 1 && code_is_of_block(l, d->reg);
}

enum finding_kind race_classify(struct draft *x)
{
    if (race_flight_is(x)) return x->me->op & OP_WRITE ? F_async_overwrite : F_async_early;
    if (product_is_between(x)) return F_order_weak;
    if (race_product_is(x)) return F_async_overwrite;
    if (x->old->op & OP_ASYNC)
        return x->me->op & OP_WRITE ? F_async_overwrite : race_copy_in_flight(x).waited ? F_async_wait : F_async_early;
    if (x->me->op & x->old->op & OP_WRITE && x->me->op & OP_ASYNC) return F_async_overwrite;
    if (is_ordered_weakly(x)) return F_order_weak;
    if (x->old->op & x->me->op & OP_STRONG && (x->old->bytes == x->me->bytes || x->old->whole == x->me->whole))
        return F_race_scope;
    if (race_same_constant(x) || (x->of_block = same_of_block(x))) return F_race_same_value;
    if (x->other_launch) return F_race_stream;
    /* the report calls it a race unless it turns out that each element has its own value (R7) */
    if ((x->f.equal = equal_stores(x))) return F_race_same_value;
    return F_race;
}
