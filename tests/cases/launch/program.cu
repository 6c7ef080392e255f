// A whole program: lockstep runs none of its host code, and says what it would launch.
#include <cstdio>
#define THREADS 128
template <typename T> __global__ void scale(const T *in, T *out, T by, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = by * in[i]; }
__global__ void sum(const float *v, float *total, int n)
{
    extern __shared__ float part[];
    float s = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) s += v[i];
    part[threadIdx.x] = s;
    __syncthreads();
    for (int w = blockDim.x / 2; w; w /= 2) {
        if (threadIdx.x < w) part[threadIdx.x] += part[threadIdx.x + w];
        __syncthreads();
    }
    if (!threadIdx.x) *total = part[0];
}
__global__ void tile(float *m) { m[(blockIdx.y * 2 + blockIdx.x) * 256 + threadIdx.y * 16 + threadIdx.x] = 1; }
int main()
{
    float *d_x, *d_y, *d_t;
    int n = 1 << 20;
    const int threads = 256;
    dim3 block(16, 16);
    cudaMalloc(&d_x, n * 4); cudaMalloc(&d_y, n * 4); cudaMalloc(&d_t, 4);
    scale<float><<<(n + THREADS - 1) / THREADS, THREADS>>>(d_x, d_y, 2.5f, n);
    sum<<<1, threads, threads * sizeof(float)>>>(d_y, d_t, n);
    tile<<<dim3(2, 2), block>>>(d_y);
}
