/* What frameworks ask of libnvidia-ml.so.1 before they use CUDA: cards, memory, load, processes. */
#include "api.h"
#include <unistd.h>

int main(void)
{
    void *d = NULL, *ml, *cuda, *same = NULL;
    char text[100], bus[32];
    unsigned n = 99, v = 99;
    int major, minor;
    word memory[3];
    struct {
        unsigned pid;
        word used;
        unsigned instance[2];
    } process[2];
    struct {
        unsigned version;
        word total, reserved, left, used;
    } second = { 40 | 2 << 24 };
    struct {
        char legacy[16];
        unsigned word[5];
        char text[32];
    } pci;
    api_open("libnvidia-ml.so.1");
    ml = library;
    printf("too early %d", CU(nvmlDeviceGetCount_v2, &n));
    const char *(*words)(int) = (const char *(*)(int))dlsym(ml, "nvmlErrorString");
    printf(": %s\n", words(1));
    OK(nvmlInit_v2);
    OK(nvmlDeviceGetCount_v2, &n);
    OK(nvmlDeviceGetHandleByIndex_v2, 1, &d);
    OK(nvmlDeviceGetName, d, text, 100);
    OK(nvmlDeviceGetCudaComputeCapability, d, &major, &minor);
    printf("%u cards, the second %s, %d.%d", n, text, major, minor);
    OK(nvmlSystemGetCudaDriverVersion, &major);
    printf(", CUDA %d, no third %d, short %d\n", major, CU(nvmlDeviceGetHandleByIndex_v2, 2, &same), CU(nvmlDeviceGetName, d, text, 3));
    OK(nvmlDeviceGetUUID, d, text, 100);
    OK(nvmlDeviceGetHandleByUUID, text, &same);
    OK(nvmlDeviceGetPciInfo_v3, d, &pci);
    printf("by UUID %d, %s", same == d, pci.text);
    OK(nvmlDeviceGetHandleByPciBusId_v2, pci.text, &same);
    printf(" %d, temperature %d, MIG %d, link", same == d, CU(nvmlDeviceGetTemperature, d, 0, &v), CU(nvmlDeviceGetMigMode, d, &v, &n));
    OK(nvmlDeviceGetNvLinkState, d, 0, &v);
    OK(nvmlDeviceGetClockInfo, d, 1, &n);
    printf(" %u, clock %u\n", v, n);
    n = 2;
    OK(nvmlDeviceGetComputeRunningProcesses_v3, d, &n, process);
    OK(nvmlDeviceGetMemoryInfo, d, memory);
    printf("before: %u processes, %d used\n", n, (int)memory[2]);

    /* the second card is the only one that CUDA sees */
    api_open("libcuda.so.1");
    cuda = library;
    void *context;
    word at;
    OK(cuInit, 0);
    OK(cuDeviceGetPCIBusId, bus, 32, 0);
    unsigned char id[16];
    OK(cuDeviceGetUuid, id, 0);
    OK(cuDevicePrimaryCtxRetain, &context, 0);
    OK(cuCtxSetCurrent, context);
    OK(cuMemAlloc_v2, &at, 1L << 20);
    char hex[40] = "GPU-";
    for (int i = 0; i < 4; i++) sprintf(hex + 4 + 2 * i, "%02x", id[i]);
    library = ml;
    OK(nvmlDeviceGetMemoryInfo, d, memory);
    OK(nvmlDeviceGetMemoryInfo_v2, d, &second);
    n = 2;
    OK(nvmlDeviceGetComputeRunningProcesses_v3, d, &n, process);
    printf("device 0 of CUDA is %s, the same UUID %d\n", bus, !strncmp(text, hex, 12));
    printf("after: %u process, this one %d, %d used, again %d, the sum %d\n", n, process[0].pid == (unsigned)getpid(), (int)memory[2],
           memory[2] == second.used, second.total == second.left + second.used);
    n = 0;
    printf("no room %d", CU(nvmlDeviceGetComputeRunningProcesses_v3, d, &n, process));
    second.version = 1;
    printf(", %u needed, another version %d", n, CU(nvmlDeviceGetMemoryInfo_v2, d, &second));
    printf(", junk %d", CU(nvmlDeviceGetMemoryInfo, memory, memory));
    memory[0] = 9;
    OK(nvmlDeviceGetCurrentClocksThrottleReasons, d, memory);
    printf(", throttled by %llu, link %d", memory[0], CU(nvmlDeviceGetCurrPcieLinkGeneration, d, &n));
    printf(", shut down %d", CU(nvmlShutdown));
    printf(", then %d\n", CU(nvmlShutdown));
    library = cuda;
    OK(cuMemFree_v2, at);
    return 0;
}
