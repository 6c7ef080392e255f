/* barrier.cluster: one barrier of all threads of the cluster, in two halves: a thread arrives and goes on, and waits
 * later. A phase is complete when every thread that has not left has arrived. */
#include "units/cluster_barrier.h"
#include "sim/asked.h"
#include "sim/cluster.h"
#include "sim/finding_place.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "sim/observe.h"
#include "sim/wait.h"

struct arrivals {        /* of the threads of a CTA */
    u32 here[MAX_WARPS]; /* lanes that have arrived in this phase, by warp */
    u32 owes[MAX_WARPS]; /* lanes that have arrived and not waited since */
    /* by warp: + 1, the .aligned arrival of some of its lanes in this phase, in function `low`; 0: there was none */
    u32 part[MAX_WARPS];
    const struct lowered *low[MAX_WARPS];
};

static struct arrivals *arrivals_of(const struct cta *c) { return c->attached[AT_cluster]; }

u32 cluster_arrived(const struct warp *w)
{
    const struct arrivals *a = arrivals_of(w->cta);
    return a ? a->here[w->id] : 0;
}

static u32 owes(const struct warp *w)
{
    const struct arrivals *a = arrivals_of(w->cta);
    return a ? a->owes[w->id] : 0;
}

static void begin(struct cta *c) { memset(arrivals_of(c), 0, sizeof(struct arrivals)); }

/* The first thread of a phase arrives: all CTAs of the cluster are told of threads that leave. */
static void open_phase(const struct cluster *x)
{
    for (u32 n = 0; n < x->size; n++) {
        struct cta *c = x->cta[n];
        if (arrivals_of(c)) continue;
        attach_cta(c, AT_cluster, base_need(sizeof(struct arrivals)));
        begin(c);
    }
}

static bool all_arrived(const struct cluster *x)
{
    for (u32 n = x->size; n-- > 0;) {
        const struct cta *c = x->cta[n];
        for (u32 k = c->done ? 0 : c->nwarps; k-- > 0;)
            if (c->warp[k]->live & ~cluster_arrived(c->warp[k])) return false;
    }
    return true;
}

/* The phase is complete: who waits goes on. */
static void complete(struct cluster *x)
{
    const struct launch *l = x->cta[0]->launch;
    x->phase++;
    x->arrived = false;
    x->began = true;
    if (observed(l))
        observe_sync(l, &(struct sync_event){ .kind = SYNC_CLUSTER, .cta = x->cta[0], .id = x->phase, .op = NONE });
    for (u32 n = 0; n < x->size; n++)
        for (u32 k = 0; k < x->cta[n]->nwarps; k++) {
            struct warp *w = x->cta[n]->warp[k];
            arrivals_of(w->cta)->here[k] = arrivals_of(w->cta)->part[k] = 0;
            for (u32 j = 0; j < w->nsplit; j++) {
                struct split *s = &w->split[j];
                if (s->state != SPLIT_AT(cluster)) continue;
                s->state = SPLIT_RUN;
                arrivals_of(w->cta)->owes[k] &= ~s->mask;
                if (observed(l))
                    observe_sync(
                        l, &(struct sync_event){
                               .kind = SYNC_CLUSTER_WAITED, .cta = w->cta, .warp = w, .mask = s->mask, .op = NONE });
            }
        }
}

/* Threads have left: the phase may be complete. */
static void recheck(struct warp *w)
{
    struct cluster *x = w->cta->cluster;
    if (x->arrived && all_arrived(x)) complete(x);
}

const struct attachment attach_cluster = { .cta_begin = begin, .left = recheck };

static void misuse(struct warp *w, u32 op, u32 lanes, const char *cause, const char *fix)
{
    struct finding f = { .kind = F_barrier_turn, .cause = cause, .fix = fix };
    if (w->cta->launch->in->checks & CHECK_BARRIER) finding_add(w, op, &f, lanes);
}

static bool is_aligned(const struct lop *o)
{
    for (u32 k = 0; o->src && k < o->src->op->nmod; k++)
        if (str_is(o->src->op->mod[k], "aligned")) return true;
    return false;
}

/* Some lanes of the warp arrive. Others may only be late, and arrive by the same instruction: compilers bring lanes
 * together in front of it. Where they have arrived by another one, nothing can. */
static void arrive_in_part(struct warp *w, const struct insn *i, u32 lanes)
{
    struct arrivals *a = arrivals_of(w->cta);
    const struct lowered *low = w->code->low;
    if (!is_aligned(&low->op[i->op])) return;
    if (a->part[w->id] && (a->part[w->id] != i->op + 1 || a->low[w->id] != low))
        asked->cluster_parts(w, i->op, lanes, a->low[w->id], a->part[w->id] - 1);
    a->part[w->id] = i->op + 1;
    a->low[w->id] = low;
}

int run_cluster_arrive(char *restrict R, const struct insn *i, struct warp *w)
{
    u32 lanes = active_lanes(w, R, i), again = lanes & owes(w);
    struct cluster *x = w->cta->cluster;
    if (!lanes) return 0;
    w->syncs++;
    if (again)
        misuse(w, i->op, again, "the thread has arrived at the barrier of the cluster before, and not waited since",
               "Wait with barrier.cluster.wait after each arrival.");
    if (observed(w->cta->launch))
        observe_sync(w->cta->launch, &(struct sync_event){ .kind = SYNC_CLUSTER_ARRIVE,
                                                           .cta = w->cta,
                                                           .warp = w,
                                                           .mask = lanes,
                                                           .id = w->code->low->op[i->op].aux,
                                                           .op = i->op });
    if (!x->arrived) open_phase(x);
    x->arrived = true;
    if (unlikely(lanes != w->live)) arrive_in_part(w, i, lanes);
    arrivals_of(w->cta)->here[w->id] |= lanes;
    arrivals_of(w->cta)->owes[w->id] |= lanes;
    w->changed = 1;
    if (!(w->live & ~cluster_arrived(w)) && all_arrived(x)) complete(x);
    return 0;
}

bool wait_cluster(struct warp *w, struct split *s, const struct insn *i)
{
    u32 never = s->mask & ~owes(w);
    w->syncs++;
    if (never)
        misuse(w, i->op, never, "the thread waits at the barrier of the cluster without having arrived there",
               "Arrive with barrier.cluster.arrive before each wait.");
    if (s->mask & cluster_arrived(w)) {
        split_waits(s, i, WAIT_cluster);
        return false;
    }
    if (arrivals_of(w->cta)) arrivals_of(w->cta)->owes[w->id] &= ~s->mask;
    if (observed(w->cta->launch))
        observe_sync(
            w->cta->launch,
            &(struct sync_event){
                .kind = SYNC_CLUSTER_WAITED, .cta = w->cta, .warp = w, .mask = s->mask & ~never, .op = i->op });
    return true;
}
