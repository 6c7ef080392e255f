// A kernel of one stream reads what a kernel of another stream writes, and no event lies between the two.
extern "C" __global__ void produce(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 0.5f * i;
}

extern "C" __global__ void consume(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] + 1.0f; // <-- race_stream
}

int main()
{
    const int n = 1000;
    float *x, *y;
    cudaStream_t a, b;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    produce<<<4, 256, 0, a>>>(x, n);
    consume<<<4, 256, 0, b>>>(x, y, n);
    cudaDeviceSynchronize();
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
    cudaFree(x);
    cudaFree(y);
    return 0;
}
