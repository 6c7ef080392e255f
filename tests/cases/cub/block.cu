// regen: xz -arch=sm_80 -std=c++17
// CUB as correct code: every algorithm, odd sizes, types of 1 to 16 bytes, parts of tiles, operators of our own.
#include <cub/cub.cuh>
#include <cub/block/block_shuffle.cuh>
struct most {
    template <class T> __device__ T operator()(T a, T b) const
    {
        return a > b ? a : b;
    }
};
struct point {
    double x;
    int n;
    char tag;
};
struct add_point {
    __device__ point operator()(const point &a, const point &b) const
    {
        point p;
        p.x = a.x + b.x;
        p.n = a.n + b.n;
        p.tag = a.tag > b.tag ? a.tag : b.tag;
        return p;
    }
};
struct cuda_less {
    template <class T> __device__ bool operator()(const T &a, const T &b) const
    {
        return a < b;
    }
};
// reduce
template <class T, int N, cub::BlockReduceAlgorithm A> __device__ void red(const T *x, T *y, int n)
{
    using B = cub::BlockReduce<T, N, A>;
    __shared__ typename B::TempStorage s;
    T v = x[threadIdx.x];
    T a = B(s).Sum(v);
    __syncthreads();
    T b = B(s).Sum(v, n);
    __syncthreads();
    T c = A == cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY ? B(s).Reduce(v, most()) : B(s).Reduce(v, most(), n);
    __syncthreads();
    T w[3] = {v, (T)(v + 1), (T)(v + 2)};
    T d = B(s).Reduce(w, most());
    if (threadIdx.x == 0) {
        y[0] = a;
        y[1] = b;
        y[2] = c;
        y[3] = d;
    }
}
#ifndef SOME
extern "C" __global__ void red1(const int *x, int *y, int n)
{
    red<int, 100, cub::BLOCK_REDUCE_WARP_REDUCTIONS>(x, y, n);
}
#endif
extern "C" __global__ void red2(const double *x, double *y, int n)
{
    red<double, 100, cub::BLOCK_REDUCE_RAKING>(x, y, n);
}
#ifndef SOME
extern "C" __global__ void red3(const unsigned short *x, unsigned short *y, int n)
{
    red<unsigned short, 128, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>(x, y, n);
}
#endif
#ifndef SOME
extern "C" __global__ void red4(const unsigned char *x, unsigned char *y, int n)
{
    red<unsigned char, 256, cub::BLOCK_REDUCE_RAKING>(x, y, n);
}
#endif
extern "C" __global__ void red_point(const double *x, double *y)
{
    using B = cub::BlockReduce<point, 70>;
    __shared__ B::TempStorage s;
    point p;
    p.x = x[threadIdx.x];
    p.n = 1;
    p.tag = threadIdx.x;
    p = B(s).Reduce(p, add_point(), 61);
    if (threadIdx.x == 0) {
        y[0] = p.x;
        y[1] = p.n + p.tag;
    }
}
// scan
struct running {
    int total;
    __device__ int operator()(int all)
    {
        int old = total;
        total += all;
        return old;
    }
};
template <class T, int N, cub::BlockScanAlgorithm A> __device__ void scan(const T *x, T *y)
{
    using B = cub::BlockScan<T, N, A>;
    __shared__ typename B::TempStorage s;
    T v = x[threadIdx.x], r, all;
    T *o = y + threadIdx.x * 12;
    B(s).InclusiveSum(v, r);
    o[0] = r;
    __syncthreads();
    B(s).ExclusiveSum(v, r, all);
    o[1] = r;
    o[2] = all;
    __syncthreads();
    B(s).InclusiveScan(v, r, most(), all);
    o[3] = r;
    __syncthreads();
    B(s).ExclusiveScan(v, r, (T)-5, most(), all);
    o[4] = r;
    o[5] = all;
    __syncthreads();
    B(s).ExclusiveScan(v, r, most());
    o[6] = threadIdx.x ? r : 0;
    __syncthreads();
    T w[3] = {v, 1, v};
    B(s).ExclusiveSum(w, w);
    o[7] = w[2];
    __syncthreads();
    B(s).InclusiveScan(w, w, most());
    o[8] = w[0];
    __syncthreads();
    B(s).ExclusiveScan(w, w, (T)7, most());
    o[9] = w[1];
    __syncthreads();
    B(s).ExclusiveScan(w, w, most(), all);
    o[10] = threadIdx.x ? w[0] : 0;
    o[11] = all;
}
#ifndef SOME
extern "C" __global__ void scan1(const int *x, int *y)
{
    scan<int, 100, cub::BLOCK_SCAN_WARP_SCANS>(x, y);
}
#endif
#ifndef SOME
extern "C" __global__ void scan2(const long long *x, long long *y)
{
    scan<long long, 160, cub::BLOCK_SCAN_RAKING>(x, y);
}
#endif
#ifndef SOME
extern "C" __global__ void scan3(const float *x, float *y)
{
    scan<float, 128, cub::BLOCK_SCAN_RAKING_MEMOIZE>(x, y);
}
#endif
extern "C" __global__ void scan4(const unsigned char *x, unsigned char *y)
{
    scan<unsigned char, 64, cub::BLOCK_SCAN_WARP_SCANS>(x, y);
}
#ifndef SOME
extern "C" __global__ void scan_prefix(const int *x, int *y)
{
    using B = cub::BlockScan<int, 96>;
    __shared__ B::TempStorage s;
    running r = {3};
    for (int k = 0; k < 5; k++) {
        int v = x[k * 96 + threadIdx.x];
        B(s).ExclusiveSum(v, v, r);
        y[k * 96 + threadIdx.x] = v;
        __syncthreads();
    }
}
#endif
#ifndef SOME
extern "C" __global__ void scan_point(const double *x, double *y)
{
    using B = cub::BlockScan<point, 96>;
    __shared__ B::TempStorage s;
    point p, q;
    p.x = x[threadIdx.x];
    p.n = 1;
    p.tag = 2;
    point zero = {0, 0, 0};
    B(s).ExclusiveScan(p, q, zero, add_point());
    y[threadIdx.x] = q.x + q.n;
}
#endif
// warp
extern "C" __global__ void warps(const int *x, int *y, int n)
{
    __shared__ typename cub::WarpReduce<int>::TempStorage s[3];
    __shared__ typename cub::WarpReduce<int, 16>::TempStorage h[6];
    __shared__ typename cub::WarpScan<int>::TempStorage c[3];
    __shared__ typename cub::WarpScan<int, 8>::TempStorage e[12];
    int v = x[threadIdx.x], w = threadIdx.x / 32, *o = y + threadIdx.x * 10, r, q;
    r = cub::WarpReduce<int>(s[w]).Sum(v);
    o[0] = threadIdx.x % 32 ? 0 : r;
    __syncwarp();
    r = cub::WarpReduce<int>(s[w]).Sum(v, n);
    o[1] = threadIdx.x % 32 ? 0 : r;
    __syncwarp();
    r = cub::WarpReduce<int>(s[w]).Reduce(v, most());
    o[2] = threadIdx.x % 32 ? 0 : r;
    __syncwarp();
    r = cub::WarpReduce<int>(s[w]).HeadSegmentedSum(v, v % 7 == 0);
    o[3] = v % 7 ? 0 : r;
    __syncwarp();
    r = cub::WarpReduce<int>(s[w]).TailSegmentedReduce(v, v % 5 == 0, most());
    o[4] = threadIdx.x % 32 ? 0 : r;
    __syncwarp();
    r = cub::WarpReduce<int, 16>(h[threadIdx.x / 16]).Sum(v);
    o[5] = threadIdx.x % 16 ? 0 : r;
    cub::WarpScan<int>(c[w]).InclusiveSum(v, r);
    o[6] = r;
    __syncwarp();
    cub::WarpScan<int>(c[w]).ExclusiveScan(v, r, 5, most(), q);
    o[7] = r + q;
    __syncwarp();
    cub::WarpScan<int>(c[w]).Scan(v, r, q, most());
    o[8] = r + (threadIdx.x % 32 ? q : 0);
    __syncwarp();
    cub::WarpScan<int, 8>(e[threadIdx.x / 8]).ExclusiveSum(v, r, q);
    o[9] = r + q;
    r = cub::WarpScan<int>(c[w]).Broadcast(v, 3);
    o[9] += r;
}
#ifndef SOME
extern "C" __global__ void warps_double(const double *x, double *y)
{
    __shared__ typename cub::WarpReduce<double>::TempStorage s[2];
    __shared__ typename cub::WarpScan<double>::TempStorage c[2];
    double v = x[threadIdx.x], r;
    r = cub::WarpReduce<double>(s[threadIdx.x / 32]).Reduce(v, most(), 20);
    y[threadIdx.x] = threadIdx.x % 32 ? 0 : r;
    cub::WarpScan<double>(c[threadIdx.x / 32]).ExclusiveSum(v, r);
    y[64 + threadIdx.x] = r;
}
#endif
// sort
template <class T, class V, int N, int I> __device__ void radix(T *k, V *v)
{
    using B = cub::BlockRadixSort<T, N, I, V>;
    __shared__ typename B::TempStorage s;
    T a[I];
    V b[I];
    for (int i = 0; i < I; i++) {
        a[i] = k[threadIdx.x * I + i];
        b[i] = threadIdx.x * I + i;
    }
    B(s).Sort(a, b);
    __syncthreads();
    B(s).SortDescending(a, b, 0, 9);
    __syncthreads();
    B(s).SortBlockedToStriped(a, b);
    for (int i = 0; i < I; i++) {
        k[threadIdx.x + N * i] = a[i];
        v[threadIdx.x + N * i] = b[i];
    }
}
extern "C" __global__ void radix1(int *k, int *v)
{
    radix<int, int, 96, 4>(k, v);
}
#ifndef SOME
extern "C" __global__ void radix2(double *k, unsigned char *v)
{
    radix<double, unsigned char, 64, 3>(k, v);
}
#endif
#ifndef SOME
extern "C" __global__ void radix3(unsigned short *k, long long *v)
{
    radix<unsigned short, long long, 100, 1>(k, v);
}
#endif
#ifndef SOME
extern "C" __global__ void radix_keys(float *k)
{
    using B = cub::BlockRadixSort<float, 128, 8>;
    __shared__ B::TempStorage s;
    float a[8];
    cub::LoadDirectBlocked(threadIdx.x, k, a);
    B(s).Sort(a);
    cub::StoreDirectBlocked(threadIdx.x, k, a);
}
#endif
extern "C" __global__ void merge1(int *k, int *v)
{
    using B = cub::BlockMergeSort<int, 128, 5, int>;
    __shared__ B::TempStorage s;
    int a[5], b[5];
    for (int i = 0; i < 5; i++) {
        a[i] = k[threadIdx.x * 5 + i];
        b[i] = i;
    }
    B(s).Sort(a, b, cuda_less());
    for (int i = 0; i < 5; i++) {
        k[threadIdx.x * 5 + i] = a[i];
        v[threadIdx.x * 5 + i] = b[i];
    }
}
#ifndef SOME
extern "C" __global__ void merge2(double *k, int n)
{
    using B = cub::BlockMergeSort<double, 128, 5>;
    __shared__ B::TempStorage s;
    double a[5];
    for (int i = 0; i < 5; i++) {
        int j = threadIdx.x * 5 + i;
        if (j < n) a[i] = k[j];
    }
    B(s).StableSort(a, cuda_less(), n, 1e300);
    for (int i = 0; i < 5; i++) {
        int j = threadIdx.x * 5 + i;
        if (j < n) k[j] = a[i];
    }
}
#endif
#ifndef SOME
extern "C" __global__ void merge_warp(int *k, int *v)
{
    using W = cub::WarpMergeSort<int, 4, 16, int>;
    __shared__ W::TempStorage s[4];
    int a[4], b[4];
    for (int i = 0; i < 4; i++) {
        a[i] = k[threadIdx.x * 4 + i];
        b[i] = threadIdx.x;
    }
    W(s[threadIdx.x / 16]).Sort(a, b, cuda_less());
    for (int i = 0; i < 4; i++) {
        k[threadIdx.x * 4 + i] = a[i];
        v[threadIdx.x * 4 + i] = b[i];
    }
}
#endif
// exchange
extern "C" __global__ void exchange(const int *x, int *y)
{
    using B = cub::BlockExchange<int, 96, 4>;
    __shared__ B::TempStorage s;
    int v[4], r[4];
    for (int i = 0; i < 4; i++) {
        v[i] = x[threadIdx.x * 4 + i];
    }
    B(s).BlockedToStriped(v, v);
    __syncthreads();
    B(s).StripedToBlocked(v, r);
    __syncthreads();
    B(s).BlockedToWarpStriped(r, r);
    __syncthreads();
    B(s).WarpStripedToBlocked(r, v);
    __syncthreads();
    int where[4];
    for (int i = 0; i < 4; i++) where[i] = 383 - (threadIdx.x * 4 + i);
    B(s).ScatterToBlocked(v, v, where);
    __syncthreads();
    B(s).ScatterToStriped(v, v, where);
    __syncthreads();
    int flag[4];
    for (int i = 0; i < 4; i++) {
        flag[i] = 1;
        where[i] = threadIdx.x * 4 + i;
    }
    B(s).ScatterToStripedGuarded(v, v, where);
    __syncthreads();
    B(s).ScatterToStripedFlagged(v, v, where, flag);
    for (int i = 0; i < 4; i++) y[threadIdx.x + 96 * i] = v[i];
}
#ifndef SOME
extern "C" __global__ void exchange_sliced(const double *x, double *y)
{
    using B = cub::BlockExchange<double, 128, 3, true>;
    __shared__ B::TempStorage s;
    double v[3];
    for (int i = 0; i < 3; i++) v[i] = x[threadIdx.x * 3 + i];
    B(s).BlockedToStriped(v, v);
    __syncthreads();
    B(s).StripedToBlocked(v, v);
    __syncthreads();
    B(s).WarpStripedToBlocked(v, v);
    for (int i = 0; i < 3; i++) y[threadIdx.x * 3 + i] = v[i];
}
#endif
#ifndef SOME
extern "C" __global__ void exchange_warp(const int *x, int *y)
{
    using W = cub::WarpExchange<int, 4, 16>;
    __shared__ W::TempStorage s[4];
    using S = cub::WarpExchange<int, 4, 32, cub::WARP_EXCHANGE_SHUFFLE>;
    int v[4];
    for (int i = 0; i < 4; i++) v[i] = x[threadIdx.x * 4 + i];
    W w(s[threadIdx.x / 16]);
    w.BlockedToStriped(v, v);
    __syncwarp();
    w.StripedToBlocked(v, v);
    __syncwarp();
    int rank[4];
    for (int i = 0; i < 4; i++) rank[i] = 63 - (threadIdx.x % 16 * 4 + i);
    w.ScatterToStriped(v, rank);
    for (int i = 0; i < 4; i++) y[threadIdx.x * 4 + i] = v[i];
}
#endif
// histogram
#ifndef SOME
extern "C" __global__ void hist_atomic(const unsigned char *x, int *y)
{
    using B = cub::BlockHistogram<unsigned char, 96, 4, 256, cub::BLOCK_HISTO_ATOMIC>;
    __shared__ B::TempStorage s;
    __shared__ int h[256];
    unsigned char v[4];
    cub::LoadDirectStriped<96>(threadIdx.x, x + blockIdx.x * 384, v);
    B(s).Histogram(v, h);
    __syncthreads();
    B(s).Composite(v, h);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += 96) y[blockIdx.x * 256 + i] = h[i];
}
#endif
#ifndef SOME
extern "C" __global__ void hist_sort(const unsigned char *x, int *y)
{
    using B = cub::BlockHistogram<unsigned char, 96, 4, 256, cub::BLOCK_HISTO_SORT>;
    __shared__ B::TempStorage s;
    __shared__ int h[256];
    unsigned char v[4];
    cub::LoadDirectStriped<96>(threadIdx.x, x + blockIdx.x * 384, v);
    B(s).Histogram(v, h);
    __syncthreads();
    B(s).Composite(v, h);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += 96) y[blockIdx.x * 256 + i] = h[i];
}
#endif
// shuffle, difference, discontinuity
#ifndef SOME
extern "C" __global__ void shuffles(const int *x, int *y)
{
    using B = cub::BlockShuffle<int, 96>;
    __shared__ B::TempStorage s;
    int v = x[threadIdx.x], r = -1, *o = y + threadIdx.x * 5;
    B(s).Offset(v, r, 1);
    o[0] = r;
    __syncthreads();
    B(s).Rotate(v, r, 5);
    o[1] = r;
    __syncthreads();
    int a[2] = {v, v + 100}, b[2] = {0, 0};
    B(s).Up(a, b);
    o[2] = b[0] + b[1];
    __syncthreads();
    int suffix;
    B(s).Down(a, b);
    o[3] = b[0] + b[1];
    __syncthreads();
    B(s).Up(a, b, suffix);
    o[4] = b[1] + suffix;
}
#endif
struct minus_op {
    template <class T> __device__ T operator()(T a, T b) const
    {
        return a - b;
    }
};
#ifndef SOME
extern "C" __global__ void differences(const int *x, int *y)
{
    using B = cub::BlockAdjacentDifference<int, 96>;
    __shared__ B::TempStorage s;
    int v[3], r[3], *o = y + threadIdx.x * 15;
    for (int i = 0; i < 3; i++) v[i] = x[threadIdx.x * 3 + i];
    B(s).SubtractLeft(v, r, minus_op());
    for (int i = 0; i < 3; i++) o[i] = r[i];
    __syncthreads();
    B(s).SubtractRight(v, r, minus_op());
    for (int i = 0; i < 3; i++) o[3 + i] = r[i];
    __syncthreads();
    B(s).SubtractLeft(v, r, minus_op(), 7);
    for (int i = 0; i < 3; i++) o[6 + i] = r[i];
    __syncthreads();
    B(s).SubtractLeftPartialTile(v, r, minus_op(), 200);
    for (int i = 0; i < 3; i++) o[9 + i] = r[i];
    __syncthreads();
    B(s).SubtractRightPartialTile(v, r, minus_op(), 100);
    for (int i = 0; i < 3; i++) o[12 + i] = r[i];
}
#endif
struct differs {
    template <class T> __device__ bool operator()(const T &a, const T &b, int i = 0) const
    {
        return a != b;
    }
};
extern "C" __global__ void heads(const int *x, int *y)
{
    using B = cub::BlockDiscontinuity<int, 96>;
    __shared__ B::TempStorage s;
    int v[3], r[3], q[3], *o = y + threadIdx.x * 15;
    for (int i = 0; i < 3; i++) v[i] = x[threadIdx.x * 3 + i] / 4;
    B(s).FlagHeads(r, v, differs());
    for (int i = 0; i < 3; i++) o[i] = r[i];
    __syncthreads();
    B(s).FlagTails(r, v, differs());
    for (int i = 0; i < 3; i++) o[3 + i] = r[i];
    __syncthreads();
    B(s).FlagHeadsAndTails(r, q, v, differs());
    for (int i = 0; i < 3; i++) {
        o[6 + i] = r[i];
        o[9 + i] = q[i];
    }
    __syncthreads();
    B(s).FlagHeads(r, v, differs(), -1);
    for (int i = 0; i < 3; i++) o[12 + i] = r[i];
}
// load, store
template <class T, cub::BlockLoadAlgorithm L, cub::BlockStoreAlgorithm S> __device__ void move(const T *x, T *y, int n)
{
    using A = cub::BlockLoad<T, 64, 4, L>;
    using B = cub::BlockStore<T, 64, 4, S>;
    __shared__ union {
        typename A::TempStorage a;
        typename B::TempStorage b;
    } s;
    T v[4];
    x += blockIdx.x * 256;
    y += blockIdx.x * 256;
    int left = n - blockIdx.x * 256;
    if (left >= 256) A(s.a).Load(x, v);
    else A(s.a).Load(x, v, left, (T)0);
    __syncthreads();
    if (left >= 256) B(s.b).Store(y, v);
    else B(s.b).Store(y, v, left);
    __syncthreads();
    if (left < 256) {
        T u[4];
        A(s.a).Load(x, u, left);
        __syncthreads();
        B(s.b).Store(y, u, left);
    }
}
#ifndef SOME
extern "C" __global__ void move1(const int *x, int *y, int n)
{
    move<int, cub::BLOCK_LOAD_DIRECT, cub::BLOCK_STORE_DIRECT>(x, y, n);
}
#endif
#ifndef SOME
extern "C" __global__ void move2(const double *x, double *y, int n)
{
    move<double, cub::BLOCK_LOAD_VECTORIZE, cub::BLOCK_STORE_VECTORIZE>(x, y, n);
}
#endif
#ifndef SOME
extern "C" __global__ void move3(const unsigned char *x, unsigned char *y, int n)
{
    move<unsigned char, cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_TRANSPOSE>(x, y, n);
}
#endif
extern "C" __global__ void move4(const int *x, int *y, int n)
{
    move<int, cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_WARP_TRANSPOSE>(x, y, n);
}
#ifndef SOME
extern "C" __global__ void move5(const short *x, short *y, int n)
{
    move<short, cub::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED, cub::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>(x, y, n);
}
#endif
#ifndef SOME
extern "C" __global__ void move6(const int *x, int *y, int n)
{
    move<int, cub::BLOCK_LOAD_STRIPED, cub::BLOCK_STORE_STRIPED>(x, y, n);
}
#endif
extern "C" __global__ void runs(const int *x, int *y, int *total)
{
    using B = cub::BlockRunLengthDecode<int, 64, 2, 4>;
    __shared__ B::TempStorage s;
    int v[2], l[2];
    unsigned all = 0;
    for (int i = 0; i < 2; i++) {
        v[i] = x[threadIdx.x * 2 + i];
        l[i] = 1 + v[i] % 5;
    }
    B b(s, v, l, all);
    __syncthreads();
    for (unsigned at = 0; at < all; at += 256) {
        int o[4], r[4];
        b.RunLengthDecode(o, r, at);
        for (int i = 0; i < 4; i++)
            if (at + threadIdx.x * 4 + i < all) y[at + threadIdx.x * 4 + i] = o[i] * 10 + r[i];
        __syncthreads();
    }
    if (threadIdx.x == 0) *total = all;
}
#ifndef SOME
extern "C" __global__ void warp_moves(const int *x, int *y)
{
    using A = cub::WarpLoad<int, 4, cub::WARP_LOAD_TRANSPOSE, 16>;
    using B = cub::WarpStore<int, 4, cub::WARP_STORE_TRANSPOSE, 16>;
    __shared__ A::TempStorage a[4];
    __shared__ B::TempStorage b[4];
    int w = threadIdx.x / 16, v[4];
    A(a[w]).Load(x + w * 64, v, 60, -1);
    B(b[w]).Store(y + w * 64, v, 60);
}
#endif
