/* Memory over time, for the public interface: what lives by the places that allocated it, what grows, and spans of
 * memory that the host may use. */
#include "gpu/dev_gpu.h"
#include "api/host.h"
#include <inttypes.h>
#include <stdlib.h>

static bool is_of_program(const struct mem_object *o)
{
    return mem_is_live(o) && !o->lent &&
           (o->kind == MEM_DEVICE || o->kind == MEM_PINNED || o->kind == MEM_MANAGED || o->kind == MEM_REGISTERED ||
            o->kind == MEM_POOL);
}

lk_status lk_memory_usage(lk_gpu *gpu, lk_memory_use *use)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    if (!use) return HOST_MISSING(gpu, "place for it");
    const struct device *d = gpu->device;
    lk_memory_use out = { .size = use->size,
                          .peak = lk_memory_peak(gpu),
                          .device = dev_usage(d, MEM_DEVICE).live,
                          .pinned = dev_usage(d, MEM_PINNED).live,
                          .managed = dev_usage(d, MEM_MANAGED).live,
                          .registered = dev_usage(d, MEM_REGISTERED).live,
                          .pool = dev_usage(d, MEM_POOL).live };
    out.used = out.device + out.pinned + out.managed + out.registered + out.pool;
    u64 held = __atomic_load_n(&d->pool_held, __ATOMIC_RELAXED);
    out.pooled = held > out.pool ? held - out.pool : 0;
    memcpy(use, &out, MIN_OF(use->size, sizeof out));
    return LK_OK;
}

/* ---- snapshots ---- */

struct places {
    lk_memory_site *p;
    u32 n, room;
};

static void place_add(struct places *x, const char *site, u64 bytes, u64 count)
{
    char text[sizeof x->p->site];
    u32 i = 0;
    snprintf(text, sizeof text, "%s", site);
    while (i < x->n && strcmp(x->p[i].site, text)) i++;
    if (i == x->n) {
        if (x->n == x->room) x->p = base_need_more(x->p, sizeof *x->p * (x->room = MAX_OF(16u, 2 * x->room)));
        x->p[x->n] = (lk_memory_site){ 0 };
        memcpy(x->p[x->n++].site, text, sizeof text);
    }
    x->p[i].bytes += bytes;
    x->p[i].count += count;
}

static int by_bytes(const void *a, const void *b)
{
    const lk_memory_site *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes) - (x->bytes > y->bytes) : strcmp(x->site, y->site);
}

static struct places places_of(lk_gpu *gpu)
{
    struct places x = { 0 };
    struct device *d = gpu->device;
    const struct mem_object *o;
    if (d->gpu) lock(&d->gpu->lock);
    for (u32 i = 0; (o = d->ops->object_at(d, i)); i++)
        if (is_of_program(o)) place_add(&x, o->alloc_site ? o->alloc_site : o->name ? o->name : "?", o->size, 1);
    if (d->gpu) unlock(&d->gpu->lock);
    if (x.n) qsort(x.p, x.n, sizeof *x.p, by_bytes);
    return x;
}

static u32 places_give(struct places *x, lk_memory_site *out, u32 most)
{
    u32 n = x->n;
    if (out && n) memcpy(out, x->p, sizeof *out * MIN_OF(n, most));
    base_free(x->p);
    return n;
}

uint32_t lk_memory_snapshot(lk_gpu *gpu, lk_memory_site *out, uint32_t most)
{
    HOST_CALL(0, USE(GPU, gpu));
    struct places x = places_of(gpu);
    return places_give(&x, out, most);
}

static u64 bytes_at(const lk_memory_site *list, u32 n, const char *site, u64 *count)
{
    for (u32 i = 0; i < n; i++)
        if (!strcmp(list[i].site, site)) return *count = list[i].count, list[i].bytes;
    return *count = 0;
}

uint32_t lk_memory_growth(const lk_memory_site *before, uint32_t n, const lk_memory_site *after, uint32_t m,
                          lk_memory_site *out, uint32_t most)
{
    struct places x = { 0 };
    if (!before) n = 0;
    if (!after) m = 0;
    for (u32 i = 0; i < m; i++) {
        u64 count, was = bytes_at(before, n, after[i].site, &count);
        if (after[i].bytes > was)
            place_add(&x, after[i].site, after[i].bytes - was, after[i].count > count ? after[i].count - count : 0);
    }
    if (x.n) qsort(x.p, x.n, sizeof *x.p, by_bytes);
    return places_give(&x, out, most);
}

/* ---- iterations ---- */

enum { ROUNDS = 5 };
struct rounds { /* what lived at the end of the last iterations, the newest last */
    struct places at[ROUNDS];
    u32 n;
    u64 count; /* iterations so far */
};

void host_rounds_free(lk_gpu *gpu)
{
    for (u32 i = 0; gpu->rounds && i < gpu->rounds->n; i++) base_free(gpu->rounds->at[i].p);
    base_free(gpu->rounds);
}

/* The places of the newest that held more in each round than in the one before. */
static void growing(const struct rounds *r, struct text *out)
{
    const struct places *last = &r->at[ROUNDS - 1];
    for (u32 i = 0; i < last->n; i++) {
        u64 count, bytes[ROUNDS], first = 0;
        bool grows = true;
        for (u32 k = 0; k < ROUNDS; k++) {
            bytes[k] = bytes_at(r->at[k].p, r->at[k].n, last->p[i].site, &count);
            if (!k) first = count;
            grows &= !k || bytes[k] > bytes[k - 1];
        }
        if (!grows) continue;
        text_add(out,
                 "%s holds %" PRIu64 " bytes in %" PRIu64 " allocations after %" PRIu64 " iterations: %" PRIu64
                 " bytes and %.1f allocations more with each of the last %d\n",
                 last->p[i].site, last->p[i].bytes, last->p[i].count, r->count,
                 (bytes[ROUNDS - 1] - bytes[0]) / (ROUNDS - 1), (double)(s64)(last->p[i].count - first) / (ROUNDS - 1),
                 ROUNDS - 1);
    }
}

lk_status lk_memory_iteration(lk_gpu *gpu, char **text)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    struct text out = { 0 };
    host_begin(gpu);
    struct places x = places_of(gpu);
    lock(&gpu->lock);
    struct rounds *r = gpu->rounds;
    if (!r) r = gpu->rounds = base_need(sizeof *r);
    if (r->n == ROUNDS) {
        base_free(r->at[0].p);
        memmove(r->at, r->at + 1, sizeof r->at - sizeof *r->at);
        r->n--;
    }
    r->at[r->n++] = x;
    r->count++;
    if (r->n == ROUNDS && text) growing(r, &out);
    unlock(&gpu->lock);
    if (text) *text = out.p;
    return LK_OK;
}

/* ---- spans ---- */

/* Whether any stream of the gpu has work that is not done. */
static bool is_busy(lk_gpu *gpu)
{
    const struct dev_async_ops *ops = gpu->device->async;
    struct error none = { 0 };
    bool busy = ops->stream_query(ops->stream_legacy(gpu->device), &none) == OP_NOT_READY;
    lock(&gpu->lock);
    for (struct handle *h = gpu->handle[HANDLE_STREAM]; h && !busy; h = h->next) {
        enum capture_status captured = CAPTURE_NONE;
        ops->capture_status(((lk_stream *)h)->dev, &captured, &(u64){ 0 }, &none);
        busy = captured == CAPTURE_NONE && ops->stream_query(((lk_stream *)h)->dev, &none) == OP_NOT_READY;
    }
    unlock(&gpu->lock);
    return busy;
}

lk_status lk_memory_span(lk_gpu *gpu, uint64_t address, uint64_t bytes, lk_span when, void **host)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    void *at = NULL;
    if (!host) return HOST_MISSING(gpu, "place for the pointer");
    *host = NULL;
    if (when > LK_SPAN_REFUSE) return host_refuse(gpu, "there is no lk_span %d", (int)when);
    lk_status status = lk_memory_host(gpu, address, &at);
    if (status != LK_OK) return status;
    if (bytes && !dev_range(gpu->device, address, bytes, host_begin(gpu))) return host_failed(gpu);
    if (when == LK_SPAN_REFUSE && is_busy(gpu)) {
        error_set(host_begin(gpu), ERR_INPUT,
                  "work is in flight that may use the memory: wait for it, or ask with "
                  "LK_SPAN_WAIT");
        host_failed(gpu);
        return LK_NOT_READY;
    }
    if (when == LK_SPAN_WAIT && (status = lk_gpu_synchronise(gpu)) != LK_OK && status != LK_FINDINGS) return status;
    *host = at;
    return LK_OK;
}
