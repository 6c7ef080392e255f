/* From which release on cuGetProcAddress of a driver finds each name of src/device/abi/libcuda.def, and which function:
 * a line for each answer that differs from the table. cc -I src/device/abi -o proc_address tests/facts/proc_address.c
 * -ldl && ./proc_address */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *symbol, *name;
    int since, thread;
} row[] = {
#define ENTRY(symbol, function, name, since, thread, returns, parameters) { #symbol, #name, since, thread },
#include "libcuda.def"
};
enum { ROWS = sizeof row / sizeof *row };

typedef int (*find_call)(const char *, void **, int, unsigned long, int *);

/* The row that the table has for this version: the newest that is not newer. */
static int by_table(const char *name, int version)
{
    int best = -1;
    for (int i = 0; i < ROWS; i++)
        if (!strcmp(row[i].name, name) && !row[i].thread && row[i].since <= version &&
            (best < 0 || row[i].since > row[best].since))
            best = i;
    return best;
}

int main(void)
{
    static const int versions[] = { 1000,  2000,  2020,  3000,  3020,  4000,  4010,  5000,  5050,  6000,
                                    6050,  7000,  7050,  8000,  9000,  9010,  9020,  10000, 10010, 10020,
                                    11000, 11010, 11020, 11030, 11040, 11050, 11060, 11070, 11080, 12000,
                                    12010, 12020, 12030, 12040, 12050, 12060, 12080, 12090, 13000 };
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    find_call find = library ? (find_call)dlsym(library, "cuGetProcAddress_v2") : NULL;
    if (!find) return 3;
    ((int (*)(unsigned))dlsym(library, "cuInit"))(0);
    for (int i = 0; i < ROWS; i++) {
        if (i && !strcmp(row[i].name, row[i - 1].name)) continue; /* once for each name */
        for (unsigned v = 0; v < sizeof versions / sizeof *versions; v++) {
            void *is = NULL, *wanted;
            int status = -1, best = by_table(row[i].name, versions[v]),
                r = find(row[i].name, &is, versions[v], 0, &status);
            wanted = best < 0 ? NULL : dlsym(library, row[best].symbol);
            if (!is == (best < 0) && (is == wanted || !wanted)) continue;
            const char *symbol = "?";
            for (int k = 0; is && k < ROWS; k++)
                if (dlsym(library, row[k].symbol) == is) symbol = row[k].symbol;
            if (is && best >= 0 && *symbol == '?') continue; /* the function has no symbol of its own */
            printf("%s %d: %d %d %s, and not %s\n", row[i].name, versions[v], r, status, is ? symbol : "none",
                   best < 0 ? "none" : row[best].symbol);
        }
    }
    void *is = NULL;
    int r = find("cuFuncSetAttribute", &is, 2000, 0, NULL);
    printf("without a place for the status: cuFuncSetAttribute %d %d", r, is != NULL);
    r = find("cuNothing", &is, 13000, 0, NULL);
    printf(", cuNothing %d\n", r);
    return 0;
}
