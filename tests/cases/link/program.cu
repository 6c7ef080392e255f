// regen: -arch=sm_90 -rdc=true
// The kernel of a program of two files; the other is program_lib.cu.
extern __constant__ float weight[4];
extern __device__ int calls;
__device__ float blend(const float *x, int n);

extern "C" __global__ void program(const float *x, float *y, int n)
{
    __shared__ float tile[4];
    int t = threadIdx.x;
    tile[t] = weight[t];
    __syncthreads();
    y[t] = blend(x, n) + tile[3 - t];
    atomicAdd(&calls, 1);
    __syncthreads();
    if (t == 0)
        y[4] = calls;
}
