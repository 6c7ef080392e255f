// Values that nobody wrote: global, shared, local and heap memory, registers. Each kernel is wrong in one place; the arrows mark the lines its report must name.

// An input that the host never filled.
extern "C" __global__ void input(const float *in, float *out)
{
    out[threadIdx.x] = in[threadIdx.x] * 2.0f;          // <-- uninit_output
}

// += into an output that was not set to zero.
extern "C" __global__ void accumulate(float *out)
{
    out[threadIdx.x] += 1.0f;                           // <-- uninit_output
}

// Atomics count into bins that were never cleared.
extern "C" __global__ void bins(int *count, const int *in)
{
    atomicAdd(&count[in[threadIdx.x] & 3], 1);          // <-- uninit_output
}

// The tail of a shared tile stays unset where n is no multiple of the block.
extern "C" __global__ void tail(const float *in, float *out, int n)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < n) s[t] = in[t];
    __syncthreads();
    out[t] = s[t] + s[63 - t];                          // <-- uninit_output
}

// The left halo cell of a tile is never set.
extern "C" __global__ void halo(const float *in, float *out)
{
    __shared__ float s[66];
    int t = threadIdx.x;
    s[t + 1] = in[t];
    if (t == 63) s[65] = 0;
    __syncthreads();
    out[t] = s[t] + s[t + 1] + s[t + 2];                // <-- uninit_output
}

// A sum in shared memory that nobody set to zero.
extern "C" __global__ void shared_sum(const float *in, float *out)
{
    __shared__ float sum;
    atomicAdd(&sum, in[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) out[0] = sum * 2;             // <-- uninit_output
}

// A flag in shared memory that is set on one path only.
extern "C" __global__ void shared_flag(const int *in, int *out)
{
    __shared__ int found;
    int t = threadIdx.x;
    if (in[t] > 76) found = in[t] & 1;
    __syncthreads();
    if (found) out[t] = in[t];                          // <-- uninit_branch
    else out[t] = -in[t] * 3;
}

// A private array filled up to n - 1, read up to n.
extern "C" __global__ void local_last(const int *in, int *out, int n)
{
    int a[8], sum = 0;
    for (int i = 0; i < n; i++) a[i] = in[i];
    #pragma unroll 1
    for (int i = 0; i <= n; i++) sum += a[(i + threadIdx.x) & 7];
    out[threadIdx.x] = sum;                             // <-- uninit_output
}

// An index that was never set.
extern "C" __global__ void index(const int *order, const int *in, int *out)
{
    int t = threadIdx.x;
    out[t] = in[order[t]];                              // <-- uninit_address
}

// A loop bound from memory that nobody wrote.
extern "C" __global__ void bound(const int *in, int *n)
{
    int sum = 0;
    for (int i = 0; i < n[0]; i++) sum += in[i];        // <-- uninit_branch
    if (sum == 12345) n[0] = sum;
}

// A vote on a flag that is raw.
extern "C" __global__ void vote(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncwarp();
    out[t] = __any_sync(~0u, s[t + 32] > 3);            // <-- uninit_branch
}

// A shuffle reads lanes that have left.
extern "C" __global__ void exited_lane(const int *in, int *out, int n)
{
    int t = threadIdx.x;
    if (t >= n) return;
    out[t] = in[t] + __shfl_down_sync(0xfffff, in[t], 4);       // <-- uninit_output
}

// A struct of which one field is never set.
struct item { int key, weight, count; };
extern "C" __global__ void fields(struct item *a, int *out)
{
    int t = threadIdx.x;
    a[t].key = t;
    a[t].count = 2 * t;
    __syncwarp();
    struct item b = a[31 - t];
    out[t] = b.key + b.weight * b.count;                // <-- uninit_output
}

// Three of four bytes of a word are written.
extern "C" __global__ void three_bytes(unsigned char *a, unsigned *out)
{
    int t = threadIdx.x;
    if (t >= 16) return;
    a[4 * t] = 1; a[4 * t + 1] = 2; a[4 * t + 2] = 3;
    out[t] = *(unsigned *)&a[4 * t] + 1;                // <-- uninit_output
}

// Memory from malloc is used as if it were zero.
extern "C" __global__ void heap(int *out)
{
    int *p = (int *)malloc(16);
    if (!p) return;
    p[0] = threadIdx.x;
    out[threadIdx.x] = p[0] + p[1];                     // <-- uninit_output
    free(p);
}

// An atomic adds a value that nobody wrote.
extern "C" __global__ void operand(const int *in, int *out, int *add)
{
    int t = threadIdx.x;
    atomicAdd(&out[in[t]], add[0]);                     // <-- uninit_atomic
}

// printf of a value that nobody wrote.
#include <cstdio>
extern "C" __global__ void print(const float *in)
{
    if (threadIdx.x == 0) printf("%f\n", in[3]);        // <-- uninit_print
}

// The mask of lanes comes from memory that nobody wrote.
extern "C" __global__ void guard(const unsigned *mask, int *out)
{
    int t = threadIdx.x;
    if (mask[0] >> t & 1) out[t] = t;                   // <-- uninit_branch
}

// The tree reads one level above what was stored: the upper half is raw.
extern "C" __global__ void tree(const float *in, float *out)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int k = 64; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) out[0] = s[0];                          // <-- uninit_output
}

// Only CTA 0 leaves its sum; the other reads both.
extern "C" __global__ void partial_sums(const float *in, float *sums, float *out)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0 && t == 0) {
        sums[0] = in[0];
        out[0] = sums[0] + sums[1];                     // <-- uninit_output
    }
}

// A scan reads the cell before the first one it wrote.
extern "C" __global__ void previous(const float *in, float *a)
{
    int t = threadIdx.x;
    a[t + 1] = in[t];
    __syncwarp();
    if (t == 0) a[1] = a[0] + in[0];                    // <-- uninit_output
}

// A switch that has no case for some lanes leaves the result unset.
extern "C" __global__ void no_case(const int *in, int *out)
{
    int v;
    switch (in[threadIdx.x] & 3) {
    case 0: v = in[0] + 4; break;
    case 1: v = in[1] * 7; break;
    case 2: v = in[2] - 1; break;
    }
    asm volatile("add.s32 %0, %0, 1;" : "+r"(v));
    out[threadIdx.x] = v;                               // <-- uninit_output
}
