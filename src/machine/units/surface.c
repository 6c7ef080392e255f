/* suld, sust and sured: where a texel of a surface lies. The access itself is an ordinary one (lower_texture.c). */
#include "units/surface.h"
#include "sim/asked.h"
#include "code/texture.h"
#include "isa/words.h"
#include "sim/finding_place.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "sim/planes.h"
#include <math.h>

/* Outside the surface, in words: the first coordinate that is. */
static void outside(struct warp *w, const struct insn *i, const struct texels *t, const s64 c[3], const s64 extent[3],
                    s64 byte, u32 lanes)
{
    char cause[200];
    struct finding f = { .kind = F_surface_bounds, .cause = cause };
    bool scaled = !(byte % texel_bytes(t)); /* x may have been multiplied already */
    f.fix = scaled ? "Compare the coordinates with the extent first (x < width && y < height); or use "
                     "cudaBoundaryModeZero or cudaBoundaryModeClamp."
                   : NULL;
    if (c[0] < 0 || c[0] >= extent[0])
        snprintf(cause, sizeof cause,
                 "byte %lld of a row, but the surface has %llu texels of %u bytes a row: %llu bytes", (long long)byte,
                 (unsigned long long)t->width, texel_bytes(t), (unsigned long long)t->width * texel_bytes(t));
    else if (c[1] < 0 || c[1] >= extent[1])
        snprintf(cause, sizeof cause, "row %lld, but the surface has %lld", (long long)c[1], (long long)extent[1]);
    else
        snprintf(cause, sizeof cause, "%s %lld, but the surface has %lld",
                 t->cube      ? "face"
                 : t->layered ? "layer"
                              : "slice",
                 (long long)c[2], (long long)extent[2]);
    finding_add(w, i->op, &f, lanes);
}

/* The texels of the lanes: their addresses, and of what; the lanes that are inside. */
static u32 places(struct warp *w, const struct insn *i, u64 v[][LANES], u32 mask, u64 at[LANES],
                  const struct texels *of[LANES])
{
    const struct lop *o = &w->code->low->op[i->op];
    enum texture_shape shape = (enum texture_shape)(o->aux & TEXTURE_SHAPE);
    bool layered = texture_layered(shape), by_texels = o->off & SURFACE_TEXELS;
    bool reports = !(o->off & SURFACE_SIGNED); /* the operation without a sign before it has told */
    u32 inside = 0, axes = texture_axes(shape);
    for (u32 todo = mask; todo;) {
        u32 same = lanes_alike(v[0], todo), first = (u32)__builtin_ctz(todo);
        bool gone = false;
        const struct texture *x = texture_of(w, i, same, v[0][first], &gone);
        todo &= ~same;
        if (!x || gone || !x->surface) {
            if (reports)
                texture_none(w, i, same, v[0][first], gone,
                             x ? "is a texture, not a surface" : "is not a surface object");
            continue;
        }
        const struct texels *t = &x->texels;
        u32 bytes = by_texels ? texel_bytes(t) : (u32)o->off & SURFACE_BYTES;
        if (!t->writable && reports) {
            struct finding f = { .kind = F_surface_flag };
            finding_add(w, i->op, &f, same);
        }
        s64 extent[3] = { (s64)(t->width * texel_bytes(t) / bytes), (s64)MAX_OF(t->height, (u64)1),
                          (s64)MAX_OF(t->depth, (u64)1) };
        EACH_SET (l, same) {
            s64 c[3] = { 0 }, byte = 0;
            bool in = true;
            for (u32 k = 0; k < axes; k++) c[k] = (s32)v[1 + layered + k][l];
            if (layered) c[2] = (u32)v[1][l];
            byte = by_texels ? c[0] * bytes : c[0];
            c[0] = byte >= 0 ? byte / bytes : -1;
            for (u32 k = 0; k < 3; k++) {
                if (o->off & SURFACE_CLAMP) c[k] = texture_folded(c[k], extent[k], TEXTURE_CLAMP);
                in &= c[k] >= 0 && c[k] < extent[k];
            }
            if (in) {
                at[l] = t->base + (u64)c[2] * t->slice + (u64)c[1] * t->pitch + (u64)c[0] * bytes;
                if (byte >= 0 && byte % bytes) at[l] += (u64)byte % bytes; /* the access says that it is misaligned */
                of[l] = t;
                inside |= 1u << l;
            } else if (!(o->off & SURFACE_ZERO) && reports)
                outside(w, i, t, c, extent, byte, 1u << l);
        }
    }
    return inside;
}

static void put_words(char *R, struct warp *w, const struct insn_opnd *d, u32 mask, const u64 v[LANES])
{
    const struct taint clean[LANES] = { { 0 } };
    EACH_SET (l, mask) memcpy(SLOT(R, d->slot) + 8 * l, &v[l], 8);
    if (w->code->watch & WATCH_INIT && w->planes) asked->planes_put(w->planes, d->slot, w->mask, clean);
}
static void put_truth(char *R, struct warp *w, const struct insn_opnd *p, u32 lanes)
{
    const struct taint clean[LANES] = { { 0 } };
    u32 *truth = (u32 *)(void *)SLOT(R, p->slot);
    *truth = (*truth & ~w->mask) | lanes;
    if (w->code->watch & WATCH_INIT && w->planes) asked->planes_put(w->planes, p->slot, w->mask, clean);
}
static void sources(const struct warp *w, const char *R, const struct insn *i, u64 v[][LANES])
{
    for (u32 k = 0; k < w->code->low->op[i->op].nsrc; k++) {
        const struct insn_opnd *s = insn_src(w->code, i, k);
        lane_values(w->code, R, s->slot, s->cls, k ? 4 : 8, v[k]);
    }
}

int run_surface(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct lop *o = &w->code->low->op[i->op];
    u32 mask = active_lanes(w, R, i);
    u64 v[5][LANES], at[LANES] = { 0 };
    const struct texels *of[LANES] = { 0 };
    sources(w, R, i, v);
    u32 inside = places(w, i, v, mask, at, of);
    for (u32 m = inside; m && o->off & (SURFACE_SIGNED | SURFACE_UNSIGNED); m &= m - 1) {
        bool is_signed = of[__builtin_ctz(m)]->kind == TEXEL_SIGNED;
        if (is_signed != (bool)(o->off & SURFACE_SIGNED)) inside &= ~(m & -m);
    }
    put_words(R, w, insn_dst(w->code, i, 0), mask, at);
    put_truth(R, w, insn_dst(w->code, i, 1), inside);
    return 0;
}

/* A channel of a texel made of a word, as sust.p does it: a number out of its range becomes the nearest. */
static u32 channel_of(const struct texels *t, u32 x)
{
    u32 bits = 8u * t->channel_bytes;
    f32 f;
    if (t->kind == TEXEL_FLOAT) {
        memcpy(&f, &x, 4);
        if (bits == 32) return x;
        return isfinite(f) && fabsf(f) >= 65504 ? 0x7bffu | (x >> 16 & 0x8000) : cut_f16(f); /* cut toward zero */
    }
    if (bits == 32) return x;
    if (t->kind == TEXEL_UNSIGNED || t->kind == TEXEL_UNORM) return x >> bits ? (1u << bits) - 1 : x;
    s32 most = (s32)(1u << (bits - 1)) - 1, s = (s32)x;
    return (u32)(s > most ? most : s < -most - 1 ? -most - 1 : s) & ((1u << bits) - 1);
}

/* sust.p: the address of the texel, its bytes, and of which lanes it has 1, 2, 4, 8 and 16 of them. */
int run_surface_format(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct lop *o = &w->code->low->op[i->op];
    u32 mask = active_lanes(w, R, i), parts = o->off & SURFACE_BYTES, first = o->nsrc - parts, sized[5] = { 0 };
    u64 v[5 + 4][LANES], at[LANES] = { 0 }, word[2][LANES] = { { 0 } };
    const struct texels *of[LANES] = { 0 };
    sources(w, R, i, v);
    u32 inside = places(w, i, v, mask, at, of);
    EACH_SET (l, inside) {
        const struct texels *t = of[l];
        for (u32 c = 0; c < t->channels; c++) {
            u32 bit = 8 * c * t->channel_bytes;
            word[bit / 64][l] |= (u64)channel_of(t, c < parts ? (u32)v[first + c][l] : 0) << bit % 64;
        }
        sized[__builtin_ctz(texel_bytes(t))] |= 1u << l;
    }
    put_words(R, w, insn_dst(w->code, i, 0), mask, at);
    for (u32 k = 0; k < 2; k++) put_words(R, w, insn_dst(w->code, i, 1 + k), mask, word[k]);
    for (u32 k = 0; k < 5; k++) put_truth(R, w, insn_dst(w->code, i, 3 + k), sized[k]);
    return 0;
}
