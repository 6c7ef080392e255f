// Each turn gives back what it takes.
// regen: no
__global__ void scale(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }

static void step(int n)
{
    float *part;
    cudaStream_t stream;
    cudaEvent_t done;
    cudaMalloc(&part, n * sizeof(float));
    cudaStreamCreate(&stream);
    cudaEventCreate(&done);
    cudaMemsetAsync(part, 0, n * sizeof(float), stream);
    scale<<<(n + 255) / 256, 256, 0, stream>>>(part, n);
    cudaEventRecord(done, stream);
    cudaEventSynchronize(done);
    cudaEventDestroy(done);
    cudaStreamDestroy(stream);
    cudaFree(part);
}

int main()
{
    for (int turn = 0; turn < 3; turn++) step(1000);
    return 0;
}
