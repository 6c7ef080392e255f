/* ldmatrix and stmatrix: small matrices between shared memory and the registers of a warp (9.7.14.5.15).
 *
 * A row is 16 bytes, and a lane holds its address: lane 8*m + r that of row r of matrix m of eight rows. Lane t
 * receives, of each matrix of 16-bit elements, the two elements 2*(t mod 4) and the next of row t/4, or of column t/4
 * with .trans. Of 8-bit elements a register has four: m8n16 four neighbours of row t/4; m16n16.trans, whose 16 rows
 * lanes 16*m + r address, and m16n8.trans two of column t/4 and two of column t/4 + 8. Rows of 16 elements of 6 or 4
 * bits have padding after them, and each element becomes the low bits of a byte. All lanes of the warp take part. */
#include "sim/handlers.h"
#include "sim/asked.h"
#include "sim/lanes.h"
#include "sim/observe.h"
#include "sim/planes.h"

struct stored_element {
    u32 row;  /* whose address lane `row` has */
    u32 bit;  /* where it begins in the row */
    u32 bits; /* of it in memory */
    u32 to;   /* its first bit in the register */
};

/* Element e of register k of lane t. */
static struct stored_element element_of(u32 mode, u32 k, u32 t, u32 e)
{
    bool trans = mode & MATRIX_TRANS;
    u32 r = t / 4, q = t % 4, bits = mode & MATRIX_B4 ? 4 : mode & MATRIX_B6 ? 6 : 8;
    if (!(mode & MATRIX_BYTES)) {
        u32 c = 2 * q + e;
        return (struct stored_element){ 8 * k + (trans ? c : r), 16 * (trans ? r : c), 16, 16 * e };
    }
    if (!trans) return (struct stored_element){ 8 * k + r, bits * (4 * q + e), bits, 8 * e };
    u32 row = mode & MATRIX_TALL ? k / 2 * 16 + 4 * q + k % 2 * 2 + e % 2 : 8 * k + 2 * q + e % 2;
    return (struct stored_element){ row, bits * (r + e / 2 * 8), bits, 8 * e };
}

/* The taints of a register, of memory or of lanes: the same way as its elements. */
static void matrix_taints(struct access *a, u32 k, u32 lanes, u32 mode, bool load)
{
    struct warp *w = a->warp;
    u32 slot = insn_data(w->code, a->insn, k)->slot, each = mode & MATRIX_BYTES ? 4 : 2;
    struct taint t[LANES] = { { 0 } };
    for (u32 l = 0; l < LANES; l++) {
        if (!load) t[l] = plane_taint(w->planes, slot, l);
        for (u32 n = 0; n < each && lanes >> l & 1; n++) {
            struct stored_element e = element_of(mode, k, l, n);
            u32 first = e.bit / 8, bytes = (e.bit + e.bits + 7) / 8 - first, in = e.bit % 8;
            if (!(a->ok >> e.row & 1)) continue;
            if (load) {
                struct taint x = asked->init_read(a, e.row, first, bytes);
                t[l].undef |= (x.undef >> in & low_bits(e.bits)) << e.to;
                t[l].made |= (x.made >> in & low_bits(e.bits)) << e.to;
                if (x.undef) t[l].origin = x.origin;
            } else
                asked->init_write(a, e.row, first, bytes,
                                  (struct taint){ t[l].undef >> e.to & low_bits(e.bits),
                                                  t[l].made >> e.to & low_bits(e.bits), t[l].origin });
        }
    }
    if (load) asked->planes_put(w->planes, slot, lanes, t);
}

/* 8-bit elements of a register, and smaller ones that become such. */
static void move_bytes(const struct access *a, char *R, u32 k, u32 lanes, u32 mode, bool load)
{
    struct warp *w = a->warp;
    const struct insn_opnd *data = insn_data(w->code, a->insn, k);
    for (u32 t = 0; t < LANES; t++) {
        if (!(lanes >> t & 1)) continue;
        u32 v = load ? 0 : (u32)lane_value(w, w->code, R, data->slot, data->cls, 4, t);
        for (u32 n = 0; n < 4; n++) {
            struct stored_element e = element_of(mode, k, t, n);
            if (!(a->ok >> e.row & 1)) continue;
            char *at = a->ptr[e.row] + e.bit / 8;
            if (load) {
                u16 x = 0;
                memcpy(&x, at, (e.bit % 8 + e.bits + 7) / 8);
                v |= (x >> e.bit % 8 & (u32)low_bits(e.bits)) << e.to;
            } else
                *at = (char)(v >> e.to);
        }
        if (load) memcpy(SLOT(R, data->slot) + 4 * t, &v, 4);
    }
}

/* A matrix of 16-bit elements. */
static void move_halves(const struct access *a, char *R, u32 k, u32 lanes, u32 mode, bool load)
{
    struct warp *w = a->warp;
    u16 e[8][8] = { { 0 } };
    const struct insn_opnd *data = insn_data(w->code, a->insn, k);
    bool trans = mode & MATRIX_TRANS;
    for (u32 r = 0; r < 8; r++)
        if (load && a->ok >> (8 * k + r) & 1) memcpy(e[r], a->ptr[8 * k + r], 16);
    for (u32 t = 0; t < LANES; t++) {
        if (!(lanes >> t & 1)) continue;
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
        if (!load && a->ok >> (8 * k + r) & 1) memcpy(a->ptr[8 * k + r], e[r], 16);
}

int run_matrix(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct lop *o = &w->code->low->op[i->op];
    u32 count = o->aux & MATRIX_COUNT, m = active_lanes(w, R, i);
    bool load = o->flags & ISA_READS;
    struct access a = { .site = &w->code->low->site[i->site], .insn = i, .warp = w, .bytes = 16 };
    a.mask = m & (count == 4 ? ALL_LANES : (1u << 8 * count) - 1);
    if (!m) return 0;
    access_addresses(&a, R);
    if (a.mask) access_check(&a);
    bool init = w->code->watch & WATCH_INIT, clean = !init || (asked->init_defined(&a) && load);
    if (init && !w->planes && load && !clean) {
        w->faults_reported = a.ok != a.mask;
        return EV_DEOPT;
    }
    if (init && w->planes) asked->init_before(&a, R);
    for (u32 k = 0; k < count; k++) {
        (o->aux & MATRIX_BYTES ? move_bytes : move_halves)(&a, R, k, m, o->aux, load);
        if (init && w->planes && (w->planes->dirty || !clean)) matrix_taints(&a, k, m, o->aux, load);
    }
    if (!load) w->changed = 1;
    if (!load && init && !w->planes) asked->init_define(&a, a.ok);
    if (w->code->watch && a.mask) observe_access(w->cta->launch, &a);
    if (unlikely(observed(w->cta->launch))) /* no lane goes on before all have executed it */
        observe_sync(w->cta->launch,
                     &(struct sync_event){ .kind = SYNC_WARP, .cta = w->cta, .warp = w, .mask = m, .op = i->op });
    return 0;
}
