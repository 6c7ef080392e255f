// regen: no
// One of two files that -rdc=true compiles and nvlink joins; make_images does it.
__device__ int twice(int);
extern "C" __global__ void first(int *x) { x[threadIdx.x] = twice(x[threadIdx.x]); }
