/* Copies between devices by their ordinals: one that is not there is refused, whatever the addresses are. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    (void)argc;
    void *rt = dlopen(argv[1], RTLD_NOW), *a = NULL, *b = NULL;
    int (*allocate)(void **, size_t) = (int (*)(void **, size_t))dlsym(rt, "cudaMalloc");
    int (*release)(void *) = (int (*)(void *))dlsym(rt, "cudaFree");
    int (*fill)(void *, int, size_t) = (int (*)(void *, int, size_t))dlsym(rt, "cudaMemset");
    int (*last)(void) = (int (*)(void))dlsym(rt, "cudaGetLastError");
    int (*copy)(void *, int, void *, int, size_t) = (int (*)(void *, int, void *, int, size_t))dlsym(rt, "cudaMemcpyPeer");
    int (*start)(void *, int, void *, int, size_t, void *) = (int (*)(void *, int, void *, int, size_t, void *))dlsym(rt, "cudaMemcpyPeerAsync");
    if (allocate(&a, 64) || allocate(&b, 64) || fill(b, 0, 64)) return 1;
    printf("both there: %d\n", copy(a, 0, b, 0, 64));
    printf("dst is not: %d\n", copy(a, 1, b, 0, 64));
    printf("src is not: %d\n", start(a, 0, b, 7, 64, NULL));
    printf("none: %d\n", copy(a, -1, b, -1, (size_t)-1));
    printf("last %d\n", last());
    return release(a) || release(b);
}
