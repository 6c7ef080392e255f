/* The host reads managed memory that a kernel writes, before and after waiting for the kernel. */
#include "program.h"

int main(int argc, char **argv)
{
    int bad = argc > 1 && !strcmp(argv[1], "bad");
    open_gpu(1);
    uint64_t in = memory("in", 256, LK_MEMORY_DEVICE), out = memory("out", 512, LK_MEMORY_MANAGED);
    volatile float *read;
    check(lk_memory_host(gpu, out, (void **)&read));
    lk_stream *s = stream();

    DO(start, "scale", s, in, out);
    float sum = read[300]; /* the kernel does not touch that */
    check(lk_stream_synchronise(s));

    DO(start, "scale", s, in, out);
    if (!bad) check(lk_stream_synchronise(s));
    sum += read[7];
    if (sum > 0) printf("%g\n", sum);
    return finish();
}
