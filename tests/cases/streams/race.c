/* Two streams on the same memory, with and without the event between them. */
#include "program.h"

int main(int argc, char **argv)
{
    int bad = argc > 1 && !strcmp(argv[1], "bad");
    open_gpu(1);
    uint64_t in = memory("in", 256, LK_MEMORY_DEVICE), out = memory("out", 256, LK_MEMORY_DEVICE),
             more = memory("more", 256, LK_MEMORY_DEVICE), bins = memory("bins", 16, LK_MEMORY_DEVICE);
    lk_stream *a = stream(), *b = stream();

    /* a kernel needs what a copy of another stream brings */
    DO(lk_memory_copy_async, a, in, more, 1024);
    if (!bad) hand_over(a, b);
    DO(start, "scale", b, in, out);
    check(lk_gpu_synchronise(gpu));

    /* a kernel reads what a copy of another stream overwrites; the kernel cannot write it */
    DO(start, "scale", a, in, out);
    if (!bad) hand_over(a, b);
    DO(lk_memory_fill_async, b, in + 512, 0, 512);
    check(lk_gpu_synchronise(gpu));

    /* two kernels */
    DO(start, "scale", a, in, out);
    if (!bad) hand_over(a, b);
    DO(start, "even", b, out, more);
    check(lk_gpu_synchronise(gpu));

    /* none: other elements of one array; atomics; reads */
    DO(start, "even", a, in, out);
    DO(start, "odd", b, in, out);
    DO(start, "histogram", a, in, bins);
    DO(start, "histogram", b, more, bins);
    return finish();
}
