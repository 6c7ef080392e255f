// Kernels with C++ names: a namespace, a template twice, an overload.
namespace image {
template <typename T, int N>
__global__ void scale(T *x)
{
    x[threadIdx.x] *= N;
}
template __global__ void scale<float, 3>(float *);
template __global__ void scale<int, 5>(int *);
}

__global__ void bump(int *x) { x[threadIdx.x] += 1; }
__global__ void bump(int *x, int by) { x[threadIdx.x] += by; }
__global__ void alone(int *x) { x[threadIdx.x] = 7; }
