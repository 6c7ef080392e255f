// regen: no
/* A buffer that launches have left finite, until something brings a NaN that was never stored as a float: a copy on the device, a value
 * written in the stream, bytes of the host in the middle of an element. The next launch that writes to the buffer is asked for it. */
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
__global__ void fill(float *out) { out[threadIdx.x] = (float)threadIdx.x; }
__global__ void bits(unsigned *out, unsigned x) { out[threadIdx.x] = x + threadIdx.x; }

int main(int argc, char **argv)
{
    float *a;
    unsigned *raw;
    const char *how = argc > 1 ? argv[1] : "";
    cudaMalloc(&a, 128 * sizeof *a);
    cudaMalloc(&raw, 128 * sizeof *raw);
    bits<<<1, 128>>>(raw, 0x7fc00000u);
    fill<<<1, 128>>>(a);
    fill<<<1, 64>>>(a);
    if (!strcmp(how, "copy")) cudaMemcpy(a + 100, raw, 16, cudaMemcpyDeviceToDevice);
    if (!strcmp(how, "write")) cuStreamWriteValue32(0, (CUdeviceptr)(a + 100), 0x7fc00000u, 0);
    if (!strcmp(how, "halves")) { /* neither half is odd by itself where it comes from */
        unsigned short half[2] = { 0x7fc0, 0x7fc0 };
        cudaMemcpy((char *)a + 402, half, 2, cudaMemcpyHostToDevice);
    }
    fill<<<1, 64>>>(a);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    cudaFree(a);
    cudaFree(raw);
    return 0;
}
