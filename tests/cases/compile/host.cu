// regen: no
#include <cstdio>
#include <vector>
__global__ void host(int *x) { x[threadIdx.x] = 3 * threadIdx.x; }
int main()
{
    std::vector<int> v(32);
    int *x;
    cudaMalloc(&x, 32 * sizeof(int));
    host<<<1, 32>>>(x);
    cudaMemcpy(v.data(), x, 32 * sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d\n", v[3]);
}
