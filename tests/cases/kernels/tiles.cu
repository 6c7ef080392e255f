// Parts of a warp on their own: one shfl.sync, two masks.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void tiles16(const int *in, int *out)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int v = in[threadIdx.x];
    for (int d = 8; d; d >>= 1)
        v += tile.shfl_xor(v, d);
    tile.sync();
    out[threadIdx.x] = v;
}

// The halves go different ways, each with shuffles of its own, a different number of times.
extern "C" __global__ void halves(const int *in, int *out)
{
    int t = threadIdx.x, v = in[t];
    if (t % 32 < 16) {
        for (int d = 8; d; d >>= 1)
            v += __shfl_xor_sync(0x0000ffff, v, d);
    } else {
        for (int k = 0; k < 3; k++)
            v = __shfl_sync(0xffff0000, v, min(t % 32 + 1, 31)) + 1;
        __syncwarp(0xffff0000);
    }
    out[t] = v;
}

extern "C" __global__ void coalesced(int *count, int *rank)     // one atomic for the lanes that came along
{
    int t = threadIdx.x;
    rank[t] = -1;
    if (t % 3 == 0) {
        auto g = cg::coalesced_threads();
        int base = 0;
        if (g.thread_rank() == 0)
            base = atomicAdd(count, g.size());
        rank[t] = g.shfl(base, 0) + g.thread_rank();
    }
}
