// regen: no
// The kernels of the images here; make_images compiles them.
#include <cooperative_groups.h>

struct box {
    float lo[3];
    int n;
};
__constant__ float weight[16];
__device__ int counter;

namespace demo {
template <class T> __global__ void scale(T *x, T a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= a;
}
template __global__ void scale<float>(float *, float, int);
} // namespace demo

__global__ void __launch_bounds__(256) tile(const float *in, float *out, box b)
{
    __shared__ float t[256];
    t[threadIdx.x] = in[threadIdx.x] * weight[threadIdx.x & 15];
    __syncthreads();
    out[threadIdx.x] = t[255 - threadIdx.x] + b.lo[0] * b.n;
    atomicAdd(&counter, 1);
}

#ifdef ALL
extern "C" __global__ void pick(int *x)
{
    extern __shared__ int given[];
    int own[20];
    for (int i = 0; i < 20; i++) own[i] = x[i];
    given[threadIdx.x] = own[x[20] % 20];
    __syncthreads();
    x[threadIdx.x] = given[x[21]];
}

__global__ void together(int *x)
{
    x[0] = 1;
    cooperative_groups::this_grid().sync();
    x[threadIdx.x + 1] = x[0];
}

#if __CUDA_ARCH__ >= 900
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128) pair(int *x)
{
    cooperative_groups::this_cluster().sync();
    x[threadIdx.x] = 1;
}
#endif
#endif
