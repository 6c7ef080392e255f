/* What lane operations do to undefined bits: the init column of isa.def (rules.md I1).
 *
 * Bits that only move are moved by the operation itself: it is run once more, on the masks of undefined bits in place
 * of the values. That covers moves, shifts, fields, permutations, conversions between integers and selections, with
 * all their corner cases. Logic goes by the bit, because a defined 0 or 1 can decide alone; all other arithmetic
 * makes a computed value of whatever it gets. */
#include "sim/asked.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "sim/planes.h"

struct step { /* one operation under way */
    struct warp *w;
    char *R;
    const struct insn *i;
    const struct isa_form *f;
    u32 dirty;            /* lanes that have an undefined bit in some operand */
    u32 slot[4], bits[4]; /* of the sources a b c e: where they are, how many bits of them count */
    u32 out_bits;
    struct taint out[LANES];
};

static struct taint source(const struct step *s, u32 k, u32 lane)
{
    struct taint t = plane_taint(s->w->planes, s->slot[k], lane);
    t.undef &= low_bits(s->bits[k]);
    t.made &= low_bits(s->bits[k]);
    return t;
}

static void values(const struct step *s, u32 k, u64 out[LANES])
{
    u32 cls = k == 3 ? CLS_E(s->i) : CLS_AT(s->i, k + 1), width = s->bits[k] / 8;
    lane_values(s->w->code, s->R, s->slot[k], cls, width < 2 ? 2 : width, out);
}

#define EACH_DIRTY(l) for (u32 m_ = s->dirty, l; m_ && (l = (u32)__builtin_ctz(m_), 1); m_ &= m_ - 1)

static void all(struct step *s, u32 from)
{
    EACH_DIRTY(l)
    for (u32 k = from; k < s->f->nsrc; k++) {
        struct taint t = source(s, k, l);
        if (t.undef) {
            s->out[l] = taint_all(s->out_bits, t.origin & ~ORIGIN_CHOSEN);
            break;
        }
    }
}

/* ---- bits that move ---- */

static void put_mask(char *p, u32 width, u32 lane, u64 v)
{
    switch (width) {
    case 8: ((u64 *)(void *)p)[lane] = v; break;
    case 4: ((u32 *)(void *)p)[lane] = (u32)v; break;
    default: ((u16 *)(void *)p)[lane] = (u16)v;
    }
}

static u64 get_mask(const char *p, u32 width, u32 lane)
{
    switch (width) {
    case 8: return ((const u64 *)(const void *)p)[lane];
    case 4: return ((const u32 *)(const void *)p)[lane];
    default: return ((const u16 *)(const void *)p)[lane];
    }
}

/* The operation on masks instead of its first n operands. */
static void run_on_masks(struct step *s, u32 n, bool made, u64 out[LANES])
{
    struct insn t = *s->i;
    u16 *slot[2] = { &t.a, &t.b };
    u32 width = s->out_bits / 8;
    for (u32 k = 0; k < n; k++) {
        u32 at = scratch_slot(s->w->code, k + 1), w = s->bits[k] / 8 < 2 ? 2 : s->bits[k] / 8;
        for (u32 l = 0; l < LANES; l++) {
            struct taint x = s->dirty >> l & 1 ? source(s, k, l) : (struct taint){ 0 };
            put_mask(SLOT(s->R, at), w, l, made ? x.made : x.undef);
        }
        *slot[k] = (u16)at;
        t.cls &= (u8) ~(3u << 2 * (k + 1)); /* V */
    }
    t.d = (u16)scratch_slot(s->w->code, 0);
    lanes_mixed(s->R, &t, s->w);
    for (u32 l = 0; l < LANES; l++) out[l] = get_mask(SLOT(s->R, t.d), width, l);
}

/* A load whose address was undefined counts only for lanes whose selection picks it (rules.md R8). */
static void picked(struct step *s, u32 lane, struct taint *t)
{
    if (!(t->origin & ORIGIN_PENDING)) return;
    const struct origin *o = origin_get(s->w->cta->launch->sim->origins, t->origin);
    struct taint one[LANES];
    one[lane] = *t;
    init_report(s->w, o && o->op != NONE ? o->op : s->i->op, USE_ADDRESS, 1u << lane, one,
                "the address of this load, whose value a selection picks,");
    *t = (struct taint){ 0 }; /* reported: defined from here on */
}

/* A value that was never written, shifted by a count that is not whole bytes: a product or a quotient if it is stored
 * as it is, a field of something larger if it is masked first. */
static void scaled(struct step *s)
{
    u64 by[LANES];
    values(s, 1, by);
    EACH_DIRTY(l) if (source(s, 0, l).undef == low_bits(s->bits[0]) && by[l] % 8) s->out[l].origin |= ORIGIN_SCALED;
}

static void moved(struct step *s, u32 n)
{
    u64 undef[LANES], made[LANES];
    run_on_masks(s, n, false, undef);
    run_on_masks(s, n, true, made);
    bool selects = s->f->prov == PROV_CHOICE;
    EACH_DIRTY(l)
    {
        struct taint a = source(s, 0, l), b = n > 1 ? source(s, 1, l) : (struct taint){ 0 };
        bool first = s->f->shape == SHAPE_SELECT ? *(const u32 *)(const void *)SLOT(s->R, s->slot[2]) >> l & 1
                                                 : a.undef != 0;
        struct taint *o = &s->out[l];
        *o = (struct taint){ undef[l] & low_bits(s->out_bits), made[l] & low_bits(s->out_bits),
                             first ? a.origin : b.origin };
        if (selects && o->undef) picked(s, l, o);
    }
    if (s->f->shape == SHAPE_SHL || s->f->shape == SHAPE_SHR) scaled(s);
    /* what decides where the bits go must be known */
    for (u32 k = n; k < s->f->nsrc; k++) EACH_DIRTY(l)
        {
            struct taint t = source(s, k, l);
            if (t.undef) s->out[l] = taint_all(s->out_bits, t.origin & ~ORIGIN_FLAGS);
        }
}

/* ---- by the bit ---- */

/* and; or is the same with the operands' bits inverted. What passes unchanged stays what it was. */
static struct taint bit_and(struct taint a, u64 x, struct taint b, u64 y)
{
    u64 both = a.undef & b.undef, from_a = ~b.undef & y, from_b = ~a.undef & x;
    return (struct taint){ both | (a.undef & from_a) | (b.undef & from_b), both | (a.made & from_a) | (b.made & from_b),
                           a.undef ? a.origin : b.origin };
}

static struct taint bit_xor(struct taint a, u64 x, struct taint b, u64 y)
{
    u64 undef = a.undef | b.undef, pass_a = a.undef & ~b.undef & ~y, pass_b = b.undef & ~a.undef & ~x;
    return (struct taint){ undef, (undef & ~pass_a & ~pass_b) | (a.made & pass_a) | (b.made & pass_b),
                           a.undef ? a.origin : b.origin };
}

/* Which results are possible, over the rows of the table that the defined bits allow. */
static struct taint bit_table(const struct taint t[3], const u64 v[3], u32 table, u32 bits)
{
    u64 zero = 0, one = 0;
    for (u32 k = 0; k < 8; k++) {
        u64 may = low_bits(bits);
        for (u32 j = 0; j < 3; j++) may &= t[j].undef | (k >> (2 - j) & 1 ? v[j] : ~v[j]);
        if (table >> k & 1)
            one |= may;
        else
            zero |= may;
    }
    return (struct taint){ zero & one, zero & one, t[0].undef ? t[0].origin : t[1].undef ? t[1].origin : t[2].origin };
}

static void logic(struct step *s)
{
    u64 a[LANES], b[LANES], c[LANES];
    values(s, 0, a);
    if (s->f->nsrc > 1) values(s, 1, b);
    if (s->f->init == INIT_LOP3) values(s, 2, c);
    bool self = s->f->nsrc > 1 && s->slot[0] == s->slot[1];
    EACH_DIRTY(l)
    {
        struct taint x = source(s, 0, l), y = s->f->nsrc > 1 ? source(s, 1, l) : (struct taint){ 0 };
        switch (s->f->init) {
        case INIT_AND: s->out[l] = self ? x : bit_and(x, a[l], y, b[l]); break;
        case INIT_OR: s->out[l] = self ? x : bit_and(x, ~a[l], y, ~b[l]); break;
        case INIT_XOR: s->out[l] = self ? (struct taint){ 0 } : bit_xor(x, a[l], y, b[l]); break;
        case INIT_NOT: s->out[l] = (struct taint){ x.undef, x.undef, x.origin }; break;
        default:
            s->out[l] = bit_table((struct taint[]){ x, y, source(s, 2, l) }, (u64[]){ a[l], b[l], c[l] },
                                  (u32) * (const u64 *)(const void *)SLOT(s->R, s->slot[3]), s->out_bits);
        }
    }
}

/* Predicates: one word holds all lanes. */
static void predicates(struct step *s)
{
    u32 a = *(const u32 *)(const void *)SLOT(s->R, s->slot[0]), b = *(const u32 *)(const void *)SLOT(s->R, s->slot[1]);
    bool self = s->f->nsrc > 1 && s->slot[0] == s->slot[1];
    EACH_DIRTY(l)
    {
        struct taint x = source(s, 0, l), y = s->f->nsrc > 1 ? source(s, 1, l) : (struct taint){ 0 };
        u64 p = a >> l & 1, q = b >> l & 1;
        switch (s->f->init) {
        case INIT_AND: s->out[l] = self ? x : bit_and(x, p, y, q); break;
        case INIT_OR: s->out[l] = self ? x : bit_and(x, !p, y, !q); break;
        case INIT_XOR: s->out[l] = self ? (struct taint){ 0 } : bit_xor(x, p, y, q); break;
        default: s->out[l] = x;
        }
    }
}

/* ---- elements ---- */

static bool is_pair(u32 type)
{
    return type == T_F16X2 || type == T_BF16X2 || type == T_U16X2 || type == T_S16X2 || type == T_F32X2 ||
           type == T_E4M3X2 || type == T_E5M2X2 || type == T_E2M3X2 || type == T_E3M2X2 || type == T_E2M1X2 ||
           type == T_UE8M0X2;
}

static u64 part_of(u64 mask, u32 k, u32 bits) { return mask >> k * bits & low_bits(bits); }

static void each(struct step *s)
{
    if (!is_pair(s->f->op[0])) {
        all(s, 0);
        return;
    }
    u32 out = s->out_bits / 2;
    EACH_DIRTY(l)
    for (u32 k = 0; k < s->f->nsrc; k++) {
        struct taint t = source(s, k, l);
        for (u32 e = 0; e < 2; e++) {
            if (!part_of(t.undef, e, s->bits[k] / 2)) continue;
            s->out[l].undef |= low_bits(out) << e * out;
            s->out[l].origin = t.origin;
        }
        s->out[l].made = s->out[l].undef;
    }
}

static void pair(struct step *s)
{
    u32 half = s->out_bits / 2;
    EACH_DIRTY(l)
    {
        struct taint hi = source(s, 0, l), lo = source(s, 1, l);
        u64 m = (lo.undef ? low_bits(half) : 0) | (hi.undef ? low_bits(half) << half : 0);
        s->out[l] = (struct taint){ m, m, hi.undef ? hi.origin : lo.origin };
    }
}

static void simd_taint(struct step *s, u32 n)
{
    if (s->i->f & MOD_ADD) {
        all(s, 0);
        return;
    }
    u32 bits = 32 / n, on = *(const u32 *)(const void *)SLOT(s->R, s->slot[3]);
    EACH_DIRTY(l)
    {
        struct taint a = source(s, 0, l), b = source(s, 1, l), c = source(s, 2, l), *o = &s->out[l];
        for (u32 k = 0; k < n; k++) {
            u64 ones = low_bits(bits) << k * bits, bad = (a.undef | b.undef) & ones;
            if (on >> k & 1) {
                if (bad) {
                    o->undef |= ones;
                    o->made |= ones;
                }
            } else {
                o->undef |= c.undef & ones;
                o->made |= c.made & ones;
            }
        }
        o->origin = a.undef ? a.origin : b.undef ? b.origin : c.origin;
    }
}

static void apply_rule(struct step *s)
{
    if (s->f->kind == K_PRED) {
        predicates(s);
        return;
    }
    switch (s->f->init) {
    case INIT_NONE: break;
    case INIT_COPY: moved(s, 1); break;
    case INIT_MERGE: moved(s, 2); break;
    case INIT_EACH: each(s); break;
    case INIT_HALVES: simd_taint(s, 2); break;
    case INIT_BYTES: simd_taint(s, 4); break;
    case INIT_PAIR: pair(s); break;
    case INIT_AND:
    case INIT_OR:
    case INIT_XOR:
    case INIT_NOT:
    case INIT_LOP3: logic(s); break;
    case INIT_SELF:
        if (s->slot[0] != s->slot[1]) all(s, 0);
        break;
    default: all(s, 0);
    }
}

static u32 bits_of(enum ptx_type t) { return t == T_PRED ? 1 : 8u * type_size[t]; }

int init_lane(char *restrict R, const struct insn *i, struct warp *w)
{
    struct planes *p = w->planes;
    handler *inner = handler_under(w, i, LAYER_PLANES);
    if (likely(!p->dirty)) return inner(R, i, w);
    const struct isa_form *f = &isa_forms[i->form];
    const u32 slot[] = { i->a, i->b, i->c, i->e };
    u32 mask = active_lanes(w, R, i), guard = i->guard ? plane_lanes(p, i->guard) & w->mask : 0, dirty = 0;
    for (u32 k = 0; k < f->nsrc; k++) dirty |= plane_lanes(p, slot[k]) & mask;
    if (!dirty && !guard && !(plane_lanes(p, i->d) & mask)) return inner(R, i, w);
    if (!dirty && !guard && !p->undecided) { /* its result is defined */
        int defined = inner(R, i, w);
        planes_clear(p, i->d, mask);
        return defined;
    }
    struct step s = { .w = w, .R = R, .i = i, .f = f, .dirty = dirty, .slot = { i->a, i->b, i->c, i->e } };
    for (u32 k = 0; k < f->nsrc; k++) s.bits[k] = bits_of(isa_operand_type(f, k + 1));
    s.out_bits = bits_of(isa_operand_type(s.f, 0));
    if (s.out_bits == 8) s.out_bits = 16; /* 8 bits live in 16 */
    if (s.dirty) apply_rule(&s);
    int ev = inner(R, i, w);
    EACH_SET (l, guard) { /* whether these lanes were written is undefined */
        s.out[l] = taint_all(s.out_bits, plane_taint(p, i->guard, l).origin);
    }
    if (unlikely(p->undecided & mask)) mask &= ~init_undecided(w, i, mask);
    planes_put(p, i->d, mask | guard, s.out);
    return ev;
}
