// Races whose cause is not what two accesses without an order look like at first: each report must name the right cure.

// One thread carries the sum from tile to tile; the barrier before that is missing, and no atomic would help.
extern "C" __global__ void carry_bad(const int *in, int *out, int n)
{
    __shared__ int s_carry;
    int t = threadIdx.x;
    if (t == 0) s_carry = 0;
    __syncthreads();
    for (int base = 0; base < n; base += 64) {
        int carry = s_carry; // <-- race
        out[base + t] = in[base + t] + carry;
        if (t == 0) s_carry = carry + 64; // <-- race
        __syncthreads();
    }
}
extern "C" __global__ void carry_ok(const int *in, int *out, int n)
{
    __shared__ int s_carry;
    int t = threadIdx.x;
    if (t == 0) s_carry = 0;
    __syncthreads();
    for (int base = 0; base < n; base += 64) {
        int carry = s_carry;
        out[base + t] = in[base + t] + carry;
        __syncthreads();
        if (t == 0) s_carry = carry + 64;
        __syncthreads();
    }
}

// A function that is called twice, and inlined into another one: two calls are no turns of a loop.
__device__ __forceinline__ int highest(int *s, int v, int t)
{
    s[t] = v;
    __syncthreads();
    return max(s[63 - t], v);
}
__device__ __forceinline__ int span(int *s, int v, int t)
{
    int high = highest(s, v, t);
    int low = -highest(s, -v, t);
    return high - low;
}
extern "C" __global__ void calls_bad(const int *in, int *out)
{
    __shared__ int s[64];
    out[threadIdx.x] = span(s, in[threadIdx.x], threadIdx.x);
}

// An unrolled loop: the barrier in it orders the two accesses of one turn, and not those of two turns.
extern "C" __global__ void turns_bad(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x, sum = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        s[t] = in[k * 64 + t]; // <-- race
        __syncthreads();
        sum += s[63 - t]; // <-- race
    }
    out[t] = sum;
}
extern "C" __global__ void turns_ok(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x, sum = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        s[t] = in[k * 64 + t];
        __syncthreads();
        sum += s[63 - t];
        __syncthreads();
    }
    out[t] = sum;
}

// A counter that is read beside the atomics of other blocks.
extern "C" __global__ void progress_bad(int *count, int *out)
{
    if (threadIdx.x) return;
    atomicAdd(count, 1);      // <-- race
    out[blockIdx.x] = *count; // <-- race
}
extern "C" __global__ void progress_ok(int *count, int *out)
{
    if (threadIdx.x) return;
    atomicAdd(count, 1);
    out[blockIdx.x] = atomicAdd(count, 0);
}

// Heads that lie 24 elements apart and have 32 each: the stride is the mistake, no barrier is missing.
extern "C" __global__ void heads_bad(const float *in, float *out)
{
    __shared__ float s[256];
    int t = threadIdx.x, at = t / 32 * 24 + t % 32;
    s[at] = in[t]; // <-- race
    __syncwarp();
    out[t] = s[at] * 2;
}
extern "C" __global__ void heads_ok(const float *in, float *out)
{
    __shared__ float s[256];
    int t = threadIdx.x, at = t / 32 * 32 + t % 32;
    s[at] = in[t];
    __syncwarp();
    out[t] = s[at] * 2;
}

// A step of half a block: half of the elements are written twice, with the same value.
extern "C" __global__ void half_step_bad(const float *in, float *out, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x / 2) out[i] = in[i] * 2; // <-- race_same_value
}
extern "C" __global__ void half_step_ok(const float *in, float *out, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = in[i] * 2;
}

// A table that every thread fills, with the same values.
extern "C" __global__ void table_bad(const float *in, float *out)
{
    __shared__ float table[64];
    for (int i = 0; i < 64; i++) table[i] = in[i] * in[i]; // <-- race_same_value
    __syncthreads();
    out[threadIdx.x] = table[63 - threadIdx.x];
}
extern "C" __global__ void table_ok(const float *in, float *out)
{
    __shared__ float table[64];
    for (int i = threadIdx.x; i < 64; i += blockDim.x) table[i] = in[i] * in[i];
    __syncthreads();
    out[threadIdx.x] = table[63 - threadIdx.x];
}
