// regen: xz -arch=sm_80 -std=c++17
// Cooperative groups as correct code: every size of tile, every partition, reduce and scan by several operators, asynchronous copies, barriers in halves.
#include <utility>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/atomic>
#include <cuda/barrier>
namespace cg = cooperative_groups;
struct most {
    __device__ int operator()(int a, int b) const
    {
        return a > b ? a : b;
    }
};
template <int N> __device__ void tile_all(const int *x, int *y)
{
    auto block = cg::this_thread_block();
    auto t = cg::tiled_partition<N>(block);
    int v = x[threadIdx.x], r = 0;
    r += cg::reduce(t, v, cg::plus<int>());
    r += cg::reduce(t, v, cg::greater<int>());
    r += cg::reduce(t, v, cg::less<int>());
    r += cg::reduce(t, v, cg::bit_or<int>());
    r += cg::reduce(t, v, cg::bit_and<int>());
    r += cg::reduce(t, v, cg::bit_xor<int>());
    r += cg::reduce(t, v, most());
    r += cg::inclusive_scan(t, v);
    r += cg::exclusive_scan(t, v);
    r += cg::inclusive_scan(t, v, cg::greater<int>());
    r += cg::exclusive_scan(t, v, most());
    r += t.shfl(v, 0) + t.shfl_up(v, 1) * 0 + t.shfl_xor(v, N / 2) + t.any(v == 3) + t.all(v >= 0) + __popc(t.ballot(v & 1)) + __popc(t.match_any(v / 2));
    t.sync();
    y[threadIdx.x] = r + t.meta_group_rank() + t.thread_rank();
}
#ifndef SOME
extern "C" __global__ void tile1(const int *x, int *y)
{
    auto t = cg::tiled_partition<1>(cg::this_thread_block());
    t.sync();
    y[threadIdx.x] = cg::reduce(t, x[threadIdx.x], cg::plus<int>()) + cg::inclusive_scan(t, x[threadIdx.x]) + t.size();
}
#endif
#ifndef SOME
extern "C" __global__ void tile2(const int *x, int *y)
{
    tile_all<2>(x, y);
}
#endif
#ifndef SOME
extern "C" __global__ void tile4(const int *x, int *y)
{
    tile_all<4>(x, y);
}
#endif
extern "C" __global__ void tile8(const int *x, int *y)
{
    tile_all<8>(x, y);
}
#ifndef SOME
extern "C" __global__ void tile16(const int *x, int *y)
{
    tile_all<16>(x, y);
}
#endif
#ifndef SOME
extern "C" __global__ void tile32(const int *x, int *y)
{
    tile_all<32>(x, y);
}
#endif
template <int N> __device__ void tile_large(const int *x, int *y)
{
    __shared__ cg::block_tile_memory<512> m;
    __shared__ int s[512];
    auto block = cg::this_thread_block(m);
    auto t = cg::tiled_partition<N>(block);
    int v = x[threadIdx.x], r = 0;
    s[threadIdx.x] = v;
    t.sync();
    r += s[t.meta_group_rank() * N + N - 1 - t.thread_rank()];
    t.sync();
    s[threadIdx.x] = r;
    r += cg::reduce(t, v, cg::plus<int>());
    r += cg::reduce(t, v, most());
    r += cg::inclusive_scan(t, v);
    r += cg::exclusive_scan(t, v, cg::plus<int>());
    r += t.any(v == 3) + t.all(v >= 0) + t.shfl(v, 40);
    t.sync();
    r += s[t.meta_group_rank() * N + (t.thread_rank() + 33) % N];
    y[threadIdx.x] = r;
}
extern "C" __global__ void tile64(const int *x, int *y)
{
    tile_large<64>(x, y + blockIdx.x * 256);
}
#ifndef SOME
extern "C" __global__ void tile128(const int *x, int *y)
{
    tile_large<128>(x, y + blockIdx.x * 512);
}
#endif
#ifndef SOME
extern "C" __global__ void tile256(const int *x, int *y)
{
    tile_large<256>(x, y);
}
#endif
#ifndef SOME
extern "C" __global__ void tile512(const int *x, int *y)
{
    tile_large<512>(x, y);
}
#endif
#ifndef SOME
extern "C" __global__ void nested(const int *x, int *y)
{
    auto b = cg::this_thread_block();
    auto w = cg::tiled_partition<32>(b);
    auto q = cg::tiled_partition<4>(w);
    auto d = cg::tiled_partition(b, 8);
    int v = x[threadIdx.x];
    y[threadIdx.x] = cg::reduce(q, v, cg::plus<int>()) + cg::reduce(w, v, cg::plus<int>()) + d.thread_rank();
    d.sync();
}
#endif
extern "C" __global__ void parts(const int *x, int *y)
{
    auto w = cg::tiled_partition<32>(cg::this_thread_block());
    int v = x[threadIdx.x];
    auto a = cg::binary_partition(w, v % 3 == 0);
    int r = cg::reduce(a, v, cg::plus<int>()) + cg::inclusive_scan(a, v);
    auto l = cg::labeled_partition(w, v % 5);
    r += cg::reduce(l, v, cg::greater<int>()) + cg::exclusive_scan(l, v) + l.shfl(v, 0);
    l.sync();
    a.sync();
    auto c = cg::coalesced_threads();
    r += cg::reduce(c, v, cg::plus<int>()) + c.size();
    if (v % 2) {
        auto o = cg::coalesced_threads();
        r += cg::reduce(o, v, cg::plus<int>()) + cg::inclusive_scan(o, v) + o.shfl_down(v, 1) * 0 + __popc(o.match_any(v % 4));
        o.sync();
        auto p = cg::labeled_partition(o, v % 3);
        r += p.size() + cg::reduce(p, v, cg::bit_xor<int>());
        auto h = cg::tiled_partition(o, 4);
        r += h.size();
    }
    y[threadIdx.x] = r;
}
extern "C" __global__ void updates(const int *x, int *y)
{
    auto w = cg::tiled_partition<32>(cg::this_thread_block());
    cuda::atomic_ref<int, cuda::thread_scope_device> a(y[0]), b(y[1]), c(y[2]);
    cg::reduce_update_async(w, a, x[threadIdx.x], cg::plus<int>());
    cg::reduce_update_async(w, b, x[threadIdx.x], cg::greater<int>());
    int r = cg::inclusive_scan_update(w, c, x[threadIdx.x], cg::plus<int>());
    r += cg::exclusive_scan_update(w, a, 0, cg::plus<int>());
    if (r == -1) y[3] = r;
}
#ifndef SOME
extern "C" __global__ void store_async(const int *x, int *y)
{
    auto w = cg::tiled_partition<32>(cg::this_thread_block());
    cg::reduce_store_async(w, y + w.meta_group_rank(), x[threadIdx.x], cg::plus<int>());
}
#endif
extern "C" __global__ void one(int *y)
{
    auto b = cg::this_thread_block();
    auto w = cg::tiled_partition<32>(b);
    __shared__ int s;
    cg::invoke_one(b, [&] { s = 7; });
    b.sync();
    int r = cg::invoke_one_broadcast(w, [&] { return (int)threadIdx.x; });
    y[blockIdx.x * 96 + threadIdx.x] = r + s;
    auto c = cg::coalesced_threads();
    cg::invoke_one(c, [] {});
}
extern "C" __global__ void copies(const int *x, int *y)
{
    __shared__ alignas(16) int s[4][96];
    auto b = cg::this_thread_block();
    const int *from = x + blockIdx.x * 384;
    int t = threadIdx.x, r = 0;
    cg::memcpy_async(b, s[0], from, sizeof(int) * 96);
    cg::wait(b);
    r += s[0][95 - t];
    b.sync();
    cg::memcpy_async(b, s[0], from, cuda::aligned_size_t<16>(sizeof(int) * 96));
    cg::memcpy_async(b, s[1], from + 96, cuda::aligned_size_t<16>(sizeof(int) * 96));
    cg::memcpy_async(b, s[2], 96, from + 192, 96);
    cg::wait_prior<2>(b);
    r += s[0][95 - t];
    cg::wait_prior<1>(b);
    r += s[1][95 - t];
    cg::wait_prior<0>(b);
    r += s[2][95 - t];
    b.sync();
    auto w = cg::tiled_partition<32>(b);
    cg::memcpy_async(w, s[3] + w.meta_group_rank() * 32, from + 288 + w.meta_group_rank() * 32, sizeof(int) * 32);
    cg::wait(w);
    r += s[3][t ^ 31];
    y[blockIdx.x * 96 + t] = r;
}
#ifndef SOME
extern "C" __global__ void copies_loop(const int *x, int *y, int n)
{
    __shared__ alignas(16) int s[2][64];
    auto b = cg::this_thread_block();
    int r = 0;
    cg::memcpy_async(b, s[0], x, sizeof(int) * 64);
    for (int k = 0; k < n; k++) {
        if (k + 1 < n) {
            cg::memcpy_async(b, s[(k + 1) & 1], x + (k + 1) * 64, sizeof(int) * 64);
            cg::wait_prior<1>(b);
        } else cg::wait(b);
        r += s[k & 1][63 - threadIdx.x];
        b.sync();
    }
    y[threadIdx.x] = r;
}
#endif
extern "C" __global__ void block_split(const int *x, int *y)
{
    __shared__ int s[96];
    auto b = cg::this_thread_block();
    s[threadIdx.x] = x[threadIdx.x];
    auto tok = b.barrier_arrive();
    int r = threadIdx.x;
    b.barrier_wait(std::move(tok));
    y[blockIdx.x * 96 + threadIdx.x] = r + s[95 - threadIdx.x];
}
extern "C" __global__ void grid1(const int *x, int *t, int *y)
{
    auto g = cg::this_grid();
    int i = g.thread_rank();
    for (int k = 0; k < 4; k++) {
        t[i] = x[i] + k;
        g.sync();
        y[i] = t[g.size() - 1 - i];
        g.sync();
    }
}
#ifndef SOME
extern "C" __global__ void grid2(const int *x, int *t, int *y)
{
    auto g = cg::this_grid();
    int i = g.thread_rank();
    t[i] = x[i];
    auto tok = g.barrier_arrive();
    int r = g.block_rank() + g.num_blocks();
    g.barrier_wait(std::move(tok));
    y[i] = t[g.size() - 1 - i] + r;
}
#endif
