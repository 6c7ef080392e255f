/* The time between two events, with an argument before anything has waited for the second one: there is none yet. */
#include <dlfcn.h>
#include <stdio.h>

static void *in(const char *name)
{
    static void *rt;
    if (!rt) rt = dlopen("libcudart.so.13", RTLD_NOW);
    return dlsym(rt, name);
}

int main(int argc, char **argv)
{
    int (*allocate)(void **, size_t) = (int (*)(void **, size_t))in("cudaMalloc");
    int (*release)(void *) = (int (*)(void *))in("cudaFree");
    int (*fill)(void *, int, size_t, void *) = (int (*)(void *, int, size_t, void *))in("cudaMemsetAsync");
    int (*make)(void **) = (int (*)(void **))in("cudaEventCreate");
    int (*record)(void *, void *) = (int (*)(void *, void *))in("cudaEventRecord");
    int (*query)(void *) = (int (*)(void *))in("cudaEventQuery");
    int (*wait)(void *) = (int (*)(void *))in("cudaEventSynchronize");
    int (*elapsed)(float *, void *, void *) = (int (*)(float *, void *, void *))in("cudaEventElapsedTime");
    int (*destroy)(void *) = (int (*)(void *))in("cudaEventDestroy");
    void *p = NULL, *start = NULL, *stop = NULL;
    float ms = -1;
    (void)argv;
    if (allocate(&p, 1 << 20) || make(&start) || make(&stop)) return 1;
    record(start, NULL);
    fill(p, 0, 1 << 20, NULL);
    record(stop, NULL);
    if (argc == 1) while (query(stop)) wait(stop); /* not ready is an answer of the query */
    int r = elapsed(&ms, start, stop);
    printf("%d %s\n", r, ms < 0 ? "no time" : "a time");
    wait(stop);
    return destroy(start) || destroy(stop) || release(p);
}
