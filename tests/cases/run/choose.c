/* For the options that choose launches. `make` fills x, which nobody else writes; `past`, a template, writes behind the
 * end of y, four times with 64 threads and twice with 32; `use` reads x. Prints how often each has run. */
#include <dlfcn.h>
#include <stdio.h>

static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .global .align 4 .u32 ran[3];\n"
    ".visible .entry make(.param .u64 x)\n{\n .reg .b64 %a<4>;\n .reg .b32 %r<3>;\n ld.param.u64 %a1, [x];\n"
    " mov.u32 %r1, %tid.x;\n mad.wide.u32 %a1, %r1, 4, %a1;\n st.global.u32 [%a1], %r1;\n mov.u64 %a2, ran;\n"
    " atom.global.add.u32 %r2, [%a2], 1;\n ret;\n}\n"
    ".visible .entry _Z4pastIfEvPT_(.param .u64 x)\n{\n .reg .b64 %a<4>;\n .reg .b32 %r<3>;\n ld.param.u64 %a1, [x];\n"
    " mov.u32 %r1, %tid.x;\n mad.wide.u32 %a1, %r1, 4, %a1;\n mov.u64 %a2, ran;\n"
    " atom.global.add.u32 %r2, [%a2+4], 1;\n st.global.u32 [%a1+256], %r1;\n ret;\n}\n"
    ".visible .entry use(.param .u64 x)\n{\n .reg .b64 %a<4>;\n .reg .b32 %r<3>;\n .reg .pred %p;\n"
    " ld.param.u64 %a1, [x];\n mov.u32 %r1, %tid.x;\n mad.wide.u32 %a1, %r1, 4, %a1;\n ld.global.u32 %r2, [%a1];\n"
    " setp.eq.u32 %p, %r2, 7;\n mov.u64 %a2, ran;\n @%p atom.global.add.u32 %r2, [%a2+8], 1;\n ret;\n}\n";

typedef unsigned long long address;
static void *library;
#define CALL(name, types, ...) \
    if (((int (*) types)dlsym(library, #name))(__VA_ARGS__)) printf("%s failed\n", #name)

static void launch(void *module, const char *name, unsigned threads, address at)
{
    void *kernel, *args[] = { &at };
    CALL(cuModuleGetFunction, (void **, void *, const char *), &kernel, module, name);
    CALL(cuLaunchKernel, (void *, int, int, int, int, int, int, int, void *, void **, void **), kernel, 1, 1, 1,
         (int)threads, 1, 1, 0, NULL, args, NULL);
}

int main(void)
{
    void *context, *module;
    address x, y, ran;
    size_t bytes;
    unsigned n[3];
    library = dlopen("libcuda.so.1", RTLD_NOW);
    CALL(cuInit, (unsigned), 0);
    CALL(cuDevicePrimaryCtxRetain, (void **, int), &context, 0);
    CALL(cuCtxSetCurrent, (void *), context);
    CALL(cuModuleLoadData, (void **, const void *), &module, ptx);
    CALL(cuModuleGetGlobal_v2, (address *, size_t *, void *, const char *), &ran, &bytes, module, "ran");
    CALL(cuMemAlloc_v2, (address *, size_t), &x, 256);
    CALL(cuMemAlloc_v2, (address *, size_t), &y, 256);
    launch(module, "make", 64, x);
    for (int i = 0; i < 4; i++) launch(module, "_Z4pastIfEvPT_", 64, y);
    for (int i = 0; i < 2; i++) launch(module, "_Z4pastIfEvPT_", 32, y);
    launch(module, "use", 64, x);
    CALL(cuMemcpyDtoH_v2, (void *, address, size_t), n, ran, 12);
    printf("make %u, past %u, use %u\n", n[0], n[1], n[2]);
    CALL(cuMemFree_v2, (address), x);
    CALL(cuMemFree_v2, (address), y);
    CALL(cuModuleUnload, (void *), module);
    CALL(cuDevicePrimaryCtxRelease_v2, (int), 0);
    return 0;
}
