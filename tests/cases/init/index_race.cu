// An index that nobody wrote: threads that store through it meet at one element. The race is its consequence.
extern "C" __global__ void bins_bad(int *out, int n)
{
    __shared__ int at[64];
    int t = threadIdx.x;
    if (t < n) at[t] = t;
    __syncthreads();
    out[at[t] & 63] = t; // <-- uninit_address
}
// The index is written and read without a barrier: the race of its own bytes is the cause, and the rest follows.
extern "C" __global__ void unordered_bad(int *out)
{
    __shared__ int at[64];
    int t = threadIdx.x;
    at[63 - t] = t; // <-- race
    out[at[t] & 63] = t; // <-- race
}
// The same statement reads two arrays: a race of the one explains nothing about the other.
extern "C" __global__ void both_bad(int *out, int n)
{
    __shared__ int at[64], other[64];
    int t = threadIdx.x;
    if (t < n) at[t] = t;
    __syncthreads();
    other[63 - t] = t; // <-- race
    out[(at[t] & 63) + other[t]] = t; // <-- uninit_address
}
extern "C" __global__ void bins_ok(int *out)
{
    __shared__ int at[64];
    int t = threadIdx.x;
    at[63 - t] = t;
    __syncthreads();
    out[at[t] & 63] = t;
}
