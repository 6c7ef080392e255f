/* Programs that load machine code they had made on the fly, by NVRTC or nvJitLink: it keeps its PTX, so that it runs. */
#define _GNU_SOURCE 1
#include "programs.h"
#include <cuda.h>
#include <dlfcn.h>
#include <nvJitLink.h>
#include <nvrtc.h>

#undef TRY
#define TRY(call)                                                                  \
    do {                                                                           \
        int tried = (int)(call);                                                   \
        if (tried) {                                                               \
            printf("%s: %d\n", #call, tried);                                      \
            exit(3);                                                               \
        }                                                                          \
    } while (0)
enum { N = 256, MACHINE_AT = 18, MACHINE_CUDA = 190 };

static const char kernel[] = "extern \"C\" __device__ int twice(int);\n"
                             "#ifdef ALONE\n"
                             "extern \"C\" __device__ int twice(int x) { return 2 * x; }\n"
                             "#endif\n"
                             "extern \"C\" __global__ void fill(int *x, int n)\n"
                             "{\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i < n) x[i] = twice(i);\n"
                             "}\n";
static const char function[] = "extern \"C\" __device__ int twice(int x) { return 2 * x; }\n";

struct bytes {
    char *p;
    size_t n;
};
enum want { PTX, CUBIN, LTO };

/* What NVRTC makes of a text. */
static struct bytes compiled(const char *text, const char *arch, const char *more, enum want want)
{
    static nvrtcResult (*const size[])(nvrtcProgram, size_t *) = { nvrtcGetPTXSize, nvrtcGetCUBINSize, nvrtcGetLTOIRSize };
    static nvrtcResult (*const get[])(nvrtcProgram, char *) = { nvrtcGetPTX, nvrtcGetCUBIN, nvrtcGetLTOIR };
    nvrtcProgram p;
    struct bytes b;
    const char *options[] = { arch, "-lineinfo", more };
    TRY(nvrtcCreateProgram(&p, text, "source.cu", 0, NULL, NULL));
    TRY(nvrtcCompileProgram(p, more ? 3 : 2, options));
    TRY(size[want](p, &b.n));
    b.p = malloc(b.n);
    TRY(get[want](p, b.p));
    TRY(nvrtcDestroyProgram(&p));
    return b;
}

/* What nvJitLink makes of several, by the functions that a program with the library in its own table calls. */
static struct bytes linked(const struct bytes *from, nvJitLinkInputType type, int n, const char *more)
{
    nvJitLinkHandle h;
    struct bytes b;
    const char *options[] = { "-arch=sm_90", "-lineinfo", more };
    TRY(nvJitLinkCreate(&h, more ? 3 : 2, options));
    for (int i = 0; i < n; i++) {
        char name[24];
        snprintf(name, sizeof name, "input %d", i);
        TRY(nvJitLinkAddData(h, type, from[i].p, from[i].n, name));
    }
    TRY(nvJitLinkComplete(h));
    TRY(nvJitLinkGetLinkedCubinSize(h, &b.n));
    b.p = malloc(b.n);
    TRY(nvJitLinkGetLinkedCubin(h, b.p));
    TRY(nvJitLinkDestroy(&h));
    return b;
}

static int launched(struct bytes image, int n) /* n: what the kernel is told; there are N */
{
    CUmodule m;
    CUfunction f;
    CUdeviceptr x;
    CUcontext c;
    int h[N];
    TRY(cuInit(0));
    TRY(cuDevicePrimaryCtxRetain(&c, 0));
    TRY(cuCtxSetCurrent(c));
    printf("%s\n", image.n > 64 && (unsigned char)image.p[MACHINE_AT] == MACHINE_CUDA ? "a cubin" : "no cubin");
    TRY(cuModuleLoadData(&m, image.p));
    TRY(cuModuleGetFunction(&f, m, "fill"));
    TRY(cuMemAlloc(&x, sizeof h));
    void *args[] = { &x, &n };
    TRY(cuLaunchKernel(f, 3, 1, 1, 100, 1, 1, 0, NULL, args, NULL));
    TRY(cuMemcpyDtoH(h, x, sizeof h));
    printf("%d\n", h[N - 1]);
    TRY(cuMemFree(x));
    TRY(cuModuleUnload(m));
    TRY(cuCtxSetCurrent(NULL));
    TRY(cuDevicePrimaryCtxRelease(0));
    free(image.p);
    return 0;
}

static int compiled_ok(void) { return launched(compiled(kernel, "-arch=sm_90", "-DALONE", CUBIN), N); }
static int compiled_bad(void) { return launched(compiled(kernel, "-arch=sm_90", "-DALONE", CUBIN), N + 10); }

static int link_of(int n)
{
    struct bytes two[] = { compiled(kernel, "-arch=compute_90", "-rdc=true", PTX), compiled(function, "-arch=compute_90", "-rdc=true", PTX) };
    struct bytes b = linked(two, NVJITLINK_INPUT_PTX, 2, NULL);
    free(two[0].p);
    free(two[1].p);
    return launched(b, n);
}
static int linked_ok(void) { return link_of(N); }
static int linked_bad(void) { return link_of(N + 10); }

/* Cubins of NVRTC are linked: each keeps its text. */
static int relinked_ok(void)
{
    struct bytes two[] = { compiled(kernel, "-arch=sm_90", "-rdc=true", CUBIN), compiled(function, "-arch=sm_90", "-rdc=true", CUBIN) };
    return launched(linked(two, NVJITLINK_INPUT_CUBIN, 2, NULL), N);
}

/* Code for link-time optimisation has no text of its own. */
static int optimised_ok(void)
{
    struct bytes two[] = { compiled(kernel, "-arch=compute_90", "-dlto", LTO), compiled(function, "-arch=compute_90", "-dlto", LTO) };
    return launched(linked(two, NVJITLINK_INPUT_LTOIR, 2, "-lto"), N);
}

/* As a program finds the functions that opens the library by its path. */
static int opened_ok(void)
{
    Dl_info at;
    nvrtcProgram p;
    size_t here, there;
    const char *options[] = { "-arch=sm_90", "-DALONE" };
    if (!dladdr((void *)nvrtcVersion, &at)) return 5;
    void *library = dlopen(at.dli_fname, RTLD_NOW);
    nvrtcResult (*size)(nvrtcProgram, size_t *) = (nvrtcResult (*)(nvrtcProgram, size_t *))dlsym(library, "nvrtcGetCUBINSize");
    TRY(nvrtcCreateProgram(&p, kernel, "source.cu", 0, NULL, NULL));
    TRY(nvrtcCompileProgram(p, 2, options));
    TRY(size(p, &there));
    TRY(nvrtcGetCUBINSize(p, &here));
    printf("%s\n", here == there ? "the same" : "two cubins");
    TRY(nvrtcDestroyProgram(&p));
    return 0;
}

/* What the libraries refuse, they refuse as ever. */
static int refused_ok(void)
{
    nvrtcProgram p;
    nvJitLinkHandle h;
    size_t n;
    const char *options[] = { "-arch=sm_90" };
    struct bytes junk = { (char *)"no ptx", 7 };
    TRY(nvrtcCreateProgram(&p, "nothing", "source.cu", 0, NULL, NULL));
    printf("%d", nvrtcCompileProgram(p, 1, options));
    printf(" %d", nvrtcGetCUBINSize(p, &n));
    printf(" %d\n", nvrtcGetCUBINSize(p, NULL));
    TRY(nvrtcDestroyProgram(&p));
    TRY(nvJitLinkCreate(&h, 1, options));
    nvJitLinkResult added = nvJitLinkAddData(h, NVJITLINK_INPUT_PTX, junk.p, junk.n, "junk");
    printf("%s", added ? "junk" : "taken");
    printf(" %s\n", nvJitLinkGetLinkedCubinSize(h, &n) || !n ? "nothing" : "a cubin");
    TRY(nvJitLinkDestroy(&h));
    return 0;
}

#define ONE(name) { #name, name }
PROGRAMS(ONE(compiled_ok), ONE(compiled_bad), ONE(linked_ok), ONE(linked_bad), ONE(relinked_ok), ONE(optimised_ok), ONE(opened_ok), ONE(refused_ok))
