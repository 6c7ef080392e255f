// regen: no
__global__ void part(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) x[i] = 1;
}
int main()
{
    int *x[6];
    for (int i = 0; i < 6; i++) {
        cudaMalloc(&x[i], 400);
        part<<<1, 128>>>(x[i], i % 2 ? 100 : 1000);
        cudaDeviceSynchronize();
    }
    for (int i = 0; i < 6; i++) cudaFree(x[i]);
}
