/* One value of a scalar type, from text to bytes and back.
 *
 * Floats of every width are handled through double: each of the narrow formats is a subset of it, so one routine that
 * rounds a double to E exponent and M mantissa bits (to nearest, ties to even) serves f16, bf16, f32 and the 8-bit
 * formats alike. */
#include "base/scalar.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static const struct scalar types[] = {
    { "s8", 1, SCALAR_SIGNED, 0, 0, false },    { "s16", 2, SCALAR_SIGNED, 0, 0, false },
    { "s32", 4, SCALAR_SIGNED, 0, 0, false },   { "s64", 8, SCALAR_SIGNED, 0, 0, false },
    { "i8", 1, SCALAR_SIGNED, 0, 0, false },    { "i16", 2, SCALAR_SIGNED, 0, 0, false },
    { "i32", 4, SCALAR_SIGNED, 0, 0, false },   { "i64", 8, SCALAR_SIGNED, 0, 0, false },
    { "u8", 1, SCALAR_UNSIGNED, 0, 0, false },  { "u16", 2, SCALAR_UNSIGNED, 0, 0, false },
    { "u32", 4, SCALAR_UNSIGNED, 0, 0, false }, { "u64", 8, SCALAR_UNSIGNED, 0, 0, false },
    { "b8", 1, SCALAR_BITS, 0, 0, false },      { "b16", 2, SCALAR_BITS, 0, 0, false },
    { "b32", 4, SCALAR_BITS, 0, 0, false },     { "b64", 8, SCALAR_BITS, 0, 0, false },
    { "f16", 2, SCALAR_FLOAT, 5, 10, false },   { "bf16", 2, SCALAR_FLOAT, 8, 7, false },
    { "f32", 4, SCALAR_FLOAT, 8, 23, false },   { "f64", 8, SCALAR_FLOAT, 11, 52, false },
    { "e4m3", 1, SCALAR_FLOAT, 4, 3, true },    { "e5m2", 1, SCALAR_FLOAT, 5, 2, false },
    { "bool", 1, SCALAR_BOOL, 0, 0, false },
};
const char scalar_names[] = "i8 i16 i32 i64, u8 u16 u32 u64, b8 b16 b32 b64, f16 bf16 f32 f64, e4m3 e5m2, bool";

const struct scalar *scalar_find(struct str name)
{
    for (u32 i = 0; i < COUNT_OF(types); i++)
        if (str_is(name, types[i].name)) return &types[i];
    return NULL;
}

/* The bits of `v` rounded to the format of t. */
static u64 float_bits(const struct scalar *t, double v)
{
    u32 m = t->mantissa;
    if (m == 23 && !isnan(v)) { /* f32, as the processor rounds it */
        float f = (float)v;
        u32 own;
        memcpy(&own, &f, sizeof own);
        return own;
    }
    u64 sign = signbit(v) ? (u64)1 << (t->exponent + m) : 0, all = ((u64)1 << t->exponent) - 1;
    u64 ones = ((u64)1 << (t->exponent + m)) - 1, most = t->finite ? ones - 1 : all << m;
    if (isnan(v)) return sign | (t->finite ? ones : all << m | (u64)1 << (m - 1));
    v = fabs(v);
    if (isinf(v)) return sign | most;
    int bias = (1 << (t->exponent - 1)) - 1, e;
    if (v == 0) return sign;
    frexp(v, &e);          /* v in [2^(e-1), 2^e) */
    int lowest = 1 - bias; /* exponent of the smallest normal number */
    int scale = MAX_OF(e - 1, lowest);
    u64 q = (u64)nearbyint(ldexp(v, (int)m - scale)); /* a carry into the next power of two is right as it stands */
    /* q carries the hidden bit, which adds the 1 of a normal exponent */
    u64 bits = ((u64)(scale - lowest) << m) + q;
    return sign | MIN_OF(bits, most);
}

static double float_value(const struct scalar *t, u64 bits)
{
    u32 m = t->mantissa;
    u64 all = ((u64)1 << t->exponent) - 1, e = bits >> m & all, q = bits & (((u64)1 << m) - 1);
    int lowest = 2 - (1 << (t->exponent - 1));
    bool special = t->finite ? e == all && q == ((u64)1 << m) - 1 : e == all;
    if (!special && e) { /* the same number with more bits */
        u64 wide = (bits >> (t->exponent + m) & 1) << 63 | (u64)((s64)e + lowest + 1022) << 52 | q << (52 - m);
        double same;
        memcpy(&same, &wide, sizeof same);
        return same;
    }
    double v = special ? (q ? NAN : INFINITY) : q ? ldexp((double)q, lowest - (int)m) : 0;
    return bits >> (t->exponent + m) & 1 ? -v : v;
}

static u64 load_bits(const struct scalar *t, const void *from)
{
    u64 bits = 0;
    memcpy(&bits, from, t->bytes); /* little-endian hosts only: arm64 and x86-64 */
    return bits;
}

void scalar_store_int(const struct scalar *t, s64 value, void *to)
{
    if (t->class == SCALAR_FLOAT) {
        scalar_store(t, (double)value, to);
        return;
    }
    u64 bits = t->class == SCALAR_BOOL ? value != 0 : (u64)value;
    memcpy(to, &bits, t->bytes);
}

void scalar_store(const struct scalar *t, double value, void *to)
{
    if (t->class != SCALAR_FLOAT) {
        scalar_store_int(t, (s64)value, to);
        return;
    }
    u64 bits;
    if (t->bytes == 8)
        memcpy(&bits, &value, 8);
    else
        bits = float_bits(t, value);
    memcpy(to, &bits, t->bytes);
}

static s64 load_int(const struct scalar *t, const void *from)
{
    u64 bits = load_bits(t, from);
    u32 unused = 64 - 8 * t->bytes;
    return t->class == SCALAR_SIGNED ? (s64)(bits << unused) >> unused : (s64)bits;
}

double scalar_load(const struct scalar *t, const void *from)
{
    if (t->class == SCALAR_FLOAT) {
        double d;
        if (t->bytes != 8) return float_value(t, load_bits(t, from));
        memcpy(&d, from, 8);
        return d;
    }
    return t->class == SCALAR_SIGNED ? (double)load_int(t, from) : (double)load_bits(t, from);
}

static bool parse_float(const struct scalar *t, const char *z, void *to, char *why, size_t size)
{
    char *end;
    double v = double_read(z, &end);
    if (end == z || *end) {
        snprintf(why, size, "`%s` is not a number; write it as 2.5, -1e-3, inf or nan", z);
        return false;
    }
    scalar_store(t, v, to);
    if (isinf(scalar_load(t, to)) && !strchr("iI", z[strspn(z, "+-")])) {
        snprintf(why, size, "%s is too large for %s", z, t->name);
        return false;
    }
    return true;
}

static bool parse_int(const struct scalar *t, const char *z, void *to, char *why, size_t size)
{
    bool negative = *z == '-';
    const char *digits = z + (*z == '-' || *z == '+');
    int base = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') ? 16 : 10;
    u64 v = 0, most = t->bytes == 8 ? UINT64_MAX : ((u64)1 << 8 * t->bytes) - 1;
    bool fits = true;
    const char *p = digits + (base == 16 ? 2 : 0), *first = p;
    for (; *p; p++) {
        int d = *p >= '0' && *p <= '9'                               ? *p - '0'
                : base == 16 && (*p | 32) >= 'a' && (*p | 32) <= 'f' ? (*p | 32) - 'a' + 10
                                                                     : -1;
        if (d < 0) break;
        fits &= v <= (UINT64_MAX - (u64)d) / (u64)base;
        v = v * (u64)base + (u64)d;
    }
    if (p == first || *p) {
        snprintf(why, size, "`%s` is not an integer; write it as 12, -3 or 0xff", z);
        return false;
    }
    u64 half = (most >> 1) + 1;
    u64 upper = t->class == SCALAR_SIGNED ? half - 1 : t->class == SCALAR_BOOL ? 1 : most;
    u64 lower = t->class == SCALAR_SIGNED || t->class == SCALAR_BITS ? half : 0; /* how far below zero */
    if (!fits || (negative ? v > lower : v > upper)) {
        snprintf(why, size, "%s does not fit in %s (%s%" PRIu64 " to %" PRIu64 ")", z, t->name, lower ? "-" : "", lower,
                 upper);
        return false;
    }
    v = negative ? 0 - v : v;
    memcpy(to, &v, t->bytes);
    return true;
}

bool scalar_parse(const struct scalar *t, struct str s, void *to, char *why, size_t size)
{
    char z[80];
    if (!s.n || s.n >= sizeof z || memchr(s.p, 0, s.n) || strchr(" \t\n\v\f\r", s.p[0])) {
        snprintf(why, size, s.n >= sizeof z ? "this is not a number" : "a number is missing here");
        return false;
    }
    snprintf(z, sizeof z, "%.*s", (int)s.n, s.p);
    if (t->class == SCALAR_BOOL && (!strcmp(z, "true") || !strcmp(z, "false"))) {
        *(u8 *)to = z[0] == 't';
        return true;
    }
    return t->class == SCALAR_FLOAT ? parse_float(t, z, to, why, size) : parse_int(t, z, to, why, size);
}

void scalar_print(const struct scalar *t, const void *from, char *out, size_t size)
{
    switch (t->class) {
    case SCALAR_SIGNED: snprintf(out, size, "%" PRId64, load_int(t, from)); return;
    case SCALAR_BITS: snprintf(out, size, "0x%0*" PRIx64, (int)t->bytes * 2, load_bits(t, from)); return;
    case SCALAR_FLOAT: break;
    default: snprintf(out, size, "%" PRIu64, load_bits(t, from)); return;
    }
    double v = scalar_load(t, from);
    if (isnan(v)) {
        snprintf(out, size, "nan");
        return;
    }
    u8 back[8];
    for (int digits = 1; digits <= 17; digits++) {
        double_digits(v, digits, out, size);
        scalar_store(t, double_read(out, NULL), back);
        /* 65504 is shorter than 6.55e+04 to a reader */
        if (!memcmp(back, from, t->bytes) && (fabs(v) >= 1e7 || !strstr(out, "e+"))) return;
    }
}

bool scalar_same(const struct scalar *t, const void *a, const void *b, double tolerance)
{
    if (!memcmp(a, b, t->bytes)) return true;
    if (t->class != SCALAR_FLOAT || !(tolerance > 0)) return false;
    double x = scalar_load(t, a), y = scalar_load(t, b);
    if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
    return x == y || fabs(x - y) <= tolerance * fmax(fabs(x), fabs(y));
}
