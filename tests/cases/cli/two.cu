// Two kernels in one file, for what the command says about names, parameters and arguments.
struct pair {
    float factor;
    int shift;
};

__global__ void scale(const float *in, float *out, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * factor;
}

namespace deep {
__global__ void pick(const int *in, int *out, pair p, unsigned char which)
{
    out[threadIdx.x] = in[threadIdx.x] * (int)p.factor + p.shift + which;
}
}
