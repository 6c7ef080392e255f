/* Levels of detail (texture_level.h). How an H200 turns gradients into a level, from its answers: a vector's length is
 * its largest component, 11/32 of the next and 1/4 of the least; the footprint is the longest of the two vectors and
 * 11/16 of their sum and of their difference; its logarithm comes from a table of 256. docs/textures.md has how often
 * that agrees. */
#include "sim/texture_level.h"
#include <math.h>

s64 texture_level_fixed(float level)
{
    if (!(level == level)) return 0;
    double t = (double)level * 256;
    return t > 0x1p20 ? 1 << 20 : t < -0x1p20 ? -(1 << 20) : (s64)floor(t);
}

struct texture_levels texture_levels(const struct texture *t, s64 level, bool biased)
{
    const struct sampler *s = &t->sampler;
    s64 least = texture_level_fixed(fmaxf(s->least, 0)), most = texture_level_fixed(s->most),
        end = 256 * (t->levels - 1);
    if (biased) level += texture_level_fixed(s->bias);
    most = MIN_OF(most, end);
    level = level < least ? least : level;
    level = level > most ? most : level;
    struct texture_levels r = { .part = s->mip_linear ? (u32)(level & 255) : 0 };
    r.first = (u32)((s->mip_linear ? level : level + 128) >> 8);
    r.first = MIN_OF(r.first, t->levels - 1);
    r.second = MIN_OF(r.first + 1, t->levels - 1);
    return r;
}

/* ---- gradients ---- */

static const u8 log2_part[256] = {
#include "sim/texture_log.def"
};

static double length_of(const double *v, u32 n)
{
    double a[3] = { 0 };
    for (u32 k = 0; k < n; k++) a[k] = fabs(v[k]);
    for (u32 k = 0; k < 2; k++) /* the largest first */
        for (u32 j = 0; j < 2; j++)
            if (a[j] < a[j + 1]) {
                double t = a[j];
                a[j] = a[j + 1];
                a[j + 1] = t;
            }
    return a[0] + a[1] * 11 / 32 + a[2] / 4;
}

s64 texture_gradient_level(float (*g)[3], u32 n, bool each_alone)
{
    double v[2][3] = { { 0 } }, sum[3], apart[3];
    s32 top = -1000;
    for (u32 k = 0; k < 2 * n; k++) {
        float x = g[k / n][k % n];
        s32 e;
        v[k / n][k % n] = !(x == x) ? 0 : fmax(fmin((double)x, 0x1p100), -0x1p100);
        if (v[k / n][k % n] == 0) continue;
        frexp(v[k / n][k % n], &e);
        top = MAX_OF(top, e);
    }
    if (top == -1000) return -(1 << 20);
    for (u32 k = 0; k < 3; k++) { /* components keep ten bits */
        for (u32 j = 0; j < 2; j++) v[j][k] = ldexp(trunc(ldexp(v[j][k], 10 - top)), top - 10);
        sum[k] = v[0][k] + v[1][k];
        apart[k] = v[0][k] - v[1][k];
    }
    double most = fmax(length_of(v[0], n), length_of(v[1], n));
    if (!each_alone) most = fmax(most, fmax(length_of(sum, n), length_of(apart, n)) * 11 / 16);
    s32 e;
    double m = frexp(most, &e); /* 1/2 to 1 */
    return (s64)(e - 1) * 256 + log2_part[(u32)(m * 512) & 255];
}
