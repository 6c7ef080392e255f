/* Copies between the device and an address of pinned or managed memory: of an allocation, or where none is. */
#include "api.h"

int main(int argc, char **argv)
{
    word device, managed, far = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
    char *pinned;
    setvbuf(stdout, NULL, _IOLBF, 0);
    driver_open();
    OK(cuMemAlloc_v2, &device, (word)4096);
    OK(cuMemHostAlloc, (void **)&pinned, (word)4096, 0);
    OK(cuMemAllocManaged, &managed, (word)4096, 1);
    OK(cuMemsetD8_v2, device, 0, (word)4096);
    SAY(cuMemcpy, (word)pinned + far, device, (word)4096);
    SAY(cuMemcpy, device, (word)pinned + far, (word)4096);
    SAY(cuMemcpyDtoHAsync_v2, pinned + far, device, (word)4096, NULL);
    SAY(cuMemcpyHtoD_v2, device, (char *)managed + far, (word)4096);
    SAY(cuMemcpyDtoH_v2, (char *)managed + far, device, (word)0);
    OK(cuCtxSynchronize);
    OK(cuMemFree_v2, device);
    OK(cuMemFree_v2, managed);
    OK(cuMemFreeHost, pinned);
    return 0;
}
