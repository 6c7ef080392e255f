/* How much slower: the ratio of two sides and its interval, by a hierarchical bootstrap.
 *
 * The statistic is the mean over pairs of log(median after / median before), without the tenth of the pairs at either
 * end: one process that was disturbed is no change of the program. A draw takes pairs with replacement, and
 * for each process the median of blocks of its samples, drawn with replacement, too; such medians are made once for
 * each process (POOL of them) and then drawn, which is the same thing and a hundred times faster. Blocks keep what
 * neighbours have in common; their length is Carlstein's (1986) for the autocorrelation that the series has.
 *
 * A percentile interval of few pairs is too narrow: of the n pairs that vary, n - 1 are free, and their spread is
 * itself an estimate. It is taken at the percentiles that make it as wide as Student's (Hesterberg 2015, the expanded
 * percentile interval). */
#include "stat/stat.h"
#include <math.h>

enum { POOL = 48, DRAWS = 4000 };

static u32 block_length(struct samples s)
{
    double r = stat_autocorrelation(s, 1), most = s.n / 4.0;
    if (r <= 0.05) return 1;
    if (r > 0.97) r = 0.97;
    double l = pow(sqrt(6) * r / (1 - r * r), 2 / 3.0) * cbrt(s.n);
    return (u32)fmax(1, ceil(fmin(l, most)));
}

/* POOL logarithms of medians of blocks that were drawn; the first is the series' own. */
static void pool_fill(struct samples s, u64 *random, double *drawn, double *pool)
{
    u32 block = block_length(s);
    pool[0] = log(stat_median(s, drawn));
    for (u32 k = 1; k < POOL; k++) {
        for (u32 n = 0; n < s.n;) {
            u32 from = (u32)(rand_next(random) % (s.n - block + 1));
            for (u32 i = 0; i < block && n < s.n; i++) drawn[n++] = s.v[from + i];
        }
        stat_sort(drawn, s.n);
        pool[k] = log(stat_quantile(drawn, s.n, 0.5));
    }
}

/* The mean of n sorted numbers without a tenth at either end. */
static double trimmed(double *v, u32 n)
{
    u32 cut = n / 10;
    double sum = 0;
    stat_sort(v, n);
    for (u32 i = cut; i < n - cut; i++) sum += v[i];
    return sum / (n - 2 * cut);
}

/* DRAWS of the statistic, in order; the standard deviation of them. `own` receives that of the samples themselves. */
static double draws_make(struct arena *mem, const double *pool, u32 n, u64 *random, double *draw, double *own)
{
    double *pair = NEW_ARRAY(mem, double, n), square = 0;
    for (u32 i = 0; i < n; i++) pair[i] = pool[2 * POOL * i + POOL] - pool[2 * POOL * i];
    *own = trimmed(pair, n);
    for (u32 d = 0; d < DRAWS; d++) {
        for (u32 i = 0; i < n; i++) {
            u64 x = rand_next(random);
            const double *p = &pool[2 * POOL * (u32)((x >> 32) % n)];
            pair[i] = p[POOL + (x & 0xffff) % POOL] - p[(x >> 16 & 0xffff) % POOL];
        }
        draw[d] = trimmed(pair, n);
        square += (draw[d] - *own) * (draw[d] - *own);
    }
    stat_sort(draw, DRAWS);
    return sqrt(square / DRAWS);
}

struct ratio stat_ratio(struct arena *mem, const struct sides *s, double level, u64 seed)
{
    u32 longest = 0, n = s->pairs;
    u64 random = seed + 1;
    double *pool = NEW_ARRAY(mem, double, 2 * POOL * n), *draw = NEW_ARRAY(mem, double, DRAWS), mean;
    for (u32 i = 0; i < n; i++) longest = MAX_OF(longest, MAX_OF(s->before[i].n, s->after[i].n));
    double *drawn = NEW_ARRAY(mem, double, longest);
    for (u32 i = 0; i < n; i++) {
        pool_fill(s->before[i], &random, drawn, &pool[2 * POOL * i]);
        pool_fill(s->after[i], &random, drawn, &pool[2 * POOL * i + POOL]);
    }
    double wider = sqrt(n / (n - 1.0)), t = wider * stat_student_point(level / 2, n - 1), tail = stat_normal_tail(t);
    double spread = draws_make(mem, pool, n, &random, draw, &mean);
    /* Where the percentiles lie beyond what the draws can say, the distance that Student's has from the mean. */
    bool enough = tail * DRAWS >= 8;
    return (struct ratio){ .ratio = exp(mean),
                           .low = exp(enough ? stat_quantile(draw, DRAWS, tail) : mean - t * spread),
                           .high = exp(enough ? stat_quantile(draw, DRAWS, 1 - tail) : mean + t * spread),
                           .error = wider * spread,
                           .pairs = n };
}
