/* tex, tld4, txq and suq: texels of arrays and of linear memory, through the objects of mem/texels.h.
 *
 * A sample of a lane is up to 16 texels with their weights, whole numbers of 1/256: four of each of two slices of two
 * levels. Which texels and which weights is what an H200 does (docs/inside/textures.md); texel.c adds them. Each of
 * them is one access of the warp, so that bounds, undefined values and races are seen as with any other load. */
#include "code/texture.h"
#include "sim/asked.h"
#include "isa/words.h"
#include "mem/mem_finding.h"
#include "mem/texels.h"
#include "sim/finding_place.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "sim/observe.h"
#include "sim/planes.h"
#include "units/surface.h"
#include "lanes/texel.h"
#include "lanes/texture_level.h"
#include <inttypes.h>
#include <math.h>

/* One lane's sample. */
struct sample {
    u64 at[TEXEL_TAPS];     /* addresses; 0: outside */
    u16 weight[TEXEL_TAPS]; /* of TEXEL_WHOLE */
    u16 taken;              /* taps that are read */
};

/* ---- coordinates ---- */

s64 texture_folded(s64 i, s64 n, enum texture_address mode)
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
static s64 fixed(double x, u32 steps, double half)
{
    if (!(x == x)) return 0;
    double t = x * steps + half;
    return t >= 0x1p40 ? (s64)1 << 40 : t <= -0x1p40 ? -((s64)1 << 40) : (s64)floor(t);
}

/* `along`: texels from the coordinate to the sample. */
static struct axis axis_of(float given, s64 offset, double along, u64 extent, enum texture_address mode,
                           const struct sampler *s, bool linear)
{
    s64 n = (s64)MAX_OF(extent, (u64)1);
    double x = (double)given;
    if (s->normalized) { /* a fraction of 21 bits */
        bool wrap = mode == TEXTURE_WRAP, mirror = mode == TEXTURE_MIRROR;
        if (wrap || mirror) x = isfinite(given) ? x - (wrap ? floor(x) : 2 * floor(x / 2)) : 0;
        x = floor(x * 0x1p21) * 0x1p-21 * (double)n;
    } else if (mode == TEXTURE_WRAP || mode == TEXTURE_MIRROR)
        mode = TEXTURE_CLAMP; /* these need normalised coordinates */
    x += along;
    if (!linear) {
        s64 i = texture_folded(fixed(x, 1, 0) + offset, n, mode);
        return (struct axis){ i, i, 0 };
    }
    s64 t = fixed(x, TEXEL_WHOLE, 0.5 - TEXEL_WHOLE / 2), i = (t >> 8) + offset;
    u32 part = (u32)(t & 255);
    if (mode == TEXTURE_CLAMP && (i < 0 || i >= n - 1)) part = 0;
    return (struct axis){ texture_folded(i, n, mode), texture_folded(i + 1, n, mode), part };
}

/* The face of a cube that a direction meets, and where on it, 0 to 1. The direction is made as long as its largest
 * component first; a coordinate that is then no number is 0. */
static u32 face_of(const float direction[3], float at[2])
{
    float m = 0;
    for (u32 k = 0; k < 3; k++) m = fmaxf(m, fabsf(direction[k]));
    float over = m > 0 ? 1 / m : 1, x = direction[0] * over, y = direction[1] * over, z = direction[2] * over;
    float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
    u32 face = az >= fmaxf(ax, ay) ? 4 + (z < 0) : ay >= ax ? 2 + (y < 0) : ax == ax ? x < 0 : 4;
    float s = face == 5 ? -x : face > 1 ? x : face ? z : -z, t = face == 2 ? z : face == 3 ? -z : -y;
    at[0] = ((s == s ? s : 0) + 1) / 2;
    at[1] = ((t == t ? t : 0) + 1) / 2;
    return face;
}

/* The texel beyond one edge of a face of n x n: where it lies on the face that meets it there, which is the result. The
 * direction to it is made of whole numbers, n long towards its own face. */
static u32 face_across(u32 face, s64 n, s64 *i, s64 *j)
{
    s64 s = *i < 0 ? -n - 1 : *i >= n ? n + 1 : 2 * *i + 1 - n, t = *j < 0 ? -n - 1 : *j >= n ? n + 1 : 2 * *j + 1 - n;
    const s64 all[6][3] = { { n, -t, -s }, { -n, -t, s }, { s, n, t }, { s, -n, -t }, { s, -t, n }, { -s, -t, -n } };
    const s64 *d = all[face];
    u32 to = d[0] > n ? 0 : d[0] < -n ? 1 : d[1] > n ? 2 : d[1] < -n ? 3 : d[2] > n ? 4 : 5;
    s = to == 5 ? -d[0] : to > 1 ? d[0] : to ? d[2] : -d[2];
    t = to == 2 ? d[2] : to == 3 ? -d[2] : -d[1];
    *i = (s + n + 1) * n / (2 * (n + 1));
    *j = (t + n + 1) * n / (2 * (n + 1));
    return to;
}

static u32 rounded(u32 a, u32 b) { return (a * b + 128) >> 8; }

/* The weights of the four texels of a slice that has weight `all`: bits 0 and 1 of their number are second texels. */
static void weights(const struct axis *x, u32 all, u16 w[4])
{
    u32 second = rounded(x[0].part, all), first = all - second;
    w[3] = (u16)rounded(second, x[1].part);
    w[1] = (u16)(second - w[3]);
    w[0] = (u16)rounded(first, TEXEL_WHOLE - x[1].part);
    w[2] = (u16)(first - w[0]);
}

/* ---- the instruction ---- */

enum { SOURCES = 15 };
struct fetch {
    struct warp *warp;
    const struct insn *insn;
    u32 aux;   /* TEXTURE_* */
    u32 lanes; /* with this object and these levels */
    const struct texture *texture;
    struct covered {
        struct texture_levels levels;
        struct texture_along along[2]; /* in each of them */
    } covered;
    double along[2];            /* texels from the coordinates to the sample in hand */
    u64 source[SOURCES][LANES]; /* the operands of the lanes */
};

static float as_float(u64 x)
{
    u32 v = (u32)x;
    float f;
    memcpy(&f, &v, 4);
    return f;
}

static enum texture_shape shape_of(const struct fetch *f) { return (enum texture_shape)(f->aux & TEXTURE_SHAPE); }
/* The source after the coordinates. */
static u32 behind(const struct fetch *f) { return 1 + texture_layered(shape_of(f)) + texture_axes(shape_of(f)); }

static bool filters(const struct fetch *f, const struct texels *t)
{
    const struct sampler *s = &f->texture->sampler;
    bool any = s->linear || (s->mip_linear && f->texture->levels > 1) || f->covered.along[0].n > 1;
    return any && !(f->aux & (TEXTURE_WHOLE | TEXTURE_GATHER)) && !t->linear;
}

/* The directions of lane l: axes without a coordinate are texel 0; 2D textures and faces have a third of slices. */
static void axes_of(const struct fetch *f, const struct texels *t, u32 l, struct axis x[3])
{
    const struct sampler *s = &f->texture->sampler;
    enum texture_shape shape = shape_of(f);
    bool whole = f->aux & TEXTURE_WHOLE, layered = texture_layered(shape), cube = texture_cube(shape);
    bool linear = (s->linear || f->aux & TEXTURE_GATHER) && !whole && !t->linear;
    u32 axes = cube ? 2 : texture_axes(shape), first = 1 + layered, offsets = behind(f);
    u64 extent[3] = { t->width, t->height, t->depth };
    float at[3] = { 0 };
    s64 layer = 0;
    if (f->aux & TEXTURE_LEVEL) offsets++;
    if (f->aux & TEXTURE_GRADIENTS) offsets += 2 * axes;
    for (u32 k = 0; k < texture_axes(shape); k++) at[k] = as_float(f->source[first + k][l]);
    memset(x, 0, 3 * sizeof *x);
    if (layered) {
        s64 n = (s64)MAX_OF(t->depth, (u64)1) / (cube ? 6 : 1);
        layer = texture_folded((s64)(u32)f->source[1][l], MAX_OF(n, 1), TEXTURE_CLAMP) * (cube ? 6 : 1);
    }
    if (cube) {
        float on[2];
        layer += face_of(at, on);
        at[0] = on[0];
        at[1] = on[1];
    }
    for (u32 k = 0; k < 3; k++) {
        /* four bits of it */
        s64 offset = k < axes && f->aux & TEXTURE_OFFSETS ? (s64)((f->source[offsets + k][l] & 15) ^ 8) - 8 : 0;
        if (whole && k < axes) {
            s64 i = (s64)(s32)f->source[first + k][l] + offset;
            s64 n = (s64)MAX_OF(extent[k], (u64)1);
            i = i >= 0 && i < n ? i : f->aux & TEXTURE_LEVEL ? texture_folded(i, n, TEXTURE_CLAMP) : -1;
            x[k] = (struct axis){ i, i, 0 };
        } else if (k < axes && cube && linear && s->seamless) { /* beyond the edges are other faces */
            double n = (double)MAX_OF(extent[k], (u64)1), on = (double)at[k] * n + f->along[k];
            s64 to = fixed(fmax(-0.5, fmin(on, n + 0.5)), TEXEL_WHOLE, 0.5 - TEXEL_WHOLE / 2);
            x[k] = (struct axis){ to >> 8, (to >> 8) + 1, (u32)(to & 255) };
        } else if (k < axes || (k == 1 && linear)) /* one dimension is a row of two, at y = 0 */
            x[k] = axis_of(k < axes ? at[k] : 0, offset, k < 2 && k < axes ? f->along[k] : 0, extent[k], s->address[k],
                           s, linear);
    }
    if (layered || cube) x[2] = (struct axis){ layer, layer, 0 };
}

/* At a corner three faces meet, and there is no fourth texel: its weight goes to the others, a third to each. */
static void weights_at_corner(u32 none, u32 from, struct sample *out)
{
    u16 *w = out->weight + from;
    u32 third = (2u * w[none] + 3) / 6;
    if (w[none]) out->taken |= (u16)(15u << from);
    w[none ^ 1] = (u16)(w[none ^ 1] + third);
    w[none ^ 2] = (u16)(w[none ^ 2] + third);
    w[none ^ 3] = (u16)(w[none ^ 3] + w[none] - 2 * third);
    w[none] = 0;
    out->taken &= (u16) ~(1u << (from + none));
}

/* Four taps of lane l: those of slice k, of weight `all`. */
static void place(const struct texels *t, const struct axis x[3], s64 k, u32 all, u32 from, bool seamless,
                  struct sample *out)
{
    u32 corner = 4;
    weights(x, all, out->weight + from);
    for (u32 c = 0; c < 4; c++) {
        s64 i = c & 1 ? x[0].second : x[0].first, j = c & 2 ? x[1].second : x[1].first, n = (s64)t->width, on = k;
        if (seamless && (i < 0 || i >= n) && (j < 0 || j >= n)) {
            corner = c;
            i = -1;
        } else if (seamless && (i < 0 || i >= n || j < 0 || j >= n))
            on = k - k % 6 + face_across((u32)(k % 6), n, &i, &j);
        bool inside = i >= 0 && j >= 0 && on >= 0;
        out->at[from + c] = inside ? t->base + (u64)on * t->slice + (u64)j * t->pitch + (u64)i * texel_bytes(t) : 0;
        if (all && (!(c & 1) || x[0].part) && (!(c & 2) || x[1].part)) out->taken |= (u16)(1u << (from + c));
    }
    if (corner < 4 && all) weights_at_corner(corner, from, out);
}

/* A texture over pitched or linear memory that is described as larger than the memory is. The lanes whose texels lie
 * past its end; these read nothing, whatever buffer comes next. */
static u32 behind_memory(const struct access *a, const struct texels *t)
{
    struct mem_object *o = mem_find(a->warp->cta->launch->sim->mem, t->base);
    u32 behind = 0;
    if (!o) return 0;
    EACH_SET (l, a->mask) behind |= (u32)(a->addr[l] - o->base + a->bytes > o->size) << l;
    if (!behind || !(a->warp->cta->launch->in->checks & CHECK_BOUNDS)) return behind;
    char cause[500];
    struct finding f = {
        .kind = F_bounds,
        .cause_key = o->id,
        .cause = cause,
        .fix = "Give the description of the texture the width, height and pitch that the memory was allocated with.",
        .object = o->name,
        .object_type = o->type,
        .object_base = o->base,
        .object_size = o->size,
        .element_size = o->element_size
    };
    snprintf(cause, sizeof cause,
             "the texture is described as %" PRIu64 " x %" PRIu64 " texels of %u bytes, %" PRIu64
             " bytes from row to row, which ends at byte %" PRIu64 " of %s, but %s has %" PRIu64 " bytes",
             t->width, MAX_OF(t->height, (u64)1), texel_bytes(t), t->pitch,
             t->base - o->base + (MAX_OF(t->height, (u64)1) - 1) * t->pitch + t->width * texel_bytes(t), o->name,
             o->name, o->size);
    char where[400];
    finding_allocated(&f, o, where, sizeof where);
    finding_add(a->warp, a->insn->op, &f, behind);
    return behind;
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
    EACH_SET (l, f->lanes) {
        if (!(s[l].taken >> c & 1) || !s[l].at[c]) continue;
        a->mask |= 1u << l;
        a->addr[l] = s[l].at[c];
        a->space[l] = SP_GLOBAL;
    }
    a->mask &= ~behind_memory(a, t);
    if (!a->mask) return true;
    access_check(a);
    if (w->code->watch & WATCH_INIT && !asked->init_defined(a)) {
        if (!w->planes) return false;
        EACH_SET (l, a->ok) {
            for (u32 at = 0; at < a->bytes; at += 8) {
                struct taint x = asked->init_read(a, l, at, MIN_OF(a->bytes - at, 8u));
                if (x.undef) bad[l] = taint_all(32, x.origin);
            }
        }
    }
    if (w->code->watch) observe_access(w->cta->launch, a);
    observe_texel(a);
    return true;
}

static const struct texels *level_at(const struct texture *t, u32 level)
{
    return level ? &t->level[level - 1] : &t->texels;
}

/* What a tap outside the texels gives: the border's colour, where that is asked for; else 0. */
static struct texel_number outside(const struct fetch *f, const struct texels *t, u32 channel)
{
    const struct sampler *s = &f->texture->sampler;
    bool border = false;
    for (u32 k = 0; k < texture_axes(shape_of(f)); k++) border |= s->address[k] == TEXTURE_BORDER;
    if (!border || t->linear || f->aux & TEXTURE_WHOLE) return (struct texel_number){ 0 };
    return texel_border(t, s, channel);
}

/* The samples of the lanes. */
static bool mixes_read(const struct fetch *f, const struct texels *const level[2], const struct sample *s,
                       struct texel_mix (*mix)[LANES], struct taint bad[LANES])
{
    for (u32 c = 0; c < TEXEL_TAPS; c++) {
        const struct texels *t = level[c / 8];
        struct access a;
        if (!read_tap(f, t, s, c, &a, bad)) return false;
        EACH_SET (l, f->lanes) {
            for (u32 k = 0; k < 4; k++) {
                struct texel_mix *x = &mix[k][l];
                x->weight[c] = s[l].weight[c];
                x->taken = s[l].taken;
                x->number[c] = !(s[l].taken >> c & 1) ? (struct texel_number){ 0 }
                               : a.ok >> l & 1        ? texel_number(t, &f->texture->sampler, a.ptr[l], k)
                               : s[l].at[c]           ? (struct texel_number){ 0 }
                                                      : outside(f, t, k);
            }
        }
    }
    return true;
}

/* tld4 goes through the filter: a NaN loses its payload, and a subnormal f32 is 0. */
static u32 gathered(enum texel_sum how, struct texel_number n)
{
    if (how != SUM_F16 && how != SUM_F32) return n.bits;
    if (n.value != n.value) return how == SUM_F16 ? 0x7fffe000 : 0x7fffffff;
    return how == SUM_F32 && fabsf(n.value) < 0x1p-126f ? n.bits & 0x80000000 : n.bits;
}

/* The four channels of lanes from their mixes. */
static void mixes_end(const struct fetch *f, const struct texels *t, struct texel_mix (*mix)[LANES], u32 out[4][LANES])
{
    static const u8 order[4] = { 2, 3, 1, 0 }; /* of tld4 */
    u32 channel = f->aux >> TEXTURE_CHANNEL & 3;
    EACH_SET (l, f->lanes) {
        for (u32 k = 0; k < 4; k++)
            out[k][l] = f->aux & TEXTURE_GATHER
                            ? gathered(texel_sum(t, &f->texture->sampler, channel), mix[channel][l].number[order[k]])
                        : filters(f, t) ? texel_mixed(texel_sum(t, &f->texture->sampler, k), &mix[k][l], 1, 0)
                                        : mix[k][l].number[0].bits;
    }
}

/* The taps of lane l in a level of weight `all`; the first is `from`. */
static void place_level(const struct fetch *f, const struct texels *t, u32 l, u32 all, u32 from, struct sample *out)
{
    struct axis x[3];
    axes_of(f, t, l, x);
    u32 second = all - rounded(TEXEL_WHOLE - x[2].part, all);
    bool seamless = texture_cube(shape_of(f)) && f->texture->sampler.seamless && f->texture->sampler.linear;
    place(t, x, x[2].first, all - second, from, seamless, out);
    place(t, x, x[2].second, second, from + 4, seamless, out);
}

/* The texels of one sample of the lanes, with these weights of the two levels. */
static bool sample_read(const struct fetch *f, const u32 all[2], struct texel_mix (*mix)[LANES],
                        struct taint bad[LANES])
{
    struct texture_levels v = f->covered.levels;
    const struct texels *const level[2] = { level_at(f->texture, v.first), level_at(f->texture, v.second) };
    struct sample s[LANES];
    memset(s, 0, sizeof s);
    EACH_SET (l, f->lanes) {
        if (all[0]) place_level(f, level[0], l, all[0], 0, &s[l]);
        if (all[1]) place_level(f, level[1], l, all[1], 8, &s[l]);
        if (f->aux & TEXTURE_GATHER) s[l].taken = 15;
    }
    return mixes_read(f, level, s, mix, bad);
}

/* One sample of each lane. */
static bool fetch_lanes(struct fetch *f, u32 out[4][LANES], struct taint bad[LANES])
{
    struct texel_mix mix[4][LANES];
    u32 part = f->covered.levels.part;
    if (!sample_read(f, (u32[]){ TEXEL_WHOLE - part, part }, mix, bad)) return false;
    mixes_end(f, level_at(f->texture, f->covered.levels.first), mix, out);
    return true;
}

static bool covered_along(const struct fetch *f)
{
    return f->covered.along[0].n > 1 || (f->covered.levels.part && f->covered.along[1].n > 1);
}

/* Several, along the footprint of the gradients of one lane. */
static bool fetch_along(struct fetch *f, u32 out[4][LANES], struct taint bad[LANES])
{
    const struct texture_along *a = f->covered.along;
    const struct texels *t = level_at(f->texture, f->covered.levels.first);
    struct texel_mix mix[4][LANES], all[4][TEXEL_MIXES];
    u32 l = (u32)__builtin_ctz(f->lanes), n = 0, part = f->covered.levels.part;
    u32 of_level[2] = { TEXEL_WHOLE - part, part }, shift = MAX_OF(a[0].shift, part ? a[1].shift : 0);
    bool ok = true;
    for (u32 v = 0; v < 2; v++)
        for (u32 i = 0; ok && of_level[v] && i < a[v].n; i++) {
            u32 w[2] = { 0 };
            w[v] = a[v].weight[i];
            for (u32 k = 0; k < 2; k++) f->along[k] = a[v].at[i] * a[v].step[k] / 128.0;
            ok = sample_read(f, w, mix, bad);
            for (u32 k = 0; ok && k < 4; k++) {
                all[k][n] = mix[k][l];
                for (u32 c = 0; c < TEXEL_TAPS; c++)
                    all[k][n].weight[c] = (u16)(mix[k][l].weight[c] << (shift - a[v].shift));
            }
            n++;
        }
    f->along[0] = f->along[1] = 0;
    for (u32 k = 0; ok && k < 4; k++) {
        enum texel_sum how = texel_sum(t, &f->texture->sampler, k);
        out[k][l] = how == SUM_NONE ? all[k][0].number[0].bits : texel_mixed(how, all[k], n, shift);
    }
    return ok;
}

/* Where a direction meets the plane of a face, -1 to 1 inside it; beyond an edge the face that lies there is unfolded
 * into the plane, and the result is true. */
static bool face_unfolded(u32 face, const float d[3], float out[2])
{
    float s = face == 5 ? -d[0] : face > 1 ? d[0] : face ? d[2] : -d[2];
    float t = face == 2 ? d[2] : face == 3 ? -d[2] : -d[1], m = face & 1 ? -d[face / 2] : d[face / 2];
    float as = fabsf(s), at = fabsf(t), most = fmaxf(m, fmaxf(as, at));
    bool over_s = most > m && as >= at, over_t = most > m && !over_s;
    out[0] = over_s ? copysignf(2 - m / most, s) : s / most;
    out[1] = over_t ? copysignf(2 - m / most, t) : t / most;
    return over_s || over_t;
}

/* The gradients of a direction, in texels of the face that it meets; whether one leads to another face. */
static bool face_gradients(const struct fetch *f, u32 l, float out[2][3])
{
    float d[3], at[2], end[2];
    u32 first = behind(f) - 3;
    bool across = false;
    for (u32 k = 0; k < 3; k++) d[k] = as_float(f->source[first + k][l]);
    u32 face = face_of(d, at);
    face_unfolded(face, d, at);
    for (u32 g = 0; g < 2; g++) {
        float to[3];
        for (u32 k = 0; k < 3; k++) to[k] = d[k] + as_float(f->source[first + 3 + 3 * g + k][l]);
        across |= face_unfolded(face, to, end);
        for (u32 k = 0; k < 2; k++) out[g][k] = (end[k] - at[k]) / 2 * (float)f->texture->texels.width;
    }
    return across;
}

/* The gradients of lane l, in texels of the largest level. */
static struct texture_footprint footprint_of(const struct fetch *f, u32 l)
{
    const struct texture *t = f->texture;
    u32 at = behind(f), axes = texture_axes(shape_of(f));
    bool cube = texture_cube(shape_of(f));
    float g[2][3] = { { 0 } };
    u64 extent[3] = { t->texels.width, t->texels.height, t->texels.depth };
    for (u32 k = 0; k < 2 * axes; k++) {
        float x = as_float(f->source[at + k][l]);
        g[k / axes][k % axes] = t->sampler.normalized ? x * (float)extent[k % axes] : x;
    }
    bool across = cube && face_gradients(f, l, g);
    if (cube) axes = 2;
    return texture_footprint(g, axes, across, across ? 0 : texture_ratio_most(&t->sampler, axes));
}

static void covered_of(const struct fetch *f, u32 l, struct covered *out)
{
    struct texture_footprint p = { 0 };
    u32 at = behind(f);
    memset(out, 0, sizeof *out);
    if (f->aux & TEXTURE_LEVEL && f->aux & TEXTURE_WHOLE) {
        u32 given = (u32)f->source[at][l];
        out->levels = (struct texture_levels){ given, given, 0, 0 };
        out->along[0] = out->along[1] = texture_along(&p, 0, TEXEL_WHOLE);
        return;
    }
    if (f->aux & TEXTURE_LEVEL) p.level = (s32)texture_level_fixed(as_float(f->source[at][l]));
    if (f->aux & TEXTURE_GRADIENTS) p = footprint_of(f, l);
    out->levels = texture_levels(f->texture, p.level, f->aux & (TEXTURE_LEVEL | TEXTURE_GRADIENTS));
    out->along[0] = texture_along(&p, out->levels.off, TEXEL_WHOLE - out->levels.part);
    out->along[1] = texture_along(&p, out->levels.off - 256, out->levels.part);
}

const struct texture *texture_of(struct warp *w, const struct insn *i, u32 lanes, u64 handle, bool *gone)
{
    const struct sim_launch *in = w->cta->launch->in;
    const struct texture *t = texture_at(handle, in->age ? in->age : TEXTURE_NOW, gone);
    if (likely(!t || *gone || !texture_is_late(handle)) || !(in->checks & CHECK_API)) return t;
    char cause[120];
    struct finding f = { .kind = F_destroyed_in_use, .cause = cause };
    snprintf(cause, sizeof cause, "%s %u was destroyed while this launch, which was made before, had not ended",
             t->surface ? "surface" : "texture", t->number);
    finding_add(w, i->op, &f, lanes);
    return t;
}

void texture_none(struct warp *w, const struct insn *i, u32 lanes, u64 handle, bool gone, const char *what)
{
    char cause[160];
    struct finding f = { .kind = F_texture_object, .cause = cause };
    snprintf(cause, sizeof cause, "0x%llx %s", (unsigned long long)handle,
             gone ? "is an object that was destroyed" : what);
    const struct ptx_insn *src = w->code->low->op[i->op].src;
    for (u32 k = 0; src && !handle && k < src->narg; k++) {
        const struct ptx_var *v = src->arg[k].var;
        if (src->arg[k].kind != OP_MEM || !v) continue;
        snprintf(cause, sizeof cause, "nothing was bound to the %s reference %.*s",
                 v->type == T_SURFREF ? "surface" : "texture", (int)v->name.n, v->name.p);
        f.fix = v->type == T_SURFREF
                    ? "Bind an array by cuSurfRefSetArray before the launch."
                    : "Bind it by cuTexRefSetArray, cuTexRefSetAddress or their like before the launch.";
    }
    finding_add(w, i->op, &f, lanes);
}

/* tex1Dfetch answers 0 beyond linear memory, on a GPU as here: that may be meant, and it hides an index that is wrong.
 */
static void note_beyond(const struct fetch *f, u32 lanes)
{
    const struct texels *x = &f->texture->texels;
    u32 beyond = 0;
    if (!x->linear || !(f->aux & TEXTURE_WHOLE) || !(f->warp->cta->launch->in->checks & CHECK_BOUNDS)) return;
    EACH_SET (l, lanes) beyond |= (u32)((u32)f->source[1][l] >= x->width) << l;
    if (!beyond) return;
    char cause[300];
    struct mem_object *o = mem_find(f->warp->cta->launch->sim->mem, x->base);
    struct finding n = { .kind = F_texture_beyond, .cause = cause };
    snprintf(cause, sizeof cause, "texel %d of a texture over %s%s%" PRIu64 " texels of linear memory: a GPU answers 0",
             (s32)(u32)f->source[1][__builtin_ctz(beyond)], o ? o->name : "", o ? ", " : "", x->width);
    finding_add(f->warp, f->insn->op, &n, beyond);
}

/* Lanes that ask for another sample of a texel than the first, or for a layer that is not there. CUDA's arrays have one
 * sample: these are 0. */
static u32 beyond_samples(const struct fetch *f, u32 sources)
{
    u32 r = 0;
    bool layers = texture_layered(shape_of(f));
    for (u32 l = 0; f->aux & TEXTURE_SAMPLE && l < LANES; l++)
        r |= (u32)((u32)f->source[sources - 1][l] != 0 ||
                   (layers && (u32)f->source[1][l] >= MAX_OF(f->texture->texels.depth, (u64)1)))
             << l;
    return r;
}

/* Writes four words of the lanes as the instruction's results. */
static void results_put(const struct fetch *f, char *restrict R, u32 lanes, u32 out[4][LANES],
                        const struct taint bad[LANES])
{
    struct warp *w = f->warp;
    u32 n = f->aux & TEXTURE_HALF2 ? 2 : 4, bytes = f->aux & TEXTURE_HALF ? 2 : 4;
    for (u32 k = 0; k < n; k++) {
        const struct insn_opnd *d = insn_dst(w->code, f->insn, k);
        EACH_SET (l, lanes) {
            u32 v = out[k][l];
            if (f->aux & TEXTURE_HALF) v = f16_near(as_float(v)).v;
            if (f->aux & TEXTURE_HALF2)
                v = f16_near(as_float(out[2 * k][l])).v | (u32)f16_near(as_float(out[2 * k + 1][l])).v << 16;
            memcpy(SLOT(R, d->slot) + bytes * l, &v, bytes);
        }
        if (w->code->watch & WATCH_INIT && w->planes) asked->planes_put(w->planes, d->slot, lanes, bad);
    }
}

int run_tex(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct lop *o = &w->code->low->op[i->op];
    struct fetch f = { .warp = w, .insn = i, .aux = o->aux };
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
        f.texture = texture_of(w, i, same, f.source[0][first], &gone);
        todo &= ~same;
        if (!f.texture || gone || f.texture->surface) {
            texture_none(w, i, same, f.source[0][first], gone,
                         f.texture ? "is a surface, not a texture" : "is not a texture object");
            continue;
        }
        same &= ~beyond_samples(&f, o->nsrc);
        while (same) { /* lanes of the same level together, if they take one sample */
            u32 group = same & -same;
            covered_of(&f, (u32)__builtin_ctz(same), &f.covered);
            for (u32 m = same; !covered_along(&f) && m; m &= m - 1) {
                struct covered other;
                covered_of(&f, (u32)__builtin_ctz(m), &other);
                if (!memcmp(&other, &f.covered, sizeof other)) group |= m & -m;
            }
            f.lanes = group;
            same &= ~group;
            bool by_float = f.texture->texels.linear && !(f.aux & TEXTURE_WHOLE);
            if (f.covered.levels.first >= f.texture->levels || by_float) continue; /* 0: no such level, no such texel */
            note_beyond(&f, group);
            if (!(covered_along(&f) ? fetch_along : fetch_lanes)(&f, out, bad)) return EV_DEOPT;
        }
    }
    results_put(&f, R, all, out, bad);
    return 0;
}

/* txq and suq: the extent of an object, or of one of its levels. */
int run_texture_query(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct lop *o = &w->code->low->op[i->op];
    u32 mask = active_lanes(w, R, i);
    u64 v[2][LANES] = { { 0 } };
    const struct taint clean[LANES] = { { 0 } };
    const struct insn_opnd *d = insn_dst(w->code, i, 0);
    for (u32 k = 0; k < o->nsrc; k++) {
        const struct insn_opnd *s = insn_src(w->code, i, k);
        lane_values(w->code, R, s->slot, s->cls, k ? 4 : 8, v[k]);
    }
    EACH_SET (l, mask) {
        u32 answer = 0, level = (u32)v[1][l];
        bool gone = false, surface = o->off & QUERY_SURFACE;
        const struct texture *t = texture_of(w, i, 1u << l, v[0][l], &gone);
        if (!t || gone || t->surface != surface)
            texture_none(w, i, 1u << l, v[0][l], gone, surface ? "is not a surface object" : "is not a texture object");
        else if (level < t->levels) {
            const struct texels *x = level_at(t, level);
            u64 deep = x->cube ? (surface ? x->depth : x->layered ? x->depth / 6 : 0) : x->depth;
            u64 high = x->layered && !x->height ? x->depth : x->height;
            if (x->layered && !x->height) deep = 0;
            if (!high && !surface && !x->linear) high = 1;
            u64 extent[3] = { x->width, high, deep };
            answer = (u32)extent[o->off & 3];
        }
        memcpy(SLOT(R, d->slot) + 4 * l, &answer, 4);
    }
    if (w->code->watch & WATCH_INIT && w->planes) asked->planes_put(w->planes, d->slot, mask, clean);
    return 0;
}
