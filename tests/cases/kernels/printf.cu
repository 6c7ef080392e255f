// printf from the device: the types, widths, strings, a percent sign, and from some lanes only.
#include <stdio.h>
extern "C" __global__ void hello(int n)
{
    if (threadIdx.x < n)
        printf("block %d thread %d\n", blockIdx.x, threadIdx.x);
}

extern "C" __global__ void formats(void)
{
    printf("%d %u %x %X %o %c %%\n", -7, 7u, 0xbeef, 0xbeefu, 8, 'k');
    printf("[%5d] [%-5d] [%05d] [%+d]\n", 42, 42, 42, 42);
    printf("%lld %llu %llx\n", -1234567890123ll, 12345678901234567890ull, 0x123456789abcull);
    printf("%f %.3f %e %g\n", 1.5f, 3.14159, 12345.678, 0.0001);
    printf("%s and %10s|\n", "text", "right");
    printf("no arguments\n");
}
