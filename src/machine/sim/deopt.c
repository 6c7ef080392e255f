/* From fast to plain code: every live register of the kernel's frame is copied, lane by lane, to where the plain code
 * keeps it. For each split these are the registers that are live at its block; for a split inside a call, at the block
 * where that call returns. */
#include "sim/exec.h"
#include "sim/asked.h"
#include "flow/flow.h"
#include "sim/lanes.h"
#include "sim/planes.h"
#include "sim/special_registers.h"

static void copy_register(const struct warp *w, const struct code *from, const char *F, const struct code *to, char *T,
                          u32 r, u32 mask)
{
    const struct where *x = &from->reg[r], *y = &to->reg[r];
    if (!y->slot || !x->slot) return;
    if (x->width == 1) {
        u32 *d = (u32 *)(void *)SLOT(T, y->slot), v = *(const u32 *)(const void *)SLOT(F, x->slot);
        *d = (*d & ~mask) | (v & mask);
        return;
    }
    for (u32 l = 0; l < LANES; l++) {
        if (!(mask >> l & 1)) continue;
        u64 v = lane_value(w, from, F, x->slot, x->cls, x->width, l);
        memcpy(SLOT(T, y->slot) + l * x->width, &v, x->width);
    }
}

static void copy_set(const struct warp *w, const struct code *from, const char *F, const struct code *to, char *T,
                     const u64 *live, u32 mask)
{
    for (u32 k = 0; k < from->low->words; k++)
        EACH_SET64 (bit, live[k]) copy_register(w, from, F, to, T, k * 64 + bit, mask);
}

void exec_to_plain(struct warp *w, u32 op)
{
    struct frame *base = w->base;
    struct code *from = base->code, *to = w->cta->launch->plain;
    if (from->plain) return;
    char *F = base->R, *T = w->plain_R;
    if (!T) {
        T = w->plain_R = base_aligned(to->bytes);
        if (!T) base_exhausted(to->bytes, "registers");
    }
    head_fill(w, to, T, 0);
    struct arena tmp = { 0 };
    u64 *live = NEW_ARRAY(&tmp, u64, from->low->words + 1);
    for (u32 k = 0; k < w->nsplit; k++) {
        struct split *s = &w->split[k];
        struct frame *f = s->fr;
        u32 block = s->block;
        while (f != base) {
            block = f->ret_block;
            f = f->up;
        }
        if (s == w->cur && op != NONE && s->fr == base) {
            live_before(from->low, block, op, live);
            copy_set(w, from, F, to, T, live, s->mask);
        } else if (block != NONE)
            copy_set(w, from, F, to, T, from->low->block[block].live_in, s->mask);
    }
    arena_free(&tmp);
    base->code = to;
    base->R = T;
    if (to->watch & WATCH_INIT) { /* fast code knew only defined values */
        if (!w->base_planes) w->base_planes = asked->planes_new(to);
        asked->planes_reset(base->planes = w->base_planes);
    }
    if (w->code == from) {
        w->code = to;
        w->R = T;
        w->planes = base->planes;
    }
    __atomic_fetch_add(&w->cta->launch->deopts, 1, __ATOMIC_RELAXED);
}
