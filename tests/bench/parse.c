/* parse: how long the front end takes: parse, verify and print.
 *
 *     parse [-n TIMES] FILE.ptx ...
 *
 * Prints for each file its size and the least processor time of TIMES runs (9), in milliseconds, for ptx_parse,
 * ptx_verify and ptx_print, and the rate of the first two together. A file that does not parse is an error; what was
 * not read is not timed. */
#include <stdlib.h>
#include <time.h>
#include "ptx/ptx.h"

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double least(double a, double b) { return a < b ? a : b; }

/* One file, `times` times; false: it is no PTX. */
static bool measure(const char *path, int times)
{
    struct error e = { 0 };
    struct str text;
    double parse = 1e30, verify = 1e30, print = 1e30;
    u32 insns = 0;
    if (!file_read(path, &text, &e)) {
        error_print(stderr, &e);
        return false;
    }
    for (int i = 0; i < times; i++) {
        struct text out = { 0 };
        double t0 = now_ms();
        struct ptx_module *m = ptx_parse(path, text, &e);
        double t1 = now_ms();
        if (!m || !ptx_verify(m, &e)) {
            error_print(stderr, &e);
            return false;
        }
        double t2 = now_ms();
        ptx_print(m, &out);
        double t3 = now_ms();
        insns = 0;
        for (u32 k = 0; k < m->nfunc; k++) insns += m->func[k]->ninsn;
        parse = least(parse, t1 - t0);
        verify = least(verify, t2 - t1);
        print = least(print, t3 - t2);
        text_free(&out);
        ptx_free(m);
    }
    printf("%-40s %7.0f KB %8u instructions: parse %7.2f ms, verify %6.2f ms, print %6.2f ms, %5.0f MB/s\n", path,
           text.n / 1024.0, insns, parse, verify, print, text.n / 1e3 / (parse + verify));
    base_free((void *)(uintptr_t)text.p);
    return true;
}

int main(int argc, char **argv)
{
    int first = 1, times = 9;
    if (argc > 2 && !strcmp(argv[1], "-n")) {
        times = atoi(argv[2]);
        first = 3;
    }
    if (first == argc || times < 1) {
        fprintf(stderr, "usage: parse [-n TIMES] FILE.ptx ...\n");
        return 2;
    }
    for (int i = first; i < argc; i++)
        if (!measure(argv[i], times)) return 2;
    return 0;
}
