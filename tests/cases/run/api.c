/* Calls whose arguments travel in every way that the calling convention has: registers, stack, structs by value,
 * floats. Each must arrive as it would without the gate, and be written in the log. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef struct { unsigned long width, height, depth; } extent;
typedef struct { void *p; unsigned long pitch, x, y; } pitched;

static void *runtime, *driver;
#define RT(result, name, parameters) result (*name) parameters = (result (*) parameters)dlsym(runtime, #name)
#define CU(name, parameters) int (*name) parameters = (int (*) parameters)dlsym(driver, #name)

int main(void)
{
    runtime = dlopen("libcudart.so.13", RTLD_NOW);
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!runtime || !driver) return 2;
    RT(int, cudaMalloc3D, (pitched *, extent));
    RT(int, cudaMemset3D, (pitched, int, extent));
    RT(int, cudaMemcpy2D, (void *, unsigned long, const void *, unsigned long, unsigned long, unsigned long, int));
    RT(int, cudaFree, (void *));
    RT(const char *, cudaGetErrorString, (int));
    CU(cuTexRefSetMipmapLevelClamp, (void *, float, float));
    CU(cuGetProcAddress_v2, (const char *, void **, int, unsigned long, int *));
    CU(cuModuleGetFunction, (void **, void *, const char *));
    pitched p;
    int bytes[2][4], wrong = 0, found;
    int (*count)(int *);
    void *f;

    printf("%d\n", cudaMalloc3D(&p, (extent){ 16, 2, 1 }));
    printf("%d\n", cudaMemset3D(p, 7, (extent){ 16, 2, 1 }));
    printf("%d\n", cudaMemcpy2D(bytes, 16, p.p, p.pitch, 16, 2, 2));
    for (int i = 0; i < 8; i++) wrong += bytes[i / 4][i % 4] != 0x07070707;
    printf("%d wrong\n", wrong);
    printf("%s\n", cudaGetErrorString(2));
    cuTexRefSetMipmapLevelClamp(NULL, 0.5f, 3);
    cuGetProcAddress_v2("cuDeviceGetCount", (void **)&count, 13000, 0, &found);
    printf("%d", count(&found));
    printf(" %d\n", found);
    printf("no such function, and no status asked: %d\n", cuGetProcAddress_v2("cuNothing", &f, 13000, 0, NULL));
    printf("%d\n", cuModuleGetFunction(&f, NULL, "kernel"));
    printf("%d\n", cudaFree(p.p));
}
