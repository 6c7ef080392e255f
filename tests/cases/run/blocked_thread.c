/* A kernel polls device memory, and a thread of the program sleeps at a futex, of which only the program can wake it.
 * bad idle: a pool's thread waits for work that nobody gives. bad next: it would be woken by what main does behind its
 * wait for the kernel. bad join: main, which has called before, joins the thread that waits for the kernel.
 * ok chain: a thread that sleeps for a time wakes the one that writes. ok join: main joins the thread that writes. */
#include "api.h"
#include <pthread.h>
#include <unistd.h>

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry flag(.param .u64 x)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<2>;\n.reg .b64 %rd<2>;\n"
    "ld.param.u64 %rd1, [x];\nL:\nld.relaxed.gpu.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\nret;\n}\n";
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static int given;
static void *context, *stream, *f;
static word buffer;

static void give(void)
{
    pthread_mutex_lock(&lock);
    given = 1;
    pthread_cond_signal(&wake);
    pthread_mutex_unlock(&lock);
}

/* Waits until it is given work, and writes what the kernel polls. */
static void *writes(void *later)
{
    void *own;
    unsigned one = 1;
    pthread_mutex_lock(&lock);
    while (!later && !given) pthread_cond_wait(&wake, &lock);
    pthread_mutex_unlock(&lock);
    if (later) usleep(300000);
    OK(cuCtxSetCurrent, context);
    OK(cuStreamCreate, &own, 1);
    OK(cuMemcpyHtoDAsync_v2, buffer, &one, (word)4, own);
    OK(cuStreamSynchronize, own);
    OK(cuStreamDestroy_v2, own);
    return NULL;
}

static void *wakes(void *unused)
{
    usleep(300000);
    give();
    return unused;
}

static void *runs(void *unused)
{
    void *arg[1] = { &buffer };
    OK(cuCtxSetCurrent, context);
    OK(cuLaunchKernel, f, 1, 1, 1, 1, 1, 1, 0, stream, arg, NULL);
    SAY(cuStreamSynchronize, stream);
    return unused;
}

int main(int argc, char **argv)
{
    void *module;
    pthread_t thread, other;
    if (argc < 3) return 2;
    int ok = !strcmp(argv[1], "ok"), joins = !strcmp(argv[2], "join"), chain = !strcmp(argv[2], "chain");
    context = driver_open();
    OK(cuModuleLoadData, &module, text);
    OK(cuModuleGetFunction, &f, module, "flag");
    OK(cuMemAlloc_v2, &buffer, (word)4);
    OK(cuMemsetD32_v2, buffer, 0, (word)1);
    OK(cuStreamCreate, &stream, 1);
    pthread_create(&thread, NULL, joins ? runs : writes, NULL);
    if (chain || (ok && joins)) pthread_create(&other, NULL, joins ? writes : wakes, &other);
    if (chain || (ok && joins)) usleep(20000);
    if (!joins) runs(NULL);
    if (!strcmp(argv[2], "next")) give();
    if (ok && joins) pthread_join(other, NULL);
    if (strcmp(argv[2], "idle")) pthread_join(thread, NULL);
    if (chain) pthread_join(other, NULL);
    OK(cuStreamDestroy_v2, stream);
    OK(cuMemFree_v2, buffer);
    OK(cuModuleUnload, module);
    return 0;
}
