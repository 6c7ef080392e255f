/* Modules, libraries, the linker and their logs. `module bad` launches a kernel whose module is gone. */
#include "api.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
static const char good[] = HEAD ".visible .global .align 4 .u32 total = 5;\n.visible .global .attribute(.managed) .align 4 .u32 both;\n"
                                ".visible .entry first(.param .u64 x, .param .u32 n)\n{\nret;\n}\n"
                                ".visible .entry second()\n{\n.shared .align 4 .b8 s[256];\nret;\n}\n";
static const char wrong[] = HEAD ".visible .entry k()\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, %nothing;\nret;\n}\n";
static const char caller[] = HEAD ".extern .func (.param .b32 r) add_one(.param .b32 x);\n"
                                  ".visible .entry go(.param .u64 out)\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<3>;\n"
                                  "ld.param.u64 %rd1, [out];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, 41;\n"
                                  "{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r1;\n"
                                  "call (b), add_one, (a);\nld.param.b32 %r2, [b];\n}\nst.global.u32 [%rd2], %r2;\nret;\n}\n";
static const char callee[] = HEAD ".visible .func (.param .b32 r) add_one(.param .b32 x)\n{\n.reg .b32 %r<3>;\n"
                                  "ld.param.b32 %r1, [x];\nadd.s32 %r2, %r1, 1;\nst.param.b32 [r], %r2;\nret;\n}\n";

enum { INFO = 3, INFO_BYTES, ERROR, ERROR_BYTES, LEVEL, TARGET = 9, VERBOSE = 12 };

static void logs(void)
{
    char info[1000] = "-", error[1000] = "-", small[20];
    void *module = NULL;
    int option[] = { INFO, INFO_BYTES, ERROR, ERROR_BYTES, VERBOSE, LEVEL };
    void *value[] = { info, (void *)sizeof info, error, (void *)sizeof error, (void *)1, (void *)4 };
    SAY(cuModuleLoadDataEx, &module, good, 6, option, value);
    int whole = (long)value[1] == (long)strlen(info);
    if (strstr(info, " time =")) *strstr(info, " time =") = 0;
    printf("info, its length %d: %s\nerror, %ld bytes: '%s'\n", whole, info, (long)value[3], error);
    OK(cuModuleUnload, module);
    value[1] = (void *)sizeof info, value[3] = (void *)sizeof error;
    SAY(cuModuleLoadDataEx, &module, wrong, 4, option, value);
    printf("error, %ld bytes: %s\n", (long)value[3], error);
    value[2] = small, value[3] = (void *)sizeof small;
    OK(cuModuleLoadDataEx, &module, wrong, 4, option, value);
    printf("cut off, %ld bytes: %s\n", (long)value[3], small);
    value[5] = (void *)9;
    SAY(cuModuleLoadDataEx, &module, good, 6, option, value);
    int target[] = { TARGET, ERROR, ERROR_BYTES };
    void *newer[] = { (void *)120, error, (void *)sizeof error };
    SAY(cuModuleLoadDataEx, &module, good, 3, target, newer);
    printf("%s\n", error);
    SAY(cuModuleLoad, &module, "/nowhere/at.all");
    SAY(cuModuleLoadData, &module, "neither PTX nor anything else");
}

static void inside(void)
{
    void *module, *f[3] = { 0 }, *again, *back;
    const char *name;
    unsigned n;
    word at, bytes, offset;
    int state = -1, mode, value;
    OK(cuModuleLoadData, &module, good);
    OK(cuModuleGetFunctionCount, &n, module);
    OK(cuModuleEnumerateFunctions, f, 3, module);
    OK(cuModuleGetFunction, &again, module, "second");
    OK(cuFuncGetName, &name, f[1]);
    OK(cuFuncGetModule, &back, again);
    printf("%u kernels, the second is %s, again %d, its module %d, no third %d\n", n, name, again == f[1], back == module, !f[2]);
    SAY(cuModuleGetFunction, &again, module, "third");
    OK(cuFuncGetParamInfo, f[0], 1L, &offset, &bytes);
    printf("parameter 1 at %d, %d bytes; parameter 2: %d\n", (int)offset, (int)bytes, CU(cuFuncGetParamInfo, f[0], 2L, &offset, &bytes));
    OK(cuModuleGetLoadingMode, &mode);
    OK(cuFuncIsLoaded, &state, f[0]);
    printf("loading mode %d, loaded %d", mode, state);
    OK(cuFuncLoad, f[0]);
    OK(cuFuncIsLoaded, &state, f[0]);
    printf(", then %d\n", state);
    OK(cuModuleGetGlobal_v2, &at, &bytes, module, "total");
    OK(cuMemcpyDtoH_v2, &value, at, 4L);
    printf("total: %d, %d bytes; no such one: %d; texture: %d\n", value, (int)bytes, CU(cuModuleGetGlobal_v2, &at, &bytes, module, "none"),
           CU(cuModuleGetTexRef, &back, module, "none"));
    OK(cuModuleUnload, module);
    printf("unloaded: %d, %d\n", CU(cuModuleUnload, module), CU(cuFuncGetName, &name, f[0]));
}

static void libraries(void)
{
    void *lib, *k[2], *f, *module, *back;
    const char *name;
    unsigned n;
    word at, bytes;
    int value;
    SAY(cuLibraryLoadData, &lib, good, NULL, NULL, 0, NULL, NULL, 0);
    OK(cuLibraryGetKernelCount, &n, lib);
    OK(cuLibraryEnumerateKernels, k, 2, lib);
    OK(cuKernelGetName, &name, k[0]);
    OK(cuKernelGetFunction, &f, k[0]);
    OK(cuKernelGetLibrary, &back, k[0]);
    OK(cuLibraryGetModule, &module, lib);
    printf("%u kernels, %s, its library %d\n", n, name, back == lib);
    OK(cuFuncGetModule, &back, f);
    OK(cuModuleGetFunction, &f, module, "second");
    printf("its module %d, the same kernel %d, not to be unloaded %d\n", back == module, f == k[1], CU(cuModuleUnload, module));
    printf("managed %d, not managed %d, global %d\n", CU(cuLibraryGetManaged, &at, &bytes, lib, "both"),
           CU(cuLibraryGetManaged, &at, &bytes, lib, "total"), CU(cuLibraryGetGlobal, &at, &bytes, lib, "total"));
    OK(cuKernelSetAttribute, 8, 100000, k[1], 0);
    OK(cuKernelGetAttribute, &value, 8, k[1], 0);
    printf("dynamic shared memory %d", value);
    OK(cuKernelGetAttribute, &value, 1, k[1], 0);
    printf(", static %d, too much: %d\n", value, CU(cuKernelSetAttribute, 8, 1000000, k[1], 0));
    OK(cuLibraryUnload, lib);
    SAY(cuLibraryGetModule, &module, lib);
}

static void linking(void)
{
    char error[1000] = "";
    void *state, *image, *module, *f;
    word bytes, at;
    int option[] = { ERROR, ERROR_BYTES }, result = 0;
    void *value[] = { error, (void *)sizeof error };
    OK(cuLinkCreate_v2, 2, option, value, &state);
    OK(cuLinkAddData_v2, state, 1, caller, (long)sizeof caller, "caller.ptx", 0, NULL, NULL);
    SAY(cuLinkComplete, state, &image, &bytes);
    printf("%s\n", error);
    OK(cuLinkAddData_v2, state, 1, callee, (long)sizeof callee, "callee.ptx", 0, NULL, NULL);
    SAY(cuLinkComplete, state, &image, &bytes);
    OK(cuModuleLoadData, &module, image);
    OK(cuModuleGetFunction, &f, module, "go");
    OK(cuMemAlloc_v2, &at, 4L);
    void *arg[] = { &at };
    OK(cuLaunchKernel, f, 1, 1, 1, 1, 1, 1, 0, NULL, arg, NULL);
    OK(cuMemcpyDtoH_v2, &result, at, 4L);
    printf("linked: %d, text %d\n", result, bytes == strlen(image) + 1);
    OK(cuMemFree_v2, at);
    OK(cuLinkDestroy, state);
    OK(cuModuleUnload, module);
    value[1] = (void *)sizeof error;
    OK(cuLinkCreate_v2, 2, option, value, &state);
    SAY(cuLinkAddData_v2, state, 1, wrong, (long)sizeof wrong, "wrong.ptx", 0, NULL, NULL);
    printf("%s\n", error);
    SAY(cuLinkAddData_v2, state, 5, good, (long)sizeof good, "lto", 0, NULL, NULL);
    SAY(cuLinkAddFile_v2, state, 1, "/nowhere/at.all", 0, NULL, NULL);
    OK(cuLinkDestroy, state);
    SAY(cuLinkDestroy, state);
}

int main(int argc, char **argv)
{
    void *module, *f;
    driver_open();
    if (argc == 1) {
        logs();
        inside();
        libraries();
        linking();
        return 0;
    }
    OK(cuModuleLoadData, &module, good);
    OK(cuModuleGetFunction, &f, module, "second");
    SAY(cuLaunchKernel, f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    if (!strcmp(argv[1], "bad")) OK(cuModuleUnload, module);
    SAY(cuLaunchKernel, f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    if (strcmp(argv[1], "bad")) OK(cuModuleUnload, module);
    return 0;
}
