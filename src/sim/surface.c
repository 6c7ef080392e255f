/* suld, sust and sured: where a texel of a surface lies. The access itself is an ordinary one (lower_texture.c). */
#include "sim/surface.h"
#include "code/texture.h"
#include "sim/finding_place.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "sim/planes.h"

/* Outside the surface, in words: the first coordinate that is. */
static void outside(struct warp *w, const struct insn *i, const struct texels *t, const s64 c[3], const s64 extent[3],
                    s64 byte, u32 lanes)
{
    char cause[200];
    struct finding f = { .kind = F_surface_bounds, .cause = cause };
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
        u32 same = lanes_alike(v[0], todo), first = (u32)__builtin_ctz(todo);
        bool gone = false;
        const struct texture *x = texture_at(v[0][first], &gone);
        todo &= ~same;
        if (!x || gone || !x->surface) {
            texture_none(w, i, same, v[0][first], gone, x ? "is a texture, not a surface" : "is no surface object");
            continue;
        }
        const struct texels *t = &x->texels;
        if (!t->writable) {
            struct finding f = { .kind = F_surface_flag };
            finding_add(w, i->op, &f, same);
        }
        s64 extent[3] = { (s64)(t->width * texel_bytes(t) / bytes), (s64)MAX_OF(t->height, (u64)1),
                          (s64)MAX_OF(t->depth, (u64)1) };
        for (u32 m = same; m; m &= m - 1) {
            u32 l = (u32)__builtin_ctz(m);
            s64 c[3] = { 0 }, byte = 0;
            bool in = true;
            for (u32 k = 0; k < axes; k++) c[k] = (s32)v[1 + layered + k][l];
            if (layered) c[2] = (u32)v[1][l];
            byte = c[0];
            c[0] = byte >= 0 ? byte / bytes : -1;
            for (u32 k = 0; k < 3; k++) {
                if (o->off & SURFACE_CLAMP) c[k] = texture_folded(c[k], extent[k], TEXTURE_CLAMP);
                in &= c[k] >= 0 && c[k] < extent[k];
            }
            if (in) {
                at[l] = t->base + (u64)c[2] * t->slice + (u64)c[1] * t->pitch + (u64)c[0] * bytes;
                if (byte >= 0 && byte % bytes) at[l] += (u64)byte % bytes; /* the access says that it is misaligned */
                inside |= 1u << l;
            } else if (!(o->off & SURFACE_ZERO))
                outside(w, i, t, c, extent, byte, 1u << l);
        }
    }
    const struct insn_opnd *d = insn_dst(w->code, i, 0), *p = insn_dst(w->code, i, 1);
    for (u32 m = mask; m; m &= m - 1) memcpy(SLOT(R, d->slot) + 8 * (u32)__builtin_ctz(m), &at[__builtin_ctz(m)], 8);
    u32 *truth = (u32 *)(void *)SLOT(R, p->slot);
    *truth = (*truth & ~w->mask) | inside;
    if (w->code->watch & WATCH_INIT && w->planes) {
        const struct taint clean[LANES] = { { 0 } };
        planes_put(w->planes, d->slot, w->mask, clean);
        planes_put(w->planes, p->slot, w->mask, clean);
    }
    return 0;
}
