// Races in global memory where the synchronisation is there but too weak: flags, fences, scopes, locks, queues. Each kernel is wrong in one place; the arrows mark the lines its report must name.

// A flag with no fence on the writer's side.
extern "C" __global__ void flag_no_release(int *data, volatile int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 42;                             // <-- race
        *flag = 1;
    } else {
        while (!*flag) {}
        __threadfence();
        *out = *data;                           // <-- race
    }
}

// A flag with no fence on the reader's side.
extern "C" __global__ void flag_no_acquire(int *data, volatile int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 42;                             // <-- race
        __threadfence();
        *flag = 1;
    } else {
        while (!*flag) {}
        *out = *data;                           // <-- race
    }
}

// The fence is there, with the scope of a block.
extern "C" __global__ void fence_block(int *data, volatile int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 42;                             // <-- race
        __threadfence_block();
        *flag = 1;
    } else {
        while (!*flag) {}
        __threadfence_block();
        *out = *data;                           // <-- race
    }
}

// The release has the scope of a block, the acquire that of the device.
extern "C" __global__ void release_cta(int *data, int *flag, int *out)
{
    if (threadIdx.x) return;
    int v = 0;
    if (blockIdx.x == 0) {
        *data = 42;                             // <-- race
        asm volatile("st.release.cta.global.u32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");
    } else {
        while (!v) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
        *out = *data;                           // <-- race
    }
}

// Relaxed where release and acquire are needed.
extern "C" __global__ void relaxed(int *data, int *flag, int *out)
{
    if (threadIdx.x) return;
    int v = 0;
    if (blockIdx.x == 0) {
        *data = 42;                             // <-- race
        asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");
    } else {
        while (!v) asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
        *out = *data;                           // <-- race
    }
}

// The fence stands before the data, not between the data and the flag.
extern "C" __global__ void fence_misplaced(int *data, volatile int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        __threadfence();
        *data = 42;                             // <-- race
        *flag = 1;
    } else {
        while (!*flag) {}
        __threadfence();
        *out = *data;                           // <-- race
    }
}

// The last block adds up, and nobody made a fence.
extern "C" __global__ void last_block(const int *in, int *sums, int *count, int *out)
{
    if (threadIdx.x) return;
    sums[blockIdx.x] = in[blockIdx.x] * 3;      // <-- race
    if (atomicAdd(count, 1) == 3) {
        int total = 0;
        for (int i = 0; i < 4; i++) total += sums[i];           // <-- race
        *out = total;
    }
}

// The last block again: thread 0 has its fence, but the barrier before it is missing, so the other threads' results are not covered.
extern "C" __global__ void last_block_no_barrier(const int *in, int *tmp, int *count, int *out)
{
    __shared__ int last;
    int t = threadIdx.x;
    tmp[blockIdx.x * 64 + t] = in[blockIdx.x * 64 + t];         // <-- race
    if (t == 0) {
        __threadfence();
        last = atomicAdd(count, 1) == 3;
        __threadfence();
    }
    __syncthreads();
    if (last && t == 0) {
        int total = 0;
        for (int i = 0; i < 256; i++) total += tmp[i];          // <-- race
        *out = total;
    }
}

// Look-back: the predecessor's flag is set before its sum is written.
extern "C" __global__ void lookback_early(const int *in, int *sum, volatile int *flag)
{
    int b = blockIdx.x;
    if (threadIdx.x) return;
    int before = 0;
    if (b > 0) {
        while (!flag[b - 1]) {}
        __threadfence();
        before = sum[b - 1];                    // <-- race
    }
    flag[b] = 1;
    __threadfence();
    sum[b] = before + in[b];                    // <-- race
}

// Look-back with a flag that is written plainly.
extern "C" __global__ void lookback_weak_flag(const int *in, int *sum, int *flag)
{
    int b = blockIdx.x;
    if (threadIdx.x) return;
    int before = 0;
    if (b > 0) {
        while (!*(volatile int *)&flag[b - 1]) {}       // <-- race
        __threadfence();
        before = sum[b - 1];
    }
    sum[b] = before + in[b];
    __threadfence();
    flag[b] = 1;                                // <-- race
}

// A lock without a fence when it is given back.
extern "C" __global__ void unlock_no_fence(int *lock, int *value)
{
    if (threadIdx.x) return;
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *value += 1;                                // <-- race
    atomicExch(lock, 0);
}

// A lock without a fence when it is taken: no barrier follows, so it is no note of R5a.
extern "C" __global__ void lock_no_fence(int *lock, int *value)
{
    if (threadIdx.x) return;
    while (atomicCAS(lock, 0, 1) != 0) {}
    *value += 1;                                // <-- race
    __threadfence();
    atomicExch(lock, 0);
}

// A lock given back with a plain store.
extern "C" __global__ void unlock_plain(int *lock, int *value)
{
    if (threadIdx.x) return;
    while (atomicCAS(lock, 0, 1) != 0) {}       // <-- race
    __threadfence();
    *value += 1;
    __threadfence();
    *lock = 0;                                  // <-- race
}

// One lock for each CTA where all share the value.
extern "C" __global__ void wrong_lock(int *lock, int *value)
{
    if (threadIdx.x) return;
    int *mine = &lock[blockIdx.x];
    while (atomicCAS(mine, 0, 1) != 0) {}
    __threadfence();
    *value += 1;                                // <-- race
    __threadfence();
    atomicExch(mine, 0);
}

// A second look outside the lock: the value is tested before the lock is taken.
extern "C" __global__ void double_checked(int *lock, int *made, int *value)
{
    if (threadIdx.x || *made) return;           // <-- race
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    if (!*made) { *value = 7; *made = blockIdx.x + 1; } // <-- race
    __threadfence();
    atomicExch(lock, 0);
}

// A ring: the producer publishes the head before it writes the slot.
extern "C" __global__ void ring_publish_early(int *slot, int *head, int *out)
{
    if (threadIdx.x) return;
    int seen = 0;
    if (blockIdx.x == 0)
        for (int i = 0; i < 4; i++) {
            asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(head), "r"(i + 1) : "memory");
            slot[i] = i * i;                    // <-- race
        }
    else
        for (int i = 0; i < 4; i++) {
            while (seen <= i) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(head) : "memory");
            out[i] = slot[i];                   // <-- race
        }
}

// A ring of two slots: the consumer gives a slot back with a relaxed store, before its read need be done.
extern "C" __global__ void ring_relaxed_tail(int *slot, int *head, int *tail, int *out)
{
    if (threadIdx.x) return;
    int seen = 0;
    if (blockIdx.x == 0)
        for (int i = 0; i < 16; i++) {
            while (i - seen >= 2) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(tail) : "memory");
            slot[i & 1] = i * i;                // <-- race
            asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(head), "r"(i + 1) : "memory");
        }
    else
        for (int i = 0; i < 16; i++) {
            while (seen <= i) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(head) : "memory");
            out[i] = slot[i & 1];               // <-- race
            asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(tail), "r"(i + 1) : "memory");
        }
}

// atomicAdd_block between CTAs.
extern "C" __global__ void atomic_block(int *count)
{
    atomicAdd_block(count, (int)threadIdx.x);   // <-- race_scope
}

// One CTA counts with the scope of the device, the other with that of the block.
extern "C" __global__ void atomic_half_block(int *count)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) atomicAdd(count, 1);   // <-- race_scope
    else atomicAdd_block(count, 2);             // <-- race_scope
}

// A grid barrier of one's own without fences.
extern "C" __global__ void grid_barrier(int *a, int *count, int *out)
{
    int b = blockIdx.x;
    if (threadIdx.x) return;
    a[b] = b * 10;                              // <-- race
    atomicAdd(count, 1);
    while (*(volatile int *)count < 4) {}
    out[b] = a[3 - b];                          // <-- race
}

// Thread 0 polls and fences, the rest of the block reads without a barrier behind it.
extern "C" __global__ void poll_no_barrier(int *data, volatile int *flag, int *out)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t;                            // <-- race
        __threadfence();
        __syncthreads();
        if (t == 0) *flag = 1;
    } else {
        if (t == 0) { while (!*flag) {} __threadfence(); }
        out[t] = data[63 - t];                  // <-- race
    }
}
