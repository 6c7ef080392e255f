#include <stdio.h>

/* Reverses a block of 64; of `n` elements only. */
__global__ void reverse(const float *x, float *out, int n)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    if (t < n) tile[t] = x[t];
    __syncthreads();
    out[t] = tile[63 - t];
}

/* The first element, by way of shared memory. */
__global__ void first(const int *x, int *out, int n)
{
    __shared__ int best;
    if (threadIdx.x == 0 && n == 64) best = x[0];
    __syncthreads();
    if (threadIdx.x == 1) *out = best;
}

/* Behind y there are four bytes of padding, which nobody writes. */
struct pair {
    double x;
    int y;
};
__global__ void pairs(pair *out)
{
    __shared__ pair s[32];
    int t = threadIdx.x;
    s[t].x = t;
    s[t].y = -t;
    __syncthreads();
    out[t] = s[31 - t];
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? 61 : 64, one;
    float h[64], *x, *y;
    pair p[32], *q;
    for (int i = 0; i < 64; i++) h[i] = (float)i;
    cudaMalloc(&x, sizeof h);
    cudaMalloc(&y, sizeof h);
    cudaMalloc(&q, sizeof p);
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    reverse<<<1, 64>>>(x, y, n);
    cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);
    first<<<1, 64>>>((int *)x, (int *)y, n);
    cudaMemcpy(&one, y, sizeof one, cudaMemcpyDeviceToHost);
    pairs<<<1, 32>>>(q);
    cudaMemcpy(p, q, sizeof p, cudaMemcpyDeviceToHost);
    printf("%g %d %d\n", h[63], one, p[3].y);
    cudaFree(x);
    cudaFree(y);
    cudaFree(q);
}
// regen: no
