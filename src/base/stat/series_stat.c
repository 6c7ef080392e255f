/* Series of samples in the order in which they were taken: whether their level holds. */
#include "stat/stat.h"
#include <math.h>

enum { SERIES_LEAST = 12 }; /* of fewer samples nothing is said */

static double mean_of(const double *v, u32 n)
{
    double sum = 0;
    for (u32 i = 0; i < n; i++) sum += v[i];
    return sum / n;
}

/* Sum of v[i] * v[i + lag] over n, v having the mean 0. */
static double covariance(const double *v, u32 n, u32 lag)
{
    double sum = 0;
    for (u32 i = 0; i + lag < n; i++) sum += v[i] * v[i + lag];
    return sum / n;
}

double stat_autocorrelation(struct samples s, u32 lag)
{
    if (s.n < 2 || lag >= s.n) return 0;
    double mean = mean_of(s.v, s.n), both = 0, own = 0;
    for (u32 i = 0; i < s.n; i++) {
        own += (s.v[i] - mean) * (s.v[i] - mean);
        if (i + lag < s.n) both += (s.v[i] - mean) * (s.v[i + lag] - mean);
    }
    return own > 0 ? both / own : 0;
}

/* Ranks in place of samples: a single late one is then no change of level. Ties share theirs. */
static void ranks_of(struct arena *mem, struct samples s, double *rank)
{
    double *sorted = NEW_ARRAY(mem, double, s.n);
    memcpy(sorted, s.v, sizeof *sorted * s.n);
    stat_sort(sorted, s.n);
    for (u32 i = 0; i < s.n; i++) {
        u32 below, upto;
        stat_around(sorted, s.n, s.v[i], &below, &upto);
        rank[i] = (below + upto + 1) / 2.0;
    }
}

/* The variance of a mean of n neighbours, times n, of a process of the first order. v has the mean 0 on both sides of
 * a split that was looked for, so what it shows of its correlation is too little: by (1 + 3r) / n for each of the two
 * means, and as much again for the search. */
static double long_variance(const double *v, u32 n)
{
    double own = covariance(v, n, 0) * n / (n - 3.0);
    if (own <= 0) return 0;
    double r = covariance(v, n, 1) / own;
    r += 4 * (1 + 3 * fmax(r, 0)) / n;
    r = fmax(0, fmin(r, 0.97));
    return own * (1 + r) / (1 - r);
}

/* How often the largest distance of a Brownian bridge from 0 is above x. */
static double bridge_tail(double x)
{
    if (x < 0.3) return 1;
    double sum = 0;
    for (int k = 1; k <= 20; k++) sum += (k % 2 ? 2 : -2) * exp(-2.0 * k * k * x * x);
    return fmin(1, fmax(0, sum));
}

struct change stat_change(struct arena *mem, struct samples s)
{
    struct change c = { .p = 1 };
    if (s.n < SERIES_LEAST) return c;
    double *rank = NEW_ARRAY(mem, double, s.n), mean = (s.n + 1) / 2.0, sum = 0, most = 0;
    ranks_of(mem, s, rank);
    for (u32 i = 0; i + 1 < s.n; i++) {
        sum += rank[i] - mean;
        if (fabs(sum) > most) {
            most = fabs(sum);
            c.at = i + 1;
        }
    }
    if (!c.at) return c;
    /* What is left when both levels are taken away: a change must not hide in a variance that it has made itself. */
    double first = mean_of(rank, c.at), second = mean_of(rank + c.at, s.n - c.at);
    for (u32 i = 0; i < s.n; i++) rank[i] -= i < c.at ? first : second;
    double variance = long_variance(rank, s.n);
    c.p = variance > 0 ? bridge_tail(most / sqrt(variance * s.n)) : 0;
    double *scratch = NEW_ARRAY(mem, double, s.n);
    c.before = stat_median((struct samples){ s.v, c.at }, scratch);
    c.after = stat_median((struct samples){ s.v + c.at, s.n - c.at }, scratch);
    return c;
}

u32 stat_warmup(struct arena *mem, struct samples s, double least)
{
    u32 from = 0;
    while (s.n - from >= SERIES_LEAST) {
        struct change c = stat_change(mem, (struct samples){ s.v + from, s.n - from });
        if (!c.at || c.p > 0.01 || fabs(c.after - c.before) < least * fabs(c.after) || from + c.at > s.n / 2) break;
        from += c.at;
    }
    return from;
}

/* Samples are read from texts with a few digits: what differs by less than a thousandth of a step is a multiple. */
static bool is_multiple(double x, double step)
{
    double k = x / step;
    return fabs(k - nearbyint(k)) < 1e-3;
}

double stat_quantum(struct arena *mem, struct samples s)
{
    if (s.n < SERIES_LEAST) return 0;
    double *v = NEW_ARRAY(mem, double, s.n), step = 0;
    memcpy(v, s.v, sizeof *v * s.n);
    stat_sort(v, s.n);
    double least = v[s.n - 1] * 1e-9;
    u32 distinct = 1;
    for (u32 i = 1; i < s.n; i++) {
        double gap = v[i] - v[i - 1];
        if (gap <= least) continue;
        distinct++;
        for (double x = gap, y = step;;) { /* Euclid's, as far as the digits go */
            if (y <= least || is_multiple(x, y)) {
                step = y > least ? y : x;
                break;
            }
            double rest = fmod(x, y);
            x = y;
            y = rest;
        }
    }
    /* Samples of a fine clock have a step as well; it says nothing where hardly two of them are the same. */
    if (distinct < 3 || distinct > s.n / 2 || step <= least) return 0;
    for (u32 i = 0; i < s.n; i++)
        if (!is_multiple(v[i], step)) return 0;
    return step;
}
