/* Questions to the code of a kernel about two accesses that race: which loop, barrier, fence or update they are part of
 * (race_advice.c and race_handover.c tell the user). */
#include "explain/race_code.h"
#include "sim/finding_place.h"

struct side code_current(const struct draft *x) { return (struct side){ x->t->warp->code->low, x->t->op_index }; }
struct side code_prior(const struct draft *x) { return (struct side){ x->old_low, x->old_op }; }
bool code_is_load(struct side s) { return op_loads(s.l, s.op); }
bool code_is_store(struct side s) { return op_stores(s.l, s.op); }

bool code_same_object(const struct provenance *a, const struct provenance *b)
{
    return a->kind == b->kind && (a->kind == FROM_PARAM ? a->off == b->off : a->kind == FROM_VAR && a->var == b->var);
}

/* The source line of an access, as the text of a finding names it. */
const char *code_line(struct draft *x, struct side s)
{
    struct text t = { 0 };
    place_brief(finding_place(&x->mem, s.l, s.op), &t);
    const char *z = t.p ? arena_str(&x->mem, str_of(t.p)) : "?";
    text_free(&t);
    return z;
}

/* Both are in the same column of the same source line, inlined by the same calls if at all. */
bool code_one_statement(struct draft *x, struct side a, struct side b)
{
    const struct place *p = finding_place(&x->mem, a.l, a.op), *q = finding_place(&x->mem, b.l, b.op);
    for (; p && q; p = p->inlined_at, q = q->inlined_at)
        if (!p->file || !q->file || p->line != q->line || p->col != q->col || strcmp(p->file, q->file)) return false;
    return p == q; /* both at the end of the calls that were inlined */
}

/* ---- control flow ---- */

/* The basic block of an operation. */
u32 code_block(const struct lowered *l, u32 op)
{
    for (u32 b = 0; b < l->nblock; b++)
        if (op >= l->block[b].first && op < l->block[b].end) return b;
    return NONE;
}

/* Every path to b passes a. */
bool code_dominates(const struct lowered *l, u32 a, u32 b)
{
    a = code_block(l, a);
    b = code_block(l, b);
    for (u32 n = 0; b != NONE && b != a && n < l->nblock; n++) b = l->block[b].idom;
    return a != NONE && b == a;
}

/* A barrier stands between the two in the text. */
bool code_barrier_between(const struct lowered *l, u32 from, u32 to)
{
    for (u32 k = from + 1; k < to; k++)
        if (l->op[k].flags & ISA_BARRIER && !l->op[k].dead) return true;
    return false;
}

/* A thread that reaches b has passed a itself, or a barrier after a at which it met the thread that passed a: one
 * thread acts for its block. */
bool code_must_pass(const struct lowered *l, u32 a, u32 b)
{
    if (code_dominates(l, a, b)) return true;
    for (u32 k = a + 1; k < b; k++)
        if (l->op[k].flags & ISA_BARRIER && !l->op[k].dead && code_dominates(l, k, b)) return true;
    return false;
}

/* A fence stands between the two, and whoever reaches `to` has passed it. */
bool code_fence_between(const struct lowered *l, u32 from, u32 to)
{
    for (u32 k = from + 1; k < to; k++)
        if (l->op[k].flags & ISA_FENCE && code_must_pass(l, k, to)) return true;
    return false;
}

/* A barrier between two accesses that code_dominates the second; NONE: there is none. */
u32 code_barrier_in_pass(const struct lowered *l, u32 from, u32 to)
{
    for (u32 b = 0; b < l->nblock; b++)
        if (l->block[b].wait == WAIT_barrier && l->block[b].end - 1 > from && l->block[b].end - 1 < to &&
            code_dominates(l, l->block[b].end - 1, to))
            return l->block[b].end - 1;
    return NONE;
}

bool code_common_loop(const struct lowered *l, u32 a, u32 b, u32 *first, u32 *end)
{
    u32 x = code_block(l, a), y = code_block(l, b), found = NONE;
    for (u32 n = 0; x != NONE && y != NONE && n < l->nloop; n++) {
        u32 head = l->loop[n].head, last = l->loop[n].last;
        if (head > MIN_OF(x, y) || last < MAX_OF(x, y)) continue;
        if (found == NONE || last - head < l->loop[found].last - l->loop[found].head) found = n;
    }
    if (found == NONE) return false;
    *first = l->block[l->loop[found].head].first;
    *end = l->block[l->loop[found].last].end;
    return true;
}

/* Some loop contains both operations. */
bool code_in_one_loop(const struct lowered *l, u32 a, u32 b)
{
    u32 first, end;
    return code_common_loop(l, a, b, &first, &end);
}

u32 code_update_load(struct side s) { return update_load(s.l, s.op); }

/* ---- unrolled loops ---- */

/* Where an operation stands in the source: the statement of the kernel, then that of the function which was inlined
 * there, and so on. */
enum { DEEP = 16 };
struct stand {
    u32 n;
    const struct ptx_loc *at[DEEP];
};

static struct stand stand_of(const struct lowered *l, u32 op)
{
    struct stand s = { 0 };
    const struct ptx_loc *inner = l->op[op].src ? l->op[op].src->loc : NULL;
    u32 depth = 0;
    for (const struct ptx_loc *p = inner; p; p = p->at) depth++;
    for (const struct ptx_loc *p = inner; p; p = p->at)
        if (--depth < DEEP) s.at[depth] = p;
    while (s.n < DEEP && s.at[s.n]) s.n++;
    return s;
}

static bool same_line(const struct ptx_loc *a, const struct ptx_loc *b)
{
    return a && b && a->file == b->file && a->line == b->line;
}

/* The two are in different calls of what is inlined at this level, and in the same ones above it. */
static bool parts_at(const struct stand *a, const struct stand *b, u32 level)
{
    bool calls = level + 1 < a->n && level + 1 < b->n;
    return !same_line(a->at[level], b->at[level]) || (calls && a->at[level]->col != b->at[level]->col);
}

/* The level at which the two part; 0: they do not, and are one statement of the kernel. */
static u32 parting(const struct stand *a, const struct stand *b)
{
    u32 most = MIN_OF(a->n, b->n), k = 0;
    while (k < most && !parts_at(a, b, k)) k++;
    return k < most ? k : 0;
}

/* The place of an operation at this level, in the same calls as `like` above it; NULL: it is elsewhere. */
static const struct ptx_loc *beside(const struct lowered *l, u32 op, const struct stand *like, u32 level)
{
    struct stand s = stand_of(l, op);
    if (s.n <= level) return NULL;
    for (u32 k = 0; k < level; k++)
        if (parts_at(&s, like, k)) return NULL;
    return s.at[level];
}

/* A barrier of all threads of the block. */
static bool is_full_barrier(const struct lop *o)
{
    return o->flags & ISA_BARRIER && !o->dead && lop_src(o, 1)->kind == O_NONE && (o->aux & 15) != BAR_ARRIVE;
}

u32 code_barrier_in_turn(const struct lowered *l, u32 first, u32 second)
{
    struct stand of = stand_of(l, first), behind = stand_of(l, second);
    u32 level = parting(&of, &behind);
    const struct ptx_loc *f = of.at[level], *s = behind.at[level];
    if (!f || !s || f->file != s->file || f->line < s->line || code_barrier_between(l, first, second)) return NONE;
    if (f->line == s->line && level + 1 < of.n && level + 1 < behind.n && f->col < s->col) return NONE;
    /* an earlier turn of the second one, and a barrier between that and the first one */
    for (u32 k = first, bar = NONE; k-- > 0;) {
        const struct lop *o = &l->op[k];
        const struct ptx_loc *p = beside(l, k, &of, level);
        if (is_full_barrier(o) && p && p->file == f->file && p->line >= s->line && p->line <= f->line) bar = k;
        if (bar != NONE && o->kind == K_MEM && same_line(p, s) && lop_is_store(o) == lop_is_store(&l->op[second]))
            return bar;
    }
    return NONE;
}

/* ---- one thread ---- */

static bool defines(const struct lop *o, u32 reg)
{
    EACH_DEF (r, o)
        if (r == reg) return true;
    return false;
}

/* The unique operation that defines the register for `user`: the only one in the function or, outside of loops, the
 * only one before `user`. NONE. */
static u32 only_definition(const struct lowered *l, u32 reg, u32 user)
{
    if (l->ndef[reg] == 1) {
        for (u32 k = user; k-- > 0;) /* most are near */
            if (defines(&l->op[k], reg)) return k;
        for (u32 k = user; k < l->nop; k++)
            if (defines(&l->op[k], reg)) return k;
        return NONE;
    }
    u32 b = code_block(l, user), found = NONE;
    for (u32 k = b == NONE || l->block[b].loop ? 0 : user; k-- > 0;) {
        if (!defines(&l->op[k], reg)) continue;
        if (found != NONE) return NONE;
        found = k;
    }
    return found != NONE && code_dominates(l, found, user) ? found : NONE;
}

/* The operand is a coordinate of the thread in its block, or several of them combined by `or`. */
static bool is_thread_number(const struct lowered *l, const struct opnd *o, u32 user, u32 deep)
{
    if (o->kind == O_SREG) return o->reg == SR_TID;
    u32 k = o->kind == O_REG && deep ? only_definition(l, o->reg, user) : NONE;
    if (k == NONE) return false;
    const struct lop *p = &l->op[k];
    if (p->shape == SHAPE_MOVE) return is_thread_number(l, lop_src(p, 0), k, deep - 1);
    return p->shape == SHAPE_OR && is_thread_number(l, lop_src(p, 0), k, deep - 1) &&
           is_thread_number(l, lop_src(p, 1), k, deep - 1);
}

/* The branch at the end of block b goes to `to` for one thread of the block only: threadIdx.x == 0. */
static bool chooses_one(const struct lowered *l, u32 b, u32 to)
{
    enum { DEEP = 4 };
    const struct block *bl = &l->block[b];
    if (bl->nsucc != 2 || bl->end == bl->first) return false;
    const struct lop *o = &l->op[bl->end - 1];
    u32 k = o->guard.kind == O_REG ? only_definition(l, o->guard.reg, bl->end - 1) : NONE;
    if (k == NONE || l->op[k].kind != K_CMP || l->op[k].form < 0 || lop_src(&l->op[k], 1)->kind != O_CONST ||
        !is_thread_number(l, lop_src(&l->op[k], 0), k, DEEP))
        return false;
    u32 relation = isa_forms[l->op[k].form].relation;
    bool taken = bl->target == to;
    return relation == REL_eq ? taken != (bool)o->guard.neg : relation == REL_ne && taken == (bool)o->guard.neg;
}

bool code_by_one_thread(const struct lowered *l, u32 op)
{
    u32 b = code_block(l, op);
    for (u32 n = 0; b != NONE && n < l->nblock; n++) {
        u32 up = l->block[b].idom;
        if (up == NONE || up == b) return false;
        if (chooses_one(l, up, b)) return true;
        b = up;
    }
    return false;
}

/* ---- values that depend on the block alone ---- */

static bool is_of_block(const struct lowered *l, u32 reg, u32 *steps);

static bool operand_is_of_block(const struct lowered *l, const struct opnd *o, u32 *steps)
{
    if (o->kind == O_REG) return is_of_block(l, o->reg, steps);
    if (o->kind != O_SREG) return true;
    return o->reg == SR_CTAID || o->reg == SR_NCTAID || o->reg == SR_NTID;
}

static bool is_of_block(const struct lowered *l, u32 reg, u32 *steps)
{
    if (l->ndef[reg] != 1) return false;
    for (u32 k = 0; k < l->nop; k++) {
        const struct lop *o = &l->op[k];
        bool sets = false;
        EACH_DEF (r, o) sets |= r == reg;
        if (!sets) continue;
        bool load = o->kind == K_MEM && lop_is_load(o) && l->site[o->site].sem == SEM_WEAK;
        u32 space = load ? l->site[o->site].space : SP_CONST;
        if (space != SP_GLOBAL && space != SP_CONST && space != SP_PARAM) return false;
        if ((o->kind != K_LANE && !load) || o->guard.kind != O_NONE || !*steps) return false;
        --*steps;
        for (u32 n = 0; n < o->nsrc; n++)
            if (!operand_is_of_block(l, &o->opnd[o->ndst + n], steps)) return false;
        return true;
    }
    return false;
}

bool code_is_of_block(const struct lowered *l, u32 reg)
{
    u32 steps = 64; /* of a value that takes more, nothing is said */
    return is_of_block(l, reg, &steps);
}
