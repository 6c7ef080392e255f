/* Spinning at no cost, and waiting for ever as a proof.
 *
 * Every back edge costs a split fuel. When it has none left, the next round of its loop is watched (a probe): if the
 * round changed no memory, did not synchronise, read no clock that counts, and the registers that its exits and
 * addresses depend on (flow/exit_slice.c) are as they were, then the loop can end only when one of the values it read
 * differs. The split is idle with that read set, and costs one comparison a visit. When no split can run and no read
 * set has changed, the launch is quiescent: a proved deadlock, or a wait for the host (worker_pool.c).
 *
 * A round that reads a clock which counts, or counts in variables in memory, as the waits of libcu++ do in -G builds,
 * is no proof. Where for seconds no watched round of the launch did anything else, that is the note wait_suspected. */
#include "sim/wait.h"
#include "base/fault.h"
#include "base/mapping.h"
#include "flow/analyses.h"
#include "sim/access.h"
#include "sim/cluster.h"
#include "sim/asked.h"
#include "sim/lanes.h"
#include "sim/sim_run.h"
#include "sites/where.h"

const struct wait_row wait_rows[WAITS] = {
#define WAIT(id, again, own, text) [WAIT_##id] = { again, own, text },
#include "isa/waits.def"
#undef WAIT
};

enum { READ_SET = 64 }; /* values that a probe can hold */

struct probe {                  /* a round of a loop that is watched */
    struct frame *fr;           /* where the loop runs */
    u32 head;                   /* the loop's first block */
    u32 mask;                   /* lanes that began the round */
    u32 clocks, syncs;          /* of the warp when the round began */
    u32 edges;                  /* back edges of other loops since then */
    const u64 *slice;           /* registers that decide about exits and addresses, a bit set */
    u64 *regs;                  /* their values when the round began, 32 lanes each */
    u32 nregs;                  /* registers in the slice */
    bool clocked;               /* what a clock says is among them */
    struct read read[READ_SET]; /* what the round has read */
    u32 nread;
    struct read polled;               /* the first of them by an atomic, a volatile load or a wait for an mbarrier */
    const struct lowered *polled_low; /* the function of that; NULL: there was none */
    struct read decided;              /* the first of them that its end depends on */
    const struct lowered *decided_low;
    u64 decides;   /* a hash of the reads that its end may depend on, with their values */
    bool overflow; /* the read set is not whole, or a location had two values: the round is not idle */
};

/* ---- the slice: registers that decide about exits and addresses ---- */

/* The slice of a loop, kept with it: the same for every warp. */
static const u64 *exit_slice(struct launch *la, struct lowered *l, u32 head, bool *clocked)
{
    struct loop *lp = NULL;
    *clocked = true;
    for (u32 k = 0; k < l->nloop; k++)
        if (l->loop[k].head == head) lp = &l->loop[k];
    if (!lp) return l->block[head].live_in; /* no natural loop: every live register */
    u64 *s = __atomic_load_n(&lp->slice, __ATOMIC_ACQUIRE);
    if (s) {
        *clocked = lp->clocked;
        return s;
    }
    lock(&la->sim->lock);
    s = lp->slice;
    if (!s) {
        s = NEW_ARRAY(&l->mem, u64, l->words + 1);
        exit_slice_find(l, lp, s);
        __atomic_store_n(&lp->slice, s, __ATOMIC_RELEASE);
    }
    *clocked = lp->clocked;
    unlock(&la->sim->lock);
    return s;
}

static bool loop_polls(const struct lowered *l, u32 head)
{
    for (u32 k = 0; k < l->nloop; k++)
        if (l->loop[k].head == head) return l->loop[k].polls;
    return true;
}

/* Whether a block is in the loop of that head. Without a natural loop the slice is every live register, and any way
 * back to the head is a round. */
static bool in_loop(const struct lowered *l, u32 head, u32 block)
{
    for (u32 k = 0; k < l->nloop; k++)
        if (l->loop[k].head == head) return block >= head && block <= l->loop[k].last;
    return true;
}

static void snapshot(const struct warp *w, const struct probe *p, u64 *out)
{
    const struct code *c = w->code;
    u32 n = 0;
    for (u32 k = 0; k < c->low->words; k++)
        EACH_SET64 (bit, p->slice[k]) {
            const struct where *x = &c->reg[k * 64 + bit];
            for (u32 l = 0; l < LANES; l++, n++) {
                if (!(p->mask >> l & 1))
                    out[n] = 0;
                else if (x->width == 1)
                    out[n] = *(const u32 *)(const void *)SLOT(w->R, x->slot) >> l & 1;
                else
                    out[n] = lane_value(w, c, w->R, x->slot, x->cls, x->width, l);
            }
        }
}

static struct probe *probe_new(struct warp *w, u32 head)
{
    struct probe *p = base_alloc(sizeof *p);
    if (!p) return NULL;
    const struct lowered *l = w->code->low;
    *p = (struct probe){ .fr = w->cur->fr, .head = head, .mask = w->mask };
    p->slice = exit_slice(w->cta->launch, w->code->low, head, &p->clocked);
    for (u32 k = 0; k < l->words; k++) p->nregs += (u32)__builtin_popcountll(p->slice[k]);
    p->regs = base_alloc(8 * LANES * (p->nregs + 1));
    if (!p->regs) {
        base_free(p);
        return NULL;
    }
    return p;
}

void wait_probe_stop(struct warp *w)
{
    if (!w->probe) return;
    base_free(w->probe->regs);
    base_free(w->probe);
    w->probe = NULL;
    w->instrumented = wait_always_instrumented(w);
}

/* The first block of the innermost loop that holds the one of that head, and this block, too; NONE: there is none. */
static u32 loop_around(const struct lowered *l, u32 head, u32 block)
{
    u32 around = NONE;
    for (u32 k = 0; k < l->nloop; k++) {
        const struct loop *lp = &l->loop[k];
        bool both = lp->head < head && head <= lp->last && lp->head <= block && block <= lp->last;
        if (both && (around == NONE || lp->head > around)) around = lp->head;
    }
    return around;
}

/* Lanes that leave the loop may come back to it, by way of an outer loop, with all registers as they were. That is not
 * a round of this loop, so the probe ends when they leave, and the outer loop is probed in its place: rounds of which
 * every one ends in the inner loop would else never be looked at. */
void wait_probe_block(struct warp *w, u32 block)
{
    const struct probe *p = w->probe;
    const struct lowered *l = w->code->low;
    if (p->fr != w->cur->fr || !(p->mask & w->mask) || in_loop(l, p->head, block)) return;
    w->loops.outer_loop = loop_around(l, p->head, block);
    w->loops.outer_edges = OUTER_EDGES;
    wait_probe_stop(w);
    w->fuel = w->loops.outer_loop == NONE ? wait_refill(w, w->loops.next_fuel) : 0;
}

void wait_probe_read(struct warp *w, u32 op, u32 lane, u8 space, u64 addr, const char *ptr, u32 size, u64 value)
{
    struct probe *p = w->probe;
    if (size < 8) value &= (1ull << 8 * size) - 1;
    if (space == SP_CONST || space == SP_PARAM || space == SP_LOCAL || space == SP_CALL) return;
    for (u32 k = 0; k < p->nread; k++)
        if (p->read[k].ptr == ptr && p->read[k].size == size) {
            p->overflow |= p->read[k].value != value;
            return;
        }
    if (p->nread == READ_SET) {
        p->overflow = true;
        return;
    }
    p->read[p->nread++] = (struct read){ ptr, addr, value, op, (u8)size, space, (u8)lane };
    const struct lowered *low = w->code->low;
    const struct site *s = low->op[op].site == NONE ? NULL : &low->site[low->op[op].site];
    if (!s || s->sem != SEM_VOLATILE || s->flags & SITE_DECIDES)
        p->decides = (p->decides ^ addr * 0x9e3779b97f4a7c15u ^ value) * 0xff51afd7ed558ccdu + 1;
    if (s && s->sem == SEM_VOLATILE && s->flags & SITE_DECIDES && !p->decided_low) {
        p->decided = p->read[p->nread - 1];
        p->decided_low = low;
    }
    if (p->polled_low || !s) return;
    if (s->sem == SEM_WEAK && !(s->access & ISA_WRITES)) return;
    p->polled = p->read[p->nread - 1];
    p->polled_low = low;
}

bool wait_changed(const struct split *s)
{
    for (u32 k = 0; k < s->nreads; k++)
        if (load_strong(s->reads[k].ptr, s->reads[k].size) != s->reads[k].value) return true;
    return false;
}

/* ---- at a back edge without fuel ---- */

static void begin_round(struct warp *w)
{
    struct probe *p = w->probe;
    snapshot(w, p, p->regs);
    p->nread = 0;
    p->decides = 0;
    p->decided_low = NULL;
    p->polled_low = NULL;
    p->overflow = false;
    p->edges = 0;
    p->clocks = w->clocks;
    p->syncs = w->syncs;
    w->changed = 0;
    w->fuel = 0;
}

/* The registers that decide about exits are as they were when the round began. */
static bool registers_stayed(struct warp *w)
{
    struct probe *p = w->probe;
    if (p->overflow || (p->clocked && p->clocks != w->clocks) || p->syncs != w->syncs || p->mask != w->mask)
        return false;
    u64 *now = base_alloc(8 * LANES * (p->nregs + 1));
    if (!now) return false;
    snapshot(w, p, now);
    bool same = !memcmp(now, p->regs, 8 * LANES * p->nregs);
    base_free(now);
    return same;
}

static bool round_was_idle(struct warp *w) { return !w->changed && registers_stayed(w); }

/* Whether nothing else of the program can run: every other split waits, and so does the host. */
static bool runs_alone(struct warp *w)
{
    struct launch *l = w->cta->launch;
    u32 all, awake, running = 0;
    u64 done = 0;
    bool alone = l->per == 1 && __atomic_load_n(&l->sim->nlaunches, __ATOMIC_RELAXED) == 1;
    for (u32 k = 0; k < w->cta->nwarps; k++)
        for (u32 j = 0; j < w->cta->warp[k]->nsplit; j++) {
            u8 state = w->cta->warp[k]->split[j].state;
            running += state == SPLIT_RUN || state == SPLIT_SLEEP;
        }
    lock(&l->lock);
    for (u32 k = 0; k < l->nworkers; k++) done += __atomic_load_n(&l->worker[k].ctas, __ATOMIC_RELAXED);
    alone &= running <= 1 && l->active == 1 && done + l->nparked + 1 == l->total;
    for (const struct cta *c = l->parked; c && alone; c = c->next) alone = !cluster_woken(c);
    unlock(&l->lock);
    return alone && threads_of_program(&all, &awake) && !awake;
}

/* A round that wrote, as one with a heartbeat, and whose end depends on nothing that it has written. */
static void look_whether_beats(struct warp *w)
{
    struct probe *p = w->probe;
    struct busy_wait *b = &w->cta->launch->busy;
    u64 now = time_ns();
    if (!p->decided_low || !registers_stayed(w)) return;
    bool same = __atomic_load_n(&b->beats_of, __ATOMIC_RELAXED) == w &&
                __atomic_load_n(&b->beats_read, __ATOMIC_RELAXED) == p->decides;
    if (!same) {
        __atomic_store_n(&b->beats_of, w, __ATOMIC_RELAXED);
        __atomic_store_n(&b->beats_read, p->decides, __ATOMIC_RELAXED);
        __atomic_store_n(&b->beats_since, now, __ATOMIC_RELAXED);
    } else if (now - __atomic_load_n(&b->beats_since, __ATOMIC_RELAXED) > SUSPECT_SECONDS * 1000000000ull &&
               !b->reported) {
        __atomic_store_n(&b->beats_since, now, __ATOMIC_RELAXED); /* asked again only after the same time */
        if (runs_alone(w) && !__atomic_exchange_n(&b->reported, true, __ATOMIC_RELAXED))
            asked->beats_report(w, p->decided_low, &p->decided);
    }
}

/* A round that was not idle has ended. */
static void look_whether_busy(struct warp *w)
{
    struct probe *p = w->probe;
    struct launch *l = w->cta->launch;
    u64 now = time_ns(), since = __atomic_load_n(&l->busy.since, __ATOMIC_RELAXED), done = 0;
    u64 polled = p->polled_low ? (p->polled.addr * 31 ^ p->polled.value) | 1 : 0;
    bool waits = polled && polled == w->cur->polled && !(w->changed & CHANGED_ALL) && !p->overflow &&
                 p->syncs == w->syncs;
    w->cur->polled = polled;
    for (u32 k = 0; k < l->nworkers; k++) done += __atomic_load_n(&l->worker[k].ctas, __ATOMIC_RELAXED);
    if (!waits || !since || done != __atomic_load_n(&l->busy.done, __ATOMIC_RELAXED)) {
        __atomic_store_n(&l->busy.done, done, __ATOMIC_RELAXED);
        __atomic_store_n(&l->busy.since, waits ? now : 0, __ATOMIC_RELAXED);
    } else if (now - since > SUSPECT_SECONDS * 1000000000ull &&
               !__atomic_exchange_n(&l->busy.reported, true, __ATOMIC_RELAXED))
        asked->busy_report(w, p->polled_low, &p->polled);
}

/* The watched part of a round that is no proof (it reads too much, counts, or has loops inside) has read what others
 * may change, strongly, and has changed nothing that they see: it looks for something, as rounds over all neighbours in
 * a graph do, and whoever brings that needs its turn soon. */
static bool only_looked(const struct warp *w)
{
    return w->probe->polled_low && !(w->changed & CHANGED_ALL) && w->probe->syncs == w->syncs;
}

/* The same of a round with barriers, that has found what the round watched before it found: one thread polls for its
 * block, as Triton's locks do. `before`: split.polled of that round. */
static bool polls_for_block(const struct warp *w, u64 before)
{
    const struct probe *p = w->probe;
    return p->polled_low && p->polled.space == SP_GLOBAL && !(w->changed & CHANGED_ALL) && p->syncs != w->syncs &&
           before == w->cur->polled;
}

static enum wait_action block_gives_way(struct warp *w)
{
    wait_probe_stop(w);
    w->fuel = wait_refill(w, FUEL_LOCKED);
    w->cta->gives_way = true;
    return WAIT_YIELD;
}

/* Of a loop in warp.loops.busy_loops. */
static u64 loop_bit(u32 head) { return 1ull << head % 64; }

static enum wait_action go_idle(struct warp *w)
{
    struct probe *p = w->probe;
    struct split *s = w->cur;
    struct read *r = base_alloc(sizeof *r * (p->nread + 1));
    if (!r) {
        wait_probe_stop(w);
        return WAIT_YIELD;
    }
    memcpy(r, p->read, sizeof *r * p->nread);
    /* the report names the first: what is polled, not the list that says where to look */
    for (u32 k = 1; k < p->nread && p->polled_low; k++)
        if (r[k].ptr == p->polled.ptr && r[k].op == p->polled.op) {
            struct read first = r[0];
            r[0] = r[k];
            r[k] = first;
        }
    if (s->reads) base_free(s->reads);
    s->reads = r;
    s->nreads = p->nread;
    s->state = SPLIT_IDLE;
    s->bar = 0;
    s->op = p->nread ? r[0].op : w->code->low->block[p->head].first;
    w->loops.idled_at = p->head;
    w->loops.busy_loops &= ~loop_bit(p->head);
    wait_probe_stop(w);
    w->loops.next_fuel = FUEL_FIRST;
    w->fuel = wait_refill(w, w->loops.next_fuel);
    return WAIT_IDLE;
}

bool wait_budget_spent(struct warp *w)
{
    struct launch *l = w->cta->launch;
    if (launch_called_off(l) || launch_stopped(l)) return true;
    u64 total = __atomic_add_fetch(&l->spent, w->steps - w->counted, __ATOMIC_RELAXED);
    w->counted = w->steps;
    if (!l->in->budget || total <= l->in->budget) return false;
    launch_stop(l, SIM_LIVELOCK);
    return true;
}

s32 wait_refill(struct warp *w, u32 n)
{
    const struct launch *l = w->cta->launch;
    if (unlikely(l->schedule.perturb)) n = (u32)(rand_next(&w->cta->rng) % l->schedule.perturb);
    u64 spent = __atomic_load_n(&l->spent, __ATOMIC_RELAXED),
        left = l->in->budget > spent ? (l->in->budget - spent) / 16 : 0;
    return (s32)(l->in->budget && left < n ? left : n);
}

/* Who was idle, and has got what it waited for, most often comes back to wait for the next: there it is probed at once.
 * On the way it goes through other loops. A probe of an outer one would end only after many rounds of that wait, and
 * one of a loop that works finds nothing, and puts the next probe off. So these pass, but not without end: a wait in
 * another loop is to be found soon. Under a perturbed schedule a loop has little fuel anyway. */
static bool passes_unprobed(struct warp *w, u32 target)
{
    bool works = w->loops.busy_loops & loop_bit(target) || !loop_polls(w->code->low, target);
    u32 cost = works ? 1 : WOKEN_NEW;
    bool passes = !w->probe && !w->cta->launch->schedule.perturb && target != w->loops.idled_at &&
                  w->loops.woken > cost;
    w->loops.woken = passes ? w->loops.woken - cost : 0;
    return passes;
}

/* How much fuel a loop that was not idle gets at most. */
static u32 most_fuel(const struct launch *l)
{
    bool turns = (l->started && l->in->seeded) || __atomic_load_n(&l->sim->nlaunches, __ATOMIC_RELAXED) > 1;
    return turns ? FUEL_SHARED : FUEL_MAX;
}

/* More fuel until the next probe; with all that there may be, others have their turns first. */
static enum wait_action refuel(struct warp *w, u32 most)
{
    w->loops.next_fuel = w->loops.next_fuel < most ? w->loops.next_fuel * 2 : most;
    w->fuel = wait_refill(w, w->loops.next_fuel);
    return w->loops.next_fuel < most ? WAIT_GO : WAIT_YIELD;
}

enum wait_action wait_out_of_fuel(struct warp *w, u32 target)
{
    struct probe *p = w->probe;
    u64 polled = w->cur->polled;
    if (wait_budget_spent(w)) return WAIT_YIELD;
    if (unlikely(w->cta->launch->schedule.perturb) && !p && rand_next(&w->cta->rng) % 4) {
        w->fuel = wait_refill(w, FUEL_FIRST);
        return WAIT_YIELD;
    }
    if (w->met) {
        w->met = false;
        wait_probe_stop(w);
        w->fuel = wait_refill(w, FUEL_FIRST);
        return WAIT_YIELD;
    }
    if (w->loops.woken && passes_unprobed(w, target)) {
        w->fuel = 0;
        return WAIT_GO;
    }
    if (!p && w->loops.outer_loop != NONE && target != w->loops.outer_loop) {
        w->fuel = 0;
        if (w->loops.outer_edges-- > 0) return WAIT_GO;
        w->loops.outer_loop = NONE;
        return refuel(w, most_fuel(w->cta->launch));
    }
    if (!p) {
        w->loops.outer_loop = NONE;
        /* a loop that reads nothing others write is idle only if it never ends: it is probed late */
        if (w->loops.next_fuel < FUEL_MAX && !loop_polls(w->code->low, target)) {
            w->loops.next_fuel *= 2;
            w->fuel = wait_refill(w, FUEL_SOME);
            return WAIT_GO;
        }
        w->probe = probe_new(w, target);
        if (!w->probe) {
            w->fuel = wait_refill(w, FUEL_MAX);
            return WAIT_GO;
        }
        w->instrumented = true;
        begin_round(w);
        return WAIT_GO;
    }
    /* the back edge of an inner loop, or of an outer one: the latter ends the probe */
    if (p->fr != w->cur->fr || p->head != target) {
        w->fuel = 0;
        if (++p->edges < 64 && p->fr == w->cur->fr && in_loop(w->code->low, p->head, target)) return WAIT_GO;
    } else if (round_was_idle(w))
        return go_idle(w);
    else {
        look_whether_busy(w);
        look_whether_beats(w);
    }
    if (polls_for_block(w, polled)) return block_gives_way(w); /* it waits for another block */
    u32 most = only_looked(w) ? FUEL_LOOKS : most_fuel(w->cta->launch);
    w->loops.busy_loops |= loop_bit(p->head);
    wait_probe_stop(w);
    return refuel(w, most);
}

/* Whether it is memory that the program has brought itself, and may share with another process. */
static bool is_shared_maybe(const struct warp *w, u64 address)
{
    const struct mem_object *o = mem_find(w->cta->launch->sim->mem, address);
    return o && o->kind == MEM_REGISTERED && mapping_shared_maybe(address);
}

/* shared: only memory that another process may write, too. */
static bool reads_host(const struct launch *l, bool shared)
{
    for (const struct cta *first = l->parked; first; first = first->next)
        for (const struct cta *c = first; c; c = cluster_next(c))
            for (u32 k = 0; k < c->nwarps; k++)
                for (u32 j = 0; j < c->warp[k]->nsplit; j++) {
                    const struct split *s = &c->warp[k]->split[j];
                    for (u32 n = 0; s->state == SPLIT_IDLE && n < s->nreads; n++)
                        if (s->reads[n].space == SP_GLOBAL && access_is_host_visible(c->warp[k], s->reads[n].addr) &&
                            (!shared || is_shared_maybe(c->warp[k], s->reads[n].addr)))
                            return true;
                }
    return false;
}

bool wait_for_host(const struct launch *l) { return reads_host(l, false); }

static bool only_own_wake(const struct split *s)
{
    u32 n = 0;
    if (s->state > SPLIT_WAITS) return wait_rows[s->state - SPLIT_WAITS].own;
    switch ((enum split_state)s->state) {
    case SPLIT_RENDEZVOUS: return true;
    case SPLIT_IDLE:
        while (n < s->nreads && (s->reads[n].space == SP_SHARED || s->reads[n].space == SP_LOCAL)) n++;
        return n == s->nreads;
    case SPLIT_RUN:
    case SPLIT_SLEEP:
    case SPLIT_WAITS: return false;
    }
    return false;
}

bool wait_for_itself(const struct launch *l)
{
    for (const struct cta *first = l->parked; first; first = first->next) {
        bool own = true;
        u32 splits = 0;
        for (const struct cta *c = first; c && own; c = cluster_next(c))
            for (u32 k = 0; k < c->nwarps && own; k++)
                for (u32 j = 0; j < c->warp[k]->nsplit && own; j++, splits++)
                    own = only_own_wake(&c->warp[k]->split[j]);
        if (own && splits) return true;
    }
    return false;
}

bool wait_for_others_maybe(const struct launch *l)
{
    return wait_for_host(l) && (fault_program_catches(where_python_notes) || reads_host(l, true));
}
