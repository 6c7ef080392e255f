// All threads that run together take from the heap together.
__global__ void unlooked(float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float *s = (float *)malloc(n * 4);
    for (int j = 0; j < 4; j++) s[j] = i + j; // <-- null_pointer
    out[i] = s[3];
    free(s);
}

__global__ void looked(float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float *s = (float *)malloc(n * 4);
    if (!s) {
        out[i] = -1;
        return;
    }
    for (int j = 0; j < 4; j++) s[j] = i + j;
    out[i] = s[3];
    free(s);
}

__global__ void turns(float *out, int n) // one thread at a time
{
    for (int t = 0; t < blockDim.x; t++) {
        if (t == threadIdx.x) {
            float *s = (float *)malloc(n * 4);
            s[0] = t;
            out[t] = s[0];
            free(s);
        }
        __syncthreads();
    }
}

__global__ void locked(float *out, int n, int *lock)
{
    while (atomicCAS(lock, 0, 1)) { }
    __threadfence();
    float *s = (float *)malloc(n * 4);
    s[0] = 1;
    out[blockIdx.x] = s[0];
    free(s);
    __threadfence();
    atomicExch(lock, 0);
}
