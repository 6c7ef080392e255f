// Kernels that ask the checks for more than a copy does: atomics, strided stores, halos, exchanges inside a warp, fences.
extern "C" __global__ void histogram(const unsigned char *data, unsigned *bins, int n)
{
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

extern "C" __global__ void transpose(const float *in, float *out, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[x * n + y] = in[y * n + x];
}

extern "C" __global__ void stencil(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        out[i] = in[i - 1] + in[i] + in[i + 1];
}

extern "C" __global__ void exchange(float *out, int rounds)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    float v = t;
    for (int k = 0; k < rounds; k++) {
        s[t] = v;
        __syncwarp();
        v = s[t ^ 1] + 1;
        __syncwarp();
    }
    out[blockIdx.x * blockDim.x + t] = v;
}

extern "C" __global__ void last_block(const float *in, float *part, float *out, unsigned *count, int n)
{
    __shared__ float s[256];
    __shared__ bool last;
    int t = threadIdx.x;
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    s[t] = sum;
    __syncthreads();
    for (int k = 128; k; k /= 2) {
        if (t < k)
            s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) {
        part[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && t == 0) {
        float all = 0;
        for (int k = 0; k < gridDim.x; k++)
            all += part[k];
        *out = all;
    }
}
