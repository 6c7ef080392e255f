/* Levels of detail and footprints of gradients (texture_level.h), as an H200 makes them.
 *
 * A vector's length is its largest component, 11/32 of the next and 1/4 of the least. The length of a footprint is the
 * longest of the two vectors and 11/16 of their sum and of their difference; its area is that of the parallelogram,
 * from a multiplier that leaves out the six lowest columns. Logarithms come from a table of 256, and the width is that
 * of the area without that of the length. docs/inside/textures.md has how often this agrees with the card. */
#include "lanes/texture_level.h"
#include "lanes/texel.h"
#include <math.h>
#include <stdlib.h>

s64 texture_level_fixed(float level)
{
    if (!(level == level)) return 0;
    double t = (double)level * 256;
    return t > 0x1p20 ? 1 << 20 : t < -0x1p20 ? -(1 << 20) : (s64)floor(t);
}

/* With anisotropy a card takes more of one level than of two: of the part of a level, the middle is stretched. */
static s64 stretched(s64 level, u32 anisotropy)
{
    s64 part = level & 255;
    if (anisotropy < 2) return level;
    s64 to = anisotropy < 4 ? (6 * part - 252) >> 2 : anisotropy < 8 ? (7 * part - 378) >> 2 : 2 * part - 128;
    return level - part + (to < 0 ? 0 : MIN_OF(to, 256));
}

struct texture_levels texture_levels(const struct texture *t, s64 level, bool biased)
{
    const struct sampler *s = &t->sampler;
    s64 least = texture_level_fixed(fmaxf(s->least, 0)), most = texture_level_fixed(s->most),
        end = 256 * (t->levels - 1);
    if (biased) level += s->bias < 0 ? -texture_level_fixed(-s->bias) : texture_level_fixed(s->bias);
    if (biased && level >= 0 && !s->whole_trilinear) level = stretched(level, s->anisotropy);
    most = MIN_OF(most, end);
    level = level < least ? least : level;
    level = level > most ? most : level;
    struct texture_levels r = { .part = s->mip_linear ? (u32)(level & 255) : 0 };
    r.first = (u32)((s->mip_linear ? level : level + 128) >> 8);
    r.first = MIN_OF(r.first, t->levels - 1);
    r.second = MIN_OF(r.first + 1, t->levels - 1);
    r.off = s->mip_linear ? (s32)r.part : 0;
    return r;
}

/* ---- gradients ---- */

static const u8 log2_part[256] = {
#include "lanes/texture_log.def"
};

/* In 1/256; x > 0. */
static s32 log2_of(double x)
{
    s32 e;
    double m = frexp(x, &e); /* 1/2 to 1 */
    return (e - 1) * 256 + log2_part[(u32)(m * 512) & 255];
}

/* What the last of ten bits of a number is worth, and the number with no more. */
static double unit_of(double x)
{
    s32 e;
    frexp(x, &e);
    return ldexp(1, e - 10);
}
static double cut(double x) { return x == 0 ? 0 : trunc(x / unit_of(x)) * unit_of(x); }

/* The components keep ten bits, the second one of them one more. `again`: the length does, too, as that of a sum. */
static double length_of(const double *v, u32 n, bool again)
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
    if (a[0] == 0) return 0;
    double unit = unit_of(a[0]), rest = trunc(a[1] / unit * 2) * 11 / 64 + a[2] / unit / 4;
    double r = floor((trunc(a[0] / unit) + rest) * 32 + 2) / 32;
    return again ? cut(r * unit) : r * unit;
}

/* A product of ten bits by ten, where columns below the seventh are left out: the sum of the others, in 2^unit. */
static s64 product(double x, double y, s32 *unit)
{
    s32 e[2];
    u32 a = (u32)(frexp(fabs(x), &e[0]) * 1024), b = (u32)(frexp(fabs(y), &e[1]) * 1024);
    s64 sum = 0;
    for (u32 k = 0; k < 10; k++)
        if (b >> k & 1) sum += (s64)a << k >> 6;
    *unit = e[0] + e[1] - 14;
    return sum;
}

/* That of the parallelogram. What was left out is made good by a constant. */
static double area_of(double (*v)[3])
{
    s32 unit[2];
    s64 p[2] = { product(v[0][0], v[1][1], &unit[0]), product(v[0][1], v[1][0], &unit[1]) };
    bool negative[2] = { v[0][0] * v[1][1] < 0, v[0][1] * v[1][0] < 0 };
    if (!p[0] && !p[1]) return 0;
    s32 u = !p[0] ? unit[1] : !p[1] ? unit[0] : MAX_OF(unit[0], unit[1]);
    double a = floor(ldexp((double)p[0], unit[0] - u + 1)), b = floor(ldexp((double)p[1], unit[1] - u + 1));
    double r = negative[0] == negative[1] && p[0] && p[1] ? fabs(a - b) + 10 : a + b + (p[0] && p[1] ? 13 : 14);
    return ldexp(r, u - 1);
}

/* One texel along a vector: by four bits of its components, each taken in the middle. */
static void direction_of(const double *v, s32 out[2])
{
    u32 k = fabs(v[1]) > fabs(v[0]);
    s32 e;
    frexp(v[k], &e);
    double unit = ldexp(1, e - 4), along = trunc(fabs(v[k]) / unit) + 0.5, across = fabs(v[!k]) / unit;
    across = across < 0.25 ? 0 : trunc(across) + 0.5;
    double length = sqrt(along * along + across * across);
    if (across == 0) length = along;
    out[k] = (s32)floor(64 * along / length + 0.5) * (v[k] < 0 ? -1 : 1);
    out[!k] = (s32)floor(64 * across / length + 0.5) * (v[!k] < 0 ? -1 : 1);
}

u32 texture_ratio_most(const struct sampler *s, u32 axes)
{
    static const u16 most[] = { 0, 0, 256, 256, 512, 512, 656, 656, 768, 768, 848, 848, 912, 912, 912, 912, 1024 };
    return axes > 2 ? 0 : most[MIN_OF(s->anisotropy, 16u)];
}

struct texture_footprint texture_footprint(float (*g)[3], u32 n, bool each_alone, u32 most)
{
    struct texture_footprint r = { .level = -(1 << 20) };
    double v[4][3] = { { 0 } }, length[4] = { 0 }; /* two vectors, their sum, their difference */
    u32 longest = 0;
    for (u32 k = 0; k < 2 * n; k++) {
        float x = g[k / n][k % n];
        v[k / n][k % n] = !(x == x) ? 0 : cut(fmax(fmin((double)x, 0x1p100), -0x1p100));
    }
    for (u32 k = 0; k < n; k++) {
        v[2][k] = v[0][k] + v[1][k];
        v[3][k] = v[0][k] - v[1][k];
    }
    for (u32 k = 0; k < (each_alone ? 2 : 4); k++) {
        length[k] = length_of(v[k], n, k > 1);
        if (length[k] == 0) continue;
        if (k > 1) length[k] = floor(length[k] / unit_of(length[k]) * 11 + 4) / 16 * unit_of(length[k]);
        if (length[k] > length[longest]) longest = k;
    }
    if (length[longest] == 0) return r;
    s32 level = log2_of(length[longest]);
    r.level = level;
    if (!most) return r;
    double area = area_of(v), w[2];
    s32 ratio = area > 0 ? 2 * level - log2_of(area) : (s32)most;
    ratio = ratio < 0 ? 0 : MIN_OF(ratio, (s32)most);
    r.level = level - ratio;
    if (r.level < 0) ratio = MAX_OF(level, 0); /* no narrower than a texel */
    r.ratio = (u32)ratio;
    for (u32 k = 0; k < 2; k++) w[k] = longest > 1 ? v[longest][k] * 11 / 16 : v[longest][k];
    direction_of(w, r.step);
    if (area == 0 && r.step[abs(r.step[1]) > abs(r.step[0])] < 0) /* without an area there is no way back */
        for (u32 k = 0; k < 2; k++) r.step[k] = -r.step[k];
    return r;
}

/* 1 / 2^(x / 256), of 256. */
static u32 inverse(u32 x) { return (u32)floor(exp2(8 - x / 256.0) + 0.5); }

/* A number of 1/64 as `wider` makes it, of 128: rounded down, but a whole one toward zero. */
static s32 widened(s32 x, u32 wider)
{
    return abs(x) == 64 ? (s32)(wider >> 1) * (x < 0 ? -1 : 1) : x * (s32)wider >> 7;
}

struct texture_along texture_along(const struct texture_footprint *p, s32 off, u32 all)
{
    struct texture_along r = { .n = 1, .weight = { (u16)all } };
    u32 ratio = off < 0 && (u32)-off >= p->ratio ? 0 : off < 0 ? p->ratio - (u32)-off : p->ratio;
    u32 wider = off > 0 ? inverse(256 - (u32)off) : 128;
    if (!ratio) return r;
    if (ratio < 256) { /* two, which come nearer to each other */
        u32 apart = TEXEL_WHOLE - inverse(ratio);
        for (u32 k = 0; k < 2; k++) {
            r.step[k] = widened((s32)floor((s32)apart * p->step[k] / 128.0 + 0.5), wider);
            r.at[k] = k ? 1 : -1;
            r.weight[k] = (u16)all;
        }
        r.n = 2;
        r.shift = 1;
        return r;
    }
    u32 doubled = ratio >> 8, each = inverse(ratio & 255);
    r.shift = MIN_OF(doubled, 2u);
    each >>= doubled - r.shift;
    u32 whole = TEXEL_WHOLE << r.shift, pairs = (whole / 2 + each - 1) / each, ends = whole / 2 - (pairs - 1) * each;
    u32 upto = 0, given = 0;
    r.n = 2 * pairs;
    for (u32 k = 0; k < r.n; k++) { /* a texel apart; the two at the ends have what is left */
        upto += k && k + 1 < r.n ? each : ends;
        r.at[k] = (s32)(2 * k + 1) - (s32)r.n;
        r.weight[k] = (u16)(((upto * all + 128) >> 8) - given);
        given += r.weight[k];
    }
    for (u32 k = 0; k < 2; k++) r.step[k] = widened(p->step[k], wider);
    return r;
}
