// Every thread reads the whole filter, again and again, and nothing says that nobody writes it. The twin's parameter is const and __restrict__.
extern "C" __global__ void filter_bad(const float *x, const float *f, float *y)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    float s = 0;
    for (int k = 0; k < 64; k++) s += f[k] * x[i]; // <-- read_only_load
    y[i] = s;
}

extern "C" __global__ void filter_ok(const float *__restrict__ x, const float *__restrict__ f, float *__restrict__ y)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    float s = 0;
    for (int k = 0; k < 64; k++) s += f[k] * x[i];
    y[i] = s;
}
