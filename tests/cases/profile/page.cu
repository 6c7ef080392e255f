// regen: no
// A program for the page: four kernels, one of which races, in two streams, with what a page must not take for markup: </script><b>.
#include <cstdio>
#include <cstring>

enum { N = 512 };

__global__ void transpose(float *out, const float *in)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    out[x * N + y] = in[y * N + x]; // "</script><b>not bold</b>
}

__global__ void transpose_tiled(float *out, const float *in)
{
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * N + x];
    __syncthreads();
    out[(blockIdx.x * 32 + threadIdx.y) * N + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void sum_rows(float *sums, const float *in)
{
    __shared__ float part[N];
    part[threadIdx.x] = in[blockIdx.x * N + threadIdx.x];
    __syncthreads();
    for (int half = N / 2; half; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half]; // no barrier behind it
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

template <typename T> __global__ void scale(T *x, T by)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i % 2)
        x[i] = x[i] * by + sqrtf(x[i]);
    else
        x[i] = x[i] / by;
}

int main()
{
    float *host, *a, *b, *sums;
    cudaStream_t one, two;
    cudaEvent_t done;
    cudaMallocHost(&host, N * N * sizeof *host);
    for (int i = 0; i < N * N; i++) host[i] = i % 7;
    cudaMalloc(&a, N * N * sizeof *a);
    cudaMalloc(&b, N * N * sizeof *b);
    cudaMalloc(&sums, N * sizeof *sums);
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
    cudaEventCreate(&done);
    cudaMemcpyAsync(a, host, N * N * sizeof *a, cudaMemcpyHostToDevice, one);
    transpose<<<dim3(N / 32, N / 32), dim3(32, 32), 0, one>>>(b, a);
    cudaEventRecord(done, one);
    cudaStreamWaitEvent(two, done, 0);
    transpose_tiled<<<dim3(N / 32, N / 32), dim3(32, 32), 0, two>>>(a, b);
    sum_rows<<<N, N, 0, one>>>(sums, b);
    scale<float><<<N * N / 256, 256, 0, two>>>(a, 3.0f);
    cudaMemcpyAsync(host, a, N * N * sizeof *a, cudaMemcpyDeviceToHost, two);
    cudaStreamSynchronize(two);
    printf("%g\n", host[N]);
    cudaDeviceSynchronize();
    cudaFree(a), cudaFree(b), cudaFree(sums), cudaFreeHost(host);
    cudaEventDestroy(done), cudaStreamDestroy(one), cudaStreamDestroy(two);
}
