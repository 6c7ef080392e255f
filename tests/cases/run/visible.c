/* Which devices a program sees: their number, names and memory, or the error. */
#include <dlfcn.h>
#include <stdio.h>
#define CU(name, parameters) int(*name) parameters = (int(*) parameters)dlsym(cuda, #name)

int main(void)
{
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
    if (!cuda) return 2;
    CU(cuInit, (unsigned));
    CU(cuDeviceGetCount, (int *));
    CU(cuDeviceGetName, (char *, int, int));
    CU(cuDeviceGetUuid_v2, (unsigned char *, int));
    int n = 0, e = cuInit(0);
    cuDeviceGetCount(&n);
    printf("%d:", e);
    for (int i = 0; i < n; i++) {
        char name[100];
        unsigned char id[16];
        cuDeviceGetName(name, sizeof name, i);
        cuDeviceGetUuid_v2(id, i);
        printf(" %s (%02x%02x)", name, id[8], id[9]);
    }
    printf("\n");
    return 0;
}
