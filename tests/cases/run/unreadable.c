/* Places for answers that lie nowhere: an error of the call, and no crash. */
#include "api.h"
#include <dlfcn.h>

int main(void)
{
    void *nowhere = (void *)0x12345670, *texref = NULL;
    unsigned format;
    unsigned long long base;
    driver_open();
    printf("attribute: %d\n", CU(cuDeviceGetAttribute, nowhere, 1, 0));
    printf("memory: %d\n", CU(cuDeviceTotalMem_v2, nowhere, 0));
    printf("address: %d\n", CU(cuGetProcAddress_v2, "cuInit", &base, 12000, 0ul, nowhere));
    printf("range: %d\n", CU(cuMemGetAddressRange_v2, &base, nowhere, 0x1000ul));
    OK(cuTexRefCreate, &texref);
    printf("format: %d\n", CU(cuTexRefGetFormat, &format, nowhere, texref));
    OK(cuTexRefDestroy, texref);
    int (*host_alloc)(void *, unsigned long, unsigned) = dlsym(dlopen("libcudart.so.13", RTLD_NOW), "cudaHostAlloc");
    printf("host memory: %d\n", host_alloc(nowhere, 0, 0));
    return 0;
}
