/* A run under a seed. "bad": the host polls memory that a kernel writes, without a call, and a second thread launches:
 * the order is not the seed's any more. "pause": the host makes no call for a while, and what it enqueues then is behind
 * what ran meanwhile; "pause bad": it is in another stream, which might have been first. Else it waits with a call, and
 * one thread makes all calls. */
#include "program.h"
#include <pthread.h>
#include <unistd.h>

static uint64_t in, out;
static lk_stream *s;

static void *launches(void *none)
{
    (void)none;
    DO(start, "scale", s, in, out);
    return NULL;
}

static int pause_between(int bad)
{
    open_gpu(1);
    in = memory("in", 256, LK_MEMORY_DEVICE), out = memory("out", 256, LK_MEMORY_DEVICE);
    uint64_t other = memory("other", 256, LK_MEMORY_DEVICE);
    s = stream();
    lk_stream *second = stream();
    DO(start, "scale", s, in, out);
    usleep(400000);
    DO(start, "scale", bad ? second : s, in, bad ? other : out);
    usleep(400000);
    return finish();
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "pause")) return pause_between(argc > 2);
    int bad = argc > 1 && !strcmp(argv[1], "bad");
    open_gpu(1);
    in = memory("in", 256, LK_MEMORY_DEVICE), out = memory("out", 256, LK_MEMORY_PINNED);
    float *host;
    check(lk_memory_fill(gpu, in, 0x3f, 4 * 256));
    check(lk_memory_host(gpu, out, (void **)&host));
    s = stream();
    DO(start, "scale", s, in, out);
    if (!bad) check(lk_stream_synchronise(s));
    while (*(volatile float *)host == 0) usleep(1000);
    pthread_t thread;
    if (bad) {
        pthread_create(&thread, NULL, launches, NULL);
        pthread_join(thread, NULL);
    } else {
        launches(NULL);
    }
    return finish();
}
