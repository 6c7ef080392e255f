// Clocks around launches: what measures the launch (bad), what measures the kernel or is known to measure something else (ok).
// regen: no
#include <cstdio>
#include <ctime>
#include <sys/time.h>
#include <omp.h>
#include <chrono>
__global__ void k(int *x) { x[threadIdx.x]++; }
__global__ void k2(int *x) { x[threadIdx.x]++; }
static double now() { timeval t; gettimeofday(&t, 0); return t.tv_sec + 1e-6 * t.tv_usec; }
int main(int c, char **v)
{
    int *x; cudaMalloc(&x, 128); cudaMemset(x, 0, 128); k<<<1,32>>>(x); cudaDeviceSynchronize();
    switch (v[1][0]) {
    case 'a': { double a = now(); k<<<1,32>>>(x); double b = now(); cudaDeviceSynchronize(); printf("%d\n", b > a); break; }
    case 'b': { double a = now(); k<<<1,32>>>(x); double b = now(); cudaDeviceSynchronize(); double e = now(); printf("%d\n", e > b && b > a); break; } // knows
    case 'c': { clock_t a = clock(); for (int i = 0; i < 3; i++) k<<<1,32>>>(x); clock_t b = clock(); cudaFree(x); printf("%d\n", b >= a); return 0; }
    case 'd': { double a = omp_get_wtime(); k<<<1,32>>>(x); int h; cudaMemcpy(&h, x, 4, cudaMemcpyDeviceToHost); double b = omp_get_wtime(); printf("%d\n", b > a); break; }
    case 'e': { auto a = std::chrono::high_resolution_clock::now(); k2<<<1,32>>>(x); cudaDeviceSynchronize(); auto b = std::chrono::high_resolution_clock::now(); printf("%d\n", b > a); break; } // cold
    case 'f': { double a = now(); for (int i = 0; i < 100; i++) k2<<<1,32>>>(x); cudaDeviceSynchronize(); double b = now(); printf("%d\n", b > a); break; }
    case 'g': { double a = now(); cudaMemcpyAsync(x, &c, 4, cudaMemcpyHostToDevice); k2<<<1,32>>>(x); int h; cudaMemcpy(&h, x, 4, cudaMemcpyDeviceToHost); double b = now(); printf("%d\n", b > a); break; }
    case 'h': { for (int i = 0; i < 3; i++) { timespec a, b; clock_gettime(CLOCK_MONOTONIC, &a); k<<<1,32>>>(x); clock_gettime(CLOCK_MONOTONIC, &b); } cudaDeviceSynchronize(); printf("1\n"); break; }
    }
    cudaFree(x);
    return 0;
}
