// The memory model at its edges: what hands nothing over although it looks so. edges_ok.cu has the same, right. Each kernel is wrong in one place; the arrows mark the lines its report must name.
#define FENCE() asm volatile("fence.acq_rel.gpu;" ::: "memory")
__device__ int load(const int *p) { int v; asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
__device__ void store(int *p, int v) { asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }
__device__ int acquire(const int *p) { int v; asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
__device__ void release(int *p, int v) { asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }

// Every thread has its fence before the barrier, and thread 0 sets the flag behind it. A fence.acq_rel releases what its own thread writes later, not what thread 0 does.
extern "C" __global__ void each_fences(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;                // <-- race
        FENCE();
        __syncthreads();
        if (threadIdx.x == 0) store(flag, 1);
    } else {
        if (threadIdx.x == 0) { while (!load(flag)) {} FENCE(); }
        __syncthreads();
        out[threadIdx.x] = data[threadIdx.x ^ 33];      // <-- race
    }
}

// Thread 0 polls, and the others' fences acquire nothing: they have read no flag.
extern "C" __global__ void reader_fences(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;                // <-- race
        __syncthreads();
        if (threadIdx.x == 0) { FENCE(); store(flag, 1); }
    } else {
        if (threadIdx.x == 0) while (!load(flag)) {}
        __syncthreads();
        FENCE();
        out[threadIdx.x] = data[threadIdx.x ^ 33];      // <-- race
    }
}

// The reduction is relaxed, and the fence before it has the scope of the block.
extern "C" __global__ void red_narrow(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;                // <-- race
        __syncthreads();
        if (threadIdx.x == 0) { __threadfence_block(); asm volatile("red.relaxed.gpu.global.add.s32 [%0], 1;" ::"l"(flag) : "memory"); }
    } else {
        if (threadIdx.x == 0) while (!acquire(flag)) {}
        __syncthreads();
        out[threadIdx.x] = data[threadIdx.x ^ 33];      // <-- race
    }
}

// A pointer is published, and followed without an acquire: an address that depends on it is no order.
extern "C" __global__ void follow(int *pool, int **head, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        pool[5] = 42;                                   // <-- race
        asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(head), "l"(pool + 5) : "memory");
    } else {
        int *p;
        do asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(p) : "l"(head) : "memory");
        while (!p);
        *out = *p;                                      // <-- race
    }
}

// A lock for the whole block is given back behind a barrier, without a fence: a barrier releases to its block only.
extern "C" __global__ void unlock_behind_barrier(int *lock, int *data)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1)) {}
        __threadfence();
    }
    __syncthreads();
    data[threadIdx.x] += 1;                             // <-- race
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(lock, 0);
}

// The lock has its fence, and is given back before the other warps are done.
extern "C" __global__ void unlock_early(int *lock, int *data)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1)) {}
        __threadfence();
    }
    __syncthreads();
    data[threadIdx.x] += 1;                             // <-- race
    if (threadIdx.x == 0) {
        __threadfence();
        atomicExch(lock, 0);
    }
}

// The first hop has the wide scope, the second the narrow one.
extern "C" __global__ void scopes(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *data = 7;                                      // <-- race
        release(flag, 1);
    } else if (blockIdx.x == 0 && threadIdx.x == 32) {
        while (!acquire(flag)) {}
        asm volatile("st.release.cta.global.s32 [%0], 1;" ::"l"(flag + 1) : "memory");  // <-- race_scope
    } else if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (!acquire(flag + 1)) {}
        *out = *data;                                   // <-- race
    }
}

// A compare-and-swap that releases when it should acquire.
extern "C" __global__ void failed_swap(int *data, int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 7;                                      // <-- race
        release(flag, 1);
    } else {
        int v;
        do asm volatile("atom.release.gpu.global.cas.b32 %0, [%1], 2, 3;" : "=r"(v) : "l"(flag) : "memory");
        while (v != 1);
        *out = *data;                                   // <-- race
    }
}

// A release covers its own word: the second flag is relaxed, and that is the one that is read.
extern "C" __global__ void second_flag(int *data, int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 7;                                      // <-- race
        release(flag, 1);
        store(flag + 1, 1);
    } else {
        while (!acquire(flag + 1)) {}
        *out = *data;                                   // <-- race
    }
}

// The fence is another thread's.
extern "C" __global__ void fence_of_another(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *data = 1;                                      // <-- race
        store(flag, 1);
    }
    if (blockIdx.x == 0 && threadIdx.x == 1) FENCE();
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (!load(flag)) {}
        FENCE();
        *out = *data;                                   // <-- race
    }
}

// A sequence lock whose data are plain: the reader throws half a pair away, but it has read it.
extern "C" __global__ void sequence_lock(volatile int *sequence, int *pair, int *torn)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0)
        for (int k = 1; k <= 4; k++) {
            *sequence = 2 * k - 1;
            __threadfence();
            pair[0] = pair[1] = k;                      // <-- race
            __threadfence();
            *sequence = 2 * k;
        }
    else {
        int a, b, before;
        do {
            before = *sequence;
            __threadfence();
            a = pair[0];                                // <-- race
            b = pair[1];                                // <-- race
            __threadfence();
        } while (before != *sequence || before & 1 || before < 2);
        torn[blockIdx.x - 1] = a != b;
    }
}

// The reader waits until one of two writers is done, whichever it is.
extern "C" __global__ void one_of_two(int *data, int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x < 2) {
        data[blockIdx.x] = 1;                           // <-- race
        __threadfence();
        atomicAdd(flag, 1);
    } else {
        while (atomicAdd(flag, 0) < 1) {}
        __threadfence();
        *out = data[0] + data[1];                       // <-- race
    }
}

// The producer writes on behind its bar.arrive.
extern "C" __global__ void behind_arrive(int *out)
{
    __shared__ int s[64];
    if (threadIdx.x < 32) {
        s[threadIdx.x] = threadIdx.x;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        s[threadIdx.x + 32] = threadIdx.x;              // <-- race
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[threadIdx.x - 32] = s[threadIdx.x - 32] + s[threadIdx.x];   // <-- race
    }
}

// Half of a packed counter is read as an int: the size is another one.
extern "C" __global__ void half_of_a_counter(unsigned long long *count, const int *x, int *out)
{
    atomicAdd(count, 1ull << 32 | (unsigned)x[threadIdx.x]);    // <-- race
    if (threadIdx.x == 63) *out = *(volatile int *)count;       // <-- race
}

// One arrival for the whole block: it releases what thread 0 has stored, and nobody else's.
extern "C" __global__ void one_of_all(const int *in, int *out)
{
    __shared__ unsigned long long bar;
    __shared__ int s[64];
    unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at) : "memory");
    __syncthreads();
    s[threadIdx.x] = in[threadIdx.x];                   // <-- race
    if (threadIdx.x == 0) asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at) : "memory");
    int done;
    do asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }" : "=r"(done) : "r"(at) : "memory");
    while (!done);
    out[threadIdx.x] = s[63 - threadIdx.x];             // <-- race
}

// The wait is asked for once, and its answer not looked at.
extern "C" __global__ void answer_ignored(const int *in, int *out)
{
    __shared__ unsigned long long bar;
    __shared__ int s[64];
    unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at) : "memory");
    __syncthreads();
    s[threadIdx.x] = in[threadIdx.x];                   // <-- race
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at) : "memory");
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%0], 0; }" ::"r"(at) : "memory");
    out[threadIdx.x] = s[63 - threadIdx.x];             // <-- race
}

// A barrier of the grid, and one buffer: who is a round ahead writes what the others still read.
extern "C" __global__ void sense_and_buffer(int *data, unsigned *count, unsigned *sense, int *out, int rounds)
{
    unsigned mine = 0, last = gridDim.x - 1;
    for (int k = 0; k < rounds; k++) {
        data[blockIdx.x] = k;                           // <-- race
        __threadfence();
        mine ^= 1;
        if (atomicInc(count, last) == last) {
            __threadfence();
            atomicExch(sense, mine);
        } else
            while (atomicAdd(sense, 0) != mine) {}
        __threadfence();
        out[k * gridDim.x + blockIdx.x] = data[(blockIdx.x + 1) % gridDim.x];   // <-- race
    }
}

// Thread 40, which reads the data, has no fence of its own behind the barrier.
extern "C" __global__ void flag_then_none(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) { data[0] = 7; __threadfence(); store(flag, 1); }  // <-- race
    } else {
        if (threadIdx.x == 0) { __threadfence(); while (!load(flag)) {} }
        __syncthreads();
        if (threadIdx.x == 40) out[0] = data[0];        // <-- race
    }
}

// The fences are under predicates of other lanes.
extern "C" __global__ void guarded_fences(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        if (threadIdx.x == 5) data[0] = 7;              // <-- race
        asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 6; @p fence.acq_rel.gpu; }" ::"r"(threadIdx.x) : "memory");
        if (threadIdx.x == 5) store(flag, 1);
    } else {
        if (threadIdx.x == 9) while (!load(flag)) {}
        asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 9; @p fence.acq_rel.gpu; }" ::"r"(threadIdx.x) : "memory");
        if (threadIdx.x == 9) out[0] = data[0];         // <-- race
    }
}

// The fence of the grid comes before the data, and only that of the block lies between data and flag.
extern "C" __global__ void narrow_behind(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            FENCE();
            data[0] = 7;                                // <-- race
            asm volatile("fence.acq_rel.cta;" ::: "memory");
            store(flag, 1);
        }
    } else if (threadIdx.x == 0) {
        while (!load(flag)) {}
        FENCE();
        out[0] = data[0];                               // <-- race
    }
}

// The data is written between the release and the relaxed store that the reader waits for.
extern "C" __global__ void stored_between(int *data, int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        release(flag, 1);
        data[0] = 7;                                    // <-- race
        store(flag, 2);
    } else {
        while (acquire(flag) != 2) {}
        out[0] = data[0];                               // <-- race
    }
}

// An arrival that is relaxed releases nothing.
extern "C" __global__ void relaxed_arrival(const int *in, int *out)
{
    __shared__ unsigned long long bar;
    __shared__ int s[64];
    unsigned at = (unsigned)__cvta_generic_to_shared(&bar), done = 0;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at) : "memory");
    __syncthreads();
    s[threadIdx.x] = in[threadIdx.x];                   // <-- race
    asm volatile("{ .reg .b64 s; mbarrier.arrive.relaxed.cta.shared.b64 s, [%0]; }" ::"r"(at) : "memory");
    while (!done) asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at) : "memory");
    out[threadIdx.x] = s[63 - threadIdx.x];             // <-- race
}
