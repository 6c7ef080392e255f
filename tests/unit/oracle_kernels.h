/* Plausible kernels in float, as a GPU would run them: many legitimate orders and algorithms, and planted bugs. Every
 * kernel makes free choices (order of sums, fma, which exp, two passes or Welford's, online or not) by a random number,
 * and may have one named bug. They judge the oracle's bounds: no correct one may be above them. */
#ifndef LOCKSTEP_ORACLE_KERNELS_H
#define LOCKSTEP_ORACLE_KERNELS_H
#include "oracle_try.h"
#include "base/fill.h"

#define POISON (-1.7014e33f)
struct config {
    u64 random;
    const char *bug;                /* "": none */
    int order, lanes, dot;          /* of sums; threads; how products are added */
    bool fma, exp2, rcp, root;      /* fused; exp by exp2; division by reciprocal; rsqrt by sqrt */
    int ulp, algorithm, form, tile; /* the library's error; the algorithm's and the formula's variant */
    bool narrow;                    /* storage is narrower than f32: tensor cores may be used */
};

static inline bool bug(const struct config *c, const char *name) { return !strcmp(c->bug, name); }
static inline u32 draw(struct config *c, u32 n) { return (u32)(rand_next(&c->random) >> 33) % n; }
static inline float narrow(const char *type, float x)
{
    u8 b[8];
    const struct scalar *t = scalar_find(str_of(type));
    scalar_store(t, x, b);
    return (float)scalar_load(t, b);
}
static inline float tf32(float x) /* to 10 bits of mantissa, to nearest */
{
    u32 b;
    memcpy(&b, &x, 4);
    if (isfinite(x)) b = (b + 0xfff + (b >> 13 & 1)) & ~0x1fffu;
    memcpy(&x, &b, 4);
    return x;
}
static inline struct config config_new(u64 seed, const char *bug_name, bool narrow_store)
{
    struct config c = { .random = seed * 7919 + 13, .bug = bug_name, .narrow = narrow_store };
    static const int lanes[] = { 4, 32, 256 }, tiles[] = { 1, 8, 32 };
    c.order = (int)draw(&c, 7);
    c.lanes = lanes[draw(&c, 3)];
    c.dot = (int)draw(&c, narrow_store ? 4 : 3);
    c.fma = draw(&c, 2);
    c.exp2 = draw(&c, 2);
    c.rcp = draw(&c, 2);
    c.root = draw(&c, 2);
    c.ulp = (int)draw(&c, 3);
    c.algorithm = (int)draw(&c, 4);
    c.form = (int)draw(&c, 4);
    c.tile = tiles[draw(&c, 3)];
    return c;
}

/* ---- functions, up to the error that their makers state ---- */

static inline float jig(struct config *c, float x)
{
    if (!isfinite(x) || x == 0 || fabsf(x) == 1) return x;
    for (int i = (int)draw(c, (u32)c->ulp * 2 + 1) - c->ulp; i; i += i > 0 ? -1 : 1)
        x = nextafterf(x, i > 0 ? INFINITY : -INFINITY);
    return x;
}
static inline float k_exp(struct config *c, float x)
{
    if (x == 0) return 1;
    return jig(c, (float)(c->exp2 ? exp2((double)(x * 1.44269504f)) : exp((double)x)));
}
static inline float k_fn(struct config *c, double (*f)(double), float x) { return jig(c, (float)f((double)x)); }
static inline float k_rsqrt(struct config *c, float x)
{
    return c->root ? 1 / sqrtf(x) : jig(c, (float)(1 / sqrt((double)x)));
}
static inline float k_div(struct config *c, float a, float b) { return c->rcp ? a * (1 / b) : a / b; }
static inline float k_fma(struct config *c, float a, float b, float d) { return c->fma ? fmaf(a, b, d) : a * b + d; }

/* ---- sums ---- */

static inline float sum_tree(const float *x, u32 n, u32 step)
{
    float t[8192];
    u32 m = 1;
    while (m < n) m *= 2;
    for (u32 i = 0; i < m; i++) t[i] = i < n ? x[i * step] : 0;
    for (; m > 1; m /= 2)
        for (u32 i = 0; i < m / 2; i++) t[i] = t[i] + t[i + m / 2];
    return t[0];
}
static inline float sum_pairs(float *t, u32 n)
{
    while (n > 1) {
        for (u32 i = 0; i < n / 2; i++) t[i] = t[2 * i] + t[2 * i + 1];
        if (n % 2) t[n / 2] = t[n - 1];
        n = (n + 1) / 2;
    }
    return n ? t[0] : 0;
}
static inline float sum_narrow(const float *x, u32 n, const char *type)
{
    float s = 0;
    for (u32 i = 0; i < n; i++) s = narrow(type, s + x[i]);
    return s;
}
static inline float k_sum(struct config *c, const float *x, u32 n)
{
    static float t[8192], part[256];
    float s = 0;
    memcpy(t, x, n * sizeof *t);
    if (bug(c, "drop last") && n) n--;
    if (bug(c, "drop first") && n) memmove(t, t + 1, --n * sizeof *t);
    if (bug(c, "drop tail 32")) n = n % 32 && n > 32 ? n / 32 * 32 : n - 1;
    if (bug(c, "one warp")) n = n > 32 ? 32 : MAX_OF(n / 2, 1u);
    if (bug(c, "double count") && n) t[n] = t[n - 1], n++;
    if (bug(c, "f16 acc")) return sum_narrow(t, n, "f16");
    if (bug(c, "bf16 acc")) return sum_narrow(t, n, "bf16");
    if (bug(c, "pow2 tree")) {
        for (u32 h = n / 2; n > 1; n = h, h = n / 2)
            for (u32 i = 0; i < h; i++) t[i] = t[i] + t[i + h];
        return n ? t[0] : 0;
    }
    u32 lanes = (u32)c->lanes, each = (n + lanes - 1) / lanes;
    switch (c->order) {
    case 0:
        for (u32 i = 0; i < n; i++) s += t[i];
        return s;
    case 1:
        for (u32 i = n; i-- > 0;) s += t[i];
        return s;
    case 2: return n ? sum_tree(t, n, 1) : 0;
    case 3: return sum_pairs(t, n);
    case 4: /* lanes with stride, then a tree */
    case 5: /* blocks, then in order */
        for (u32 l = 0; l < lanes; l++) {
            part[l] = 0;
            for (u32 k = 0; k < each; k++) {
                u32 i = c->order == 4 ? k * lanes + l : l * each + k;
                part[l] += i < n ? t[i] : 0;
            }
        }
        if (c->order == 4) return sum_tree(part, lanes, 1);
        for (u32 l = 0; l < lanes; l++) s += part[l];
        return s;
    default:
        for (u32 i = n; i > 1; i--) {
            u32 k = draw(c, i);
            float v = t[i - 1];
            t[i - 1] = t[k];
            t[k] = v;
        }
        for (u32 i = 0; i < n; i++) s += t[i];
        return s;
    }
}

static inline bool bug_of_sums(const struct config *c)
{
    static const char *const names[] = { "drop last", "drop first",   "drop tail 32", "pow2 tree",
                                         "one warp",  "double count", "f16 acc",      "bf16 acc" };
    for (u32 i = 0; i < COUNT_OF(names); i++)
        if (bug(c, names[i])) return true;
    return false;
}

/* Towards zero, as tensor cores add. */
static inline float cut32(double x)
{
    float y = (float)x;
    return fabs((double)y) > fabs(x) ? nextafterf(y, 0) : y;
}

static inline float k_dot(struct config *c, const float *a, u32 sa, const float *b, u32 sb, u32 n)
{
    static float p[8192], part[256];
    float s = 0;
    bool round_in = bug(c, "tf32") || bug(c, "bf16 in");
    for (u32 i = 0; i < n; i++) {
        float x = a[i * sa], y = b[i * sb];
        if (round_in) x = bug(c, "tf32") ? tf32(x) : narrow("bf16", x);
        if (round_in) y = bug(c, "tf32") ? tf32(y) : narrow("bf16", y);
        p[i] = x * y;
    }
    if (round_in || bug_of_sums(c) || c->dot == 0) return k_sum(c, p, n);
    if (c->dot == 3) { /* sixteen products exactly, added to the accumulator */
        for (u32 i = 0; i < n; i += 16) {
            double d = (double)s;
            for (u32 k = i; k < n && k < i + 16; k++) d += (double)a[k * sa] * (double)b[k * sb];
            s = cut32(d);
        }
        return s;
    }
    if (c->dot == 1) {
        for (u32 i = 0; i < n; i++) s = fmaf(a[i * sa], b[i * sb], s);
        return s;
    }
    for (u32 l = 0; l < (u32)c->lanes; l++) {
        part[l] = 0;
        for (u32 i = l; i < n; i += (u32)c->lanes) part[l] = fmaf(a[i * sa], b[i * sb], part[l]);
    }
    return sum_tree(part, (u32)c->lanes, 1);
}
#endif
