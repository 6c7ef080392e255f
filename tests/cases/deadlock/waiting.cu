// Barriers, masks, deadlocks. Each kernel is wrong in one place; the arrows mark the lines its report must name.

// __syncthreads in a branch that half of a warp takes.
extern "C" __global__ void divergent(int *a)
{
    int t = threadIdx.x;
    if (t < 16) {
        a[t] += 1;
        __syncthreads();                                // <-- barrier_divergent
    } else a[t] -= 1;
    __syncthreads();
    a[t] += 1;
}

// Two different barriers in the two branches.
extern "C" __global__ void two_branches(int *a)
{
    int t = threadIdx.x;
    if (a[t] & 1) { a[t] = 2; __syncthreads(); }        // <-- barrier_divergent
    else { a[t] = 1; __syncthreads(); }
}

// A barrier in a loop whose length differs between the threads.
extern "C" __global__ void loop_length(int *a)
{
    int t = threadIdx.x;
    for (int i = 0; i <= (t & 1); i++) {
        a[t] += i;
        __syncthreads();                                // <-- barrier_divergent
    }
    __syncthreads();
    a[t] += 1;
}

// A named barrier that counts 96 threads in a block of 64.
extern "C" __global__ void count_large(int *a)
{
    a[threadIdx.x] += 1;
    asm volatile("bar.sync 1, 96;" ::: "memory");       // <-- deadlock
    a[threadIdx.x] += 1;
}

// Two warps give one barrier different counts.
extern "C" __global__ void counts_differ(int *a)
{
    a[threadIdx.x] += 1;
    if (threadIdx.x < 32) asm volatile("bar.sync 1, 96;" ::: "memory"); // <-- barrier_mismatch
    else asm volatile("bar.sync 1, 128;" ::: "memory");
}

// A count that is no multiple of the warp.
extern "C" __global__ void count_odd(int *a, int n)
{
    a[threadIdx.x] += 1;
    asm volatile("bar.sync 1, %0;" ::"r"(n) : "memory");        // <-- barrier_mismatch
}

// One warp waits at barrier 1, the other at barrier 2, both for all 64.
extern "C" __global__ void crossed(int *a)
{
    if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;" ::: "memory"); // <-- deadlock
    else asm volatile("bar.sync 2, 64;" ::: "memory");
    a[threadIdx.x] += 1;
}

// The producer's arrive is missing.
extern "C" __global__ void no_arrive(int *a)
{
    if (threadIdx.x < 32) a[threadIdx.x] = 1;
    else asm volatile("bar.sync 1, 64;" ::: "memory");  // <-- deadlock
}

// A lane outside the mask it passes.
extern "C" __global__ void outside_mask(const int *in, int *out)
{
    int t = threadIdx.x;
    out[t] = __shfl_xor_sync(0xffff, in[t], 1);         // <-- mask_invalid
}

// The full mask in a branch that half of the lanes take, while the others wait at a barrier behind it.
extern "C" __global__ void missing_lanes(const int *in, int *out)
{
    int t = threadIdx.x;
    if (t < 16) out[t] = __shfl_down_sync(~0u, in[t], 1);       // <-- deadlock
    __syncthreads();
    out[t] += in[31 - t];
}

// __syncwarp with a mask that names lanes of the other branch.
extern "C" __global__ void other_branch(const int *in, int *out)
{
    int t = threadIdx.x;
    if (t & 1) {
        out[t] = in[t];
        __syncwarp(~0u);                                // <-- deadlock
        out[t] += 1;
    } else {
        out[t] = -in[t];
        __syncthreads();
    }
}

// Two locks in opposite order.
extern "C" __global__ void lock_order(int *lock, int *got)
{
    int t = threadIdx.x;
    if (t > 1) return;
    int first = t, second = 1 - t;
    while (atomicCAS(&lock[first], 0, 1)) {}
    atomicAdd(&got[0], 1);
    while (*(volatile int *)&got[0] < 2) {}
    while (atomicCAS(&lock[second], 0, 1)) {}           // <-- deadlock
    atomicExch(&lock[second], 0);
    atomicExch(&lock[first], 0);
}

// A flag that nobody sets.
extern "C" __global__ void flag_unset(volatile int *flag, int *out)
{
    if (threadIdx.x == 0) {
        while (*flag == 0) {}                           // <-- deadlock
        *out = 1;
    }
}

// A flag that is set to 1 and waited for as 2.
extern "C" __global__ void flag_value(volatile int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) *flag = 1;
    else {
        while (*flag != 2) {}                           // <-- deadlock
        *out = 1;
    }
}

// A grid barrier that waits for one CTA more than there are.
extern "C" __global__ void grid_count(int *count)
{
    if (threadIdx.x) return;
    atomicAdd(count, 1);
    while (*(volatile int *)count < (int)gridDim.x + 1) {}      // <-- deadlock
}

// A grid barrier in a grid of which only a part is resident.
extern "C" __global__ void grid_resident(int *count)
{
    if (threadIdx.x == 0) {
        atomicAdd(count, 1);
        while (*(volatile int *)count < (int)gridDim.x) {}      // <-- deadlock
    }
    __syncthreads();
}

// One warp spins for a flag that the other sets behind a barrier for both.
extern "C" __global__ void spin_and_barrier(volatile int *flag, int *out)
{
    int t = threadIdx.x;
    if (t < 32) while (*flag == 0) {}                   // <-- deadlock
    __syncthreads();
    if (t == 32) *flag = 1;
    out[t] = t;
}

// Threads return before a barrier that the others reach: legal, and a note.
extern "C" __global__ void early_return(const int *in, int *out, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t >= n) return;
    s[t] = in[t];
    __syncthreads();                                    // <-- barrier_exited
    out[t] = s[n - 1 - t];
}
