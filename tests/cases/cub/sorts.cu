// Passes of sorting, compaction and segmentation as they are written by hand, and with CUB's block and warp collectives.
// regen: -arch=sm_90 -std=c++17 --extended-lambda
#include <cub/cub.cuh>

// Stream compaction in order: ballot in the warp, a scan of the warps, one counter for the CTAs' place (a single CTA keeps the order).
extern "C" __global__ void compact(const int *in, int *out, int n)
{
    __shared__ int warps[3];
    __shared__ int base;
    int t = threadIdx.x, lane = t & 31, w = t / 32;
    if (t == 0) base = 0;
    for (int i0 = 0; i0 < n; i0 += 96) {
        int i = i0 + t;
        bool keep = i < n && in[i] % 3 == 0;
        unsigned m = __ballot_sync(~0u, keep);
        if (lane == 0) warps[w] = __popc(m);
        __syncthreads();
        int at = base + __popc(m & ((1u << lane) - 1));
        for (int k = 0; k < w; k++) at += warps[k];
        if (keep) out[at] = in[i];
        __syncthreads();
        if (t == 0) base += warps[0] + warps[1] + warps[2];
        __syncthreads();
    }
}

// One bit of a radix sort, stable, in place through two barriers; eight bits in turn.
extern "C" __global__ void radix_bits(int *data)
{
    __shared__ int s[200], zeros[200];
    int t = threadIdx.x;
    s[t] = data[t];
    for (int bit = 0; bit < 8; bit++) {
        __syncthreads();
        int v = s[t], one = v >> bit & 1;
        zeros[t] = !one;
        for (int d = 1; d < 200; d *= 2) {
            __syncthreads();
            int add = t >= d ? zeros[t - d] : 0;
            __syncthreads();
            zeros[t] += add;
        }
        __syncthreads();
        int all = zeros[199], before = zeros[t] - !one;
        s[one ? all + t - before : before] = v;
    }
    __syncthreads();
    data[t] = s[t];
}

// One digit of 4 bits: ranks by match, offsets of the warps by a column scan, scatter. Two digits.
extern "C" __global__ void radix_digits(int *data, int *other)
{
    __shared__ int count[8][16], start[16];
    int t = threadIdx.x, lane = t & 31, w = t / 32;
    for (int pass = 0; pass < 2; pass++) {
        int *from = pass ? other : data, *to = pass ? data : other;
        if (lane < 16) count[w][lane] = 0;
        __syncwarp();
        int v = from[t], digit = v >> (4 * pass) & 15;
        unsigned same = __match_any_sync(~0u, digit);
        int rank = __popc(same & ((1u << lane) - 1));
        if (rank == 0) count[w][digit] = __popc(same);
        __syncthreads();
        if (t < 16) {
            int sum = 0;
            for (int k = 0; k < 8; k++) {
                int c = count[k][t];
                count[k][t] = sum;
                sum += c;
            }
            for (int k = 0; k < 16; k++) {
                int c = __shfl_sync(0xffff, sum, k);
                if (k == 0) start[t] = 0;
                if (k < t) start[t] += c;
            }
        }
        __syncthreads();
        to[start[digit] + count[w][digit] + rank] = v;
        __syncthreads();
    }
}

// Bottom-up merge sort: two threads never write the same run, odd tails included.
extern "C" __global__ void merge_runs(int *a, int *b, int n)
{
    int *from = a, *to = b;
    for (int width = 1; width < n; width *= 2) {
        for (int lo = 2 * width * threadIdx.x; lo < n; lo += 2 * width * blockDim.x) {
            int mid = min(lo + width, n), hi = min(lo + 2 * width, n), i = lo, j = mid;
            for (int k = lo; k < hi; k++) to[k] = i < mid && (j >= hi || from[i] <= from[j]) ? from[i++] : from[j++];
        }
        __syncthreads();
        int *swap = from;
        from = to;
        to = swap;
    }
    if (from != a)
        for (int k = threadIdx.x; k < n; k += blockDim.x) a[k] = from[k];
}

// Rank sort: every thread finds the place of its element; places differ because values do.
extern "C" __global__ void rank_sort(const int *in, int *out, int n)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    if (i >= n) return;
    int v = in[i], at = 0;
    for (int k = 0; k < n; k++) at += in[k] < v;
    out[at] = v;
}

// A segmented scan by flags, heads every 7 elements, value and flag in one struct.
extern "C" __global__ void segmented_scan(const int *in, int *out)
{
    struct Cell { int sum; bool head; };
    __shared__ Cell s[2][98];
    int t = threadIdx.x, i = blockIdx.x * 98 + t, at = 0;
    s[0][t] = Cell{ in[i], i % 7 == 0 };
    for (int d = 1; d < 98; d *= 2, at ^= 1) {
        __syncthreads();
        Cell c = s[at][t];
        if (t >= d && !c.head) {
            Cell o = s[at][t - d];
            c.sum += o.sum;
            c.head = o.head;
        }
        s[at ^ 1][t] = c;
    }
    out[i] = s[at][t].sum;
}

// Run lengths: heads find their ends without any write that others read.
extern "C" __global__ void run_lengths(const int *in, int *out, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n && (i == 0 || in[i] / 4 != in[i - 1] / 4)) {
        int k = i;
        while (k < n && in[k] / 4 == in[i] / 4) k++;
        out[i] = k - i;
    }
}

// CUB: radix sort of a block, keys with values.
extern "C" __global__ void cub_radix(int *keys, int *copies)
{
    using Sort = cub::BlockRadixSort<int, 96, 4, int>;
    __shared__ typename Sort::TempStorage temp;
    int k[4], v[4];
    cub::LoadDirectBlocked(threadIdx.x, keys, k);
    for (int i = 0; i < 4; i++) v[i] = -k[i];
    Sort(temp).Sort(k, v);
    cub::StoreDirectBlocked(threadIdx.x, keys, k);
    cub::StoreDirectBlocked(threadIdx.x, copies, v);
}

// CUB: merge sort with a comparison of our own, part of the tile valid.
extern "C" __global__ void cub_merge(int *data, int n)
{
    using Sort = cub::BlockMergeSort<int, 64, 4>;
    __shared__ typename Sort::TempStorage temp;
    int k[4];
    cub::LoadDirectBlocked(threadIdx.x, data, k, n, 0x7fffffff);
    Sort(temp).Sort(k, [] __device__(int a, int b) { return a < b; }, n, 0x7fffffff);
    cub::StoreDirectBlocked(threadIdx.x, data, k, n);
}

// CUB: warps of 32 and logical warps of 8 with storage each; a barrier is not needed between different storage.
extern "C" __global__ void cub_warps(const int *in, int *out)
{
    using Wide = cub::WarpReduce<int>;
    using Narrow = cub::WarpReduce<int, 8>;
    __shared__ typename Wide::TempStorage wide[2];
    __shared__ typename Narrow::TempStorage narrow[8];
    __shared__ int sums[2][8];
    int t = threadIdx.x, v = in[blockIdx.x * 64 + t];
    int a = Wide(wide[t / 32]).Sum(v), b = Narrow(narrow[t / 8]).Sum(v);
    if (t % 32 == 0) sums[0][t / 32] = a;
    if (t % 8 == 0) sums[1][t / 8] = b;
    __syncthreads();
    out[blockIdx.x * 64 + t] = sums[0][t / 32] + sums[1][t / 8];
}

// CUB: an exchange from blocked to striped and back, through the same storage.
extern "C" __global__ void cub_exchange(const int *in, int *out)
{
    using Exchange = cub::BlockExchange<int, 32, 3>;
    __shared__ typename Exchange::TempStorage temp;
    int v[3];
    cub::LoadDirectBlocked(threadIdx.x, in + blockIdx.x * 96, v);
    Exchange(temp).BlockedToStriped(v, v);
    __syncthreads();
    cub::StoreDirectStriped<32>(threadIdx.x, out + blockIdx.x * 96, v);
}

// CUB: adjacent differences with a predecessor for the first item of the tile.
extern "C" __global__ void cub_differences(const int *in, int *out)
{
    using Adjacent = cub::BlockAdjacentDifference<int, 50>;
    __shared__ typename Adjacent::TempStorage temp;
    int v[2];
    cub::LoadDirectBlocked(threadIdx.x, in + blockIdx.x * 100, v);
    int before = blockIdx.x ? in[blockIdx.x * 100 - 1] : -1;
    Adjacent(temp).SubtractLeft(v, v, [] __device__(int a, int b) { return a - b; }, before);
    cub::StoreDirectBlocked(threadIdx.x, out + blockIdx.x * 100, v);
}
