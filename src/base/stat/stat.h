/* stat.h: what can be said of times that vary.
 *
 * A side is a number of processes, each with a series of samples. Samples of one process are not independent: where its
 * memory lies, what the clock does and who else is on the machine hold for all of them. So the unit is the pair of
 * processes, one of each side, that ran beside each other; samples only make the median of a process sharper.
 *
 * Nothing here depends on the machine, the locale or the time: the same numbers and the same seed give the same answer.
 */
#ifndef LOCKSTEP_STAT_H
#define LOCKSTEP_STAT_H
#include "base/base.h"

struct samples {
    const double *v;
    u32 n;
};

/* ---- order (order_stat.c) ---- */
void stat_sort(double *v, u32 n);
double stat_quantile(const double *sorted, u32 n, double q); /* between neighbours in proportion; 0 < n */
double stat_median(struct samples s, double *scratch);       /* scratch: s.n numbers */
/* Of sorted numbers: how many are below x, and how many at most x. */
void stat_around(const double *sorted, u32 n, double x, u32 *below, u32 *upto);
/* Two samples, neither empty, any order. All are descriptions: they take every sample for independent. */
struct rank_test {
    double u;         /* pairs in which b is larger; a tie is a half */
    double p;         /* two-sided, of Mann and Whitney, normal with ties and the continuity correction */
    double delta;     /* Cliff's: how much oftener b is larger than smaller, -1 to 1 */
    double low, high; /* its 95 % interval */
    double shift;     /* Hodges and Lehmann: the median of b - a over all pairs */
};
struct rank_test stat_ranks(struct arena *mem, struct samples a, struct samples b);

/* ---- distributions (tail_stat.c) ---- */
double stat_normal_tail(double z);              /* P(Z > z) */
double stat_normal_point(double p);             /* the z above which P(Z > z) is p; 0 < p < 1 */
double stat_student_tail(double t, double df);  /* P(T > t) */
double stat_student_point(double p, double df); /* the t above which it is p */

/* ---- series (series_stat.c) ---- */
double stat_autocorrelation(struct samples s, u32 lag);
/* The most likely place of a change of level, and how sure it is. */
struct change {
    u32 at;               /* the first sample of the new level; 0: the series is too short, or constant */
    double before, after; /* the two medians */
    double p;             /* that a series without a change looks so */
};
struct change stat_change(struct arena *mem, struct samples s);
/* How many samples at the beginning belong to the warm-up: what lies after the last change in the first half. `least`:
 * changes below this fraction of the level are ignored. */
u32 stat_warmup(struct arena *mem, struct samples s, double least);
/* The step in which all samples are counted, where they show one: the timer's quantum. 0: none. */
double stat_quantum(struct arena *mem, struct samples s);

/* ---- two sides (ratio_stat.c) ---- */
struct sides {
    const struct samples *before, *after; /* one sample a process; before[i] and after[i] are a pair */
    u32 pairs;
};
struct ratio {
    double ratio;     /* after over before: the geometric mean over the pairs, trimmed, of the ratio of medians */
    double low, high; /* its interval */
    double error;     /* the standard error of its logarithm */
    u32 pairs;
};
/* The interval by a hierarchical bootstrap: pairs, and in each process blocks of samples. At least two pairs, none of
 * them empty, all samples above 0. level: how often the interval misses the truth: 0.05. */
struct ratio stat_ratio(struct arena *mem, const struct sides *s, double level, u64 seed);

/* ---- verdicts (verdict_stat.c) ---- */
enum verdict { VERDICT_SAME, VERDICT_FASTER, VERDICT_SLOWER, VERDICT_UNCLEAR, VERDICT_INVALID, VERDICT_NOT_RUN };
struct judgement {
    u8 verdict; /* enum verdict */
    struct ratio ratio;
    double median[2]; /* of all samples of a side */
    double level;     /* of the interval */
    double least;     /* the smallest slowdown that this run would have called SLOWER in 80 of 100, as a ratio */
    double quantum;   /* of the timer; 0: none seen */
    struct rank_test ranks;
    char why[256]; /* of UNCLEAR, INVALID and NOT_RUN: a sentence */
};
enum { STAT_PAIRS_LEAST = 5 };
/* threshold: 0.03: what is less than 3 % apart is the same. */
void stat_judge(struct arena *mem, const struct sides *s, double threshold, double level, u64 seed,
                struct judgement *out);
/* Many kernels at once: judged again, each with the level that Holm's rule leaves it, so that in no more than `level`
 * of all runs any of them is called SLOWER or FASTER that is not. */
void stat_judge_all(struct arena *mem, const struct sides *s, u32 n, double threshold, double level, u64 seed,
                    struct judgement *out);
/* Whether more pairs are needed: the interval is wider than half of the threshold to each side. It looks at the width
 * alone, never at the verdict: who stops where the answer pleases gets the answer that pleases. */
bool stat_enough(const struct ratio *r, double threshold);
const char *verdict_name(enum verdict v); /* "SLOWER" */
#endif
