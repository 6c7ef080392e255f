/* Medians, quantiles and the tests that rank samples. */
#include "stat/stat.h"
#include <math.h>
#include <stdlib.h>

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
void stat_sort(double *v, u32 n)
{
    if (n > 48) {
        qsort(v, n, sizeof *v, rising);
        return;
    }
    for (u32 i = 1; i < n; i++) { /* most are short */
        double x = v[i];
        u32 k = i;
        for (; k && v[k - 1] > x; k--) v[k] = v[k - 1];
        v[k] = x;
    }
}

double stat_quantile(const double *sorted, u32 n, double q)
{
    double at = q * (n - 1), low = floor(at);
    u32 i = (u32)low, k = i + 1 < n ? i + 1 : i;
    return sorted[i] + (sorted[k] - sorted[i]) * (at - low);
}

double stat_median(struct samples s, double *scratch)
{
    memcpy(scratch, s.v, sizeof *scratch * s.n);
    stat_sort(scratch, s.n);
    return stat_quantile(scratch, s.n, 0.5);
}

static double *sorted_copy(struct arena *mem, struct samples s)
{
    double *v = NEW_ARRAY(mem, double, s.n);
    memcpy(v, s.v, sizeof *v * s.n);
    stat_sort(v, s.n);
    return v;
}

void stat_around(const double *v, u32 n, double x, u32 *below, u32 *upto)
{
    u32 low = 0, high = n;
    while (low < high) {
        u32 mid = (low + high) / 2;
        if (v[mid] < x)
            low = mid + 1;
        else
            high = mid;
    }
    *below = low;
    for (high = n; low < high;) {
        u32 mid = (low + high) / 2;
        if (v[mid] <= x)
            low = mid + 1;
        else
            high = mid;
    }
    *upto = low;
}

/* The sum of t^3 - t over groups of t equal samples of both. */
static double ties_of(struct arena *mem, struct samples a, struct samples b)
{
    u32 n = a.n + b.n;
    double *all = NEW_ARRAY(mem, double, n), sum = 0;
    memcpy(all, a.v, sizeof *all * a.n);
    memcpy(all + a.n, b.v, sizeof *all * b.n);
    stat_sort(all, n);
    for (u32 i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && all[k] == all[i];) k++;
        double t = k - i;
        sum += t * t * t - t;
    }
    return sum;
}

/* ---- Hodges and Lehmann ---- */

/* Doubles in their order as whole numbers, so that a search by halves ends. */
static s64 key_of(double x)
{
    s64 k;
    memcpy(&k, &x, 8);
    return k < 0 ? (s64)(0x8000000000000000u - (u64)k) : k;
}
static double of_key(s64 k)
{
    if (k < 0) k = (s64)(0x8000000000000000u - (u64)k);
    double x;
    memcpy(&x, &k, 8);
    return x;
}

/* How many differences b - a are at most x; both sorted. Rounding keeps the order, so that two fingers are enough. */
static u64 differences_upto(const double *a, u32 n, const double *b, u32 m, double x)
{
    u64 count = 0;
    for (u32 i = 0, k = 0; i < n; i++) {
        while (k < m && b[k] - a[i] <= x) k++;
        count += k;
    }
    return count;
}

/* The k-th smallest difference, from 0. */
static double difference_at(const double *a, u32 n, const double *b, u32 m, u64 k)
{
    s64 low = key_of(b[0] - a[n - 1]), high = key_of(b[m - 1] - a[0]);
    while (low < high) {
        s64 mid = low + (s64)(((u64)high - (u64)low) / 2);
        if (differences_upto(a, n, b, m, of_key(mid)) > k)
            high = mid;
        else
            low = mid + 1;
    }
    return of_key(low);
}

/* ---- Cliff's delta ---- */

/* For each of x how much oftener the others lie below than above it, from -1 to 1; the squares of what is over the
 * mean are summed. */
static double spread_of(struct samples x, const double *others, u32 n, double mean, double sign)
{
    double sum = 0;
    for (u32 i = 0; i < x.n; i++) {
        u32 below, upto;
        stat_around(others, n, x.v[i], &below, &upto);
        double d = sign * ((double)below - (n - upto)) / n - mean;
        sum += d * d;
    }
    return sum;
}

/* The interval of Feng and Cliff (2004), which stays between -1 and 1. */
static void cliff_interval(struct rank_test *r, struct samples a, struct samples b, const double *sa, const double *sb)
{
    double n = a.n, m = b.n, d = r->delta, squares = 0;
    if (n < 2 || m < 2 || fabs(d) == 1) {
        r->low = r->high = d;
        if (n < 2 || m < 2) r->low = -1, r->high = 1;
        return;
    }
    double of_b = spread_of(b, sa, a.n, d, 1), of_a = spread_of(a, sb, b.n, d, -1);
    for (u32 i = 0; i < b.n; i++) { /* (d_ij - d)^2 over all pairs, d_ij being 1, 0 or -1 */
        u32 below, upto;
        stat_around(sa, a.n, b.v[i], &below, &upto);
        squares += below * (1 - d) * (1 - d) + (upto - below) * d * d + (a.n - upto) * (1 + d) * (1 + d);
    }
    double s2 = (m * m * of_a + n * n * of_b - squares) / (n * m * (n - 1) * (m - 1)),
           least = (1 - d * d) / (n * m - 1);
    if (s2 < least) s2 = least;
    double z = 1.959963984540054, root = z * sqrt(s2) * sqrt((1 - d * d) * (1 - d * d) + z * z * s2);
    double below = 1 - d * d + z * z * s2;
    r->low = (d - d * d * d - root) / below;
    r->high = (d - d * d * d + root) / below;
}

struct rank_test stat_ranks(struct arena *mem, struct samples a, struct samples b)
{
    struct rank_test r = { 0 };
    double *sa = sorted_copy(mem, a), *sb = sorted_copy(mem, b), n = a.n, m = b.n, all = n + m;
    for (u32 i = 0; i < b.n; i++) {
        u32 below, upto;
        stat_around(sa, a.n, b.v[i], &below, &upto);
        r.u += below + 0.5 * (upto - below);
    }
    double mean = n * m / 2, sd = sqrt(n * m / 12 * (all + 1 - ties_of(mem, a, b) / (all * (all - 1))));
    double z = sd > 0 ? (fabs(r.u - mean) - 0.5) / sd : 0;
    r.p = z > 0 ? MIN_OF(1.0, 2 * stat_normal_tail(z)) : 1;
    r.delta = 2 * r.u / (n * m) - 1;
    cliff_interval(&r, a, b, sa, sb);
    u64 pairs = (u64)a.n * b.n;
    double high = difference_at(sa, a.n, sb, b.n, pairs / 2);
    r.shift = pairs % 2 ? high : (difference_at(sa, a.n, sb, b.n, pairs / 2 - 1) + high) / 2;
    return r;
}
