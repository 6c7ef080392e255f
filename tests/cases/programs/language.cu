// regen: no
// Programs for what the language has: templates, constant and managed variables, printf, assert, cooperative groups, the heap, function pointers, shared memory.
#include "programs.h"
#include <cassert>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;
enum { N = 1024 };

template <class T> struct device { // an array of the device that frees itself
    T *p;
    explicit device(size_t n) { TRY(cudaMalloc(&p, n * sizeof(T))); }
    ~device() { cudaFree(p); }
    T at(size_t i) { T v; TRY(cudaMemcpy(&v, p + i, sizeof v, cudaMemcpyDeviceToHost)); return v; }
};
static void finished() { TRY(cudaGetLastError()); TRY(cudaDeviceSynchronize()); }

template <class T, int K> __global__ void scaled(T *x, T by) { x[threadIdx.x] = K * by * (T)threadIdx.x; }
static int templates_ok()
{
    device<float> f(64);
    device<long long> l(64);
    device<unsigned char> c(64);
    scaled<float, 2><<<1, 64>>>(f.p, 0.5f);
    scaled<long long, 3><<<1, 64>>>(l.p, 10000000000ll);
    scaled<unsigned char, 1><<<1, 64>>>(c.p, 3);
    finished();
    printf("%g %lld %d\n", f.at(63), l.at(63), c.at(63));
    return 0;
}

__constant__ int table[16];
__constant__ float scale = 1.5f;
__global__ void looked_up(int *x) { x[threadIdx.x] = table[threadIdx.x & 15] + (int)(scale * 2); }
static int constant_ok()
{
    int h[16], *address;
    float two = 2;
    device<int> x(32);
    for (int i = 0; i < 16; i++) h[i] = i * i;
    TRY(cudaMemcpyToSymbol(table, h, sizeof h));
    looked_up<<<1, 32>>>(x.p);
    finished();
    printf("%d ", x.at(31));
    TRY(cudaMemcpyToSymbol(scale, &two, sizeof two));
    TRY(cudaGetSymbolAddress((void **)&address, table));
    looked_up<<<1, 32>>>(x.p);
    TRY(cudaMemcpyFromSymbol(&h[0], table, 4, 12));
    size_t size;
    TRY(cudaGetSymbolSize(&size, table));
    printf("%d %d %zu\n", x.at(31), h[0], size);
    return 0;
}
static int constant_bad() // the table is larger than what was copied, and the copy larger than the table
{
    int h[17] = { 0 };
    printf("%s\n", cudaGetErrorName(cudaMemcpyToSymbol(table, h, sizeof h)));
    return 0;
}

__managed__ int counter = 5;
__managed__ int many[N];
__global__ void count() { atomicAdd(&counter, 1); many[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x; }
static int managed_variable(bool synchronised)
{
    count<<<4, 256>>>();
    if (synchronised) finished();
    int v = many[300];
    finished();
    if (synchronised) printf("%d %d\n", counter, v);
    return 0;
}
static int managed_variable_ok() { return managed_variable(true); }
static int managed_variable_bad() { return managed_variable(false); }

__global__ void says(int k) { if (threadIdx.x == 0) printf("launch %d, %s, %5.2f, %c, %llx, %d%%\n", k, "text", k * 0.25, 'a' + k, 0x123456789abcull + k, k); }
static int printf_ok()
{
    printf("before\n");
    for (int k = 0; k < 3; k++) says<<<1, 32>>>(k);
    finished();
    printf("after\n");
    return 0;
}

__global__ void asserts(int most) { assert((int)threadIdx.x < most); }
static int assert_ok() { asserts<<<1, 32>>>(32); finished(); printf("held\n"); return 0; }
static int assert_bad() { asserts<<<1, 32>>>(31); cudaDeviceSynchronize(); return 0; }

__global__ void grid_wide(int *x, int *sum)
{
    cg::grid_group grid = cg::this_grid();
    x[grid.thread_rank()] = (int)grid.thread_rank();
    grid.sync();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
    int v = cg::reduce(warp, x[grid.size() - 1 - grid.thread_rank()], cg::plus<int>());
    if (warp.thread_rank() == 0) atomicAdd(sum, v);
}
static int cooperative(bool asked)
{
    device<int> x(N), sum(1);
    void *args[] = { &x.p, &sum.p };
    TRY(cudaMemset(sum.p, 0, 4));
    if (asked) TRY(cudaLaunchCooperativeKernel((void *)grid_wide, dim3(4), dim3(256), args, 0, 0));
    else grid_wide<<<4, 256>>>(x.p, sum.p);
    if (!asked) { cudaDeviceSynchronize(); return 0; }
    finished();
    printf("%d\n", sum.at(0));
    return 0;
}
static int cooperative_ok() { return cooperative(true); }
static int cooperative_bad() { return cooperative(false); }

__global__ void tiles(int *x)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int sum = cg::reduce(tile, (int)threadIdx.x, cg::plus<int>());
    cg::coalesced_group odd = cg::binary_partition(tile, threadIdx.x & 1);
    x[threadIdx.x] = sum * 100 + odd.size();
}
static int tiles_ok() { device<int> x(64); tiles<<<1, 64>>>(x.p); finished(); printf("%d %d\n", x.at(0), x.at(63)); return 0; }

__global__ void turned(int *x, bool waits)
{
    extern __shared__ int tile[];
    tile[threadIdx.x] = threadIdx.x;
    if (waits) __syncthreads();
    x[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
static int turn(bool waits, int bytes)
{
    device<int> x(128);
    turned<<<1, 128, bytes>>>(x.p, waits);
    if (!waits || !bytes) { cudaDeviceSynchronize(); return 0; }
    finished();
    printf("%d\n", x.at(0));
    return 0;
}
static int barrier_ok() { return turn(true, 512); }
static int barrier_bad() { return turn(false, 512); }
static int dynamic_bad() { return turn(true, 0); } // its twin is barrier_ok

typedef int (*step)(int);
__device__ int add_one(int v) { return v + 1; }
__device__ int doubled(int v) { return v * 2; }
__device__ step steps[2] = { add_one, doubled };
struct shape { __device__ virtual int sides() const { return 0; } };
struct square : shape { __device__ int sides() const override { return 4; } };
struct triangle : shape { __device__ int sides() const override { return 3; } };
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void calls(int *x)
{
    square a;
    triangle b;
    const shape *s = threadIdx.x & 1 ? (const shape *)&a : &b;
    x[threadIdx.x] = steps[threadIdx.x & 1](10) * 100 + s->sides() * 10 + fibonacci(threadIdx.x & 3);
}
static int calls_ok() { device<int> x(32); calls<<<1, 32>>>(x.p); finished(); printf("%d %d\n", x.at(2), x.at(3)); return 0; }

__global__ void list(int **head, bool frees)
{
    int *node = (int *)malloc(8);
    node[0] = threadIdx.x;
    head[threadIdx.x] = node;
    __syncthreads();
    int v = head[threadIdx.x ^ 1][0];
    __syncthreads();
    if (frees) free(node);
    head[threadIdx.x] = (int *)(size_t)v;
}
static int heap(bool frees) { device<int *> x(32); list<<<1, 32>>>(x.p, frees); finished(); printf("%d\n", (int)(size_t)x.at(5)); return 0; }
static int heap_ok() { return heap(true); }
static int heap_bad() { return heap(false); }

__global__ void histogram(const int *x, int *bins, bool atomic)
{
    int b = x[threadIdx.x] & 3;
    if (atomic) atomicAdd(&bins[b], 1);
    else bins[b]++;
}
static int bins(bool atomic)
{
    device<int> x(256), b(4);
    TRY(cudaMemset(x.p, 0, 1024)); TRY(cudaMemset(b.p, 0, 16));
    histogram<<<1, 256>>>(x.p, b.p, atomic);
    finished();
    if (atomic) printf("%d\n", b.at(0));
    return 0;
}
static int histogram_ok() { return bins(true); }
static int histogram_bad() { return bins(false); }

__global__ void branches(const int *x, int *y) { y[threadIdx.x] = x[threadIdx.x] > 3 ? 1 : 2; }
static int unset(bool set)
{
    device<int> x(64), y(64);
    if (set) TRY(cudaMemset(x.p, 1, 256));
    branches<<<1, 64>>>(x.p, y.p);
    finished();
    int v = y.at(1);
    if (set) printf("%d\n", v);
    return 0;
}
/* memory that nobody wrote is carried to the host; a struct's padding, which is as raw, is not */
struct padded { double a; int b; };
__global__ void reversed(const int *from, int *to) { to[threadIdx.x] = from[blockDim.x - 1 - threadIdx.x]; }
__global__ void filled(padded *p) { p[threadIdx.x].a = threadIdx.x, p[threadIdx.x].b = 1; }
__global__ void moved(const padded *from, padded *to) { to[threadIdx.x] = from[threadIdx.x]; }
static int carried(bool set)
{
    int *from, *to, got[64];
    padded *p, *q, back[64];
    TRY(cudaMalloc(&from, sizeof got)); TRY(cudaMalloc(&to, sizeof got)); TRY(cudaMalloc(&p, sizeof back)); TRY(cudaMalloc(&q, sizeof back));
    if (set) TRY(cudaMemset(from, 0, sizeof got));
    reversed<<<1, 64>>>(from, to);
    filled<<<1, 64>>>(p);
    moved<<<1, 64>>>(p, q);
    TRY(cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost)); TRY(cudaMemcpy(back, q, sizeof back, cudaMemcpyDeviceToHost));
    printf("%d %g\n", set ? got[63] : 0, back[63].a);
    TRY(cudaFree(from)); TRY(cudaFree(to)); TRY(cudaFree(p)); TRY(cudaFree(q));
    return 0;
}
static int carried_ok() { return carried(true); }
static int carried_bad() { return carried(false); }
static int unset_ok() { return unset(true); }
static int unset_bad() { return unset(false); }

__global__ void guarded(float *x, int n, bool guard) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (!guard || i < n) x[i] = i; }
static int guard(bool is) { device<float> x(1000); guarded<<<8, 128>>>(x.p, 1000, is); finished(); printf("%g\n", x.at(999)); return 0; }
static int guard_ok() { return guard(true); }
static int guard_bad() { return guard(false); }

template <class F> __global__ void applied(int *x, F f) { x[threadIdx.x] = f(threadIdx.x); }
struct affine { int a, b; char pad[40]; __device__ int operator()(int i) const { return a * i + b + pad[39]; } };
static int occupancy_ok()
{
    int blocks, least, size;
    affine f = { 3, 4, { 0 } };
    device<int> x(64);
    TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, applied<affine>, 256, 0));
    TRY(cudaOccupancyMaxPotentialBlockSize(&least, &size, applied<affine>, 0, 0));
    applied<<<1, 64>>>(x.p, f);
    finished();
    cudaFuncAttributes a;
    TRY(cudaFuncGetAttributes(&a, applied<affine>));
    printf("%d, %s, %d\n", x.at(63), blocks > 0 && least >= blocks && size >= 256 ? "occupancy is plausible" : "strange", a.maxThreadsPerBlock);
    return 0;
}

static int device_ok()
{
    int n, version, driver, v;
    size_t free, total;
    cudaDeviceProp p;
    TRY(cudaGetDeviceCount(&n)); TRY(cudaRuntimeGetVersion(&version)); TRY(cudaDriverGetVersion(&driver));
    TRY(cudaGetDeviceProperties(&p, 0)); TRY(cudaDeviceGetAttribute(&v, cudaDevAttrMaxThreadsPerBlock, 0)); TRY(cudaMemGetInfo(&free, &total));
    printf("%d device, %s %d.%d, warps of %d, %d threads a block, %s\n", n, p.name, p.major, p.minor, p.warpSize, v, driver >= version && free <= total && total == p.totalGlobalMem ? "consistent" : "not consistent");
    const char *last = cudaGetErrorName(cudaGetLastError()), *now = cudaGetErrorName(cudaSetDevice(7));
    printf("%s, %s\n", now, last);
    return 0;
}

static int host_pointer_bad() // a pointer of the host's heap given to a kernel: see guard_ok
{
    int *x = (int *)malloc(4096);
    branches<<<1, 64>>>(x, x);
    printf("%s\n", cudaDeviceSynchronize() ? "an error" : "no error");
    free(x);
    return 0;
}
#define ONE(name) { #name, name }
PROGRAMS(ONE(templates_ok), ONE(constant_ok), ONE(constant_bad), ONE(managed_variable_ok), ONE(managed_variable_bad), ONE(printf_ok), ONE(assert_ok), ONE(assert_bad), ONE(cooperative_ok),
         ONE(cooperative_bad), ONE(tiles_ok), ONE(barrier_ok), ONE(barrier_bad), ONE(dynamic_bad), ONE(calls_ok), ONE(heap_ok), ONE(heap_bad),
         ONE(histogram_ok), ONE(histogram_bad), ONE(unset_ok), ONE(unset_bad), ONE(carried_ok), ONE(carried_bad), ONE(guard_ok), ONE(guard_bad), ONE(occupancy_ok), ONE(device_ok), ONE(host_pointer_bad))
