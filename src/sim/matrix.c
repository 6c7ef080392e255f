/* ldmatrix and stmatrix: 8x8 matrices of 16-bit elements between shared memory and the registers of a warp
 * (9.7.15.5.15).
 *
 * Lane 8*m + r holds the address of row r of matrix m; lane t receives, of each matrix, the two elements 2*(t mod 4)
 * and the next of row t/4, or of column t/4 with .trans. All lanes of the warp take part. */
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "sim/observe.h"
#include "sim/planes.h"

/* The taints of an 8x8 matrix, row by row in memory or lane by lane in registers: the same way as its elements. */
static void matrix_taints(struct access *a, u32 k, u32 lanes, bool trans, bool load)
{
    struct warp *w = a->warp;
    u32 slot = insn_data(w->code, a->insn, k)->slot;
    struct taint t[LANES] = { { 0 } };
    for (u32 l = 0; l < LANES; l++) {
        if (!load) t[l] = plane_taint(w->planes, slot, l);
        for (u32 half = 0; half < 2 && lanes >> l & 1; half++) {
            u32 r = l / 4, c = l % 4 * 2 + half, row = 8 * k + (trans ? c : r), at = 2 * (trans ? r : c),
                shift = 16 * half;
            if (!(a->ok >> row & 1)) continue;
            if (load) {
                struct taint x = init_read(a, row, at, 2);
                t[l].undef |= x.undef << shift;
                t[l].made |= x.made << shift;
                if (x.undef) t[l].origin = x.origin;
            } else
                init_write(a, row, at, 2,
                           (struct taint){ t[l].undef >> shift & 0xffff, t[l].made >> shift & 0xffff, t[l].origin });
        }
    }
    if (load) planes_put(w->planes, slot, lanes, t);
}

int run_matrix(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct lop *o = &w->code->low->op[i->op];
    u32 count = o->aux & 15, m = active_lanes(w, R, i);
    bool trans = o->aux & 16, load = o->flags & ISA_READS;
    struct access a = { .site = &w->code->low->site[i->site], .insn = i, .warp = w, .bytes = 16 };
    a.mask = m & (count == 4 ? ALL_LANES : (1u << 8 * count) - 1);
    if (!m) return 0;
    access_addresses(&a, R);
    if (a.mask) access_check(&a);
    bool init = w->code->watch & WATCH_INIT, clean = !init || (init_defined(&a) && load);
    if (init && !w->planes && load && !clean) {
        w->faults_reported = a.ok != a.mask;
        return EV_DEOPT;
    }
    if (init && w->planes) init_before(&a, R);
    for (u32 k = 0; k < count; k++) {
        u16 e[8][8] = { { 0 } };
        const struct insn_opnd *data = insn_data(w->code, i, k);
        for (u32 r = 0; r < 8; r++)
            if (load && a.ok >> (8 * k + r) & 1) memcpy(e[r], a.ptr[8 * k + r], 16);
        for (u32 t = 0; t < LANES; t++) {
            if (!(m >> t & 1)) continue;
            u32 r = t / 4, c = t % 4 * 2;
            u16 *x = trans ? &e[c][r] : &e[r][c], *y = trans ? &e[c + 1][r] : &e[r][c + 1];
            if (load) {
                u32 v = *x | (u32)*y << 16;
                memcpy(SLOT(R, data->slot) + 4 * t, &v, 4);
            } else {
                u32 v = (u32)lane_value(w, w->code, R, data->slot, data->cls, 4, t);
                *x = (u16)v;
                *y = (u16)(v >> 16);
            }
        }
        for (u32 r = 0; r < 8; r++)
            if (!load && a.ok >> (8 * k + r) & 1) memcpy(a.ptr[8 * k + r], e[r], 16);
        if (init && w->planes && (w->planes->dirty || !clean)) matrix_taints(&a, k, m, trans, load);
    }
    if (!load) w->changed = 1;
    if (!load && init && !w->planes) init_define(&a, a.ok);
    if (w->code->watch && a.mask) observe_access(w->cta->launch, &a);
    if (unlikely(observed(w->cta->launch))) /* no lane goes on before all have executed it */
        observe_sync(w->cta->launch,
                     (struct sync_event){ .kind = SYNC_WARP, .cta = w->cta, .warp = w, .mask = m, .op = i->op });
    return 0;
}
