// Many instances of two templates: what a list of them looks like.
template <class T, unsigned Size, bool Even> __global__ void reduce(T *x) { x[threadIdx.x] = T(Size + Even); }
template <class T> __global__ void fill(T *x) { x[threadIdx.x] = 1; }
__global__ void alone(int *x) { *x = 1; }
template __global__ void fill<int>(int *);
template __global__ void reduce<int, 64, true>(int *);
template __global__ void reduce<int, 64, false>(int *);
template __global__ void reduce<int, 128, true>(int *);
template __global__ void reduce<int, 128, false>(int *);
template __global__ void reduce<int, 256, true>(int *);
template __global__ void reduce<int, 256, false>(int *);
template __global__ void reduce<int, 512, true>(int *);
template __global__ void reduce<int, 512, false>(int *);
template __global__ void fill<float>(float *);
template __global__ void reduce<float, 64, true>(float *);
template __global__ void reduce<float, 64, false>(float *);
template __global__ void reduce<float, 128, true>(float *);
template __global__ void reduce<float, 128, false>(float *);
template __global__ void reduce<float, 256, true>(float *);
template __global__ void reduce<float, 256, false>(float *);
template __global__ void reduce<float, 512, true>(float *);
template __global__ void reduce<float, 512, false>(float *);
template __global__ void fill<double>(double *);
template __global__ void reduce<double, 64, true>(double *);
template __global__ void reduce<double, 64, false>(double *);
template __global__ void reduce<double, 128, true>(double *);
template __global__ void reduce<double, 128, false>(double *);
template __global__ void reduce<double, 256, true>(double *);
template __global__ void reduce<double, 256, false>(double *);
template __global__ void reduce<double, 512, true>(double *);
template __global__ void reduce<double, 512, false>(double *);
