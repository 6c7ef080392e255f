/* Reports: two accesses that nothing orders become a finding.
 *
 * race_report is called for each racing pair of accesses, by the cells and the lists. It drafts a finding (struct
 * draft), has it classified (race_kind.c), and counts it when the same two instructions have been reported before. Only
 * the first occurrence gets its texts: both sides, their values, and the advice of race_advice.c.
 *
 * Throughout, `old` is the prior access, which a cell had recorded, and `me` the current one, which found it. */
#include "race/race_report.h"
#include "explain/race_flight_text.h"
#include "explain/race_code.h"
#include "explain/race_kind.h"
#include "race/race_async.h"
#include "race/race_kernel.h"
#include "race/race_launch.h"
#include "flow/analyses.h"
#include "code/shared_layout.h"
#include "sim/cluster.h"
#include "explain/explain_access.h"
#include "sim/finding_place.h"
#include "units/grids.h"
#include "check/views.h"
#include "mem/mem_finding.h"
#include <inttypes.h>

/* Finds the CTA and the launch of the prior access. Other workers may be adding to the history of its slot. */
static void find_prior(struct draft *x)
{
    const struct race_cta *c = x->t->w->c;
    struct resident was;
    lock(&c->era->lock);
    const struct race_launch *l = c->launch;
    if (resident_at(c->race, word_slot(x->old->a), word_time(x->old->a), &was)) {
        x->old_linear = was.linear;
        l = c->era->launch[was.launch % ERA_LAUNCHES];
        x->other_launch = was.launch != c->launch->number;
    }
    memcpy(x->old_grid, l->grid, sizeof x->old_grid);
    memcpy(x->old_block, l->block, sizeof x->old_block);
    x->old_kernel = l->kernel;
    x->old_serial = l->serial;
    unlock(&c->era->lock);
}

static void rival_cta(const struct draft *x, u32 out[3])
{
    const u32 *grid = x->old_grid;
    u64 c = x->old_linear;
    out[0] = (u32)(c % grid[0]);
    out[1] = (u32)(c / grid[0] % grid[1]);
    out[2] = (u32)(c / grid[0] / grid[1]);
}

/* ---- the texts ---- */

static const char *access_text(u32 op, const struct site *s)
{
    return s && site_is_atomic(s) ? "atomic" : op & OP_WRITE ? "write" : "read";
}

static const char *semantics_text(struct arena *a, u32 op, const struct site *s)
{
    static const char *const sem[] = { "weak", "volatile", "relaxed", "acquire", "release", "acq_rel" },
                             *const scope[] = { "cta", "cluster", "gpu", "sys" };
    if (op & OP_ASYNC) return "asynchronous";
    if (!(op & OP_STRONG) || !s) return "weak";
    u32 k = s->sem == SEM_WEAK ? SEM_RELAXED : s->sem;
    return k == SEM_VOLATILE ? "volatile" : arena_printf(a, "%s.%s", sem[k], scope[s->scope & 3]);
}

/* As findings have it. */
static u64 shown_address(const struct draft *x) { return draft_in_shared(x) ? cluster_offset(x->at) : x->at; }

/* The shared array at the address; NULL: unknown, or dynamic shared memory. It goes by the address, not by what the
 * current access was derived from: either side may come second, and one of them may not tell. */
static const struct ptx_var *shared_array(const struct draft *x)
{
    return shared_variable(x->t->warp->cta->launch->kernel->func, x->at);
}

/* Fills in the object that the finding is about. */
static void describe_object(struct draft *x)
{
    const struct touch *t = x->t;
    struct finding *f = &x->f;
    const struct lowered *l = t->warp->code->low;
    if (!draft_in_shared(x)) {
        struct mem_object *o = mem_find(t->w->c->race->mem, x->at);
        f->space = "global";
        if (!o) return;
        finding_object(f, o);
        view_describe(t->w->c->launch->of, o, &x->mem, f);
        view_note(t->w->c->launch->of, o, &x->mem, f);
        return;
    }
    f->space = "shared";
    f->object = "shared memory";
    f->object_size = t->w->c->launch->of->shared_total;
    if (cluster_rank(x->at) != t->warp->cta->rank && cluster_cta(t->warp->cta, x->at))
        f->object_note = cluster_whose(&x->mem, cluster_cta(t->warp->cta, x->at));
    const struct site *s = site_at(l, t->op_index);
    const struct ptx_var *v = shared_array(x);
    if (!v) return;
    f->object = name_of_variable(&x->mem, v->name);
    f->object_base = v->offset;
    f->object_size = v->size;
    u32 width = s ? s->width : 4;
    if (f->object_size % width == 0) {
        f->element_size = width;
        f->object_type = arena_printf(&x->mem, "b%u[%" PRIu64 "]", width * 8u, f->object_size / width);
    }
}

/* The order that is missing where a flag or a lock connects the two. */
static const char *missing_order_text(struct draft *x)
{
    const char *fence = draft_same_cta(x) ? "__threadfence_block()" : "__threadfence()";
    if (x->missing == MISSING_SCOPE) return "gpu scope on both sides: __threadfence(), cuda::thread_scope_device";
    if (x->missing == MISSING_ACQUIRE)
        return arena_printf(&x->mem,
                            "a %s after the operation that sees the flag or takes the lock, or an acquire operation "
                            "(memory_order_acquire)",
                            fence);
    return arena_printf(
        &x->mem, "a %s before the flag is set or the lock is given back, or a release operation (memory_order_release)",
        fence);
}

static const char *missing_fix_text(struct draft *x)
{
    const char *fence = draft_same_cta(x) ? "__threadfence_block()" : "__threadfence()";
    if (x->missing == MISSING_SCOPE)
        return "Use __threadfence() in place of __threadfence_block(), and atomics of device scope, on both sides.";
    if (x->missing == MISSING_ACQUIRE)
        return arena_printf(&x->mem, "Put a %s between taking the lock, or seeing the flag, and what it protects.",
                            fence);
    return arena_printf(
        &x->mem, "Put a %s between the accesses and the write that sets the flag or gives the lock back.", fence);
}

/* Advice from the clocks: a flag or a lock connects the two, and one half of the synchronisation is missing. Left out
 * where the code around the two has shown the flag or the lock already (named), unless its scope is wrong. Left out,
 * too, for shared memory within a warp: there __syncwarp() is missing, whatever the lanes have read from each other. */
static void advise_missing(struct draft *x, bool named)
{
    if (!x->missing || (named && x->missing != MISSING_SCOPE) || (x->t->space == SPACE_SHARED && draft_same_warp(x)))
        return;
    x->f.cause = x->missing == MISSING_ACQUIRE
                     ? "the second thread has read what was released after the first access, but with a relaxed "
                       "operation and no fence after it: it has acquired nothing"
                 : x->missing == MISSING_SCOPE
                     ? "a release and an acquire lie between the two, but at block scope (__threadfence_block, "
                       "fence.cta), which orders only threads of one block; these are in different blocks"
                     : "the second thread has seen a flag or lock that was written after the first access, but with a "
                       "relaxed operation and no fence before it: nothing was released";
    x->f.order = missing_order_text(x);
    x->f.fix = missing_fix_text(x);
}

/* Which group the copy belongs to, and what its thread waited for. */
static const char *copy_text(struct draft *x)
{
    struct async_flight a = race_copy_in_flight(x);
    if (!a.group) return "the copy was in flight: nobody had waited for its group";
    if (a.counted)
        return "the copy was in flight: cp.async.mbarrier.arrive has it counted by an mbarrier, and nobody had waited "
               "for that phase";
    if (!a.committed)
        return arena_printf(
            &x->mem, "the copy was in flight: its group, the thread's group %u, has not even been committed", a.group);
    const char *which = a.newer ? arena_printf(&x->mem, "with %u newer one%s", a.newer, plural(a.newer)) : "the newest";
    const char *copy = arena_printf(&x->mem, "the copy was in flight: it belongs to group %u of its thread, %s",
                                    a.group, which);
    if (!a.waited) return arena_printf(&x->mem, "%s, and the thread had not waited since", copy);
    return arena_printf(
        &x->mem, "%s; the thread's last wait, wait_group %u, leaves %s in flight: wait_group %u was needed", copy,
        a.wait, a.wait == 1 ? "the newest" : arena_printf(&x->mem, "the %u newest", a.wait), a.newer);
}

/* Advice for a copy that nobody had waited for. */
static void advise_copy(struct draft *x)
{
    if (x->f.kind != F_async_early && x->f.kind != F_async_wait) return;
    if (race_flight_is(x)) return;
    x->f.cause = copy_text(x);
    if (race_copy_in_flight(x).counted) {
        x->f.order = "a wait for the phase of the mbarrier by each thread that reads";
        x->f.fix = "Wait for the phase of the mbarrier that counts the copy before reading what it brings.";
        return;
    }
    x->f.order = arena_printf(&x->mem,
                              "cp.async.wait_group %u by the thread that copies, so that its group is done, and a "
                              "barrier where another thread reads",
                              race_copy_in_flight(x).newer);
}

static const char *value_text(struct draft *x, u32 width)
{
    const char *p = race_bytes_now(x, x->at);
    u64 v = 0;
    if (!p) return NULL;
    memcpy(&v, p, width < 8 ? width : 8);
    return arena_printf(&x->mem, "0x%0*" PRIx64, (int)(2 * (width < 8 ? width : 8)), v);
}

static const char *stored_text(struct draft *x, const struct site *s, u32 lane)
{
    u64 v;
    return race_stored_bits(x, s, lane, &v) ? arena_printf(&x->mem, "0x%0*" PRIx64, 2 * s->width, v) : NULL;
}

/* The prior access is a set of threads, of which the shown one is only a member. */
static enum rival_crowd crowd_of(const struct draft *x)
{
    u32 kind = word_kind(x->old->a);
    return kind == WHO_CTA ? CROWD_CTA : kind == WHO_GRID ? CROWD_GRID : CROWD_NONE;
}

/* Counts one more occurrence of the two instructions; false: the report does not know them yet. */
static bool count_again(struct draft *x, u64 ticket, u32 width, u32 theirs)
{
    const struct warp *w = x->t->warp;
    const struct launch *l = w->cta->launch;
    u64 at = shown_address(x);
    struct occurrence o = { .nlanes = 1,
                            .thread = { w->id * LANES + x->lane },
                            .addr = { at & ~(u64)(width - 1) },
                            .rival_thread = word_warp(x->old->a) % 32 * LANES + draft_prior_lane(x),
                            .rival_addr = at & ~(u64)(theirs - 1),
                            .crowd = crowd_of(x),
                            .equal = x->f.equal,
                            .stored = x->f.stored };
    memcpy(o.nctaid, l->in->grid, 12);
    memcpy(o.ntid, l->in->block, 12);
    memcpy(o.cta, w->cta->id, 12);
    rival_cta(x, o.rival_cta);
    if (!draft_in_shared(x)) {
        struct mem_object *m = mem_find(x->t->w->c->race->mem, x->at);
        o.object_base = m ? m->base : 0;
    } else {
        const struct ptx_var *v = shared_array(x);
        o.object_base = v ? v->offset : 0;
    }
    return report_again(x->to, ticket, &o);
}

/* The key of a finding by its two instructions and its kind. The low bits, too, depend on both instructions. */
static u64 pair_ticket(u32 mine, u32 theirs, enum finding_kind kind)
{
    u64 h = ((u64)mine << 32 | theirs) * 0x9e3779b97f4a7c15u;
    return (h ^ h >> 32) + kind + 1;
}

/* The values of both sides. Weak accesses come here before they are done, strong ones afterwards: then the bytes that
 * a strong write has replaced are gone. */
static void fill_values(struct draft *x, enum finding_kind kind, const struct site *mine)
{
    struct finding *f = &x->f;
    bool replaced = x->me->op & OP_STRONG && x->me->op & OP_WRITE;
    if (!replaced && !(x->old->op & OP_ASYNC)) x->rival.value = value_text(x, x->rival.width);
    if (x->me->op & OP_WRITE)
        f->value = x->me->op & OP_ASYNC ? NULL : stored_text(x, mine, x->lane);
    else
        f->value = value_text(x, f->width);
    if (kind == F_race_lanes) x->rival.value = stored_text(x, mine, draft_prior_lane(x));
    if (kind == F_race_same_value) x->rival.value = f->value; /* the bytes there now may be a third thread's */
}

/* The prior side, as the finding shows it. */
static void fill_rival(struct draft *x, const struct site *theirs)
{
    x->rival = (struct rival){ .access = access_text(x->old->op, theirs),
                               .how = semantics_text(&x->mem, x->old->op, theirs),
                               .width = theirs ? theirs->width : 4,
                               .thread = word_warp(x->old->a) % 32 * LANES + draft_prior_lane(x) };
    x->rival.addr = shown_address(x) & ~(u64)(x->rival.width - 1);
    x->rival.crowd = crowd_of(x);
    rival_cta(x, x->rival.cta);
}

/* ---- two launches ---- */

static const char *point_text(struct draft *x, const u32 at[3], const u32 size[3])
{
    if (size[1] == 1 && size[2] == 1) return arena_printf(&x->mem, "%u", at[0]);
    return arena_printf(&x->mem, "(%u, %u, %u)", at[0], at[1], at[2]);
}

/* The prior side in words: its thread, its kernel, what it did and where. */
static const char *prior_text(struct draft *x, const struct site *theirs)
{
    u32 cta[3], n = word_warp(x->old->a) % 32 * LANES + draft_prior_lane(x);
    const u32 *b = x->old_block, thread[3] = { n % b[0], n / b[0] % b[1], n / b[0] / b[1] };
    const char *how = semantics_text(&x->mem, x->old->op, theirs), *what = access_text(x->old->op, theirs);
    rival_cta(x, cta);
    return arena_printf(&x->mem,
                        "thread %s of block %s of another launch, of %s, has accessed the same bytes at %s (%s %s)",
                        point_text(x, thread, b), point_text(x, cta, x->old_grid), x->old_kernel->name,
                        x->old_low ? code_line(x, code_prior(x)) : "a place that is not known any more", how, what);
}

/* Both launches come of one launch of the host, and one of them, or both, of a kernel. false: they do not. */
static bool advise_family(struct draft *x, const struct site *theirs)
{
    const struct grid *me = x->t->warp->cta->launch->in->as_grid;
    if (!me || !grid_is_kin(me, x->old_serial)) return false;
    bool parent = grid_descends(me, x->old_serial);
    x->f.cause = arena_printf(
        &x->mem,
        parent ? "%s; that is the kernel that launched this one, and what it does after a launch is not ordered "
                 "with what the launched kernel does"
               : "%s; both were launched by kernels, and no device stream, event or tail launch orders them",
        prior_text(x, theirs));
    x->f.order = parent
                     ? "what a kernel does is before the kernels that it launches only up to the launch, of the thread "
                       "that launches and of those that a barrier puts before it; after them come the tail launches "
                       "of the grid and what the host enqueues next"
                     : "launches in one stream of a thread block run one after the other; the default stream is "
                       "another one for each thread block, and the fire-and-forget stream orders nothing";
    x->f.fix = parent ? "Move what comes after the launch into a kernel of its own, launched into "
                        "cudaStreamTailLaunch; or launch after a __syncthreads() that follows the access."
                      : "Launch both into one device stream, or the second one into cudaStreamTailLaunch.";
    return true;
}

/* What is missing between the two: the order of their launches, or the handing over that the code began. */
static void advise_launches(struct draft *x, const struct site *theirs)
{
    const char *why =
        x->missing == MISSING_ACQUIRE
            ? "this thread has read what was released after that access, but with a relaxed operation and no fence "
              "after it: it has acquired nothing"
        : x->missing == MISSING_SCOPE
            ? "a release and an acquire lie between them, but at block scope, which orders only "
              "threads of one block"
        : x->missing == MISSING_RELEASE
            ? "this thread has seen a flag that was written after that access, but with a relaxed operation and no "
              "fence before it: nothing was released"
            : "no release of the first thread was acquired by the second";
    if (advise_family(x, theirs)) return;
    x->f.cause = arena_printf(
        &x->mem, "%s; the two launches are not ordered by streams, and nothing else orders the two accesses: %s",
        prior_text(x, theirs), why);
    x->f.order = x->missing
                     ? missing_order_text(x)
                     : "an event, recorded after the one launch, that the stream of the other one waits for; or, "
                       "if the two are to run side by side, a flag that the one releases and the other acquires "
                       "with gpu scope";
    if (x->missing) x->f.fix = missing_fix_text(x);
}

/* Two launches that are not ordered race at every place where they use one object: one pair of instructions is shown
 * for all, the first that was met. true: it is not this one. */
static bool is_reported(struct draft *x, u64 object, u64 pair)
{
    struct race_era *era = x->t->w->c->era;
    u32 a = x->old_kernel->serial, b = x->t->w->c->launch->kernel->serial;
    u64 what = (((u64)MIN_OF(a, b) << 32 | MAX_OF(a, b)) ^ object * 0xc2b2ae3d27d4eb4fu) * 0x9e3779b97f4a7c15u | 1;
    lock(&era->lock);
    struct era_reported *t = &era->reported[what >> 32 & (ERA_REPORTED - 1)];
    era->has_reported = true;
    if (t->what != what) *t = (struct era_reported){ what, pair };
    bool other = t->pair != pair;
    unlock(&era->lock);
    return other;
}

/* A finding about threads of two launches. Which of them came first is chance: either way it is the same finding. */
static void report_launches(struct draft *x, enum finding_kind kind)
{
    const struct touch *t = x->t;
    struct warp *warp = t->warp;
    struct finding *f = &x->f;
    const struct site *mine = site_at(warp->code->low, t->op_index), *theirs = site_at(x->old_low, x->old_op);
    u32 one = MIN_OF(t->site, x->old->site), two = MAX_OF(t->site, x->old->site);
    f->kind = kind;
    f->ticket = pair_ticket(one, two, kind) ^ 1ull << 63;
    f->width = mine ? mine->width : 4;
    struct occurrence o = { .nlanes = 1,
                            .thread = { warp->id * LANES + x->lane },
                            .addr = { shown_address(x) & ~(u64)(f->width - 1) } };
    const struct mem_object *m = mem_find(t->w->c->race->mem, x->at);
    memcpy(o.nctaid, warp->cta->launch->in->grid, 12);
    memcpy(o.ntid, warp->cta->launch->in->block, 12);
    memcpy(o.cta, warp->cta->id, 12);
    o.object_base = m ? m->base : 0;
    if (kind == F_race_stream && is_reported(x, o.object_base, (u64)one << 32 | two)) return;
    if (report_again(x->to, f->ticket, &o)) return;
    if (!(x->old->op & x->me->op & OP_STRONG))
        x->missing = hb_missing(t->w, x->lane, (word_thread(x->old->a) & ~31u) | draft_prior_lane(x),
                                word_time(x->old->a));
    describe_object(x);
    if (x->old_low) f->other = finding_place(&x->mem, x->old_low, x->old_op);
    f->access = access_text(x->me->op, mine);
    f->how = semantics_text(&x->mem, x->me->op, mine);
    f->addr[x->lane] = shown_address(x) & ~(u64)(f->width - 1);
    f->value = x->me->op & OP_WRITE ? stored_text(x, mine, x->lane) : value_text(x, f->width);
    f->cause_key = kind;
    advise_launches(x, theirs);
    finding_add_to(x->to, warp, t->op_index, f, 1u << x->lane);
}

/* One side is an asynchronous copy, and a barrier lies after it in the text: a barrier is not what is missing. */
static bool is_copy_by_chance(struct draft *x)
{
    struct side a = code_current(x), b = code_prior(x);
    if (!a.l || a.l != b.l || x->t->space != SPACE_SHARED) return false;
    struct side copy = a.l->op[a.op].flags & ISA_COPY ? a : b, other = copy.op == a.op ? b : a;
    return a.l->op[copy.op].flags & ISA_COPY && code_barrier_between(a.l, copy.op, other.op);
}

static void report_finding(struct draft *x, enum finding_kind kind)
{
    const struct touch *t = x->t;
    struct warp *warp = t->warp;
    struct finding *f = &x->f;
    const struct site *mine = site_at(warp->code->low, t->op_index), *theirs = site_at(x->old_low, x->old_op);
    u64 ticket = pair_ticket(x->t->site, x->old->site, kind) + f->equal;
    if (x->other_launch) {
        report_launches(x, kind);
        return;
    }
    if (count_again(x, ticket, mine ? mine->width : 4, theirs ? theirs->width : 4)) return;
    f->kind = kind;
    f->ticket = ticket;
    f->cooperative = warp->cta->launch->grid_workspace != 0;
    if ((kind == F_race && !(x->old->op & x->me->op & OP_STRONG)) || kind == F_race_volatile)
        x->missing = hb_missing(t->w, x->lane, (word_thread(x->old->a) & ~31u) | draft_prior_lane(x),
                                word_time(x->old->a));
    /* volatile data is no flag: that the thread has seen some of it says nothing about a release */
    if (kind == F_race_volatile && x->missing == MISSING_RELEASE) x->missing = MISSING_ALL;
    describe_object(x);
    if (x->old_low) f->other = finding_place(&x->mem, x->old_low, x->old_op);
    f->access = access_text(x->me->op, mine);
    f->how = semantics_text(&x->mem, x->me->op, mine);
    f->width = mine ? mine->width : 4;
    f->addr[x->lane] = shown_address(x) & ~(u64)(f->width - 1);
    x->self = x->old_linear == warp->cta->linear && !x->other_launch && word_warp(x->old->a) % 32 == warp->id &&
              draft_prior_lane(x) == x->lane;
    advise_missing(x, race_advise(x));
    advise_copy(x);
    bool waited = race_flight_is(x) && !race_flight_advise(x);
    if (race_product_is(x)) race_product_advise(x);
    fill_rival(x, theirs);
    fill_values(x, kind, mine);
    f->rival = &x->rival;
    /* which of the two comes first is chance */
    f->array = finding_array(warp->code->low, t->op_index) + finding_array(x->old_low, x->old_op);
    f->cause_key = f->equal ? F_race : waited ? ASYNC_WAITED_BY_ANOTHER : kind;
    bool init = race_is_init(x->old_low, x->old_op) || race_is_init(warp->code->low, t->op_index);
    if (kind == F_race && init) f->cause_key = MBARRIER_UNPUBLISHED;
    if (kind == F_race && is_copy_by_chance(x)) f->cause_key = COPY_BY_CHANCE;
    if (kind == F_race || f->equal) f->update = race_update_load(x);
    finding_add_to(x->to, warp, t->op_index, f, 1u << x->lane);
}

/* The check that this kind of finding belongs to is on. */
static bool is_wanted(const struct launch *l, enum finding_kind k)
{
    bool async = k == F_async_early || k == F_async_overwrite || k == F_async_wait;
    return l->in->checks & (async ? CHECK_ASYNC : CHECK_RACE);
}

/* The access of an engine (race_async.c) is shown as that of the thread which issued the operation. */
static struct list_entry issuer_of(const struct race_cta *c, const struct list_entry *old)
{
    struct list_entry x = *old;
    u32 warp = word_warp(old->a) & (MAX_WARPS - 1);
    const struct race_cta *its = word_slot(old->a) < c->race->nslot ? c->race->slot[word_slot(old->a)] : NULL;
    if (!its || !race_has_engines(its) || warp < ENGINES || word_kind(old->a) != WHO_ONE) return x;
    x.a &= ~((u64)ENGINES << 14);
    if (word_lane(x.a)) x.a = (x.a & ~WORD_LANE) | (u64)its->warp[warp - ENGINES].engine_lane << 9;
    return x;
}

static struct draft draft_of(const struct touch *t, const struct list_entry *old, const struct list_entry *me, u32 byte)
{
    struct draft x = { .t = t, .old = old, .me = me, .at = t->at + byte, .to = t->warp->cta->launch->in->report };
    struct lowered *low = t->warp->cta->launch->sim->functions.func[old->site >> SITE_FUNCTION];
    if (old->site && low && (old->site & SITE_OPERATION) < low->nop) {
        x.old_low = low;
        x.old_op = old->site & SITE_OPERATION;
    }
    find_prior(&x);
    u32 mine = word_kind(me->a) == WHO_WARP && me->lanes ? me->lanes : 1u << lane_of_byte(me->a, byte);
    /* a thread does not race with itself: another lane of the current access is shown */
    if (word_kind(me->a) == WHO_WARP && draft_same_cta(&x) && word_warp(old->a) == (u32)t->w->key >> 14 &&
        mine & (mine - 1))
        mine &= ~(1u << draft_prior_lane(&x));
    x.lane = (u32)__builtin_ctz(mine);
    return x;
}

void race_report(const struct touch *t, const struct list_entry *old, const struct list_entry *me, u32 byte)
{
    const struct race *r = t->w->c->race;
    if (unlikely(r->hook != NULL)) {
        r->hook(r->hook_self, t, byte, t->w->c->exact && hb_byte_weak(t->w, old, me, byte, t->space));
        return;
    }
    struct list_entry shown = issuer_of(t->w->c, old);
    struct draft x = draft_of(t, &shown, me, byte);
    if (race_optimistic_read(&x)) return;
    enum finding_kind k = race_classify(&x);
    /* Two that initialise one mbarrier are reported by the check of asynchronous operations. */
    bool reported = race_is_init(t->warp->code->low, t->op_index) && race_is_init(x.old_low, x.old_op) &&
                    t->warp->cta->launch->in->checks & CHECK_ASYNC;
    /* Both accesses are in cooperative groups or libcu++ (tiles of several warps, ~cuda::pipeline), which rely on a
     * shuffle or match to order lanes. NVIDIA knows its hardware, and the user cannot change that code. */
    bool in_library = k == F_order_weak && x.old_low && lop_in_library(t->warp->code->low, t->op_index) &&
                      lop_in_library(x.old_low, x.old_op);
    /* A tile of Triton's that is smaller than its threads are many lies in several of them, which all write it. */
    bool of_compiler = k == F_race_same_value && draft_in_shared(&x) && shared_is_compilers(t->warp->code->low);
    if (is_wanted(t->warp->cta->launch, k) && !reported && !in_library && !of_compiler) report_finding(&x, k);
    arena_free(&x.mem);
}

void race_report_volatile(const struct touch *t, const struct list_entry *old, const struct list_entry *me, u32 byte,
                          u64 bit)
{
    const struct launch *l = t->warp->cta->launch;
    struct draft x = draft_of(t, old, me, byte);
    x.to = t->w->c->launch->held;
    x.f.hold = bit;
    bool in_library = x.old_low && lop_in_library(t->warp->code->low, t->op_index) &&
                      lop_in_library(x.old_low, x.old_op);
    if (is_wanted(l, F_race_volatile) && !in_library)
        report_finding(&x, race_same_constant(&x) ? F_race_same_value : F_race_volatile);
    arena_free(&x.mem);
}

void race_check_noncoherent(struct touch *t, const struct access *a)
{
    EACH_SET (l, a->ok) {
        struct mem_object *o = a->space[l] == SP_GLOBAL ? mem_find(t->w->c->race->mem, a->addr[l]) : NULL;
        if (!o || !o->race) continue;
        struct list_entry old, me = { .a = race_stamp(t->w, l, ES_ONE, WHO_ONE), .op = OP_READ, .site = t->site };
        t->at = a->addr[l] & ~(u64)(SECTOR - 1);
        t->space = SPACE_GLOBAL;
        u32 first = (u32)(a->addr[l] - t->at), bytes = (u32)(((1ull << MIN_OF(a->bytes, 32u)) - 1) << first);
        if (!list_last_write(t, cell_of((const char *)(uintptr_t)o->race, t->at), bytes, &old)) continue;
        struct draft x = draft_of(t, &old, &me, first);
        x.f.cause = NULL;
        /* values that an earlier, ordered launch wrote may be read this way */
        if (!x.other_launch && t->warp->cta->launch->in->checks & CHECK_RACE) {
            x.f.cause_key = 1;
            report_finding(&x, F_race_readonly);
        }
        arena_free(&x.mem);
    }
}

void race_report_lanes(const struct touch *t, const struct access *a, u32 lanes)
{
    struct warp *w = t->warp;
    const struct lop *o = &w->code->low->op[t->op_index];
    u32 first = (u32)__builtin_ctz(lanes), second = LANES;
    for (u32 k = 0; k < a->site->vec && second == LANES && lop_is_store(o); k++) {
        const struct opnd *data = lop_data(o, k);
        if (data->kind != O_REG && data->kind != O_SREG) continue;
        u64 one = race_stored_value(w, data, a->site->reg_width, first);
        for (u32 l = first + 1; l < LANES && second == LANES; l++)
            if (lanes >> l & 1 && race_stored_value(w, data, a->site->reg_width, l) != one) second = l;
    }
    if (second == LANES || !(w->cta->launch->in->checks & CHECK_RACE)) return;
    struct touch u = *t;
    u.at = a->addr[first] & ~(u64)(SECTOR - 1);
    struct list_entry old = { .a = race_stamp(t->w, first, ES_ONE, WHO_ONE), .op = OP_WRITE, .site = t->site },
                      me = { .a = race_stamp(t->w, second, ES_ONE, WHO_ONE), .op = OP_WRITE, .site = t->site };
    struct draft x = draft_of(&u, &old, &me, (u32)(a->addr[first] - u.at));
    x.lane = second;
    report_finding(&x, F_race_lanes);
    arena_free(&x.mem);
}

void race_report_barrier(const struct sync_event *e, u32 count, const struct bar_use *last, u32 prior)
{
    struct arena mem = { 0 };
    struct warp *w = (struct warp *)e->warp;
    struct finding f = { .kind = F_barrier_mismatch };
    f.cause =
        arena_printf(&mem,
                     "barrier %u is used with %u threads here, and was with %u before; nothing orders this arrival "
                     "after that of threads %u..%u there: on a GPU it may come while the phase of %u threads is "
                     "not complete, and is counted in that",
                     e->id, count, last->count, prior * LANES, prior * LANES + LANES - 1, last->count);
    f.fix = "Use a barrier of another number, of which a block has 16, or let all threads of both meet in between.";
    f.other = finding_place(&mem, last->low, last->op);
    if (w->cta->launch->in->checks & CHECK_BARRIER) finding_add(w, e->op, &f, e->mask);
    arena_free(&mem);
}
