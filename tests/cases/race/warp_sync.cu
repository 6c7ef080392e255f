// Warp-synchronous code that is right: exchanges ordered by __syncwarp, masks of the lanes that are there, values of absent lanes unused.

// The classic volatile reduction, with the two __syncwarp that independent thread scheduling asks for.
extern "C" __global__ void volatile_sum(const int *in, int *out)
{
    __shared__ volatile int box[96];
    int t = threadIdx.x, lane = t & 31;
    box[t] = in[blockIdx.x * 96 + t];
    for (int d = 16; d > 0; d >>= 1) {
        __syncwarp();
        int v = lane < d ? box[t + d] : 0;
        __syncwarp();
        if (lane < d) box[t] += v;
    }
    if (lane == 0) out[(blockIdx.x * 96 + t) / 32] = box[t];
}

// The same without temporaries: the writer set halves, and readers of a step are never written in it.
extern "C" __global__ void halving_sum(const int *in, int *out)
{
    __shared__ int box[64];
    int t = threadIdx.x, lane = t & 31;
    box[t] = in[blockIdx.x * 64 + t];
    __syncwarp();
    for (int d = 16; d > 0; d >>= 1) {
        if (lane < d) box[t] += box[t + d];
        __syncwarp();
    }
    if (lane == 0) out[(blockIdx.x * 64 + t) / 32] = box[t];
}

// A last warp of 7 threads: the mask is taken by ballot before the guard, in full warps of the CTA as launched.
extern "C" __global__ void partial_warp(const int *in, int *total, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned here = __ballot_sync(__activemask(), i < n);
    if (i >= n) return;
    int v = in[i];
    int lane = threadIdx.x & 31, sum = 0;
    for (unsigned m = here; m; m &= m - 1) sum += __shfl_sync(here, v, __ffs(m) - 1);
    if (lane == __ffs(here) - 1) atomicAdd(total, sum);
}

// In-place inclusive scan in shared memory; reading and writing are different phases.
extern "C" __global__ void inplace_scan(const int *in, int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x, lane = t & 31, i = blockIdx.x * 128 + t;
    s[t] = in[i];
    __syncwarp();
    for (int d = 1; d < 32; d *= 2) {
        int v = lane >= d ? s[t - d] : 0;
        __syncwarp();
        s[t] += v;
        __syncwarp();
    }
    out[i] = s[t];
}

// The two halves of a warp go different ways and exchange among themselves only, each under its own mask.
extern "C" __global__ void half_masks(const int *in, int *out)
{
    int i = blockIdx.x * 64 + threadIdx.x, v = in[i];
    if ((threadIdx.x & 16) == 0) {
        v = __shfl_xor_sync(0x0000ffffu, v, 5);
        v = __shfl_xor_sync(0x0000ffffu, v, 5);
    } else {
        v = __shfl_xor_sync(0xffff0000u, v, 9);
        v = __shfl_xor_sync(0xffff0000u, v, 9);
    }
    out[i] = v;
}

// Divergent halves that pass values through shared memory, __syncwarp with the mask of the half.
extern "C" __global__ void half_syncwarp(const int *in, int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    s[t] = in[i];
    int v;
    if (t < 16) {
        __syncwarp(0x0000ffffu);
        v = s[15 - t];
        __syncwarp(0x0000ffffu);
        s[t] = v;
        __syncwarp(0x0000ffffu);
        v = s[15 - t];
    } else {
        __syncwarp(0xffff0000u);
        v = s[47 - t];
        __syncwarp(0xffff0000u);
        s[t] = v;
        __syncwarp(0xffff0000u);
        v = s[47 - t];
    }
    out[i] = v;
}

// Ballot compaction of odd numbers within each warp; every element keeps its order.
extern "C" __global__ void ballot_compact(const int *in, int *out, int n)
{
    int base = 0;
    for (int i0 = 0; i0 < n; i0 += 32) {
        int i = i0 + threadIdx.x;
        int v = i < n ? in[i] : 0;
        bool keep = i < n && (v & 1);
        unsigned m = __ballot_sync(~0u, keep);
        if (keep) out[base + __popc(m & ((1u << threadIdx.x) - 1))] = v;
        base += __popc(m);
    }
}

// Warp-aggregated atomics: the leader of whoever is active adds for all, and hands out places.
extern "C" __global__ void aggregated(const int *in, int *count, int *taken)
{
    int i = blockIdx.x * 96 + threadIdx.x;
    if (in[i] % 3 != 0) {
        unsigned m = __activemask();
        int leader = __ffs(m) - 1, lane = threadIdx.x & 31, at = 0;
        if (lane == leader) at = atomicAdd(count, __popc(m));
        at = __shfl_sync(m, at, leader) + __popc(m & ((1u << lane) - 1));
        taken[at] = 1;
    }
}

// Lanes with the same key elect one to write for them.
extern "C" __global__ void match_any_histogram(const int *in, int *hist)
{
    int key = in[blockIdx.x * 64 + threadIdx.x] % 10;
    unsigned peers = __match_any_sync(~0u, key);
    if ((threadIdx.x & 31) == __ffs(peers) - 1) atomicAdd(&hist[key], __popc(peers));
}

// A transpose inside the warp through a padded tile: no CTA barrier, one tile for each warp.
extern "C" __global__ void warp_transpose(const int *in, int *out)
{
    __shared__ int tile[3][32][33];
    int w = threadIdx.x / 32, lane = threadIdx.x & 31, base = (blockIdx.x * 3 + w) * 1024;
    for (int r = 0; r < 32; r++) tile[w][r][lane] = in[base + r * 32 + lane];
    __syncwarp();
    int col[32];
    for (int r = 0; r < 32; r++) col[r] = tile[w][lane][r];
    __syncwarp();
    for (int r = 0; r < 32; r++) tile[w][lane][r] = col[r];
    __syncwarp();
    for (int r = 0; r < 32; r++) out[base + r * 32 + lane] = tile[w][r][lane];
}

// Bitonic sort of 32 values by shuffles.
extern "C" __global__ void shuffle_sort(const int *in, int *out)
{
    int lane = threadIdx.x, v = in[lane];
    for (int k = 2; k <= 32; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            int other = __shfl_xor_sync(~0u, v, j);
            bool up = (lane & k) == 0, low = (lane & j) == 0;
            v = (low == up) ? min(v, other) : max(v, other);
        }
    out[lane] = v;
}

// Lanes 20..31 exit first; the rest name only themselves from then on.
extern "C" __global__ void after_exit(const int *in, int *out)
{
    int lane = threadIdx.x;
    if (lane >= 20) return;
    int v = in[blockIdx.x * 32 + lane], sum = 0;
    for (int k = 0; k < 20; k++) sum += __shfl_sync(0xfffffu, v, k);
    if (lane == 0) out[blockIdx.x] = sum;
}

// shfl_down past the end gives a lane its own value back; those sums are garbage, and only lane 0 is stored.
extern "C" __global__ void down_tree(const int *in, int *out)
{
    int i = blockIdx.x * 64 + threadIdx.x, v = in[i];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if ((threadIdx.x & 31) == 0) out[i / 32] = v;
}

// Segments of width 8: shuffles that stay in their segment.
extern "C" __global__ void segments_of_eight(const int *in, int *out)
{
    int i = blockIdx.x * 40 + threadIdx.x, v = in[i];
    unsigned m = threadIdx.x < 32 ? ~0u : 0xffu;
    for (int d = 1; d < 8; d *= 2) v += __shfl_xor_sync(m, v, d, 8);
    out[i] = v;
}

// One lane produces into shared memory, __syncwarp, all consume, __syncwarp, again: a loop with both edges.
extern "C" __global__ void lane_feeds_warp(int *out, int rounds)
{
    __shared__ int cell;
    int sum = 0;
    for (int r = 0; r < rounds; r++) {
        if (threadIdx.x == r % 32) cell = r;
        __syncwarp();
        sum += cell;
        __syncwarp();
    }
    out[blockIdx.x * 32 + threadIdx.x] = sum;
}

// A lane leaves the kernel while others of its warp wait for it: it does not count any more, and they go on.
extern "C" __global__ void leaves_while_waited_for(volatile int *flag, int *y)
{
    int lane = threadIdx.x;
    if (lane < 3) {
        __syncwarp(0xf);
        if (lane == 0)
            *flag = 1;
    }
    if (lane == 3)
        return;
    while (!*flag)
        ;
    y[lane] = lane;
}
