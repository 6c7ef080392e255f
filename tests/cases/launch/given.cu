// Arguments of every kind: a struct with a struct and buffers inside, and variables that --set gives their values.
struct inner {
    short k;
    double d;
};
struct given {
    int n;
    float f;
    const float *x;
    inner in;
    float *y;
};
__constant__ float factor;
__constant__ int table[4];
__device__ float *extra;

__global__ void combine(given p, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < p.n)
        p.y[i] = p.x[i] * p.f + (float)p.in.d * factor + table[i & 3] + m + extra[i];
}

__global__ void saxpy(float a, const float *x, float *y, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}

int main()
{
    int n = 1000;
    saxpy<<<(n + 255) / 256, 256>>>(2.0f, nullptr, nullptr, n);
}
