// A kernel as machine code and PTX, for tests/framework: nvcc -fatbin -gencode arch=compute_90,code=[sm_90,compute_90] small.cu, and nvcc -cubin -arch=sm_90.
// regen: no
__device__ int more = 1;
__constant__ int limits[4] = { 1 << 30 };

extern "C" __global__ void increment(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i < limits[0]) x[i] += more;
}
