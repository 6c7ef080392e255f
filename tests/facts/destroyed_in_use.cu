// regen: no
/* What becomes of an object that is destroyed while a kernel uses it: how long the call takes, whether it waits for the
 * kernel, whether the kernel's value is right, which error comes.
 *     nvcc -arch=sm_90 -o destroyed_in_use destroyed_in_use.cu -lcuda && ./destroyed_in_use
 * A line for each kind of object. The kernel spins for 50 ms by the card's own timer before it uses the object. With the
 * argument `words` nothing of times is printed, so that two runs can be compared; the exit code is 1 where a value is wrong or
 * a call fails. */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>

enum { N = 32, SPIN_NS = 50 * 1000 * 1000, WAITED_US = 20 * 1000 };
static bool words;
static int bad;

static __device__ void spin()
{
    unsigned long long from, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from));
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - from < SPIN_NS);
}
__global__ void by_texture(cudaTextureObject_t t, float *out)
{
    spin();
    out[threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, 0.5f);
}
__global__ void by_linear(cudaTextureObject_t t, float *out)
{
    spin();
    out[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x);
}
__global__ void by_level(cudaTextureObject_t t, float *out)
{
    spin();
    out[threadIdx.x] = tex2DLod<float>(t, (threadIdx.x + 0.5f) / N, 0.125f, 0);
}
__global__ void by_surface(cudaSurfaceObject_t s, float *out)
{
    spin();
    out[threadIdx.x] = surf2Dread<float>(s, threadIdx.x * 4, 0);
}
__global__ void by_pointer(const float *in, float *out)
{
    spin();
    out[threadIdx.x] = in[threadIdx.x];
}
__global__ void copy(const float *in, float *out) { out[threadIdx.x] = in[threadIdx.x]; }

/* The same as by_pointer, for cuModuleLoadData. */
static const char ptx[] = ".version 8.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry slow(.param .u64 in, .param .u64 out)\n{\n"
                          "    .reg .u64 %rd<9>;\n    .reg .u32 %r<2>;\n    .reg .f32 %f<2>;\n    .reg .pred %p<2>;\n"
                          "    ld.param.u64 %rd1, [in];\n    ld.param.u64 %rd2, [out];\n"
                          "    cvta.to.global.u64 %rd1, %rd1;\n    cvta.to.global.u64 %rd2, %rd2;\n"
                          "    mov.u64 %rd3, %globaltimer;\n"
                          "again:\n    mov.u64 %rd4, %globaltimer;\n    sub.u64 %rd5, %rd4, %rd3;\n"
                          "    setp.lt.u64 %p1, %rd5, 50000000;\n    @%p1 bra again;\n"
                          "    mov.u32 %r1, %tid.x;\n    mul.wide.u32 %rd6, %r1, 4;\n"
                          "    add.s64 %rd7, %rd1, %rd6;\n    add.s64 %rd8, %rd2, %rd6;\n"
                          "    ld.global.f32 %f1, [%rd7];\n    st.global.f32 [%rd8], %f1;\n    ret;\n}\n";

static float host[N], *in, *out, *out2;
static cudaStream_t stream, other;

static void need(int error, const char *what)
{
    if (!error) return;
    printf("%s failed: %d %s\n", what, error, cudaGetErrorName((cudaError_t)error));
    exit(2);
}
#define NEED(x) need((int)(x), #x)

static double now_us()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count() * 1e6;
}

static double began;
static void begin()
{
    NEED(cudaDeviceSynchronize());
    memset(host, 0, sizeof host);
    NEED(cudaMemset(out, 0, N * 4));
    NEED(cudaMemset(out2, 0, N * 4));
    NEED(cudaDeviceSynchronize());
}

/* What `of` was destroyed by returned, and how long it took; then the values that the kernel has left. */
static void told(const char *of, int error, double took, const float *where)
{
    int launch = cudaGetLastError(), sync = cudaDeviceSynchronize();
    int copied = cudaMemcpy(host, where, N * 4, cudaMemcpyDeviceToHost), wrong = 0;
    for (int i = 0; i < N; i++) wrong += host[i] != i + 1;
    char time[80] = "";
    if (!words) snprintf(time, sizeof time, ", %s, %.0f us", took < WAITED_US ? "returns at once" : "waits", took);
    printf("%-28s error %d%s; launch %d, sync %d, ", of, error, time, launch, sync);
    if (wrong)
        printf("%d values wrong: [5] is %g\n", wrong, host[5]);
    else
        printf("value right\n");
    bad |= error || launch || sync || copied || wrong;
}
#define DESTROY(of, call, where) \
    do { \
        began = now_us(); \
        int error_ = (int)(call); \
        told(of, error_, now_us() - began, where); \
    } while (0)

static cudaArray_t array_new(unsigned flags)
{
    cudaArray_t a;
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    NEED(cudaMallocArray(&a, &f, N, 4, flags));
    NEED(cudaMemcpy2DToArray(a, 0, 0, in, N * 4, N * 4, 1, cudaMemcpyDeviceToDevice));
    NEED(cudaDeviceSynchronize());
    return a;
}

static cudaTextureObject_t texture_of(const cudaResourceDesc &r, bool normalised)
{
    cudaTextureDesc d = {};
    cudaTextureObject_t t;
    d.normalizedCoords = normalised;
    NEED(cudaCreateTextureObject(&t, &r, &d, NULL));
    return t;
}

static void textures()
{
    cudaResourceDesc r = {};
    float *rows;
    size_t pitch;
    begin();
    r.resType = cudaResourceTypeLinear;
    r.res.linear = { in, cudaCreateChannelDesc<float>(), N * 4 };
    cudaTextureObject_t t = texture_of(r, false);
    by_linear<<<1, N, 0, stream>>>(t, out);
    DESTROY("texture of linear memory", cudaDestroyTextureObject(t), out);

    begin();
    NEED(cudaMallocPitch(&rows, &pitch, N * 4, 4));
    NEED(cudaMemset2D(rows, pitch, 0, N * 4, 4));
    NEED(cudaMemcpy(rows, in, N * 4, cudaMemcpyDeviceToDevice));
    NEED(cudaDeviceSynchronize());
    r = {};
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D = { rows, cudaCreateChannelDesc<float>(), N, 4, pitch };
    t = texture_of(r, false);
    by_texture<<<1, N, 0, stream>>>(t, out);
    DESTROY("texture of rows", cudaDestroyTextureObject(t), out);

    begin(); /* others are made while the kernel runs: the place of the destroyed one may be used again */
    t = texture_of(r, false);
    by_texture<<<1, N, 0, stream>>>(t, out);
    began = now_us();
    int error = cudaDestroyTextureObject(t);
    double took = now_us() - began;
    cudaTextureObject_t more[100];
    r.res.pitch2D.devPtr = rows + pitch / 4; /* zeros */
    for (int i = 0; i < 100; i++) more[i] = texture_of(r, false);
    told("texture, and 100 new ones", error, took, out);
    for (int i = 0; i < 100; i++) cudaDestroyTextureObject(more[i]);

    begin(); /* two kernels in a row: the second has not begun when the object is destroyed */
    r.res.pitch2D.devPtr = rows;
    t = texture_of(r, false);
    by_pointer<<<1, N, 0, stream>>>(in, out2);
    by_texture<<<1, N, 0, stream>>>(t, out);
    DESTROY("texture, kernel not begun", cudaDestroyTextureObject(t), out);
    NEED(cudaFree(rows));
}

static void arrays()
{
    cudaResourceDesc r = {};
    cudaArray_t a = array_new(cudaArraySurfaceLoadStore);
    cudaSurfaceObject_t s;
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    begin();
    cudaTextureObject_t t = texture_of(r, false);
    by_texture<<<1, N, 0, stream>>>(t, out);
    DESTROY("texture of an array", cudaDestroyTextureObject(t), out);
    begin();
    NEED(cudaCreateSurfaceObject(&s, &r));
    by_surface<<<1, N, 0, stream>>>(s, out);
    DESTROY("surface", cudaDestroySurfaceObject(s), out);
    begin();
    t = texture_of(r, false);
    by_texture<<<1, N, 0, stream>>>(t, out);
    DESTROY("array", cudaFreeArray(a), out);
    cudaDestroyTextureObject(t);

    cudaMipmappedArray_t m;
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    NEED(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(N, 4, 0), 2, 0));
    NEED(cudaGetMipmappedArrayLevel(&a, m, 0));
    NEED(cudaMemcpy2DToArray(a, 0, 0, in, N * 4, N * 4, 1, cudaMemcpyDeviceToDevice));
    r = {};
    r.resType = cudaResourceTypeMipmappedArray;
    r.res.mipmap.mipmap = m;
    begin();
    t = texture_of(r, true);
    by_level<<<1, N, 0, stream>>>(t, out);
    DESTROY("mipmapped array", cudaFreeMipmappedArray(m), out);
    cudaDestroyTextureObject(t);
}

static void order()
{
    cudaEvent_t e;
    cudaStream_t s;
    begin();
    NEED(cudaEventCreate(&e));
    by_pointer<<<1, N, 0, stream>>>(in, out2);
    NEED(cudaEventRecord(e, stream));
    NEED(cudaStreamWaitEvent(other, e, 0));
    copy<<<1, N, 0, other>>>(out2, out); /* right only where the wait still holds */
    DESTROY("event, another stream waits", cudaEventDestroy(e), out);
    begin();
    NEED(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    by_pointer<<<1, N, 0, s>>>(in, out2);
    copy<<<1, N, 0, s>>>(out2, out);
    DESTROY("stream", cudaStreamDestroy(s), out);
}

static void graphs()
{
    cudaGraph_t g;
    cudaGraphExec_t x;
    for (int what = 0; what < 2; what++) {
        NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
        by_pointer<<<1, N, 0, stream>>>(in, out2);
        copy<<<1, N, 0, stream>>>(out2, out);
        NEED(cudaStreamEndCapture(stream, &g));
        NEED(cudaGraphInstantiate(&x, g, NULL, NULL, 0));
        begin();
        NEED(cudaGraphLaunch(x, stream));
        if (what) {
            DESTROY("executable graph", cudaGraphExecDestroy(x), out);
            cudaGraphDestroy(g);
        } else {
            DESTROY("graph", cudaGraphDestroy(g), out);
            cudaGraphExecDestroy(x);
        }
    }
}

static void modules()
{
    CUmodule m;
    CUlibrary l;
    CUkernel k;
    CUfunction f;
    void *arguments[] = { &in, &out };
    begin();
    NEED(cuModuleLoadData(&m, ptx));
    NEED(cuModuleGetFunction(&f, m, "slow"));
    NEED(cuLaunchKernel(f, 1, 1, 1, N, 1, 1, 0, stream, arguments, NULL));
    DESTROY("module", cuModuleUnload(m), out);
    begin();
    NEED(cuLibraryLoadData(&l, ptx, NULL, NULL, 0, NULL, NULL, 0));
    NEED(cuLibraryGetKernel(&k, l, "slow"));
    NEED(cuLaunchKernel((CUfunction)k, 1, 1, 1, N, 1, 1, 0, stream, arguments, NULL));
    DESTROY("library", cuLibraryUnload(l), out);
}

static void memory()
{
    float *p, *page = (float *)aligned_alloc(4096, 4096);
    cudaMemPool_t pool;
    cudaMemPoolProps props = {};
    begin();
    NEED(cudaMallocAsync(&p, N * 4, stream));
    NEED(cudaMemcpyAsync(p, in, N * 4, cudaMemcpyDeviceToDevice, stream));
    by_pointer<<<1, N, 0, stream>>>(p, out);
    DESTROY("cudaFreeAsync, its stream", cudaFreeAsync(p, stream), out);

    begin();
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    NEED(cudaMemPoolCreate(&pool, &props));
    NEED(cudaMallocFromPoolAsync(&p, N * 4, pool, stream));
    NEED(cudaMemcpyAsync(p, in, N * 4, cudaMemcpyDeviceToDevice, stream));
    by_pointer<<<1, N, 0, stream>>>(p, out);
    DESTROY("pool with memory in use", cudaMemPoolDestroy(pool), out);
    NEED(cudaFreeAsync(p, stream));

    begin();
    NEED(cudaMalloc(&p, N * 4));
    NEED(cudaMemcpy(p, in, N * 4, cudaMemcpyDeviceToDevice));
    by_pointer<<<1, N, 0, stream>>>(p, out);
    DESTROY("cudaFree", cudaFree(p), out);

    begin();
    NEED(cudaMallocHost(&p, N * 4));
    for (int i = 0; i < N; i++) p[i] = i + 1;
    by_pointer<<<1, N, 0, stream>>>(p, out);
    DESTROY("cudaFreeHost", cudaFreeHost(p), out);

    begin();
    for (int i = 0; i < N; i++) page[i] = i + 1;
    NEED(cudaHostRegister(page, 4096, cudaHostRegisterMapped));
    NEED(cudaHostGetDevicePointer(&p, page, 0));
    by_pointer<<<1, N, 0, stream>>>(p, out);
    DESTROY("cudaHostUnregister", cudaHostUnregister(page), out);

    begin();
    NEED(cudaMallocManaged(&p, N * 4));
    NEED(cudaMemcpy(p, in, N * 4, cudaMemcpyDeviceToDevice));
    by_pointer<<<1, N, 0, stream>>>(p, out);
    DESTROY("cudaFree of managed memory", cudaFree(p), out);
    free(page);
}

/* The driver takes it that all accesses are complete: it does not wait, and the kernel reads what may be gone. An H200
 * answers 700, and nothing can be asked of it afterwards. */
static void pool_freed(void)
{
    float *p;
    begin();
    NEED(cudaMallocAsync(&p, N * 4, stream));
    NEED(cudaMemcpyAsync(p, in, N * 4, cudaMemcpyDeviceToDevice, stream));
    by_pointer<<<1, N, 0, stream>>>(p, out);
    DESTROY("cudaFree of a pool's memory", cudaFree(p), out);
}

int main(int argc, char **argv)
{
    words = argc > 1 && !strcmp(argv[1], "words");
    bool faults = argc > 1 && !strcmp(argv[1], "faults");
    float values[N];
    for (int i = 0; i < N; i++) values[i] = i + 1;
    NEED(cudaMalloc(&in, N * 4));
    NEED(cudaMalloc(&out, N * 4));
    NEED(cudaMalloc(&out2, N * 4));
    NEED(cudaMemcpy(in, values, N * 4, cudaMemcpyHostToDevice));
    NEED(cudaStreamCreate(&stream));
    NEED(cudaStreamCreate(&other));
    begin(); /* all kernels are loaded before anything is measured */
    cudaFuncAttributes a;
    NEED(cudaFuncGetAttributes(&a, by_texture));
    by_pointer<<<1, N, 0, stream>>>(in, out);
    copy<<<1, N, 0, stream>>>(in, out);
    textures();
    arrays();
    order();
    graphs();
    modules();
    memory();
    if (faults) pool_freed();
    NEED(cudaStreamDestroy(stream));
    NEED(cudaStreamDestroy(other));
    NEED(cudaFree(in));
    NEED(cudaFree(out));
    NEED(cudaFree(out2));
    return bad;
}
