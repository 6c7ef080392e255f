// Races in shared memory between the lanes of one warp, and where a barrier is the wrong one. Each kernel is wrong in one place; the arrows mark the lines its report must name.

// No __syncwarp between the write and the neighbour's read.
extern "C" __global__ void neighbour(const int *in, int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = in[t];                       // <-- race
    out[t] = s[(t + 1) & 31];           // <-- race
}

// Warp-synchronous reduction as of 2010, with volatile and no __syncwarp.
extern "C" __global__ void warp_volatile(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    s[t + 32] = 0;
    __syncwarp();
    if (t < 16) s[t] += s[t + 16];      // <-- race
    if (t < 8) s[t] += s[t + 8];        // <-- race
    __syncwarp();
    if (t == 0) out[0] = s[0] + s[1];
}

// __syncwarp with the lower half's mask, read by the lower half from the upper.
extern "C" __global__ void half_mask(const int *in, int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = in[t];                       // <-- race
    if (t < 16) {
        __syncwarp(0xffff);
        out[t] = s[t + 16];             // <-- race
    }
}

// __syncwarp where two warps exchange: it orders one warp only.
extern "C" __global__ void syncwarp_for_block(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];                       // <-- race
    __syncwarp();
    out[t] = s[t ^ 32];                 // <-- race
}

// A loop over rounds: the write of the next round meets the read of this one.
extern "C" __global__ void warp_rounds(const int *in, int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    for (int r = 0; r < 2; r++) {
        s[t] = in[r * 32 + t];          // <-- race
        __syncwarp();
        out[r * 32 + t] = s[31 - t];    // <-- race
    }
}

// Even lanes write in one branch, odd lanes read in the other: nothing says which comes first.
extern "C" __global__ void branches(const int *in, int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = 0;
    __syncwarp();
    if (t & 1) out[t] = s[t - 1];       // <-- race
    else s[t] = in[t];                  // <-- race
}

// Each warp leaves its sum, and warp 0 adds them with only a __syncwarp.
extern "C" __global__ void warp_sums(const int *in, int *out)
{
    __shared__ int sums[2];
    int t = threadIdx.x, v = in[t];
    for (int k = 16; k > 0; k >>= 1) v += __shfl_down_sync(~0u, v, k);
    if ((t & 31) == 0) sums[t >> 5] = v;        // <-- race
    __syncwarp();
    if (t == 0) out[0] = sums[0] + sums[1];     // <-- race
}

// A fence orders one thread's accesses, it does not wait: it is no barrier.
extern "C" __global__ void fence_for_barrier(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];                       // <-- race
    __threadfence_block();
    out[t] = s[63 - t];                 // <-- race
}

// Lane 0 fills a table that all lanes read after reconverging; reconvergence orders nothing.
extern "C" __global__ void leader(const int *in, int *out)
{
    __shared__ int s[4];
    int t = threadIdx.x;
    if (t == 0)
        for (int i = 0; i < 4; i++) s[i] = in[i] * 3;   // <-- race
    out[t] = s[t & 3];                  // <-- race
}

// Two named barriers mixed up: the producers arrive at 1, the consumers sync at 2 among themselves.
extern "C" __global__ void named_mixed(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 64) {
        s[t] = in[t];                   // <-- race
        asm volatile("bar.sync 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 2, 64;" ::: "memory");
        out[t] = s[t - 64];             // <-- race
    }
}

// Producer and consumer share one named barrier where two are needed: nothing tells the producer that the buffer is free.
extern "C" __global__ void named_single(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    for (int r = 0; r < 2; r++) {
        if (t < 64) {
            s[t] = in[r * 64 + t];      // <-- race
            asm volatile("bar.arrive 1, 128;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 128;" ::: "memory");
            out[r * 64 + t - 64] = s[t - 64];   // <-- race
        }
    }
}

// Two of three warps meet, and read what the third one writes.
extern "C" __global__ void two_of_three(const int *in, int *out)
{
    __shared__ int s[96];
    int t = threadIdx.x;
    s[t] = in[t];                       // <-- race
    if (t < 64) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t] = s[t + 32];             // <-- race
    }
}

// Threads past n return early; the others read the cells these would have set to zero later.
extern "C" __global__ void late_zero(const int *in, int *out, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < n) s[t] = in[t];
    __syncthreads();
    if (t >= n) { s[t] = 0; return; }   // <-- race
    out[t] = s[63 - t];                 // <-- race
}
