// S1: threads that have left do not count for a barrier; that it completes only for this reason is worth a note.
extern "C" __global__ void left_bad(const int *x, int *out, int n)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = t < n ? x[t] : 0;
    if (t >= n) return;
    __syncthreads();
    out[t] = s[n - 1 - t];
}

extern "C" __global__ void left_ok(const int *x, int *out, int n)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = t < n ? x[t] : 0;
    __syncthreads();
    if (t >= n) return;
    out[t] = s[n - 1 - t];
}

// S2: a barrier of 64 threads that 96 come to, and one that as many come to as it waits for.
extern "C" __global__ void count_bad(int *out)
{
    if (threadIdx.x < 96) asm volatile("barrier.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = 1;
}

extern "C" __global__ void count_ok(int *out)
{
    if (threadIdx.x < 64) asm volatile("barrier.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = 1;
}
