/* lockstep run --memory: where the memory is, by the lines that allocated it, at the peak and at the end; and what
 * grows from one launch of a kernel to the next.
 *
 * What grows: a kernel that is launched again and again, and each time more lives than the time before. When a row of
 * such launches begins, what lives is written down by its lines; the lines that hold more when the row is at its
 * longest are named. */
#include "engine/cu_growth.h"
#include "mem/sites.h"
#include <inttypes.h>
#include <stdlib.h>

enum { SITES_MOST = 12, ROW_LEAST = 4, KERNELS = 256 };

struct held { /* by one line */
    const char *site;
    u64 bytes, count;
};
struct holding {
    struct held *p;
    u32 n, room;
};
struct growth_row {     /* launches of a kernel, each with more memory than the one before */
    const char *kernel; /* NULL: free */
    lk_gpu *gpu;
    u64 live;  /* at the newest */
    u32 now;   /* launches in the row that goes on */
    u64 first; /* bytes at its beginning */
    struct holding begin;
    u32 longest; /* of the rows so far; of it: */
    u64 from, to;
    struct holding grown;
};
static struct {
    bool wanted;
    lock_t lock;
    struct growth_row row[KERNELS];
} memory = { .lock = LOCK_INIT };

bool cu_growth_option(const char *key)
{
    if (strcmp(key, "memory")) return false;
    return memory.wanted = true;
}

/* ---- by lines ---- */

static struct held *held_at(struct holding *h, const char *site)
{
    u32 i = 0;
    while (i < h->n && h->p[i].site != site) i++;
    if (i < h->n) return &h->p[i];
    if (h->n == h->room) h->p = base_need_more(h->p, sizeof *h->p * (h->room = MAX_OF(16u, 2 * h->room)));
    h->p[h->n] = (struct held){ .site = site };
    return &h->p[h->n++];
}

static int by_bytes(const void *a, const void *b)
{
    const struct held *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes) - (x->bytes > y->bytes) : strcmp(x->site, y->site);
}

static bool is_of_program(const struct mem_object *o)
{
    return mem_is_live(o) && o->alloc_site &&
           (o->kind == MEM_DEVICE || o->kind == MEM_PINNED || o->kind == MEM_MANAGED || o->kind == MEM_POOL);
}

static struct holding held_now(lk_gpu *gpu)
{
    struct holding h = { 0 };
    const struct mem_object *o;
    for (u32 i = 0; (o = gpu->device->ops->object_at(gpu->device, i)); i++) {
        if (!is_of_program(o)) continue;
        struct held *x = held_at(&h, o->alloc_site);
        x->bytes += o->size;
        x->count++;
    }
    if (h.n) qsort(h.p, h.n, sizeof *h.p, by_bytes);
    return h;
}

static void holding_free(struct holding *h)
{
    base_free(h->p);
    *h = (struct holding){ 0 };
}

static struct holding more_than(struct holding *before, struct holding *after)
{
    struct holding h = { 0 };
    for (u32 i = 0; i < after->n; i++) {
        const struct held *a = &after->p[i];
        u64 bytes = 0, count = 0;
        for (u32 k = 0; k < before->n; k++)
            if (before->p[k].site == a->site) bytes = before->p[k].bytes, count = before->p[k].count;
        if (a->bytes <= bytes) continue;
        struct held *x = held_at(&h, a->site);
        x->bytes = a->bytes - bytes;
        x->count = a->count > count ? a->count - count : 0;
    }
    if (h.n) qsort(h.p, h.n, sizeof *h.p, by_bytes);
    return h;
}

/* ---- launches ---- */

/* The row is longer than any before: what grew in it. */
static void row_longest(struct growth_row *r)
{
    struct holding now = held_now(r->gpu);
    holding_free(&r->grown);
    r->grown = more_than(&r->begin, &now);
    holding_free(&now);
    r->longest = r->now;
    r->from = r->first;
    r->to = r->live;
}

void cu_growth_launch(lk_gpu *gpu, const char *kernel)
{
    if (likely(!memory.wanted)) return;
    u64 live = lk_memory_live(gpu);
    lock(&memory.lock);
    u32 i = 0;
    while (i < KERNELS && memory.row[i].kernel && (memory.row[i].kernel != kernel || memory.row[i].gpu != gpu)) i++;
    struct growth_row *r = i < KERNELS ? &memory.row[i] : NULL;
    if (r && r->kernel && live > r->live) {
        r->now++;
    } else if (r) { /* a row may begin here */
        r->now = 0;
        r->first = live;
        holding_free(&r->begin);
        r->begin = held_now(gpu);
    }
    if (r) {
        r->kernel = kernel;
        r->gpu = gpu;
        r->live = live;
        /* looking at all memory each time would cost the square of the launches */
        if (r->now >= ROW_LEAST && r->now > r->longest && (r->now & (r->now - 1)) == 0) row_longest(r);
    }
    unlock(&memory.lock);
}

/* ---- the end ---- */

static void line_add(struct text *t, u64 bytes, u64 count, const char *site)
{
    text_add(t, "%14" PRIu64 " bytes in %6" PRIu64 " allocation%s  %s\n", bytes, count, count == 1 ? " " : "s", site);
}

static void peak_add(struct text *t, lk_gpu *gpu)
{
    struct site_usage v[SITES_MOST];
    u32 n = mem_sites(gpu->device->mem, v, SITES_MOST);
    lk_memory_use use = { .size = sizeof use };
    lk_memory_usage(gpu, &use);
    text_add(t, "memory at the peak: %" PRIu64 " bytes, by lines\n", use.peak);
    for (u32 i = 0; i < n; i++) line_add(t, v[i].peak, v[i].peak_count, v[i].site);
    text_add(t, "memory at the end: %" PRIu64 " bytes in use, and %" PRIu64 " that pools keep\n", use.used, use.pooled);
    struct holding now = held_now(gpu);
    for (u32 i = 0; i < now.n && i < SITES_MOST; i++) line_add(t, now.p[i].bytes, now.p[i].count, now.p[i].site);
    if (now.n > SITES_MOST) text_add(t, "%14s and %u more lines\n", "", now.n - SITES_MOST);
    holding_free(&now);
}

void cu_growth_text(lk_gpu *gpu, struct text *t)
{
    if (!memory.wanted || !gpu->device->mem) return;
    peak_add(t, gpu);
    lock(&memory.lock);
    for (u32 i = 0; i < KERNELS && memory.row[i].kernel; i++) {
        struct growth_row *r = &memory.row[i];
        if (r->gpu != gpu) continue;
        if (r->longest < ROW_LEAST || !r->grown.n) continue;
        text_add(t,
                 "memory grew from launch to launch of %s, %u times in a row, from %" PRIu64 " to %" PRIu64 " bytes:\n",
                 r->kernel, r->longest, r->from, r->to);
        for (u32 k = 0; k < r->grown.n && k < 3; k++)
            text_add(t, "%14" PRIu64 " bytes more with each launch, %.1f allocations, %s\n",
                     r->grown.p[k].bytes / r->longest, (double)r->grown.p[k].count / r->longest, r->grown.p[k].site);
    }
    unlock(&memory.lock);
}
