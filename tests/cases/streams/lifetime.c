/* Stream-ordered memory that another stream uses: before it is allocated, after it is freed. */
#include "program.h"

int main(int argc, char **argv)
{
    int bad = argc > 1 && !strcmp(argv[1], "bad");
    open_gpu(1);
    uint64_t in = memory("in", 256, LK_MEMORY_DEVICE), first, second;
    lk_stream *a = stream(), *b = stream();

    DO(lk_memory_alloc_async, a, 1024, NULL, "first", &first);
    if (!bad) hand_over(a, b);
    DO(start, "scale", b, in, first);
    check(lk_gpu_synchronise(gpu));
    DO(lk_memory_free_async, a, first);

    DO(lk_memory_alloc_async, a, 1024, NULL, "second", &second);
    DO(lk_memory_fill_async, a, second, 0, 1024);
    hand_over(a, b);
    DO(start, "scale", b, second, in);
    if (!bad) hand_over(b, a);
    DO(lk_memory_free_async, a, second);
    return finish();
}
