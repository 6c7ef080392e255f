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
