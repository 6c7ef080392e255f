// Memory that a kernel takes itself: malloc and free, alloca; and parameters, half words, addressed indirectly.
struct table { int v[64]; };

extern "C" __global__ void heap(int *out)
{
    int *p = (int *)malloc(16);
    p[0] = threadIdx.x;
    p[3] = 7;
    out[threadIdx.x] = p[0] + p[3];
    free(p);
}

extern "C" __global__ void heap_bad(int *out)           // one past its end, read after free, freed twice, freed but not malloc'd
{
    int *p = (int *)malloc(16);
    p[4] = threadIdx.x;
    free(p);
    out[threadIdx.x] = p[0];
    free(p);
    free(out);
}

extern "C" __global__ void parameter(int *out, __grid_constant__ const table t, int k)
{
    const int *p = t.v;
    out[threadIdx.x] = p[threadIdx.x * k % 64];
}

extern "C" __global__ void stack(int *out, int n)
{
    int *p = (int *)alloca(n * 4 + threadIdx.x % 2 * 4), sum = 0;
    for (int i = 0; i < n; i++)
        p[i] = i + threadIdx.x;
    for (int i = 0; i < n; i++)
        sum += p[i];
    out[threadIdx.x] = sum;
}

extern "C" __global__ void half_words(unsigned short *h)
{
    atomicCAS(h + threadIdx.x, (unsigned short)threadIdx.x, (unsigned short)(1000 + threadIdx.x));
}
