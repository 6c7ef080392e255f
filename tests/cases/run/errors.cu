// Errors of calls: `ok` looks at each, `bad` goes on.
#include <cstdio>
#include <cstring>
__global__ void fill(int *x, int v) { x[threadIdx.x] = v; }

static int ok()
{
    int *x = nullptr, n = 0;
    cudaPointerAttributes a;
    if (cudaMalloc(&x, 256) != cudaSuccess) return 1;
    fill<<<1, 64>>>(x, 3);
    if (cudaGetLastError() != cudaSuccess) return 1;
    cudaPointerGetAttributes(&a, &n); // questions: their errors are answers
    cudaGetLastError();
    cudaStreamQuery(0);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    cudaFree(x);
    return 0;
}

static int bad()
{
    int *x = nullptr, *y = nullptr, host[64];
    cudaMalloc(&x, 256);
    fill<<<1, 2048>>>(x, 3); // too many threads: nothing runs, nobody asks
    cudaDeviceSynchronize();
    cudaMalloc(&y, 1ull << 50); // fails
    cudaMemcpy(host, y, 256, cudaMemcpyDeviceToHost); // of nothing
    cudaFree(x);
    return 0;
}

// An error that the program expects is a note.
static int asked()
{
    int *x = nullptr;
    cudaMalloc(&x, 256);
    fill<<<1, 64, 100 << 10>>>(x, 3);
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    fill<<<dim3(1, 70000), 64>>>(x, 3);
    printf("%s\n", cudaGetErrorName(cudaPeekAtLastError()));
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    fill<<<0, 64>>>(x, 3);
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    for (int i = 0; i < 3; i++) {
        cudaError_t e = cudaMemset(x, 0, 257);
        printf("%s\n", cudaGetErrorString(e));
    }
    cudaFree(x);
    return 0;
}

int main(int, char **argv) { return !strcmp(argv[1], "ok") ? ok() : !strcmp(argv[1], "bad") ? bad() : asked(); }
// regen: no
