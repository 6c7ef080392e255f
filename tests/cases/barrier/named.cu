// Barriers other than __syncthreads: bar.sync with a number and a count, bar.arrive, mbarriers, split arrive and wait.
#include <cuda/barrier>
#include <cooperative_groups.h>
#pragma nv_diag_suppress static_var_with_dynamic_init
namespace cg = cooperative_groups;

__device__ void bar_sync(int id, int count) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(count) : "memory"); }
__device__ void bar_arrive(int id, int count) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(count) : "memory"); }

// Two halves of a CTA, each with a barrier of its own.
extern "C" __global__ void two_halves(const int *in, int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x, half = t / 64, i = blockIdx.x * 128 + t;
    s[t] = in[i];
    bar_sync(1 + half, 64);
    int v = s[half * 64 + 63 - (t & 63)];
    bar_sync(1 + half, 64);
    s[t] = v;
    bar_sync(1 + half, 64);
    out[i] = s[half * 64 + 63 - (t & 63)];
}

// Warp 0 produces and waits for the slot to be free; warp 1 consumes; full and empty are two barriers of 64.
extern "C" __global__ void produce_consume(int *out, int rounds)
{
    __shared__ int slot[32];
    int lane = threadIdx.x & 31, sum = 0;
    if (threadIdx.x < 32) {
        for (int r = 0; r < rounds; r++) {
            bar_sync(2, 64);
            slot[lane] = r;
            bar_arrive(1, 64);
        }
    } else {
        bar_arrive(2, 64);
        for (int r = 0; r < rounds; r++) {
            bar_sync(1, 64);
            sum += slot[31 - lane];
            if (r + 1 < rounds) bar_arrive(2, 64);
        }
        out[blockIdx.x * 32 + lane] = sum;
    }
}

// The same with two slots, so that producer and consumer overlap; four barriers.
extern "C" __global__ void two_slots(int *out, int rounds)
{
    __shared__ int slot[2][32];
    int lane = threadIdx.x & 31, sum = 0;
    if (threadIdx.x < 32) {
        for (int r = 0; r < rounds; r++) {
            if (r >= 2) bar_sync(3 + (r & 1), 64);
            slot[r & 1][lane] = r;
            bar_arrive(1 + (r & 1), 64);
        }
    } else {
        for (int r = 0; r < rounds; r++) {
            bar_sync(1 + (r & 1), 64);
            sum += slot[r & 1][lane ^ 7];
            if (r + 2 < rounds) bar_arrive(3 + (r & 1), 64);
        }
        out[lane] = sum;
    }
}

// A third warp never takes part in the barrier of the other two, and is done early.
extern "C" __global__ void two_of_three(int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t >= 64) return;
    s[t] = t;
    bar_sync(5, 64);
    out[blockIdx.x * 64 + t] = s[63 - t] + t;
}

// bar.red: the count of a named barrier, predicates of 64 threads only.
extern "C" __global__ void named_popc(int *out)
{
    if (threadIdx.x < 64) {
        int n;
        asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; bar.red.popc.u32 %0, 7, 64, p; }" : "=r"(n) : "r"(threadIdx.x & 1) : "memory");
        out[threadIdx.x] = n;
    }
    __syncthreads();
}

// barrier.sync (not aligned) reached from two different places of a diverged warp.
extern "C" __global__ void two_places(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    if (t & 1)
        asm volatile("barrier.sync 0;" ::: "memory");
    else
        asm volatile("barrier.sync 0;" ::: "memory");
    out[63 - t] = s[63 - t];
}

// cuda::barrier: arrive, work on something else, wait.
extern "C" __global__ void split_barrier(const int *in, int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int s[96];
    int t = threadIdx.x, i = blockIdx.x * 96 + t;
    if (t == 0) init(&bar, 96);
    __syncthreads();
    s[t] = in[i];
    auto token = bar.arrive();
    int own = t * 2;
    bar.wait(std::move(token));
    out[blockIdx.x * 96 + 95 - t] = s[95 - t] + own - 2 * t;
}

// Phases of one cuda::barrier in a loop: a neighbour's cell is read after a phase and overwritten after the next.
extern "C" __global__ void barrier_phases(int *out, int steps)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t == 0) init(&bar, 64);
    s[t] = t;
    __syncthreads();
    for (int k = 0; k < steps; k++) {
        int v = s[(t + 8) & 63];
        bar.arrive_and_wait();
        s[t] = v;
        bar.arrive_and_wait();
    }
    out[t] = s[t];
}

// Only the consumers wait: producers arrive on full and go on; one mbarrier each way.
extern "C" __global__ void mbarrier_queue(int *out, int rounds)
{
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ barrier full, empty;
    __shared__ int slot[32];
    int lane = threadIdx.x & 31, sum = 0;
    if (threadIdx.x == 0) {
        init(&full, 64);
        init(&empty, 64);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int r = 0; r < rounds; r++) {
            empty.arrive_and_wait();
            slot[lane] = r;
            (void)full.arrive();
        }
    } else {
        for (int r = 0; r < rounds; r++) {
            (void)empty.arrive();
            full.arrive_and_wait();
            sum += slot[31 - lane];
        }
        out[blockIdx.x * 32 + lane] = sum;
    }
}

// Threads leave a cuda::barrier for good with arrive_and_drop; the rest go on with fewer.
extern "C" __global__ void dropping(int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t == 0) init(&bar, 64);
    s[t] = 1;
    __syncthreads();
    if (t >= 32) {
        s[t] = 5;
        out[t] = 6;
        bar.arrive_and_drop();
        return;
    }
    bar.arrive_and_wait();
    out[t] = s[t + 32] + s[t];
    bar.arrive_and_wait();
}

// mbarrier by hand: one arrival publishes, everyone else polls with test_wait on the parity.
extern "C" __global__ void parity_wait(int *out)
{
    __shared__ __align__(8) unsigned long long bar;
    __shared__ int cell;
    unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at) : "memory");
    __syncthreads();
    if (threadIdx.x == 40) {
        cell = 41;
        asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at) : "memory");
    }
    int done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }" : "=r"(done) : "r"(at) : "memory");
    out[blockIdx.x * 64 + threadIdx.x] = cell;
}

// Cooperative groups: arrive and wait of the block apart, with work that touches nothing shared between.
extern "C" __global__ void group_arrive_wait(const int *in, int *out)
{
    __shared__ int s[64];
    cg::thread_block block = cg::this_thread_block();
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = in[i];
    auto token = block.barrier_arrive();
    int own = in[i];
    block.barrier_wait(std::move(token));
    out[blockIdx.x * 64 + 63 - t] = s[63 - t] + own - in[i];
}
