// Which part of a line is marked: the access that fails, on whichever side of the assignment it stands.
extern "C" __global__ void loads(const float *A, float *B, int n)
{
    __shared__ float sA[64];
    int i = threadIdx.x;
    sA[i] = A[i];                                       // <-- bounds
    __syncthreads();
    if (i < n) B[i] = sA[63 - i];
}

extern "C" __global__ void both(float *A, int n)
{
    int i = threadIdx.x;
    if (i < n) A[i] = A[i + 1];                         // <-- bounds
}

extern "C" __global__ void index(const int *bin, int *hist)
{
    hist[bin[threadIdx.x]] = 1;                         // <-- bounds
}

extern "C" __global__ void alias(const float *in, float *out)
{
    const float *row = in + 8 * blockIdx.x;
    out[blockIdx.x] = row[8 - threadIdx.x];             // <-- bounds
}
