/* tex, suld and sust: texels of arrays and of linear memory, through the objects of mem/texels.h.
 *
 * A sample of a lane is up to 8 texels of a level with their weights, whole numbers of 1/256. Which texels, which
 * weights, and how the sum is rounded is what an H200 does (docs/textures.md). Each of the 8 is one access of the warp,
 * so that bounds, undefined values and races are seen as with any other load. */
#include "code/texture.h"
#include "mem/texels.h"
#include "sim/finding_place.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "sim/observe.h"
#include "sim/planes.h"
#include <math.h>

enum { TAPS = 8, WHOLE = 256 }; /* texels of a sample; the sum of their weights */

/* One lane's sample of one level. */
struct sample {
    u64 at[TAPS];     /* addresses; 0: outside, the border's colour */
    u16 weight[TAPS]; /* of WHOLE; 0: not taken */
};

/* ---- coordinates ---- */

/* Texel i of n under an address mode; -1: outside. */
static s64 folded(s64 i, s64 n, enum texture_address mode)
{
    switch (mode) {
    case TEXTURE_CLAMP: return i < 0 ? 0 : i >= n ? n - 1 : i;
    case TEXTURE_WRAP: return (i % n + n) % n;
    case TEXTURE_MIRROR: i = (i % (2 * n) + 2 * n) % (2 * n); return i < n ? i : 2 * n - 1 - i;
    default: return i >= 0 && i < n ? i : -1;
    }
}

/* The texels of one direction, and the weight of the second, in 1/256. */
struct axis {
    s64 first, second; /* -1: outside */
    u32 part;
};

/* A coordinate as a number of 1/256 texels, rounded half up, or as a whole number of texels, rounded down. */
static s64 fixed(float x, u32 steps, float half)
{
    if (!(x == x)) return 0;
    double t = (double)x * steps + half;
    return t >= 0x1p40 ? (s64)1 << 40 : t <= -0x1p40 ? -((s64)1 << 40) : (s64)floor(t);
}

static struct axis axis_of(float x, u64 extent, enum texture_address mode, const struct sampler *s, bool linear)
{
    s64 n = (s64)MAX_OF(extent, (u64)1);
    if (s->normalized) {
        bool endless = mode == TEXTURE_WRAP || mode == TEXTURE_MIRROR;
        if (endless && !(fabsf(x) < 0x1p24f)) x = 0;
        x *= (float)n;
    } else if (mode == TEXTURE_WRAP || mode == TEXTURE_MIRROR)
        mode = TEXTURE_CLAMP; /* these need normalised coordinates */
    if (!linear) {
        s64 i = folded(fixed(x, 1, 0), n, mode);
        return (struct axis){ i, i, 0 };
    }
    s64 t = fixed(x, WHOLE, 0.5f - WHOLE / 2), i = t >> 8;
    u32 part = (u32)(t & 255);
    if (mode == TEXTURE_CLAMP && (i < 0 || i >= n - 1)) part = 0;
    return (struct axis){ folded(i, n, mode), folded(i + 1, n, mode), part };
}

static u32 rounded(u32 a, u32 b) { return (a * b + 128) >> 8; }

/* The weights of all corners: corner c has the second texel along x, y, z by its bits 0, 1, 2. */
static void weights(const struct axis x[3], u16 out[TAPS])
{
    for (u32 layer = 0; layer < 2; layer++) {
        u32 all = layer ? x[2].part : WHOLE - x[2].part, second = rounded(x[0].part, all), first = all - second;
        u16 *w = out + 4 * layer;
        w[3] = (u16)rounded(second, x[1].part);
        w[1] = (u16)(second - w[3]);
        w[0] = (u16)rounded(first, WHOLE - x[1].part);
        w[2] = (u16)(first - w[0]);
    }
}

/* ---- values ---- */

struct number {
    float value;
    u32 bits; /* of an integer read as it is */
};

static float half_float(u16 h)
{
    u32 e = h >> 10 & 31, m = h & 1023;
    float v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexpf((float)(m | 1024), (s32)e - 25) : ldexpf((float)m, -24);
    return h >> 15 ? -v : v;
}

static float linear_of(float c) { return c <= 0.04045f ? c / 12.92f : powf((c + 0.055f) / 1.055f, 2.4f); }

static struct number channel(const struct texels *t, const struct sampler *s, const char *p, u32 c)
{
    u32 v = 0, bits = 8u * t->channel_bytes;
    struct number r = { 0 };
    if (c >= t->channels) return r;
    memcpy(&v, p + c * t->channel_bytes, t->channel_bytes);
    s32 signed_value = (s32)(v << (32 - bits)) >> (32 - bits);
    bool fraction = t->kind == TEXEL_UNORM || t->kind == TEXEL_SNORM || (s->as_float && t->channel_bytes < 4);
    bool has_sign = t->kind == TEXEL_SIGNED || t->kind == TEXEL_SNORM;
    r.bits = has_sign ? (u32)signed_value : v;
    if (t->kind == TEXEL_FLOAT) {
        if (t->channel_bytes == 2)
            r.value = half_float((u16)v);
        else
            memcpy(&r.value, &v, 4);
        memcpy(&r.bits, &r.value, 4);
    } else if (fraction) {
        double most = ldexp(1, (s32)bits - has_sign) - 1;
        r.value = has_sign ? (float)fmax(signed_value / most, -1) : (float)(v / most);
        if (s->srgb && c < 3) r.value = linear_of(r.value);
        memcpy(&r.bits, &r.value, 4);
    } else
        memcpy(&r.value, &r.bits, 4); /* an integer of 32 bits goes through as it is */
    return r;
}

/* The sum of up to four weighted texels as an H200 makes it: aligned to the largest exponent, cut toward zero 27 bits
 * below it, added exactly. It is sum * 2^unit. */
static s64 aligned_sum(const float *v, const u16 *w, s32 *unit)
{
    s32 largest = -200, e[4];
    s64 sum = 0;
    for (u32 k = 0; k < 4; k++) {
        frexpf(v[k], &e[k]);
        if (w[k] && v[k] != 0) largest = MAX_OF(largest, e[k]);
    }
    for (u32 k = 0; k < 4; k++)
        if (w[k] && v[k] != 0) sum += (s64)trunc(ldexp((double)v[k], 28 - largest)) * w[k];
    *unit = largest - 28 - 8;
    return sum;
}

/* a * 2^x + b * 2^y, rounded half away from zero. */
static float rounded_sum(s64 a, s32 x, s64 b, s32 y)
{
    if (!a || (b && y > x)) {
        s64 t = a;
        a = b;
        b = t;
        s32 u = x;
        x = y;
        y = u;
    }
    if (!a) return 0;
    /* the larger one has 38 bits at most: 60 more are enough to see on which side of a half the smaller one is */
    s32 up = b ? MIN_OF(x - y, 60) : 0;
    __int128 sum = (__int128)a << up;
    if (b) sum += x - y > 60 ? (b > 0 ? 1 : -1) : (__int128)b;
    if (!sum) return 0;
    unsigned __int128 size = (unsigned __int128)(sum < 0 ? -sum : sum);
    u64 high = (u64)(size >> 64);
    s32 top = high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((u64)size), off = top - 23;
    s32 least = -149 - (x - up); /* bits below the smallest subnormal */
    off = MAX_OF(off, least);
    unsigned __int128 kept = off <= 0    ? size << MIN_OF(-off, 64)
                             : off > 126 ? 0
                                         : (size + ((unsigned __int128)1 << (off - 1))) >> off;
    float r = ldexpf((float)(u64)kept, x - up + off);
    return sum < 0 ? -r : r;
}

static float filtered(const float v[TAPS], const u16 w[TAPS])
{
    bool odd = false;
    float plain = 0;
    for (u32 k = 0; k < TAPS; k++) {
        odd |= w[k] && !isfinite(v[k]);
        if (w[k]) plain += v[k] * (float)w[k] / WHOLE;
    }
    if (odd) return plain;
    s32 x, y;
    s64 a = aligned_sum(v, w, &x), b = aligned_sum(v + 4, w + 4, &y);
    return rounded_sum(a, x, b, y);
}

/* ---- the instruction ---- */

struct fetch {
    struct warp *warp;
    const struct insn *insn;
    char *R;
    u32 aux;   /* TEXTURE_* */
    u32 lanes; /* with this object */
    const struct texture *texture;
    u64 source[6][LANES]; /* the operands of the lanes */
};

static float as_float(u64 x)
{
    u32 v = (u32)x;
    float f;
    memcpy(&f, &v, 4);
    return f;
}

/* The texels of lane l in one level. */
static void place(const struct fetch *f, const struct texels *t, u32 l, struct sample *out)
{
    const struct sampler *s = &f->texture->sampler;
    enum texture_shape shape = (enum texture_shape)(f->aux & TEXTURE_SHAPE);
    bool whole = f->aux & TEXTURE_INTEGER, layered = texture_layered(shape), linear = s->linear && !whole && !t->linear;
    u32 axes = texture_axes(shape), first = 1 + layered;
    u64 extent[3] = { t->width, t->height, layered ? 1 : t->depth };
    struct axis x[3] = { { 0 } };
    for (u32 k = 0; k < 3; k++) {
        if (whole && k < axes) {
            s64 i = (s32)f->source[first + k][l];
            i = i >= 0 && i < (s64)MAX_OF(extent[k], (u64)1) ? i
                : t->linear                                  ? -1
                                                             : folded(i, (s64)extent[k], s->address[k]);
            x[k] = (struct axis){ i, i, 0 };
        } else if (k < axes || (k == 1 && linear)) /* one dimension is a row of two, at y = 0 */
            x[k] = axis_of(k < axes ? as_float(f->source[first + k][l]) : 0, extent[k], s->address[k], s, linear);
    }
    s64 layer = 0;
    if (layered) layer = folded((s64)(u32)f->source[1][l], (s64)MAX_OF(t->depth, (u64)1), TEXTURE_CLAMP);
    weights(x, out->weight);
    for (u32 c = 0; c < TAPS; c++) {
        s64 i = c & 1 ? x[0].second : x[0].first, j = c & 2 ? x[1].second : x[1].first,
            k = layered ? layer
                : c & 4 ? x[2].second
                        : x[2].first;
        bool inside = i >= 0 && j >= 0 && k >= 0;
        out->at[c] = inside ? t->base + (u64)k * t->slice + (u64)j * t->pitch + (u64)i * texel_bytes(t) : 0;
    }
}

/* Reads tap c of the lanes that have one there; false: the bytes are undefined, and plain code is to look again. */
static bool read_tap(const struct fetch *f, const struct texels *t, const struct sample *s, u32 c, struct access *a,
                     struct taint bad[LANES])
{
    struct warp *w = f->warp;
    *a = (struct access){ .site = &w->code->low->site[f->insn->site],
                          .insn = f->insn,
                          .warp = w,
                          .bytes = texel_bytes(t),
                          .shape = SHAPE_V };
    for (u32 m = f->lanes; m; m &= m - 1) {
        u32 l = (u32)__builtin_ctz(m);
        if (!s[l].weight[c] || !s[l].at[c]) continue;
        a->mask |= 1u << l;
        a->addr[l] = s[l].at[c];
        a->space[l] = SP_GLOBAL;
    }
    if (!a->mask) return true;
    access_check(a);
    if (w->code->watch & WATCH_INIT && !init_defined(a)) {
        if (!w->planes) return false;
        for (u32 m = a->ok; m; m &= m - 1) {
            u32 l = (u32)__builtin_ctz(m);
            for (u32 at = 0; at < a->bytes; at += 8) {
                struct taint x = init_read(a, l, at, MIN_OF(a->bytes - at, 8u));
                if (x.undef) bad[l] = taint_all(32, x.origin);
            }
        }
    }
    if (w->code->watch) observe_access(w->cta->launch, a);
    return true;
}

/* The level that is nearest, or the two between which it lies with the weight of the second in 1/256. */
static void levels_of(const struct fetch *f, u32 l, u32 n, u32 level[2], u32 *part)
{
    const struct sampler *s = &f->texture->sampler;
    float x = f->aux & TEXTURE_LEVEL ? as_float(f->source[n - 1][l]) + s->bias : 0;
    float most = fminf(s->most, (float)(f->texture->levels - 1)), least = fmaxf(s->least, 0);
    x = !(x == x) ? 0 : x < least ? least : x > most ? most : x;
    s64 t = fixed(x, WHOLE, 0);
    *part = s->mip_linear ? (u32)(t & 255) : 0;
    level[0] = s->mip_linear ? (u32)(t >> 8) : (u32)((t + WHOLE / 2) >> 8);
    level[0] = MIN_OF(level[0], f->texture->levels - 1);
    level[1] = MIN_OF(level[0] + 1, f->texture->levels - 1);
}

static const struct texels *level_at(const struct texture *t, u32 level)
{
    return level ? &t->level[level - 1] : &t->texels;
}

/* Fetches for the lanes whose levels are these. */
static bool fetch_level(const struct fetch *f, u32 level, float out[4][LANES], u32 raw[4][LANES],
                        struct taint bad[LANES])
{
    const struct texels *t = level_at(f->texture, level);
    const struct sampler *s = &f->texture->sampler;
    struct sample sample[LANES];
    float v[4][LANES][TAPS];
    memset(v, 0, sizeof v);
    for (u32 m = f->lanes; m; m &= m - 1) place(f, t, (u32)__builtin_ctz(m), &sample[__builtin_ctz(m)]);
    for (u32 c = 0; c < TAPS; c++) {
        struct access a;
        if (!read_tap(f, t, sample, c, &a, bad)) return false;
        for (u32 m = f->lanes; m; m &= m - 1) {
            u32 l = (u32)__builtin_ctz(m);
            if (!sample[l].weight[c]) continue;
            for (u32 k = 0; k < 4; k++) {
                struct number x = { 0 };
                bool clamped = s->as_float || t->kind == TEXEL_UNORM || t->kind == TEXEL_SNORM;
                if (a.ok >> l & 1)
                    x = channel(t, s, a.ptr[l], k);
                else if (!sample[l].at[c] && k < t->channels && s->address[0] == TEXTURE_BORDER && !t->linear)
                    x.value = clamped && t->channel_bytes < 4
                                  ? fminf(fmaxf(s->border[k], t->kind == TEXEL_SIGNED ? -1.f : 0), 1)
                                  : s->border[k],
                    memcpy(&x.bits, &x.value, 4);
                v[k][l][c] = x.value;
                if (sample[l].weight[c] == WHOLE) raw[k][l] = x.bits;
            }
        }
    }
    for (u32 m = f->lanes; m; m &= m - 1) {
        u32 l = (u32)__builtin_ctz(m), whole = 0;
        for (u32 c = 0; c < TAPS; c++) whole |= sample[l].weight[c] == WHOLE;
        for (u32 k = 0; k < 4; k++) {
            if (whole)
                out[k][l] = as_float(raw[k][l]);
            else {
                out[k][l] = filtered(v[k][l], sample[l].weight);
                memcpy(&raw[k][l], &out[k][l], 4);
            }
        }
    }
    return true;
}

static void no_object(struct warp *w, const struct insn *i, u32 lanes, u64 handle, bool gone, const char *what)
{
    char cause[160];
    struct finding f = { .kind = F_texture_object, .cause = cause };
    snprintf(cause, sizeof cause, "0x%llx %s", (unsigned long long)handle,
             gone ? "is an object that was destroyed" : what);
    finding_add(w, i->op, &f, lanes);
}

int run_tex(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct lop *o = &w->code->low->op[i->op];
    struct fetch f = { .warp = w, .insn = i, .R = R, .aux = o->aux };
    u32 todo = active_lanes(w, R, i), all = todo, out[4][LANES] = { { 0 } };
    struct taint bad[LANES] = { { 0 } };
    if (!todo) return 0;
    for (u32 k = 0; k < o->nsrc; k++) {
        const struct insn_opnd *s = insn_src(w->code, i, k);
        lane_values(w->code, R, s->slot, s->cls, k ? 4 : 8, f.source[k]);
    }
    while (todo) {
        u32 same = lanes_alike(f.source[0], todo), first = (u32)__builtin_ctz(todo);
        bool gone = false;
        f.texture = texture_at(f.source[0][first], &gone);
        todo &= ~same;
        if (!f.texture || gone || f.texture->surface) {
            no_object(w, i, same, f.source[0][first], gone,
                      f.texture ? "is a surface, not a texture" : "is no texture object");
            continue;
        }
        while (same) { /* lanes of the same level together */
            u32 level[2], part, group = 0;
            levels_of(&f, (u32)__builtin_ctz(same), o->nsrc, level, &part);
            for (u32 m = same; m; m &= m - 1) {
                u32 l = (u32)__builtin_ctz(m), other[2], p;
                levels_of(&f, l, o->nsrc, other, &p);
                if (other[0] == level[0] && p == part) group |= 1u << l;
            }
            float v[2][4][LANES];
            u32 raw[4][LANES] = { { 0 } };
            f.lanes = group;
            same &= ~group;
            if (!fetch_level(&f, level[0], v[0], raw, bad)) return EV_DEOPT;
            if (part && !fetch_level(&f, level[1], v[1], raw, bad)) return EV_DEOPT;
            for (u32 m = group; m; m &= m - 1) {
                u32 l = (u32)__builtin_ctz(m);
                for (u32 k = 0; k < 4; k++) {
                    if (part) {
                        float pair[TAPS] = { v[0][k][l], v[1][k][l] };
                        u16 weight[TAPS] = { (u16)(WHOLE - part), (u16)part };
                        float x = filtered(pair, weight);
                        memcpy(&raw[k][l], &x, 4);
                    }
                    out[k][l] = raw[k][l];
                }
            }
        }
    }
    for (u32 k = 0; k < 4; k++) {
        const struct insn_opnd *d = insn_dst(w->code, i, k);
        for (u32 m = all; m; m &= m - 1)
            memcpy(SLOT(R, d->slot) + 4 * (u32)__builtin_ctz(m), &out[k][__builtin_ctz(m)], 4);
        if (w->code->watch & WATCH_INIT && w->planes) planes_put(w->planes, d->slot, all, bad);
    }
    return 0;
}

/* ---- surfaces ---- */

enum { SURFACE_BYTES = 255, SURFACE_CLAMP = 1 << 8, SURFACE_ZERO = 1 << 9, SURFACE_STORE = 1 << 10 }; /* lop.off */

/* Where the texel lies: x is in bytes, y and z in rows and slices. Outside, .clamp takes the nearest, .zero nothing;
 * .trap ends the kernel on a GPU. */
int run_surface(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct lop *o = &w->code->low->op[i->op];
    enum texture_shape shape = (enum texture_shape)(o->aux & TEXTURE_SHAPE);
    bool layered = texture_layered(shape);
    u32 mask = active_lanes(w, R, i), inside = 0, axes = texture_axes(shape), bytes = (u32)o->off & SURFACE_BYTES;
    u64 v[5][LANES], at[LANES] = { 0 };
    for (u32 k = 0; k < o->nsrc; k++) {
        const struct insn_opnd *s = insn_src(w->code, i, k);
        lane_values(w->code, R, s->slot, s->cls, k ? 4 : 8, v[k]);
    }
    for (u32 todo = mask; todo;) {
        u32 same = lanes_alike(v[0], todo), first = (u32)__builtin_ctz(todo), lost = 0;
        bool gone = false;
        const struct texture *x = texture_at(v[0][first], &gone);
        todo &= ~same;
        if (!x || gone || !x->surface) {
            no_object(w, i, same, v[0][first], gone, x ? "is a texture, not a surface" : "is no surface object");
            continue;
        }
        const struct texels *t = &x->texels;
        s64 extent[3] = { (s64)(t->width * texel_bytes(t) / bytes), (s64)MAX_OF(t->height, (u64)1),
                          (s64)MAX_OF(t->depth, (u64)1) };
        for (u32 m = same; m; m &= m - 1) {
            u32 l = (u32)__builtin_ctz(m);
            s64 c[3] = { 0 };
            bool in = true;
            for (u32 k = 0; k < axes; k++) c[k] = (s32)v[1 + layered + k][l];
            if (layered) c[2] = (s32)v[1][l];
            c[0] = c[0] >= 0 ? c[0] / bytes : -1;
            for (u32 k = 0; k < 3; k++) {
                if (o->off & SURFACE_CLAMP) c[k] = folded(c[k], extent[k], TEXTURE_CLAMP);
                in &= c[k] >= 0 && c[k] < extent[k];
            }
            if (in) {
                at[l] = t->base + (u64)c[2] * t->slice + (u64)c[1] * t->pitch + (u64)c[0] * bytes;
                inside |= 1u << l;
            } else if (!(o->off & SURFACE_ZERO))
                lost |= 1u << l;
        }
        if (lost) {
            u32 l = (u32)__builtin_ctz(lost);
            char cause[200];
            struct finding f = { .kind = F_surface_bounds, .cause = cause };
            snprintf(cause, sizeof cause,
                     "byte %d of row %d, but the surface has %llu texels of %u bytes a row and %lld rows",
                     (s32)v[1 + layered][l], axes > 1 ? (s32)v[2 + layered][l] : 0, (unsigned long long)t->width,
                     texel_bytes(t), (long long)extent[1]);
            finding_add(w, i->op, &f, lost);
        }
    }
    const struct insn_opnd *d = insn_dst(w->code, i, 0), *p = insn_dst(w->code, i, 1);
    for (u32 m = mask; m; m &= m - 1) memcpy(SLOT(R, d->slot) + 8 * (u32)__builtin_ctz(m), &at[__builtin_ctz(m)], 8);
    u32 *truth = (u32 *)(void *)SLOT(R, p->slot);
    *truth = (*truth & ~mask) | inside;
    return 0;
}
