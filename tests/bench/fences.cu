// Threads ordered by more than barriers of a CTA, as people write it. Each kernel leaves what it waits for as it was, so that it can be launched again.
#include <cooperative_groups.h>
#include <cuda/atomic>
namespace cg = cooperative_groups;
typedef unsigned u32;
typedef unsigned long long u64;

struct account { u32 lock, a, b, c; };

// Spin locks, each taken by the first thread of many CTAs.
extern "C" __global__ void locks(account *s, int n, int rounds)
{
    for (int r = 0; r < rounds; r++) {
        account *x = &s[(blockIdx.x * 7 + r * 13) % n];
        if (threadIdx.x == 0) {
            while (atomicCAS(&x->lock, 0, 1)) ;
            __threadfence();
            x->a++; x->b += x->a; x->c ^= x->b;
            __threadfence();
            atomicExch(&x->lock, 0);
        }
        __syncthreads();
    }
}

// CTAs that draw pieces of work, and a table beside the counter.
struct head { u32 next, table[7]; };
extern "C" __global__ void tickets(head *h, u32 *out, u32 most)
{
    __shared__ u32 at;
    for (;;) {
        if (threadIdx.x == 0) at = atomicAdd(&h->next, 1);
        __syncthreads();
        u32 a = at;
        __syncthreads();
        if (a >= most) {
            if (threadIdx.x == 0 && a == most + gridDim.x - 1) atomicExch(&h->next, 0);
            return;
        }
        out[a * blockDim.x + threadIdx.x] = h->table[threadIdx.x % 7] * a;
    }
}

// Breadth-first search over rows that are made on the way: vertex v leads to v * 7 + 1 .. v * 7 + 7, and to one far away.
extern "C" __global__ void search(int *dist, int *from, int *to, u32 *count, int n)
{
    auto g = cg::this_grid();
    int t = g.thread_rank(), nt = g.size();
    for (int i = t; i < n; i += nt) dist[i] = i ? -1 : 0;
    if (t < 64) count[t] = t == 0;
    if (t == 0) from[0] = 0;
    g.sync();
    for (int level = 0; level < 63; level++) {
        u32 m = count[level];
        if (!m) break;
        for (u32 k = t; k < m; k += nt) {
            u32 v = from[k];
            for (u32 e = 0; e < 8; e++) {
                u32 x = (e < 7 ? v * 7 + e + 1 : v * 2654435761u >> 7) % n;
                if (atomicCAS(&dist[x], -1, level + 1) == -1) to[atomicAdd(&count[level + 1], 1)] = x;
            }
        }
        g.sync();
        int *x = from; from = to; to = x;
    }
}

// A hash table: keys by compare and swap, values behind them, looked up and cleared behind grid.sync().
extern "C" __global__ void hash(u32 *keys, u32 *values, u32 room, int n, u32 *found)
{
    auto g = cg::this_grid();
    for (int i = g.thread_rank(); i < n; i += g.size()) {
        u32 k = i * 2654435761u | 1, h = (k >> 7) % room;
        for (;; h = (h + 1) % room) {
            u32 old = atomicCAS(&keys[h], 0u, k);
            if (old == 0 || old == k) { values[h] = i; break; }
        }
    }
    g.sync();
    u32 hits = 0;
    for (int i = g.thread_rank(); i < n; i += g.size()) {
        u32 k = i * 2654435761u | 1, h = (k >> 7) % room;
        while (keys[h] != k && keys[h]) h = (h + 1) % room;
        hits += values[h] == i;
    }
    atomicAdd(found, hits);
    g.sync();
    for (u32 h = g.thread_rank(); h < room; h += g.size()) keys[h] = 0;
}

// A stack that every thread pushes to.
extern "C" __global__ void stack(u64 *head, u32 *next, int per)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < per; k++) {
        u32 node = t * per + k + 1;
        for (u64 h = *(volatile u64 *)head;;) {
            next[node] = (u32)h;
            __threadfence();
            u64 old = atomicCAS(head, h, ((h >> 32) + 1) << 32 | node);
            if (old == h) break;
            h = old;
        }
    }
}

// Pairs of CTAs: one fills slots, the other empties them; release and acquire.
extern "C" __global__ void ring(float *slot, u32 *full, float *out, int slots, int rounds)
{
    int pair = blockIdx.x / 2, n = blockDim.x;
    bool fills = blockIdx.x % 2 == 0;
    for (int r = 0; r < rounds; r++) {
        int s = pair * slots + r % slots;
        cuda::atomic_ref<u32, cuda::thread_scope_device> f(full[s]);
        if (threadIdx.x == 0) while (f.load(cuda::memory_order_acquire) != !fills) ;
        __syncthreads();
        if (fills) slot[s * n + threadIdx.x] = r + threadIdx.x;
        else out[pair * n + threadIdx.x] += slot[s * n + threadIdx.x];
        __syncthreads();
        if (threadIdx.x == 0) f.store(fills, cuda::memory_order_release);
    }
}

// Half of a CTA fills one of two buffers while the other half reads the other one: named barriers.
extern "C" __global__ void named(float *out, int rounds)
{
    __shared__ float buffer[2][128];
    int t = threadIdx.x;
    float s = 0;
    if (t < 128)
        for (int r = 0; r < rounds; r++) {
            asm volatile("bar.sync %0, 256;" :: "r"(1 + r % 2) : "memory");
            buffer[r % 2][t] = r * t;
            asm volatile("bar.arrive %0, 256;" :: "r"(3 + r % 2) : "memory");
        }
    else {
        asm volatile("bar.arrive 1, 256;" ::: "memory");
        asm volatile("bar.arrive 2, 256;" ::: "memory");
        for (int r = 0; r < rounds; r++) {
            asm volatile("bar.sync %0, 256;" :: "r"(3 + r % 2) : "memory");
            s += buffer[r % 2][t - 128] + buffer[r % 2][(t + 1) % 128];
            if (r + 2 < rounds) asm volatile("bar.arrive %0, 256;" :: "r"(1 + r % 2) : "memory");
        }
        out[blockIdx.x * 128 + t - 128] = s;
    }
}

// A scan whose CTAs look back over the sums of those before them; sums and their state are one word.
extern "C" __global__ void look_back(const u32 *in, u32 *out, u64 *state, u32 *left, int n)
{
    __shared__ u32 base, part[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    u32 v = i < n ? in[i] : 0, sum = v;
    for (int o = 1; o < 32; o *= 2) { u32 x = __shfl_up_sync(~0u, sum, o); if (lane >= o) sum += x; }
    if (lane == 31) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        u32 all = 0, before = 0;
        for (int k = 0; k < blockDim.x / 32; k++) { u32 x = part[k]; part[k] = all; all += x; }
        volatile u64 *s = state;
        s[blockIdx.x] = (blockIdx.x ? 1ull : 2ull) << 32 | all;
        for (int k = (int)blockIdx.x - 1; k >= 0;) {
            u64 x = s[k];
            if (!(x >> 32)) continue;
            before += (u32)x;
            if (x >> 32 == 2) break;
            k--;
        }
        if (blockIdx.x) s[blockIdx.x] = 2ull << 32 | (u32)(before + all);
        base = before;
    }
    __syncthreads();
    if (i < n) out[i] = base + part[threadIdx.x / 32] + sum - v;
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(left, 1) == gridDim.x - 1) {
        for (int k = 0; k < gridDim.x; k++) ((volatile u64 *)state)[k] = 0;
        atomicExch(left, 0);
    }
}
