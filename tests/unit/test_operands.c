/* Operations with more operands than any row has today (mma takes 14 registers, wgmma over 100): definitions, uses,
 * liveness, slots and the list of the decoded instruction have no bound. */
#include "unit.h"
#include "flow/analyses.h"
#include "lower/decode.h"
#include "flow/flow.h"
#include "flow/overflow.h"
#include "flow/provenance.h"

static struct opnd reg(u32 r) { return (struct opnd){ .kind = O_REG, .reg = r }; }
static struct opnd number(u64 v) { return (struct opnd){ .kind = O_CONST, .value = v }; }

static void add(struct lowered *l, struct lop o, u32 ndst, u32 nsrc, const struct opnd *list)
{
    o.ndst = (u16)ndst;
    o.nsrc = (u16)nsrc;
    o.opnd = NEW_ARRAY(&l->mem, struct opnd, ndst + nsrc + 1);
    for (u32 k = 0; k < ndst + nsrc; k++) o.opnd[k] = list[k];
    l->op[l->nop++] = o;
}

static struct lop row(enum isa_name name, enum ptx_type t)
{
    int form = isa_form(name, t, t, 0);
    const struct isa_form *f = &isa_forms[form];
    return (struct lop){ .form = form, .name = f->name, .kind = f->kind, .shape = f->shape, .flags = f->flags };
}

static void end_block(struct lowered *l, enum term term)
{
    struct block *b = &l->block[l->nblock];
    b->first = l->nblock ? b[-1].end : 0;
    b->end = l->nop;
    b->term = (u8)term;
    b->next = term == TERM_FALL ? l->nblock + 1 : NONE;
    b->target = NONE;
    l->nblock++;
}

/* Three blocks: n registers get a number; one operation takes them and a constant, and gives n others; each of those
 * is used once. */
static void build(struct lowered *l, u32 n)
{
    static struct ptx_func f = { .name = { "wide", 4 } };
    l->func = &f;
    l->nreg = 3 * n;
    l->reg_type = NEW_ARRAY(&l->mem, u8, l->nreg + 1);
    l->reg_width = NEW_ARRAY(&l->mem, u8, l->nreg + 1);
    memset(l->reg_type, T_U32, l->nreg);
    memset(l->reg_width, 4, l->nreg);
    l->op = NEW_ARRAY(&l->mem, struct lop, 2 * n + 2);
    l->block = NEW_ARRAY(&l->mem, struct block, 3);
    for (u32 k = 0; k < n; k++)
        add(l, row(N_mov, T_U32), 1, 1, (struct opnd[]){ reg(k), { .kind = O_SREG, .reg = SR_LANEID } });
    end_block(l, TERM_FALL);
    struct opnd *list = NEW_ARRAY(&l->mem, struct opnd, 2 * n + 1);
    for (u32 k = 0; k < 2 * n; k++) list[k] = reg(k < n ? n + k : k - n);
    list[2 * n] = number(7);
    add(l, (struct lop){ .form = -1, .name = N_COUNT, .kind = K_WARP }, n, n + 1, list);
    end_block(l, TERM_FALL);
    for (u32 k = 0; k < n; k++)
        add(l, row(N_add, T_U32), 1, 2, (struct opnd[]){ reg(2 * n + k), reg(n + k), number(1) });
    add(l, row(N_exit, T_NONE), 0, 0, NULL);
    end_block(l, TERM_EXIT);
    flow_build(l);
    provenance_find(l);
    speculated_find(l);
    overflow_find(l);
    hazards_find(l);
    in_flight_find(l);
}

static u32 has(const u64 *set, u32 r) { return set[r >> 6] >> (r & 63) & 1; }

/* The set holds the registers [from, from + n), and no other. */
static bool holds(const struct lowered *l, const u64 *set, u32 from, u32 n)
{
    bool same = true;
    for (u32 r = 0; r < l->nreg; r++) same &= has(set, r) == (r >= from && r < from + n);
    return same;
}

static void check_lists(const struct lowered *l, u32 n)
{
    struct lop o = l->op[n];
    u32 defs = 0, uses = 0;
    EACH_DEF (r, &o) defs += r == n + defs;
    EACH_USE (r, &o) uses += r == uses;
    UNIT_EQ(defs, n);
    UNIT_EQ(uses, n);
    o.guard = reg(3);
    uses = 0;
    EACH_USE (r, &o) uses++;
    UNIT_EQ(uses, n + 1);
    o.dead = true;
    EACH_USE (r, &o) uses++;
    EACH_DEF (r, &o) uses++;
    UNIT_EQ(uses, n + 1);
    UNIT_EQ(lop_src(&o, n)->value, 7);
    UNIT_EQ(lop_src(&o, n + 1)->kind, O_NONE);
    UNIT_EQ(lop_dst(&o, n)->kind, O_NONE);
}

static void check_liveness(const struct lowered *l, u32 n)
{
    u64 live[64];
    UNIT(holds(l, l->block[0].live_in, 0, 0));
    UNIT(holds(l, l->block[1].live_in, 0, n));
    UNIT(holds(l, l->block[2].live_in, n, n));
    UNIT(holds(l, l->block[2].live_out, 0, 0));
    live_before(l, 1, l->block[1].first, live);
    UNIT(holds(l, live, 0, n));
    for (u32 r = 0; r < l->nreg; r++) UNIT_EQ(l->ndef[r], 1);
}

/* The list of the instruction says where each operand lies, and no two registers that it names share a slot. */
static void check_code(struct lowered *l, u32 n, bool plain)
{
    struct error e = { 0 };
    const struct code *c = decode(l, 32, 0, plain, &e);
    if (!UNIT(c)) return;
    const struct insn *i = &c->insn[c->insn_of[n]];
    u32 same = 0, shared = 0;
    for (u32 k = 0; k < 2 * n; k++) {
        const struct insn_opnd *x = k < n ? insn_dst(c, i, k) : insn_src(c, i, k - n);
        const struct where *r = &c->reg[k < n ? n + k : k - n];
        same += x->slot == r->slot && x->cls == r->cls && x->width == 4;
        for (u32 j = 0; j < k; j++) shared += (j < n ? insn_dst(c, i, j) : insn_src(c, i, j - n))->slot == x->slot;
    }
    UNIT_EQ(same, 2 * n);
    UNIT_EQ(shared, 0);
    UNIT_EQ(insn_src(c, i, n)->cls, CLS_S);
    UNIT_EQ(insn_src(c, i, n)->width, 8);
    UNIT(insn_src(c, i, n)->slot < c->vector);
    UNIT_EQ(i->d, insn_dst(c, i, 0)->slot);
    UNIT_EQ(i->a, insn_src(c, i, 0)->slot);
}

int main(void)
{
    static const u32 counts[] = { 1, 3, 14, 20, 130 };
    for (u32 k = 0; k < COUNT_OF(counts); k++) {
        struct lowered l = { 0 };
        build(&l, counts[k]);
        check_lists(&l, counts[k]);
        check_liveness(&l, counts[k]);
        check_code(&l, counts[k], true);
        check_code(&l, counts[k], false);
        arena_free(&l.mem);
    }
    return unit_done();
}
