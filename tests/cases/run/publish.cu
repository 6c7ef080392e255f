// regen: no
// A kernel that answers the host while it runs: data and a flag in pinned memory.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
struct box {
    volatile unsigned asked, stop;
    unsigned in[32];
};
struct answer {
    volatile unsigned done;
    unsigned out[32];
};
template <int HOW> __global__ void serve(box *b, answer *a)
{
    unsigned next = 1;
    while (!b->stop) {
        if (b->asked != next) continue;
        if (HOW != 6) __threadfence_system();
        if (HOW == 4 || HOW == 6) a->done = next;
        if (HOW == 5) a->done = 0;
        for (int i = 0; i < 32; i++) a->out[i] = b->in[i] + next;
        if (HOW == 1) __threadfence();
        if (HOW == 2 || HOW == 4 || HOW == 5) __threadfence_system();
        if (HOW == 3) {
            unsigned *flag = (unsigned *)&a->done;
            asm volatile("st.release.sys.u32 [%0], %1;" ::"l"(flag), "r"(next) : "memory");
        } else if (HOW != 4 && HOW != 6)
            a->done = next;
        next++;
    }
}
__global__ void progress(volatile unsigned *at, unsigned *out) // nobody waits for it
{
    for (unsigned i = 0; i < 8; i++) {
        out[i] = i;
        *at = i;
    }
}
int main(int, char **argv)
{
    box *b;
    answer *a;
    unsigned *at, *out;
    cudaHostAlloc(&b, sizeof *b, cudaHostAllocMapped);
    cudaHostAlloc(&a, sizeof *a, cudaHostAllocMapped);
    cudaHostAlloc(&at, 4, cudaHostAllocMapped);
    cudaHostAlloc(&out, 32, cudaHostAllocMapped);
    memset(b, 0, sizeof *b);
    memset(a, 0, sizeof *a);
    const char *how = argv[1];
    bool serves = true;
    if (!strcmp(how, "none")) serve<0><<<1, 1>>>(b, a);
    if (!strcmp(how, "narrow")) serve<1><<<1, 1>>>(b, a);
    if (!strcmp(how, "fence")) serve<2><<<1, 1>>>(b, a);
    if (!strcmp(how, "release")) serve<3><<<1, 1>>>(b, a);
    if (!strcmp(how, "early")) serve<4><<<1, 1>>>(b, a);
    if (!strcmp(how, "early_bare")) serve<6><<<1, 1>>>(b, a);
    if (!strcmp(how, "twice")) serve<5><<<1, 1>>>(b, a);
    if (!strcmp(how, "progress")) progress<<<1, 1>>>(at, out), serves = false;
    for (unsigned k = 1; serves && k < 3; k++) {
        b->in[0] = k;
        __sync_synchronize();
        b->asked = k;
        while (a->done != k) { }
        if (strncmp(how, "early", 5)) printf("%u\n", a->out[0]); // which may be there or not
    }
    b->stop = 1;
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    cudaFreeHost(b), cudaFreeHost(a), cudaFreeHost(at), cudaFreeHost(out);
}
