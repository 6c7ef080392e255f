// Nothing, many times.
extern "C" __global__ void empty(void)
{
}

extern "C" __global__ void count(unsigned long long *n)
{
    if (threadIdx.x == 0)
        atomicAdd(n, 1ull);
}
