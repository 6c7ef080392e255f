// regen: no

#include <vector>
__global__ void sums(float *sum, const float *in, int rows, int cols)
{
    int c = threadIdx.x;
    if (c < cols) sum[c] += in[blockIdx.x * cols + c];
}
__global__ void stride(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 2 * in[i];
}
__global__ void both(const float *a, const float *b, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
int main()
{
    std::vector<float *> kept;
    for (int k = 0; k < 21; k++) {
        int cols = k % 3 ? 32 : 20;
        float *sum, *in;
        cudaMalloc(&sum, cols * 4); cudaMalloc(&in, 4 * cols * 4);
        cudaMemset(sum, 0, cols * 4); cudaMemset(in, 0, 16 * cols);
        sums<<<4, 32>>>(sum, in, 4, cols);
        cudaDeviceSynchronize();
        kept.push_back(sum); kept.push_back(in);
    }
    for (int k = 0; k < 11; k++) {
        int n = 100 + k;
        float *o, *in;
        cudaMalloc(&o, n * 4); cudaMalloc(&in, n * 4); cudaMemset(in, 0, n * 4);
        stride<<<1, 128>>>(o, in, n);
        cudaDeviceSynchronize();
        kept.push_back(o); kept.push_back(in);
    }
    for (int k = 0; k < 3; k++) {
        int n = 100;
        float *a, *b, *o;
        cudaMalloc(&a, 90 * 4); cudaMalloc(&b, 80 * 4); cudaMalloc(&o, n * 4); cudaMemset(a, 0, 360); cudaMemset(b, 0, 320);
        both<<<1, 128>>>(a, b, o, n);
        cudaDeviceSynchronize();
        kept.push_back(o); kept.push_back(a); kept.push_back(b);
    }
    for (float *p : kept) cudaFree(p);
}
