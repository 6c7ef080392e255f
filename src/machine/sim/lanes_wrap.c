/* Wrappers around lane handlers, which know nothing of masks and mixed classes: spreading scalars and affine values
 * to 32 lanes, keeping the lanes that do not take part, and the guards of affine arithmetic. */
#include "lower/decode.h"
#include "sim/handlers.h"
#include "sim/lanes.h"

const struct lane_set *lanes_of(u32 form)
{
#define X(f) lanes_##f,
    static const struct lane_set *const tables[] = { LANE_FAMILIES(X, X) };
    const struct isa_form *f = &isa_forms[form];
    u32 at = form - isa_family_first[f->family];
#if defined __x86_64__
#define X_V3(f) lanes_##f##_v3,
    static const struct lane_set *const tables_v3[] = { LANE_FAMILIES(X_V3, X) };
#undef X_V3
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &tables_v3[f->family][at];
#endif
#undef X
    return &tables[f->family][at];
}

u64 lane_value(const struct warp *w, const struct code *c, const char *R, u32 slot, u32 cls, u32 width, u32 lane)
{
    const char *p = SLOT(R, slot);
    u64 v = 0;
    u32 w4;
    (void)w;
    if (cls == CLS_V && width == 8) {
        memcpy(&v, p + 8 * lane, 8);
        return v;
    }
    if (cls == CLS_V && width == 4) {
        memcpy(&w4, p + 4 * lane, 4);
        return w4;
    }
    if (cls == CLS_V) {
        memcpy(&v, p + lane * width, width);
        return v;
    }
    memcpy(&v, p + (cls == CLS_A ? 8 * (lane / c->group) : 0), 8);
    if (cls == CLS_A) v += (u64)((s64)c->stride[slot] * (lane % c->group));
    return width < 8 ? v & ((1ull << 8 * width) - 1) : v;
}

void lanes_put_groups(const struct code *c, char *R, u32 slot, u32 mask, u64 v)
{
    u32 ones = c->group == LANES ? ALL_LANES : (1u << c->group) - 1;
    for (u32 g = 0; g < c->groups; g++)
        if (mask >> g * c->group & ones) memcpy(SLOT(R, slot) + 8 * g, &v, 8);
}

/* Spreads a scalar or affine operand to 32 lanes of the given width. Sums, not products: those of 64 bits are slow. */
#define SPREAD(T)                                                 \
    do {                                                          \
        T *o = (T *)(void *)out + k * g, v = (T)base;             \
        if (!stride)                                              \
            for (u32 j = 0; j < g; j++) o[j] = v;                 \
        else                                                      \
            for (u32 j = 0; j < g; j++, v += (T)stride) o[j] = v; \
    } while (0)
static void spread(char *restrict out, const struct code *c, const char *R, u32 slot, u32 cls, u32 width)
{
    u32 g = cls == CLS_A ? c->group : LANES;
    s64 stride = cls == CLS_A ? c->stride[slot] : 0;
    for (u32 k = 0; k * g < LANES; k++) {
        u64 base;
        memcpy(&base, SLOT(R, slot) + 8 * k, 8);
        switch (width) {
        case 2: SPREAD(u16); break;
        case 4: SPREAD(u32); break;
        default: SPREAD(u64);
        }
    }
}
#undef SPREAD

void lane_values(const struct code *c, const char *R, u32 slot, u32 cls, u32 width, u64 out[LANES])
{
    const char *p = SLOT(R, slot);
    if (cls == CLS_V) {
        switch (width) {
        case 2:
            for (u32 l = 0; l < LANES; l++) out[l] = ((const u16 *)(const void *)p)[l];
            return;
        case 4:
            for (u32 l = 0; l < LANES; l++) out[l] = ((const u32 *)(const void *)p)[l];
            return;
        default: memcpy(out, p, 8 * LANES); return;
        }
    }
    spread((char *)out, c, R, slot, cls, 8);
    if (width < 8)
        for (u32 l = 0; l < LANES; l++) out[l] &= (1ull << 8 * width) - 1;
}

int lanes_mixed(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct isa_form *f = &isa_forms[i->form];
    struct insn t = *i;
    u16 *s[4] = { &t.a, &t.b, &t.c, &t.e };
    for (u32 k = 0; k < f->nsrc; k++) {
        enum ptx_type ty = isa_operand_type(f, k + 1);
        u32 cls = k == 3 ? CLS_E(i) : CLS_AT(i, k + 1);
        if (ty == T_PRED || cls == CLS_V) continue;
        u32 at = scratch_slot(w->code, k + 1);
        spread(SLOT(R, at), w->code, R, *s[k], cls, type_size[ty] < 2 ? 2 : type_size[ty]);
        *s[k] = (u16)at;
    }
    return lanes_of(i->form)->v[0](R, &t, w);
}

/* Words of a register get those of another where a lane takes part. Without branches, which nobody could predict, and
 * in vectors: a lane's bit is looked for in each of its words. */
static void blend(char *restrict to, const char *restrict from, u32 width, u32 m)
{
#define FOUR(b) 1u << (b), 2u << (b), 4u << (b), 8u << (b)
#define PAIRS(b) 1u << (b), 1u << (b), 2u << (b), 2u << (b)
    static const u32 of_four[LANES] = { FOUR(0), FOUR(4), FOUR(8), FOUR(12), FOUR(16), FOUR(20), FOUR(24), FOUR(28) };
    static const u32 of_eight[2 * LANES] = { PAIRS(0),  PAIRS(2),  PAIRS(4),  PAIRS(6),  PAIRS(8),  PAIRS(10),
                                             PAIRS(12), PAIRS(14), PAIRS(16), PAIRS(18), PAIRS(20), PAIRS(22),
                                             PAIRS(24), PAIRS(26), PAIRS(28), PAIRS(30) };
    static const u16 of_two[LANES] = { FOUR(0), FOUR(4), FOUR(8), FOUR(12), FOUR(0), FOUR(4), FOUR(8), FOUR(12) };
#undef PAIRS
#undef FOUR
#define BLEND(T, bit, half, begin, end)                                \
    do {                                                               \
        T *r = (T *)(void *)to, mine = (T)(half);                      \
        const T *n = (const T *)(const void *)from;                    \
        for (u32 l = (begin); l < (end); l++) {                        \
            T take = (mine & (bit)[l]) == (bit)[l] ? (T) ~(T)0 : (T)0; \
            r[l] = (T)((n[l] & take) | (r[l] & (T)~take));             \
        }                                                              \
    } while (0)
    switch (width) {
    case 8: BLEND(u32, of_eight, m, 0, 2 * LANES); break;
    case 4: BLEND(u32, of_four, m, 0, LANES); break;
    default: BLEND(u16, of_two, m, 0, LANES / 2); BLEND(u16, of_two, m >> 16, LANES / 2, LANES);
    }
#undef BLEND
}

int lanes_blend(char *restrict R, const struct insn *i, struct warp *w)
{
    handler *pure = handler_under(w, i, LAYER_BLEND);
    const struct isa_form *f = &isa_forms[i->form];
    u32 m = active_lanes(w, R, i);
    if (!m) return 0;
    if (!(w->live & ~m)) return pure(R, i, w);
    struct insn t = *i;
    t.d = (u16)scratch_slot(w->code, 0);
    if (f->kind != K_LANE) {
        pure(R, &t, w);
        u32 *r = (u32 *)(void *)SLOT(R, i->d), n = *(const u32 *)(const void *)SLOT(R, t.d);
        *r = (*r & ~m) | (n & m);
        return 0;
    }
    if (CLS_AT(i, 0) != CLS_V) return pure(R, i, w);
    pure(R, &t, w);
    blend(SLOT(R, i->d), SLOT(R, t.d), type_size[f->dtype], m);
    return 0;
}

/* lanes_cmp_affine for one group of 32 with the scalar on the right, one function each. */
#define CMP_AFFINE(id, T, rel)                                                        \
    static int cmp_##id##_##T(char *restrict R, const struct insn *i, struct warp *w) \
    {                                                                                 \
        T first, s;                                                                   \
        memcpy(&first, SLOT(R, i->a), 4);                                             \
        memcpy(&s, SLOT(R, i->b), 4);                                                 \
        s64 last = (s64)first + (s64)w->code->stride[i->a] * (LANES - 1);             \
        bool x = first rel s, y = (T)last rel s;                                      \
        if (unlikely(last != (T)last || x != y)) return lanes_cmp_affine(R, i, w);    \
        *(u32 *)(void *)SLOT(R, i->d) = 0u - (u32)x;                                  \
        return 0;                                                                     \
    }
#define CMP_AFFINES(T) CMP_AFFINE(lt, T, <) CMP_AFFINE(le, T, <=) CMP_AFFINE(gt, T, >) CMP_AFFINE(ge, T, >=)
CMP_AFFINES(s32)
CMP_AFFINES(u32)

handler *lanes_cmp_affine_for(const struct isa_form *f, u32 group, bool scalar_right)
{
    static handler *const set[2][4] = { { cmp_lt_u32, cmp_le_u32, cmp_gt_u32, cmp_ge_u32 },
                                        { cmp_lt_s32, cmp_le_s32, cmp_gt_s32, cmp_ge_s32 } };
    if (group != LANES || !scalar_right || f->relation < REL_lt) return lanes_cmp_affine;
    return set[f->type == T_S32][f->relation == REL_lt ? 0 : f->relation == REL_le ? 1 : f->relation == REL_gt ? 2 : 3];
}

/* An affine value against a scalar: order comparisons are monotone along a group, so its two ends decide, but for the
 * one group that the boundary crosses. */
int lanes_cmp_affine(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct isa_form *f = &isa_forms[i->form];
    const struct code *c = w->code;
    bool left = CLS_AT(i, 1) == CLS_S; /* the scalar stands on the left */
    /* everything in terms of "less": a > b is b < a, a >= b is not a < b */
    bool flip = (f->relation == REL_gt || f->relation == REL_le) != left,
         negate = f->relation == REL_ge || f->relation == REL_le;
    bool sg = f->type == T_S32;
    u32 slot = left ? i->b : i->a, bits = 0, all = c->group == LANES ? ALL_LANES : (1u << c->group) - 1;
    s64 s, stride = c->stride[slot], span = stride * (s64)(c->group - 1), top = sg ? INT32_MAX : UINT32_MAX,
           low = sg ? INT32_MIN : 0;
    u32 raw;
    memcpy(&raw, SLOT(R, left ? i->a : i->b), 4);
    s = sg ? (s64)(s32)raw : (s64)raw;
    if (f->relation == REL_eq || f->relation == REL_ne) { /* at most one lane of a group equals the scalar */
        for (u32 g = 0; g < c->groups; g++) {
            memcpy(&raw, SLOT(R, slot) + 8 * g, 4);
            u32 diff = (u32)s - raw;
            if (stride == 0) {
                if (!diff) bits |= all << g * c->group;
                continue;
            }
            if (stride == 1)
                bits |= diff < c->group ? 1u << (g * c->group + diff) : 0;
            else
                for (u32 j = 0; j < c->group; j++) bits |= (u32)(diff == (u32)stride * j) << (g * c->group + j);
        }
        *(u32 *)(void *)SLOT(R, i->d) = f->relation == REL_ne ? ~bits : bits;
        return 0;
    }
#define LESS(x) (flip ? s < (x) : (x) < s)
    for (u32 g = 0; g < c->groups; g++) {
        memcpy(&raw, SLOT(R, slot) + 8 * g, 4);
        s64 first = sg ? (s64)(s32)raw : (s64)raw, last = first + span;
        if (likely(last <= top && last >= low && LESS(first) == LESS(last))) {
            bits |= LESS(first) ? all << g * c->group : 0;
            continue;
        }
        if (stride == 1 && last <= top) { /* the boundary lies inside the group: the lanes below or above it */
            u32 below = (1u << (flip ? s + 1 - first : s - first)) - 1;
            bits |= (flip ? all & ~below : below) << g * c->group;
            continue;
        }
        for (u32 j = 0; j < c->group; j++) {
            u32 v = raw + (u32)stride * j;
            s64 x = sg ? (s64)(s32)v : (s64)v;
            bits |= (u32)LESS(x) << (g * c->group + j);
        }
    }
#undef LESS
    *(u32 *)(void *)SLOT(R, i->d) = negate ? ~bits : bits;
    return 0;
}

/* Deoptimises when lanes of a group would overflow, or lie on both sides of a boundary that the operation cuts at. */
int lanes_guard_affine(char *restrict R, const struct insn *i, struct warp *w)
{
    s64 span = (s64)w->code->stride[i->a] * i->c;
    for (u32 g = 0; g < i->n; g++) {
        u64 base;
        memcpy(&base, SLOT(R, i->a) + 8 * g, 8);
        s64 s = (s64)(s32)base + span, u = (s64)(u32)base + span;
        bool ok;
        switch (i->b) {
        case GUARD_SIGNED: ok = s == (s32)s; break;
        case GUARD_UNSIGNED: ok = u == (s64)(u32)u; break;
        case GUARD_AND: ok = (s64)(base & (u64)i->imm) + span <= i->imm; break;
        case GUARD_SHR_SIGNED: ok = s == (s32)s && (s32)s >> i->imm == (s32)base >> i->imm; break;
        case GUARD_SHR_UNSIGNED: ok = u == (s64)(u32)u && (u32)u >> i->imm == (u32)base >> i->imm; break;
        case GUARD_SHR_SIGNED64:
            ok = (s64)(base + (u64)span) >= (s64)base && (s64)(base + (u64)span) >> i->imm == (s64)base >> i->imm;
            break;
        default: ok = base + (u64)span >= base && (base + (u64)span) >> i->imm == base >> i->imm;
        }
        if (unlikely(!ok)) return EV_DEOPT;
    }
    return 0;
}
