// regen: no
// 65536 texels of a texture of 1024 x 1024. bad: a warp walks down a column, so that each thread is in a sector of its own. ok: it
// fetches 8 x 4 neighbours.
#include <cstdio>
#include <cstring>

__global__ void column(cudaTextureObject_t t, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex2D<float>(t, i / 1024 * 8 + 0.5f, i % 1024 + 0.5f); // <-- texture_scatter
}

__global__ void square(cudaTextureObject_t t, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % 8 + i / 32 % 32 * 8, y = i % 32 / 8 + i / 1024 * 4;
    out[i] = tex2D<float>(t, x + 0.5f, y + 0.5f);
}

int main(int argc, char **argv)
{
    const int side = 1024, n = 65536;
    float *out, *pixels;
    cudaArray_t a;
    cudaTextureObject_t t;
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    cudaMallocArray(&a, &f, side, side);
    cudaMalloc(&out, n * 4);
    cudaMallocHost(&pixels, side * side * 4);
    memset(pixels, 0, side * side * 4);
    cudaMemcpy2DToArray(a, 0, 0, pixels, side * 4, side * 4, side, cudaMemcpyHostToDevice);
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    d.filterMode = cudaFilterModePoint;
    cudaCreateTextureObject(&t, &r, &d, nullptr);
    if (argc > 1 && !strcmp(argv[1], "bad"))
        column<<<n / 128, 128>>>(t, out);
    else
        square<<<n / 128, 128>>>(t, out);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaDestroyTextureObject(t), cudaFreeArray(a), cudaFree(out), cudaFreeHost(pixels);
}
