/* Contexts, occupancy, launches with attributes, attributes of streams and kernels; then the runtimes of each release. */
#include "api.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
#define COUNT "{\n.reg .b32 %r<3>;\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [x];\ncvta.to.global.u64 %rd2, %rd1;\natom.global.add.u32 %r1, [%rd2], 1;\nret;\n}\n"
static const char ptx[] = HEAD ".visible .entry count(.param .u64 x)\n" COUNT
                               ".visible .entry bound(.param .u64 x)\n.maxntid 128, 1, 1\n.maxnreg 64\n" COUNT
                               ".visible .entry shared(.param .u64 x)\n{\n.shared .align 4 .b8 s[40000];\nret;\n}\n";

static void contexts(void *primary)
{
    void *a, *b, *now;
    unsigned flags, version;
    word id, other, limit;
    int device, active, least, greatest;
    OK(cuCtxCreate_v2, &a, 4, 0);
    OK(cuCtxGetCurrent, &now);
    OK(cuCtxGetFlags, &flags);
    OK(cuCtxGetId, a, &id);
    OK(cuCtxGetId, primary, &other);
    printf("context: current %d, flags %u, another id %d\n", now == a, flags, id != other);
    OK(cuCtxAttach, &b, 0);
    printf("attached %d, detach %d, detach %d\n", b == a, CU(cuCtxDetach, a), CU(cuCtxDetach, a));
    printf("detached once more %d, current", CU(cuCtxDetach, a));
    OK(cuCtxGetCurrent, &now);
    printf(" %d\n", now == primary);
    OK(cuCtxPopCurrent_v2, &b);
    printf("popped %d, none left %d, without one %d\n", b == primary, CU(cuCtxPopCurrent_v2, &b), CU(cuCtxSynchronize));
    OK(cuCtxPushCurrent_v2, primary);
    OK(cuCtxSetLimit, 0, 4096L);
    OK(cuCtxGetLimit, &limit, 0);
    OK(cuCtxGetApiVersion, primary, &version);
    OK(cuCtxGetStreamPriorityRange, &least, &greatest);
    printf("stack %d, version %u, priorities %d to %d, no such limit %d\n", (int)limit, version, least, greatest, CU(cuCtxSetLimit, 77, 1L));
    OK(cuDevicePrimaryCtxGetState, 0, &flags, &active);
    OK(cuCtxGetDevice, &device);
    printf("primary active %d on %d, affinity %d\n", active, device, CU(cuCtxGetExecAffinity, &limit, 0));
    int params[6] = { 0 };
    SAY(cuCtxCreate_v4, &a, params, 0, 0);
    OK(cuCtxDestroy_v2, a);
}

struct attribute {
    unsigned id, padding;
    union {
        int number;
        unsigned cluster[3];
        void *event;
        char bytes[64];
    } value;
};
struct config {
    unsigned grid[3], block[3], shared;
    void *stream;
    struct attribute *attribute;
    unsigned attributes;
};

static size_t by_block(int threads) { return (size_t)threads * 100; }

static void kernels(void)
{
    void *module, *count, *bound, *shared, *stream, *other, *event;
    int n, grid, block, value = 0;
    word at, bytes;
    OK(cuModuleLoadData, &module, ptx);
    OK(cuModuleGetFunction, &count, module, "count");
    OK(cuModuleGetFunction, &bound, module, "bound");
    OK(cuModuleGetFunction, &shared, module, "shared");
    for (int t = 32; t <= 1024; t *= 2) {
        OK(cuOccupancyMaxActiveBlocksPerMultiprocessor, &n, count, t, 0L);
        printf(" %d x %d", n, t);
        OK(cuOccupancyMaxActiveBlocksPerMultiprocessor, &n, count, t, 40000L);
        printf(", %d with shared memory;", n);
    }
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor, &n, bound, 128, 0L);
    printf("\nwith 64 registers %d", n);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor, &n, bound, 256, 0L);
    printf(", beyond its bound %d", n);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor, &n, shared, 128, 0L);
    printf(", with static memory %d; no threads %d\n", n, CU(cuOccupancyMaxActiveBlocksPerMultiprocessor, &n, shared, 0, 0L));
    OK(cuOccupancyMaxPotentialBlockSize, &grid, &block, count, NULL, 0L, 0);
    printf("best block %d, grid %d", block, grid);
    OK(cuOccupancyMaxPotentialBlockSize, &grid, &block, count, by_block, 0L, 700);
    printf("; with memory by threads, at most 700: %d, %d", block, grid);
    OK(cuOccupancyAvailableDynamicSMemPerBlock, &bytes, shared, 2, 128);
    printf("; two blocks leave %d bytes\n", (int)bytes);
    struct attribute a[3] = { { 4, 0, { .cluster = { 2, 1, 1 } } }, { 2, 0, { .number = 1 } }, { 12 } };
    struct config c = { { 8, 1, 1 }, { 64, 1, 1 }, 0, NULL, a, 1 };
    OK(cuOccupancyMaxActiveClusters, &n, count, &c);
    printf("clusters of 2: %d", n);
    OK(cuOccupancyMaxPotentialClusterSize, &n, count, &c);
    printf(", the largest has %d\n", n);

    OK(cuStreamCreate, &stream, 1);
    OK(cuStreamCreateWithPriority, &other, 1, -3);
    OK(cuEventCreate, &event, 0);
    OK(cuMemAlloc_v2, &at, 4L);
    OK(cuMemsetD32_v2, at, 0, 1L);
    void *arg[] = { &at };
    c.stream = stream;
    a[2].value.event = event;
    c.attributes = 3;
    SAY(cuLaunchKernelEx, &c, count, arg, NULL);
    OK(cuEventSynchronize, event);
    a[0].value.cluster[0] = 3;
    printf("no multiple of the cluster %d", CU(cuLaunchKernelEx, &c, count, arg, NULL));
    a[0].value.cluster[0] = 16;
    printf(", too large a cluster %d", CU(cuLaunchKernelEx, &c, count, arg, NULL));
    a[0].id = 13, a[0].value.number = 1;
    printf(", updatable %d", CU(cuLaunchKernelEx, &c, count, arg, NULL));
    a[0].id = 99;
    printf(", no such attribute %d\n", CU(cuLaunchKernelEx, &c, count, arg, NULL));
    OK(cuFuncSetBlockShape, count, 32, 1, 1);
    OK(cuParamSetSize, count, 8);
    OK(cuParamSetv, count, 0, &at, 8);
    OK(cuLaunchGrid, count, 3, 2);
    OK(cuCtxSynchronize);
    OK(cuMemcpyDtoH_v2, &value, at, 4L);
    printf("threads that ran: %d\n", value);

    struct attribute v = { 0 };
    OK(cuStreamGetAttribute, other, 8, &v.value);
    printf("priority %d", v.value.number);
    OK(cuStreamCopyAttributes, stream, other);
    OK(cuStreamGetAttribute, stream, 8, &v.value);
    v.value.number = 2;
    OK(cuStreamSetAttribute, stream, 3, &v.value);
    OK(cuStreamGetAttribute, stream, 3, &v.value);
    printf(", policy %d, no such attribute %d\n", v.value.number, CU(cuStreamGetAttribute, stream, 77, &v.value));
    OK(cuMemFree_v2, at);
    OK(cuEventDestroy_v2, event);
    OK(cuStreamDestroy_v2, stream);
    OK(cuStreamDestroy_v2, other);
    OK(cuModuleUnload, module);
}

static void runtime(const char *name, int release)
{
    int version, found = -1;
    void *f = NULL, *lib, *k;
    unsigned n;
    word at, bytes;
    library = dlopen(name, RTLD_NOW);
    OK(cudaRuntimeGetVersion, &version);
    printf("%s: %d", name, version);
    printf(", old entry %d", CU(cudaGetDriverEntryPoint, "cuMemAlloc", &f, 0L, &found));
    printf(" %d %d", f != NULL, found);
    if (release > 11) {
        printf(", newer %d", CU(cudaGetDriverEntryPointByVersion, "cuCtxCreate", &f, 2000, 0L, &found));
        printf(" %d", found);
        OK(cudaLibraryLoadData, &lib, ptx, NULL, NULL, 0, NULL, NULL, 0);
        OK(cudaLibraryGetKernelCount, &n, lib);
        printf(", %u kernels, none %d, no variable %d", n, CU(cudaLibraryGetKernel, &k, lib, "none"), CU(cudaLibraryGetGlobal, &at, &bytes, lib, "none"));
        OK(cudaLibraryGetKernel, &k, lib, "bound");
        OK(cudaFuncGetParamInfo, k, 0L, &at, &bytes);
        printf(", parameter of %d bytes", (int)bytes);
        OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor, &version, k, 64, 0L);
        printf(", %d blocks", version);
        OK(cudaLibraryUnload, lib);
    }
    printf("\n");
}

int main(void)
{
    contexts(driver_open());
    kernels();
    runtime("libcudart.so.11.0", 11);
    runtime("libcudart.so.12", 12);
    runtime("libcudart.so.13", 13);
    return 0;
}
