/* Textures and surfaces under lockstep run: what a kernel samples is what an H200 gives (docs/inside/textures.md). `bad` does what the checks are for. */
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

static cudaTextureObject_t texture(cudaArray_t a, cudaTextureFilterMode f, cudaTextureAddressMode m, bool normalized, cudaTextureReadMode r = cudaReadModeElementType)
{
    cudaResourceDesc d = {};
    cudaTextureDesc t = {};
    cudaTextureObject_t o;
    d.resType = cudaResourceTypeArray, d.res.array.array = a;
    for (int i = 0; i < 3; i++) t.addressMode[i] = m;
    t.filterMode = f, t.normalizedCoords = normalized, t.readMode = r, t.borderColor[0] = 7;
    cudaCreateTextureObject(&o, &d, &t, nullptr);
    return o;
}
template <typename T> static cudaArray_t filled(const std::vector<T> &v, int w, int h, int d, unsigned flags = 0)
{
    cudaArray_t a;
    cudaChannelFormatDesc f = cudaCreateChannelDesc<T>();
    cudaMalloc3DArray(&a, &f, make_cudaExtent(w, h, d), flags);
    cudaMemcpy3DParms c = {};
    c.srcPtr = make_cudaPitchedPtr((void *)v.data(), w * sizeof(T), w, h ? h : 1);
    c.dstArray = a, c.extent = make_cudaExtent(w, h ? h : 1, d ? d : 1), c.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&c);
    return a;
}

__global__ void line(cudaTextureObject_t t, float from, float step, float *out) { out[threadIdx.x] = tex1D<float>(t, from + step * threadIdx.x); }
__global__ void plane(cudaTextureObject_t t, float x, float y, float step, float *out) { out[threadIdx.x] = tex2D<float>(t, x + step * threadIdx.x, y); }
__global__ void solid(cudaTextureObject_t t, float x, float y, float z, float *out) { out[threadIdx.x] = tex3D<float>(t, x, y, z + 0.25f * threadIdx.x); }
__global__ void layers(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex2DLayered<float>(t, 1.5f, 1.5f, (int)threadIdx.x - 1); }
__global__ void bytes(cudaTextureObject_t t, uchar4 *out) { out[threadIdx.x] = tex2D<uchar4>(t, threadIdx.x, 1); }
__global__ void fetch(cudaTextureObject_t t, int *out) { out[threadIdx.x] = tex1Dfetch<int>(t, (int)threadIdx.x - 2); }
__global__ void invert(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= w) return;
    float v;
    surf2Dread(&v, from, x * 4, y);
    surf2Dwrite(-v, to, x * 4, h - 1 - y);
}
__global__ void outside(cudaSurfaceObject_t s) { surf2Dwrite(1.f, s, threadIdx.x * 4, 0); }
__global__ void gone(cudaTextureObject_t t, float *out) { *out = tex2D<float>(t, 0, 0); }

template <typename T> static void show(const char *name, T *d, int n)
{
    std::vector<T> h(n);
    cudaMemcpy(h.data(), d, n * sizeof(T), cudaMemcpyDeviceToHost);
    printf("%s:", name);
    for (auto v : h) printf(" %.9g", (double)v);
    printf("\n");
}
static cudaSurfaceObject_t surface(cudaArray_t a)
{
    cudaResourceDesc d = {};
    cudaSurfaceObject_t o;
    d.resType = cudaResourceTypeArray, d.res.array.array = a;
    cudaCreateSurfaceObject(&o, &d);
    return o;
}

int main(int argc, char **argv)
{
    const auto point = cudaFilterModePoint, linear = cudaFilterModeLinear;
    std::vector<float> v(16), cube(64);
    for (int i = 0; i < 16; i++) v[i] = i + 1;
    for (int i = 0; i < 64; i++) cube[i] = i * i * 0.37f;
    float *out;
    cudaMalloc(&out, 4096);
    if (argc > 1) {
        cudaArray_t a = filled(v, 4, 4, 0, cudaArraySurfaceLoadStore);
        cudaSurfaceObject_t s = surface(a);
        outside<<<1, 8>>>(s);
        cudaTextureObject_t t = texture(a, point, cudaAddressModeClamp, false);
        cudaDestroyTextureObject(t);
        gone<<<1, 1>>>(t, out);
        cudaDeviceSynchronize();
        cudaDestroySurfaceObject(s), cudaFreeArray(a), cudaFree(out);
        return 0;
    }
    cudaArray_t one = filled(v, 16, 0, 0), two = filled(v, 4, 4, 0, cudaArraySurfaceLoadStore), three = filled(cube, 4, 4, 4),
                stack = filled(cube, 4, 4, 4, cudaArrayLayered);
    cudaTextureObject_t t[8] = { texture(one, point, cudaAddressModeClamp, false), texture(one, linear, cudaAddressModeWrap, true),
                                 texture(one, linear, cudaAddressModeMirror, true), texture(one, linear, cudaAddressModeBorder, false),
                                 texture(two, linear, cudaAddressModeClamp, false), texture(three, linear, cudaAddressModeClamp, false),
                                 texture(stack, linear, cudaAddressModeClamp, false), texture(two, point, cudaAddressModeBorder, true) };
    line<<<1, 8>>>(t[0], -1.5f, 3.f, out), show("point", out, 8);
    line<<<1, 8>>>(t[1], -0.3f, 0.21f, out), show("wrap", out, 8);
    line<<<1, 8>>>(t[2], -0.3f, 0.21f, out), show("mirror", out, 8);
    line<<<1, 8>>>(t[3], -1.f, 2.4375f, out), show("border", out, 8);
    plane<<<1, 8>>>(t[4], -0.2f, 1.3f, 0.61f, out), show("plane", out, 8);
    plane<<<1, 8>>>(t[7], -0.2f, 0.3f, 0.21f, out), show("border2", out, 8);
    solid<<<1, 8>>>(t[5], 1.7f, 2.2f, 0.9f, out), show("solid", out, 8);
    layers<<<1, 6>>>(t[6], out), show("layers", out, 6);
    std::vector<uchar4> colours(8);
    for (int i = 0; i < 8; i++) colours[i] = make_uchar4(i, 10 + i, 20 + i, 255 - i);
    cudaArray_t small = filled(colours, 4, 2, 0);
    cudaTextureObject_t c = texture(small, point, cudaAddressModeClamp, false);
    bytes<<<1, 4>>>(c, (uchar4 *)out);
    show("bytes", (unsigned char *)out, 16);
    cudaResourceDesc d = {};
    cudaTextureDesc td = {};
    cudaTextureObject_t l;
    int numbers[8] = { 5, -6, 7, -8, 9, -10, 11, -12 }, *memory;
    cudaMalloc(&memory, sizeof numbers), cudaMemcpy(memory, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    d.resType = cudaResourceTypeLinear, d.res.linear.devPtr = memory, d.res.linear.sizeInBytes = sizeof numbers, d.res.linear.desc = cudaCreateChannelDesc<int>();
    cudaCreateTextureObject(&l, &d, &td, nullptr);
    fetch<<<1, 12>>>(l, (int *)out), show("fetch", (int *)out, 12);
    cudaArray_t turned;
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    cudaMallocArray(&turned, &f, 4, 4, cudaArraySurfaceLoadStore);
    cudaSurfaceObject_t from = surface(two), to = surface(turned);
    invert<<<dim3(1, 4), 8>>>(from, to, 4, 4);
    cudaMemcpy2DFromArray(out, 16, turned, 0, 0, 16, 4, cudaMemcpyDeviceToDevice), show("surface", out, 16);
    for (auto o : t) cudaDestroyTextureObject(o);
    cudaDestroyTextureObject(c), cudaDestroyTextureObject(l), cudaDestroySurfaceObject(from), cudaDestroySurfaceObject(to);
    for (auto a : { one, two, three, stack, small, turned }) cudaFreeArray(a);
    cudaFree(memory), cudaFree(out);
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    return 0;
}
// regen: no
