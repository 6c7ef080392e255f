/* What the checks say of textures and surfaces: each letter of the first argument is one mistake, in capitals its twin without it. */
#include <cstdio>
#include <cstring>

__global__ void fill(cudaSurfaceObject_t s, int w) { surf2Dwrite((float)threadIdx.x, s, (threadIdx.x % w) * 4, threadIdx.x / w); }
__global__ void flip(cudaSurfaceObject_t s, cudaTextureObject_t t, float *out, int w)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % w, y = i / w;
    surf2Dwrite((float)i, s, x * 4, y);
    __syncthreads();
    out[i] = tex2D<float>(t, w - 1 - x + 0.5f, y + 0.5f);
}
__global__ void sample(cudaTextureObject_t t, float *out, int w)
{
    float v = tex2D<float>(t, threadIdx.x % w + 0.5f, threadIdx.x / w + 0.5f);
    if (v > 3) out[threadIdx.x] = v;
}
__global__ void change(cudaSurfaceObject_t s, cudaTextureObject_t t, float *out) /* the neighbour's texel, no barrier */
{
    surf2Dwrite(1.f, s, threadIdx.x * 4, 0);
    out[threadIdx.x] = tex2D<float>(t, (threadIdx.x + 32) % 64 + 0.5f, 0.5f);
}
static cudaArray_t array(int w, int h, unsigned flags, bool set)
{
    cudaArray_t a;
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    static float zeros[4096];
    cudaMallocArray(&a, &f, w, h, flags);
    if (set) cudaMemcpy2DToArray(a, 0, 0, zeros, w * 4, w * 4, h, cudaMemcpyHostToDevice);
    return a;
}
int main(int argc, char **argv)
{
    float *out;
    cudaMalloc(&out, 4096);
    for (const char *m = argc > 1 ? argv[1] : ""; *m; m++) {
        bool good = *m < 'a';
        int what = *m | 32, w = what == 'c' ? 64 : 8;
        cudaArray_t a = array(w, 8, what == 'f' && !good ? 0 : cudaArraySurfaceLoadStore, what != 'u' || good);
        cudaResourceDesc d = {};
        cudaTextureDesc td = {};
        cudaSurfaceObject_t s;
        cudaTextureObject_t t;
        d.resType = cudaResourceTypeArray, d.res.array.array = a;
        cudaCreateSurfaceObject(&s, &d), cudaCreateTextureObject(&t, &d, &td, nullptr);
        switch (what) {
        case 'f': fill<<<1, 64>>>(s, w); break; /* an array without the flag */
        case 's': /* a texture of what the same kernel wrote */
            if (good) fill<<<1, 64>>>(s, w), sample<<<1, 64>>>(t, out, w);
            else flip<<<2, 32>>>(s, t, out, w);
            break;
        case 'u': sample<<<1, 64>>>(t, out, w); break; /* texels that nobody wrote */
        case 'c': if (!good) change<<<1, 64>>>(s, t, out); break;
        case 'd': if (good) sample<<<1, 64>>>(t, out, w); break; /* destroyed, and then used */
        }
        cudaDeviceSynchronize();
        cudaDestroySurfaceObject(s), cudaDestroyTextureObject(t);
        if (what == 'd' && !good) sample<<<1, 64>>>(t, out, w);
        cudaDeviceSynchronize(), cudaFreeArray(a);
    }
    cudaFree(out);
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
// regen: no
