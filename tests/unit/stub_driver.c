/* A CUDA driver for tests of dev_gpu*.c: a library of its own that LOCKSTEP_LIBCUDA names. Memory is the process's,
 * work is done in the call that enqueues it, and every call that such a test looks at is written down as a line of
 * text. Handles are small numbers: streams from 16, events from 32, graphs from 48, nodes from 64, executable graphs
 * from 128, pools from 160.
 *
 *   stub_text   what was called since it was asked last
 *   stub_fail   the next call of that name answers with this number, and does nothing
 *   stub_busy   so many times a query answers 600 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gpu/driver.h"

#define EXPORT __attribute__((visibility("default")))
static char text[1 << 16], given[1 << 16], failing[64];
static size_t used;
static int failure, busy, captured;
static uintptr_t streams = 16, events = 32, graphs = 48, nodes = 64, execs = 128, pools = 160;

EXPORT const char *stub_text(void);
const char *stub_text(void)
{
    memcpy(given, text, used + 1);
    text[used = 0] = 0;
    return given;
}
EXPORT void stub_fail(const char *name, int code);
void stub_fail(const char *name, int code)
{
    snprintf(failing, sizeof failing, "%s", name);
    failure = code;
}
EXPORT void stub_busy(int times);
void stub_busy(int times) { busy = times; }

static int note(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int note(const char *name, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (used > sizeof text / 2) used = 0; /* nobody looks */
    used += (size_t)snprintf(text + used, sizeof text - used, "%s ", name);
    used += (size_t)vsnprintf(text + used, sizeof text - used, format, list);
    used += (size_t)snprintf(text + used, sizeof text - used, "\n");
    va_end(list);
    if (strcmp(name, failing)) return 0;
    failing[0] = 0;
    return failure;
}

/* A function that is written down with its arguments, and then does something. */
#define CU(name, params, does, ...)          \
    EXPORT int name params;                  \
    int name params                          \
    {                                        \
        int code = note(#name, __VA_ARGS__); \
        if (!code) {                         \
            does;                            \
        }                                    \
        return code;                         \
    }
/* One that is not. */
#define QUIET(name, params, does) \
    EXPORT int name params;       \
    int name params               \
    {                             \
        does;                     \
        return 0;                 \
    }
#define N(x) ((unsigned long)(uintptr_t)(x))
#define P(x) ((void *)(uintptr_t)(x))

QUIET(cuInit, (unsigned f), (void)f)
QUIET(cuDriverGetVersion, (int *v), *v = 13000)
QUIET(cuDeviceGetCount, (int *n), *n = 1)
QUIET(cuDeviceGet, (int *d, int k), *d = k)
QUIET(cuDeviceGetName, (char *s, int n, int d), (void)d; snprintf(s, (size_t)n, "NVIDIA Stand-in"))
QUIET(cuDeviceTotalMem_v2, (size_t * b, int d), (void)d; *b = (size_t)1 << 34)
QUIET(cuDeviceGetAttribute, (int *v, int a, int d), (void)d; *v = a == 75   ? 9
                                                                  : a == 76 ? 0
                                                                  : a == 16 ? 132
                                                                  : a <= 5  ? 1024
                                                                  : a == 8  ? 49152
                                                                            : 65536)
QUIET(cuDevicePrimaryCtxRetain, (void **c, int d), (void)d; *c = P(8))
QUIET(cuDevicePrimaryCtxRelease_v2, (int d), (void)d)
QUIET(cuCtxSetCurrent, (void *c), (void)c)
QUIET(cuModuleLoadDataEx, (void **m, const void *i, unsigned n, int *o, void **v), (void)i; (void)n; (void)o; (void)v;
      *m = P(9))
QUIET(cuLinkCreate_v2, (unsigned n, int *o, void **v, void **l), (void)n; (void)o; (void)v; *l = P(10))
QUIET(cuLinkAddData_v2, (void *l, int t, void *d, size_t b, const char *s, unsigned n, int *o, void **v), (void)l;
      (void)t; (void)d; (void)b; (void)s; (void)n; (void)o; (void)v)
QUIET(cuLinkComplete, (void *l, void **i, size_t *b), *i = l; *b = 8)
QUIET(cuLinkDestroy, (void *l), (void)l)
QUIET(cuModuleUnload, (void *m), (void)m)
CU(cuModuleGetFunction, (void **f, void *m, const char *n), *f = P(11), "%lu %s", N(m), n)
CU(cuFuncLoad, (void *f), , "%lu", N(f))
QUIET(cuModuleGetGlobal_v2, (u64 * a, size_t *b, void *m, const char *n), (void)a; (void)b; (void)m; (void)n;
      return 500)
CU(cuMemAlloc_v2, (u64 * a, size_t b), *a = N(aligned_alloc(512, (b + 511) / 512 * 512)), "%zu", b)
CU(cuMemFree_v2, (u64 a), free(P(a)), "")
CU(cuMemHostAlloc, (void **a, size_t b, unsigned f), *a = malloc(b), "%zu %u", b, f)
CU(cuMemFreeHost, (void *a), free(a), "")
CU(cuMemAllocManaged, (u64 * a, size_t b, unsigned f), *a = N(malloc(b)), "%zu %u", b, f)
QUIET(cuMemcpyHtoD_v2, (u64 to, const void *from, size_t n), memcpy(P(to), from, n))
QUIET(cuMemcpyDtoH_v2, (void *to, u64 from, size_t n), memcpy(to, P(from), n))
QUIET(cuMemsetD8_v2, (u64 to, unsigned char c, size_t n), memset(P(to), c, n))
CU(cuFuncSetAttribute, (void *f, int a, int v), (void)f, "%lu %d %d", N(f), a, v)
CU(cuLaunchKernel,
   (void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned s, void *q,
    void **p, void **x),
   (void)x, "%lu %ux%ux%u %ux%ux%u %u in %lu: %u", N(f), gx, gy, gz, bx, by, bz, s, N(q), *(unsigned *)p[1])
CU(cuLaunchCooperativeKernel,
   (void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned s, void *q,
    void **p),
   (void)0, "%lu %ux%ux%u %ux%ux%u %u in %lu: %u", N(f), gx, gy, gz, bx, by, bz, s, N(q), *(unsigned *)p[1])
CU(cuLaunchKernelEx, (const struct cu_launch_config *c, void *f, void **p, void **x), (void)x,
   "%lu %u attributes (%d) in %lu: %u", N(f), c->attributes, c->attribute->id, N(c->stream), *(unsigned *)p[1])
static int stream_answer(const char *name, void *s)
{
    (void)s;
    int code = !strcmp(name, failing) ? failure : busy > 0 ? busy--, 600 : 0;
    if (!strcmp(name, failing)) failing[0] = 0;
    return code;
}
EXPORT int cuStreamQuery(void *s);
int cuStreamQuery(void *s) { return stream_answer("cuStreamQuery", s); }
EXPORT int cuEventQuery(void *e);
int cuEventQuery(void *e) { return stream_answer("cuEventQuery", e); }
CU(cuStreamSynchronize, (void *s), (void)s, "%lu", N(s))
CU(cuCtxSynchronize, (void), (void)0, "%s", "")
CU(cuStreamCreateWithPriority, (void **s, unsigned f, int p), *s = P(streams++), "%u %d", f, p)
CU(cuStreamDestroy_v2, (void *s), (void)s, "%lu", N(s))
CU(cuStreamWaitEvent, (void *s, void *e, unsigned f), (void)s, "%lu for %lu, %u", N(s), N(e), f)
QUIET(cuStreamIsCapturing, (void *s, int *is), (void)s; *is = captured)
CU(cuStreamBeginCapture_v2, (void *s, int mode), captured = 1, "%lu %d", N(s), mode)
CU(cuStreamEndCapture, (void *s, void **g), captured = 0; *g = P(graphs++), "%lu", N(s))
QUIET(cuStreamGetCaptureInfo_v2, (void *s, int *is, u64 *id, void **g, void **d, size_t *n), (void)s; (void)g; (void)d;
      (void)n; *is = captured; *id = 5)
CU(cuEventCreate, (void **e, unsigned f), *e = P(events++), "%u", f)
CU(cuEventDestroy_v2, (void *e), (void)e, "%lu", N(e))
CU(cuEventRecordWithFlags, (void *e, void *s, unsigned f), (void)e, "%lu in %lu, %u", N(e), N(s), f)
CU(cuEventElapsedTime, (float *ms, void *a, void *b), *ms = 1.5f, "%lu %lu", N(a), N(b))
CU(cuLaunchHostFunc, (void *s, void (*f)(void *), void *x), f(x), "%lu", N(s))
CU(cuStreamWaitValue32_v2, (void *s, u64 a, u32 v, unsigned f), (void)a, "%lu %u, %u", N(s), v, f)
CU(cuStreamWaitValue64_v2, (void *s, u64 a, u64 v, unsigned f), (void)a, "%lu %lu, %u", N(s), N(v), f)
CU(cuStreamWriteValue32_v2, (void *s, u64 a, u32 v, unsigned f), memcpy(P(a), &v, 4), "%lu %u, %u", N(s), v, f)
CU(cuStreamWriteValue64_v2, (void *s, u64 a, u64 v, unsigned f), memcpy(P(a), &v, 8), "%lu %lu, %u", N(s), N(v), f)
CU(cuMemcpyAsync, (u64 to, u64 from, size_t n, void *s), memmove(P(to), P(from), n), "%zu in %lu", n, N(s))
CU(cuMemcpyHtoDAsync_v2, (u64 to, const void *from, size_t n, void *s), memcpy(P(to), from, n), "%zu in %lu", n, N(s))
CU(cuMemcpyDtoHAsync_v2, (void *to, u64 from, size_t n, void *s), memcpy(to, P(from), n), "%zu in %lu", n, N(s))
CU(cuMemcpyPeerAsync, (u64 to, void *tc, u64 from, void *fc, size_t n, void *s), memcpy(P(to), P(from), n),
   "%lu %lu %zu in %lu", N(tc), N(fc), n, N(s))

static char *side(int type, const void *host, u64 device)
{
    return type == CU_MEMORY_HOST ? (char *)(uintptr_t)host : P(device);
}
static void rows(char *to, size_t to_pitch, const char *from, size_t from_pitch, size_t width, size_t n)
{
    for (size_t i = 0; i < n; i++) memcpy(to + i * to_pitch, from + i * from_pitch, width);
}
static void copy3(const struct cu_copy_3d *c)
{
    char *to = side(c->to_type, c->to_host, c->to_device), *from = side(c->from_type, c->from_host, c->from_device);
    for (size_t z = 0; z < c->depth; z++)
        rows(to + z * c->to_pitch * c->to_height, c->to_pitch, from + z * c->from_pitch * c->from_height, c->from_pitch,
             c->width, c->height);
}
CU(cuMemcpy2DAsync_v2, (const struct cu_copy_2d *c, void *s),
   rows(side(c->to_type, c->to_host, c->to_device), c->to_pitch, side(c->from_type, c->from_host, c->from_device),
        c->from_pitch, c->width, c->height),
   "%zu x %zu in %lu", c->width, c->height, N(s))
CU(cuMemcpy3DAsync_v2, (const struct cu_copy_3d *c, void *s), copy3(c), "%zu x %zu x %zu in %lu", c->width, c->height,
   c->depth, N(s))

static void fill(u64 to, size_t pitch, unsigned value, size_t bytes, size_t n, size_t count)
{
    for (size_t y = 0; y < count; y++)
        for (size_t x = 0; x < n; x++) memcpy((char *)P(to) + y * pitch + x * bytes, &value, bytes);
}
CU(cuMemsetD8Async, (u64 to, u8 v, size_t n, void *s), fill(to, 0, v, 1, n, 1), "%u %zu in %lu", v, n, N(s))
CU(cuMemsetD16Async, (u64 to, u16 v, size_t n, void *s), fill(to, 0, v, 2, n, 1), "%u %zu in %lu", v, n, N(s))
CU(cuMemsetD32Async, (u64 to, u32 v, size_t n, void *s), fill(to, 0, v, 4, n, 1), "%u %zu in %lu", v, n, N(s))
CU(cuMemsetD2D8Async, (u64 to, size_t p, u8 v, size_t n, size_t k, void *s), fill(to, p, v, 1, n, k),
   "%zu %u %zu x %zu in %lu", p, v, n, k, N(s))
CU(cuMemsetD2D16Async, (u64 to, size_t p, u16 v, size_t n, size_t k, void *s), fill(to, p, v, 2, n, k),
   "%zu %u %zu x %zu in %lu", p, v, n, k, N(s))
CU(cuMemsetD2D32Async, (u64 to, size_t p, u32 v, size_t n, size_t k, void *s), fill(to, p, v, 4, n, k),
   "%zu %u %zu x %zu in %lu", p, v, n, k, N(s))
CU(cuMemAllocAsync, (u64 * a, size_t b, void *s), *a = N(aligned_alloc(512, (b + 511) / 512 * 512)), "%zu in %lu", b,
   N(s))
CU(cuMemAllocFromPoolAsync, (u64 * a, size_t b, void *p, void *s), *a = N(aligned_alloc(512, (b + 511) / 512 * 512)),
   "%zu from %lu in %lu", b, N(p), N(s))
CU(cuMemFreeAsync, (u64 a, void *s), if (!captured) free(P(a)), "in %lu", N(s))
CU(cuMemPoolCreate, (void **p, const struct cu_pool_props *x), *p = P(pools++), "%d %d %zu", x->type, x->location.type,
   x->most)
CU(cuMemPoolDestroy, (void *p), (void)p, "%lu", N(p))
CU(cuMemPoolTrimTo, (void *p, size_t n), (void)p, "%lu %zu", N(p), n)
CU(cuMemPoolSetAttribute, (void *p, int a, u64 *v), (void)p, "%lu %d %lu", N(p), a, N(*v))
CU(cuMemHostRegister_v2, (void *p, size_t n, unsigned f), (void)p, "%zu %u", n, f)
CU(cuMemHostUnregister, (void *p), (void)p, "%s", "")
CU(cuMemHostGetDevicePointer_v2, (u64 * a, void *p, unsigned f), *a = N(p), "%u", f)
CU(cuGraphCreate, (void **g, unsigned f), *g = P(graphs++), "%u", f)
CU(cuGraphDestroy, (void *g), (void)g, "%lu", N(g))

static const char *about(const struct cu_node_params *p)
{
    static char out[200];
    switch (p->type) {
    case CU_NODE_KERNEL:
        snprintf(out, sizeof out, "kernel %lu %ux%u %u: %u", N(p->kernel.first.function), p->kernel.first.grid[0],
                 p->kernel.first.block[0], p->kernel.first.shared, *(unsigned *)p->kernel.first.params[1]);
        break;
    case CU_NODE_COPY:
        snprintf(out, sizeof out, "copy %d to %d, %zu x %zu x %zu", p->copy.copy.from_type, p->copy.copy.to_type,
                 p->copy.copy.width, p->copy.copy.height, p->copy.copy.depth);
        break;
    case CU_NODE_FILL:
        snprintf(out, sizeof out, "fill %u of %u, %zu x %zu, %zu", p->fill.value, p->fill.bytes, p->fill.width,
                 p->fill.height, p->fill.pitch);
        break;
    case CU_NODE_GRAPH: snprintf(out, sizeof out, "graph %lu", N(p->graph)); break;
    case CU_NODE_WAIT: snprintf(out, sizeof out, "wait %lu", N(p->event)); break;
    case CU_NODE_RECORD: snprintf(out, sizeof out, "record %lu", N(p->event)); break;
    case CU_NODE_ALLOC: snprintf(out, sizeof out, "alloc %zu", p->alloc.bytes); break;
    default:
        snprintf(out, sizeof out, "%s", p->type == CU_NODE_HOST ? "host" : p->type == CU_NODE_FREE ? "free" : "empty");
        break;
    }
    return out;
}
static const char *after(void *const *dep, const struct cu_edge_data *edge, size_t n)
{
    static char out[200];
    size_t k = 0;
    out[0] = 0;
    for (size_t i = 0; i < n; i++)
        k += (size_t)snprintf(out + k, sizeof out - k, " after %lu%s", N(dep[i]), edge && edge[i].type ? "'" : "");
    return out;
}
CU(cuGraphAddNode_v2,
   (void **node, void *g, void *const *dep, const struct cu_edge_data *edge, size_t n, struct cu_node_params *p),
   *node = P(nodes++);
   if (p->type == CU_NODE_ALLOC) p->alloc.address = N(aligned_alloc(512, 4096)), "%lu %s%s", N(g), about(p),
   after(dep, edge, n))
CU(cuGraphAddDependencies_v2, (void *g, void **a, void **b, void *e, size_t n), (void)e, "%lu %lu to %lu, %zu", N(g),
   N(*a), N(*b), n)
CU(cuGraphRemoveDependencies_v2, (void *g, void **a, void **b, void *e, size_t n), (void)e, "%lu %lu to %lu, %zu", N(g),
   N(*a), N(*b), n)
QUIET(cuGraphGetNodes, (void *g, void **n, size_t *count), (void)g; (void)n; *count = nodes - 64)
CU(cuGraphKernelNodeSetAttribute, (void *n, int a, const void *v), (void)v, "%lu %d", N(n), a)
CU(cuGraphInstantiateWithFlags, (void **x, void *g, unsigned long long f), *x = P(execs++), "%lu %llu", N(g), f)
CU(cuGraphExecDestroy, (void *x), (void)x, "%lu", N(x))
EXPORT int cuGraphExecUpdate_v2(void *x, void *g, struct cu_update *u);
int cuGraphExecUpdate_v2(void *x, void *g, struct cu_update *u)
{
    int code = note("cuGraphExecUpdate_v2", "%lu %lu", N(x), N(g));
    *u = (struct cu_update){ .result = code ? 2 : 0 };
    return code;
}
CU(cuGraphExecNodeSetParams, (void *x, void *n, struct cu_node_params *p), (void)x, "%lu %lu %s", N(x), N(n), about(p))
CU(cuGraphLaunch, (void *x, void *s), (void)x, "%lu in %lu", N(x), N(s))
QUIET(cuGetErrorName, (int c, const char **n), *n = c == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OTHER")
QUIET(cuGetErrorString, (int c, const char **n),
      *n = c == 700 ? "an illegal memory access was encountered" : "another error")
