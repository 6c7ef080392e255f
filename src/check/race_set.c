/* Readers that nothing orders, in kernels that are not simple: a write has to be behind each of them, so each is remembered.
 *
 * A set is a reader and the set of the others, and is never changed once it is made. Elements that the same warps have read share it: the n-th
 * warp that goes over an array finds one set everywhere and leaves another one everywhere. The CTA remembers which one became which (struct
 * step), so that most of the time adding a reader is a comparison, and what a set takes does not depend on how many elements have it.
 *
 * A reader goes from the set when another one says more: the same lanes later on; at once when it was among the last, with others like it
 * when they have become many. And all of them go when every thread of the CTA that reads now is behind them. */
#include "check/race_clock.h"

void set_release(struct notes *n, u32 x, bool locked)
{
    while (x) {
        struct set *s = set_at(n, x);
        u32 rest = s->rest, left = locked ? __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) : --s->refs;       /* from then on it may be another's */
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

bool set_member_known(const struct touch *t, u64 a)
{
    struct race_cta *c = t->w->c;
    bool own = word_slot(a) == c->slot && word_time(a) >= c->start;
    return a < c->lo[t->space] || (own && word_time(a) < c->base) || clock_cta_knows(c, a);
}

bool set_known(const struct touch *t, u32 x)
{
    struct race_cta *c = t->w->c;
    struct notes *n = notes_of(t);
    struct past *p = &c->past[t->space];
    u64 lo = c->lo[t->space];
    if (p->since >= lo && p->set == x) return true;
    if (p->other == x && p->base == c->base && p->seen == c->seen) return false;
    for (u32 k = x; k; k = set_at(n, k)->rest) {
        if (!set_member_known(t, set_at(n, k)->a)) { p->other = x; p->base = c->base; p->seen = c->seen; return false; }
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

/* ---- as entries of a list ---- */

/* Elements whose sets went different ways have the same readers many times: each is found again by what it says, with the bytes it has so far. */
struct entries { struct list_entry *e; u32 n, cap; u32 *index; };       /* index: hash of them, number + 1, of 2 * cap places */

static u32 *entry_at(const struct entries *x, const struct set *s)
{
    u32 k = (u32)((s->a ^ (u64)s->lanes << 29 ^ (u64)s->site << 13) * 0x9e3779b97f4a7c15u >> 32) & (2 * x->cap - 1);
    for (; x->index[k]; k = (k + 1) & (2 * x->cap - 1)) {
        const struct list_entry *e = &x->e[x->index[k] - 1];
        if (e->a == s->a && e->lanes == s->lanes && e->site == s->site) break;
    }
    return &x->index[k];
}

static void entries_grow(struct entries *x)
{
    x->cap = x->cap ? 2 * x->cap : 64;
    x->e = base_need_more(x->e, sizeof *x->e * x->cap);
    base_free(x->index);
    x->index = base_need(sizeof *x->index * 2 * x->cap);
    for (u32 k = 0; k < x->n; k++) *entry_at(x, &(struct set){ .a = x->e[k].a, .lanes = x->e[k].lanes, .site = x->e[k].site }) = k + 1;
}

struct list_entry *set_entries(const struct notes *n, const struct reads *of, u32 count, u32 *found)
{
    struct entries x = { 0 };
    for (u32 j = 0; j < count; j++)
        for (u32 k = of[j].set; k; k = set_at(n, k)->rest) {
            const struct set *s = set_at(n, k);
            if (x.n == x.cap) entries_grow(&x);
            u32 *at = entry_at(&x, s);
            if (*at) { x.e[*at - 1].bytes |= of[j].bytes; continue; }
            x.e[x.n] = (struct list_entry){ .a = s->a, .bytes = of[j].bytes, .lanes = s->lanes, .site = s->site, .op = OP_READ };
            *at = ++x.n;
        }
    for (u32 k = 0; k < x.n / 2; k++) { struct list_entry e = x.e[k]; x.e[k] = x.e[x.n - 1 - k]; x.e[x.n - 1 - k] = e; }
    base_free(x.index);
    *found = x.n;
    return x.e;
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
