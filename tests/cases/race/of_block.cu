// Every thread of a block stores the element of its block. It takes the value from what depends on the block alone, so
// that all store the same one, or from its own index: then only luck makes the values equal.
extern "C" __global__ void share_bad(const float *score, const int *degree, float *share, int n)
{
    int v = blockIdx.x;
    if (v < n) share[v] = score[v] / degree[v];
}

extern "C" __global__ void luck_bad(const float *score, const int *degree, float *share, int n)
{
    int v = blockIdx.x;
    if (v < n) share[v] = score[v] / degree[threadIdx.x];
}

extern "C" __global__ void share_ok(const float *score, const int *degree, float *share, int n)
{
    int v = blockIdx.x;
    if (v < n && threadIdx.x == 0) share[v] = score[v] / degree[v];
}
