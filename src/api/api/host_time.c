/* Times of launches, copies and fills, on request (lk_options.time): two events around each, in its stream, and a row
 * for each name. What is enqueued waits in a list until somebody asks, or the list is long: nothing is waited for.
 *
 * A copy or a fill that the call waits for anyway is timed by the clock of this processor, a launch by the device. */
#include "api/host_time.h"
#include <inttypes.h>
#include <stdlib.h>

enum { PENDING_MOST = 1024 };

struct time_row {
    const char *name, *range;
    u64 count, bytes;
    double total, least, most; /* us */
    struct time_row *next;     /* in the order of their first ones */
};
struct pending { /* enqueued */
    struct dev_event *from, *to;
    struct time_row *row;
    u64 bytes;
    struct pending *next;
};
struct times {
    lock_t lock;
    struct arena mem;
    struct time_row *first, **last;
    struct pending *pending, **end, *spare;
    u32 waiting;
};

/* ---- ranges ---- */

enum { RANGE_DEPTH = 32 };
static _Thread_local struct {
    char text[512]; /* "step/forward" */
    u16 at[RANGE_DEPTH];
    u32 depth; /* more than RANGE_DEPTH: those beyond it have no name */
} range;

void lk_range_push(const char *name)
{
    size_t n = strlen(range.text);
    if (range.depth < RANGE_DEPTH) {
        range.at[range.depth] = (u16)n;
        snprintf(range.text + n, sizeof range.text - n, "%s%.100s", n ? "/" : "", name ? name : "");
    }
    range.depth++;
}

void lk_range_pop(void)
{
    if (!range.depth) return;
    if (--range.depth < RANGE_DEPTH) range.text[range.at[range.depth]] = 0;
}

/* ---- rows ---- */

struct times *host_times_new(void)
{
    struct times *t = base_alloc(sizeof *t);
    if (!t) return NULL;
    pthread_mutex_init(&t->lock, NULL);
    t->last = &t->first;
    t->end = &t->pending;
    return t;
}

void host_times_free(lk_gpu *gpu)
{
    struct times *t = gpu->times;
    if (!t) return;
    const struct dev_async_ops *ops = gpu->device->async;
    *t->end = t->spare;
    for (struct pending *p = t->pending; p; p = p->next) {
        ops->event_delete(p->from);
        ops->event_delete(p->to);
    }
    arena_free(&t->mem);
    pthread_mutex_destroy(&t->lock);
    base_free(t);
    gpu->times = NULL;
}

/* Under the lock. */
static struct time_row *row_of(struct times *t, const char *name)
{
    struct time_row *r = t->first;
    while (r && (strcmp(r->name, name) || strcmp(r->range, range.text))) r = r->next;
    if (r) return r;
    r = NEW(&t->mem, struct time_row);
    r->name = arena_str(&t->mem, str_of(name));
    r->range = arena_str(&t->mem, str_of(range.text));
    *t->last = r;
    t->last = &r->next;
    return r;
}

/* Under the lock. */
static void row_add(struct time_row *r, double us, u64 bytes)
{
    r->least = r->count ? MIN_OF(r->least, us) : us;
    r->most = r->count ? MAX_OF(r->most, us) : us;
    r->count++;
    r->total += us;
    r->bytes += bytes;
}

/* Takes what has ended out of the list, under the lock. */
static void settle(const struct dev_async_ops *ops, struct times *t)
{
    struct pending **link = &t->pending;
    while (*link) {
        struct pending *p = *link;
        struct error none = { 0 };
        double ms = 0;
        u32 status = ops->event_query(p->to, &none);
        if (status == OP_NOT_READY) {
            link = &p->next;
            continue;
        }
        if (!status && !ops->event_elapsed(p->from, p->to, &ms, &none)) row_add(p->row, ms * 1e3, p->bytes);
        *link = p->next;
        p->next = t->spare;
        t->spare = p;
        t->waiting--;
    }
    t->end = link;
}

/* ---- an operation ---- */

static bool is_captured(const lk_gpu *gpu, lk_stream *stream)
{
    enum capture_status is = CAPTURE_NONE;
    if (stream) gpu->device->async->capture_status(stream->dev, &is, &(u64){ 0 }, &(struct error){ 0 });
    return is != CAPTURE_NONE;
}

/* A pair of events; NULL: there is none to be had. Under the lock. */
static struct pending *pair(lk_gpu *gpu, struct times *t)
{
    struct error none = { 0 };
    struct pending *p = t->spare;
    if (p) {
        t->spare = p->next;
        return p;
    }
    p = NEW(&t->mem, struct pending);
    const struct dev_async_ops *ops = gpu->device->async;
    if (ops->event_new(gpu->device, 0, &p->from, &none)) return NULL;
    if (!ops->event_new(gpu->device, 0, &p->to, &none)) return p;
    ops->event_delete(p->from);
    return NULL;
}

void host_time_from(lk_gpu *gpu, lk_stream *stream, const char *name, u64 bytes, struct host_timing *x)
{
    struct times *t = gpu->times;
    *x = (struct host_timing){ .bytes = bytes };
    if (is_captured(gpu, stream)) return;
    lock(&t->lock);
    if (t->waiting >= PENDING_MOST) settle(gpu->device->async, t);
    x->row = row_of(t, name);
    if (stream) x->pair = pair(gpu, t);
    unlock(&t->lock);
    x->clock = time_ns();
    struct error none = { 0 };
    if (x->pair) gpu->device->async->event_record(x->pair->from, stream->dev, false, NULL, &none);
}

void host_time_to(lk_gpu *gpu, lk_stream *stream, struct host_timing *x, bool done)
{
    struct times *t = gpu->times;
    u64 now = time_ns();
    struct error none = { 0 };
    if (!x->row) return;
    if (x->pair) done &= !gpu->device->async->event_record(x->pair->to, stream->dev, false, NULL, &none);
    lock(&t->lock);
    if (x->pair && done) {
        *x->pair = (struct pending){ .from = x->pair->from, .to = x->pair->to, .row = x->row, .bytes = x->bytes };
        *t->end = x->pair;
        t->end = &x->pair->next;
        t->waiting++;
    } else if (x->pair) {
        x->pair->next = t->spare;
        t->spare = x->pair;
    } else if (done && !stream) {
        row_add(x->row, (double)(now - x->clock) * 1e-3, x->bytes);
    }
    unlock(&t->lock);
}

const char *host_copy_name(bool to_host, bool from_host)
{
    return from_host ? (to_host ? "copy on the host" : "copy to the device")
                     : (to_host ? "copy from the device" : "copy on the device");
}

void host_time_task(lk_gpu *gpu, lk_stream *stream, const struct dev_task *task, struct host_timing *x)
{
    char name[160];
    const struct dev_copy *c = &task->copy;
    const struct dev_fill *f = &task->fill;
    switch (task->kind) {
    case OP_LAUNCH:
        name_plain(task->launch.kernel->name, name, sizeof name);
        host_time_from(gpu, stream, name, 0, x);
        break;
    case OP_COPY:
        host_time_from(gpu, stream, host_copy_name(c->to.host != NULL, c->from.host != NULL),
                       c->width * c->rows * c->slices, x);
        break;
    case OP_FILL: host_time_from(gpu, stream, "fill", f->width * f->bytes * f->rows * f->slices, x); break;
    default: *x = (struct host_timing){ 0 };
    }
}

void host_time_took(lk_gpu *gpu, const struct dev_task *task, u64 ns)
{
    struct host_timing x;
    struct times *t = gpu->times;
    host_time_task(gpu, NULL, task, &x);
    if (!x.row) return;
    lock(&t->lock);
    row_add(x.row, (double)ns * 1e-3, x.bytes);
    unlock(&t->lock);
}

/* ---- what came of it ---- */

int lk_time_at(lk_gpu *gpu, uint32_t i, lk_timing *timing)
{
    HOST_CALL(0, USE(GPU, gpu));
    struct times *t = gpu->times;
    if (!t || !timing) return 0;
    lock(&t->lock);
    settle(gpu->device->async, t);
    const struct time_row *r = t->first;
    while (r && (!r->count || i--)) r = r->next;
    if (r) {
        lk_timing out = { .size = timing->size,
                          .name = r->name,
                          .range = r->range,
                          .count = r->count,
                          .bytes = r->bytes,
                          .total_us = r->total,
                          .least_us = r->least,
                          .most_us = r->most };
        memcpy(timing, &out, MIN_OF(timing->size, sizeof out));
    }
    unlock(&t->lock);
    return r != NULL;
}

static int by_total(const void *a, const void *b)
{
    const lk_timing *x = a, *y = b;
    return (x->total_us < y->total_us) - (x->total_us > y->total_us);
}

char *lk_time_text(lk_gpu *gpu)
{
    HOST_CALL(NULL, USE(GPU, gpu));
    struct text out = { 0 };
    lk_timing *list = NULL, one = { .size = sizeof one };
    u32 n = 0;
    double all = 0;
    for (; lk_time_at(gpu, n, &one); n++) {
        list = base_need_more(list, sizeof *list * (n + 1));
        list[n] = one;
        all += one.total_us;
    }
    if (!n) return NULL;
    qsort(list, n, sizeof *list, by_total);
    text_add(&out, "%s\n",
             gpu->device->mem ? "times of this processor, which is the software GPU: a GPU's are others"
                              : "times of the device, by its events");
    text_add(&out, "%8s %12s %6s %11s %11s %11s %8s  %s\n", "count", "total us", "%", "mean us", "least us", "most us",
             "GB/s", "what");
    for (u32 i = 0; i < n; i++) {
        const lk_timing *r = &list[i];
        char rate[24] = "";
        if (r->bytes && r->total_us > 0) snprintf(rate, sizeof rate, "%.2f", (double)r->bytes / r->total_us * 1e-3);
        text_add(&out, "%8" PRIu64 " %12.1f %6.1f %11.2f %11.2f %11.2f %8s  %s%s%s%s\n", r->count, r->total_us,
                 all > 0 ? 100 * r->total_us / all : 0, r->total_us / (double)r->count, r->least_us, r->most_us, rate,
                 r->name, *r->range ? "  [" : "", r->range, *r->range ? "]" : "");
    }
    base_free(list);
    return out.p;
}
