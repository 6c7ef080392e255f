/* Conditions and sentences of advice about launches. */
#include "count/advice.h"
#include "count/timeline.h"
#include <inttypes.h>

static u64 ctas_of(const struct count_launch *l) { return l->ctas / l->launches; }

/* It would take longer to launch than to do. */
static bool is_launch_bound(const struct question *q) { return q->limits.least * 3 < LAUNCH_PS; }

/* All of its launches that were enqueued are nodes of graphs: what can be done about their size was done. */
static bool is_in_graphs(const struct question *q)
{
    const struct timeline *t = q->all->timeline;
    bool any = false;
    for (u32 k = 0; t && k < t->n; k++) {
        const struct timeline_op *o = &t->op[k];
        if (o->kind != TIME_LAUNCH || memcmp(o->grid, q->launch->grid, sizeof o->grid) ||
            memcmp(o->block, q->launch->block, sizeof o->block) || strcmp(o->kernel, q->kernel->name) != 0)
            continue;
        if (!o->graph) return false;
        any = true;
    }
    return any;
}

const char *advise_launch_bound(struct question *q)
{
    u64 threads = q->launch->threads / q->launch->launches, least = MAX_OF(q->limits.least, 1u);
    if (!is_launch_bound(q) || is_in_graphs(q)) return NULL;
    q->weight = (u32)(LAUNCH_PS * 1000ull / (LAUNCH_PS + least));
    struct tenths work = tenths(least, 1000), launch = tenths(LAUNCH_PS, 1000000), share = tenths(q->weight, 10);
    return arena_printf(q->mem,
                        "its work takes %s at least " TENTHS " ns, and a launch about " TENTHS " us: " TENTHS
                        " %% of the time is the launch. It pays from about %" PRIu64
                        " threads on, where it has %" PRIu64,
                        q->all->card->name, TENTHS_OF(work), TENTHS_OF(launch), TENTHS_OF(share),
                        (u64)((unsigned __int128)threads * LAUNCH_PS / least), threads);
}

const char *advise_small_grid(struct question *q)
{
    u64 ctas = ctas_of(q->launch), sms = q->all->card->sms;
    if (is_launch_bound(q) || ctas >= sms) return NULL;
    q->weight = (u32)(1000 - ctas * 1000 / sms);
    return arena_printf(q->mem, "%" PRIu64 " block%s for %" PRIu64 " multiprocessors: %" PRIu64 " have nothing to do",
                        ctas, plural(ctas), sms, sms - ctas);
}

const char *advise_tail_grid(struct question *q)
{
    const struct count_limits *x = &q->limits;
    u64 ctas = ctas_of(q->launch);
    if (is_launch_bound(q) || x->waves < 2 || x->idle < 200) return NULL;
    q->weight = x->idle;
    struct tenths idle = tenths(x->idle, 10);
    return arena_printf(q->mem,
                        "%" PRIu64 " blocks run in %" PRIu64 " waves of up to %" PRIu64 " (%u on each of %u "
                        "multiprocessors), and the last has %" PRIu64 ": " TENTHS
                        " %% of the places stay empty. %" PRIu64 " or %" PRIu64 " blocks fill them",
                        ctas, x->waves, x->slots, x->occupancy.ctas, q->all->card->sms, x->last, TENTHS_OF(idle),
                        (x->waves - 1) * x->slots, x->waves * x->slots);
}

const char *advise_low_occupancy(struct question *q)
{
    const struct count_limits *x = &q->limits;
    const struct count_launch *l = q->launch;
    if (is_launch_bound(q) || x->occupied >= 500 || ctas_of(l) < x->slots) return NULL;
    q->weight = 1000 - x->occupied;
    struct tenths n = tenths(x->occupied, 10);
    const char *by = occupancy_limit_name(x->occupancy.by);
    const char *each = "";
    if (x->occupancy.by == LIMIT_REGISTERS)
        each = arena_printf(q->mem, " (%u a thread, by %s)", l->more.registers,
                            l->more.assembled ? "ptxas" : "the bound that the PTX sets");
    else if (x->occupancy.by == LIMIT_SHARED)
        each = arena_printf(q->mem, " (%" PRIu64 " bytes a block)", l->shared_fixed + l->shared_dynamic);
    return arena_printf(q->mem, "%u of %u warps fit on a multiprocessor (" TENTHS " %%), limited by %s%s",
                        x->occupancy.ctas * x->warps, q->all->card->warps_per_sm, TENTHS_OF(n), by, each);
}

const char *advise_idle_threads(struct question *q)
{
    const struct count_launch *l = q->launch;
    if (is_launch_bound(q) || l->sums.idle * 4 < l->threads) return NULL;
    q->weight = (u32)(l->sums.idle * 1000 / l->threads);
    struct tenths n = tenths(l->sums.idle * 100, l->threads);
    return arena_printf(q->mem, TENTHS " %% of %" PRIu64 " threads end without an access to memory", TENTHS_OF(n),
                        l->threads);
}

const char *advise_spill(struct question *q)
{
    const struct count_shape *m = &q->launch->more;
    const struct count_func *at = NULL;
    if (!m->assembled || !(m->spill_stores + m->spill_loads)) return NULL;
    for (const struct count_func *f = q->kernel->func; f; f = f->next)
        if (!at || f->alive > at->alive) at = f;
    struct text where = { 0 };
    if (at && at->crowded) place_brief(place_shown(at->crowded), &where);
    const char *why = arena_printf(q->mem,
                                   "ptxas gives a thread %u registers, and it stores %u bytes and loads %u of values "
                                   "that do not fit%s%s%s%s",
                                   m->registers, m->spill_stores, m->spill_loads, where.n ? "; most are alive at " : "",
                                   where.n ? where.p : "", where.n ? arena_printf(q->mem, ": %u", at->alive) : "",
                                   where.n ? " words by the PTX" : "");
    text_free(&where);
    q->weight = m->spill_stores + m->spill_loads ? 1000 : 0;
    return why;
}
