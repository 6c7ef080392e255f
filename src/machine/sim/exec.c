/* Execution of one warp: splits, blocks, branches.
 *
 * The running split goes through straight-line code with one indirect call an instruction. At the end of a block its
 * terminator decides. The runnable split of the deepest frame that is at the lowest block runs first. A jump to the
 * block of another runnable split, or beyond it, ends its turn, so that splits that meet are merged. Back edges cost
 * fuel; when there is none left, wait.c finds out whether the loop is idle. */
#include "sim/exec.h"
#include "sim/attach.h"
#include "sim/cta.h"
#include "sim/call.h"
#include "sim/exits.h"
#include "sim/lanes.h"
#include "sim/memory.h"
#include "sim/observe.h"
#include "sim/planes.h"
#include "sim/sim_run.h"
#include "sim/asked.h"
#include "sim/wait.h"
#include "sim/warpop.h"

struct split *exec_split(struct warp *w, u32 mask, u32 block, struct frame *fr)
{
    CHECK(w->nsplit < LANES);
    fr->refs++;
    return split_put(&w->split[w->nsplit++], mask, block, fr);
}

static void drop_split(struct warp *w, struct split *s)
{
    struct frame *f = s->fr;
    if (s->reads) {
        base_free(s->reads);
        s->reads = NULL;
    }
    if (unlikely(s != &w->split[--w->nsplit])) *s = w->split[w->nsplit];
    w->cur = NULL;
    frame_drop(w, f);
}

static void leave_split(struct warp *w, u32 mask)
{
    w->cta->exited = true;
    if (w->cur) {
        w->cur->mask &= ~mask;
        w->mask = w->cur->mask;
    }
}

/* Somebody wants to know that lanes leave: an observer, or what hangs at the warp or the CTA. */
static __attribute__((noinline)) void leave_heard(struct warp *w, u32 mask)
{
    struct cta *c = w->cta;
    ATTACH_EACH(w->has, leave, w, mask);
    if (observed(c->launch) && mask)
        observe_sync(c->launch,
                     &(struct sync_event){ .kind = SYNC_EXIT, .cta = c, .warp = w, .mask = mask, .op = NONE });
    leave_split(w, mask);
    ATTACH_EACH(c->has, left, w);
}

/* Lanes leave the kernel. The running split is dropped by its caller when it has none left. */
void exec_exit_lanes(struct warp *w, u32 mask, u32 op)
{
    const struct cta *c = w->cta;
    w->live &= ~mask;
    exit_record_add(&w->exits, (struct exit_record){ mask, op, w->code->low });
    if (unlikely(w->has || c->has || observed(c->launch)))
        leave_heard(w, mask);
    else
        leave_split(w, mask);
}

static void merge(struct warp *w)
{
    for (u32 a = 0; a < w->nsplit; a++)
        for (u32 b = a + 1; b < w->nsplit;) {
            struct split *x = &w->split[a], *y = &w->split[b];
            if (x->state == SPLIT_RUN && y->state == SPLIT_RUN && x->fr == y->fr && x->block == y->block) {
                x->mask |= y->mask;
                drop_split(w, y);
            } else
                b++;
        }
}

/* Whether another runnable split is at the same block: the two merge before they go on. */
static bool can_merge(const struct warp *w, const struct split *s)
{
    for (u32 k = 0; k < w->nsplit; k++) {
        const struct split *o = &w->split[k];
        if (o != s && o->state == SPLIT_RUN && o->fr == s->fr && o->block == s->block) return true;
    }
    return false;
}

/* A split of fast code is idle, and others of the warp could go on, which only plain code does, and plain code is for
 * good. Mostly another CTA has the lock: this warp gives it some turns to leave it. */
static bool is_patient(struct warp *w)
{
    enum { PATIENCE = 24 };
    struct split *idle = NULL;
    for (u32 k = 0; k < w->nsplit; k++) {
        struct split *s = &w->split[k];
        if (s->state == SPLIT_IDLE && s->bar < PATIENCE) idle = s;
        if (s->state != SPLIT_RUN && s != idle) return false;
    }
    if (w->base->code->plain || !idle) return false;
    idle->bar++;
    return true;
}

/* The split that runs next; NULL: none can, or the warp gives way, which *yields says. */
static struct split *pick(struct warp *w, bool *yields)
{
    struct split *best = NULL;
    bool blocked = false;
    if (w->nsplit == 1) return w->split[0].state == SPLIT_RUN ? &w->split[0] : NULL;
    if (w->nsplit > 1) merge(w);
    for (u32 k = 0; k < w->nsplit; k++) {
        struct split *s = &w->split[k];
        if (s->state != SPLIT_RUN) {
            blocked = true;
            continue;
        }
        if (!best || s->fr->depth > best->fr->depth ||
            (s->fr->depth == best->fr->depth && s->fr == best->fr && s->block < best->block))
            best = s;
    }
    /* a split waits while another goes on: that is not the order of fast code */
    if (best && blocked) {
        if ((*yields = is_patient(w))) return NULL;
        exec_to_plain(w, NONE);
    }
    return best;
}

static void enter(struct warp *w, struct split *s)
{
    struct frame *f = s->fr;
    w->cur = s;
    w->mask = s->mask;
    w->R = f->R;
    w->planes = f->planes;
    if (w->code != f->code) {
        w->code = f->code;
        w->range = ranges_get(w, f->code->low);
    }
    w->limit = NONE;
    if (w->nsplit == 1) return;
    for (u32 k = 0; k < w->nsplit; k++) {
        struct split *o = &w->split[k];
        if (o != s && o->state == SPLIT_RUN && o->fr == f && o->block < w->limit) w->limit = o->block;
    }
}

/* Under a probe an access takes the common path, which records what it reads. */
int exec_one(struct warp *w, u32 at)
{
    struct code *c = w->code;
    const struct insn *i = &c->insn[at];
    bool access = w->probe && i->kind == K_MEM && c->low->op[i->op].flags & ISA_ACCESS;
    return (access ? observe_probed : c->fn[at])(w->R, i, w);
}

/* Whether a warp under a perturbed schedule gives way before a block. After a publication it does so every second time,
 * so that others act on what was published before this warp goes on. */
static bool perturb_yields(struct warp *w, u32 b)
{
    u32 blocks = w->cta->launch->schedule.perturb; /* half of the blocks between two yields, on average */
    if (blocks && w->code->low->block[b].after_publication) blocks = 1;
    return blocks && !w->probe && rand_next(&w->cta->rng) % (2 * blocks) == 0;
}

/* The instructions [at, end) of a block, for a warp that is instrumented: a probe, a trace, an observer of steps, or a
 * perturbed schedule. */
static int run_instrumented(struct warp *w, u32 b, u32 at, u32 end)
{
    if (at == w->code->block[b].start && perturb_yields(w, b)) return EV_YIELD;
    if (w->probe) wait_probe_block(w, b);
    bool follow = w->cta->launch->in->follow;
    if (w->trace) return asked->trace_run(w, b, at, end);
    for (; at < end; at++) {
        if (follow) observe_step(w, &w->code->insn[at], false);
        int ev = exec_one(w, at);
        if (unlikely(ev)) {
            w->event_at = at;
            return ev;
        }
        if (follow) observe_step(w, &w->code->insn[at], true);
    }
    return 0;
}

static int run_straight(struct warp *w, u32 at, u32 end)
{
    const struct insn *i = w->code->insn + at, *e = w->code->insn + end;
    handler *const *fn = w->code->fn + at;
    char *R = w->R;
    for (; i < e; i++, fn++) {
        int ev = (*fn)(R, i, w);
        if (unlikely(ev)) {
            w->event_at = (u32)(i - w->code->insn);
            return ev;
        }
    }
    return 0;
}

/* brx.idx: lanes are grouped by the block their index names. */
static void branch_indexed(struct warp *w, struct split *s, const struct insn *i)
{
    const u32 *t = w->code->low->brx[w->code->low->op[i->op].table];
    u64 to[LANES];
    u32 todo = s->mask, first = NONE, first_mask = 0;
    lane_values(w->code, w->R, i->a, CLS_AT(i, 1), 4, to);
    EACH_SET (l, todo) {
        if (to[l] >= t[0]) {
            trap_bad_index(w, i, l);
            return;
        }
        to[l] = t[to[l] + 1];
    }
    while (todo) {
        u32 block = (u32)to[__builtin_ctz(todo)], same = lanes_alike(to, todo);
        todo &= ~same;
        if (first == NONE) {
            first = block;
            first_mask = same;
        } else
            exec_split(w, same, block, s->fr);
    }
    s->block = first;
    s->mask = first_mask;
}

/* pick a split; the warp gives way; its only split waits; the split goes on */
enum step { STEP_PICK, STEP_YIELD, STEP_WAIT, STEP_ON };

/* The running split gives its turn to another split of the warp, or else to other warps. It is runnable again with the
 * warp's next turn. */
static enum step give_way(struct warp *w)
{
    if (w->nsplit == 1 || launch_stopped(w->cta->launch)) return STEP_YIELD;
    w->cur->state = SPLIT_SLEEP;
    for (u32 k = 0; k < w->nsplit; k++)
        if (w->split[k].state == SPLIT_RUN) return STEP_PICK;
    return STEP_YIELD;
}

/* A branch that some lanes take and some do not. *to: where the split goes on. */
static enum step diverge(struct warp *w, struct split *s, const struct xblock *bl, const struct insn *i, u32 taken,
                         u32 *to)
{
    if (bl->target_exits || bl->next_exits) {
        exec_exit_lanes(w, bl->target_exits ? taken : w->mask & ~taken, i->op);
        *to = bl->target_exits ? bl->next : bl->target;
        if (likely(w->nsplit == 1)) return STEP_ON;
        /* others of the warp may have waited for those that left */
        s->block = *to;
        sync_recheck(w);
        return STEP_PICK;
    }
    u32 others = w->mask & ~taken, lo = bl->next < bl->target ? bl->next : bl->target;
    s->block = bl->next;
    s->mask = others;
    struct split *n = exec_split(w, taken, bl->target, s->fr);
    if (lo == bl->target) {
        n->mask = others;
        n->block = bl->next;
        s->mask = taken;
        s->block = bl->target;
    }
    if (lo >= w->limit) return STEP_PICK;
    /* the lower side goes on; the other one is the new limit unless there is a lower one */
    w->mask = s->mask;
    if (n->block < w->limit) w->limit = n->block;
    *to = lo;
    return STEP_ON;
}

/* The lanes wait, as the row of waits.def says, unless what they wait for is there. */
static enum step end_waiting(struct warp *w, struct split *s, u32 b, const struct xblock *bl, const struct insn *i)
{
    const struct wait_row *r = &wait_rows[bl->wait];
    s->block = bl->next;
    if (!asked->waits[bl->wait](w, s, i)) {
        if (r->again) s->block = b;
        return w->nsplit == 1 ? STEP_WAIT : STEP_PICK;
    }
    return unlikely(w->nsplit > 1) && can_merge(w, s) ? STEP_PICK : STEP_ON;
}

/* The end of block b, unless that is a jump. STEP_ON: the split goes on after it. */
static enum step end_block(struct warp *w, struct split *s, u32 b, const struct xblock *bl, const struct insn *i)
{
    u32 m;
    switch (bl->term) {
    case TERM_BRX: branch_indexed(w, s, i); return STEP_PICK;
    case TERM_CALL:
        s->block = b;
        /* recursion has no back edge */
        if (w->steps - w->counted > BUDGET_STEPS && wait_budget_spent(w)) return STEP_YIELD;
        if (call_enter(w, s, i, bl->next)) return STEP_PICK;
        return bl->next == NONE || launch_stopped(w->cta->launch) ? STEP_YIELD : STEP_ON;
    case TERM_RET:
        m = active_lanes(w, w->R, i);
        if (!m) return STEP_ON;
        if (m != w->mask) s->block = bl->next;
        call_return(w, s, m);
        return STEP_PICK;
    case TERM_EXIT:
        exec_exit_lanes(w, active_lanes(w, w->R, i), i->op);
        if (s->mask) return STEP_ON;
        drop_split(w, s);
        if (w->nsplit) sync_recheck(w);
        barrier_recheck(w->cta);
        return STEP_PICK;
    case TERM_TRAP: trap_report(w, i); return STEP_YIELD;
    case TERM_UNSUPPORTED: trap_unsupported(w, i); return STEP_YIELD;
    case TERM_WARP: s->block = bl->next; return sync_arrive(w, s, i) ? STEP_ON : STEP_PICK;
    case TERM_SLEEP:
        s->block = bl->next;
        __atomic_fetch_add(&w->cta->launch->vtime,
                           lane_value(w, w->code, w->R, i->a, CLS_AT(i, 1), 4, (u32)__builtin_ctz(w->mask)),
                           __ATOMIC_RELAXED);
        return give_way(w);
    case TERM_WAIT: return end_waiting(w, s, b, bl, i);
    default: CHECK(!"terminator"); return STEP_YIELD;
    }
}

/* Runs the current split until it waits, gives way, or comes to a block where another split is to run first. */
static enum step run_split(struct warp *w)
{
    struct split *s = w->cur;
    u32 b = s->block, to;
    for (;;) {
        const struct xblock *bl = &w->code->block[b];
        u32 at = bl->start, end = bl->end;
        int ev;
        w->steps += bl->steps;
        while ((ev = unlikely(w->instrumented) ? run_instrumented(w, b, at, end) : run_straight(w, at, end))) {
            if (ev == EV_STOP) return STEP_YIELD;
            if (ev == EV_YIELD) {
                s->block = b;
                w->steps -= bl->steps;
                return STEP_YIELD;
            }
            u32 op = w->code->insn[w->event_at].op;
            s->block = b;
            exec_to_plain(w, op);
            bl = &w->code->block[b];
            at = w->code->insn_of[op];
            end = bl->end;
        }
        if (unlikely(w->blocks_seen)) observe_block(w, b);
        const struct insn *i = &w->code->insn[end];
        enum step step = STEP_ON;
        to = bl->next;
        if (bl->term == TERM_BRA) {
            u32 taken = active_lanes(w, w->R, i);
            if (taken == w->mask)
                to = bl->target;
            else if (taken)
                step = diverge(w, s, bl, i, taken, &to);
        } else if (bl->term != TERM_FALL)
            step = end_block(w, s, b, bl, i);
        if (step != STEP_ON) return step;
        /* lanes that only leave need not merge before */
        if (unlikely(to >= w->limit) && !w->code->low->block[to].is_exit) {
            s->block = to;
            return STEP_PICK;
        }
        if (to <= b && unlikely(--w->fuel < 0)) {
            s->block = to;
            switch (wait_out_of_fuel(w, to)) {
            case WAIT_GO: s = w->cur; break;
            case WAIT_IDLE: return STEP_PICK;
            case WAIT_YIELD: return give_way(w);
            }
        }
        b = to;
    }
}

enum exec_end exec_warp(struct warp *w)
{
    for (;;) {
        bool yields = false;
        struct split *s = pick(w, &yields);
        if (!s) return unlikely(yields) ? EXEC_YIELD : w->nsplit ? EXEC_WAIT : EXEC_DONE;
        enter(w, s);
        enum step e = run_split(w);
        if (unlikely(w->locked)) { /* its splits are as they were picked from */
            w->locked = false;
            w->cta->gives_way = true;
            if (e == STEP_PICK && w->nsplit) return EXEC_YIELD;
        }
        if (e == STEP_WAIT) return EXEC_WAIT;
        if (e == STEP_YIELD || launch_stopped(w->cta->launch)) return EXEC_YIELD;
    }
}
