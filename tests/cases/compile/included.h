// Kernels that a .cu file includes.
__global__ void blur(const float *image, float *smoothed, int width);

template <typename T, int Taps> __global__ void convolve(const T *signal, T *result, int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length) result[i] = signal[i] * Taps;
}

__global__ void blur(const float *image, float *smoothed, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= width) smoothed[i] = image[i];
}
