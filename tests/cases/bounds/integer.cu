// A number where a pointer belongs: the arguments were swapped.
extern "C" __global__ void integer(float *x, unsigned long long n)
{
    if (threadIdx.x < n)
        x[threadIdx.x] = 1;
}
