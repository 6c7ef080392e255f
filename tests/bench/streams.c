/* streams: what the bookkeeping of streams costs, without kernels: src/device/queue/op.h with empty bodies.
 *
 *     streams
 *
 * 100,000 launches behind one that does not end: memory and time of each. From the end of an operation in one stream to
 * the start of one in another stream that waits for its event. From a launch to the return of the wait for it, with a
 * worker thread. Medians; exit 1 when a target is missed. */
#include "figure.h"
#include "queue/op.h"
#include <malloc.h>
#include <stdlib.h>

enum { FLIGHT = 100000, ROUNDS = 20000 };
static double t[FLIGHT];

static u32 later(struct op *op, void *data)
{
    *(struct op **)data = op;
    return OP_LATER;
}

static struct op_spec gate(struct op **at) { return (struct op_spec){ .kind = OP_LAUNCH, .run = later, .data = at }; }

static u64 begun;
static u32 stamp(struct op *op, void *data)
{
    (void)op, (void)data;
    begun = time_ns();
    return OP_OK;
}

static void in_flight(u32 nstreams, bool events)
{
    struct streams *s = streams_new(&(struct streams_options){ 0 });
    struct stream *st[64];
    struct op *at[64];
    struct event *e = event_new(s, EVENT_NO_TIMING);
    for (u32 i = 0; i < nstreams; i++) {
        st[i] = stream_new(s, STREAM_NON_BLOCKING, 0);
        struct op_spec spec = gate(&at[i]);
        op_enqueue(st[i], &spec, NULL);
    }
    struct op_spec empty = { .kind = OP_LAUNCH, .run = stamp };
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    u64 all = time_ns();
    for (u32 i = 0; i < FLIGHT; i++) {
        u64 begin = time_ns();
        op_enqueue(st[i % nstreams], &empty, NULL);
        t[i] = (double)(time_ns() - begin) / 1e3;
        if (events && i % 4 == 0) {
            event_record(e, st[i % nstreams], 0);
            event_wait(st[(i + 7) % nstreams], e, 0);
        }
    }
    all = time_ns() - all;
    size_t bytes = mallinfo2().uordblks + mallinfo2().hblkhd - before;
    char what[100];
    snprintf(what, sizeof what, "enqueue, %u stream%s%s", nstreams, nstreams > 1 ? "s" : "",
             events ? " with events" : "");
    figure(what, t, FLIGHT, 2);
    double each = (double)bytes / FLIGHT;
    u64 begin = time_ns();
    for (u32 i = 0; i < nstreams; i++) op_done(at[i], OP_OK);
    streams_synchronise(s);
    printf("  100,000 in flight: %.0f bytes each (target 1000: %s); all enqueued in %.1f ms, run in %.1f ms\n", each,
           each < 1000 ? "met" : "MISSED", (double)all / 1e6, (double)(time_ns() - begin) / 1e6);
    missed |= each >= 1000;
    event_delete(e);
    streams_delete(s);
}

static void between_streams(enum op_kind kind, const char *what, double target)
{
    struct streams *s = streams_new(&(struct streams_options){ 0 });
    struct stream *x = stream_new(s, STREAM_NON_BLOCKING, 0), *y = stream_new(s, STREAM_NON_BLOCKING, 0);
    struct event *e = event_new(s, EVENT_NO_TIMING);
    for (u32 i = 0; i < ROUNDS; i++) {
        struct op *at;
        struct op_spec a = gate(&at), b = { .kind = kind, .run = stamp };
        op_enqueue(x, &a, NULL);
        event_record(e, x, 0);
        event_wait(y, e, 0);
        op_enqueue(y, &b, NULL);
        u64 end = time_ns();
        op_done(at, OP_OK);
        stream_synchronise(y);
        t[i] = (double)(begun - end) / 1e3;
    }
    figure(what, t, ROUNDS, target);
    event_delete(e);
    streams_delete(s);
}

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct op *op;
    bool quit;
} box = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, false };

static void *worker(void *none)
{
    pthread_mutex_lock(&box.lock);
    for (;;) {
        while (!box.op && !box.quit) pthread_cond_wait(&box.wake, &box.lock);
        struct op *op = box.op;
        if (!op) break;
        box.op = NULL;
        pthread_mutex_unlock(&box.lock);
        op_done(op, OP_OK);
        pthread_mutex_lock(&box.lock);
    }
    pthread_mutex_unlock(&box.lock);
    return none;
}

static u32 to_worker(struct op *op, void *data)
{
    (void)data;
    pthread_mutex_lock(&box.lock);
    box.op = op;
    pthread_cond_signal(&box.wake);
    pthread_mutex_unlock(&box.lock);
    return OP_LATER;
}

static void launch_and_wait(void)
{
    struct streams *s = streams_new(&(struct streams_options){ 0 });
    struct stream *x = stream_new(s, STREAM_NON_BLOCKING, 0);
    struct op_spec spec = { .kind = OP_LAUNCH, .run = to_worker };
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    for (u32 i = 0; i < ROUNDS; i++) {
        u64 begin = time_ns();
        op_enqueue(x, &spec, NULL);
        stream_synchronise(x);
        t[i] = (double)(time_ns() - begin) / 1e3;
    }
    figure("launch on a worker thread + synchronise", t, ROUNDS, 10);
    pthread_mutex_lock(&box.lock);
    box.quit = true;
    pthread_cond_signal(&box.wake);
    pthread_mutex_unlock(&box.lock);
    pthread_join(thread, NULL);
    spec.run = stamp;
    for (u32 i = 0; i < ROUNDS; i++) {
        u64 begin = time_ns();
        op_enqueue(x, &spec, NULL);
        stream_synchronise(x);
        t[i] = (double)(time_ns() - begin) / 1e3;
    }
    figure("launch that ends in its call + synchronise", t, ROUNDS, 0);
    struct op *op;
    op_enqueue(x, &spec, &op);
    u64 begin = time_ns(), yes = 0;
    for (u64 i = 0; i < 10000000; i++) yes += op_before((op_stamp)i << OP_NUMBER_BITS >> 3 | i, op);
    printf("op_before: %.1f ns (%llu)\n", (double)(time_ns() - begin) / 1e7, (unsigned long long)yes);
    op_release(op);
    streams_delete(s);
}

int main(void)
{
    in_flight(1, false);
    in_flight(64, false);
    in_flight(64, true);
    between_streams(OP_LAUNCH, "event wait between two streams, to a launch", 5);
    between_streams(OP_COPY, "event wait between two streams, to a copy on its thread", 0);
    launch_and_wait();
    return missed;
}
