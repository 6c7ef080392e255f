/* Stands for one of our libraries: it says which one it is. */
#include <stdio.h>
int cudaMalloc(void **p, unsigned long bytes)
{
    (void)p;
    return NUMBER * 1000 + (int)bytes;
}
int cudaFree(void *p)
{
    (void)p;
    return NUMBER * 1000;
}
int __cudaRegisterFatBinary(void *image) { return image ? 0 : NUMBER; }
double cudaGraphAddMemcpyNode1D(int a, int b, int c, int d, int e, int f, int g, double x, double y, double z)
{
    return a + b + c + d + e + f + g + x + y + z;
}
int cuInit(unsigned flags) { return NUMBER * 1000 + (int)flags; }
