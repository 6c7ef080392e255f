/* A kernel polls a flag that the host sets. "bad": the host first waits for the kernel; another thread, which has
 * nothing to do with the gpu, sets the flag in the end. */
#include "program.h"
#include <pthread.h>
#include <unistd.h>

static void *set_late(void *flag)
{
    sleep(7);
    *(volatile int *)flag = 1;
    return NULL;
}

int main(int argc, char **argv)
{
    int bad = argc > 1 && !strcmp(argv[1], "bad");
    open_gpu(0);
    uint64_t flag = memory("flag", 1, LK_MEMORY_PINNED), out = memory("out", 1, LK_MEMORY_DEVICE);
    void *host;
    pthread_t thread;
    check(lk_memory_host(gpu, flag, &host));
    lk_stream *s = stream();

    DO(start, "await_flag", s, flag, out);
    if (bad)
        pthread_create(&thread, NULL, set_late, host);
    else
        *(volatile int *)host = 1;
    check(lk_stream_synchronise(s));
    if (bad) pthread_join(thread, NULL);
    return finish();
}
