/* Many programs in one file, so that nvcc is called once for all of them: main calls the one whose name is its
 * argument, and lists their names without one. NAME_bad has a bug that its twin NAME_ok has not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct program {
    const char *name; /* what the argument names */
    int (*run)(void); /* what main would be in a file of its own */
};

/* Ends the program with the name of the call that failed. */
#define TRY(call)                                                                 \
    do {                                                                          \
        cudaError_t tried = (call);                                               \
        if (tried != cudaSuccess) {                                               \
            printf("%s: %s\n", #call, cudaGetErrorString(tried));                 \
            exit(3);                                                              \
        }                                                                         \
    } while (0)

/* Where BITS is set (tests/facts/modern.sh), prints a hash of a result: two machines that print the same have the same bits. */
static inline void bits_of(const char *what, const void *p, size_t n)
{
    unsigned long long h = 14695981039346656037ull;
    for (size_t i = 0; i < n; i++) h = (h ^ ((const unsigned char *)p)[i]) * 1099511628211ull;
    if (getenv("BITS")) printf("%s: %016llx\n", what, h);
}

#define PROGRAMS(...)                                                             \
    static const struct program programs[] = { __VA_ARGS__ };                     \
    int main(int argc, char **argv)                                               \
    {                                                                             \
        for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {         \
            if (argc < 2) printf("%s\n", programs[i].name);                       \
            else if (!strcmp(argv[1], programs[i].name)) return programs[i].run(); \
        }                                                                         \
        return argc < 2 ? 0 : 4;                                                  \
    }
