// Each turn takes memory, a stream and an event, and gives the memory of the last turn back alone.
// regen: no
__global__ void scale(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }

static float *step(int n)
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
    return part;
}

int main()
{
    float *last = nullptr;
    for (int turn = 0; turn < 3; turn++) last = step(1000);
    return cudaFree(last);
}
