// What a card's driver does with a copy whose memory of the host ends too early: each copy in a child of its own, which
// prints what the call returned, or is named with the signal that ended it.
//     nvcc -arch=native -o host_short host_short.cu && ./host_short
// regen: no
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const size_t page = 4096;

// So many pages, the first `kept` of which stay; the rest is unmapped, or cannot be written, or not be used at all.
static char *pages(size_t all, size_t kept, const char *how)
{
    char *p = (char *)mmap(nullptr, all * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < kept; i++) p[i * page] = 1;
    if (how[0] == 'u') munmap(p + kept * page, (all - kept) * page);
    if (how[0] == 'r') mprotect(p + kept * page, (all - kept) * page, PROT_READ);
    if (how[0] == 'n') mprotect(p + kept * page, (all - kept) * page, PROT_NONE);
    return p;
}

static void child(bool to_host, bool async, size_t all, size_t kept, const char *how)
{
    char *d, *h = pages(all, kept, how);
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaMalloc(&d, all * page);
    cudaMemset(d, 1, all * page);
    cudaDeviceSynchronize();
    cudaMemcpyKind kind = to_host ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
    void *to = to_host ? h : d, *from = to_host ? d : h;
    cudaError_t e = async ? cudaMemcpyAsync(to, from, all * page, kind, s) : cudaMemcpy(to, from, all * page, kind);
    cudaError_t later = cudaStreamSynchronize(s), next = cudaMemset(d, 0, 4);
    printf("returned %s, synchronise %s, next call %s\n", cudaGetErrorName(e), cudaGetErrorName(later),
           cudaGetErrorName(next));
    fflush(stdout);
    _exit(0);
}

int main()
{
    const char *hows[] = { "unmapped", "read-only", "no access" };
    const size_t sizes[] = { 2, 16, 64, 1024, 16384 }; // 8 KB to 64 MB: the driver stages small copies, and pins large ones
    for (int to_host = 0; to_host < 2; to_host++)
        for (const char *how : hows)
            for (size_t all : sizes)
                for (int async = 0; async < 2; async++) {
                    if (!to_host && how[0] == 'r') continue;
                    printf("%s %s, %zu KB, the second half %s: ", to_host ? "to the host" : "from the host",
                           async ? "async" : "sync", all * page / 1024, how);
                    fflush(stdout);
                    pid_t pid = fork();
                    if (!pid) child(to_host, async, all, all / 2, how);
                    int status = 0;
                    waitpid(pid, &status, 0);
                    if (WIFSIGNALED(status)) printf("signal %d\n", WTERMSIG(status));
                    fflush(stdout);
                }
    return 0;
}
