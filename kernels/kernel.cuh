// What the kernels of this folder share: a block's walk along rows, 16 bytes at a time where addresses allow it. All
// arithmetic is in f32, whatever the arrays hold.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>
#include "sums.cuh"

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

// N elements from i on, one by one.
template <int N, typename T> __device__ chunk<T, N> gather(strided<T> x, int i)
{
    chunk<T, N> c;
    for (int k = 0; k < N; k++) c.set(k, x[i + k]);
    return c;
}

// The same, in one access where they lie on a boundary.
template <int N, typename T> __device__ chunk<T, N> load(strided<T> x, int i)
{
    if (x.step == 1 && (size_t)(x.p + i) % sizeof(chunk<T, N>) == 0) return *(const chunk<T, N> *)(x.p + i);
    return gather<N>(x, i);
}

template <int N, typename T> __device__ chunk<T, N> load(const T *x, int i) { return load<N>(strided<T>(x, 1), i); }

template <typename T, int N> __device__ void store(T *y, int i, chunk<T, N> c)
{
    if ((size_t)(y + i) % sizeof c == 0)
        *(chunk<T, N> *)(y + i) = c;
    else
        for (int k = 0; k < N; k++) y[i + k] = c.get(k);
}

// How thread `me` of `all` goes along rows of n elements: single elements up to the first boundary, chunks of N up to
// `tail`, and the single elements that remain. Where it keeps what it reads, its first KEPT chunks have numbers that
// the compiler knows. A SHORT path is nothing but these.
constexpr int KEPT = 4;
template <int N, bool SHORT = false> struct path {
    int n, me, all, head, tail;
    bool on_boundaries; // all that is read along it lies on boundaries

    template <typename F, typename G> __device__ void walk(F element, G elements) const
    {
        if constexpr (!SHORT)
            for (int i = me; i < head; i += all) element(i);
        unsigned i = head + me * N;
#pragma unroll
        for (int kept = 0; kept < KEPT; kept++, i += all * N)
            if (i < tail) elements(i, kept);
        if constexpr (!SHORT) {
            for (; i < tail; i += all * N) elements(i, KEPT);
            for (int i = tail + me; i < n; i += all) element(i);
        }
    }

    // The same with SHORT paths in place of chunks, one behind the other.
    template <typename F, typename G> __device__ void walk_parts(F element, G part) const
    {
        for (int i = me; i < head; i += all) element(i);
        for (int first = head; first < tail; first += KEPT * all * N)
            part(path<N, true>{ n, me, all, first, tail, on_boundaries });
        for (int i = tail + me; i < n; i += all) element(i);
    }
};

// The path with the boundaries of x.
template <typename T> __device__ path<IN_CHUNK<T>> along(const T *x, int n, int me, int all)
{
    constexpr int N = IN_CHUNK<T>;
    int head = min(n, int(-(size_t)x % 16 / sizeof(T)));
    return { n, me, all, head, n - (n - head) % N, false };
}

// The same for the threads of a block.
template <typename T> __device__ path<IN_CHUNK<T>> along(const T *x, int n)
{
    return along(x, n, threadIdx.x, blockDim.x);
}

// Calls f with the path along y, a short one where that is possible: fewer instructions, which is what a row of a few
// hundred elements costs, and what matters where arithmetic takes as long as memory does.
template <typename T, typename F, typename... R>
__device__ void with_path(F f, T *y, int n, int me, int all, strided<R>... x)
{
    constexpr int N = IN_CHUNK<T>;
    bool on_boundaries = (((size_t)x.p % 16 == 0 && x.step == 1) && ...);
    if (on_boundaries && (size_t)y % 16 == 0 && n % N == 0 && n <= KEPT * N * (long long)all)
        f(path<N, true>{ n, me, all, 0, n, true });
    else
        f(along(y, n, me, all));
}
template <typename T, typename F, typename... R> __device__ void with_path(F f, T *y, int n, strided<R>... x)
{
    with_path(f, y, n, threadIdx.x, blockDim.x, x...);
}

// A row that is walked along more than once, or that is asked for in parts: a thread has its first chunks in registers.
template <typename T> struct kept_row {
    strided<T> x;
    chunk<T> c[KEPT];

    template <bool SHORT> __device__ kept_row(strided<T> x, path<IN_CHUNK<T>, SHORT> p) : x(x)
    {
        constexpr int N = IN_CHUNK<T>;
        unsigned i = p.head + p.me * N, next = p.all * N;
        if (p.on_boundaries || (x.step == 1 && (size_t)(x.p + p.head) % 16 == 0)) {
#pragma unroll
            for (int kept = 0; kept < KEPT; kept++, i += next) // decided once: nothing waits before all are asked for
                if (i < p.tail) c[kept] = *(const chunk<T> *)(x.p + i);
        } else {
#pragma unroll
            for (int kept = 0; kept < KEPT; kept++, i += next)
                if (i < p.tail) c[kept] = gather<N>(x, i);
        }
    }
    template <bool SHORT>
    __device__ kept_row(const T *x, path<IN_CHUNK<T>, SHORT> p) : kept_row(strided<T>(x, 1), p)
    {
    }
    __device__ T operator[](int i) const { return x[i]; }
};

template <typename R> constexpr bool IS_KEPT = false;
template <typename T> constexpr bool IS_KEPT<kept_row<T>> = true;

template <int N, bool SHORT, typename T> __device__ auto chunk_at(path<N, SHORT> p, strided<T> x, int i, int)
{
    return p.on_boundaries ? *(const chunk<T, N> *)(x.p + i) : load<N>(x, i);
}
template <int N, bool SHORT, typename T> __device__ auto chunk_at(path<N, SHORT> p, const T *x, int i, int kept)
{
    return chunk_at(p, strided<T>(x, 1), i, kept);
}
template <int N, bool SHORT, typename T>
__device__ auto chunk_at(path<N, SHORT>, const kept_row<T> &x, int i, int kept)
{
    return kept < KEPT ? x.c[kept] : load<N>(x.x, i);
}

// Calls f(i, x[i]...) for the elements along a path.
template <int N, bool SHORT, typename F, typename... R> __device__ void each(path<N, SHORT> p, F f, const R &...x)
{
    auto element = [&](int i) { f(i, float(x[i])...); };
    auto calls = [&](int i, auto... c) {
        for (int k = 0; k < N; k++) f(i + k, float(c.get(k))...);
    };
    if constexpr ((SHORT || ... || IS_KEPT<R>))
        p.walk(element, [&](int i, int kept) { calls(i, chunk_at(p, x, i, kept)...); });
    else
        p.walk_parts(element, [&](auto part) { each(part, f, kept_row(x, part)...); });
}

// y[i] = f(i, x[i]...) for the elements along a path, which is one along y.
template <int N, bool SHORT, typename T, typename F, typename... R>
__device__ void write_each(path<N, SHORT> p, T *y, F f, const R &...x)
{
    auto element = [&](int i) { y[i] = T(f(i, float(x[i])...)); };
    auto made = [&](int i, auto... c) {
        chunk<T, N> out;
        for (int k = 0; k < N; k++) out.set(k, T(f(i + k, float(c.get(k))...)));
        *(chunk<T, N> *)(y + i) = out;
    };
    if constexpr ((SHORT || ... || IS_KEPT<R>))
        p.walk(element, [&](int i, int kept) { made(i, chunk_at(p, x, i, kept)...); });
    else
        p.walk_parts(element, [&](auto part) { write_each(part, y, f, kept_row(x, part)...); });
}
