// What the kernels of this folder share: a block's walk along rows, 16 bytes at a time where addresses allow it, and
// sums over a warp and a block. All arithmetic is in f32, whatever the arrays hold.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>

// What a thread moves at once: N neighbouring elements, 16 bytes unless told. They are held in words, as they come from
// memory, so that a thread can wait for several chunks at a time.
template <typename T, int N = 16 / sizeof(T)> struct alignas(N * sizeof(T)) chunk {
    unsigned word[N * sizeof(T) / 4];

    __device__ T get(int k) const
    {
        if constexpr (sizeof(T) == 4) return __uint_as_float(word[k]);
        unsigned short half = word[k / 2] >> k % 2 * 16;
        return *(T *)&half;
    }
    __device__ void set(int k, T v) // in the order of k
    {
        if constexpr (sizeof(T) == 4)
            word[k] = __float_as_uint(v);
        else
            word[k / 2] = *(unsigned short *)&v << k % 2 * 16 | (k % 2 ? word[k / 2] : 0);
    }
};
template <typename T> constexpr int IN_CHUNK = 16 / sizeof(T);

// Elements that lie a step apart; a step of 0 repeats one.
template <typename T> struct strided {
    const T *p;
    long long step;
    __device__ strided(const T *p, long long step) : p(p), step(step) {}
    __device__ T operator[](int i) const { return p[i * step]; }
};

// N elements from i on: in one access where they lie on a boundary.
template <int N, typename T> __device__ chunk<T, N> load(const T *x, int i)
{
    chunk<T, N> c;
    if ((size_t)(x + i) % sizeof c == 0) return *(const chunk<T, N> *)(x + i);
    for (int k = 0; k < N; k++) c.set(k, x[i + k]);
    return c;
}

template <int N, typename T> __device__ chunk<T, N> load(strided<T> x, int i)
{
    if (x.step == 1) return load<N>(x.p, i);
    chunk<T, N> c;
    for (int k = 0; k < N; k++) c.set(k, x[i + k]);
    return c;
}

template <typename T, int N> __device__ void store(T *y, int i, chunk<T, N> c)
{
    if ((size_t)(y + i) % sizeof c == 0)
        *(chunk<T, N> *)(y + i) = c;
    else
        for (int k = 0; k < N; k++) y[i + k] = c.get(k);
}

// How thread `me` of `all` goes along rows of n elements: single elements up to the first boundary, chunks of N up to
// `tail`, and the single elements that remain. Where it keeps what it reads, its first KEPT chunks have numbers that
// the compiler knows.
constexpr int KEPT = 4;
template <int N> struct path {
    int n, me, all, head, tail;

    template <bool KEEPS, typename F, typename G> __device__ void walk(F element, G elements) const
    {
        for (int i = me; i < head; i += all) element(i);
        int i = head + me * N;
        if constexpr (KEEPS) {
#pragma unroll
            for (int kept = 0; kept < KEPT; kept++, i += all * N)
                if (i < tail) elements(i, kept);
        }
        for (; i < tail; i += all * N) elements(i, KEPT);
        for (int i = tail + me; i < n; i += all) element(i);
    }
};

// The path with the boundaries of x.
template <typename T> __device__ path<IN_CHUNK<T>> along(const T *x, int n, int me, int all)
{
    constexpr int N = IN_CHUNK<T>;
    int head = min(n, int(-(size_t)x % 16 / sizeof(T)));
    return { n, me, all, head, n - (n - head) % N };
}

// The same for the threads of a block.
template <typename T> __device__ path<IN_CHUNK<T>> along(const T *x, int n)
{
    return along(x, n, threadIdx.x, blockDim.x);
}

// A row that is walked along more than once: a thread keeps its first chunks in registers.
template <typename T> struct kept_row {
    strided<T> x;
    chunk<T> c[KEPT];

    __device__ kept_row(strided<T> x, path<IN_CHUNK<T>> p) : x(x)
    {
        constexpr int N = IN_CHUNK<T>;
        int i = p.head + p.me * N, next = p.all * N;
        if (x.step == 1 && (size_t)(x.p + p.head) % 16 == 0) { // decided once: nothing waits before all are asked for
#pragma unroll
            for (int kept = 0; kept < KEPT; kept++, i += next)
                if (i < p.tail) c[kept] = *(const chunk<T> *)(x.p + i);
        } else {
#pragma unroll
            for (int kept = 0; kept < KEPT; kept++, i += next)
                for (int k = 0; i < p.tail && k < N; k++) c[kept].set(k, x[i + k]);
        }
    }
    __device__ kept_row(const T *x, path<IN_CHUNK<T>> p) : kept_row(strided<T>(x, 1), p) {}
    __device__ T operator[](int i) const { return x[i]; }
};

template <typename R> constexpr bool IS_KEPT = false;
template <typename T> constexpr bool IS_KEPT<kept_row<T>> = true;

template <int N, typename R> __device__ auto chunk_at(const R &x, int i, int) { return load<N>(x, i); }
template <int N, typename T> __device__ chunk<T> chunk_at(const kept_row<T> &x, int i, int kept)
{
    return kept < KEPT ? x.c[kept] : load<N>(x.x, i);
}

// Calls f(i, x[i]...) for the elements along a path.
template <int N, typename F, typename... R> __device__ void each(path<N> p, F f, const R &...x)
{
    auto calls = [&](int i, auto... c) {
        for (int k = 0; k < N; k++) f(i + k, float(c.get(k))...);
    };
    p.template walk<(false || ... || IS_KEPT<R>)>([&](int i) { f(i, float(x[i])...); },
                                                  [&](int i, int kept) { calls(i, chunk_at<N>(x, i, kept)...); });
}

// y[i] = f(i, x[i]...) for the elements along a path.
template <int N, typename T, typename F, typename... R> __device__ void write_each(path<N> p, T *y, F f, const R &...x)
{
    auto made = [&](int i, auto... c) {
        chunk<T> out;
        for (int k = 0; k < N; k++) out.set(k, T(f(i + k, float(c.get(k))...)));
        return out;
    };
    p.template walk<(false || ... || IS_KEPT<R>)>(
        [&](int i) { y[i] = T(f(i, float(x[i])...)); },
        [&](int i, int kept) { store(y, i, made(i, chunk_at<N>(x, i, kept)...)); });
}

// exp(x) by the unit for powers of two: within 2^-22 of it for every 1 that x is below 0.
__device__ inline float fast_exp(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.44269504f));
    return y;
}

__device__ inline float warp_sum(float v)
{
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(~0u, v, step);
    return v;
}

__device__ inline float warp_max(float v)
{
    for (int step = 16; step > 0; step /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, step));
    return v;
}

// The sum over a block of whole warps, the same for every thread and in every run.
__device__ inline float block_sum(float v)
{
    __shared__ float part[32];
    int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    v = warp_sum(v);
    __syncthreads(); // the parts of the sum before may still be read
    if (lane == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    return warp_sum(lane < warps ? part[lane] : 0.0f);
}

// The largest over a block of whole warps, the same for every thread.
__device__ inline float block_max(float v)
{
    __shared__ float part[32];
    int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    v = warp_max(v);
    __syncthreads();
    if (lane == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    return warp_max(lane < warps ? part[lane] : -INFINITY);
}
