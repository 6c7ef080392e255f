/* Stands for a statically linked CUDA runtime: the names of its entries, with bodies that say that they were reached.
 * Linked into a program, or into a library that a program opens. */
#include <stdio.h>

#define ENTRY(name, args)                         \
    __attribute__((noinline)) int name args       \
    {                                             \
        printf("%s of the program itself\n", #name); \
        return -1;                                \
    }
ENTRY(cudaMalloc, (void **p, unsigned long bytes))
ENTRY(cudaFree, (void *p))
ENTRY(__cudaRegisterFatBinary, (void *image))
#if RUNTIME == 12
ENTRY(cudaGetDeviceProperties_v2, (void *p, int device))
#elif RUNTIME == 11
ENTRY(cudaBindTexture, (void))
#endif
/* ten arguments of both kinds: the first call goes through code that has to keep all of them */
__attribute__((noinline)) double cudaGraphAddMemcpyNode1D(int a, int b, int c, int d, int e, int f, int g, double x,
                                                          double y, double z)
{
    printf("cudaGraphAddMemcpyNode1D of the program itself\n");
    return -a - b - c - d - e - f - g - x - y - z;
}
/* names that look like the runtime's and are the user's */
__attribute__((noinline)) int cudaCheck(int x) { return x + 1; }

static int registered;
__attribute__((constructor)) static void begin(void) { registered = __cudaRegisterFatBinary(0); }

int use(void)
{
    void *p;
    printf("registered %d\n", registered);
    printf("malloc %d\n", cudaMalloc(&p, 4));
    printf("again %d\n", cudaMalloc(&p, 5));
    printf("free %d\n", cudaFree(p));
    printf("sum %g\n", cudaGraphAddMemcpyNode1D(1, 2, 3, 4, 5, 6, 7, 0.5, 0.25, 0.125));
    printf("check %d\n", cudaCheck(1));
    return 0;
}
