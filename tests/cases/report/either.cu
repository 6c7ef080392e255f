// two static arrays and a pointer that may be either
extern "C" __global__ void k(const int *in, int *out, int n)
{
    __shared__ int big[1100], a[96], b[96];
    int t = threadIdx.x;
    for (int i = t; i < 1100; i += 96) big[i] = in[0];
    int *p = n > 3 ? a : b;
    a[t] = in[t]; b[t] = in[t];
    __syncthreads();
    p[t] = in[t] + big[t];
    out[t] = a[95 - t] + b[95 - t];
}
