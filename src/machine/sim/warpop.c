/* .sync operations: shfl, vote, match, redux, bar.warp.
 *
 * A lane arrives with its operands; the operation fires for a membermask when every live lane named in it has arrived
 * at the same operation with the same mask, also from different splits. In the usual case one split brings all of them,
 * and the operation fires at once. */
#include "sim/warpop.h"
#include "sim/exec.h"
#include "sim/finding_place.h"
#include "sim/asked.h"
#include "sim/lanes.h"
#include "sim/observe.h"
#include "sim/planes.h"

enum { M_UP, M_DOWN, M_BFLY, M_IDX, M_ALL, M_ANY, M_UNI, M_ADD, M_MIN, M_MAX, M_AND, M_OR, M_XOR };

static u32 value_width(const struct lop *o) { return o->flags & ISA_MATCH && o->off == 8 ? 8 : 4; }

static void gather(struct warp *w, const struct split *s, const struct insn *i)
{
    const struct lowered *low = w->code->low;
    const struct lop *o = &low->op[i->op];
    bool tagged = o->flags & ISA_SHUFFLE && lop_dst(o, 0)->kind == O_REG && low->tag[lop_dst(o, 0)->reg];
    bool pred = o->flags & ISA_VOTE;
    if (w->code->watch & WATCH_INIT) asked->init_gather(w, i, s->mask);
    u32 width = value_width(o), word = pred ? *(const u32 *)(const void *)SLOT(w->R, i->a) : 0;
    if (pred && lop_src(o, 0)->kind == O_CONST) word = lop_src(o, 0)->value ? ALL_LANES : 0;
    const struct insn_opnd *clamp = o->flags & ISA_SHUFFLE ? insn_src(w->code, i, SRC_CLAMP) : NULL;
    u64 value[LANES] = { 0 }, from[LANES], limit[LANES];
    if (!pred && lop_src(o, 0)->kind != O_NONE) lane_values(w->code, w->R, i->a, CLS_AT(i, 1), width, value);
    if (clamp) {
        lane_values(w->code, w->R, i->b, CLS_AT(i, 2), 4, from);
        lane_values(w->code, w->R, clamp->slot, clamp->cls, 4, limit);
    }
    for (u32 l = 0; l < LANES; l++) {
        if (!(s->mask >> l & 1)) continue;
        w->rdv.a[l] = pred ? word >> l & 1 : value[l];
        w->rdv.tag[l] = tagged ? asked->tag_of(w, low, *lop_src(o, 0), l) : 0;
        if (!clamp) continue;
        w->rdv.b[l] = (u32)from[l];
        w->rdv.e[l] = (u32)limit[l];
    }
}

/* 9.7.9.6: which lane a lane reads, and whether that lane is in range. */
static u32 shuffle_source(u32 mode, u32 lane, u32 b, u32 c, bool *in_range)
{
    u32 segment = c >> 8 & 31, clamp = c & 31, low = lane & segment, high = (lane & segment) | (clamp & ~segment);
    s32 j;
    b &= 31;
    switch (mode) {
    case M_UP:
        j = (s32)lane - (s32)b;
        *in_range = j >= (s32)high;
        break;
    case M_DOWN:
        j = (s32)(lane + b);
        *in_range = j <= (s32)high;
        break;
    case M_BFLY:
        j = (s32)(lane ^ b);
        *in_range = j <= (s32)high;
        break;
    default: j = (s32)(low | (b & ~segment)); *in_range = j <= (s32)high;
    }
    return *in_range ? (u32)j : lane;
}

/* redux of f32 (from the manual: an H200 has none): by the order of the bits, in which -0 comes before 0. NaNs count
 * only with .NaN, or when there is nothing else, and make the one NaN of f32. */
static u32 reduce_float(const struct warp *w, u32 mask, u32 mode, u32 how)
{
    bool any = false, nan = false;
    s32 best = 0;
    for (u32 l = 0; l < LANES; l++) {
        if (!(mask >> l & 1)) continue;
        u32 v = (u32)w->rdv.a[l] & (how & RED_ABS ? 0x7fffffff : 0xffffffff);
        if ((v & 0x7fffffff) > 0x7f800000) {
            nan = true;
            continue;
        }
        s32 key = (s32)(v ^ (v >> 31 ? 0x7fffffff : 0));
        if (!any || (mode == M_MIN ? key < best : key > best)) best = key;
        any = true;
    }
    if (!any || (nan && how & RED_NAN)) return 0x7fffffff;
    return (u32)best ^ (best < 0 ? 0x7fffffff : 0);
}

static u32 combined(u32 r, u32 v, u32 mode, bool sg)
{
    bool less = sg ? (s32)v < (s32)r : v < r;
    switch (mode) {
    case M_ADD: return r + v;
    case M_MIN: return less ? v : r;
    case M_MAX: return less ? r : v;
    case M_AND: return r & v;
    case M_OR: return r | v;
    default: return r ^ v;
    }
}

static u32 reduce(const struct warp *w, u32 mask, u32 mode, u32 how)
{
    u32 r = (u32)w->rdv.a[__builtin_ctz(mask)];
    if (how & RED_FLOAT) return reduce_float(w, mask, mode, how);
    EACH_SET (l, mask & (mask - 1)) r = combined(r, (u32)w->rdv.a[l], mode, how & RED_SIGNED);
    return r;
}

/* What a .sync operation makes, of the lanes that took part. */
struct sync_results {
    u32 v[LANES]; /* results */
    u32 pred;     /* second results, a bit a lane */
    u32 who;      /* the lanes that took part */
    u32 absent;   /* those that read a lane that did not */
    u32 set;      /* lanes whose value is not 0 */
    u32 first;    /* the lowest lane */
    bool equal;   /* all have the same value */
};

/* Makes the results of all lanes that take part: sync_shfl() and so on, as the column `make` of isa_named.def names
 * them. */
typedef void sync_make(struct warp *w, const struct lop *o, struct sync_results *r);
#define EACH_MEMBER(l, r) for (u32 m_ = (r)->who, l; m_ && (l = (u32)__builtin_ctz(m_), true); m_ &= m_ - 1)

static void sync_shfl(struct warp *w, const struct lop *o, struct sync_results *r)
{
    EACH_MEMBER(l, r)
    {
        bool in;
        u32 j = shuffle_source(o->aux, l, w->rdv.b[l], w->rdv.e[l], &in);
        if (in) r->pred |= 1u << l;
        if (!(r->who >> j & 1)) {
            r->absent |= 1u << l;
            j = l;
        }
        r->v[l] = (u32)w->rdv.a[j];
        w->rdv.from[l] = (u8)j;
    }
}

static void same_for_all(struct sync_results *r, u32 v) { EACH_MEMBER(l, r) r->v[l] = v; }

static u32 vote(u32 mode, u32 set, u32 who)
{
    return mode == M_ALL ? set == who : mode == M_ANY ? set != 0 : set == 0 || set == who;
}

static void sync_vote(struct warp *w, const struct lop *o, struct sync_results *r)
{
    (void)w;
    same_for_all(r, vote(o->aux, r->set, r->who));
}

static void sync_ballot(struct warp *w, const struct lop *o, struct sync_results *r)
{
    (void)w;
    (void)o;
    same_for_all(r, r->set);
}

static void sync_match_any(struct warp *w, const struct lop *o, struct sync_results *r)
{
    (void)o;
    EACH_MEMBER(l, r)
    {
        r->v[l] = 0;
        for (u32 k = 0; k < LANES; k++)
            if (r->who >> k & 1 && w->rdv.a[k] == w->rdv.a[l]) r->v[l] |= 1u << k;
    }
}

static void sync_match_all(struct warp *w, const struct lop *o, struct sync_results *r)
{
    (void)w;
    (void)o;
    same_for_all(r, r->equal ? r->who : 0);
    if (r->equal) r->pred = r->who;
}

static void sync_elect(struct warp *w, const struct lop *o, struct sync_results *r)
{
    (void)w;
    (void)o;
    same_for_all(r, r->first);
    r->pred = 1u << r->first;
}

static void sync_redux(struct warp *w, const struct lop *o, struct sync_results *r)
{
    same_for_all(r, reduce(w, r->who, o->aux, (u32)o->off));
}

/* An element that a lane without part in it would bring is 0. */
static void sync_movmatrix(struct warp *w, const struct lop *o, struct sync_results *r)
{
    (void)o;
    EACH_MEMBER(l, r)
    {
        r->v[l] = 0;
        for (u32 half = 0; half < 2; half++) {
            u32 shift, from = transposed_from(l, half, &shift);
            if (r->who >> from & 1)
                r->v[l] |= ((u32)w->rdv.a[from] >> shift & 0xffff) << 16 * half;
            else
                r->absent |= 1u << l;
        }
    }
}

static void sync_warp_bar(struct warp *w, const struct lop *o, struct sync_results *r)
{
    (void)w;
    (void)o;
    same_for_all(r, 0);
}

static sync_make *const make[N_COUNT] = {
#define MEM(...)
#define MEM_MORE(...)
#define WARP(...)
#define SYNC(id, in, pv, low, make, ...) [N_##id] = sync_##make,
#define SYNC_MORE(...)
#define CTRL(...)
#include "isa/isa_named.def"
#include "isa/isa_end.def"
};

/* The results of all lanes in `who` (the members that are here). */
static void results(struct warp *w, const struct lop *o, u32 who, struct sync_results *r)
{
    r->pred = r->absent = r->set = 0;
    r->who = who;
    r->first = (u32)__builtin_ctz(who);
    r->equal = true;
    EACH_SET (l, who) {
        if (w->rdv.a[l]) r->set |= 1u << l;
        if (w->rdv.a[l] != w->rdv.a[r->first]) r->equal = false;
    }
    make[o->name](w, o, r);
}

static void scatter(struct warp *w, const struct split *s, const struct insn *i, const struct code *c, char *R,
                    const struct sync_results *r)
{
    const struct lop *o = &c->low->op[i->op];
    const u32 *v = r->v;
    u32 m = s->mask;
    if (lop_dst(o, 0)->kind == O_REG) {
        char *d = SLOT(R, i->d);
        if (c->reg[lop_dst(o, 0)->reg].width == 1) {
            u32 *p = (u32 *)(void *)d, bits = 0;
            for (u32 l = 0; l < LANES; l++) bits |= (v[l] & 1) << l & m;
            *p = (*p & ~m) | bits;
            if (c->reg[lop_dst(o, 0)->reg].cls == CLS_S) *p = bits ? ALL_LANES : 0;
        } else if (CLS_AT(i, 0) == CLS_S) {
            u64 x = v[__builtin_ctz(m)];
            memcpy(d, &x, 8);
        } else if (CLS_AT(i, 0) == CLS_A)
            lanes_put_groups(c, R, i->d, m, v[__builtin_ctz(m)]);
        else
            for (u32 l = 0; l < LANES; l++)
                if (m >> l & 1) memcpy(d + 4 * l, &v[l], 4);
    }
    /* a pointer's object goes with its halves */
    if (o->flags & ISA_SHUFFLE && lop_dst(o, 0)->kind == O_REG && c->low->tag[lop_dst(o, 0)->reg]) {
        u32 *t = s->fr->tags + (c->low->tag[lop_dst(o, 0)->reg] - 1) * LANES;
        for (u32 l = 0; l < LANES; l++)
            if (m >> l & 1) t[l] = w->rdv.tag[w->rdv.from[l]];
    }
    if (lop_dst(o, 1)->kind == O_REG) {
        u32 *p = (u32 *)(void *)SLOT(R, insn_dst(c, i, 1)->slot);
        *p = (*p & ~m) | (r->pred & m);
    }
    if (c->watch & WATCH_INIT) asked->init_scatter(w, s, i, o, r->who, r->absent);
}

/* The lanes that wait at the same instruction as s. */
static u32 lanes_with_value(const struct warp *w, const struct split *s)
{
    u32 here = 0;
    for (u32 j = 0; j < w->nsplit; j++) {
        const struct split *t = &w->split[j];
        bool same = t->state == SPLIT_RENDEZVOUS && t->op == s->op && t->fr->code->low == s->fr->code->low;
        if (same) here |= t->mask;
    }
    return here;
}

static bool same_operation(const struct lop *a, const struct lop *b)
{
    return a->name == b->name && a->aux == b->aux && a->off == b->off;
}

/* Fires what is complete; true: something did. */
static bool fire(struct warp *w)
{
    for (u32 k = 0; k < w->nsplit; k++) {
        struct split *s = &w->split[k];
        if (s->state != SPLIT_RENDEZVOUS) continue;
        const struct lop *o = &s->fr->code->low->op[s->op];
        u32 here = 0;
        for (u32 j = 0; j < w->nsplit; j++) {
            const struct split *t = &w->split[j];
            if (t->state == SPLIT_RENDEZVOUS && t->rdv == s->rdv && same_operation(o, &t->fr->code->low->op[t->op]))
                here |= t->mask;
        }
        if ((here & s->rdv) != (s->rdv & w->live)) continue;
        struct sync_results r;
        u32 mask = s->rdv;
        if (unlikely(s->missing)) asked->aligned_check(w, s, lanes_with_value(w, s));
        results(w, o, here, &r);
        if (asked->init_needs_planes(w, r.absent)) exec_to_plain(w, NONE);
        struct lop key = *o;
        for (u32 j = 0; j < w->nsplit; j++) {
            struct split *t = &w->split[j];
            struct code *c = t->fr->code;
            if (t->state != SPLIT_RENDEZVOUS || t->rdv != mask || !same_operation(&key, &c->low->op[t->op])) continue;
            scatter(w, t, &c->insn[c->insn_of[t->op]], c, t->fr->R, &r);
            t->state = SPLIT_RUN;
        }
        if (observed(w->cta->launch))
            observe_sync(w->cta->launch, &(struct sync_event){
                                             .kind = SYNC_WARP, .cta = w->cta, .warp = w, .mask = here, .op = s->op });
        return true;
    }
    return false;
}

void sync_recheck(struct warp *w)
{
    while (fire(w)) {}
}

/* ---- the whole warp at once, under the full mask ---- */

/* All lanes are here and name each other: nobody waits, so there is no rendezvous, and operands are not kept for one.
 * That is how most kernels use these operations. Undefined values, and who follows every step, need what a rendezvous
 * remembers. */
static bool is_whole(const struct warp *w, const struct insn *i)
{
    u32 mask;
    if (w->mask != ALL_LANES || CLS_AT(i, 3) != CLS_S || (w->planes && w->planes->dirty)) return false;
    memcpy(&mask, SLOT(w->R, i->c), 4);
    return mask == ALL_LANES;
}

/* Writes the results of all lanes: `v` has 32 values, or a single one for all. */
static void put_whole(const struct warp *w, const struct insn *i, const u32 *v, bool same)
{
    char *d = SLOT(w->R, i->d);
    u32 cls = CLS_AT(i, 0);
    if (cls == CLS_S) {
        u64 x = v[0];
        memcpy(d, &x, 8);
    } else if (cls == CLS_A)
        lanes_put_groups(w->code, w->R, i->d, ALL_LANES, v[0]);
    else if (same)
        for (u32 l = 0; l < LANES; l++) ((u32 *)(void *)d)[l] = v[0];
    else
        memcpy(d, v, sizeof(u32) * LANES);
}

/* A shuffle by the same amount in all lanes. */
static bool shuffle_whole(struct warp *w, const struct insn *i, const struct lop *o)
{
    const struct insn_opnd *clamp = insn_src(w->code, i, SRC_CLAMP);
    if (CLS_AT(i, 2) != CLS_S || clamp->cls != CLS_S || lop_dst(o, 0)->kind != O_REG || w->cta->launch->in->follow)
        return false;
    u32 b, c, v[LANES], in_range = 0, cls = CLS_AT(i, 1), tag = w->code->low->tag[lop_dst(o, 0)->reg];
    u8 from[LANES];
    u64 a[LANES];
    memcpy(&b, SLOT(w->R, i->b), 4);
    memcpy(&c, SLOT(w->R, clamp->slot), 4);
    bool one = o->aux == M_IDX && !(c >> 8 & 31) && (b & 31) <= (c & 31); /* all lanes read the same one */
    if (one) {
        v[0] = (u32)lane_value(w, w->code, w->R, i->a, cls, 4, b & 31);
        in_range = ALL_LANES;
    } else {
        lane_values(w->code, w->R, i->a, cls, 4, a);
        for (u32 l = 0; l < LANES; l++) {
            bool in;
            from[l] = (u8)shuffle_source(o->aux, l, b, c, &in);
            v[l] = (u32)a[from[l]];
            in_range |= (u32)in << l;
        }
    }
    if (tag) { /* a pointer's object goes with its halves */
        u32 object[LANES], *t = w->cur->fr->tags + (tag - 1) * LANES;
        for (u32 l = 0; l < LANES && !one; l++) object[l] = asked->tag_of(w, w->code->low, *lop_src(o, 0), from[l]);
        if (one) object[0] = asked->tag_of(w, w->code->low, *lop_src(o, 0), b & 31);
        for (u32 l = 0; l < LANES; l++) t[l] = object[one ? 0 : l];
    }
    put_whole(w, i, v, one);
    if (lop_dst(o, 1)->kind == O_REG) *(u32 *)(void *)SLOT(w->R, insn_dst(w->code, i, 1)->slot) = in_range;
    return true;
}

static bool vote_whole(const struct warp *w, const struct insn *i, const struct lop *o)
{
    if (lop_dst(o, 0)->kind != O_REG) return false;
    u32 set = *(const u32 *)(const void *)SLOT(w->R, i->a);
    if (lop_src(o, 0)->kind == O_CONST) set = lop_src(o, 0)->value ? ALL_LANES : 0;
    if (w->code->reg[lop_dst(o, 0)->reg].width == 1)
        *(u32 *)(void *)SLOT(w->R, i->d) = vote(o->aux, set, ALL_LANES) ? ALL_LANES : 0;
    else
        put_whole(w, i, &set, true);
    return true;
}

static bool reduce_whole(struct warp *w, const struct insn *i, const struct lop *o)
{
    if (lop_dst(o, 0)->kind != O_REG) return false;
    lane_values(w->code, w->R, i->a, CLS_AT(i, 1), 4, w->rdv.a);
    u32 r = reduce(w, ALL_LANES, o->aux, (u32)o->off);
    put_whole(w, i, &r, true);
    return true;
}

/* true: it is done. */
static bool sync_whole(struct warp *w, const struct insn *i, const struct lop *o)
{
    if (!is_whole(w, i)) return false;
    if (o->flags & ISA_WARP_BARRIER) return lop_dst(o, 0)->kind == O_NONE; /* there is nothing to hand over */
    if (o->flags & ISA_SHUFFLE) return shuffle_whole(w, i, o);
    if (o->flags & ISA_VOTE) return vote_whole(w, i, o);
    if (o->flags & ISA_REDUCE) return reduce_whole(w, i, o);
    return o->flags & ISA_ALIGNED && lop_dst(o, 0)->kind == O_NONE; /* before ldmatrix: nothing either */
}

/* ---- arriving ---- */

/* A lane that executes the operation takes part in it, also when its mask does not name it, which is a finding. */
static u32 with_caller(struct warp *w, const struct insn *i, u32 lanes, u32 mask, bool alike)
{
    if (lanes & ~mask) asked->judge_mask(w, i, lanes & ~mask, mask, alike);
    return mask | lanes;
}

/* Lanes with different masks form their own groups. */
static void arrive_in_groups(struct warp *w, struct split *s, const struct insn *i, const u64 *masks)
{
    u32 todo = s->mask, block = s->block, op = i->op;
    struct frame *fr = s->fr;
    bool own = true;
    while (todo) {
        u32 same = lanes_alike(masks, todo), mask = with_caller(w, i, same, (u32)masks[__builtin_ctz(todo)], false);
        todo &= ~same;
        struct split *t = own ? s : exec_split(w, same, block, fr);
        t->mask = same;
        t->state = SPLIT_RENDEZVOUS;
        t->rdv = mask;
        t->op = op;
        t->missing = 0;
        own = false;
    }
    sync_recheck(w);
}

static __attribute__((noinline)) void note_met(struct warp *w, const struct split *s, const struct insn *i)
{
    struct launch *l = w->cta->launch;
    if (observed(l))
        observe_sync(l,
                     &(struct sync_event){ .kind = SYNC_WARP, .cta = w->cta, .warp = w, .mask = s->mask, .op = i->op });
}

/* The common way. */
static __attribute__((noinline)) bool arrive(struct warp *w, struct split *s, const struct insn *i, const struct lop *o)
{
    u64 masks[LANES];
    lane_values(w->code, w->R, i->c, CLS_AT(i, 3), 4, masks);
    gather(w, s, i);
    if (lanes_alike(masks, s->mask) != s->mask) {
        w->syncs++;
        arrive_in_groups(w, s, i, masks);
        return false;
    }
    u32 mask = with_caller(w, i, s->mask, (u32)masks[__builtin_ctz(s->mask)], true);
    if ((mask & w->live) == s->mask) {
        struct sync_results r;
        results(w, o, s->mask, &r);
        if (asked->init_needs_planes(w, r.absent)) exec_to_plain(w, NONE);
        scatter(w, s, &w->code->insn[w->code->insn_of[i->op]], w->code, w->R, &r);
        note_met(w, s, i);
        return true;
    }
    /* with lanes of other splits; among its own it is arithmetic, and a loop with it may be idle */
    w->syncs++;
    s->state = SPLIT_RENDEZVOUS;
    s->rdv = mask;
    s->op = i->op;
    s->missing = o->flags & ISA_ALIGNED ? asked->aligned_missing(w, s, i->op) : 0;
    sync_recheck(w);
    return false;
}

bool sync_arrive(struct warp *w, struct split *s, const struct insn *i)
{
    const struct lop *o = &w->code->low->op[i->op];
    if (!sync_whole(w, i, o)) return arrive(w, s, i, o);
    if (unlikely(observed(w->cta->launch))) note_met(w, s, i);
    return true;
}
