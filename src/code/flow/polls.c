/* Polled loads (rules.md R2b): a volatile load whose value decides whether a loop around it ends,
 *
 *     while (*flag == 0) ;
 *
 * makes its location a flag. The registers that the exits of a loop depend on are followed backwards through the
 * operations of the loop: through arithmetic, votes and shuffles, through branches inside the loop that choose what
 * such a register gets, and, in -G builds, through local variables and arguments of calls. Where the text does not
 * tell, a load counts as polled: nothing is reported of a flag, so that is the harmless error. */
#include "flow/analyses.h"

enum { WORK_MOST = 1 << 24 }; /* operations looked at in one function; past that every volatile load counts as polled */

struct exits { /* what the exits of one loop depend on */
    struct lowered *l;
    const struct loop *loop;
    u64 *want;   /* registers, a bit set */
    bool frame;  /* and variables in the frame, or arguments of calls */
    bool change; /* in this round */
    u64 *work;   /* operations looked at, in all loops of the function */
};

static bool wants(const struct exits *e, u32 reg) { return e->want[reg >> 6] >> (reg & 63) & 1; }

static void add_uses(struct exits *e, const struct lop *o)
{
    EACH_USE (r, o) {
        e->change |= !wants(e, r);
        e->want[r >> 6] |= 1ull << (r & 63);
    }
}

static bool defines_wanted(const struct exits *e, const struct lop *o)
{
    bool yes = false;
    EACH_DEF (r, o) yes |= wants(e, r);
    return yes;
}

/* The memory of the operation is the frame, or that of calls. */
static bool is_in_frame(const struct exits *e, const struct lop *o)
{
    u32 space = e->l->site[o->site].space;
    return space == SP_LOCAL || space == SP_CALL ||
           (e->l->site[o->site].prov.kind == FROM_VAR && e->l->site[o->site].prov.var->space == SP_LOCAL);
}

/* One operation of the loop, backwards. */
static void follow(struct exits *e, const struct lop *o)
{
    if (o->dead) return;
    if (o->kind == K_MEM && o->flags & ISA_ACCESS) {
        bool frame = is_in_frame(e, o);
        if (lop_is_load(o) && frame && defines_wanted(e, o) && !e->frame) e->frame = e->change = true;
        if (lop_is_store(o) && frame && e->frame) add_uses(e, o);
        return; /* of any other load the value is what decides, not its address */
    }
    if (defines_wanted(e, o)) add_uses(e, o);
}

static bool is_inside(const struct exits *e, u32 block) { return e->loop->head <= block && block <= e->loop->last; }

/* Some block from `first` on and below `end` sets a register that an exit depends on. */
static bool region_decides(const struct exits *e, u32 first, u32 end)
{
    for (u32 b = first; b < end && b <= e->loop->last; b++) {
        *e->work += e->l->block[b].end - e->l->block[b].first + 1;
        for (u32 k = e->l->block[b].first; k < e->l->block[b].end; k++)
            if (defines_wanted(e, &e->l->op[k])) return true;
    }
    return false;
}

/* The terminator of a block: an exit of the loop depends on it if it leaves, or chooses what a wanted register gets. */
static void follow_terminator(struct exits *e, u32 b)
{
    const struct block *bl = &e->l->block[b];
    if (bl->end == bl->first) return;
    const struct lop *o = &e->l->op[bl->end - 1];
    bool leaves = bl->term == TERM_EXIT || bl->term == TERM_RET;
    for (u32 k = 0; k < bl->nsucc; k++) leaves |= !is_inside(e, bl->succ[k]);
    if (leaves || (bl->nsucc > 1 && region_decides(e, b + 1, bl->ipdom == NONE ? e->l->nblock : bl->ipdom)))
        add_uses(e, o);
}

static bool is_volatile_load(const struct site *s) { return s->sem == SEM_VOLATILE && site_is_load(s); }

/* What the exits of a loop depend on. */
static struct exits find_exits(struct lowered *l, const struct loop *loop, u64 *want, u64 *work)
{
    struct exits e = { .l = l, .loop = loop, .want = want, .work = work };
    memset(want, 0, 8 * (l->words + 1));
    do {
        e.change = false;
        for (u32 b = loop->head; b <= loop->last && *work < WORK_MOST; b++) {
            *work += l->block[b].end - l->block[b].first + 1;
            follow_terminator(&e, b);
            for (u32 k = l->block[b].first; k < l->block[b].end; k++) follow(&e, &l->op[k]);
        }
    } while (e.change);
    return e;
}

static void find_in_loop(struct lowered *l, const struct loop *loop, u64 *want, u64 *work)
{
    struct exits e = find_exits(l, loop, want, work);
    for (u32 b = loop->head; b <= loop->last; b++)
        for (u32 k = l->block[b].first; k < l->block[b].end; k++) {
            const struct lop *o = &l->op[k];
            if (o->kind == K_MEM && o->flags & ISA_ACCESS && is_volatile_load(&l->site[o->site]) &&
                defines_wanted(&e, o))
                l->site[o->site].flags |= SITE_POLLED | SITE_DECIDES;
        }
}

/* One statement of the source, reached by the same inlined calls. */
static bool same_statement(const struct ptx_loc *a, const struct ptx_loc *b)
{
    if (!a || !b) return false;
    for (; a && b && a != b; a = a->at, b = b->at)
        if (a->file != b->file || a->line != b->line || a->col != b->col) return false;
    return a == b;
}

/* Two loads of one place: by the same address operand, or from one statement of the source. */
static bool same_load(const struct lowered *l, const struct lop *a, const struct lop *b)
{
    const struct opnd *p = lop_src(a, 0), *q = lop_src(b, 0);
    const struct ptx_insn *x = a->src, *y = b->src;
    if (l->site[a->site].width != l->site[b->site].width) return false;
    if (p->kind == q->kind && p->reg == q->reg && p->value == q->value && p->comp == q->comp && a->off == b->off)
        return true;
    return x && y && same_statement(x->loc, y->loc);
}

/* Compilers test once before a loop what the loop then polls: that load reads the flag, too. */
static void mark_first_tests(struct lowered *l)
{
    for (u32 n = 0; n < l->nsite; n++)
        for (u32 k = 0; k < l->nsite && l->site[n].flags & SITE_POLLED; k++)
            if (is_volatile_load(&l->site[k]) && same_load(l, &l->op[l->site[n].op], &l->op[l->site[k].op]))
                l->site[k].flags |= SITE_POLLED;
}

static void mark_all(struct lowered *l)
{
    for (u32 k = 0; k < l->nsite; k++)
        if (is_volatile_load(&l->site[k])) l->site[k].flags |= SITE_POLLED | SITE_DECIDES;
}

void polls_find(struct lowered *l)
{
    bool any = false;
    u64 work = 0;
    for (u32 k = 0; k < l->nsite; k++) any |= is_volatile_load(&l->site[k]);
    if (!any) return;
    if (!l->func->is_entry && l->func->nret) { /* the loop may be around the call */
        mark_all(l);
        return;
    }
    struct arena tmp = { 0 };
    u64 *want = NEW_ARRAY(&tmp, u64, l->words + 1);
    for (u32 n = 0; n < l->nloop && work < WORK_MOST; n++) find_in_loop(l, &l->loop[n], want, &work);
    if (work >= WORK_MOST || (u64)l->nsite * l->nsite >= WORK_MOST)
        mark_all(l);
    else
        mark_first_tests(l);
    arena_free(&tmp);
}

/* ---- loops that wait for other threads ---- */

/* The operation reads memory that other CTAs may write. */
static bool reads_global(const struct lowered *l, const struct lop *o)
{
    if (o->dead || o->kind != K_MEM || !(o->flags & ISA_ACCESS) || lop_is_store(o)) return false;
    u32 space = l->site[o->site].space;
    return space == SP_GLOBAL || space == SP_GENERIC;
}

/* Some operation of the loop sets the address that the load reads from. */
static bool address_moves(const struct exits *e, const struct lop *load)
{
    const struct opnd *at = lop_src(load, 0);
    for (u32 b = e->loop->head; at->kind == O_REG && b <= e->loop->last; b++) {
        *e->work += e->l->block[b].end - e->l->block[b].first + 1;
        for (u32 k = e->l->block[b].first; k < e->l->block[b].end; k++)
            EACH_DEF (r, &e->l->op[k]) {
                if (r == at->reg) return true;
            }
    }
    return false;
}

bool code_polls(struct lowered *l)
{
    struct arena tmp = { 0 };
    u64 *want = NEW_ARRAY(&tmp, u64, l->words + 1), work = 0;
    bool polls = false;
    for (u32 n = 0; n < l->ncall; n++) polls |= !l->call[n].builtin; /* the loop may be in the function called */
    for (u32 n = 0; n < l->nloop && !polls; n++) {
        struct exits e = find_exits(l, &l->loop[n], want, &work);
        polls = work >= WORK_MOST;
        for (u32 b = e.loop->head; b <= e.loop->last && !polls; b++)
            for (u32 k = l->block[b].first; k < l->block[b].end && !polls; k++)
                polls = (reads_global(l, &l->op[k]) && (defines_wanted(&e, &l->op[k]) || e.frame) &&
                         !address_moves(&e, &l->op[k])) ||
                        work >= WORK_MOST;
    }
    arena_free(&tmp);
    return polls;
}

/* ---- after griddepcontrol.wait ---- */

const u8 *code_after_wait(const struct lowered *l, struct arena *mem)
{
    if (!l->func->is_entry) return NULL;
    for (u32 n = 0; n < l->ncall; n++)
        if (!l->call[n].builtin) return NULL;
    u8 *after = NEW_ARRAY(mem, u8, l->nop + 1), *seen = NEW_ARRAY(mem, u8, l->nblock + 1);
    u32 *todo = NEW_ARRAY(mem, u32, l->nblock + 1), n = 0;
    for (u32 b = 0; b < l->nblock; b++)
        for (u32 k = 0; l->block[b].wait == WAIT_depend && k < l->block[b].nsucc; k++) {
            u32 to = l->block[b].succ[k];
            if (!seen[to]) todo[n++] = to;
            seen[to] = 1;
        }
    while (n) {
        const struct block *b = &l->block[todo[--n]];
        for (u32 k = b->first; k < b->end; k++) after[k] = 1;
        for (u32 k = 0; k < b->nsucc; k++) {
            if (!seen[b->succ[k]]) todo[n++] = b->succ[k];
            seen[b->succ[k]] = 1;
        }
    }
    return after;
}
