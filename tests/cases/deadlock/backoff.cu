// Waits that fall back on a clock and on sleep: what the clock says chooses how long a thread sleeps, not whether the wait ends.
#include <cuda/barrier>

// The barrier expects one arrival more than there are threads.
extern "C" __global__ void count_bad(int *out)
{
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0) init(&bar, blockDim.x + 1);
    __syncthreads();
    bar.arrive_and_wait();   // <-- deadlock
    out[threadIdx.x] = 1;
}

extern "C" __global__ void count_ok(int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    bar.arrive_and_wait();
    out[threadIdx.x] = 1;
}

// The number of tries and the clock go on for ever, and nobody raises the flag.
extern "C" __global__ void tries_bad(int *flag, int *out)
{
    int tries = 0;
    long long begin = clock64();
    while (atomicAdd(flag, 0) == 0) {   // <-- deadlock
        tries++;
        if (tries > 8 && clock64() - begin > 1000) __nanosleep(tries < 64 ? tries : 64);
    }
    out[threadIdx.x] = 1;
}

// Another warp raises it, late.
extern "C" __global__ void tries_ok(int *flag, int *out)
{
    if (threadIdx.x >= 32) {
        if (threadIdx.x == 32) {
            for (int k = 0; k < 100; k++) __nanosleep(1000);
            atomicExch(flag, 1);
        }
        return;
    }
    int tries = 0;
    long long begin = clock64();
    while (atomicAdd(flag, 0) == 0) {
        tries++;
        if (tries > 8 && clock64() - begin > 1000) __nanosleep(tries < 64 ? tries : 64);
    }
    out[threadIdx.x] = 1;
}

// A wait that gives up: by the clock, and by the number of tries.
extern "C" __global__ void limit_ok(int *flag, int *out)
{
    long long begin = clock64();
    bool late = false;
    while (atomicAdd(flag, 0) == 0 && !late)
        if (clock64() - begin > 100000) late = true;
    int tries = 0;
    while (atomicAdd(flag, 0) == 0)
        if (++tries > 5000) break;
    out[threadIdx.x] = late + tries;
}

// What the clock says chooses which flag is read: one of them is up.
extern "C" __global__ void either_ok(int *flag, int *out)
{
    int which = 0;
    long long begin = clock64();
    while (atomicAdd(flag + which, 0) == 0)
        if (clock64() - begin > 50000) which = 1;
    out[threadIdx.x] = which;
}
