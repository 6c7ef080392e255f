// Kernels of tests/framework that launch kernels.
// regen: -arch=sm_80 -std=c++17 -rdc=true
extern "C" __global__ void child(int *x, int base) { x[threadIdx.x] += base + (int)threadIdx.x; }
extern "C" __global__ void parent(int *x, int children)
{
    for (int i = 0; i < children; i++) child<<<1, 32>>>(x, i);
}
extern "C" __global__ void grand(int *x, int depth)
{
    atomicAdd(x, 1);
    if (depth > 1) grand<<<1, 1>>>(x, depth - 1);
}
extern "C" __global__ void many(int *x) { child<<<1, 32>>>(x + 32 * threadIdx.x, (int)threadIdx.x); }
