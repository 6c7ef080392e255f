/* Fused products: a product that becomes part of a sum, d = a * b + c with one rounding.
 *
 * mul, add and sub without a rounding modifier may be fused (9.7.3), and ptxas does, by rules that its code shows
 * (tests/facts/fuse.py holds them against it). In a basic block, of the same type and .ftz:
 *
 *   - A product that has one use, in a sum, becomes part of it; of two such products in one sum the first.
 *   - A product with several uses, all of them in sums, becomes part of these in their order, until one of them has
 *     taken the other of its operands; of two the one with fewer uses, else the first.
 *   - A product that is used elsewhere, too, in another block, or twice in one sum, stays apart; so does one that is
 *     guarded or saturates. Code for debuggers (-G) is not fused.
 *
 * The product is still computed: a trace shows it, and who stops there. In a sum whose product was computed from a
 * register that has changed since, as no compiler writes it, the two stay apart. */
#include "flow/analyses.h"
#include "lower/lower.h"

struct product {
    u32 uses;
    bool apart;  /* not all of them can take it */
    bool killed; /* its register is written again in the block */
};
struct sum {
    u32 op;
    u32 of[2]; /* the products that its operands are, by their operations; NONE */
    u32 takes; /* 0, 1: the operand that becomes part of it; NONE: neither */
};
struct fuse {
    struct lowered *l;
    struct arena mem;
    struct product *product; /* by operation */
    u32 *def;                /* by register: the last operation that wrote it, and 1; 0: none */
    u32 first;               /* operation of the block, and of those in front of it that are joined to it */
    u32 *nuse, *near;        /* by register: uses in the whole function; those in a block that has written it before */
    struct sum *sum;
    u32 nsum;
};

static bool rounds_freely(const struct lop *o) { return !o->dead && o->src && !lower_has_mod(o->src, "rn"); }

static bool is_sum(const struct lop *o)
{
    return (o->shape == SHAPE_FADD || o->shape == SHAPE_FSUB) && rounds_freely(o);
}

static bool is_product(const struct lop *o)
{
    return o->shape == SHAPE_FMUL && rounds_freely(o) && o->guard.kind == O_NONE && !(o->mods & MOD_SAT) &&
           lop_dst(o, 0)->kind == O_REG;
}

/* The same type and .ftz. */
static bool fit(const struct lop *a, const struct lop *b)
{
    return isa_forms[a->form].type == isa_forms[b->form].type && !((a->mods ^ b->mods) & MOD_FTZ);
}

static bool same_operand(const struct opnd *a, const struct opnd *b)
{
    return a->kind == b->kind && a->reg == b->reg && a->value == b->value && a->comp == b->comp;
}

/* ptxas takes the two for one value. */
static bool same_product(const struct lop *x, const struct lop *y)
{
    return same_operand(lop_src(x, 0), lop_src(y, 0)) && same_operand(lop_src(x, 1), lop_src(y, 1));
}

/* ---- blocks ---- */

static void count_into(u32 *n, u32 nblock, u32 to)
{
    if (to < nblock) n[to]++;
}

/* Whether block b only goes on where the one in front of it ends: what ends blocks here need not end those of ptxas. */
static u8 *find_joined(struct fuse *x)
{
    const struct lowered *l = x->l;
    u32 *npred = NEW_ARRAY(&x->mem, u32, l->nblock + 1);
    u8 *joined = NEW_ARRAY(&x->mem, u8, l->nblock + 1);
    for (u32 b = 0; b < l->nblock; b++) {
        const struct block *k = &l->block[b];
        count_into(npred, l->nblock, k->next);
        count_into(npred, l->nblock, k->target);
        const u32 *t = k->term == TERM_BRX ? l->brx[l->op[k->end - 1].table] : NULL;
        for (u32 j = 1; t && j <= t[0]; j++) count_into(npred, l->nblock, t[j]);
    }
    for (u32 b = 1; b < l->nblock; b++) {
        const struct block *k = &l->block[b - 1];
        joined[b] = k->next == b && k->target == NONE && npred[b] == 1 && k->term != TERM_CALL && k->term != TERM_BRX &&
                    k->term != TERM_BRA;
    }
    return joined;
}

/* ---- what uses what ---- */

/* The product of this block that the register holds; NONE. */
static u32 product_in(const struct fuse *x, u32 reg)
{
    u32 p = x->def[reg] - 1;
    return x->def[reg] > x->first && is_product(&x->l->op[p]) ? p : NONE;
}

/* The operand of product p has the same value now. */
static bool unchanged(const struct fuse *x, u32 p, const struct opnd *o)
{
    return o->kind != O_REG || x->def[o->reg] <= p;
}

static void note_uses(struct fuse *x, u32 k)
{
    const struct lop *o = &x->l->op[k];
    bool sum = is_sum(o);
    EACH_USE (r, o) {
        x->nuse[r]++;
        x->near[r] += x->def[r] > x->first;
    }
    u32 of[2] = { NONE, NONE };
    for (u32 j = 0; j < o->nsrc && !o->dead; j++) {
        const struct opnd *s = lop_src(o, j);
        u32 p = s->kind == O_REG ? product_in(x, s->reg) : NONE;
        if (p == NONE) continue;
        const struct lop *m = &x->l->op[p];
        x->product[p].uses++;
        if (!sum || !fit(o, m) || !unchanged(x, p, lop_src(m, 0)) || !unchanged(x, p, lop_src(m, 1)))
            x->product[p].apart = true;
        else
            of[j] = p; /* a sum has two operands */
    }
    if (!sum || (of[0] == NONE && of[1] == NONE)) return;
    if (of[0] != NONE && of[1] != NONE && (of[0] == of[1] || same_product(&x->l->op[of[0]], &x->l->op[of[1]]))) {
        x->product[of[0]].apart = x->product[of[1]].apart = true;
        return;
    }
    x->sum[x->nsum++] = (struct sum){ k, { of[0], of[1] }, NONE };
}

static void note_defs(struct fuse *x, u32 k)
{
    const struct lop *o = &x->l->op[k];
    EACH_DEF (r, o) {
        u32 p = product_in(x, r);
        if (p != NONE) *(o->guard.kind == O_NONE ? &x->product[p].killed : &x->product[p].apart) = true;
        x->def[r] = k + 1;
    }
}

/* A product whose register may be read in another block, before it is written again, is used there. */
static void note_escapes(struct fuse *x)
{
    for (u32 k = 0; k < x->l->nop; k++) {
        if (!is_product(&x->l->op[k])) continue;
        struct product *p = &x->product[k];
        u32 r = lop_dst(&x->l->op[k], 0)->reg;
        p->apart |= !p->killed && x->near[r] != x->nuse[r];
    }
}

static void note_all(struct fuse *x)
{
    const struct lowered *l = x->l;
    const u8 *joined = find_joined(x);
    for (u32 b = 0; b < l->nblock; b++) {
        const struct block *k = &l->block[b];
        if (!joined[b]) x->first = k->first;
        for (u32 i = k->first; i < k->end; i++) {
            note_uses(x, i);
            note_defs(x, i);
        }
    }
    note_escapes(x);
}

/* ---- which sums take which products ---- */

static bool can_take(const struct fuse *x, u32 p) { return p != NONE && !x->product[p].apart; }

static void take(struct fuse *x, struct sum *s, u32 j)
{
    s->takes = j;
    if (s->of[!j] != NONE) x->product[s->of[!j]].apart = true; /* it stays an operand here */
}

static void choose(struct fuse *x)
{
    for (u32 k = 0; k < x->nsum; k++) {
        struct sum *s = &x->sum[k];
        for (u32 j = 0; j < 2 && s->takes == NONE; j++)
            if (can_take(x, s->of[j]) && x->product[s->of[j]].uses == 1) take(x, s, j);
    }
    for (u32 k = 0; k < x->nsum; k++) {
        struct sum *s = &x->sum[k];
        bool first = can_take(x, s->of[0]), second = can_take(x, s->of[1]);
        if (s->takes != NONE || (!first && !second)) continue;
        take(x, s, !first || (second && x->product[s->of[1]].uses < x->product[s->of[0]].uses));
    }
}

/* ---- the new operation ---- */

/* Its negative: of a constant here, else by the operation in front of the sum, which was made for that. */
static struct opnd negated(struct lowered *l, u32 sum, struct opnd o)
{
    const struct isa_form *f = &isa_forms[l->op[sum].form];
    if (o.kind == O_CONST) {
        u64 sign = f->type == T_F64 ? 1ull << 63 : f->type == T_F32 ? 1u << 31 : 0x8000;
        o.value ^= f->type == T_F16X2 || f->type == T_BF16X2 ? 0x80008000u : sign;
        return o;
    }
    struct lop *n = &l->op[sum - 1];
    n->dead = false;
    n->guard = l->op[sum].guard;
    n->opnd[n->ndst] = o;
    return n->opnd[0];
}

static void fuse(struct lowered *l, const struct sum *s)
{
    struct lop *o = &l->op[s->op];
    const struct lop *m = &l->op[s->of[s->takes]];
    struct opnd a = *lop_src(m, 0), b = *lop_src(m, 1), c = *lop_src(o, !s->takes);
    bool minus = o->shape == SHAPE_FSUB;
    if (minus && a.kind == O_CONST) {
        struct opnd swap = a;
        a = b;
        b = swap;
    }
    if (minus && s->takes) /* c - a * b */
        b.kind == O_CONST ? (b = negated(l, s->op, b)) : (a = negated(l, s->op, a));
    else if (minus)
        c = negated(l, s->op, c);
    const struct isa_form *f = &isa_forms[o->form];
    o->form = isa_fused(f);
    f = &isa_forms[o->form];
    o->name = f->name;
    o->kind = f->kind;
    o->shape = f->shape;
    o->flags = f->flags;
    struct opnd *list = arena_alloc(&l->mem, sizeof *list * 4, _Alignof(struct opnd));
    list[0] = *lop_dst(o, 0);
    list[1] = a;
    list[2] = b;
    list[3] = c;
    o->opnd = list;
    o->nsrc = 3;
}

void fuse_find(struct lowered *l)
{
    if (l->func->module->debug) return;
    bool any = false;
    for (u32 k = 0; k < l->nop && !any; k++) any = is_product(&l->op[k]);
    if (!any) return;
    struct fuse x = { .l = l };
    x.product = NEW_ARRAY(&x.mem, struct product, l->nop + 1);
    x.def = NEW_ARRAY(&x.mem, u32, l->nreg + 1);
    x.nuse = NEW_ARRAY(&x.mem, u32, l->nreg + 1);
    x.near = NEW_ARRAY(&x.mem, u32, l->nreg + 1);
    x.sum = NEW_ARRAY(&x.mem, struct sum, l->nop + 1);
    note_all(&x);
    choose(&x);
    for (u32 k = 0; k < x.nsum; k++)
        if (x.sum[k].takes != NONE) fuse(l, &x.sum[k]);
    arena_free(&x.mem);
}
