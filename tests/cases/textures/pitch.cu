#include <stdio.h>

__global__ void get(cudaTextureObject_t t, float *out, int w, int h)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < w && y < h) out[y * w + x] = tex2D<float>(t, x + 0.5f, y + 0.5f);
}

/* A texture over pitched memory, which is described with that pitch, or with twice of it: then other rows are read, and
 * those that lie behind the memory. */
int main(int argc, char **argv)
{
    enum { W = 50, H = 30 };
    static float h[W * H];
    float *d, *out;
    size_t pitch;
    for (int i = 0; i < W * H; i++) h[i] = (float)i;
    cudaMallocPitch(&d, &pitch, W * sizeof *h, H);
    cudaMalloc(&out, sizeof h);
    cudaMemset2D(d, pitch, 0, pitch, H);
    cudaMemcpy2D(d, pitch, h, W * sizeof *h, W * sizeof *h, H, cudaMemcpyHostToDevice);
    struct cudaResourceDesc r = {};
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D.devPtr = d;
    r.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    r.res.pitch2D.width = W;
    r.res.pitch2D.height = H;
    r.res.pitch2D.pitchInBytes = argc > 1 ? 2 * pitch : pitch;
    struct cudaTextureDesc how = {};
    how.readMode = cudaReadModeElementType;
    cudaTextureObject_t t;
    cudaCreateTextureObject(&t, &r, &how, NULL);
    get<<<dim3(4, 2), dim3(16, 16)>>>(t, out, W, H);
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    printf("%g\n", h[W + 1]);
    cudaDestroyTextureObject(t);
    cudaFree(d);
    cudaFree(out);
}
// regen: no
