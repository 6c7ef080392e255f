/* The host reads what an asynchronous copy brings, and changes what one reads, before and after waiting for it. */
#include "program.h"

int main(int argc, char **argv)
{
    int bad = argc > 1 && !strcmp(argv[1], "bad");
    open_gpu(1);
    uint64_t x = memory("x", 4096, LK_MEMORY_DEVICE), in = memory("in", 4096, LK_MEMORY_PINNED),
             out = memory("out", 4096, LK_MEMORY_PINNED);
    volatile float *read, *write;
    check(lk_memory_host(gpu, out, (void **)&read));
    check(lk_memory_host(gpu, in, (void **)&write));
    lk_stream *a = stream(), *b = stream();

    DO(lk_memory_copy_async, a, out, x, 16384);
    if (!bad) check(lk_stream_synchronise(a));
    float sum = read[2000];
    check(lk_stream_synchronise(a));

    DO(lk_memory_copy_async, b, x, in, 16384);
    sum += write[1000]; /* reading the source is fine */
    if (!bad) check(lk_stream_synchronise(b));
    write[2000] = sum + 1;
    return finish();
}
