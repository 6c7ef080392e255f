/* Which accesses are of elements of 16 bits that are floats (rules.md V1).
 *
 * PTX loads and stores f16 and bf16 as b16, b32 or vectors of these, so the access does not say what it moves. What
 * makes a value and what uses it does. Registers between which values only move (copies, packing, permutations,
 * selections, shuffles) are one class, and a class has the marks of all operations that write or read it. */
#include "flow/analyses.h"
#include "code/mma.h"

enum {
    MADE_F16 = 1, /* by an operation whose result is of this type */
    MADE_BF16 = 2,
    MADE_OTHER = 4, /* by any operation that neither moves nor loads values */
    USED_F16 = 8,
    USED_BF16 = 16,
    USED_OTHER = 32 /* by any operation that neither moves nor stores values */
};

struct halves {
    struct lowered *l;
    u32 *class; /* by register: another one of its class, or itself */
    u8 *mark;   /* by register that stands for its class */
};

static u32 class_of(struct halves *h, u32 r)
{
    while (h->class[r] != r) r = h->class[r] = h->class[h->class[r]];
    return r;
}

static void join(struct halves *h, u32 a, u32 b)
{
    a = class_of(h, a);
    b = class_of(h, b);
    h->mark[a] |= h->mark[b];
    h->class[b] = a;
}

static void mark(struct halves *h, const struct opnd *o, u32 how)
{
    if (o->kind == O_REG) h->mark[class_of(h, o->reg)] |= (u8)how;
}

static u32 made_of(enum ptx_type t)
{
    return t == T_F16 || t == T_F16X2 ? MADE_F16 : t == T_BF16 || t == T_BF16X2 ? MADE_BF16 : MADE_OTHER;
}

static u32 made_of_tensor(u32 t) { return t == TENSOR_F16 ? MADE_F16 : t == TENSOR_BF16 ? MADE_BF16 : MADE_OTHER; }
static u32 used_as(u32 made) { return made * USED_F16; }

static bool moves(const struct lop *o)
{
    const struct isa_form *f = &isa_forms[o->form];
    return o->kind == K_LANE && made_of((enum ptx_type)f->op[0]) == MADE_OTHER &&
           (f->init == INIT_COPY || f->init == INIT_MERGE || o->shape == SHAPE_OR);
}

static void see_product(struct halves *h, const struct lop *o)
{
    const struct mma *f = &h->l->mma[o->product];
    for (u32 k = 0; k < o->ndst; k++) mark(h, lop_dst(o, k), made_of_tensor(f->d));
    for (u32 k = 0; k < o->nsrc; k++) {
        u32 t = f->group ? (k < f->nc ? f->c : f->a) : k < f->na ? f->a : k < (u32)f->na + f->nb ? f->b : f->c;
        mark(h, lop_src(o, k), used_as(made_of_tensor(t)));
    }
}

static void see(struct halves *h, const struct lop *o)
{
    bool lane = o->kind == K_LANE || o->kind == K_CMP, load = lop_gives_data(o), store = lop_is_store(o);
    if (o->dead || o->form < 0) return;
    if (moves(o) || o->flags & ISA_SHUFFLE) {
        u32 n = o->shape == SHAPE_OR || isa_forms[o->form].init == INIT_MERGE ? 2 : 1;
        for (u32 k = 0; k < n && lop_dst(o, 0)->kind == O_REG; k++)
            if (lop_src(o, k)->kind == O_REG) join(h, lop_dst(o, 0)->reg, lop_src(o, k)->reg);
        return;
    }
    if (o->flags & ISA_MMA && isa_forms[o->form].init == INIT_ALL) {
        see_product(h, o);
        return;
    }
    for (u32 k = 0; k < o->ndst && !load; k++)
        mark(h, lop_dst(o, k), lane ? made_of((enum ptx_type)isa_forms[o->form].op[0]) : MADE_OTHER);
    for (u32 k = 0; k < o->nsrc; k++)
        if (!store || k < SRC_DATA)
            mark(h, lop_src(o, k),
                 used_as(lane && k < 4 ? made_of((enum ptx_type)isa_forms[o->form].op[k + 1]) : MADE_OTHER));
}

static u8 held(struct halves *h, const struct site *t)
{
    const struct lop *o = &h->l->op[t->op];
    u32 all = 0;
    if (!(o->flags & ISA_ACCESS) || site_is_atomic(t) || t->width < 2 || t->width > 8) return T_NONE;
    for (u32 k = 0; k < t->vec; k++) {
        const struct opnd *d = lop_data(o, k);
        if (d->kind == O_REG) all |= h->mark[class_of(h, d->reg)];
    }
    bool f16 = all & (MADE_F16 | USED_F16), bf16 = all & (MADE_BF16 | USED_BF16);
    if (f16 == bf16 || (site_is_store(t) && all & MADE_OTHER))
        return site_is_load(t) && !f16 && !(all & USED_OTHER) ? T_B16 : T_NONE;
    return f16 ? T_F16 : T_BF16;
}

void halves_find(struct lowered *l)
{
    struct arena tmp = { 0 };
    struct halves h = { l, NEW_ARRAY(&tmp, u32, l->nreg + 1), NEW_ARRAY(&tmp, u8, l->nreg + 1) };
    for (u32 r = 0; r < l->nreg; r++) h.class[r] = r;
    for (u32 k = 0; k < l->nop; k++) see(&h, &l->op[k]);
    for (u32 s = 0; s < l->nsite; s++) l->site[s].holds = held(&h, &l->site[s]);
    arena_free(&tmp);
}
