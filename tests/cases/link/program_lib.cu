// regen: -arch=sm_90 -rdc=true
__constant__ float weight[4] = { 10, 20, 30, 40 };
__device__ int calls = 100;

__device__ float blend(const float *x, int n)
{
    __shared__ float part[4];
    part[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    float s = 0;
    for (int i = 0; i < n; i++)
        s += part[i] * weight[i];
    return s;
}
