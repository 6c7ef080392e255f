// From one buffer into another. The distance goes through memory, so that nothing ties it to b any more: the access is
// made from a and lands in b. In the legal twin a + (b - a) is one computation, as compilers write it.
extern "C" __global__ void neighbour_bad(float *a, float *b, volatile long long *distance)
{
    if (threadIdx.x == 0)
        *distance = (char *)b - (char *)a;
    __syncthreads();
    *(float *)((char *)a + *distance + 4 * threadIdx.x) = 1;
}

extern "C" __global__ void neighbour_ok(float *a, float *b)
{
    long long distance;
    asm("sub.s64 %0, %1, %2;" : "=l"(distance) : "l"(b), "l"(a));
    *(float *)((char *)a + distance + 4 * threadIdx.x) = threadIdx.x;
}
