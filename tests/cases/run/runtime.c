/* A program as nvcc makes it, by hand: a fatbin with PTX that is not packed, registered before main, a kernel by the
 * address of its host function, variables. Linked against nothing: the runtime's entries come from libcudart.so.13. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .const .align 4 .f32 factor;\n"
                          ".visible .entry scale(.param .u64 x)\n{\n.reg .b32 %r<2>;\n.reg .b64 %rd<4>;\n.reg .f32 %f<4>;\n"
                          "ld.param.u64 %rd1, [x];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"
                          "add.s64 %rd3, %rd1, %rd2;\nld.global.f32 %f1, [%rd3];\nld.const.f32 %f2, [factor];\n"
                          "mul.f32 %f3, %f1, %f2;\nst.global.f32 [%rd3], %f3;\nret;\n}\n";
static struct {
    uint32_t magic; /* the container */
    uint16_t version, header;
    uint64_t bytes;
    uint16_t kind, one; /* the image */
    uint32_t image_header;
    uint64_t image_bytes;
    uint32_t packed, options;
    uint16_t minor, major;
    uint32_t sm, name, name_bytes;
    uint64_t flags, zero, unpacked;
    char text[2048];
} fatbin = { 0xba55ed50, 1, 16, 0, 1, 0x101, 64, 0, 0, 0, 0, 8, 80, 0, 0, 0x11, 0, 0, "" };
static struct {
    uint32_t magic, version;
    const void *data, *list;
} wrapper = { 0x466243b1, 1, &fatbin, NULL };
static float factor; /* the host's shadow of the variable */
static void scale(void) {}
typedef struct {
    unsigned x, y, z;
} dim3;

#define GET(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(library, #name))
int main(void)
{
    enum { N = 64 };
    float x[N], two = 2, *p;
    int wrong = 0, r;
    void *library = dlopen("libcudart.so.13", RTLD_NOW);
    if (!library) {
        printf("%s\n", dlerror());
        return 3;
    }
    strcpy(fatbin.text, ptx);
    fatbin.image_bytes = fatbin.unpacked = (sizeof ptx + 7) / 8 * 8;
    fatbin.bytes = 64 + fatbin.image_bytes;
    void **handle = GET(void **, __cudaRegisterFatBinary, void *)(&wrapper);
    GET(void, __cudaRegisterFunction, void **, const void *, char *, const char *, int, void *, void *, void *, void *, int *)
    (handle, (void *)(uintptr_t)scale, "scale", "scale", -1, 0, 0, 0, 0, 0);
    GET(void, __cudaRegisterVar, void **, void *, char *, const char *, int, size_t, int, int)
    (handle, &factor, "factor", "factor", 0, 4, 1, 0);
    GET(void, __cudaRegisterFatBinaryEnd, void **)(handle);
    for (int i = 0; i < N; i++) x[i] = i;
    r = GET(int, cudaMalloc, void **, size_t)((void **)&p, sizeof x);
    r |= GET(int, cudaMemcpy, void *, const void *, size_t, int)(p, x, sizeof x, 1);
    r |= GET(int, cudaMemcpyToSymbol, const void *, const void *, size_t, size_t, int)(&factor, &two, 4, 0, 1);
    GET(unsigned, __cudaPushCallConfiguration, dim3, dim3, size_t, void *)((dim3){ 1, 1, 1 }, (dim3){ N, 1, 1 }, 0, NULL);
    dim3 g, b;
    size_t shared;
    void *stream, *args[] = { &p };
    r |= GET(int, __cudaPopCallConfiguration, dim3 *, dim3 *, size_t *, void *)(&g, &b, &shared, &stream);
    r |= GET(int, cudaLaunchKernel, const void *, dim3, dim3, void **, size_t, void *)((void *)(uintptr_t)scale, g, b, args,
                                                                                      shared, stream);
    r |= GET(int, cudaMemcpy, void *, const void *, size_t, int)(x, p, sizeof x, 2);
    for (int i = 0; i < N; i++) wrong += x[i] != 2 * i;
    printf("errors %d, %d wrong\n", r, wrong);
    r = GET(int, cudaLaunchKernel, const void *, dim3, dim3, void **, size_t, void *)(&wrong, g, b, args, 0, NULL);
    printf("no kernel: %d %s\n", r, GET(const char *, cudaGetErrorName, int)(r));
    r = GET(int, cudaGetLastError, void)();
    printf("last error: %d, then %d\n", r, GET(int, cudaGetLastError, void)());
    r = GET(int, cudaMemcpyToSymbol, const void *, const void *, size_t, size_t, int)(&factor, &two, 4, 4, 1);
    printf("past the end of a variable: %s\n", GET(const char *, cudaGetErrorString, int)(r));
    r = GET(int, cudaFree, void *)(p);
    printf("free: %d, again: %d\n", r, GET(int, cudaFree, void *)(p));
    GET(void, __cudaUnregisterFatBinary, void **)(handle);
    return 0;
}
