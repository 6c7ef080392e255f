// NaN and infinity in what a launch wrote, without --check values.
extern "C" __global__ void ratio(const float *a, const float *b, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] / b[i];
}

extern "C" __global__ void masked(const float *a, float *out, int n)            // an infinity that is meant
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] > 4 ? a[i] : -__int_as_float(0x7f800000);
}
