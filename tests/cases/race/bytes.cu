// Byte granularity: threads that share a word, a sector or a line but no byte; vector accesses; overlapping reads; equal values of one instruction.
#include <cuda_fp16.h>

// Four threads of different warps write the four bytes of each word.
extern "C" __global__ void bytes_of_a_word(unsigned char *out)
{
    int t = threadIdx.x, at = (t & 31) * 4 + t / 32;
    out[blockIdx.x * 128 + at] = 9;
}

// Bytes of one word in shared memory written by four warps, read as words after the barrier.
extern "C" __global__ void shared_bytes(unsigned *out)
{
    __shared__ unsigned char b[128];
    int t = threadIdx.x;
    b[(t & 31) * 4 + t / 32] = (unsigned char)(t / 32);
    __syncthreads();
    if (t < 32) out[t] = ((unsigned *)b)[t];
}

// One thread reads bytes 0..2 of a word while another writes byte 3.
extern "C" __global__ void read_beside_write(unsigned char *b, int *out)
{
    int t = threadIdx.x;
    if (t < 32)
        out[t] = b[4 * t] + b[4 * t + 1] + b[4 * t + 2];
    else
        b[4 * (t - 32) + 3] = 2;
}

// 16-bit neighbours from different CTAs.
extern "C" __global__ void halves_of_ctas(short *out)
{
    out[threadIdx.x * 2 + blockIdx.x] = -7;
}

// Every lane of a warp stores the same value to one place: one instruction, one value.
extern "C" __global__ void lanes_agree(int *out, int v)
{
    *out = v;
}

// float4 in, float2 out, and the float4 of a thread overlaps nothing of its neighbours.
extern "C" __global__ void vector_copy(const float4 *in, float2 *out)
{
    int i = blockIdx.x * 65 + threadIdx.x;
    float4 v = in[i];
    out[2 * i] = make_float2(v.x, v.y);
    out[2 * i + 1] = make_float2(v.z, v.w);
}

// Scalars in, int4 stored, by every fourth thread, from shared memory.
extern "C" __global__ void gather_vector(const int *in, int4 *out)
{
    __shared__ __align__(16) int s[64];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    if (t % 4 == 3) out[blockIdx.x * 16 + t / 4] = ((int4 *)s)[t / 4];
}

// half2 sums; the odd last half is done apart.
extern "C" __global__ void half_pairs(const __half *a, __half *b, int n)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    if (2 * i + 1 < n)
        ((__half2 *)b)[i] = __hadd2(((const __half2 *)a)[i], ((const __half2 *)b)[i]);
    else if (2 * i < n)
        b[2 * i] = __hadd(a[2 * i], b[2 * i]);
}

// Windows of reads overlap; writes are to one's own element of another buffer.
extern "C" __global__ void overlapping_reads(const int *in, int *out, int n)
{
    int i = blockIdx.x * 50 + threadIdx.x, sum = 0;
    for (int k = max(i - 2, 0); k <= min(i + 2, n - 1); k++) sum += in[k];
    out[i] = sum;
}

// In place: each thread reads and writes its own element only, through two names for one buffer.
extern "C" __global__ void own_element(const int *in, int *out)
{
    int i = blockIdx.x * 70 + threadIdx.x;
    int v = in[i];
    out[i] = v + 1;
    out[i] = in[i] - 1 + (v - v);
}

// The even elements are read by everyone, the odd ones written, in one array.
extern "C" __global__ void even_odd(int *a)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    a[2 * i + 1] = a[(2 * i + 2) % 128] * a[(2 * i + 126) % 128];
}

// Structs of arrays in one allocation; each array is written by its own CTA.
extern "C" __global__ void sliced_buffer(int *all, int n)
{
    int *mine = all + blockIdx.x * n;
    mine[threadIdx.x] = blockIdx.x * n + threadIdx.x;
}

// 64-bit values written as two words by the same thread, read as one by it, and as halves by others later.
extern "C" __global__ void two_words(unsigned long long *w, int *out)
{
    int t = threadIdx.x;
    ((int *)w)[2 * t] = t;
    ((int *)w)[2 * t + 1] = 1;
    unsigned long long v = w[t];
    w[t] = v + (1ull << 32);
    __syncthreads();
    int o = 39 - t;
    out[o] = ((int *)w)[2 * o] + ((int *)w)[2 * o + 1] - 2;
}

// Atomics of 32 and of 64 bits, each always on the same words; a plain read after the barrier.
extern "C" __global__ void atomic_then_plain(int *out)
{
    __shared__ int n;
    __shared__ unsigned long long m;
    if (threadIdx.x == 0) { n = 0; m = 0; }
    __syncthreads();
    atomicAdd(&n, 1);
    atomicAdd(&m, 2ull);
    __syncthreads();
    out[threadIdx.x] = n + (int)m;
}
