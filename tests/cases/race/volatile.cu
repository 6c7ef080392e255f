// Volatile data: it is read from memory each time, and ordered by nothing (R2b).

// A Kogge-Stone scan: the barrier between reading and writing is missing.
extern "C" __global__ void scan_bad(const int *in, int *out)
{
    __shared__ volatile int s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    for (int far = 1; far < 256; far *= 2) {
        __syncthreads();
        int more = t >= far ? s[t - far] : 0; // <-- race_volatile
        s[t] += more;                         // <-- race_volatile
    }
    __syncthreads();
    out[blockIdx.x * 256 + t] = s[t];
}
extern "C" __global__ void scan_ok(const int *in, int *out)
{
    __shared__ volatile int s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    for (int far = 1; far < 256; far *= 2) {
        __syncthreads();
        int more = t >= far ? s[t - far] : 0;
        __syncthreads();
        s[t] += more;
    }
    __syncthreads();
    out[blockIdx.x * 256 + t] = s[t];
}

// The last block adds up what all blocks have left: without the fence it may read what was there before.
extern "C" __global__ void sum_bad(const int *in, volatile int *part, unsigned *count, int *out)
{
    __shared__ bool last;
    int t = threadIdx.x;
    if (t == 0) {
        part[blockIdx.x] = in[blockIdx.x]; // <-- race_volatile
        last = atomicAdd(count, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        int sum = 0;
        for (int b = 0; b < gridDim.x; b++) sum += part[b]; // <-- race_volatile
        *out = sum;
    }
}
extern "C" __global__ void sum_ok(const int *in, volatile int *part, unsigned *count, int *out)
{
    __shared__ bool last;
    int t = threadIdx.x;
    if (t == 0) {
        part[blockIdx.x] = in[blockIdx.x];
        __threadfence();
        last = atomicAdd(count, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        int sum = 0;
        for (int b = 0; b < gridDim.x; b++) sum += part[b];
        *out = sum;
    }
}

// The end of a reduction as it was written before Volta: lanes of a warp, and no __syncwarp.
extern "C" __global__ void warp_bad(const int *in, int *out)
{
    __shared__ volatile int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 32) {
        s[t] += s[t + 32];
        s[t] += s[t + 16]; // <-- race_volatile
        if (t == 0) out[0] = s[0];
    }
}
extern "C" __global__ void warp_ok(const int *in, int *out)
{
    __shared__ volatile int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 32) {
        int sum = s[t] + s[t + 32];
        for (int far = 16; far; far /= 2) {
            __syncwarp();
            s[t] = sum;
            __syncwarp();
            sum += s[t ^ far];
        }
        if (t == 0) out[0] = sum;
    }
}

// Everybody writes the same to a volatile variable: a note, as without volatile.
extern "C" __global__ void changed_bad(volatile int *changed)
{
    *changed = 1; // <-- race_same_value
}

// Flags: polled, or set with volatile and read atomically.
extern "C" __global__ void flag_ok(volatile int *flag, volatile int *data, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0) ;
        __threadfence();
        out[blockIdx.x] = *data;
    }
}
extern "C" __global__ void any_ok(volatile int *stop, int *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, n = 0;
    if (t % 32 == 5) *stop = t;
    while (!*stop) n++;
    out[t] = 1;
}
extern "C" __global__ void lock_ok(int *lock, volatile int *sum)
{
    if (threadIdx.x) return;
    while (atomicCAS(lock, 0, 1)) ;
    __threadfence();
    *sum = *sum + 1;
    __threadfence();
    *(volatile int *)lock = 0;
}
// A chain of blocks: a state word that is polled, with its value in the upper half.
extern "C" __global__ void chain_ok(volatile unsigned long long *state, int *out)
{
    if (threadIdx.x) return;
    unsigned long long before = 0;
    if (blockIdx.x) {
        do before = state[blockIdx.x - 1];
        while (!(before & 1));
    }
    out[blockIdx.x] = (int)(before >> 32) + 1;
    state[blockIdx.x] = ((before >> 32) + 1) << 32 | 1;
}
