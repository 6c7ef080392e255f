// regen: no
__global__ void sum(const float *in, float *out)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = in[t] + in[t + 128];
    __syncthreads();
    if (t < 64) s[t] += s[t + 64];
    __syncthreads();
    if (t < 32) {
        s[t] += s[t + 32];
        s[t] += s[t + 16];
        s[t] += s[t + 8];
        s[t] += s[t + 4];
        s[t] += s[t + 2];
        s[t] += s[t + 1];
    }
    if (t == 0) out[0] = s[0];
}
int main()
{
    float *in, *out;
    cudaMalloc(&in, 1024); cudaMalloc(&out, 4); cudaMemset(in, 0, 1024);
    sum<<<1, 128>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in); cudaFree(out);
}
