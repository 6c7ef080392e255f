/* Readers that nothing orders, in kernels that are not simple: a write has to be behind each of them, so each is remembered.
 *
 * A set is a reader and the set of the others, and is never changed once it is made. Elements that the same warps have read share it: the n-th
 * warp that goes over an array finds one set everywhere and leaves another one everywhere. The CTA remembers which one became which (struct
 * step), so that most of the time adding a reader is a comparison, and what a set takes does not depend on how many elements have it.
 *
 * A reader goes from the set when another one says more: the same lanes later on; at once when it was among the last, with others like it
 * when they have become many. And all of them go when every thread of the CTA that reads now is behind them. */
#include "check/race_clock.h"

static struct set *set_at(const struct notes *n, u32 x) { return POOL_AT(&n->set, struct set, x); }

void set_release(struct notes *n, u32 x, bool locked)
{
    while (x) {
        struct set *s = set_at(n, x);
        u32 left = locked ? __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) : --s->refs, rest = s->rest;
        if (left) return;
        pool_give(&n->set, x, locked);
        x = rest;
    }
}

/* Takes the reference to the rest. */
static u32 set_new(const struct touch *t, u64 a, u32 lanes, u32 site, u32 rest)
{
    struct notes *n = notes_of(t);
    u32 x = pool_take(&n->set, notes_locked(t->w, t->space));
    *set_at(n, x) = (struct set){ a, lanes, site, rest, rest ? set_at(n, rest)->count + 1 : 1, rest ? set_at(n, rest)->clean : 0, 1 };
    return x;
}

static u32 held(const struct touch *t, u32 x)
{
    if (x) set_hold(notes_of(t), x, notes_locked(t->w, t->space));
    return x;
}

/* ---- who is behind them ---- */

bool set_known(const struct touch *t, u32 x)
{
    struct race_cta *c = t->w->c;
    struct notes *n = notes_of(t);
    struct past *p = &c->past[t->space];
    u64 lo = c->lo[t->space];
    if (p->since >= lo && p->set == x) return true;
    if (p->other == x && p->base == c->base && p->seen == c->seen) return false;
    for (u32 k = x; k; k = set_at(n, k)->rest) {
        u64 a = set_at(n, k)->a;
        bool own = word_slot(a) == c->slot && word_time(a) >= c->start;
        if (a >= lo && !(own && word_time(a) < c->base) && !clock_cta_knows(c, a)) { p->other = x; p->base = c->base; p->seen = c->seen; return false; }
    }
    if (p->since >= lo) set_release(n, p->set, notes_locked(t->w, t->space));
    p->since = (u64)c->now << 32; p->set = held(t, x);
    c->keeps |= t->space == SPACE_GLOBAL;
    return true;
}

/* ---- one more reader ---- */

enum { LOOK = 2, SLACK = 64 };  /* among so many that came last one is looked for that is replaced; beyond twice what is needed a set may have this many */

static u32 lanes_in(u64 a, u32 lanes) { return word_kind(a) == WHO_WARP ? lanes : 1u << word_lane(a); }

/* A reader says no more than `me`, or both can be said as one: then *lanes has those of both. */
static bool replaced(const struct touch *t, const struct set *s, u64 me, u32 *lanes)
{
    if ((u32)(s->a ^ me) >> 14 || word_time(s->a) < t->w->c->start || word_es(s->a) != word_es(me)) return false;
    u32 his = lanes_in(s->a, s->lanes), mine = lanes_in(me, *lanes);
    if (word_es(me) < ES_ONE) return word_lane(s->a) == word_lane(me);          /* the same threads at every byte */
    if (his & ~mine && (word_time(s->a) != word_time(me) || s->site != t->site)) return false;
    *lanes = his | mine;
    return true;
}

/* The set without the reader that `me` replaces; a reference. */
static u32 without_replaced(const struct touch *t, u32 x, u64 me, u32 *lanes)
{
    const struct notes *n = notes_of(t);
    u32 above[LOOK], m = 0, k = x;
    while (k && m < LOOK && !replaced(t, set_at(n, k), me, lanes)) { above[m++] = k; k = set_at(n, k)->rest; }
    if (!k || m == LOOK) return held(t, x);
    u32 rest = held(t, set_at(n, k)->rest);
    while (m-- > 0) { const struct set s = *set_at(n, above[m]); rest = set_new(t, s.a, s.lanes, s.site, rest); }
    return rest;
}

/* Who has read after a member: by slot, warp, es and CTA, of one thread a word also by lane. */
struct later { u64 who; u32 start, lanes; };

/* Adds a member to the table; true: it says something. */
static bool later_add(struct later *table, u32 size, const struct race *r, const struct set *s)
{
    u32 es = word_es(s->a), lanes = es < ES_ONE ? 1u << word_lane(s->a) : lanes_in(s->a, s->lanes), start = clock_cta_start(r, s->a);
    u64 who = (u64)word_warp(s->a) << 4 | es | 8;
    u32 k = (u32)((who ^ (u64)start << 20) * 0x9e3779b97f4a7c15u >> 32) & (size - 1);
    while (table[k].who && (table[k].who != who || table[k].start != start)) k = (k + 1) & (size - 1);
    bool says = lanes & ~table[k].lanes;
    table[k] = (struct later){ who, start, table[k].lanes | lanes };
    return says;
}

/* The same without members that later ones replace; takes the reference, and gives one. */
static u32 cleaned(const struct touch *t, u32 x)
{
    struct notes *n = notes_of(t);
    u32 count = set_at(n, x)->count, m = 0, size = 64, rest = 0;
    while (size < 2 * count) size *= 2;
    struct later *table = base_need(sizeof *table * size);
    u32 *keep = base_need(sizeof *keep * count);
    lock(&t->w->c->race->lock);
    for (u32 k = x; k; k = set_at(n, k)->rest) if (later_add(table, size, t->w->c->race, set_at(n, k))) keep[m++] = k;
    unlock(&t->w->c->race->lock);
    for (u32 k = m; k-- > 0;) { const struct set s = *set_at(n, keep[k]); rest = set_new(t, s.a, s.lanes, s.site, rest); }
    set_at(n, rest)->clean = m;
    base_free(table); base_free(keep);
    set_release(n, x, notes_locked(t->w, t->space));
    return rest;
}

static u32 added(const struct touch *t, u32 x, u64 me, u32 lanes)
{
    const struct notes *n = notes_of(t);
    u32 mine = lanes_in(me, lanes), rest = x && set_known(t, x) ? 0 : without_replaced(t, x, me, &mine);
    if (rest && set_at(n, rest)->count > 2 * set_at(n, rest)->clean + SLACK) rest = cleaned(t, rest);
    bool one = !(mine & (mine - 1));
    u64 a = word_es(me) < ES_ONE ? me : (me & ~(31ull << 9 | 3 << 4)) | (u64)__builtin_ctz(mine) << 9 | (one ? WHO_ONE : WHO_WARP) << 4;
    return set_new(t, a, word_es(me) < ES_ONE || one ? 0 : mine, t->site, rest);
}

static void step_drop(struct notes *n, const struct step *s, bool locked)
{
    if (!s->one) set_release(n, s->from, locked);
    set_release(n, s->to, locked);
}

u32 set_add(const struct touch *t, struct seen old, u64 me, u32 lanes)
{
    struct race_cta *c = t->w->c;
    struct notes *n = notes_of(t);
    bool locked = notes_locked(t->w, t->space);
    u64 one = word_is_set(old.a) ? 0 : old.a & ~12ull;          /* so far; 0: a set, or nobody */
    u32 from = old.a ? old.site : 0;
    struct step *s = &c->step[t->space][(from + 5 * t->site + (word_lane(me) >> 3)) % STEPS * STEP_WAYS];
    for (u32 k = 0; k < STEP_WAYS; k++, s++) if (s->a == me && s->one == one && s->from == from && s->lanes == lanes && s->site == t->site) return held(t, s->to);
    s -= 1 + c->nstep++ % STEP_WAYS;
    u32 x = one ? set_new(t, one, 0, from, 0) : held(t, from), to = added(t, x, me, lanes);
    if (s->a >= c->lo[t->space]) step_drop(n, s, locked);
    *s = (struct step){ me, lanes, t->site, one, one ? from : held(t, from), held(t, to) };
    set_release(n, x, locked);
    c->keeps |= t->space == SPACE_GLOBAL;
    return to;
}

void sets_unkeep(struct race_cta *c)
{
    struct notes *n = &c->race->notes;
    for (u32 k = 0; k < STEPS * STEP_WAYS; k++) {
        struct step *s = &c->step[SPACE_GLOBAL][k];
        if (s->a >= c->lo[SPACE_GLOBAL]) step_drop(n, s, c->race->many);
        s->a = 0;
    }
    struct past *p = &c->past[SPACE_GLOBAL];
    if (p->since >= c->lo[SPACE_GLOBAL]) set_release(n, p->set, c->race->many);
    p->since = 0;
}
