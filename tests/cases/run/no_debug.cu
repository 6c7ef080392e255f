// A program without debug information: calls are told by the symbols of its functions. cudaMalloc of a float * and a
// launch go through inline functions of the toolkit's headers, which are not the user's.
// regen: no
#include <cuda_runtime.h>

namespace work {
template <class T> __global__ void fill(T *x, T value) { x[threadIdx.x] = value; } // 64 threads, 32 elements

template <class T> T *start()
{
    T *x;
    cudaMalloc(&x, 32 * sizeof *x);
    fill<<<1, 64>>>(x, T(1));
    cudaDeviceSynchronize();
    return x;
}
}

int main() { return work::start<float>() == nullptr; }
