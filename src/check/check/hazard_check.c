/* Looks at the second operand of divisions and shifts before they run (flow/hazards.c says which). */
#include "sim/access.h"
#include "sim/finding_place.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include <inttypes.h>

/* any_zero_uN: whether an element is zero, without branches, for nearly always none is. */
#define ANY_ZERO_OF(T)                                         \
    static bool any_zero_##T(const void *slot)                 \
    {                                                          \
        const T *p = slot;                                     \
        T any = 0;                                             \
        for (u32 l = 0; l < LANES; l++) any |= (T)(p[l] == 0); \
        return any != 0;                                       \
    }
ANY_ZERO_OF(u16)
ANY_ZERO_OF(u32)
ANY_ZERO_OF(u64)

/* Whether some lane divides by zero, or shifts by more than the width. */
static bool some(const char *restrict R, const struct insn *i, bool shift, u32 bits)
{
    const u32 *amount = (const u32 *)(const void *)SLOT(R, i->b);
    u32 past = 0;
    if (CLS_AT(i, 2) != CLS_V) return true;
    for (u32 l = 0; shift && l < LANES; l++) past |= (u32)(amount[l] >= bits);
    if (shift) return past;
    return bits == 64 ? any_zero_u64(SLOT(R, i->b)) : bits == 32 ? any_zero_u32(SLOT(R, i->b)) : any_zero_u16(amount);
}

static u32 which(const u64 v[LANES], bool shift, u32 bits)
{
    u32 m = 0;
    for (u32 l = 0; l < LANES; l++) m |= (u32)(shift ? (u32)v[l] >= bits : !v[l]) << l;
    return m;
}

static void report_hazard(struct warp *w, const struct insn *i, bool shift, u32 bits, u32 lanes, const u64 v[LANES])
{
    const struct lop *o = &w->code->low->op[i->op];
    struct arena mem = { 0 };
    struct finding f = { .kind = shift ? F_shift_range : F_division_zero };
    struct str opcode = o->src ? o->src->opcode : STR("?");
    u32 first = (u32)__builtin_ctz(lanes), width = bits / 8;
    u64 a = lane_value(w, w->code, w->R, i->a, CLS_AT(i, 1), width, first);
    s64 sa = width < 8 ? (s64)((u64)a << (64 - bits)) >> (64 - bits) : (s64)a;
    bool sg = type_is_signed((enum ptx_type)isa_forms[o->form].type);
    const char *left = sg ? arena_printf(&mem, "%" PRId64, sa) : arena_printf(&mem, "%" PRIu64, a);
    if (shift)
        f.cause = arena_printf(&mem, "%.*s of %s by %u: the type has %u bits", (int)opcode.n, opcode.p, left,
                               (u32)v[first], bits);
    else
        f.cause = arena_printf(&mem, "%.*s of %s by 0: the divisor is zero in these threads", (int)opcode.n, opcode.p,
                               left);
    finding_add(w, i->op, &f, lanes);
    arena_free(&mem);
}

/* ---- f16 ---- */

enum { HALF_EXPONENT = 0x7c00, HALF_SHIFT = 10 };

/* The largest exponent in any half of any lane of an operand. */
static u32 exponent_most(const struct warp *w, const char *R, const struct insn *i, u32 n, u32 slot, u32 width)
{
    u32 most = 0;
    if (CLS_AT(i, n) == CLS_V && width == 2) {
        const u16 *p = (const u16 *)(const void *)SLOT(R, slot);
        u16 m = 0;
        for (u32 l = 0; l < LANES; l++) {
            u16 e = p[l] & HALF_EXPONENT;
            m = e > m ? e : m;
        }
        most = m;
    } else if (CLS_AT(i, n) == CLS_V) {
        const u32 *p = (const u32 *)(const void *)SLOT(R, slot);
        for (u32 l = 0; l < LANES; l++) {
            u32 low = p[l] & HALF_EXPONENT, high = p[l] >> 16 & HALF_EXPONENT;
            low = low > high ? low : high;
            most = low > most ? low : most;
        }
    } else {
        u64 v[LANES];
        lane_values(w->code, R, slot, CLS_AT(i, n), width, v);
        for (u32 l = 0; l < LANES; l++) most = MAX_OF(most, (u32)(v[l] & HALF_EXPONENT));
        for (u32 l = 0; l < LANES && width == 4; l++) most = MAX_OF(most, (u32)(v[l] >> 16 & HALF_EXPONENT));
    }
    return most >> HALF_SHIFT;
}

/* Infinities and NaN are left alone: they were there before. */
static bool half_is_finite(u64 bits) { return (bits & HALF_EXPONENT) != HALF_EXPONENT; }

static double half_value(u64 bits)
{
    u32 e = (u32)(bits & HALF_EXPONENT) >> HALF_SHIFT;
    double m = (double)((bits & 0x3ff) + (e ? 0x400u : 0u)), x = m;
    e = MAX_OF(e, 1u);
    x = e >= 25 ? m * (double)(1u << (e - 25)) : m / (double)(1u << (25 - e));
    return bits & 0x8000 ? -x : x;
}

static double half_result(const struct lop *o, const double x[3])
{
    switch (o->shape) {
    case SHAPE_FADD: return x[0] + x[1];
    case SHAPE_FSUB: return x[0] - x[1];
    case SHAPE_FMUL: return x[0] * x[1];
    default: return x[0] * x[1] + x[2];
    }
}

static bool half_overflows(double x) { return x >= 65520 || x <= -65520; }

static void report_half(struct warp *w, const struct insn *i, u32 lanes, const double x[3])
{
    const struct lop *o = &w->code->low->op[i->op];
    struct arena mem = { 0 };
    struct finding f = { .kind = F_half_overflow };
    struct str opcode = o->src ? o->src->opcode : STR("?");
    const char *sum = o->shape == SHAPE_FMUL   ? arena_printf(&mem, "%g * %g", x[0], x[1])
                      : o->shape == SHAPE_FADD ? arena_printf(&mem, "%g + %g", x[0], x[1])
                      : o->shape == SHAPE_FSUB ? arena_printf(&mem, "%g - %g", x[0], x[1])
                                               : arena_printf(&mem, "%g * %g + %g", x[0], x[1], x[2]);
    f.cause = arena_printf(&mem, "%.*s: %s is %g, the largest f16 is 65504, and the result is infinite", (int)opcode.n,
                           opcode.p, sum, half_result(o, x));
    finding_add(w, i->op, &f, lanes);
    arena_free(&mem);
}

static void half_check(const char *restrict R, const struct insn *i, struct warp *w, u32 width)
{
    const struct lop *o = &w->code->low->op[i->op];
    const u32 slot[3] = { i->a, i->b, i->c }, n = o->shape == SHAPE_FMA ? 3 : 2;
    u32 most[3] = { 0 }, bad = 0;
    u64 v[3][LANES];
    double shown[3] = { 0 };
    for (u32 k = 0; k < n; k++) most[k] = exponent_most(w, R, i, k + 1, slot[k], width);
    bool sum = o->shape == SHAPE_FADD || o->shape == SHAPE_FSUB;
    /* half of the largest number at least in one summand; exponents are 15 too large */
    if (likely(sum ? most[0] < 30 && most[1] < 30 : most[0] + most[1] < 44 && most[2] < 30)) return;
    for (u32 k = 0; k < n; k++) lane_values(w->code, R, slot[k], CLS_AT(i, k + 1), width, v[k]);
    EACH_SET (l, active_lanes(w, R, i)) {
        for (u32 at = 0; at < 8 * width; at += 16) {
            double x[3] = { 0 };
            bool finite = true;
            for (u32 k = 0; k < n; k++) {
                finite &= half_is_finite(v[k][l] >> at);
                x[k] = half_value(v[k][l] >> at & 0xffff);
            }
            if (!finite || !half_overflows(half_result(o, x))) continue;
            if (!bad) memcpy(shown, x, sizeof shown);
            bad |= 1u << l;
        }
    }
    if (bad) report_half(w, i, bad, shown);
}

/* ---- wmma ---- */

/* Rows of a matrix in shared memory that do not begin at multiples of 16 bytes: ptxas loads operands of 16 bits with
 * ldmatrix (LDSM), which wants that of each (an H200: error 716). Lane l has row l / 4, and the two elements of it from
 * 2 * (l % 4) on; of columns element l / 4 of the columns from 2 * (l % 4) on. */
static int matrix_rows_check(char *restrict R, const struct insn *i, struct warp *w)
{
    enum { ROW = 16, ELEMENT = 2 };
    struct access a = { .site = &w->code->low->site[i->site], .insn = i, .warp = w, .mask = active_lanes(w, R, i) };
    bool rows = a.site->flags & SITE_MATRIX_ROWS;
    u32 bad = 0, first = 0;
    char cause[240];
    if (!(w->cta->launch->in->checks & CHECK_ALIGN)) return 0;
    access_addresses(&a, R);
    EACH_SET (l, a.mask) {
        u64 begin = a.addr[l] - (rows ? l % 4 * 2 * ELEMENT : l / 4 * ELEMENT);
        if (begin % ROW == 0) continue;
        if (!bad) first = l;
        bad |= 1u << l;
    }
    if (!bad) return 0;
    struct finding f = { .kind = F_misaligned, .access = "read", .space = "shared", .width = ROW, .align = ROW };
    memcpy(f.addr, a.addr, sizeof f.addr);
    snprintf(cause, sizeof cause,
             "%s %u of the matrix begins at shared memory+0x%llx, which is no multiple of 16: ptxas loads it with "
             "ldmatrix, which needs that",
             rows ? "row" : "column", rows ? first / 4 : first % 4 * 2,
             (unsigned long long)(a.addr[first] - (rows ? first % 4 * 2 * ELEMENT : first / 4 * ELEMENT)));
    f.cause = cause;
    f.fix =
        "Let the matrix begin at a multiple of 32 bytes, and its leading dimension be a multiple of 8 elements of 16 "
        "bits: pad rows by 8, not by 1 or 2.";
    finding_add(w, i->op, &f, bad);
    return 0;
}

int hazard_check(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct lop *o = &w->code->low->op[i->op];
    if (o->flags & ISA_ACCESS) return matrix_rows_check(R, i, w);
    bool shift = o->shape == SHAPE_SHL || o->shape == SHAPE_SHR;
    u32 bits = 8 * type_size[isa_forms[o->form].type], width = shift ? 4 : bits / 8;
    u64 v[LANES];
    if (!(w->cta->launch->in->checks & CHECK_VALUES)) return 0;
    if (o->shape >= SHAPE_FADD && o->shape <= SHAPE_FMA) {
        if (!(i->f & MOD_SAT)) half_check(R, i, w, bits / 8);
        return 0;
    }
    if (likely(!some(R, i, shift, bits))) return 0;
    lane_values(w->code, R, i->b, CLS_AT(i, 2), width, v);
    u32 bad = which(v, shift, bits);
    if (!bad) return 0;
    bad &= active_lanes(w, R, i);
    if (bad) report_hazard(w, i, shift, bits, bad, v);
    return 0;
}
