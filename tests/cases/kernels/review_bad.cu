// regen: -arch=sm_90 -std=c++17 -diag-suppress 20054
// Kernels as a reviewer would bring them, each with one mistake that B puts in; without it (review_ok.cu) they are right.
#ifndef B
#define B 1
#endif
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
#include <cuda_pipeline.h>
#include <cstdio>
namespace cg = cooperative_groups;

// reduce_tree: no barrier between the steps of the tree.
extern "C" __global__ void reduce_tree(const float *x, float *y)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 256 + t];
    __syncthreads();
    for (int k = 128; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];    // <-- race
        if (!B) __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = s[0];
}

// reduce_warp: no barrier between the sums of the warps and who adds them.
extern "C" __global__ void reduce_warp(const float *x, float *y)
{
    __shared__ float part[4];
    int t = threadIdx.x;
    float v = x[blockIdx.x * 128 + t];
    for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
    if (t % 32 == 0) part[t / 32] = v;    // <-- race
    if (!B) __syncthreads();
    if (t == 0) y[blockIdx.x] = part[0] + part[1] + part[2] + part[3];    // <-- race
}

// scan_hs: the step writes before all have read.
extern "C" __global__ void scan_hs(const int *x, int *y)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int o = 1; o < 128; o <<= 1) {
        int v = t >= o ? s[t - o] : 0;    // <-- race
        if (!B) __syncthreads();
        s[t] += v;    // <-- race
        __syncthreads();
    }
    y[t] = s[t];
}

// scan_blelloch: one step of the way down without its barrier.
extern "C" __global__ void scan_blelloch(const int *x, int *y)
{
    __shared__ int s[128];
    int t = threadIdx.x, off = 1;
    s[2 * t] = x[2 * t];
    s[2 * t + 1] = x[2 * t + 1];
    for (int d = 64; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int a = off * (2 * t + 1) - 1, b = off * (2 * t + 2) - 1;
            s[b] += s[a];
        }
        off *= 2;
    }
    if (t == 0) s[127] = 0;
    for (int d = 1; d < 128; d *= 2) {
        off >>= 1;
        if (!B || d != 4) __syncthreads();
        if (t < d) {
            int a = off * (2 * t + 1) - 1, b = off * (2 * t + 2) - 1;
            int v = s[a];
            s[a] = s[b];    // <-- race
            s[b] += v;    // <-- race
        }
    }
    __syncthreads();
    y[2 * t] = s[2 * t];
    y[2 * t + 1] = s[2 * t + 1];
}

// stencil_halo: the right halo is never loaded.
extern "C" __global__ void stencil_halo(const float *x, float *y, int n)
{
    __shared__ float s[66];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t + 1] = x[i];
    if (t == 0) s[0] = i ? x[i - 1] : 0;
    if (t == 63 && !B) s[65] = i + 1 < n ? x[i + 1] : 0;
    __syncthreads();
    y[i] = s[t] + s[t + 1] + s[t + 2];    // <-- uninit_output
}

// transpose: no barrier between the tile and its transpose.
extern "C" __global__ void transpose(const float *x, float *y, int n)
{
    __shared__ float s[32][33];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) s[threadIdx.y + j][threadIdx.x] = x[(r + j) * n + c];    // <-- race
    if (!B) __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x;
    r = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) y[(r + j) * n + c] = s[threadIdx.x][threadIdx.y + j];    // <-- race
}

// histogram: a plain increment where an atomic belongs.
extern "C" __global__ void histogram(const int *x, int *h)
{
    __shared__ int s[16];
    int t = threadIdx.x;
    if (t < 16) s[t] = 0;
    __syncthreads();
    if (B) s[x[blockIdx.x * 128 + t]]++;    // <-- race
    else atomicAdd(&s[x[blockIdx.x * 128 + t]], 1);
    __syncthreads();
    if (t < 16) atomicAdd(&h[t], s[t]);
}

// histogram_uninit: one bin of the private histogram is never cleared.
extern "C" __global__ void histogram_uninit(const int *x, int *h)
{
    __shared__ int s[16];
    int t = threadIdx.x;
    if (t < (B ? 15 : 16)) s[t] = 0;
    __syncthreads();
    atomicAdd(&s[x[blockIdx.x * 128 + t]], 1);
    __syncthreads();
    if (t < 16) atomicAdd(&h[t], s[t]);    // <-- uninit_atomic
}

// bitonic: the steps of a warp taken for ordered.
extern "C" __global__ void bitonic(int *x)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int k = 2; k <= 64; k <<= 1)
        for (int j = k >> 1; j > 0; j >>= 1) {
            int p = t ^ j;
            if (p > t) {
                bool up = !(t & k);
                if ((s[t] > s[p]) == up) {    // <-- race
                    int v = s[t];
                    s[t] = s[p];    // <-- race
                    s[p] = v;    // <-- race
                }
            }
            if (!B || j > 1) __syncthreads();
        }
    __syncthreads();
    x[t] = s[t];
}

// gemm_async: wait_prior leaves the tile in flight that is read next.
extern "C" __global__ void gemm_async(const float *a, const float *b, float *c, int n)
{
    __shared__ float s[2][16][16], r[2][16][16];
    int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y, tiles = n / 16;
    float sum = 0;
    __pipeline_memcpy_async(&s[0][y][x], &a[row * n + x], 4);    // <-- async_wait
    __pipeline_memcpy_async(&r[0][y][x], &b[y * n + col], 4);    // <-- async_wait
    __pipeline_commit();
    for (int k = 0; k < tiles; k++) {
        int f = k & 1;
        if (k + 1 < tiles) {
            __pipeline_memcpy_async(&s[f ^ 1][y][x], &a[row * n + (k + 1) * 16 + x], 4);    // <-- async_wait
            __pipeline_memcpy_async(&r[f ^ 1][y][x], &b[((k + 1) * 16 + y) * n + col], 4);    // <-- async_wait
        }
        __pipeline_commit();
        __pipeline_wait_prior(B ? 2 : 1);
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += s[f][y][j] * r[f][j][x];    // <-- async_wait
        __syncthreads();
    }
    c[row * n + col] = sum;
}

// softmax: the sums overwrite the maxima that others still read.
extern "C" __global__ void softmax(const float *x, float *y)
{
    __shared__ float red[2], tot[2];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    float v = x[i], m = v;
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    if (t % 32 == 0) red[t / 32] = m;
    __syncthreads();
    m = fmaxf(red[0], red[1]);    // <-- race
    float e = expf(v - m), s = e;
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    if (t % 32 == 0) (B ? red : tot)[t / 32] = s;    // <-- race
    __syncthreads();
    y[i] = e / (B ? red[0] + red[1] : tot[0] + tot[1]);
}

// layernorm: threads beyond the row store into the next one.
extern "C" __global__ void layernorm(const float *x, float *y, int n)
{
    __shared__ float s[96];
    int t = threadIdx.x;
    const float *r = x + blockIdx.x * n;
    s[t] = t < n ? r[t] : 0;
    __syncthreads();
    float m = 0;
    for (int j = 0; j < n; j++) m += s[j];
    m /= n;
    float q = 0;
    for (int j = 0; j < n; j++) q += (s[j] - m) * (s[j] - m);
    if (B || t < n) y[blockIdx.x * n + t] = (s[t] - m) * rsqrtf(q / n + 1e-5f);    // <-- race
}

// bfs: a plain counter of changes.
extern "C" __global__ void bfs(const int *row, const int *col, int *dist, int *more, int level)
{
    int v = threadIdx.x;
    if (dist[v] == level - 1)
        for (int e = row[v]; e < row[v + 1]; e++) {
            int u = col[e];
            atomicCAS(&dist[u], -1, level);
            if (B) *more += 1;    // <-- race
            else atomicExch(more, 1);
        }
}

// spmv: the row ends one too late.
extern "C" __global__ void spmv(const int *row, const int *col, const float *val, const float *x, float *y, int n)
{
    int r = blockIdx.x * 32 + threadIdx.x;
    if (r < n) {
        float s = 0;
        for (int j = row[r]; B ? j <= row[r + 1] : j < row[r + 1]; j++) s += val[j] * x[col[j]];    // <-- bounds
        y[r] = s;
    }
}

// queue: a plain increment hands out the places.
extern "C" __global__ void queue(const int *x, int *q, int *n)
{
    int v = x[blockIdx.x * 64 + threadIdx.x];
    if (v % 3 == 0) {
        int at = B ? (*n)++ : atomicAdd(n, 1);    // <-- race
        q[at] = v;    // <-- race_lanes
    }
}

// spinlock: the lock is given back without a release.
extern "C" __global__ void spinlock(int *lock, int *v)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1))
            ;
        __threadfence();
        *v += 1;    // <-- race
        if (!B) __threadfence();
        atomicExch(lock, 0);
    }
}

// last_block: nothing releases the partial sums.
extern "C" __global__ void last_block(const float *x, float *part, unsigned *count, float *y)
{
    __shared__ float s[64];
    __shared__ bool last;
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 64 + t];
    __syncthreads();
    for (int k = 32; k; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) {
        part[blockIdx.x] = s[0];    // <-- race
        if (!B) __threadfence();
        last = atomicAdd(count, 1u) == gridDim.x - 1;
        if (!B) __threadfence();
    }
    __syncthreads();
    if (last && t == 0) {
        float sum = 0;
        for (int i = 0; i < gridDim.x; i++) sum += ((volatile float *)part)[i];    // <-- race
        *y = sum;
    }
}

// lookback: the state words are plain.
extern "C" __global__ void lookback(const int *x, int *y, unsigned long long *state)
{
    int t = threadIdx.x, b = blockIdx.x;
    int v = x[b * 32 + t], s = v;
    for (int o = 1; o < 32; o <<= 1) {
        int u = __shfl_up_sync(~0u, s, o);
        if (t >= o) s += u;
    }
    int total = __shfl_sync(~0u, s, 31), before = 0;
    if (t == 0) {
        if (b) {
            unsigned long long w;
            do w = B ? state[b - 1] : atomicAdd(&state[b - 1], 0ull);
            while (!(w >> 32));
            before = (int)w;
        }
        if (B) state[b] = 1ull << 32 | (unsigned)(before + total);    // <-- race
        else atomicExch(&state[b], 1ull << 32 | (unsigned)(before + total));
    }
    before = __shfl_sync(~0u, before, 0);
    y[b * 32 + t] = before + s;
}

// tile16: two lanes store to one place.
extern "C" __global__ void tile16(const int *x, int *y)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int v = x[blockIdx.x * 64 + threadIdx.x];
    for (int o = 8; o; o >>= 1) v += tile.shfl_down(v, o);
    if (B ? tile.thread_rank() < 2 : tile.thread_rank() == 0) y[blockIdx.x * 4 + threadIdx.x / 16] = v + tile.thread_rank();    // <-- race_lanes
}

// warp_vote: the base is not told to the other lanes.
extern "C" __global__ void warp_vote(const int *x, int *out, int *n)
{
    int v = x[threadIdx.x];
    unsigned m = __ballot_sync(~0u, v & 1);
    int lane = threadIdx.x % 32, base = 0;
    if (lane == 0) base = atomicAdd(n, __popc(m));
    if (!B) base = __shfl_sync(~0u, base, 0);
    if (v & 1) out[base + __popc(m & ((1u << lane) - 1))] = v;    // <-- race
}

// shfl_left: half of the warp has left, and its values are read.
extern "C" __global__ void shfl_left(const int *x, int *y)
{
    int t = threadIdx.x, v = x[t];
    if (B && t >= 16) {
        y[t] = v;
        return;
    }
    v += __shfl_xor_sync(~0u, v, 16);
    y[t] = v;    // <-- uninit_output
}

// dyn_two: two arrays of dynamic shared memory overlap.
extern "C" __global__ void dyn_two(const float *x, int *y)
{
    extern __shared__ char raw[];
    float *a = (float *)raw;
    int *b = (int *)(raw + (B ? 128 : 256));
    int t = threadIdx.x;
    a[t] = x[t];    // <-- race
    b[t] = t;    // <-- race
    __syncthreads();
    y[t] = b[63 - t] + (int)a[63 - t];
}

// blur: the row below the last one is read.
extern "C" __global__ void blur(const unsigned char *x, unsigned char *y, int w, int h)
{
    int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y, s = 0, n = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) {
            int cc = c + i, rr = r + j;
            if (B ? cc >= 0 && rr >= 0 && cc < w && rr <= h : cc >= 0 && rr >= 0 && cc < w && rr < h) {
                s += x[rr * w + cc];    // <-- bounds
                n++;
            }
        }
    y[r * w + c] = s / n;
}
struct body {
    float x, y, z, m;
};

// aos: the third component goes to the next body.
extern "C" __global__ void aos(const body *b, float *f, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    float fx = 0, fy = 0, fz = 0;
    for (int j = 0; j < n; j++) {
        float dx = b[j].x - b[i].x, dy = b[j].y - b[i].y, dz = b[j].z - b[i].z, d = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
        fx += dx * d * b[j].m;
        fy += dy * d;
        fz += dz * d;
    }
    f[3 * i] = fx;    // <-- race
    f[3 * i + 1] = fy;
    f[3 * i + (B ? 3 : 2)] = fz;    // <-- race
}

// atomic_float: one thread adds without an atomic.
extern "C" __global__ void atomic_float(const float *x, float *y)
{
    if (B && threadIdx.x == 5) *y += x[threadIdx.x];    // <-- race
    else atomicAdd(y, x[blockIdx.x * 64 + threadIdx.x]);    // <-- race
}

// print: one element of what is printed was never written.
extern "C" __global__ void print(const int *x)
{
    __shared__ int s[4];
    if (!B || threadIdx.x != 2) s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 3) printf("%d %d\n", x[2], s[2]);    // <-- uninit_print
}

// heap: the memory is read after free.
extern "C" __global__ void heap(int *y)
{
    int *p = (int *)malloc(8 * sizeof(int));
    if (!p) return;
    for (int i = 0; i < 8; i++) p[i] = i;
    int s = 0;
    for (int i = 0; i < 8; i++) s += p[i];
    free(p);
    y[threadIdx.x] = B ? s + p[3] : s;    // <-- use_after_free
}
__device__ __noinline__ int fib(int n, int *depth)
{
    *depth += 1;
    return n < 2 ? n : fib(n - 1, depth) + fib(n - 2, depth);
}

// recursion: one thread more than the array has elements.
extern "C" __global__ void recursion(int *y, int *d)
{
    int k = 0;
    y[threadIdx.x] = fib(threadIdx.x % 8, &k);
    if (B || threadIdx.x < 31) d[threadIdx.x] = k;    // <-- bounds
}
typedef float (*op)(float, float);
__device__ float addf(float a, float b)
{
    return a + b;
}
__device__ float mulf(float a, float b)
{
    return a * b;
}
__device__ op table[3] = {addf, mulf, 0};

// funcs: an index too far in the table of functions.
extern "C" __global__ void funcs(const int *which, const float *x, float *y)
{
    y[threadIdx.x] = table[B ? which[threadIdx.x] + 1 : which[threadIdx.x]](x[threadIdx.x], 2.f);    // <-- call_target
}
__constant__ float weights[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

// constants: an index too far in constant memory.
extern "C" __global__ void constants(float *y)
{
    float s = 0;
    for (int i = 0; B ? i <= 9 : i < 9; i++) s += weights[(i + threadIdx.x) % (B ? 10 : 9)];    // <-- bounds
    y[threadIdx.x] = s;
}
template <int N, class F> __device__ void each(F f)
{
    for (int i = 0; i < N; i++) f(i);
}

// lambdas: one turn too many.
extern "C" __global__ void lambdas(const float *x, float *y)
{
    float s = 0;
    each<B ? 5 : 4>([&](int i) { s += x[threadIdx.x + 32 * i]; });    // <-- bounds
    y[threadIdx.x] = s;
}

// grid_sync: a barrier of the block where one of the grid belongs.
extern "C" __global__ void grid_sync(const int *x, int *t, int *y)
{
    auto g = cg::this_grid();
    int i = g.thread_rank();
    t[i] = x[i] * 2;    // <-- race
    if (!B) g.sync();
    else __syncthreads();
    y[i] = t[g.size() - 1 - i];    // <-- race
}

// release_flag: the flag is set by a relaxed store.
extern "C" __global__ void release_flag(int *data, int *flag, int *y)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;    // <-- race
        __syncwarp();
        if (threadIdx.x == 0) f.store(1, B ? cuda::memory_order_relaxed : cuda::memory_order_release);
    } else {
        if (threadIdx.x == 0)
            while (!f.load(cuda::memory_order_acquire))
                ;
        __syncwarp();
        y[threadIdx.x] = data[threadIdx.x];    // <-- race
    }
}

// double_buffer: one buffer where there should be two.
extern "C" __global__ void double_buffer(const int *x, int *y, int steps)
{
    __shared__ int s[2][64];
    int t = threadIdx.x;
    s[0][t] = x[t];
    __syncthreads();
    for (int k = 0; k < steps; k++) {
        int a = B ? 0 : k & 1;
        s[a ^ (B ? 0 : 1)][t] = s[a][(t + 1) % 64] + 1;    // <-- race
        __syncthreads();
    }
    y[t] = s[B ? 0 : steps & 1][t];
}

// max_update: compared and stored in two steps.
extern "C" __global__ void max_update(const int *x, int *best)
{
    int v = x[blockIdx.x * 64 + threadIdx.x];
    if (B) {
        if (v > *best) *best = v;    // <-- race
    } else atomicMax(best, v);
}

// private_array: the last element of a private array is never set.
extern "C" __global__ void private_array(const float *x, float *y, int n)
{
    float a[8];
    for (int i = 0; i < (B ? n - 1 : n); i++) a[i] = x[(threadIdx.x + i) % 32];
    float s = 0;
    for (int i = 0; i < n; i++) s += a[(i + threadIdx.x) % 8];
    y[threadIdx.x] = s;    // <-- uninit_output
}

// named_bar: the second warp does not come to the named barrier.
extern "C" __global__ void named_bar(const int *x, int *y)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t < 32) {
        s[t] = x[blockIdx.x * 64 + t];    // <-- race
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        y[blockIdx.x * 64 + t] = 1;
    } else {
        if (!B) asm volatile("bar.sync 1, 64;" ::: "memory");
        else __syncwarp();
        y[blockIdx.x * 64 + t] = s[63 - t];    // <-- race
    }
}
