/* Flights (flight.h): the list of a CTA, their groups, and what they do to memory when they are done. */
#include "units/flight.h"
#include "units/attachments.h"
#include "isa/words.h"
#include "mem/shadow.h"
#include "sim/memory.h"
#include "sim/cluster.h"
#include "sim/finding_place.h"
#include "units/mbarrier.h"
#include "sim/observe.h"
#include "sim/sim_run.h"

struct flights {                                  /* of a CTA */
    struct flight *first, **last;                 /* in the order of their issue */
    u32 committed[FLIGHT_ENDS][MAX_WARPS][LANES]; /* groups so far */
};

static struct flights *flights_in(const struct cta *c) { return c->attached[AT_flights]; }

static struct flights *flights_of(struct cta *c)
{
    struct flights *s = flights_in(c);
    if (s) return s;
    s = base_alloc(sizeof *s);
    if (s) {
        memset(s, 0, sizeof *s);
        s->last = &s->first;
        attach_cta(c, AT_flights, s);
    } else
        launch_fail(c->launch, SIM_UNSUPPORTED, ERR_MEMORY, NULL, 0, "no memory for asynchronous operations in flight");
    return s;
}

static void flight_free(struct flight *f)
{
    base_free(f->move);
    base_free(f->data);
    base_free(f->work);
    base_free(f);
}

static void take_out(struct flights *s, struct flight **at)
{
    struct flight *f = *at;
    *at = f->next;
    if (!f->next) s->last = at;
}

/* ---- issuing ---- */

struct flight *flight_new(struct warp *w, const struct insn *i, u32 lane, enum flight_end end)
{
    struct flights *s = flights_of(w->cta);
    struct flight *f = s ? base_alloc(sizeof *f) : NULL;
    if (!f) {
        if (s)
            launch_fail(w->cta->launch, SIM_UNSUPPORTED, ERR_MEMORY, NULL, 0,
                        "no memory for asynchronous operations in flight");
        return NULL;
    }
    *f = (struct flight){ .warp = w,
                          .insn = i,
                          .low = w->code->low,
                          .op = i->op,
                          .lane = (u8)lane,
                          .end = (u8)end,
                          .group = s->committed[end][w->id][lane],
                          .to_cta = w->cta,
                          .from_cta = w->cta,
                          .mbarrier_cta = w->cta };
    return f;
}

void flight_add(struct flight *f, struct flight_move m)
{
    struct flight_move *last = f->n ? &f->move[f->n - 1] : NULL;
    if (!m.bytes) return; /* a copy of 0 bytes touches nothing */
    f->bytes += m.bytes;
    /* it goes on where the one before it ends */
    if (last && !last->to == !m.to && (!m.to || last->to + last->bytes == m.to) && !last->from == !m.from &&
        (!m.from || last->from + last->bytes == m.from)) {
        last->bytes += m.bytes;
        return;
    }
    NEED_ROOM(f->move, f->n, f->cap, 8);
    f->move[f->n++] = m;
}

static void land(struct flights *s, struct flight **at);
static void land_tensor(struct flights *s, const struct flight *before);

void flight_issue(struct flight *f)
{
    struct cta *c = f->warp->cta;
    struct flights *s = flights_in(c);
    f->next = NULL;
    *s->last = f;
    struct flight **at = s->last;
    s->last = &f->next;
    if (f->end == FLIGHT_MBARRIER) {
        u64 word = __atomic_load_n((u64 *)(void *)f->mbarrier, __ATOMIC_ACQUIRE);
        f->mbarrier_phase = mbarrier_state(f->mbarrier_cta, f->mbarrier, word).phase;
        if (f->tx && f->low->site[f->low->op[f->op].site].flags & SITE_BULK) mbarrier_signalled(f);
    }
    f->warp->changed = 1;
    ATTACH_EACH(f->from_cta->has, async_reads, f->from_cta, f);
    if (observed(c->launch)) observe_flight(c->launch, f, FLIGHT_ISSUED);
    if (unlikely(c->launch->schedule.perturb) && f->end == FLIGHT_MBARRIER && rand_next(&c->rng) % 4 == 0) {
        if (f->arrives) land_tensor(s, f);
        for (at = &s->first; *at != f;) at = &(*at)->next;
        land(s, at);
    }
}

/* ---- what they do to memory ---- */

static u32 round_tf32(u32 x)
{
    if ((x & 0x7f800000u) == 0x7f800000u) return x & 0x7fffff ? 0x7fffe000 : x;
    return (x + 0xfff + (x >> 13 & 1)) & ~0x1fffu;
}

/* f32 elements become tf32 on their way to shared memory: the nearest, even ones in doubt; one NaN for all. An H200
 * keeps subnormals, also of the types that are called FTZ. */
static void round_elements(char *p, u32 bytes)
{
    for (u32 k = 0; k + 4 <= bytes; k += 4) {
        u32 x;
        memcpy(&x, p + k, 4);
        x = round_tf32(x);
        memcpy(p + k, &x, 4);
    }
}

/* NaN as a tensor copy fills with, in 16-bit elements, and in larger ones twice or four times. */
static void fill_nan(char *p, u32 bytes)
{
    static const u8 nan[2] = { 0xf7, 0x7f };
    for (u32 k = 0; k + 2 <= bytes; k += 2) memcpy(p + k, nan, 2);
}

enum { PACKED = 16 }; /* elements of 6 bits that lie together */

/* Of each byte the low six bits, one after the other. */
static void pack_elements(const char *from, char *to)
{
    memset(to, 0, PACKED * 6 / 8);
    for (u32 k = 0; k < PACKED * 6; k++) to[k / 8] |= (char)((from[k / 6] >> k % 6 & 1) << k % 8);
}

static void move_read(const struct flight *f, const struct flight_move *m, char *to)
{
    if (f->pack_6 && m->to)
        pack_elements(m->from, to);
    else if (m->from)
        memcpy(to, m->from, m->bytes);
    else if (f->fill == FILL_NAN)
        fill_nan(to, m->bytes);
    else
        memset(to, 0, m->bytes);
    if (f->to_tf32 && m->from) round_elements(to, m->bytes);
}

static void reduce(const struct flight *f, char *to, const char *from, u32 bytes)
{
    u32 width = f->reduce->width;
    for (u32 k = 0; k + width <= bytes; k += width) {
        u64 b = 0;
        memcpy(&b, from + k, width);
        atomic_step(f->reduce, to + k, b);
    }
}

static struct shadow *shadow_in(const struct flight *f, u8 space, const struct cta *c)
{
    return space == SP_SHARED ? c->init : f->warp->init_global;
}

/* What is undefined there is so here. */
static void move_taints(const struct flight *f, const struct flight_move *m)
{
    struct shadow *to = shadow_in(f, f->to_space, f->to_cta), *from = shadow_in(f, f->from_space, f->from_cta);
    if (!to) return;
    if (f->pack_6 && from) { /* an undefined element makes all undefined that it is packed with */
        u32 bad = 0;
        while (bad < PACKED && shadow_defined(from, m->from_at + bad, 1)) bad++;
        for (u32 k = 0; k < m->bytes && bad < PACKED; k++) shadow_copy(to, m->to_at + k, from, m->from_at + bad, 1);
        if (bad == PACKED) shadow_define(to, m->to_at, m->bytes);
    } else if (!m->from || !from)
        shadow_define(to, m->to_at, m->bytes);
    else
        shadow_copy(to, m->to_at, from, m->from_at, m->bytes);
}

/* A reduction computes from what is there, and from its source: of undefined bytes it makes undefined values. */
static void reduce_taints(const struct flight *f, const struct flight_move *m)
{
    struct shadow *to = shadow_in(f, f->to_space, f->to_cta), *from = shadow_in(f, f->from_space, f->from_cta);
    u32 width = f->reduce->width;
    u64 all = low_bits(8 * width);
    for (u32 k = 0; to && k + width <= m->bytes; k += width) {
        bool source = !m->from || !from || shadow_defined(from, m->from_at + k, width);
        if (!source)
            shadow_write(to, m->to_at + k, width,
                         (struct taint){ all, all, shadow_read(from, m->from_at + k, width).origin });
        else if (!shadow_defined(to, m->to_at + k, width))
            shadow_write(to, m->to_at + k, width, (struct taint){ .undef = all, .made = all });
    }
}

/* The source is read: the destination may be written later. */
static void read_source(struct flight *f)
{
    f->data = base_need(f->bytes + 1);
    u64 at = 0;
    for (u32 k = 0; k < f->n; at += f->move[k++].bytes) move_read(f, &f->move[k], f->data + at);
    for (u32 k = 0; k < f->n; k++)
        if (f->move[k].to) f->reduce ? reduce_taints(f, &f->move[k]) : move_taints(f, &f->move[k]);
    f->was_read = true;
    if (observed(f->warp->cta->launch)) observe_flight(f->warp->cta->launch, f, FLIGHT_READ);
}

void flight_data(struct flight *f, const char *data)
{
    f->data = base_need(f->bytes + 1);
    memcpy(f->data, data, f->bytes);
    f->was_read = true;
}

static void write_all(struct flight *f)
{
    u64 at = 0;
    for (u32 k = 0; k < f->n; at += f->move[k++].bytes) {
        const struct flight_move *m = &f->move[k];
        if (!m->to) continue;
        if (f->reduce)
            reduce(f, m->to, f->data + at, m->bytes);
        else
            memcpy(m->to, f->data + at, m->bytes);
        if (f->to_space == SP_SHARED) ATTACH_EACH(f->to_cta->has, async_wrote, f->to_cta, m->to, m->bytes);
    }
}

/* Bytes that come when the phase in which the copy was issued is over: it was announced fewer bytes than its copies
 * bring, so it was complete before they all were there, and these count for the next phase. On a GPU, where the bytes
 * of several copies come together, the count then often goes past zero, and the phase is never complete. */
static void check_late(const struct flight *f)
{
    u64 word = __atomic_load_n((u64 *)(void *)f->mbarrier, __ATOMIC_ACQUIRE);
    struct mbarrier_state s = mbarrier_state(f->mbarrier_cta, f->mbarrier, word);
    char cause[400];
    struct finding x = { .kind = F_mbarrier_misuse, .cause_key = MBARRIER_LATE_BYTES, .cause = cause };
    if (s.phase <= f->mbarrier_phase || !f->tx || !(f->warp->cta->launch->in->checks & CHECK_ASYNC)) return;
    snprintf(cause, sizeof cause,
             "the %u bytes of this copy come when phase %llu of its mbarrier, in which it was issued, is complete: "
             "expect_tx has announced fewer bytes than the copies of the phase bring, and who waits does not wait for "
             "these; on a GPU the wait may never end",
             f->tx, (unsigned long long)f->mbarrier_phase);
    x.fix =
        "Announce the bytes of all copies that signal the mbarrier in a phase: expect_tx with their sum, before the "
        "first of them is complete.";
    finding_add_of(f->warp, f->low, f->op, &x, 1u << f->lane);
}

/* Completes the flight. */
static void land(struct flights *s, struct flight **at)
{
    struct flight *f = *at;
    const struct launch *l = f->warp->cta->launch;
    take_out(s, at);
    if (f->act)
        f->act(f);
    else if (!f->arrives) {
        if (!f->was_read) read_source(f);
        for (u32 k = 0; k < f->n; k++)
            if (!f->move[k].from && !f->reduce && f->move[k].to) move_taints(f, &f->move[k]);
        write_all(f);
    }
    if (f->arrives)
        mbarrier_arrived(f->mbarrier_cta, f->mbarrier);
    else if (f->end == FLIGHT_MBARRIER) {
        check_late(f);
        mbarrier_bytes_came(f->mbarrier_cta, f->mbarrier, f->tx);
    }
    if (observed(l)) observe_flight(l, f, FLIGHT_DONE);
    flight_free(f);
}

/* ---- when they are done ---- */

/* What tcgen05 has started is done in the order of its issue: all of it in front of a commit, of whichever thread, for
 * threads may have ordered theirs without waiting. */
static void land_tensor(struct flights *s, const struct flight *before)
{
    for (struct flight **at = &s->first; *at && *at != before;) {
        if ((*at)->end == FLIGHT_TENSOR)
            land(s, at);
        else
            at = &(*at)->next;
    }
}

void flights_land_tensor(struct cta *c)
{
    if (flights_in(c)) land_tensor(flights_in(c), NULL);
}

void flights_commit(struct warp *w, u32 mask, enum flight_end end)
{
    struct flights *s = flights_of(w->cta);
    for (u32 l = 0; s && l < LANES; l++) s->committed[end][w->id][l] += mask >> l & 1;
}

u32 flight_newer(const struct flight *f)
{
    u32 n = flights_in(f->warp->cta)->committed[f->end][f->warp->id][f->lane];
    return n > f->group ? n - f->group - 1 : 0;
}

bool flight_committed(const struct flight *f)
{
    return f->group < flights_in(f->warp->cta)->committed[f->end][f->warp->id][f->lane];
}

void flights_wait(struct warp *w, u32 mask, enum flight_end end, u32 keep, bool read)
{
    struct flights *s = flights_in(w->cta);
    if (!s) return;
    for (struct flight **at = &s->first; *at;) {
        struct flight *f = *at;
        bool due = f->warp == w && f->end == end && mask >> f->lane & 1 && flight_committed(f) &&
                   flight_newer(f) >= keep;
        if (due && !read)
            land(s, at);
        else {
            if (due && !f->was_read && !f->act) read_source(f);
            at = &f->next;
        }
    }
}

/* The first that signals the mbarrier, in the list. */
static struct flight **place_of(struct flights *s, const char *mbarrier)
{
    struct flight **at = &s->first;
    while ((*at)->end != FLIGHT_MBARRIER || (*at)->mbarrier != mbarrier) at = &(*at)->next;
    return at;
}

/* Those of one CTA that signal the mbarrier. */
static bool land_at(struct cta *c, const char *mbarrier, bool *committed)
{
    struct flights *s = flights_in(c);
    bool some = false;
    for (struct flight **at = s ? &s->first : NULL; at && *at;) {
        if ((*at)->end == FLIGHT_MBARRIER && (*at)->mbarrier == mbarrier) {
            if ((*at)->arrives) {
                *committed = true;
                land_tensor(s, *at);
                at = place_of(s, mbarrier);
            }
            land(s, at);
            some = true;
        } else
            at = &(*at)->next;
    }
    return some;
}

bool flights_land_at(struct cta *c, const char *mbarrier, bool *committed)
{
    bool some = false;
    for (u32 k = 0; k < c->cluster->size; k++) some |= land_at(c->cluster->cta[k], mbarrier, committed);
    return some;
}

/* All that a thread of the CTA has issued. wgmma has no destination in memory, and its accumulators are its warp's
 * until that waits. */
static bool flights_land_all(struct cta *c)
{
    struct flights *s = flights_in(c);
    bool some = false;
    for (struct flight **at = s ? &s->first : NULL; at && *at;) {
        if ((*at)->end == FLIGHT_WGMMA)
            at = &(*at)->next;
        else {
            land(s, at);
            some = true;
        }
    }
    return some;
}

/* A CTA starts: it has none. */
static void flights_begin(struct cta *c)
{
    struct flights *s = flights_in(c);
    memset(s->committed, 0, sizeof s->committed);
}

/* A copy without a piece, a store outside of its tensor, reads nothing: it is not one. */
static void unfinished(const struct flight *f)
{
    char cause[200];
    struct finding x = { .kind = F_async_unfinished, .cause = cause };
    snprintf(
        cause, sizeof cause,
        f->end == FLIGHT_MBARRIER
            ? "the block ended with a copy of %llu bytes in flight that was started here, and nobody had waited for "
              "the phase of its mbarrier"
            : "the block ended with a copy of %llu bytes in flight that was started here: its shared memory may "
              "belong to another block before it has been read",
        (unsigned long long)f->bytes);
    finding_add_of(f->warp, f->low, f->op, &x, 1u << f->lane);
}

/* All its threads have left. */
static void flights_end(struct cta *c)
{
    struct flights *s = flights_in(c);
    bool on = c->launch->in->checks & CHECK_ASYNC;
    while (s && s->first) {
        const struct flight *f = s->first;
        if (on && f->n && !f->was_read && !f->act && !f->arrives && f->end != FLIGHT_WGMMA && f->to_cta == c &&
            !launch_interrupted(c->launch))
            unfinished(f);
        land(s, &s->first);
    }
}

static void flights_free(struct cta *c)
{
    struct flights *s = flights_in(c);
    while (s && s->first) {
        struct flight *f = s->first;
        take_out(s, &s->first);
        flight_free(f);
    }
    base_free(s);
    attach_cta(c, AT_flights, NULL);
}

const struct attachment attach_flights = {
    .cta_begin = flights_begin, .push = flights_land_all, .cta_end = flights_end, .cta_free = flights_free
};

/* ---- for reports ---- */

const struct flight *flight_to(const struct cta *c, const char *at, u32 bytes)
{
    for (const struct flight *f = flight_first(c); f; f = f->next)
        for (u32 k = 0; k < f->n; k++)
            if (f->move[k].to && at < f->move[k].to + f->move[k].bytes && at + bytes > f->move[k].to) return f;
    return NULL;
}

const struct flight *flight_from(const struct cta *c, const char *at, u32 bytes)
{
    for (const struct flight *f = flight_first(c); f; f = f->next)
        for (u32 k = 0; k < f->n && !f->was_read; k++)
            if (f->move[k].from && at < f->move[k].from + f->move[k].bytes && at + bytes > f->move[k].from) return f;
    return NULL;
}

const struct flight *flight_first(const struct cta *c) { return flights_in(c) ? flights_in(c)->first : NULL; }

bool flight_commits_behind(const struct flight *f)
{
    while (f && !f->arrives) f = f->next;
    return f;
}
