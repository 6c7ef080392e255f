// A CUDA runtime just large enough for the host half of CUB's device-wide algorithms: memory, attributes and launches, over Lockstep's own interface.
//
// The program that is linked with it gives the PTX of its kernels in LOCKSTEP_PTX. Everything runs in order, on one stream. LOCKSTEP_SEED makes it deterministic,
// LOCKSTEP_NAMES prints the kernels that are launched.
// The report goes to stdout at the end of every algorithm (algorithm_over), with the name of it.
#include "lockstep.h"
#include <cuda_runtime_api.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace {
struct state {
    lk_gpu *gpu = nullptr;
    lk_module *module = nullptr;
    std::map<const void *, std::string> kernel;         // by the address of its host stub
    std::map<const void *, uint32_t> optin;             // dynamic shared memory that was asked for
    struct { dim3 grid, block; size_t shared; } pushed; // between <<< and the stub
    unsigned launches = 0;
};
state &now()
{
    static state s;
    if (s.gpu) return s;
    lk_options o = {};
    o.size = sizeof o;
    if (const char *seed = getenv("LOCKSTEP_SEED")) { o.seeded = 1; o.seed = strtoull(seed, nullptr, 10); }
    const char *ptx = getenv("LOCKSTEP_PTX");
    if (!ptx || lk_gpu_create(&o, &s.gpu) || lk_module_load_file(s.gpu, ptx, &s.module)) { fprintf(stderr, "%s\n", ptx ? lk_gpu_error(s.gpu) : "LOCKSTEP_PTX is not set"); exit(2); }
    return s;
}
std::map<const void *, std::string> &registered()
{
    static std::map<const void *, std::string> m;       // before main
    return m;
}
cudaError_t launch(const void *stub, dim3 grid, dim3 block, void **args, size_t shared)
{
    state &s = now();
    lk_kernel *k = lk_module_kernel(s.module, registered()[stub].c_str());
    if (!k) { fprintf(stderr, "%s\n", lk_gpu_error(s.gpu)); exit(2); }
    if (getenv("LOCKSTEP_NAMES")) fprintf(stderr, "%s\n", lk_kernel_plain(k));
    lk_launch l = {};
    l.size = sizeof l;
    l.grid[0] = grid.x; l.grid[1] = grid.y; l.grid[2] = grid.z;
    l.block[0] = block.x; l.block[1] = block.y; l.block[2] = block.z;
    l.shared_bytes = (uint32_t)shared; l.shared_optin = s.optin[stub];
    l.args = args; l.arg_count = lk_kernel_param_count(k);
    lk_status r = lk_kernel_launch(k, &l, nullptr);
    s.launches++;
    if (r > LK_FINDINGS) { fprintf(stderr, "%s: %s\n", lk_kernel_plain(k), lk_gpu_error(s.gpu)); exit(3); }
    return cudaSuccess;
}
}

// The report so far, under a name, and a new one begun; 1: it has findings.
extern "C" int algorithm_over(const char *name)
{
    state &s = now();
    int bad = lk_report_errors(s.gpu) || lk_report_notes(s.gpu);
    printf("%-28s %3u launches: %u errors, %u notes\n", name, s.launches, lk_report_errors(s.gpu), lk_report_notes(s.gpu));
    if (bad) { char *t = lk_report_text(s.gpu, 0); fputs(t, stdout); lk_text_free(t); }
    lk_report_clear(s.gpu);
    s.launches = 0;
    fflush(stdout);
    return bad;
}

extern "C" {
void **__cudaRegisterFatBinary(void *) { static void *handle; return &handle; }
void __cudaRegisterFatBinaryEnd(void **) {}
void __cudaUnregisterFatBinary(void **) {}
void __cudaRegisterFunction(void **, const char *stub, char *, const char *name, int, uint3 *, uint3 *, dim3 *, dim3 *, int *) { registered()[stub] = name; }
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int) {}
char __cudaInitModule(void **) { return 1; }
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *) { now().pushed = { grid, block, shared }; return 0; }
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    *grid = now().pushed.grid; *block = now().pushed.block; *shared = now().pushed.shared;
    *(void **)stream = nullptr;
    return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t *k, const void *stub) { *k = (cudaKernel_t)stub; return cudaSuccess; }
cudaError_t __cudaLaunchKernel(cudaKernel_t k, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t) { return launch((const void *)k, grid, block, args, shared); }
cudaError_t cudaLaunchKernel(const void *stub, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t) { return launch(stub, grid, block, args, shared); }
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *stub, void **args) { return launch(stub, c->gridDim, c->blockDim, args, c->dynamicSmemBytes); }
cudaError_t cudaMalloc(void **p, size_t bytes) { uint64_t a = 0; cudaError_t r = lk_memory_alloc(now().gpu, bytes ? bytes : 1, LK_MEMORY_DEVICE, "memory", &a) ? cudaErrorMemoryAllocation : cudaSuccess; *p = (void *)a; return r; }
cudaError_t cudaFree(void *p) { if (p) lk_memory_free(now().gpu, (uint64_t)p); return cudaSuccess; }
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, cudaMemcpyKind kind, cudaStream_t)
{
    lk_gpu *g = now().gpu;
    std::vector<char> through(n);
    if (kind == cudaMemcpyHostToDevice) lk_memory_write(g, (uint64_t)to, from, n);
    else if (kind == cudaMemcpyDeviceToHost) lk_memory_read(g, (uint64_t)from, to, n);
    else { lk_memory_read(g, (uint64_t)from, through.data(), n); lk_memory_write(g, (uint64_t)to, through.data(), n); }
    return cudaSuccess;
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t n, cudaMemcpyKind kind) { return cudaMemcpyAsync(to, from, n, kind, nullptr); }
cudaError_t cudaMemsetAsync(void *p, int v, size_t n, cudaStream_t) { return lk_memory_fill(now().gpu, (uint64_t)p, v, n) ? cudaErrorInvalidValue : cudaSuccess; }
cudaError_t cudaMemset(void *p, int v, size_t n) { return cudaMemsetAsync(p, v, n, nullptr); }
cudaError_t cudaGetDevice(int *d) { *d = 0; return cudaSuccess; }
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaGetDeviceCount(int *n) { *n = 1; return cudaSuccess; }
cudaError_t cudaDeviceGetAttribute(int *v, cudaDeviceAttr a, int)
{
    switch (a) {
    case cudaDevAttrComputeCapabilityMajor: *v = 8; break;
    case cudaDevAttrComputeCapabilityMinor: *v = 0; break;
    case cudaDevAttrMultiProcessorCount: *v = 4; break;         // few, so that small inputs fill them
    case cudaDevAttrMaxSharedMemoryPerBlock: *v = 48 << 10; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *v = 163 << 10; break;
    case cudaDevAttrMaxGridDimX: *v = 2147483647; break;
    case cudaDevAttrMaxGridDimY: case cudaDevAttrMaxGridDimZ: *v = 65535; break;
    case cudaDevAttrWarpSize: *v = 32; break;
    default: *v = 0;
    }
    return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *a, const void *) { memset(a, 0, sizeof *a); a->ptxVersion = a->binaryVersion = 80; a->maxThreadsPerBlock = 1024; a->numRegs = 32; a->maxDynamicSharedSizeBytes = 48 << 10; return cudaSuccess; }
cudaError_t cudaFuncSetAttribute(const void *stub, cudaFuncAttribute a, int v) { if (a == cudaFuncAttributeMaxDynamicSharedMemorySize) now().optin[stub] = (uint32_t)v; return cudaSuccess; }
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, const void *, int, size_t, unsigned) { *n = 2; return cudaSuccess; }
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *, int, size_t) { *n = 2; return cudaSuccess; }
cudaError_t cudaGetLastError(void) { return cudaSuccess; }
cudaError_t cudaPeekAtLastError(void) { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize(void) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
const char *cudaGetErrorString(cudaError_t) { return "an error"; }
const char *cudaGetErrorName(cudaError_t) { return "cudaError"; }
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus *s) { *s = cudaStreamCaptureStatusNone; return cudaSuccess; }
}
