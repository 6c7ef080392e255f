// The memory model at its edges: what hands data over although it does not look so. edges_bad.cu has the same with one word changed.
#define SC() asm volatile("fence.sc.gpu;" ::: "memory")
__device__ int load(const int *p) { int v; asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
__device__ void store(int *p, int v) { asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }
__device__ int acquire(const int *p) { int v; asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
__device__ void release(int *p, int v) { asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }

// Every thread has its fence before the barrier, and thread 0 sets the flag behind it: only the order of fence.sc reaches from one thread's fence to the reader's.
extern "C" __global__ void each_fences(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;
        SC();
        __syncthreads();
        if (threadIdx.x == 0) store(flag, 1);
    } else {
        if (threadIdx.x == 0) { while (!load(flag)) {} SC(); }
        __syncthreads();
        out[threadIdx.x] = data[threadIdx.x ^ 33];
    }
}

// Thread 0 polls, and every thread has its own fence behind the barrier: fence.sc again.
extern "C" __global__ void reader_fences(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;
        __syncthreads();
        if (threadIdx.x == 0) { SC(); store(flag, 1); }
    } else {
        if (threadIdx.x == 0) while (!load(flag)) {}
        __syncthreads();
        SC();
        out[threadIdx.x] = data[threadIdx.x ^ 33];
    }
}

// The idiom of a thousand kernels: __threadfence() by all, the barrier, the counter.
extern "C" __global__ void threadfence_by_all(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) atomicExch(flag, 1);
    } else {
        if (threadIdx.x == 0) while (!atomicAdd(flag, 0)) {}
        __syncthreads();
        __threadfence();
        out[threadIdx.x] = data[threadIdx.x ^ 33];
    }
}

// A reduction releases: red has no result, and the acquire reads what it left.
extern "C" __global__ void red_release(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;
        __syncthreads();
        if (threadIdx.x == 0) asm volatile("red.release.gpu.global.add.s32 [%0], 1;" ::"l"(flag) : "memory");
    } else {
        if (threadIdx.x == 0) while (!acquire(flag)) {}
        __syncthreads();
        out[threadIdx.x] = data[threadIdx.x ^ 33];
    }
}

// Two readers poll by adding 0: each reads the release through the additions of the other.
extern "C" __global__ void poll_by_adding(int *data, int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {}
        __threadfence();
        out[blockIdx.x - 1] = *data;
    }
}

// The second hop is a relaxed store, yet one fence of that thread lies between what it has read and what it tells.
extern "C" __global__ void one_fence_two_hops(int *data, int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        atomicExch(flag, 1);
    } else if (blockIdx.x == 1) {
        while (atomicAdd(flag, 0) != 1) {}
        __threadfence();
        out[0] = *data;
        store(flag, 2);
    } else {
        while (atomicAdd(flag, 0) != 2) {}
        __threadfence();
        out[1] = *data;
    }
}

// A pointer is published, and what it points to read behind an acquire of the pointer.
extern "C" __global__ void publish(int *pool, int **head, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        pool[5] = 42;
        asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(head), "l"(pool + 5) : "memory");
    } else {
        int *p;
        do asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(p) : "l"(head) : "memory");
        while (!p);
        *out = *p;
    }
}

// Thread 0 takes a lock for its whole block, and gives it back for it.
extern "C" __global__ void lock_of_the_block(int *lock, int *data)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1)) {}
        __threadfence();
    }
    __syncthreads();
    data[threadIdx.x] += 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicExch(lock, 0);
    }
}

// The scope of the block is enough within the block; the next hop has the wide one.
extern "C" __global__ void scopes(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *data = 7;
        asm volatile("st.release.cta.global.s32 [%0], 1;" ::"l"(flag) : "memory");
    } else if (blockIdx.x == 0 && threadIdx.x == 32) {
        int v;
        do asm volatile("ld.acquire.cta.global.s32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
        while (!v);
        release(flag + 1, 1);
    } else if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (!acquire(flag + 1)) {}
        *out = *data;
    }
}

// A compare-and-swap that never succeeds is how this reader acquires.
extern "C" __global__ void failed_swap(int *data, int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 7;
        release(flag, 1);
    } else {
        int v;
        do asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], 2, 3;" : "=r"(v) : "l"(flag) : "memory");
        while (v != 1);
        *out = *data;
    }
}

// One release fence covers every strong store behind it, the second flag, too.
extern "C" __global__ void second_flag(int *data, int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 7;
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        store(flag, 1);
        store(flag + 1, 1);
    } else {
        while (!acquire(flag + 1)) {}
        *out = *data;
    }
}

// A sequence lock whose data are relaxed: readers may see half of it, and throw it away.
extern "C" __global__ void sequence_lock(int *sequence, int *pair, int *torn)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0)
        for (int k = 1; k <= 4; k++) {
            store(sequence, 2 * k - 1);
            __threadfence();
            store(pair, k);
            store(pair + 1, k);
            release(sequence, 2 * k);
        }
    else {
        int a, b, before, behind;
        do {
            before = acquire(sequence);
            a = load(pair);
            b = load(pair + 1);
            __threadfence();
            behind = load(sequence);
        } while (before != behind || before & 1 || before < 2);
        torn[blockIdx.x - 1] = a != b;
    }
}

// One slot and one __syncwarp a round: who reads a round writes the next, so nothing else needs an order.
extern "C" __global__ void relay(int *out)
{
    __shared__ int slot;
    for (int k = 0; k < 32; k++) {
        if (threadIdx.x == k) slot = k * k;
        __syncwarp();
        if (threadIdx.x == (k + 1) % 32) out[k] = slot;
    }
}

// One arrival for each warp, behind a __syncwarp that gathers the others' stores.
extern "C" __global__ void one_of_a_warp(const int *in, int *out)
{
    __shared__ unsigned long long bar;
    __shared__ int s[64];
    unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 2;" ::"r"(at) : "memory");
    __syncthreads();
    s[threadIdx.x] = in[threadIdx.x];
    __syncwarp();
    if (threadIdx.x % 32 == 0) asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at) : "memory");
    int done;
    do asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }" : "=r"(done) : "r"(at) : "memory");
    while (!done);
    out[threadIdx.x] = s[63 - threadIdx.x];
}

// A barrier of the grid whose sense turns, and two buffers: who is a round ahead writes the other one.
extern "C" __global__ void sense_and_buffers(int *data, unsigned *count, unsigned *sense, int *out, int rounds)
{
    unsigned mine = 0, last = gridDim.x - 1;
    for (int k = 0; k < rounds; k++) {
        data[k % 2 * gridDim.x + blockIdx.x] = k;
        __threadfence();
        mine ^= 1;
        if (atomicInc(count, last) == last) {
            __threadfence();
            atomicExch(sense, mine);
        } else
            while (atomicAdd(sense, 0) != mine) {}
        __threadfence();
        out[k * gridDim.x + blockIdx.x] = data[k % 2 * gridDim.x + (blockIdx.x + 1) % gridDim.x];
    }
}

// Thread 0 reads the flag behind its own fence, and acquires nothing; but the fence of the thread that reads the data is behind the writer's, by the barrier.
extern "C" __global__ void fence_then_flag(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) { data[0] = 7; SC(); store(flag, 1); }
    } else {
        if (threadIdx.x == 0) { SC(); while (!load(flag)) {} }
        __syncthreads();
        if (threadIdx.x == 40) { SC(); out[0] = data[0]; }
    }
}

// Fences under a predicate: of the writer and of the reader.
extern "C" __global__ void guarded_fences(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        if (threadIdx.x == 5) data[0] = 7;
        asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 5; @p fence.acq_rel.gpu; }" ::"r"(threadIdx.x) : "memory");
        if (threadIdx.x == 5) store(flag, 1);
    } else {
        if (threadIdx.x == 9) while (!load(flag)) {}
        asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 9; @p fence.acq_rel.gpu; }" ::"r"(threadIdx.x) : "memory");
        if (threadIdx.x == 9) out[0] = data[0];
    }
}

// A fence of the block between the fence of the grid and the flag, and between the flag and that fence: each side has the one it takes.
extern "C" __global__ void narrow_between(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            data[0] = 7;
            asm volatile("fence.acq_rel.gpu; fence.acq_rel.cta;" ::: "memory");
            store(flag, 1);
        }
    } else if (threadIdx.x == 0) {
        while (!load(flag)) {}
        asm volatile("fence.acq_rel.cta; fence.acq_rel.gpu;" ::: "memory");
        out[0] = data[0];
    }
}

// The flag is released, and then stored to again by the same thread, relaxed: who sees the second value has what the first one released.
extern "C" __global__ void stored_again(int *data, int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        data[0] = 7;
        release(flag, 1);
        store(flag, 2);
    } else {
        while (acquire(flag) != 2) {}
        out[0] = data[0];
    }
}

// An arrival and a wait at an mbarrier that are relaxed: fences around them release and acquire.
extern "C" __global__ void relaxed_arrival(const int *in, int *out)
{
    __shared__ unsigned long long bar;
    __shared__ int s[64];
    unsigned at = (unsigned)__cvta_generic_to_shared(&bar), done = 0;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at) : "memory");
    __syncthreads();
    s[threadIdx.x] = in[threadIdx.x];
    asm volatile("{ .reg .b64 s; fence.acq_rel.cta; mbarrier.arrive.relaxed.cta.shared.b64 s, [%0]; }" ::"r"(at) : "memory");
    while (!done) asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.relaxed.cta.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at) : "memory");
    asm volatile("fence.acq_rel.cta;" ::: "memory");
    out[threadIdx.x] = s[63 - threadIdx.x];
}
