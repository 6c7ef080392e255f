/* Programmatic dependent launch: griddepcontrol.
 *
 * A launch triggers when every CTA of it has executed launch_dependents or left: whoever enqueued it then starts the
 * launch after it. That one runs beside it up to its wait, which is an idle split that polls a word of its operation:
 * it costs nothing, and standing still is recognised as with any loop that waits. Triggers are looked at when a CTA
 * gives way or ends, outside of instructions: starting a launch takes locks. */
#include "sim/lanes.h"
#include "units/attachments.h"
#include "sim/observe.h"
#include "sim/wait.h"

int run_griddep_launch(char *restrict R, const struct insn *i, struct warp *w)
{
    struct cta *c = w->cta;
    if (c->triggered || !active_lanes(w, R, i)) return 0;
    c->triggered = true;
    __atomic_fetch_add(&c->launch->triggered, 1, __ATOMIC_SEQ_CST);
    return 0;
}

/* griddepcontrol.wait: a split that does not go on is idle until the launches in front are done. */
bool wait_depend(struct warp *w, struct split *s, const struct insn *i)
{
    const u32 *word = w->cta->launch->in->overlaps;
    u32 *waited = w->cta->launch->in->waited;
    w->syncs++;
    if (waited) __atomic_store_n(waited, 1, __ATOMIC_RELAXED);
    if (observed(w->cta->launch))
        observe_sync(w->cta->launch, &(struct sync_event){
                                         .kind = SYNC_DEPEND, .cta = w->cta, .warp = w, .mask = s->mask, .op = i->op });
    if (!word || !__atomic_load_n(word, __ATOMIC_ACQUIRE)) return true;
    struct read *r = base_need(sizeof *r);
    *r = (struct read){ .ptr = (const char *)word, .value = 1, .op = i->op, .size = 4, .space = SP_GLOBAL };
    if (s->reads) base_free(s->reads);
    s->reads = r;
    s->nreads = 1;
    s->op = i->op;
    s->state = SPLIT_IDLE;
    s->bar = 0;
    return false;
}

/* The CTA has had a turn, or is done: if all CTAs have triggered or left, the one after it is told. */
static void look(struct worker *k, const struct cta *c, bool done)
{
    struct launch *l = k->launch;
    if (done && !c->triggered) __atomic_fetch_add(&k->silent, 1, __ATOMIC_SEQ_CST);
    u64 n = __atomic_load_n(&l->triggered, __ATOMIC_SEQ_CST);
    if (!n || __atomic_load_n(&l->trigger_done, __ATOMIC_RELAXED)) return;
    for (u32 j = 0; j < l->nworkers; j++) n += __atomic_load_n(&l->worker[j].silent, __ATOMIC_SEQ_CST);
    if (n < l->total || __atomic_exchange_n(&l->trigger_done, true, __ATOMIC_SEQ_CST)) return;
    l->in->trigger(l->in->done_self);
    stop_watch(l->in->interrupt, l->deadline); /* of this thread again */
    report_launch_here(l->in->number);
    report_origin_here(l->in->origin);
}

const struct attachment attach_dependents = { .turn = look };
