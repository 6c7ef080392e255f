// Device malloc with and without its free.
extern "C" __global__ void list_bad(int *out)
{
    int *node = (int *)malloc(16);
    node[0] = threadIdx.x;
    out[threadIdx.x] = node[0];
    if (threadIdx.x % 4 == 0)
        free(node);
}

extern "C" __global__ void list_ok(int *out)
{
    int *node = (int *)malloc(16);
    node[0] = threadIdx.x;
    out[threadIdx.x] = node[0];
    free(node);
}

// Memory that is freed comes back after many rounds, to other threads: what they do with it does not race with what was done before.
extern "C" __global__ void rounds(int n, int *out)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        int *p = (int *)malloc(16);
        if (!p) break;
        *p = 1;
        sum += *p;
        free(p);
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
