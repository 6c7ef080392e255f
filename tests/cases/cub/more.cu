// regen: -arch=sm_80
// More of CUB, block and warp wide, as correct code: nothing may be reported under any check. Odd sizes, f64, a type of our own.
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_run_length_decode.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cub/warp/warp_exchange.cuh>
struct point { double x; int id; };
struct nearer { __device__ point operator()(const point &a, const point &b) const { return b.x < a.x ? b : a; } };
struct less { __device__ bool operator()(int a, int b) const { return a < b; } };

template <cub::BlockReduceAlgorithm How> __device__ void reduce(const double *in, double *out, int n)
{
    using B = cub::BlockReduce<double, 96, How>;
    __shared__ typename B::TempStorage t;
    double v = threadIdx.x < n ? in[threadIdx.x] : 0;
    double all = B(t).Sum(v, n);
    __syncthreads();
    double most = B(t).Reduce(v, [](double a, double b) { return a > b ? a : b; });
    if (threadIdx.x == 0) { out[0] = all; out[1] = most; }
}
extern "C" __global__ void reduce_raking(const double *in, double *out, int n) { reduce<cub::BLOCK_REDUCE_RAKING>(in, out, n); }
extern "C" __global__ void reduce_commutative(const double *in, double *out, int n) { reduce<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>(in, out, n); }
extern "C" __global__ void reduce_warps(const double *in, double *out, int n) { reduce<cub::BLOCK_REDUCE_WARP_REDUCTIONS>(in, out, n); }
extern "C" __global__ void reduce_points(const double *in, double *out)
{
    using B = cub::BlockReduce<point, 100>;
    __shared__ typename B::TempStorage t;
    point p = { in[threadIdx.x], (int)threadIdx.x };
    p = B(t).Reduce(p, nearer());
    if (threadIdx.x == 0) { out[0] = p.x; out[1] = p.id; }
}
template <cub::BlockScanAlgorithm How> __device__ void scan(const int *in, int *out)
{
    using B = cub::BlockScan<int, 160, How>;
    __shared__ typename B::TempStorage t;
    int v[3], all;
    for (int k = 0; k < 3; k++) v[k] = in[threadIdx.x * 3 + k];
    B(t).InclusiveSum(v, v, all);
    __syncthreads();
    int w;
    B(t).ExclusiveScan(v[2], w, 0, [](int a, int b) { return a > b ? a : b; });
    for (int k = 0; k < 3; k++) out[threadIdx.x * 3 + k] = v[k] + all + w;
}
extern "C" __global__ void scan_raking(const int *in, int *out) { scan<cub::BLOCK_SCAN_RAKING>(in, out); }
extern "C" __global__ void scan_memoize(const int *in, int *out) { scan<cub::BLOCK_SCAN_RAKING_MEMOIZE>(in, out); }
extern "C" __global__ void scan_warps(const int *in, int *out) { scan<cub::BLOCK_SCAN_WARP_SCANS>(in, out); }
extern "C" __global__ void radix_double(double *keys, int *values)
{
    using B = cub::BlockRadixSort<double, 64, 3, int>;
    __shared__ typename B::TempStorage t;
    double k[3]; int v[3];
    for (int i = 0; i < 3; i++) { k[i] = keys[threadIdx.x * 3 + i]; v[i] = threadIdx.x * 3 + i; }
    B(t).SortDescending(k, v);
    for (int i = 0; i < 3; i++) { keys[threadIdx.x * 3 + i] = k[i]; values[threadIdx.x * 3 + i] = v[i]; }
}
extern "C" __global__ void merge_partial(int *a, int n)
{
    using B = cub::BlockMergeSort<int, 128, 3>;
    __shared__ typename B::TempStorage t;
    int v[3];
    for (int i = 0; i < 3; i++) { int at = threadIdx.x * 3 + i; v[i] = at < n ? a[at] : 0; }
    B(t).Sort(v, less(), n, 1 << 30);
    for (int i = 0; i < 3; i++) { int at = threadIdx.x * 3 + i; if (at < n) a[at] = v[i]; }
}
extern "C" __global__ void merge_warps(int *a)
{
    using W = cub::WarpMergeSort<int, 4, 16>;
    __shared__ typename W::TempStorage t[6];
    int v[4];
    for (int i = 0; i < 4; i++) v[i] = a[threadIdx.x * 4 + i];
    W(t[threadIdx.x / 16]).Sort(v, less());
    for (int i = 0; i < 4; i++) a[threadIdx.x * 4 + i] = v[i];
}
extern "C" __global__ void heads(const int *in, int *out)
{
    using B = cub::BlockDiscontinuity<int, 96>;
    __shared__ typename B::TempStorage t;
    int v[2], f[2], g[2];
    for (int i = 0; i < 2; i++) v[i] = in[threadIdx.x * 2 + i] / 5;
    B(t).FlagHeadsAndTails(f, g, v, [](int a, int b) { return a != b; });
    for (int i = 0; i < 2; i++) out[threadIdx.x * 2 + i] = f[i] + 2 * g[i];
}
extern "C" __global__ void differences(const int *in, int *out)
{
    using B = cub::BlockAdjacentDifference<int, 96>;
    __shared__ typename B::TempStorage t;
    int v[2], d[2];
    for (int i = 0; i < 2; i++) v[i] = in[threadIdx.x * 2 + i];
    B(t).SubtractLeft(v, d, [](int a, int b) { return a - b; });
    __syncthreads();
    B(t).SubtractRight(v, v, [](int a, int b) { return b - a; });
    for (int i = 0; i < 2; i++) out[threadIdx.x * 2 + i] = d[i] * 100 + v[i];
}
extern "C" __global__ void shuffled(const int *in, int *out)
{
    using B = cub::BlockShuffle<int, 96>;
    __shared__ typename B::TempStorage t;
    int v = in[threadIdx.x], w = 0, x = 0;
    B(t).Offset(v, w, 1);
    __syncthreads();
    B(t).Rotate(v, x, 3);
    __syncthreads();
    int two[2] = { v, -v }, up[2];
    B(t).Up(two, up);
    out[threadIdx.x] = w + 1000 * x + (threadIdx.x ? up[0] : 0);
}
extern "C" __global__ void decoded(const int *in, int *out)
{
    using B = cub::BlockRunLengthDecode<int, 32, 2, 3>;
    __shared__ typename B::TempStorage t;
    int value[2], length[2], total;
    for (int i = 0; i < 2; i++) { value[i] = threadIdx.x * 2 + i; length[i] = in[threadIdx.x * 2 + i] % 4 + 1; }
    B decode(t, value, length, total);
    for (int from = 0; from < total; from += 96) {
        int item[3];
        decode.RunLengthDecode(item, from);
        for (int i = 0; i < 3; i++) { int at = from + threadIdx.x * 3 + i; if (at < total) out[at] = item[i]; }
        __syncthreads();
    }
}
extern "C" __global__ void warps_double(const double *in, double *out)
{
    using R = cub::WarpReduce<double, 8>;
    using S = cub::WarpScan<double, 8>;
    using X = cub::WarpExchange<double, 2, 8>;
    __shared__ typename R::TempStorage r[12];
    __shared__ typename S::TempStorage s[12];
    __shared__ typename X::TempStorage x[12];
    int w = threadIdx.x / 8;
    double v = in[threadIdx.x], sum = R(r[w]).Sum(v), to;
    S(s[w]).InclusiveSum(v, to);
    double two[2] = { to, v };
    X(x[w]).BlockedToStriped(two, two);
    out[threadIdx.x] = two[0] + two[1] + (threadIdx.x % 8 ? 0 : sum);
}
