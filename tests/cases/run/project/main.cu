// The half that is compiled and linked by the same compiler.
#include <cstdio>
void launch_twice(float *x, int n);
int main()
{
    float *x, last = 0;
    cudaMalloc(&x, 400);
    cudaMemset(x, 0, 400);
    launch_twice(x, 100);
    cudaMemcpy(&last, x + 99, 4, cudaMemcpyDeviceToHost);
    std::printf("%g %s\n", last, cudaGetErrorString(cudaGetLastError()));
    cudaFree(x);
    return 0;
}
// regen: no
