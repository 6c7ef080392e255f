/* Occupancy (card/occupancy.h), for programs that ask. Registers are known where the program brings machine code for
 * the device, or the kernel has a bound; where they are not, they limit nothing. */
#include "driver/cu_check.h"
#include "driver/cu_image.h"
#include "driver/cu_launch.h"
#include "card/occupancy.h"

u32 cu_occupancy(struct cu_function *f, lk_kernel *k, struct cu_device *d, u32 threads, u64 dynamic)
{
    const struct card *p = d->card;
    lk_usage u = { .size = sizeof u };
    cu_image_assembled(f->image, d);
    lk_kernel_usage(k, &u);
    /* the kernel's own bound of threads does not count, as on an H200 */
    u64 most = f->dynamic_shared ? u.shared_bytes + f->dynamic_shared : p->shared_per_cta;
    struct cta_needs needs = { .threads = threads,
                               .registers = u.registers ? u.registers : u.max_registers,
                               .shared = dynamic > UINT64_MAX - u.shared_bytes ? UINT64_MAX : u.shared_bytes + dynamic,
                               .shared_most = MIN_OF(most, (u64)p->shared_optin) };
    return occupancy_of(p, &needs).ctas;
}

/* The beginning of every question: the kernel on the current device. */
struct occupancy_question {
    struct cu_context *c;
    struct cu_function *f;
    lk_kernel *k;
};
static cu_result enter(struct occupancy_question *q, void *function)
{
    cu_result r = cu_current(&q->c);
    if (r) return r;
    q->f = cu_function_of(function);
    return q->f ? cu_function_on(q->f, q->c->device, &q->k) : CU_INVALID_HANDLE;
}

CU_DEFINE(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, int *, blocks, void *, function, int, threads, u64,
          dynamic, unsigned, flags)
{
    lk_kernel *k;
    cu_result r = cu_function_on(here.function, here.context->device, &k);
    if (!r) *blocks = (int)cu_occupancy(here.function, k, here.context->device, (u32)threads, dynamic);
    return r;
}
CU_API(cuOccupancyMaxActiveBlocksPerMultiprocessor)(int *blocks, void *function, int threads, u64 dynamic)
{
    return lkcu_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, dynamic, 0);
}

/* The block that keeps most threads on a multiprocessor, the largest of several. */
CU_API(cuOccupancyMaxPotentialBlockSizeWithFlags)
(int *grid, int *block, void *function, u64 (*bytes_of)(int), u64 dynamic, int limit, unsigned flags)
{
    struct occupancy_question q;
    lk_usage u = { .size = sizeof u };
    cu_result r = enter(&q, function);
    if (r) return r;
    if (!cu_ok(grid) || !cu_ok(block) || limit < 0 || flags > 1) return CU_INVALID_VALUE;
    if (bytes_of && !bytes_readable((const void *)(uintptr_t)bytes_of, 1)) return CU_INVALID_VALUE;
    const struct card *p = q.c->device->card;
    lk_kernel_usage(q.k, &u);
    int most = cu_function_attribute(q.f, &u, q.c->device, CU_FUNC_MAX_THREADS);
    if (limit && limit < most) most = limit;
    u32 best = 0, best_block = 0, best_count = 0;
    for (int rounded = (most + 31) / 32 * 32; rounded > 0 && best < p->threads_per_sm; rounded -= 32) {
        u32 threads = (u32)MIN_OF(rounded, most);
        u32 n = cu_occupancy(q.f, q.k, q.c->device, threads, bytes_of ? bytes_of((int)threads) : dynamic);
        if (n * threads <= best) continue;
        best = n * threads;
        best_block = threads;
        best_count = n;
    }
    *block = (int)best_block;
    *grid = (int)(best_count * p->sms);
    return CU_OK;
}
CU_API(cuOccupancyMaxPotentialBlockSize)
(int *grid, int *block, void *function, u64 (*bytes_of)(int), u64 dynamic, int limit)
{
    return lkcu_cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, bytes_of, dynamic, limit, 0);
}

CU_DEFINE(cuOccupancyAvailableDynamicSMemPerBlock, u64 *, out, void *, function, int, blocks, int, threads)
{
    lk_kernel *k;
    lk_usage u = { .size = sizeof u };
    struct cu_device *d = here.context->device;
    cu_result r = cu_function_on(here.function, d, &k);
    if (r) return r;
    const struct card *p = d->card;
    if (cu_occupancy(here.function, k, d, (u32)threads, 0) < (u32)blocks) return CU_INVALID_VALUE;
    lk_kernel_usage(k, &u);
    /* an H200 does not take off what the system reserves in each block */
    u64 each = p->shared_per_sm / (u32)blocks / SHARED_STEP * SHARED_STEP;
    u64 most = (u64)cu_function_attribute(here.function, &u, d, CU_FUNC_DYNAMIC_SHARED);
    *out = each > u.shared_bytes ? MIN_OF(each - u.shared_bytes, most) : 0;
    return CU_OK;
}

/* ---- clusters ---- */

enum { GROUP = 16 }; /* multiprocessors of a group (GPC), which a cluster stays within */

/* A question about clusters: the launch that is meant, and the threads of its blocks. */
static cu_result enter_config(struct occupancy_question *q, struct cu_function *f, const int *out,
                              const struct cu_launch_config *x, struct cu_launch *l, u32 *threads)
{
    cu_result r = enter(q, f);
    if (r) return r;
    if (!cu_ok(out) || !cu_ok(x)) return CU_INVALID_VALUE;
    if ((r = cu_launch_config_read(x, q->f, l))) return r;
    u64 n = (u64)l->block[0] * l->block[1] * l->block[2];
    if (!n || n > q->c->device->card->threads_per_cta) return CU_INVALID_VALUE;
    *threads = (u32)n;
    return CU_OK;
}

cu_result cu_occupancy_clusters(int *clusters, struct cu_function *f, const struct cu_launch_config *x)
{
    struct occupancy_question q;
    struct cu_launch l;
    u32 threads;
    cu_result r = enter_config(&q, f, clusters, x, &l, &threads);
    if (r) return r;
    const struct card *p = q.c->device->card;
    const u32 *of = l.cluster[0] ? l.cluster : q.k->func->reqnctapercluster;
    u64 size = (u64)MAX_OF(of[0], 1u) * MAX_OF(of[1], 1u) * MAX_OF(of[2], 1u);
    if (!p->cluster_max) return CU_NOT_SUPPORTED;
    if (size > (q.f->cluster_any ? p->cluster_max : CLUSTER_PORTABLE)) return CU_INVALID_CLUSTER;
    u32 each = cu_occupancy(q.f, q.k, q.c->device, threads, l.shared);
    *clusters = (int)card_clusters(p, (u32)size, each);
    return CU_OK;
}
CU_API(cuOccupancyMaxActiveClusters)(int *clusters, void *function, const struct cu_launch_config *x)
{
    return cu_occupancy_clusters(clusters, function, x);
}

cu_result cu_occupancy_cluster_size(int *size, struct cu_function *f, const struct cu_launch_config *x)
{
    struct occupancy_question q;
    struct cu_launch l;
    u32 threads;
    cu_result r = enter_config(&q, f, size, x, &l, &threads);
    if (r) return r;
    const struct card *p = q.c->device->card;
    if (!p->cluster_max) return CU_NOT_SUPPORTED;
    u32 each = cu_occupancy(q.f, q.k, q.c->device, threads, l.shared);
    u32 most = q.f->cluster_any ? p->cluster_max : CLUSTER_PORTABLE;
    *size = (int)MIN_OF(most, GROUP * each);
    return CU_OK;
}
CU_API(cuOccupancyMaxPotentialClusterSize)(int *size, void *function, const struct cu_launch_config *x)
{
    return cu_occupancy_cluster_size(size, function, x);
}
