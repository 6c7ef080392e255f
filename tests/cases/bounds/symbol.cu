// Variables of the module are objects like any other.
__device__ int before[8], counters[8], after[8];
__device__ int one;

extern "C" __global__ void symbol(int *out, int shift)
{
    int t = threadIdx.x;
    before[t & 7] = after[t & 7] = one = 0;
    counters[t + shift] = t;
    out[t] = counters[t + shift] + before[t & 7] + after[t & 7] + one;
}
