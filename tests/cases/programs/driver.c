/* Programs in C over the driver interface and NVRTC. */
#include "programs.h"
#include <cuda.h>
#include <nvrtc.h>

#undef TRY
#define TRY(call)                                      \
    do {                                               \
        CUresult tried = (call);                       \
        if (tried != CUDA_SUCCESS) {                   \
            const char *text = "?";                    \
            cuGetErrorName(tried, &text);              \
            printf("%s: %s\n", #call, text);           \
            exit(3);                                   \
        }                                              \
    } while (0)
enum { N = 256 };

static const char source[] = "extern \"C\" __global__ void scaled(const float *x, float *y, float by, int n)\n"
                             "{\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i < n) y[i] = by * x[i];\n"
                             "}\n"
                             "__constant__ int offset;\n"
                             "extern \"C\" __global__ void shifted(int *x) { x[threadIdx.x] = offset + threadIdx.x; }\n"
                             "template <class T> __global__ void set(T *x, T v) { x[threadIdx.x] = v; }\n";

static CUcontext begin(void)
{
    CUdevice d;
    CUcontext c;
    TRY(cuInit(0));
    TRY(cuDeviceGet(&d, 0));
    TRY(cuDevicePrimaryCtxRetain(&c, d));
    TRY(cuCtxSetCurrent(c));
    return c;
}
static void end(void)
{
    TRY(cuCtxSetCurrent(NULL));
    TRY(cuDevicePrimaryCtxRelease(0));
}

/* The PTX of a text of CUDA C++; the mangled name of `name`, where that is given. NULL: it does not compile. */
static char *compiled(const char *text, const char *name, char mangled[128])
{
    nvrtcProgram p;
    const char *options[] = { "--gpu-architecture=compute_90", "-lineinfo" }, *lowered;
    size_t bytes;
    if (nvrtcCreateProgram(&p, text, "source.cu", 0, NULL, NULL)) exit(5);
    if (name && nvrtcAddNameExpression(p, name)) exit(5);
    if (nvrtcCompileProgram(p, 2, options)) {
        nvrtcGetProgramLogSize(p, &bytes);
        char *log = malloc(bytes);
        nvrtcGetProgramLog(p, log);
        printf("%s\n", strstr(log, "error") ? "NVRTC says error" : log);
        free(log);
        nvrtcDestroyProgram(&p);
        return NULL;
    }
    if (name && (nvrtcGetLoweredName(p, name, &lowered) || snprintf(mangled, 128, "%s", lowered) < 0)) exit(5);
    nvrtcGetPTXSize(p, &bytes);
    char *ptx = malloc(bytes);
    nvrtcGetPTX(p, ptx);
    nvrtcDestroyProgram(&p);
    return ptx;
}

static int scaled(int n) /* n: what the kernel is told; there are N */
{
    CUmodule m;
    CUfunction f;
    CUdeviceptr x, y;
    float h[N], by = 3;
    char *ptx = compiled(source, NULL, NULL);
    begin();
    TRY(cuModuleLoadDataEx(&m, ptx, 0, NULL, NULL));
    TRY(cuModuleGetFunction(&f, m, "scaled"));
    TRY(cuMemAlloc(&x, sizeof h));
    TRY(cuMemAlloc(&y, sizeof h));
    for (int i = 0; i < N; i++) h[i] = (float)i;
    TRY(cuMemcpyHtoD(x, h, sizeof h));
    void *args[] = { &x, &y, &by, &n };
    TRY(cuLaunchKernel(f, 3, 1, 1, 100, 1, 1, 0, NULL, args, NULL));
    TRY(cuMemcpyDtoH(h, y, sizeof h));
    printf("%g\n", h[N - 1]);
    TRY(cuMemFree(x));
    TRY(cuMemFree(y));
    TRY(cuModuleUnload(m));
    end();
    free(ptx);
    return 0;
}
static int nvrtc_ok(void) { return scaled(N); }
static int nvrtc_bad(void) { return scaled(N + 10); }
static int nvrtc_error_ok(void) { return compiled("__global__ void f() { nothing }", NULL, NULL) != NULL; }

static int template_ok(void)
{
    char name[128];
    char *ptx = compiled(source, "set<double>", name);
    CUmodule m;
    CUfunction f;
    CUdeviceptr x;
    double v = 2.5, h = 0;
    begin();
    TRY(cuModuleLoadData(&m, ptx));
    TRY(cuModuleGetFunction(&f, m, name));
    TRY(cuMemAlloc(&x, 32 * 8));
    void *args[] = { &x, &v };
    TRY(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    TRY(cuMemcpyDtoH(&h, x + 31 * 8, 8));
    printf("%g\n", h);
    TRY(cuMemFree(x));
    TRY(cuModuleUnload(m));
    end();
    free(ptx);
    return 0;
}

static int module(int unloaded) /* a variable of a module; a kernel of one that is gone */
{
    char *ptx = compiled(source, NULL, NULL);
    CUmodule m;
    CUfunction f;
    CUdeviceptr x, offset;
    size_t bytes;
    int h = 1000;
    begin();
    TRY(cuModuleLoadData(&m, ptx));
    TRY(cuModuleGetFunction(&f, m, "shifted"));
    TRY(cuModuleGetGlobal(&offset, &bytes, m, "offset"));
    TRY(cuMemcpyHtoD(offset, &h, bytes));
    TRY(cuMemAlloc(&x, 32 * 4));
    void *args[] = { &x };
    if (unloaded) TRY(cuModuleUnload(m));
    CUresult r = cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL);
    if (unloaded) printf("%s\n", r ? "refused" : "taken");
    if (!unloaded) {
        TRY(r);
        TRY(cuMemcpyDtoH(&h, x + 5 * 4, 4));
        printf("%d, variable of %zu bytes, no function of another name: %d\n", h, bytes, cuModuleGetFunction(&f, m, "none"));
        TRY(cuModuleUnload(m));
    }
    TRY(cuMemFree(x));
    end();
    free(ptx);
    return 0;
}
static int module_ok(void) { return module(0); }
static int module_bad(void) { return module(1); }

static int context_ok(void)
{
    CUcontext a, b, now;
    CUdevice d;
    CUdeviceptr x;
    size_t bytes;
    CUdeviceptr base;
    unsigned v = 0;
    begin();
    TRY(cuCtxGetCurrent(&a));
    TRY(cuCtxCreate(&b, NULL, 0, 0));
    TRY(cuMemAlloc(&x, 4096));
    TRY(cuMemsetD32(x, 0xabcd, 1024));
    TRY(cuMemGetAddressRange(&base, &bytes, x + 100));
    TRY(cuMemcpyDtoH(&v, x + 4092, 4));
    TRY(cuMemFree(x));
    TRY(cuCtxPopCurrent(&now));
    printf("%d %d %zu %x ", now == b, base == x, bytes, v);
    TRY(cuCtxGetCurrent(&now));
    TRY(cuCtxDestroy(b));
    TRY(cuCtxGetDevice(&d));
    printf("%d %d\n", now == a, d);
    end();
    return 0;
}

static int event_ok(void)
{
    CUstream s;
    CUevent a, b;
    CUdeviceptr x;
    float ms = -1;
    begin();
    TRY(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    TRY(cuEventCreate(&a, CU_EVENT_DEFAULT));
    TRY(cuEventCreate(&b, CU_EVENT_DEFAULT));
    TRY(cuMemAlloc(&x, 1 << 20));
    TRY(cuEventRecord(a, s));
    TRY(cuMemsetD8Async(x, 1, 1 << 20, s));
    TRY(cuEventRecord(b, s));
    TRY(cuEventSynchronize(b));
    TRY(cuEventElapsedTime(&ms, a, b));
    printf("%s\n", ms >= 0 ? "timed" : "not timed");
    TRY(cuMemFree(x));
    TRY(cuEventDestroy(a));
    TRY(cuEventDestroy(b));
    TRY(cuStreamDestroy(s));
    end();
    return 0;
}

static int uninitialised_bad(void) /* no cuInit */
{
    CUdevice d;
    printf("%d\n", cuDeviceGet(&d, 0));
    return 0;
}

#define ONE(name) { #name, name }
PROGRAMS(ONE(nvrtc_ok), ONE(nvrtc_bad), ONE(nvrtc_error_ok), ONE(template_ok), ONE(module_ok), ONE(module_bad), ONE(context_ok), ONE(event_ok),
         ONE(uninitialised_bad))
