// A CUDA runtime for whole programs of others, host code and all, over Lockstep's own interface: what they use most of memory, symbols, streams, events and launches.
//
// A program is compiled by `nvcc` beside this file, which leaves its PTX in the program as it is: every translation unit hands its own to __cudaRegisterFatBinary, and it is loaded
// with the first launch or symbol. Device addresses are addresses of the process, so pinned and managed memory are simply memory. Everything runs in order, at once, whatever the
// stream; events are times of day. What is not here is missing at link time, by name.
//
// LOCKSTEP_SEED       the schedule (0), on one worker
// LOCKSTEP_SMS        multiprocessors the program is told of (4: few, so that small inputs fill them)
// LOCKSTEP_SECONDS    the program ends after so long, in the middle of a launch if need be, with the report so far
// LOCKSTEP_NO_CHECK   checks to leave out, with commas
// LOCKSTEP_REPORT     the report and a line for every kernel go to this file when the program ends (standard error)
#include "lockstep.h"
#include <cuda_runtime_api.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {
struct image {                  // what one translation unit registered
    const char *ptx = nullptr;
    size_t bytes = 0;
    lk_module *module = nullptr;        // loaded when something of it is needed
};
struct symbol { image *in; std::string name; };
struct function { image *in = nullptr; std::string name; uint32_t optin = 0; };    // optin: dynamic shared memory that was asked for
struct cost { unsigned launches = 0; double ms = 0; uint64_t instructions = 0; };      // ms: of the processor, not of the day
struct block_of_memory { size_t bytes; bool of_host; };    // of_host: pinned or managed, so that the host may touch it
struct configuration { dim3 grid, block; size_t shared; cudaStream_t stream; };

struct state {
    std::recursive_mutex lock;          // a gpu is for one thread at a time
    lk_gpu *gpu = nullptr;
    lk_module *copier = nullptr;        // copies from device to device
    std::map<const void *, function> functions;        // by the address of the host's stub
    std::map<const void *, symbol> symbols;            // by the address of the host's shadow variable
    std::map<uintptr_t, block_of_memory> memory;       // by first address
    std::map<std::string, cost> costs;                 // by kernel
    std::vector<configuration> pushed;                 // between <<< and the stub
    cudaError_t last = cudaSuccess;
    volatile bool late = false;         // LOCKSTEP_SECONDS are over
    unsigned counted = 0;               // launches since the last algorithm_over
};
state &all() { static state *s = new state; return *s; }       // lives from before main to after exit
using guard = std::lock_guard<std::recursive_mutex>;

// Copies bytes with what is known of them: which are undefined, and where they came from.
const char copy_ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry copy(.param .u64 to, .param .u64 from, .param .u64 n)\n{\n.reg .u64 %t, %f, %n, %i;\n.reg .u32 %x, %c, %d;\n"
    ".reg .b16 %v;\n.reg .pred %p;\nld.param.u64 %t, [to];\nld.param.u64 %f, [from];\nld.param.u64 %n, [n];\nmov.u32 %x, %tid.x;\nmov.u32 %c, %ctaid.x;\nmov.u32 %d, %ntid.x;\n"
    "mad.lo.u32 %x, %c, %d, %x;\ncvt.u64.u32 %i, %x;\nsetp.ge.u64 %p, %i, %n;\n@%p bra end;\nadd.u64 %f, %f, %i;\nadd.u64 %t, %t, %i;\nld.global.u8 %v, [%f];\nst.global.u8 [%t], %v;\n"
    "end:\nret;\n}\n";

void report()
{
    state &s = all();
    if (!s.gpu) return;
    const char *path = getenv("LOCKSTEP_REPORT");
    FILE *f = path ? fopen(path, "w") : stderr;
    if (!f) return;
    char *text = lk_report_text(s.gpu, 0);
    fputs(text, f);
    lk_text_free(text);
    for (auto &c : s.costs)
        fprintf(f, "kernel %s: %u launches, %.3f ms, %llu warp instructions\n", c.first.c_str(), c.second.launches, c.second.ms, (unsigned long long)c.second.instructions);
    fprintf(f, "%u errors, %u notes%s\n", lk_report_errors(s.gpu), lk_report_notes(s.gpu), s.late ? ", ended early" : "");
    fflush(f);
}
void end_late()
{
    report();
    fflush(stdout);
    _exit(124);
}
// A launch that runs is interrupted, and ends the program when it returns; between launches nobody holds the lock.
void watch(unsigned seconds)
{
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    state &s = all();
    s.late = true;
    while (!s.lock.try_lock()) {
        lk_gpu_interrupt(s.gpu);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    end_late();
}
lk_gpu *gpu()
{
    state &s = all();
    if (s.gpu) return s.gpu;
    lk_options o = {};
    o.size = sizeof o;
    o.seeded = 1;
    if (const char *seed = getenv("LOCKSTEP_SEED")) o.seed = strtoull(seed, nullptr, 10);
    o.no_check = getenv("LOCKSTEP_NO_CHECK");
    if (lk_gpu_create(&o, &s.gpu) || lk_module_load(s.gpu, "copy", copy_ptx, sizeof copy_ptx - 1, &s.copier)) { fprintf(stderr, "lockstep: %s\n", lk_gpu_error(s.gpu)); _exit(2); }
    lk_report_limit(s.gpu, 0);
    if (const char *seconds = getenv("LOCKSTEP_SECONDS")) std::thread(watch, (unsigned)atoi(seconds)).detach();
    atexit(report);
    return s.gpu;
}
lk_module *module_of(image *i)
{
    if (!i->module && lk_module_load(gpu(), "program", i->ptx, i->bytes, &i->module)) { fprintf(stderr, "lockstep refuses: %s\n", lk_gpu_error(gpu())); _exit(2); }
    return i->module;
}
cudaError_t say(cudaError_t e) { if (e) all().last = e; return e; }

const std::pair<const uintptr_t, block_of_memory> *found(const void *p)
{
    auto &m = all().memory;
    auto at = m.upper_bound((uintptr_t)p);
    if (at == m.begin()) return nullptr;
    --at;
    return (uintptr_t)p < at->first + at->second.bytes ? &*at : nullptr;
}
bool symbol_at(const void *s, uint64_t *address, uint64_t *bytes)
{
    auto at = all().symbols.find(s);
    return at != all().symbols.end() && !lk_module_symbol(module_of(at->second.in), at->second.name.c_str(), address, bytes);
}
bool of_symbol(uint64_t p)              // an address that cudaGetSymbolAddress gave
{
    for (auto &s : all().symbols) {
        uint64_t a = 0, n = 0;
        if (s.second.in->module && symbol_at(s.first, &a, &n) && p >= a && p < a + n) return true;
    }
    return false;
}
bool on_device(const void *p) { auto *b = found(p); return b ? !b->second.of_host : of_symbol((uint64_t)p); }

double processor_ms()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}
cudaError_t launch(const void *stub, dim3 grid, dim3 block, void **args, size_t shared, bool cooperative)
{
    state &s = all();
    guard hold(s.lock);
    auto at = s.functions.find(stub);
    if (at == s.functions.end()) return say(cudaErrorInvalidDeviceFunction);
    lk_kernel *k = lk_module_kernel(module_of(at->second.in), at->second.name.c_str());
    if (!k) { fprintf(stderr, "lockstep: %s\n", lk_gpu_error(gpu())); return say(cudaErrorInvalidDeviceFunction); }
    if (!grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z) return say(cudaErrorInvalidConfiguration);
    lk_launch l = {};
    l.size = sizeof l;
    l.grid[0] = grid.x; l.grid[1] = grid.y; l.grid[2] = grid.z;
    l.block[0] = block.x; l.block[1] = block.y; l.block[2] = block.z;
    l.shared_bytes = (uint32_t)shared; l.shared_optin = at->second.optin; l.cooperative = cooperative;
    l.args = args; l.arg_count = lk_kernel_param_count(k);
    lk_stats stats = {};
    double began = processor_ms();
    lk_status r = lk_kernel_launch(k, &l, &stats);
    cost &c = s.costs[lk_kernel_plain(k)];
    c.launches++; c.ms += processor_ms() - began; c.instructions += stats.warp_instructions;
    s.counted++;
    if (s.late) end_late();
    if (r == LK_UNSUPPORTED) { fprintf(stderr, "lockstep refuses: %s: %s\n", lk_kernel_plain(k), lk_gpu_error(s.gpu)); report(); _exit(3); }
    if (r > LK_FINDINGS) { fprintf(stderr, "lockstep: %s: %s\n", lk_kernel_plain(k), lk_gpu_error(s.gpu)); return say(cudaErrorLaunchFailure); }
    return cudaSuccess;
}
cudaError_t allocate(void **p, size_t bytes, lk_memory_kind kind)
{
    guard hold(all().lock);
    uint64_t a = 0;
    if (lk_memory_alloc(gpu(), bytes ? bytes : 1, kind, "memory", &a)) { *p = nullptr; return say(cudaErrorMemoryAllocation); }
    all().memory[a] = { bytes ? bytes : 1, kind != LK_MEMORY_DEVICE };
    *p = (void *)a;
    return cudaSuccess;
}
cudaError_t release(void *p)
{
    if (!p) return cudaSuccess;
    guard hold(all().lock);
    all().memory.erase((uintptr_t)p);
    return say(lk_memory_free(gpu(), (uint64_t)p) ? cudaErrorInvalidValue : cudaSuccess);
}
cudaError_t on_copier(uint64_t to, uint64_t from, uint64_t n)
{
    void *args[] = { &to, &from, &n };
    lk_launch l = {};
    l.size = sizeof l;
    l.grid[0] = (uint32_t)((n + 255) / 256); l.block[0] = 256;
    l.args = args; l.arg_count = 3;
    return say(lk_kernel_launch(lk_module_kernel(all().copier, "copy"), &l, nullptr) > LK_FINDINGS ? cudaErrorInvalidValue : cudaSuccess);
}
cudaError_t copy(void *to, const void *from, size_t n)
{
    if (!n) return cudaSuccess;
    guard hold(all().lock);
    bool d = on_device(to), s = on_device(from);
    if (d && s && !of_symbol((uint64_t)to)) return on_copier((uint64_t)to, (uint64_t)from, n);
    if (d && s) {                       // a constant, which no kernel may write
        std::vector<char> through(n);
        return copy(through.data(), from, n) || copy(to, through.data(), n) ? cudaErrorInvalidValue : cudaSuccess;
    }
    if (d) return say(lk_memory_write(gpu(), (uint64_t)to, from, n) ? cudaErrorInvalidValue : cudaSuccess);
    if (s) return say(lk_memory_read(gpu(), (uint64_t)from, to, n) ? cudaErrorInvalidValue : cudaSuccess);
    memcpy(to, from, n);
    return cudaSuccess;
}
cudaError_t fill(void *p, int v, size_t n)
{
    guard hold(all().lock);
    if (!n) return cudaSuccess;
    if (!on_device(p)) { memset(p, v, n); return cudaSuccess; }
    return say(lk_memory_fill(gpu(), (uint64_t)p, v, n) ? cudaErrorInvalidValue : cudaSuccess);
}
cudaError_t copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height)
{
    cudaError_t r = cudaSuccess;
    for (size_t y = 0; y < height && !r; y++) r = copy((char *)to + y * to_pitch, (const char *)from + y * from_pitch, width);
    return r;
}
int multiprocessors() { const char *n = getenv("LOCKSTEP_SMS"); return n ? atoi(n) : 4; }
}

// The report so far, under a name, and a new one begun; 1: it has findings.
extern "C" int algorithm_over(const char *name)
{
    lk_gpu *g = gpu();
    int bad = lk_report_errors(g) || lk_report_notes(g);
    printf("%-28s %3u launches: %u errors, %u notes\n", name, all().counted, lk_report_errors(g), lk_report_notes(g));
    if (bad) { char *t = lk_report_text(g, 0); fputs(t, stdout); lk_text_free(t); }
    lk_report_clear(g);
    all().counted = 0;
    fflush(stdout);
    return bad;
}

extern "C" {
// What the compiler's own host code calls. A fat binary: a wrapper that points to a header of 16 bytes, then entries, each with its kind (1: PTX), the length of its header and of its text.
void **__cudaRegisterFatBinary(void *wrapper)
{
    image *i = new image;
    const char *fat = ((const char **)wrapper)[1];
    const char *at = fat + *(const uint16_t *)(fat + 6), *end = at + *(const uint64_t *)(fat + 8);
    while (at < end) {
        uint64_t padded = *(const uint64_t *)(at + 8);
        const char *text = at + *(const uint32_t *)(at + 4);
        if (*(const uint16_t *)at == 1 && !i->ptx) { i->ptx = text; i->bytes = strnlen(text, padded); }
        at = text + padded;
    }
    return (void **)i;
}
void __cudaRegisterFatBinaryEnd(void **) {}
void __cudaUnregisterFatBinary(void **) {}
char __cudaInitModule(void **) { return 1; }
void __cudaRegisterFunction(void **in, const char *stub, char *, const char *name, int, uint3 *, uint3 *, dim3 *, dim3 *, int *) { all().functions[stub] = { (image *)in, name, 0 }; }
void __cudaRegisterVar(void **in, char *shadow, char *, const char *name, int, size_t, int, int) { all().symbols[shadow] = { (image *)in, name }; }
void __cudaRegisterManagedVar(void **in, void **shadow, char *, const char *name, int, size_t, int, int)
{
    uint64_t bytes = 0;
    all().symbols[shadow] = { (image *)in, name };
    symbol_at(shadow, (uint64_t *)shadow, &bytes);
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) { guard hold(all().lock); all().pushed.push_back({ grid, block, shared, stream }); return 0; }
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    guard hold(all().lock);
    configuration c = all().pushed.back();
    all().pushed.pop_back();
    *grid = c.grid; *block = c.block; *shared = c.shared; *(cudaStream_t *)stream = c.stream;
    return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t *k, const void *stub) { *k = (cudaKernel_t)stub; return cudaSuccess; }
cudaError_t __cudaLaunchKernel(cudaKernel_t k, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t) { return launch((const void *)k, grid, block, args, shared, false); }

// Launches and kernels
cudaError_t cudaLaunchKernel(const void *stub, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t) { return launch(stub, grid, block, args, shared, false); }
cudaError_t cudaLaunchCooperativeKernel(const void *stub, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t) { return launch(stub, grid, block, args, shared, true); }
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *stub, void **args)
{
    bool cooperative = false;
    for (unsigned i = 0; i < c->numAttrs; i++) cooperative |= c->attrs[i].id == cudaLaunchAttributeCooperative && c->attrs[i].val.cooperative;
    return launch(stub, c->gridDim, c->blockDim, args, c->dynamicSmemBytes, cooperative);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t f, void *data) { f(data); return cudaSuccess; }
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *a, const void *stub)
{
    guard hold(all().lock);
    auto at = all().functions.find(stub);
    if (at == all().functions.end()) return say(cudaErrorInvalidDeviceFunction);
    lk_kernel *k = lk_module_kernel(module_of(at->second.in), at->second.name.c_str());
    lk_usage u = {};
    u.size = sizeof u;
    memset(a, 0, sizeof *a);
    if (!k || lk_kernel_usage(k, &u)) return say(cudaErrorInvalidDeviceFunction);
    const char *arch = lk_module_arch(at->second.in->module);
    a->ptxVersion = a->binaryVersion = atoi(arch + strcspn(arch, "0123456789"));
    a->sharedSizeBytes = u.shared_bytes; a->localSizeBytes = u.local_bytes; a->constSizeBytes = u.const_bytes;
    a->maxThreadsPerBlock = u.max_threads[0] ? (int)(u.max_threads[0] * u.max_threads[1] * u.max_threads[2]) : 1024;
    a->numRegs = 32; a->maxDynamicSharedSizeBytes = 48 << 10;
    return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void *stub, cudaFuncAttribute a, int v) { if (a == cudaFuncAttributeMaxDynamicSharedMemorySize) all().functions[stub].optin = (uint32_t)v; return cudaSuccess; }
cudaError_t cudaFuncSetCacheConfig(const void *, cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, const void *, int, size_t, unsigned) { *n = 2; return cudaSuccess; }
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *, int, size_t) { *n = 2; return cudaSuccess; }
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *n, const void *, int, int) { *n = 48 << 10; return cudaSuccess; }

// Memory
cudaError_t cudaMalloc(void **p, size_t bytes) { return allocate(p, bytes, LK_MEMORY_DEVICE); }
cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t) { return allocate(p, bytes, LK_MEMORY_DEVICE); }
cudaError_t cudaMallocFromPoolAsync(void **p, size_t bytes, cudaMemPool_t, cudaStream_t) { return allocate(p, bytes, LK_MEMORY_DEVICE); }
cudaError_t cudaMallocManaged(void **p, size_t bytes, unsigned) { return allocate(p, bytes, LK_MEMORY_MANAGED); }
cudaError_t cudaMallocHost(void **p, size_t bytes) { return allocate(p, bytes, LK_MEMORY_PINNED); }
cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned) { return allocate(p, bytes, LK_MEMORY_PINNED); }
cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height) { *pitch = (width + 511) / 512 * 512; return allocate(p, *pitch * height, LK_MEMORY_DEVICE); }
cudaError_t cudaMalloc3D(cudaPitchedPtr *p, cudaExtent e)
{
    p->pitch = (e.width + 511) / 512 * 512; p->xsize = e.width; p->ysize = e.height;
    return allocate(&p->ptr, p->pitch * e.height * e.depth, LK_MEMORY_DEVICE);
}
cudaError_t cudaFree(void *p) { return release(p); }
cudaError_t cudaFreeAsync(void *p, cudaStream_t) { return release(p); }
cudaError_t cudaFreeHost(void *p) { return release(p); }
cudaError_t cudaHostGetDevicePointer(void **d, void *h, unsigned) { *d = h; return cudaSuccess; }
cudaError_t cudaMemcpy(void *to, const void *from, size_t n, cudaMemcpyKind) { return copy(to, from, n); }
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, cudaMemcpyKind, cudaStream_t) { return copy(to, from, n); }
cudaError_t cudaMemcpyPeer(void *to, int, const void *from, int, size_t n) { return copy(to, from, n); }
cudaError_t cudaMemcpyPeerAsync(void *to, int, const void *from, int, size_t n, cudaStream_t) { return copy(to, from, n); }
cudaError_t cudaMemcpy2D(void *to, size_t tp, const void *from, size_t fp, size_t w, size_t h, cudaMemcpyKind) { return copy_rows(to, tp, from, fp, w, h); }
cudaError_t cudaMemcpy2DAsync(void *to, size_t tp, const void *from, size_t fp, size_t w, size_t h, cudaMemcpyKind, cudaStream_t) { return copy_rows(to, tp, from, fp, w, h); }
cudaError_t cudaMemset(void *p, int v, size_t n) { return fill(p, v, n); }
cudaError_t cudaMemsetAsync(void *p, int v, size_t n, cudaStream_t) { return fill(p, v, n); }
cudaError_t cudaMemset2D(void *p, size_t pitch, int v, size_t w, size_t h) { for (size_t y = 0; y < h; y++) fill((char *)p + y * pitch, v, w); return cudaSuccess; }
cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int v, size_t w, size_t h, cudaStream_t) { return cudaMemset2D(p, pitch, v, w, h); }
cudaError_t cudaMemGetInfo(size_t *free, size_t *total) { *free = *total = (size_t)8 << 30; return cudaSuccess; }
cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, cudaMemLocation) { return cudaSuccess; }
cudaError_t cudaMemPrefetchAsync(const void *, size_t, cudaMemLocation, unsigned, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *a, const void *p)
{
    auto *b = found(p);
    memset(a, 0, sizeof *a);
    a->type = !b ? cudaMemoryTypeUnregistered : b->second.of_host ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
    if (b) a->devicePointer = (void *)p;
    return cudaSuccess;
}
cudaError_t cudaGetSymbolAddress(void **p, const void *s) { guard hold(all().lock); uint64_t n; return symbol_at(s, (uint64_t *)p, &n) ? cudaSuccess : say(cudaErrorInvalidSymbol); }
cudaError_t cudaGetSymbolSize(size_t *n, const void *s) { guard hold(all().lock); uint64_t a, b; if (!symbol_at(s, &a, &b)) return say(cudaErrorInvalidSymbol); *n = b; return cudaSuccess; }
cudaError_t cudaMemcpyToSymbol(const void *s, const void *from, size_t n, size_t at, cudaMemcpyKind)
{
    guard hold(all().lock);
    uint64_t a, b;
    return symbol_at(s, &a, &b) ? copy((char *)a + at, from, n) : say(cudaErrorInvalidSymbol);
}
cudaError_t cudaMemcpyFromSymbol(void *to, const void *s, size_t n, size_t at, cudaMemcpyKind)
{
    guard hold(all().lock);
    uint64_t a, b;
    return symbol_at(s, &a, &b) ? copy(to, (char *)a + at, n) : say(cudaErrorInvalidSymbol);
}
cudaError_t cudaMemcpyToSymbolAsync(const void *s, const void *from, size_t n, size_t at, cudaMemcpyKind k, cudaStream_t) { return cudaMemcpyToSymbol(s, from, n, at, k); }
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *s, size_t n, size_t at, cudaMemcpyKind k, cudaStream_t) { return cudaMemcpyFromSymbol(to, s, n, at, k); }

// The device
cudaError_t cudaGetDevice(int *d) { *d = 0; return cudaSuccess; }
cudaError_t cudaSetDevice(int d) { return d ? say(cudaErrorInvalidDevice) : cudaSuccess; }
cudaError_t cudaGetDeviceCount(int *n) { *n = 1; return cudaSuccess; }
cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
cudaError_t cudaDeviceReset(void) { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize(void) { return cudaSuccess; }
cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
cudaError_t cudaDeviceGetLimit(size_t *n, cudaLimit) { *n = 8 << 20; return cudaSuccess; }
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *p, int) { *p = nullptr; return cudaSuccess; }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *) { return cudaSuccess; }
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *most) { *least = 0; *most = -5; return cudaSuccess; }
cudaError_t cudaDeviceCanAccessPeer(int *can, int, int) { *can = 0; return cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int *v) { *v = CUDART_VERSION; return cudaSuccess; }
cudaError_t cudaDriverGetVersion(int *v) { *v = CUDART_VERSION; return cudaSuccess; }
cudaError_t cudaDeviceGetAttribute(int *v, cudaDeviceAttr a, int)
{
    switch (a) {
    case cudaDevAttrComputeCapabilityMajor: *v = 9; break;
    case cudaDevAttrComputeCapabilityMinor: *v = 0; break;
    case cudaDevAttrMultiProcessorCount: *v = multiprocessors(); break;
    case cudaDevAttrMaxThreadsPerBlock: case cudaDevAttrMaxBlockDimX: case cudaDevAttrMaxBlockDimY: *v = 1024; break;
    case cudaDevAttrMaxBlockDimZ: *v = 64; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *v = 2048; break;
    case cudaDevAttrMaxBlocksPerMultiprocessor: *v = 32; break;
    case cudaDevAttrMaxRegistersPerBlock: *v = 65536; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *v = 48 << 10; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *v = 227 << 10; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *v = 228 << 10; break;
    case cudaDevAttrMaxGridDimX: *v = 2147483647; break;
    case cudaDevAttrMaxGridDimY: case cudaDevAttrMaxGridDimZ: *v = 65535; break;
    case cudaDevAttrWarpSize: *v = 32; break;
    case cudaDevAttrClockRate: *v = 1980000; break;
    case cudaDevAttrL2CacheSize: *v = 50 << 20; break;
    case cudaDevAttrCooperativeLaunch: case cudaDevAttrManagedMemory: case cudaDevAttrConcurrentManagedAccess: case cudaDevAttrMemoryPoolsSupported: case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrCanMapHostMemory: *v = 1; break;
    default: *v = 0;
    }
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int)
{
    memset(p, 0, sizeof *p);
    strcpy(p->name, "Lockstep");
    p->major = 9; p->warpSize = 32; p->multiProcessorCount = multiprocessors();
    p->totalGlobalMem = (size_t)8 << 30; p->totalConstMem = 64 << 10; p->l2CacheSize = 50 << 20;
    p->maxThreadsPerBlock = 1024; p->maxThreadsPerMultiProcessor = 2048; p->maxBlocksPerMultiProcessor = 32; p->regsPerBlock = p->regsPerMultiprocessor = 65536;
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024; p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 2147483647; p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->sharedMemPerBlock = 48 << 10; p->sharedMemPerBlockOptin = 227 << 10; p->sharedMemPerMultiprocessor = 228 << 10;
    p->canMapHostMemory = p->managedMemory = p->concurrentManagedAccess = p->unifiedAddressing = p->cooperativeLaunch = p->concurrentKernels = 1;
    return cudaSuccess;
}

// Streams and events: all is over when it has begun
cudaError_t cudaStreamCreate(cudaStream_t *s) { *s = (cudaStream_t)new char; return cudaSuccess; }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned) { return cudaStreamCreate(s); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned, int) { return cudaStreamCreate(s); }
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void *, size_t, unsigned) { return cudaSuccess; }
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus *s) { *s = cudaStreamCaptureStatusNone; return cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t *e) { *e = (cudaEvent_t)new double(0); return cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned) { return cudaEventCreate(e); }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t) { *(double *)e = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count(); return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b) { *ms = (float)(*(double *)b - *(double *)a); return cudaSuccess; }

// Errors
cudaError_t cudaGetLastError(void) { cudaError_t e = all().last; all().last = cudaSuccess; return e; }
cudaError_t cudaPeekAtLastError(void) { return all().last; }
const char *cudaGetErrorString(cudaError_t e) { return e ? "an error" : "no error"; }
const char *cudaGetErrorName(cudaError_t e) { return e ? "cudaError" : "cudaSuccess"; }
cudaError_t cudaProfilerStart(void) { return cudaSuccess; }
cudaError_t cudaProfilerStop(void) { return cudaSuccess; }
}
