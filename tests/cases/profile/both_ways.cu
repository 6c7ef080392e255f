// regen: no
// Parts of an array go to the device, through a short kernel, and back. bad: in one stream, so that one engine works at a time. ok: in two, so that one part
// comes back while the next one is on its way.
#include <cstring>

enum { PART = 1 << 20, PARTS = 4 };
__global__ void twice(float *x) { x[blockIdx.x * 256 + threadIdx.x] *= 2; }

int main(int argc, char **argv)
{
    bool bad = argc > 1 && !strcmp(argv[1], "bad");
    float *host, *x[2];
    cudaStream_t s[2];
    cudaMallocHost(&host, PARTS * PART * sizeof *host);
    memset(host, 0, PARTS * PART * sizeof *host);
    for (int k = 0; k < 2; k++) {
        cudaMalloc(&x[k], PART * sizeof *host);
        cudaStreamCreateWithFlags(&s[k], cudaStreamNonBlocking);
    }
    for (int k = 0; k < PARTS; k++) {
        int to = bad ? 0 : k & 1;
        cudaMemcpyAsync(x[to], host + k * PART, PART * sizeof *host, cudaMemcpyHostToDevice, s[to]);
        twice<<<PART / 256, 256, 0, s[to]>>>(x[to]);
        cudaMemcpyAsync(host + k * PART, x[to], PART * sizeof *host, cudaMemcpyDeviceToHost, s[to]);
    }
    cudaDeviceSynchronize();
    for (int k = 0; k < 2; k++) {
        cudaFree(x[k]);
        cudaStreamDestroy(s[k]);
    }
    cudaFreeHost(host);
    return 0;
}
