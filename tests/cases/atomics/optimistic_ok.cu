// Loops of the CUDA programming guide: the first load only guesses what the compare-and-swap will find.
extern "C" __global__ void add_double(double *sum, const double *x)
{
    unsigned long long *a = (unsigned long long *)sum;
    unsigned long long old = *a, assumed;
    do {
        assumed = old;
        old = atomicCAS(a, assumed, __double_as_longlong(x[blockIdx.x * blockDim.x + threadIdx.x] + __longlong_as_double(assumed)));
    } while (assumed != old);
}
extern "C" __global__ void max_float(float *most, const float *x)
{
    int *a = (int *)most;
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    int old = *a;
    while (v > __int_as_float(old)) {
        int assumed = old;
        old = atomicCAS(a, assumed, __float_as_int(v));
        if (old == assumed) break;
    }
}
extern "C" __global__ void stack_push(int *head, int *next)
{
    int me = blockIdx.x * blockDim.x + threadIdx.x, old = *head, seen;
    do {
        seen = old;
        next[me] = seen;
        old = atomicCAS(head, seen, me);
    } while (old != seen);
}
extern "C" __global__ void add_bf16(unsigned *pair, const unsigned short *x)      // as cuda_bf16.hpp does where the hardware cannot
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned old = *pair, seen;
    do {
        seen = old;
        old = atomicCAS(pair, seen, (seen & 0xffff0000u) | (unsigned short)((seen & 0xffffu) + x[i]));
    } while (old != seen);
}
