// Cooperative groups as the toolkit's headers write them; every exchange is within the group that synchronises.
// regen: -arch=sm_90 -std=c++17 -diag-suppress 20054
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

// tile.sync of 8 lanes around an exchange through shared memory.
extern "C" __global__ void tile_of_eight(const int *in, int *out)
{
    __shared__ int s[72];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int t = threadIdx.x, base = t / 8 * 8, r = tile.thread_rank(), i = blockIdx.x * 72;
    s[t] = in[i + t];
    tile.sync();
    int v = s[base + 7 - r];
    tile.sync();
    s[t] = v;
    tile.sync();
    out[i + t] = s[base + 7 - r];
}

// Tiles of one warp take different ways and synchronise each by itself.
extern "C" __global__ void diverged_tiles(int *out)
{
    __shared__ int s[64];
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int t = threadIdx.x, base = t & ~15, sum = 0;
    if (tile.meta_group_rank() % 2) {
        s[t] = tile.thread_rank();
        tile.sync();
        for (int k = 0; k < 16; k++) sum += s[base + k];
    } else {
        for (int k = 0; k < 16; k++) {
            if ((int)tile.thread_rank() == k) s[base] = k;
            tile.sync();
            sum += s[base];
            tile.sync();
        }
    }
    out[blockIdx.x * 64 + t] = sum;
}

// The coalesced group of the odd lanes.
extern "C" __global__ void odd_lanes(const int *in, int *count)
{
    if (in[blockIdx.x * 50 + threadIdx.x] & 1) {
        auto odd = cg::coalesced_threads();
        int all = cg::reduce(odd, 1, cg::plus<int>());
        if (odd.thread_rank() == 0) atomicAdd(count, all);
    }
}

// Inclusive and exclusive scans over tiles of 32, 16 and 4.
extern "C" __global__ void tile_scans(int *out)
{
    auto block = cg::this_thread_block();
    int a = cg::inclusive_scan(cg::tiled_partition<32>(block), 1);
    int b = cg::exclusive_scan(cg::tiled_partition<16>(block), 1);
    int c = cg::inclusive_scan(cg::tiled_partition<4>(block), 2, cg::plus<int>());
    out[threadIdx.x] = a * 10000 + b * 100 + c;
}

// A labelled partition by remainder, its members summed.
extern "C" __global__ void labelled(int *out)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto group = cg::labeled_partition(warp, threadIdx.x % 5);
    out[threadIdx.x] = cg::reduce(group, (int)threadIdx.x, cg::greater<int>());
}

// A binary partition, and shuffles inside each of its parts.
extern "C" __global__ void two_parts(const int *in, int *out)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int v = in[threadIdx.x];
    auto part = cg::binary_partition(warp, v % 3 == 0);
    out[threadIdx.x] = part.shfl(v, part.size() - 1);
}

// Warp leaders exchange through shared memory, block.sync between; the second warp sums them.
extern "C" __global__ void leaders(const int *in, int *out)
{
    __shared__ int s[5];
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int sum = cg::reduce(warp, in[blockIdx.x * 160 + block.thread_rank()], cg::plus<int>());
    if (warp.thread_rank() == 0) s[warp.meta_group_rank()] = sum;
    block.sync();
    if (warp.meta_group_rank() == 1) {
        int v = cg::reduce(warp, warp.thread_rank() < 5 ? s[warp.thread_rank()] : 0, cg::plus<int>());
        if (warp.thread_rank() == 0) out[blockIdx.x] = v;
    }
}

// One thread of the block does the work, all see it after the barrier that invoke_one leaves to the caller.
extern "C" __global__ void one_of_all(int *out)
{
    __shared__ int s;
    auto block = cg::this_thread_block();
    cg::invoke_one(block, [&] { s = 3; });
    block.sync();
    out[blockIdx.x * 48 + threadIdx.x] = s;
}

// A tile's ballot and match, results that every lane of it has.
extern "C" __global__ void tile_votes(const int *in, int *out)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int v = in[threadIdx.x];
    out[threadIdx.x] = __popc(tile.ballot(v & 1)) * 100 + __popc(tile.match_any(v % 3)) * 10 + tile.any(v == 5);
}

// The grid as one group, its barrier split in arrive and wait.
extern "C" __global__ void grid_arrive_wait(int *a, int *b)
{
    auto grid = cg::this_grid();
    int i = (int)grid.thread_rank(), n = (int)grid.size();
    a[n - 1 - i] = n - 1 - i;
    auto token = grid.barrier_arrive();
    int own = i * 2;
    grid.barrier_wait(std::move(token));
    b[i] = a[i] + own - 2 * i;
}

// A reduction over the grid: blocks to memory, grid.sync, one block for the rest.
extern "C" __global__ void grid_reduce(const int *in, int *part, int *out, int n)
{
    auto grid = cg::this_grid();
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    int sum = 0;
    for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size()) sum += in[i];
    sum = cg::reduce(warp, sum, cg::plus<int>());
    if (warp.thread_rank() == 0) atomicAdd(&s, sum);
    __syncthreads();
    if (threadIdx.x == 0) part[blockIdx.x] = s;
    grid.sync();
    if (blockIdx.x == 5 && threadIdx.x == 0) {
        int all = 0;
        for (int k = 0; k < 6; k++) all += part[k];
        *out = all;
    }
}

// Tiles larger than a warp, with barriers in the shared memory that the system keeps.
extern "C" __global__ void big_sync(const int *x, int *y)
{
    __shared__ cg::block_tile_memory<256> mem;
    __shared__ int s[256];
    auto block = cg::this_thread_block(mem);
    auto tile = cg::tiled_partition<128>(block);
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * blockDim.x + t];
    tile.sync();
    int v = s[t / 128 * 128 + 127 - t % 128];
    tile.sync();
    s[t] = v + 1;
    tile.sync();
    y[blockIdx.x * blockDim.x + t] = s[t ^ 64] + tile.any(v > 1000) + tile.shfl(v, 3) * 0;
}
