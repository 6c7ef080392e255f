/* The values of texels and their sums (texel.h). */
#include "lanes/texel.h"
#include <math.h>

static u32 bits_of(float f)
{
    u32 v;
    memcpy(&v, &f, 4);
    return v;
}

/* ---- numbers ---- */

static bool is_fraction(const struct texels *t, const struct sampler *s)
{
    return t->kind == TEXEL_UNORM || t->kind == TEXEL_SNORM ||
           (s->as_float && t->channel_bytes < 4 && t->kind != TEXEL_FLOAT);
}
static bool has_sign(const struct texels *t) { return t->kind == TEXEL_SIGNED || t->kind == TEXEL_SNORM; }

enum texel_sum texel_sum(const struct texels *t, const struct sampler *s, u32 channel)
{
    if (t->kind == TEXEL_FLOAT) return t->channel_bytes == 2 ? SUM_F16 : SUM_F32;
    if (!is_fraction(t, s)) return SUM_NONE;
    if (has_sign(t)) return t->channel_bytes == 1 ? SUM_SNORM8 : SUM_SNORM16;
    return s->srgb && t->channel_bytes == 1 && channel < 3 ? SUM_SRGB : SUM_UNORM;
}

/* The upper halves of the f32 that an H200 makes of the 256 sRGB codes: eight significant bits. */
static const u16 srgb_linear[256] = {
#include "lanes/texel_srgb.def"
};
/* A code's number is a multiple of 2^unit, which grows at these codes. */
static s32 srgb_unit(u32 code)
{
    static const u8 from[] = { 32, 48, 64, 96, 136, 184, 248 };
    s32 unit = -14;
    for (u32 k = 0; k < COUNT_OF(from); k++) unit += code >= from[k];
    return unit;
}

static struct texel_number of_float(float f) { return (struct texel_number){ .value = f, .bits = bits_of(f) }; }

static struct texel_number of_half(u32 v)
{
    u32 e = v >> 10 & 31, m = v & 1023, sign = v >> 15 << 31;
    if (e == 31) {
        struct texel_number r = { .bits = sign | 0x7f800000 | m << 13 };
        memcpy(&r.value, &r.bits, 4);
        return r;
    }
    float f = e ? ldexpf((float)(m | 1024), (s32)e - 25) : ldexpf((float)m, -24);
    return of_float(sign ? -f : f);
}

/* v as a fraction of the largest number of its bits. */
static struct texel_number of_fraction(const struct texels *t, s32 v)
{
    bool sign = has_sign(t);
    double most = ldexp(1, 8 * t->channel_bytes - sign) - 1, f = v / most;
    struct texel_number r = of_float((float)(f < -1 ? -1 : f));
    r.whole = !sign && t->channel_bytes == 1 ? v * 257 : v;
    return r;
}

static struct texel_number of_srgb(float f, s32 unit)
{
    struct texel_number r = of_float(f);
    r.unit = unit;
    r.whole = (s32)ldexpf(f, -unit);
    return r;
}

struct texel_number texel_number(const struct texels *t, const struct sampler *s, const char *p, u32 c)
{
    u32 v = 0, bits = 8u * t->channel_bytes;
    if (c >= t->channels) return (struct texel_number){ 0 };
    memcpy(&v, p + c * t->channel_bytes, t->channel_bytes);
    s32 number = has_sign(t) ? (s32)(v << (32 - bits)) >> (32 - bits) : (s32)v;
    switch (texel_sum(t, s, c)) {
    case SUM_F16: return of_half(v);
    case SUM_SRGB: {
        u32 high = (u32)srgb_linear[v] << 16;
        float f;
        memcpy(&f, &high, 4);
        return of_srgb(f, srgb_unit(v));
    }
    case SUM_UNORM:
    case SUM_SNORM8:
    case SUM_SNORM16: return of_fraction(t, number);
    default: {
        struct texel_number r = { .bits = (u32)number };
        memcpy(&r.value, &r.bits, 4);
        return r;
    }
    }
}

/* The colour is kept in the format of the texels, rounded down; of integers its low bits are. */
struct texel_number texel_border(const struct texels *t, const struct sampler *s, u32 c)
{
    float f = s->border[c];
    if (c >= t->channels) return (struct texel_number){ 0 };
    switch (texel_sum(t, s, c)) {
    case SUM_F32: return of_float(f);
    case SUM_F16: {
        u32 v = bits_of(f);
        s32 e = (s32)(v >> 23 & 255) - 127;
        if (e < -14 || e > 15) return of_float(copysignf(e > 15 ? INFINITY : 0, f));
        v &= ~0x1fffu;
        memcpy(&f, &v, 4);
        return of_float(f);
    }
    case SUM_SRGB: {
        s32 e;
        f = f > 0 ? fminf(f, 1) : 0;
        frexpf(f, &e);
        return of_srgb(ldexpf(floorf(ldexpf(f, 8 - e) + 0.5f), e - 8), e - 8);
    }
    case SUM_UNORM:
    case SUM_SNORM8:
    case SUM_SNORM16: {
        float least = has_sign(t) ? -1 : 0, most = ldexpf(1, 8 * t->channel_bytes - has_sign(t)) - 1;
        f = f > least ? fminf(f, 1) : f == f ? least : 0;
        return of_fraction(t, (s32)floor((double)f * (double)most));
    }
    default: {
        u32 bits = 8u * t->channel_bytes, v = bits_of(f) << (32 - bits);
        struct texel_number r = { .bits = has_sign(t) ? (u32)((s32)v >> (32 - bits)) : v >> (32 - bits) };
        memcpy(&r.value, &r.bits, 4);
        return r;
    }
    }
}

/* ---- sums ---- */

struct exact { /* sum * 2^unit */
    s64 sum;
    s32 unit;
};
struct precision {
    s32 kept;    /* bits of the largest texel of four that the others are aligned to */
    s32 digits;  /* of the result */
    s32 least;   /* exponent of the least result */
    s32 largest; /* results from 2^largest on are infinite */
};
static const struct precision of_f32 = { 28, 24, -149, 128 }, of_f16 = { 15, 11, -24, 16 };

/* Four texels, aligned to the one with the largest exponent, cut toward zero and added exactly. */
static struct exact aligned(const float *v, const u16 *w, const struct precision *p)
{
    s32 top = -1000;
    struct exact r = { 0, -1000 };
    for (u32 k = 0; k < 4; k++) {
        s32 e;
        if (!w[k] || v[k] == 0) continue;
        frexpf(v[k], &e);
        top = MAX_OF(top, MAX_OF(e, p->least + p->digits));
    }
    if (top == -1000) return r;
    for (u32 k = 0; k < 4; k++)
        if (w[k]) r.sum += (s64)trunc(ldexp((double)v[k], p->kept - top)) * w[k];
    r.unit = top - p->kept - 8;
    return r;
}

/* The same of sRGB: each number has a unit, and the largest is that of the sum. */
static struct exact aligned_srgb(const struct texel_number *n, const u16 *w)
{
    struct exact r = { 0, -1000 };
    for (u32 k = 0; k < 4; k++)
        if (w[k] && n[k].whole) r.unit = MAX_OF(r.unit, n[k].unit);
    if (r.unit == -1000) return r;
    for (u32 k = 0; k < 4; k++)
        if (w[k] && n[k].whole) r.sum += (s64)(n[k].whole >> MIN_OF(r.unit - n[k].unit, 31)) * w[k];
    r.unit -= 8;
    return r;
}

enum { FOURS = TEXEL_TAPS / 4 }; /* of one mix */

/* In 16 bits sums keep two bits below the unit of the largest one. */
static void cut(struct exact *part, u32 n)
{
    s32 unit = -1000;
    for (u32 k = 0; k < n; k++)
        if (part[k].sum) unit = MAX_OF(unit, part[k].unit);
    for (u32 k = 0; k < n; k++) {
        s32 down = unit - part[k].unit - 2;
        if (!part[k].sum || down <= 0) continue;
        part[k].sum = down > 62 ? 0 : part[k].sum / ((s64)1 << down);
        part[k].unit += down;
    }
}

/* The sum of them, rounded half away from zero. One has 38 bits at most: 60 more are enough to see on which side of a
 * half the smaller ones are. */
static double rounded_sum(const struct exact *part, u32 n, const struct precision *p)
{
    s32 least = 1000, unit = -1000;
    for (u32 k = 0; k < n; k++)
        if (part[k].sum) least = MIN_OF(least, part[k].unit), unit = MAX_OF(unit, part[k].unit);
    if (unit == -1000) return 0;
    unit = MAX_OF(least, unit - 60);
    __int128 sum = 0;
    for (u32 k = 0; k < n; k++) {
        if (!part[k].sum) continue;
        if (part[k].unit >= unit)
            sum += part[k].sum * ((__int128)1 << (part[k].unit - unit));
        else
            sum += part[k].sum > 0 ? 1 : -1;
    }
    if (!sum) return 0;
    unsigned __int128 size = (unsigned __int128)(sum < 0 ? -sum : sum);
    u64 high = (u64)(size >> 64);
    s32 top = high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((u64)size);
    s32 off = MAX_OF(top - (p->digits - 1), p->least - unit); /* bits that go */
    unsigned __int128 kept = off <= 0    ? size << MIN_OF(-off, 64)
                             : off > 126 ? 0
                                         : (size + ((unsigned __int128)1 << (off - 1))) >> off;
    double r = ldexp((double)(u64)kept, unit + (off <= 0 ? MAX_OF(off, -64) : off));
    if (r >= ldexp(1, p->largest)) r = INFINITY;
    return sum < 0 ? -r : r;
}

/* What has no sum: a NaN or an infinity among the texels; else 0. *negative: all of them have a sign. */
static u32 mixed_odd(const struct texel_mix *m, u32 n, bool half, bool *negative)
{
    bool nan = false, up = false, down = false;
    *negative = true;
    for (u32 i = 0; i < n; i++)
        for (u32 k = 0; k < TEXEL_TAPS; k++) {
            float v = m[i].number[k].value;
            if (!(m[i].taken >> k & 1)) continue;
            nan |= v != v;
            up |= v == INFINITY;
            down |= v == -INFINITY;
            *negative &= signbit(v) != 0;
        }
    if (nan || (up && down)) return half ? 0x7fffe000 : 0x7fffffff;
    return up ? 0x7f800000 : down ? 0xff800000 : 0;
}

static u32 mixed_floats(const struct texel_mix *m, u32 n, u32 shift, const struct precision *p)
{
    bool half = p == &of_f16, negative, none = true;
    struct exact part[FOURS * TEXEL_MIXES];
    u32 odd = mixed_odd(m, n, half, &negative);
    if (odd) return odd;
    for (u32 i = 0; i < n; i++) {
        float v[TEXEL_TAPS];
        for (u32 k = 0; k < TEXEL_TAPS; k++) {
            v[k] = m[i].number[k].value;
            if (!half && fabsf(v[k]) < 0x1p-126f) v[k] = copysignf(0, v[k]);
        }
        for (u32 k = 0; k < FOURS; k++) {
            struct exact *e = &part[FOURS * i + k];
            *e = aligned(v + 4 * k, m[i].weight + 4 * k, p);
            e->unit -= (s32)shift;
            none &= !e->sum;
        }
    }
    if (half) cut(part, FOURS * n);
    float r = (float)rounded_sum(part, FOURS * n, p);
    if (!half && fabsf(r) < 0x1p-126f) r = copysignf(0, r);
    if (none && negative) r = -0.f;
    return bits_of(r);
}

u32 texel_mixed(enum texel_sum how, const struct texel_mix *m, u32 n, u32 shift)
{
    s64 sum = 0;
    for (u32 i = 0; i < n; i++)
        for (u32 k = 0; k < TEXEL_TAPS; k++) sum += (s64)m[i].number[k].whole * m[i].weight[k];
    s64 near = (sum + ((s64)128 << shift)) >> (8 + shift);
    switch (how) {
    case SUM_F32: return mixed_floats(m, n, shift, &of_f32);
    case SUM_F16: return mixed_floats(m, n, shift, &of_f16);
    case SUM_SRGB: {
        struct exact part[FOURS * TEXEL_MIXES];
        for (u32 i = 0; i < FOURS * n; i++) {
            part[i] = aligned_srgb(m[i / FOURS].number + 4 * (i % FOURS), m[i / FOURS].weight + 4 * (i % FOURS));
            part[i].unit -= (s32)shift;
        }
        cut(part, FOURS * n);
        return bits_of((float)rounded_sum(part, FOURS * n, &of_f16));
    }
    case SUM_UNORM: return bits_of((float)((double)near / 65535));
    case SUM_SNORM16: return bits_of((float)fmax((double)near / 32767, -1));
    case SUM_SNORM8: /* times 32767 / 32512, nearly */
        sum = (sum + ((s64)1 << shift >> 1)) >> shift;
        return bits_of((float)fmax((double)(sum + ((sum + 64 + 16 * (sum >> 12)) >> 7)) / 32767, -1));
    default: break;
    }
    for (u32 k = 0; k < TEXEL_TAPS; k++)
        if (m->taken >> k & 1) return m->number[k].bits;
    return 0;
}
