/* The life of a ring: created, launched, active, inactive, draining, terminated; and how its units are asked for a sign
 * of life. */
#include "api/host.h"
#include "ring/ring.h"
#include <inttypes.h>

enum { SPINS = 4000, LOOK_EVERY = 64 }; /* turns before a waiting host sleeps; turns between looks at the stream */

struct ring_wait ring_wait_for(double seconds)
{
    struct ring_wait w = { .end = UINT64_MAX };
    if (seconds >= 0 && seconds < 1e9) w.end = time_ns() + (u64)(seconds * 1e9);
    w.now = seconds == 0;
    return w;
}

bool ring_pause(lk_ring *r, struct ring_wait *w)
{
    if (w->now) return false;
    if (!w->turns) ring_acknowledge_all(r);
    if (++w->turns < SPINS) {
        cpu_relax();
        return w->turns % LOOK_EVERY || time_ns() < w->end;
    }
    u32 over = w->turns - SPINS;
    thread_sleep_us(over < 100 ? 10 : over < 1000 ? 100 : 1000);
    if (time_ns() >= w->end) return false;
    return over % LOOK_EVERY || !ring_is_dead(r);
}

static bool is_running(u32 state)
{
    return state == LK_RING_LAUNCHED || state == LK_RING_ACTIVE || state == LK_RING_INACTIVE ||
           state == LK_RING_DRAINING;
}

static void set_state(lk_ring *r, lk_ring_state state)
{
    bool ran = is_running(__atomic_exchange_n(&r->state, state, __ATOMIC_ACQ_REL)), runs = is_running(state);
    lock(&r->gpu->lock);
    r->gpu->rings += runs - ran;
    unlock(&r->gpu->lock);
    RING_LOG(r, "%s", lk_ring_state_name(state));
}

bool ring_has_ended(const struct ring_host_unit *u)
{
    u64 phase = ring_phase(u);
    return phase == LK_RING_STOPPED || phase == LK_RING_LEFT;
}

static bool is_inside(const struct ring_host_unit *u)
{
    u64 phase = ring_phase(u);
    return phase == LK_RING_BUSY || phase == LK_RING_BARRIER || phase == LK_RING_NO_ROOM;
}

/* The kernel has ended though nobody said so: the state is DEAD, and why is kept. */
bool ring_is_dead(lk_ring *r)
{
    u32 state = ring_state(r);
    if (state == LK_RING_DEAD) return true;
    if (!is_running(state)) return false;
    lk_status s = lk_stream_query(r->stream);
    if (s == LK_NOT_READY) return false;
    struct text t = { 0 };
    u32 left = 0;
    for (u32 i = 0; i < r->units; i++) left += ring_phase(&r->unit[i]) == LK_RING_LEFT;
    if (s != LK_OK)
        text_add(&t, "the kernel ended: %s", lk_gpu_error(r->gpu));
    else if (left == r->units)
        text_add(&t, "the kernel ended: all its units have left by themselves");
    else
        text_add(&t,
                 "the kernel ended by itself, by a trap, an assertion or a return; the report of the gpu may say more");
    u32 inside = 0; /* units inside a message; when there are any, idle units are not listed */
    for (u32 i = 0; i < r->units; i++) inside += is_inside(&r->unit[i]);
    for (u32 i = 0, shown = 0; i < r->units && shown < 8; i++) {
        if (inside ? !is_inside(&r->unit[i]) : ring_phase(&r->unit[i]) == LK_RING_STOPPED) continue;
        text_add(&t, "; ");
        ring_stands(r, i, &t);
        shown++;
    }
    lock(&r->lock);
    if (!r->died[0]) snprintf(r->died, sizeof r->died, "%s", t.p);
    unlock(&r->lock);
    text_free(&t);
    set_state(r, LK_RING_DEAD);
    return true;
}

u64 ring_command(lk_ring *r, u32 command)
{
    lock(&r->lock);
    u64 word = ++r->ping << 8 | (command ? command : ring_load(&r->head->command.value) & 255);
    ring_store(&r->head->command.value, word);
    for (u32 i = 0; i < r->units; i++) ring_store(&r->unit[i].control->command, word);
    unlock(&r->lock);
    return word;
}

/* Waits until all units that still live have seen the command; false: the deadline, or the end of the kernel. */
static bool all_answer(lk_ring *r, u64 word, struct ring_wait *w, bool busy_counts)
{
    for (u32 i = 0; i < r->units; i++) {
        struct ring_host_unit *u = &r->unit[i];
        while (ring_load(&u->status->beat) < word && !ring_has_ended(u)) {
            u64 phase = ring_phase(u);
            if (busy_counts && (phase == LK_RING_BUSY || phase == LK_RING_NO_ROOM)) break;
            if (!ring_pause(r, w)) return false;
        }
    }
    return true;
}

static lk_status not_in_time(lk_ring *r, const char *what)
{
    struct text t = { 0 };
    u64 word = ring_load(&r->head->command.value);
    if (ring_is_dead(r)) {
        text_free(&t);
        return ring_fail(r, LK_FINDINGS, "%s: %s", what, r->died);
    }
    u32 shown = 0, more = 0;
    for (u32 i = 0; i < r->units; i++) {
        if (ring_load(&r->unit[i].status->beat) >= word || ring_has_ended(&r->unit[i])) continue;
        if (shown == 8) {
            more++;
            continue;
        }
        text_add(&t, shown++ ? "; " : "");
        ring_stands(r, i, &t);
    }
    if (more) text_add(&t, "; and %u more", more);
    lk_status s = ring_fail(r, LK_NOT_READY, "%s: not in time: %s", what,
                            t.n ? t.p : "the last unit answered just now");
    text_free(&t);
    return s;
}

static lk_status wrong_order(lk_ring *r, const char *call)
{
    u32 state = ring_state(r);
    return ring_fail(r, LK_BAD_INPUT, "%s: the ring is %s%s%s", call, lk_ring_state_name(state),
                     state == LK_RING_DEAD ? ": " : "", state == LK_RING_DEAD ? r->died : "");
}

/* What the device's compiler made of the layout against the host's, name by name. */
static lk_status compare_layout(lk_ring *r)
{
    static const struct {
        const char *name;
        u32 value;
    } host[] = {
#define X(s, f) { #s "." #f, (u32)LK_RING_OFFSET(struct s, f) },
#define Y(s) { "size of " #s, (u32)sizeof(struct s) },
        LK_RING_PROBES(X, Y)
#undef X
#undef Y
    };
    if (r->probe->count != COUNT_OF(host))
        return ring_fail(r, LK_BAD_INPUT,
                         "layout: the kernel was compiled with another lockstep_ring_layout.h (%u words, here %zu); "
                         "compile it again",
                         r->probe->count, COUNT_OF(host));
    for (u32 i = 0; i < COUNT_OF(host); i++)
        if (host[i].value != r->probe->word[i])
            return ring_fail(r, LK_BAD_INPUT,
                             "layout: %s is %u on the host and %u on the device; compile the kernel again with this "
                             "lockstep_ring_layout.h",
                             host[i].name, host[i].value, r->probe->word[i]);
    return LK_OK;
}

/* The device's clock against the host's: the shortest of some pings bounds the error by half its time. */
static void compare_clocks(lk_ring *r)
{
    u64 best = UINT64_MAX;
    for (u32 i = 0; i < 5; i++) {
        struct ring_wait w = ring_wait_for(0.1);
        u64 from = time_ns(), word = ring_command(r, 0);
        while (ring_load(&r->unit[0].status->beat) < word)
            if (!ring_pause(r, &w)) return;
        u64 to = time_ns();
        if (to - from >= best) continue;
        best = to - from;
        r->clock = (s64)ring_load(&r->unit[0].status->clock) - (s64)(from + best / 2);
    }
}

lk_status lk_ring_launch(lk_ring *r, double seconds)
{
    if (!r) return ring_fail(NULL, LK_BAD_INPUT, "lk_ring_launch: no ring");
    if (ring_state(r) != LK_RING_CREATED) return wrong_order(r, "launch");
    struct ring_wait w = ring_wait_for(seconds);
    const void *args[] = { &r->pinned };
    lk_launch l = { .size = sizeof l,
                    .grid = { r->grid, 1, 1 },
                    .block = { r->block, 1, 1 },
                    .args = args,
                    .arg_count = 1,
                    .stream = r->stream,
                    .cooperative = r->options.cooperative };
    u64 word = ring_command(r, LK_RING_PAUSE);
    lk_status s = lk_kernel_launch(r->kernel, &l, NULL);
    if (s != LK_OK)
        return ring_fail(r, s, "launch: <<<%u, %u>>> was refused: %s", r->grid, r->block,
                         s == LK_FINDINGS ? "the report of the gpu says why" : lk_gpu_error(r->gpu));
    r->launched = time_ns();
    set_state(r, LK_RING_LAUNCHED);
    RING_LOG(r, "launched <<<%u, %u>>> on a non-blocking stream%s", r->grid, r->block,
             r->options.cooperative ? ", cooperatively" : "");
    while (ring_load(&r->probe->magic) != LK_RING_MAGIC)
        if (!ring_pause(r, &w)) return not_in_time(r, "launch");
    if ((s = compare_layout(r)) != LK_OK) {
        lk_ring_terminate(r, 1); /* a kernel that looks for its command elsewhere does not end */
        return compare_layout(r);
    }
    if (!all_answer(r, word, &w, false)) return not_in_time(r, "launch");
    compare_clocks(r);
    ring_serve_begin(r);
    return LK_OK;
}

lk_status lk_ring_activate(lk_ring *r, double seconds)
{
    u32 state = r ? ring_state(r) : 0;
    if (!r) return ring_fail(NULL, LK_BAD_INPUT, "lk_ring_activate: no ring");
    if (state != LK_RING_LAUNCHED && state != LK_RING_INACTIVE) return wrong_order(r, "activate");
    struct ring_wait w = ring_wait_for(seconds);
    u64 word = ring_command(r, LK_RING_RUN);
    set_state(r, LK_RING_ACTIVE);
    return all_answer(r, word, &w, true) ? LK_OK : not_in_time(r, "activate");
}

lk_status lk_ring_deactivate(lk_ring *r, double seconds)
{
    if (!r) return ring_fail(NULL, LK_BAD_INPUT, "lk_ring_deactivate: no ring");
    if (ring_state(r) != LK_RING_ACTIVE) return wrong_order(r, "deactivate");
    struct ring_wait w = ring_wait_for(seconds);
    u64 word = ring_command(r, LK_RING_PAUSE);
    set_state(r, LK_RING_INACTIVE);
    return all_answer(r, word, &w, false) ? LK_OK : not_in_time(r, "deactivate");
}

u64 ring_done(const lk_ring *r, u32 unit)
{
    u64 n = ring_load(&r->unit[unit].inbox_taken->value);
    for (u32 k = 0; k < r->units; k++) n += ring_edge(r, LK_RING_RECEIVED, unit, k);
    return n;
}

u64 ring_edge(const lk_ring *r, enum lk_ring_table table, u32 row, u32 column)
{
    return ring_load((lk_ring_u64 *)r->edge + ((u64)table * r->units + row) * r->edge_stride + column);
}

/* Nothing is in a queue and no unit is in a message: docs/reference/ring.md, drain. What is received is read before
 * what is dropped, and that before what is sent. The other way round a message that is sent and dropped between the two
 * reads would stand for one that is under way. */
static bool rests(lk_ring *r)
{
    static const enum lk_ring_table order[] = { LK_RING_RECEIVED, LK_RING_DROPPED, LK_RING_SENT };
    u64 sum[LK_RING_TABLES] = { 0 };
    for (u32 i = 0; i < r->units; i++)
        if (ring_load(&r->unit[i].inbox_taken->value) != ring_placed(&r->unit[i])) return false;
    for (u32 k = 0; k < COUNT_OF(order); k++)
        for (u32 a = 0; a < r->units; a++)
            for (u32 b = 0; b < r->units; b++) sum[order[k]] += ring_edge(r, order[k], a, b);
    return sum[LK_RING_RECEIVED] + sum[LK_RING_DROPPED] == sum[LK_RING_SENT];
}

/* sent = received + in flight + dropped on every edge; in flight are only responses that nobody has received yet. */
static lk_status compare_edges(lk_ring *r)
{
    for (u32 i = 0; i < r->units; i++) {
        struct ring_host_unit *u = &r->unit[i];
        lock(&u->lock);
        u64 taken = ring_load(&u->inbox_taken->value), placed = ring_load(&u->status->placed),
            responded = placed + ring_load(&u->status->dropped);
        bool in = u->sent == taken + u->dropped,
             out = placed <= responded && u->received <= placed && u->missing <= responded - placed;
        u64 sent = u->sent, dropped = u->dropped, received = u->received;
        unlock(&u->lock);
        if (!in)
            return ring_fail(r, LK_FINDINGS, "drain: %s: %" PRIu64 " sent, %" PRIu64 " taken, %" PRIu64 " dropped",
                             u->queue[RING_IN], sent, taken, dropped);
        if (!out)
            return ring_fail(r, LK_FINDINGS, "drain: %s: %" PRIu64 " sent, %" PRIu64 " placed, %" PRIu64 " received",
                             u->queue[RING_OUT], responded, placed, received);
        for (u32 k = 0; k < r->units; k++) {
            u64 s = ring_edge(r, LK_RING_SENT, k, i), d = ring_edge(r, LK_RING_DROPPED, k, i),
                got = ring_edge(r, LK_RING_RECEIVED, i, k), missing = ring_edge(r, LK_RING_MISSING, i, k);
            if (s != got + d || missing > d)
                return ring_fail(r, LK_FINDINGS,
                                 "drain: mail from %s to %s: %" PRIu64 " sent, %" PRIu64 " received, %" PRIu64
                                 " dropped, %" PRIu64 " missing",
                                 r->unit[k].name, u->name, s, got, d, missing);
        }
    }
    return LK_OK;
}

lk_status lk_ring_drain(lk_ring *r, double seconds)
{
    u32 state = r ? ring_state(r) : 0;
    if (!r) return ring_fail(NULL, LK_BAD_INPUT, "lk_ring_drain: no ring");
    if (state != LK_RING_ACTIVE && state != LK_RING_INACTIVE && state != LK_RING_DRAINING)
        return wrong_order(r, "drain");
    struct ring_wait w = ring_wait_for(seconds);
    if (state != LK_RING_DRAINING) set_state(r, LK_RING_DRAINING);
    for (u32 i = 0; i < r->units; i++) { /* sends under way end, and later ones see the state */
        lock(&r->unit[i].lock);
        unlock(&r->unit[i].lock);
    }
    ring_command(r, LK_RING_RUN);
    while (!rests(r)) {
        if (ring_pause(r, &w)) continue;
        if (ring_is_dead(r)) return not_in_time(r, "drain");
        struct text t = { 0 };
        u32 shown = 0;
        for (u32 i = 0; i < r->units && shown < 8; i++) {
            struct ring_host_unit *u = &r->unit[i];
            u64 waits = ring_placed(u) - ring_load(&u->inbox_taken->value), phase = ring_phase(u);
            if (!waits && phase != LK_RING_BUSY && phase != LK_RING_NO_ROOM && phase != LK_RING_BARRIER) continue;
            if (waits) text_add(&t, "%s%" PRIu64 " wait in %s", t.n ? "; " : "", waits, u->queue[RING_IN]);
            text_add(&t, "%s", t.n ? "; " : "");
            ring_stands(r, i, &t);
            shown++;
        }
        ring_mail_text(r, &t);
        lk_status s = ring_fail(r, LK_NOT_READY, "drain: not in time: %s",
                                t.n ? t.p : "the last message is done with just now");
        text_free(&t);
        return s;
    }
    /* counters of messages that caused none are in no order: a unit that answers has written them all */
    u64 word = ring_command(r, 0);
    return all_answer(r, word, &w, false) ? compare_edges(r) : not_in_time(r, "drain");
}

/* Messages that no unit took become dead letters. */
static void bury(lk_ring *r)
{
    if (r->owned) return;
    r->owned = true;
    for (u32 i = 0; i < r->units; i++) {
        struct ring_host_unit *u = &r->unit[i];
        for (u64 k = ring_load(&u->inbox_taken->value); k < u->placed; k++) {
            ring_letter(r, ring_letter_of(r, ring_in(r, u, k), i), RING_IN, "not taken before the end");
        }
    }
}

lk_status lk_ring_terminate(lk_ring *r, double seconds)
{
    u32 state = r ? ring_state(r) : 0;
    if (!r) return ring_fail(NULL, LK_BAD_INPUT, "lk_ring_terminate: no ring");
    if (state == LK_RING_DEAD) {
        bury(r);
        return ring_fail(r, LK_FINDINGS, "terminate: %s", r->died);
    }
    if (!is_running(state)) return wrong_order(r, "terminate");
    struct ring_wait w = ring_wait_for(seconds);
    ring_command(r, LK_RING_STOP);
    lk_status s;
    while ((s = lk_stream_query(r->stream)) == LK_NOT_READY) {
        /* the stream is asked here, so that an end that was asked for is not taken for a death */
        if (time_ns() >= w.end) return not_in_time(r, "terminate");
        if (++w.turns > SPINS)
            thread_sleep_us(20);
        else
            cpu_relax();
    }
    if (s != LK_OK) {
        snprintf(r->died, sizeof r->died, "the kernel ended: %s", lk_gpu_error(r->gpu));
        set_state(r, LK_RING_DEAD);
        bury(r);
        return ring_fail(r, LK_FINDINGS, "terminate: %s", r->died);
    }
    set_state(r, LK_RING_TERMINATED);
    bury(r);
    return LK_OK;
}

/* Memory is freed when no ring of this gpu runs: a free waits for all kernels, and a ring's does not end. */
static void free_later(lk_gpu *gpu, u64 address)
{
    lock(&gpu->lock);
    bool wait = gpu->rings;
    if (wait) {
        gpu->late = base_need_more(gpu->late, (gpu->late_count + 1) * sizeof *gpu->late);
        gpu->late[gpu->late_count++] = address;
    }
    unlock(&gpu->lock);
    if (!wait) lk_memory_free(gpu, address);
}

static void free_late(lk_gpu *gpu)
{
    lock(&gpu->lock);
    u64 *late = gpu->rings ? NULL : gpu->late;
    u32 n = late ? gpu->late_count : 0;
    if (late) {
        gpu->late = NULL;
        gpu->late_count = 0;
    }
    unlock(&gpu->lock);
    for (u32 i = 0; i < n; i++) lk_memory_free(gpu, late[i]);
    base_free(late);
}

static void free_blocks(lk_ring *r, struct ring_block *b)
{
    while (b) {
        struct ring_block *next = b->next;
        free_later(r->gpu, b->address);
        base_free(b);
        b = next;
    }
}

lk_status lk_ring_destroy(lk_ring *r)
{
    if (!r) return LK_OK;
    if (is_running(ring_state(r)) && !ring_is_dead(r))
        return ring_fail(r, LK_NOT_READY, "destroy: the ring is %s, and its kernel runs; terminate it first",
                         lk_ring_state_name(ring_state(r)));
    ring_serve_end(r);
    if (r->stream) lk_stream_destroy(r->stream);
    if (r->copies) lk_stream_destroy(r->copies);
    for (u32 i = 0; r->unit && i < r->units; i++) {
        free_blocks(r, r->unit[i].used);
        pthread_mutex_destroy(&r->unit[i].lock);
    }
    free_blocks(r, r->free);
    if (r->device) free_later(r->gpu, r->device);
    if (r->pinned) free_later(r->gpu, r->pinned);
    free_late(r->gpu);
    pthread_mutex_destroy(&r->lock);
    pthread_mutex_destroy(&r->ask_lock);
    arena_free(&r->mem);
    base_free(r);
    return LK_OK;
}

lk_status lk_ring_ping(lk_ring *r, double seconds)
{
    if (!r) return ring_fail(NULL, LK_BAD_INPUT, "lk_ring_ping: no ring");
    if (!is_running(ring_state(r))) return wrong_order(r, "ping");
    struct ring_wait w = ring_wait_for(seconds);
    u64 word = ring_command(r, 0);
    return all_answer(r, word, &w, true) ? LK_OK : not_in_time(r, "ping");
}
