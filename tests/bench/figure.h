/* figure.h: a figure of a benchmark: many times of one thing, their median and 99th percentile, held against a target.
 */
#ifndef LOCKSTEP_BENCH_FIGURE_H
#define LOCKSTEP_BENCH_FIGURE_H
#include <stdio.h>
#include <stdlib.h>

static int missed; /* some target was: the exit code */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts n times in us and prints their median; target 0: there is none. */
static void figure(const char *what, double *t, size_t n, double target)
{
    qsort(t, n, sizeof *t, ascending);
    double median = t[n / 2];
    printf("%-64s median %6.3f us, p99 %7.3f", what, median, t[n - n / 100 - 1]);
    if (target > 0) printf(" (target %g: %s)", target, median <= target ? "met" : "MISSED");
    printf("\n");
    fflush(stdout);
    missed |= target > 0 && median > target;
}
#endif
