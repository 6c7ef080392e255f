// A library whose kernel is machine code alone, as PyTorch's are, and the program that calls it twice.
// regen: no
#include <stdio.h>

#ifdef LIBRARY
__global__ void fill(float *x) { x[threadIdx.x] = 1; }
extern "C" int library_fill(float *x)
{
    fill<<<1, 32>>>(x);
    return cudaGetLastError();
}
extern "C" int library_init(void)
{
    float *x;
    return cudaMalloc(&x, 4);
}
#else
extern "C" int library_fill(float *x);
extern "C" int library_init(void);
int main(void)
{
    float *x;
    if (OTHER) {
        printf("init: %d\n", library_init() != 0);
        return 0;
    }
    cudaMalloc(&x, 128);
    for (int i = 0; i < 2; i++) printf("fill: %d\n", library_fill(x));
    cudaFree(x);
    return 0;
}
#endif
