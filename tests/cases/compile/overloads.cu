// Names that need telling apart: overloads, instances, namespaces, a name as C has it.
template <class T, int N> __global__ void fill(T *x) { x[threadIdx.x] = T(N); }
template __global__ void fill<float, 3>(float *);
template __global__ void fill<int, 4>(int *);
__global__ void copy(const float *from, float *to) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void copy(const int *from, int *to) { to[threadIdx.x] = from[threadIdx.x] + 100; }
namespace deep { namespace er { __global__ void pick(int *x) { __shared__ int s[32]; s[threadIdx.x] = 7; __syncthreads(); x[threadIdx.x] = s[31 - threadIdx.x]; } } }
__constant__ float table[16];
extern "C" __global__ void __launch_bounds__(128, 2) plain(double a, const char *text, short2 pair, float *y)
{
    extern __shared__ float more[];
    more[threadIdx.x] = table[threadIdx.x & 15];
    y[threadIdx.x] = more[threadIdx.x] + (float)a + text[0] + pair.x;
}
