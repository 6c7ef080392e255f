// A kernel of one stream reads what a kernel of another stream writes, behind an event.
extern "C" __global__ void produce(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 0.5f * i;
}

extern "C" __global__ void consume(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] + 1.0f;
}

int main()
{
    const int n = 1000;
    float *x, *y;
    cudaStream_t a, b;
    cudaEvent_t produced;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaEventCreate(&produced);
    produce<<<4, 256, 0, a>>>(x, n);
    cudaEventRecord(produced, a);
    cudaStreamWaitEvent(b, produced, 0);
    consume<<<4, 256, 0, b>>>(x, y, n);
    cudaDeviceSynchronize();
    cudaEventDestroy(produced);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
    cudaFree(x);
    cudaFree(y);
    return 0;
}
