/* Copies to and from memory of the host that has fewer bytes than they ask for: blocks of malloc, variables, the stack,
 * the end of what is mapped, memory that cannot be written, rows with a wrong pitch; and the same with enough. What lies
 * behind each is there for this purpose, so that the program lives on. */
#include "api.h"
#include <signal.h>
#include <sys/mman.h>

enum { N = 4096, PAGE = 1 << 16 }; /* PAGE: the largest pages that a Linux has; those of 4 KiB do as well */
static char table[400];
static char behind_table[N];
static const char fixed[N] = "constant";
static void *d;
static int bad;

/* So many bytes too many, or not. */
static word size(word bytes) { return bytes + (bad ? 1000 : 0); }

static char *pages(int kept)
{
    char *p = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(p + kept * PAGE, (16 - kept) * PAGE);
    return p;
}

static void blocks(void)
{
    float *small = malloc(bad ? 100 : 400), *next = malloc(2000);
    char *large = malloc(1 << 20), *inside = malloc(3000);
    memset(next, 0, 2000);
    SAY(cuMemcpyHtoD_v2, d, small, (word)400);
    CU(cuMemcpyHtoD_v2, d, large, (word)(1 << 20) + (bad ? 2 * PAGE : 0)); /* behind it there may be other mappings */
    SAY(cuMemcpyHtoD_v2, d, inside + 100, (word)200);
    free(small), free(next), free(large), free(inside);
}

static void variables(void)
{
    static char before[16];
    SAY(cuMemcpyHtoD_v2, d, table, size(400));
    SAY(cuMemcpyHtoD_v2, d, table + 100, size(300));
    behind_table[0] = before[0];
}

/* The frame of the caller is large, and nothing of it is used. */
__attribute__((noinline)) static void stack(void)
{
    volatile char local[512];
    local[0] = 0;
    SAY(cuMemcpyHtoD_v2, d, (const void *)local, size(512));
}
__attribute__((noinline)) static void below(void)
{
    volatile char room[4096];
    room[0] = 0;
    stack();
    room[1] = room[0];
}

static void mapped(void)
{
    char *p = pages(2);
    SAY(cuMemcpyDtoH_v2, p, d, (word)(bad ? 3 : 2) * PAGE);
    SAY(cuMemcpyHtoD_v2, d, p + PAGE, (word)(bad ? 2 : 1) * PAGE);
    mprotect(p + PAGE, PAGE, PROT_READ);
    SAY(cuMemcpyDtoH_v2, p, d, (word)(bad ? 2 : 1) * PAGE);
    SAY(cuMemcpyHtoD_v2, d, p, (word)2 * PAGE);
    if (bad) SAY(cuMemcpyDtoH_v2, (void *)fixed, d, (word)16);
    munmap(p, 2 * PAGE);
    if (bad) SAY(cuMemcpyDtoH_v2, p, d, (word)64);
}

static void rows(void)
{
    struct {
        word from_x, from_y, from_type;
        void *from_host, *from_device, *from_array;
        word from_pitch, to_x, to_y, to_type;
        void *to_host, *to_device, *to_array;
        word to_pitch, width, height;
    } c = { .from_type = 2, .from_device = d, .from_pitch = 512, .to_type = 1, .width = 256, .height = 32 };
    char *p = pages(2);
    c.to_host = p;
    c.to_pitch = bad ? 8192 : 4096;
    SAY(cuMemcpy2D_v2, &c);
    munmap(p, 2 * PAGE);
}

/* A program that watches its memory by a handler of its own keeps it. */
static char *watched;
static void open_it(int number, siginfo_t *info, void *context) { mprotect(watched, PAGE, PROT_READ | PROT_WRITE); }
static void handled(void)
{
    struct sigaction a = { .sa_sigaction = open_it, .sa_flags = SA_SIGINFO };
    watched = pages(1);
    mprotect(watched, PAGE, PROT_NONE);
    sigaction(SIGSEGV, &a, NULL);
    SAY(cuMemcpyDtoH_v2, watched, d, (word)64);
    a.sa_handler = SIG_DFL, a.sa_flags = 0;
    sigaction(SIGSEGV, &a, NULL);
}

/* The memory of a node goes before the graph runs. */
static void later(void)
{
    void *s, *graph, *exec;
    char *p = pages(4);
    OK(cuStreamCreate, &s, 0);
    OK(cuStreamBeginCapture_v2, s, 0);
    SAY(cuMemcpyDtoHAsync_v2, p, d, (word)4 * PAGE, s);
    OK(cuStreamEndCapture, s, &graph);
    OK(cuGraphInstantiateWithFlags, &exec, graph, (word)0);
    if (bad) munmap(p + PAGE, 3 * PAGE);
    OK(cuGraphLaunch, exec, s);
    SAY(cuStreamSynchronize, s);
    OK(cuGraphExecDestroy, exec);
    OK(cuGraphDestroy, graph);
    OK(cuStreamDestroy_v2, s);
}

int main(int argc, char **argv)
{
    bad = argc > 1;
    driver_open();
    OK(cuMemAlloc_v2, &d, (word)(2 << 20));
    OK(cuMemsetD8_v2, d, 0, (word)(2 << 20));
    if (argc < 3) { /* the copy of `later` is done by another thread: its finding may come before those of calls */
        blocks();
        variables();
        below();
        mapped();
        rows();
        handled();
    }
    if (!bad || argc > 2) later();
    OK(cuMemFree_v2, d);
    return 0;
}
