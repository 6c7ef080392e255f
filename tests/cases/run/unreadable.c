/* Places for answers that lie nowhere: an error of the call, and no crash. */
#include "api.h"

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
    return 0;
}
