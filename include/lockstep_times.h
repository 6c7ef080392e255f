/* lockstep_times.h: whether something has become slower, from times that vary.
 *
 *     lk_series before[10], after[10];          a process each, before[i] beside after[i]
 *     lk_times t = { "softmax", before, after, 10 };
 *     lk_judgement j;
 *     lk_times_judge(&t, 1, NULL, &j);
 *     printf("%s: %.3f to %.3f\n", lk_verdict_name(j.verdict), j.low, j.high);
 *
 * docs/lab/timing.md says how it decides and how often it is wrong. Part of liblockstep; any thread may call it. */
#ifndef LOCKSTEP_TIMES_H
#define LOCKSTEP_TIMES_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#if defined __GNUC__
#pragma GCC visibility push(default)
#endif

typedef struct lk_series { /* the samples of one process, in the order in which they were taken */
    const double *sample;
    uint32_t n;
} lk_series;
typedef struct lk_times { /* two sides of one kernel or program; before[i] and after[i] ran beside each other */
    const char *name;
    const lk_series *before, *after;
    uint32_t pairs;
} lk_times;
typedef struct lk_times_options { /* zero it, set size, then what you need */
    size_t size;
    double threshold; /* what differs by less is the same; 0: 0.03 */
    double level;     /* how often an interval may miss the truth, over all kernels; 0: 0.05 */
    uint64_t seed;    /* of the bootstrap */
} lk_times_options;

typedef enum lk_verdict {
    LK_SAME,    /* the interval lies within the threshold */
    LK_FASTER,  /* wholly below */
    LK_SLOWER,  /* wholly above */
    LK_UNCLEAR, /* it reaches over the threshold */
    LK_INVALID, /* these samples cannot be compared */
    LK_NOT_RUN  /* there are none */
} lk_verdict;
typedef struct lk_judgement {
    lk_verdict verdict;
    uint32_t pairs;
    double before, after;                /* medians of all samples */
    double ratio, low, high;             /* after over before, and its interval: the only thing that decides */
    double level;                        /* of that interval: with many kernels, what Holm's rule leaves */
    double least;                        /* the smallest ratio that such a run calls SLOWER in 80 of 100 */
    double quantum;                      /* the step of the timer, where the samples show one; 0: none */
    double p;                            /* Mann and Whitney's, and what follows: descriptions */
    double delta, delta_low, delta_high; /* Cliff's */
    double shift;                        /* Hodges and Lehmann's, in the unit of the samples */
    char why[256];                       /* of UNCLEAR, INVALID and NOT_RUN */
} lk_judgement;

/* Judges n kernels at once. options NULL: as zeroed. */
void lk_times_judge(const lk_times *times, uint32_t n, const lk_times_options *options, lk_judgement *out);
/* Whether the interval is narrow enough that more pairs are not needed; it does not look at the verdict. */
int lk_times_enough(const lk_judgement *judgement, const lk_times_options *options);
const char *lk_verdict_name(lk_verdict verdict); /* "SLOWER" */
int lk_verdict_exit(lk_verdict verdict);         /* SAME, FASTER 0; SLOWER 1; INVALID 2; NOT_RUN 4; UNCLEAR 7 */
/* How many samples at the beginning of a series belong to the warm-up. */
uint32_t lk_series_warmup(lk_series series, double threshold);
double lk_series_quantile(lk_series series, double q); /* 0.5: the median; 0 without samples */

#if defined __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
