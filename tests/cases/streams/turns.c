/* A loop that makes memory anew in each turn, and has two streams write to it: one mistake, not one for each turn. Of
 * two statements that make memory each has its own. */
#include "program.h"

int main(int argc, char **argv)
{
    int bad = argc > 1 && !strcmp(argv[1], "bad");
    open_gpu(1);
    lk_stream *a = stream(), *b = stream();
    for (int i = 0; i < 3; i++) {
        uint64_t p, q;
        DO(lk_memory_alloc_async, a, 1024, NULL, NULL, &p);
        DO(lk_memory_alloc_async, a, 2048, NULL, NULL, &q);
        for (int k = 0; k < 2; k++) DO(lk_memory_fill_async, a, k ? q : p, 0, 1024);
        if (!bad) hand_over(a, b);
        for (int k = 0; k < 2; k++) DO(lk_memory_fill_async, b, k ? q : p, 1, 1024);
        hand_over(b, a);
        DO(lk_memory_free_async, a, p);
        DO(lk_memory_free_async, a, q);
    }
    return finish();
}
