/* What a fuzz target is without a fuzzer (-DREPLAY): a program that gives it the files on its command line, one after
 * the other. */
#ifndef LOCKSTEP_REPLAY_H
#define LOCKSTEP_REPLAY_H
#include "base/base.h"

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct error e = { 0 };
        struct str s;
        if (!file_read(argv[i], &s, &e)) {
            error_print(stderr, &e);
            return 2;
        }
        LLVMFuzzerTestOneInput((const uint8_t *)s.p, s.n);
        base_free((void *)s.p);
    }
    printf("%d inputs replayed\n", argc - 1);
    return argc < 2;
}
#endif
