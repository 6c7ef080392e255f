// One of two buffers by lane: the bounds are those of the one chosen. a has 64 elements, b has 20.
extern "C" __global__ void select_bad(int *a, int *b)
{
    int t = threadIdx.x, *p = t & 1 ? a : b;
    p[t] = t;
}

extern "C" __global__ void select_ok(int *a, int *b)
{
    int t = threadIdx.x, *p = t & 1 || t >= 20 ? a : b;
    p[t] = t;
}

// The same through a shuffle: the pointer of another lane.
extern "C" __global__ void shuffle_bad(int *a, int *b)
{
    int t = threadIdx.x;
    unsigned long long mine = (unsigned long long)(t & 1 ? a : b);
    int *p = (int *)__shfl_xor_sync(~0u, mine, 1);
    p[t] = t;
}
