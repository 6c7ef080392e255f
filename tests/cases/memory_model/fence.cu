// Data handed from thread to thread and from CTA to CTA under the PTX memory model, each time with just the fences that it needs.
#include <cuda/atomic>

using gpu_int = cuda::atomic_ref<int, cuda::thread_scope_device>;

// The last CTA to arrive adds up what all have left, fences on both sides of the counter.
extern "C" __global__ void last_block(const int *in, int *part, int *count, int *total)
{
    __shared__ int s[64];
    __shared__ bool last;
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) {
        part[blockIdx.x] = s[0];
        __threadfence();
        last = atomicAdd(count, 1) == (int)gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && t < (int)gridDim.x) atomicAdd(total, part[t]);
}

// Every thread leaves data of its own; the barrier before the counter makes thread 0's fence cover them all.
extern "C" __global__ void last_block_cumulative(int *data, int *count, int *out)
{
    __shared__ int ticket;
    int i = blockIdx.x * 96 + threadIdx.x;
    data[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        ticket = atomicAdd(count, 1);
        __threadfence();
    }
    __syncthreads();
    if (ticket == (int)gridDim.x - 1)
        for (int k = threadIdx.x; k < (int)gridDim.x * 96; k += 96) out[k] = data[k];
}

// atomicInc wraps the counter back to 0, so that the next launch finds it ready.
extern "C" __global__ void last_block_wraps(int *data, unsigned *count, int *total)
{
    data[blockIdx.x * 32 + threadIdx.x] = 1;
    __threadfence();
    __syncthreads();
    __shared__ unsigned old;
    if (threadIdx.x == 0) {
        old = atomicInc(count, gridDim.x - 1);
        __threadfence();
    }
    __syncthreads();
    if (old == gridDim.x - 1) {
        int sum = 0;
        for (int k = threadIdx.x; k < 192; k += 32) sum += data[k];
        atomicAdd(total, sum);
    }
}

// Message passing by fence and volatile flag.
extern "C" __global__ void fence_flag(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        *(volatile int *)flag = 1;
    } else {
        while (*(volatile int *)flag == 0) {}
        __threadfence();
        *out = *data;
    }
}

// The same by st.release and ld.acquire.
extern "C" __global__ void ptx_release_acquire(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        *data = 43;
        asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(__cvta_generic_to_global(flag)) : "memory");
    } else {
        int seen;
        do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(__cvta_generic_to_global(flag)) : "memory");
        while (!seen);
        *out = *data;
    }
}

// atom.release and atom.acquire, and a relaxed add between them: the chain of read-modify-writes carries the release.
extern "C" __global__ void release_sequence(int *data, int *flag, int *out)
{
    int old;
    if (blockIdx.x == 0) {
        *data = 44;
        asm volatile("atom.add.release.gpu.global.s32 %0, [%1], 1;" : "=r"(old) : "l"(flag) : "memory");
    } else if (blockIdx.x == 1) {
        while (atomicCAS(flag, 1, 2) != 1) {}
    } else {
        do asm volatile("atom.or.acquire.gpu.global.b32 %0, [%1], 0;" : "=r"(old) : "l"(flag) : "memory");
        while (old != 2);
        *out = *data;
    }
}

// Three CTAs in a chain: what the first wrote reaches the third through the second (cumulativity).
extern "C" __global__ void chain(int *data, int *flags, int *out)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t;
        __syncwarp();
        if (t == 0) gpu_int(flags[0]).store(1, cuda::memory_order_release);
    } else if (blockIdx.x == 1) {
        if (t == 0) {
            while (gpu_int(flags[0]).load(cuda::memory_order_acquire) == 0) {}
            gpu_int(flags[1]).store(1, cuda::memory_order_release);
        }
    } else {
        if (t == 31)
            while (gpu_int(flags[1]).load(cuda::memory_order_acquire) == 0) {}
        __syncwarp();
        out[t] = data[31 - t] + 2 * t - 31;
    }
}

// A spin lock by compare-and-swap with fences inside; the counter in it is plain.
extern "C" __global__ void cas_lock(int *lock, int *counter)
{
    for (int k = 0; k < 10; k++) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        *counter += 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

// A lock that lanes of one warp contend for: the work is inside the loop, so that the holder is never kept from leaving.
extern "C" __global__ void lane_lock(int *lock, int *counter)
{
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *(volatile int *)counter = *(volatile int *)counter + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

// A ticket lock with acquire and release of cuda::atomic_ref.
extern "C" __global__ void ticket_lock(int *lock, int *counter)
{
    for (int k = 0; k < 5; k++) {
        int mine = gpu_int(lock[0]).fetch_add(1, cuda::memory_order_relaxed);
        while (gpu_int(lock[1]).load(cuda::memory_order_acquire) != mine) {}
        *counter += 1;
        gpu_int(lock[1]).store(mine + 1, cuda::memory_order_release);
    }
}

// Readers and writers: readers count themselves in, a writer swaps the count from 0 to -1.
extern "C" __global__ void reader_writer(int *state, int *pair, int *bad)
{
    gpu_int s(*state);
    for (int k = 0; k < 4; k++) {
        if (blockIdx.x < 3) {
            int none = 0;
            while (!s.compare_exchange_weak(none, -1, cuda::memory_order_acquire, cuda::memory_order_relaxed)) none = 0;
            pair[0]++;
            pair[1]++;
            s.store(0, cuda::memory_order_release);
        } else {
            int seen = s.load(cuda::memory_order_relaxed);
            while (seen < 0 || !s.compare_exchange_weak(seen, seen + 1, cuda::memory_order_acquire, cuda::memory_order_relaxed))
                seen = s.load(cuda::memory_order_relaxed);
            if (pair[0] != pair[1]) atomicAdd(bad, 1);
            s.fetch_sub(1, cuda::memory_order_release);
        }
    }
}

// A ring of 8 between a producing and a consuming CTA, head and tail each written by one side only.
extern "C" __global__ void ring(int *slots, int *ends, int *out)
{
    gpu_int head(ends[0]), tail(ends[1]);
    if (blockIdx.x == 0) {
        for (int k = 0; k < 100; k++) {
            while (k - tail.load(cuda::memory_order_acquire) == 8) {}
            slots[k & 7] = k;
            head.store(k + 1, cuda::memory_order_release);
        }
    } else {
        for (int k = 0; k < 100; k++) {
            while (head.load(cuda::memory_order_acquire) == k) {}
            out[k] = slots[k & 7];
            tail.store(k + 1, cuda::memory_order_release);
        }
    }
}

// Many producers, one consumer: a slot is claimed by a relaxed add, and published by its own flag.
extern "C" __global__ void claim_and_publish(int *slots, int *ready, int *next, int *sum)
{
    if (blockIdx.x < 4) {
        int at = atomicAdd(next, 1);
        slots[at] = blockIdx.x * 32 + threadIdx.x;
        __threadfence();
        atomicExch(&ready[at], 1);
    } else if (threadIdx.x == 0) {
        int s = 0;
        for (int k = 0; k < 128; k++) {
            while (atomicAdd(&ready[k], 0) == 0) {}
            __threadfence();
            s += slots[k];
        }
        *sum = s;
    }
}

// A stack of nodes pushed by compare-and-swap with release, taken over as a whole by exchange with acquire.
extern "C" __global__ void treiber_push(int *next, int *head, int *done, int *sum)
{
    int me = blockIdx.x * 32 + threadIdx.x;
    gpu_int top(*head);
    int old = top.load(cuda::memory_order_relaxed);
    do next[me] = old;
    while (!top.compare_exchange_weak(old, me, cuda::memory_order_release, cuda::memory_order_relaxed));
    if (gpu_int(*done).fetch_add(1, cuda::memory_order_acq_rel) == 191) {
        int s = 0;
        for (int k = top.exchange(-1, cuda::memory_order_acquire); k >= 0; k = next[k]) s += k;
        *sum = s;
    }
}

// An atomic flag alone, no data with it: relaxed on both sides is enough.
extern "C" __global__ void found_flag(const int *in, int *found)
{
    if (in[blockIdx.x * 64 + threadIdx.x] % 100 == 77) atomicExch(found, 1);
    (void)*(volatile int *)found;
}
