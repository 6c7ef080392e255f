/* compare_sides.h: kernels and Python callables, timed in turns on a GPU. */
#ifndef LOCKSTEP_COMPARE_SIDES_H
#define LOCKSTEP_COMPARE_SIDES_H
#include "bench/bench.h"
#include "journal/comparing.h"

struct sides_options {
    const char *on; /* "gpu"; NULL: not asked for */
    struct bench_sizes sizes;
    struct bench_how how;
    enum bench_mode mode;
    const char *list; /* a file of pairs, A | B | sizes; NULL: one pair */
    u32 repeat;       /* how often all cases are compared */
    bool quiet;
};
bool is_python_side(const char *text); /* eager.py:softmax, torch:matmul */
bool side_of_text(struct arena *a, const char *text, const char *on, struct side_what *out, struct error *e);
int compare_sides(struct arena *a, struct comparing *c, struct sides_options *o, struct error *e);
/* "from cols = 1240 on (990 to 1600) B is faster", a line for each place at which the faster side changes. */
void crossover_tell(struct text *out, const struct bench_sizes *s, const struct times_pair *pair);
#endif
