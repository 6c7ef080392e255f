/* Readers that nothing orders, in kernels that are not simple: a write has to be behind each of them, so each is
 * remembered.
 *
 * A set is some readers and the set of the others. Elements that the same warps have read share it: the n-th warp
 * that goes over an array finds one set everywhere and leaves another one everywhere. The CTA remembers which one
 * became which (struct set_memo), so that most of the time adding a reader is a comparison, and what a set takes does
 * not depend on how many elements have it.
 *
 * Where each element has readers of its own, a set has to be small and lie together. So it is a block of words, one
 * or two for each reader, and how many of them belong to it: whoever has all words of a block and adds one to them
 * adds it there, and those who have fewer do not notice.
 *
 * A reader goes from the set when another one says more: the same lanes later on; at once when it was among the last,
 * with others like it when they have become many. And all of them go when every thread of the CTA that reads now is
 * behind them. */
#include "race/race_clock.h"
#include "race/race_touch.h"

static u32 words_in(u32 x) { return x & ((1u << SET_SHIFT) - 1); }
static u32 first_words(u32 x, u32 words) { return (x >> SET_SHIFT << SET_SHIFT) + words; }

/* ---- blocks ---- */

/* From now on the words say something else, or nothing: whoever remembers the set without having it must not take it
 * for the same. */
static void say_no_more(struct reader_set *s) { __atomic_store_n(&s->serial, s->serial + 1, __ATOMIC_RELEASE); }
static u32 serial_of(const struct notes *n, u32 x) { return __atomic_load_n(&set_at(n, x)->serial, __ATOMIC_ACQUIRE); }

static void words_release(struct notes *n, const struct reader_set *s, bool locked)
{
    for (u32 k = s->used; k;) {
        u32 note = s->word[--k] >> n->shift;
        if (member_words(POOL_AT(&n->note, const struct note, note)->a) == 2) k--;
        note_unref(n, note, locked);
    }
}

void set_unref(struct notes *n, u32 x, bool locked)
{
    while (x) {
        struct reader_set *s = set_at(n, x);
        u32 left = locked ? __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) : --s->refs;
        if (left) return;
        u32 rest = s->rest;
        words_release(n, s, locked);
        say_no_more(s);
        pool_give(&n->set, x >> SET_SHIFT, locked); /* from then on it may be another's */
        x = rest;
    }
}

static u32 held(const struct touch *t, u32 x)
{
    if (x) set_ref(notes_of(t), x, notes_locked(t->w, t->space));
    return x;
}

/* A reference to a set that was remembered, if it still is what it was. */
static bool held_again(const struct touch *t, u32 x, u32 serial)
{
    struct notes *n = notes_of(t);
    bool locked = notes_locked(t->w, t->space);
    if (serial_of(n, x) != serial) return false;
    if (!locked) {
        set_at(n, x)->refs++;
        return true;
    }
    u32 refs = __atomic_load_n(&set_at(n, x)->refs, __ATOMIC_RELAXED);
    do
        if (!refs) return false;
    while (
        !__atomic_compare_exchange_n(&set_at(n, x)->refs, &refs, refs + 1, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
    if (serial_of(n, x) == serial) return true;
    set_unref(n, x, locked); /* it was over, and is another's by now */
    return false;
}

/* Nobody has more words of the block than these: it has this many from now on, and they are ours to write. */
static bool claim(struct reader_set *s, u32 words, u32 more, bool locked)
{
    u8 used = (u8)words;
    if (words + more > SET_WORDS) return false;
    if (locked)
        return __atomic_compare_exchange_n(&s->used, &used, (u8)(words + more), false, __ATOMIC_ACQ_REL,
                                           __ATOMIC_RELAXED);
    if (s->used != words) return false;
    s->used = (u8)(words + more);
    return true;
}

/* A block for one more; takes the reference to the rest. */
static u32 set_new(const struct touch *t, u32 rest, u32 words)
{
    struct notes *n = notes_of(t);
    u32 x = pool_take(&n->set, notes_locked(t->w, t->space)) << SET_SHIFT;
    struct reader_set *s = set_at(n, x);
    s->rest = rest;
    s->used = (u8)words;
    s->count = s->latest = s->clean = 0;
    if (rest) {
        s->count = set_count(n, rest);
        s->latest = __atomic_load_n(&set_at(n, rest)->latest, __ATOMIC_RELAXED);
        s->clean = set_at(n, rest)->clean;
    }
    __atomic_store_n(&s->refs, 1, __ATOMIC_RELAXED);
    return x;
}

/* The set with one more, whose note is held for it; takes the reference, and gives one. */
static u32 with(const struct touch *t, u32 x, const struct member *m)
{
    struct notes *n = notes_of(t);
    u32 words = member_words(m->a), at = words_in(x);
    if (!x || !claim(set_at(n, x), at, words, notes_locked(t->w, t->space))) {
        x = set_new(t, x, words);
        at = 0;
    }
    struct reader_set *s = set_at(n, x);
    if (words == 2) s->word[at++] = m->lanes;
    s->word[at++] = m->mark;
    if (word_time(m->a) > s->latest) __atomic_store_n(&s->latest, word_time(m->a), __ATOMIC_RELAXED);
    return first_words(x, at);
}

u32 set_with(const struct touch *t, u32 x, const struct member *m)
{
    struct notes *n = notes_of(t);
    note_ref(n, m->mark >> n->shift, notes_locked(t->w, t->space));
    return with(t, x, m);
}

/* ---- who is behind them ---- */

bool set_member_known(const struct touch *t, u64 a)
{
    struct race_cta *c = t->w->c;
    bool own = word_slot(a) == c->slot && word_time(a) >= c->start;
    return a < c->lo[t->space] || (own && word_time(a) < c->base) || hb_cta_maybe(c, a);
}

static bool all_known(const struct touch *t, u32 x)
{
    struct race_cta *c = t->w->c;
    const struct notes *n = notes_of(t);
    struct member m;
    for (u32 note = 0; x; note = m.mark >> n->shift) {
        x = set_last(n, x, &m);
        c->walked++;
        if (m.mark >> n->shift != note && !set_member_known(t, m.a)) return false;
    }
    return true;
}

bool set_known(const struct touch *t, u32 x)
{
    struct race_cta *c = t->w->c;
    struct notes *n = notes_of(t);
    struct ordered_memo *p = &c->ordered_memo[t->space];
    u64 lo = c->lo[t->space];
    if (c->walked > c->launch->of->total && c->grid_base_at != c->base) clock_grid_base(c);
    if (__atomic_load_n(&set_at(n, x)->latest, __ATOMIC_RELAXED) < c->grid_base) return true;
    if (p->since >= lo && p->set == x) return true;
    if (p->other == x && p->base == c->base) return false;
    if (!all_known(t, x)) {
        p->other = x;
        p->base = c->base;
        return false;
    }
    if (p->since >= lo) set_unref(n, p->set, notes_locked(t->w, t->space));
    p->since = (u64)c->now << 32;
    p->set = held(t, x);
    c->has_refs |= t->space == SPACE_GLOBAL;
    return true;
}

/* ---- one more reader ---- */

/* among so many that came last one is looked for that is replaced; beyond twice what is needed a set may have this
 * many words */
enum { LOOK = 2, SLACK = 64 };

static u32 lanes_in(u64 a, u32 lanes) { return word_kind(a) == WHO_WARP ? lanes : 1u << word_lane(a); }

/* A reader says no more than `me`, or both can be said as one: then *lanes has those of both. */
static bool replaced(const struct touch *t, const struct member *m, u64 me, u32 *lanes)
{
    if ((u32)(m->a ^ me) >> 14 || word_time(m->a) < t->w->c->start || word_es(m->a) != word_es(me) || (m->a ^ me) & 15)
        return false;
    u32 his = lanes_in(m->a, m->lanes), mine = lanes_in(me, *lanes);
    if (word_es(me) < ES_ONE) return word_lane(m->a) == word_lane(me); /* the same threads at every byte */
    if (his & ~mine && (word_time(m->a) != word_time(me) || m->site != t->site || me & STRONG_ANY)) return false;
    *lanes = his | mine;
    return true;
}

/* The same as x, which is the only one to know its last words, without the last reader. */
static u32 shortened(struct notes *n, u32 x, u32 rest, u32 mark)
{
    struct reader_set *s = set_at(n, x);
    s->used = (u8)words_in(rest);
    say_no_more(s);
    note_unref(n, mark >> n->shift, false);
    return rest;
}

/* The set without the reader that `me` replaces; takes the reference, and gives one. owners: if there are no more
 * than these, none will need it any more. */
static u32 without_replaced(const struct touch *t, u32 x, u64 me, u32 *lanes, u32 owners)
{
    struct notes *n = notes_of(t);
    bool locked = notes_locked(t->w, t->space), found = false;
    struct member m, above[LOOK];
    u32 rest = x, depth = 0;
    while (rest && depth < LOOK) {
        rest = set_last(n, rest, &m);
        if ((found = replaced(t, &m, me, lanes))) break;
        above[depth++] = m;
    }
    if (!found) return x;
    const struct reader_set *s = set_at(n, x);
    if (!depth && !locked && s->refs == owners && s->used == words_in(x) && rest >> SET_SHIFT == x >> SET_SHIFT)
        return shortened(n, x, rest, m.mark);
    rest = held(t, rest);
    while (depth-- > 0) rest = set_with(t, rest, &above[depth]);
    set_unref(n, x, locked);
    return rest;
}

/* Who has read after a member: by slot, warp, es and CTA, of one thread a word also by lane. */
struct later {
    u64 who;
    u32 start, lanes;
};

/* Adds a member to the table; true: it says something. */
static bool later_add(struct later *table, u32 size, const struct race *r, const struct member *m)
{
    u32 es = word_es(m->a), lanes = es < ES_ONE ? 1u << word_lane(m->a) : lanes_in(m->a, m->lanes),
        start = clock_cta_start(r, m->a);
    u64 who = (u64)word_warp(m->a) << 8 | (m->a & 15) << 4 | es | 8;
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
    u32 count = set_count(n, x), m = 0, size = 64, rest = 0, clean = 0;
    while (size < 2 * count) size *= 2;
    struct later *table = base_need(sizeof *table * size);
    struct member *keep = base_need(sizeof *keep * count);
    lock(&t->w->c->launch->lock);
    for (u32 k = x; k;) {
        k = set_last(n, k, &keep[m]);
        m += later_add(table, size, t->w->c->race, &keep[m]);
    }
    unlock(&t->w->c->launch->lock);
    while (m-- > 0) rest = set_with(t, rest, &keep[m]);
    while (1u << clean < set_count(n, rest)) clean++;
    set_at(n, rest)->clean = (u8)clean;
    base_free(table);
    base_free(keep);
    set_unref(n, x, notes_locked(t->w, t->space));
    return rest;
}

static bool crowded(const struct notes *n, u32 x) { return set_count(n, x) > (2u << set_at(n, x)->clean) + SLACK; }

/* Takes the reference, and gives one. */
static u32 added(const struct touch *t, u32 x, u64 me, u32 lanes, u32 owners)
{
    struct notes *n = notes_of(t);
    u32 mine = lanes_in(me, lanes);
    if (x && set_known(t, x)) {
        set_unref(n, x, notes_locked(t->w, t->space));
        x = 0;
    }
    x = without_replaced(t, x, me, &mine, owners);
    if (x && crowded(n, x)) x = cleaned(t, x);
    bool run = word_es(me) < ES_ONE, one = !(mine & (mine - 1));
    u64 a = run ? me : (me & ~(31ull << 9 | 3 << 4)) | (u64)__builtin_ctz(mine) << 9 | (one ? WHO_ONE : WHO_WARP) << 4;
    return set_with(t, x, &(struct member){ a, run || one ? 0 : mine, t->site, mark_of(t->w, t->space, a, t->site) });
}

u32 set_add_strong(const struct touch *t, u32 x, u64 me, u32 number)
{
    const struct notes *n = notes_of(t);
    u32 mine = lanes_in(me, 0);
    if (x) x = without_replaced(t, x, me, &mine, 1);
    if (x && crowded(n, x)) x = cleaned(t, x);
    return set_with(t, x, &(struct member){ me, number, t->site, mark_of(t->w, t->space, me, t->site) });
}

u32 set_append(const struct touch *t, u32 x, u64 me, u32 lanes)
{
    struct notes *n = notes_of(t);
    struct reader_set *s = set_at(n, x);
    u32 at = words_in(x), words = lanes ? 2 : 1;
    if (notes_locked(t->w, t->space) || s->refs != 1 || s->used != at || at + words > SET_WORDS ||
        s->latest < t->w->c->grid_base || crowded(n, x))
        return 0;
    u64 last = prior_of_mark(n, s->word[at - 1]).a;
    if (!((u32)(last ^ me) >> 14) || set_member_known(t, last)) return 0;
    u32 mark = mark_of(t->w, t->space, me, t->site);
    note_ref(n, mark >> n->shift, false);
    if (lanes) s->word[at++] = lanes;
    s->word[at++] = mark;
    s->used = (u8)at;
    s->latest = MAX_OF(s->latest, word_time(me));
    return first_words(x, at);
}

/* The set of one reader, who may be noted as he is. */
static u32 set_of_one(const struct touch *t, u64 a, u32 site, u32 mark)
{
    struct notes *n = notes_of(t);
    u32 threads = (1u << n->shift) - 1;
    struct member m = { a, 0, site, mark };
    if (mark && prior_of_mark(n, mark).a == a) return set_with(t, 0, &m);
    m.mark = note_new(n, a & ~((u64)threads << 9), site, notes_locked(t->w, t->space)) << n->shift |
             (word_thread(a) & threads);
    return with(t, 0, &m);
}

u32 set_add(const struct touch *t, struct prior old, u64 me, u32 lanes, bool leaves)
{
    struct race_cta *c = t->w->c;
    const struct notes *n = notes_of(t);
    u64 one = word_is_set(old.a) ? 0 : old.a & ~12ull; /* so far; 0: a set, or nobody */
    u32 from = old.a ? old.site : 0, serial = !one && from ? serial_of(n, from) : 0;
    /* nobody else will come from there */
    if (!one && from && leaves && __atomic_load_n(&set_at(n, from)->refs, __ATOMIC_RELAXED) == 1)
        return added(t, held(t, from), me, lanes, 2);
    struct set_memo *s = &c->set_memo[t->space][(from + (from >> SET_SHIFT) + 5 * t->site + (word_lane(me) >> 3)) %
                                                SET_MEMOS * SET_MEMO_WAYS];
    for (u32 k = 0; k < SET_MEMO_WAYS; k++, s++) {
        if (s->a != me || s->one != one || s->from != from || s->lanes != lanes || s->site != t->site) continue;
        if (s->from_serial == serial && held_again(t, s->to, s->to_serial)) return s->to;
    }
    s -= 1 + c->nset_memo++ % SET_MEMO_WAYS;
    u32 to = one ? added(t, set_of_one(t, one, from, old.mark), me, lanes, 1)
                 : added(t, held(t, from), me, lanes, leaves ? 2 : 0);
    *s = (struct set_memo){ me, lanes, t->site, one, from, to, serial, serial_of(n, to) };
    return to;
}

/* ---- as entries of a list ---- */

/* Elements whose sets went different ways have the same readers many times: each is found again by what it says, with
 * the bytes it has so far. */
/* index: hash of them, number + 1, of 2 * cap places */
struct entries {
    struct list_entry *e;
    u32 n, cap;
    u32 *index;
};

static u32 *entry_at(const struct entries *x, const struct member *s)
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
    for (u32 k = 0; k < x->n; k++)
        *entry_at(x, &(struct member){ .a = x->e[k].a, .lanes = x->e[k].lanes, .site = x->e[k].site }) = k + 1;
}

struct list_entry *set_entries(const struct notes *n, const struct set_bytes *of, u32 count, u32 *found)
{
    struct entries x = { 0 };
    for (u32 j = 0; j < count; j++)
        for (u32 k = of[j].set; k;) {
            struct member m;
            k = set_last(n, k, &m);
            if (x.n == x.cap) entries_grow(&x);
            u32 *at = entry_at(&x, &m);
            if (*at) {
                x.e[*at - 1].bytes |= of[j].bytes;
                continue;
            }
            x.e[x.n] =
                (struct list_entry){ .a = m.a, .bytes = of[j].bytes, .lanes = m.lanes, .site = m.site, .op = OP_READ };
            *at = ++x.n;
        }
    for (u32 k = 0; k < x.n / 2; k++) {
        struct list_entry e = x.e[k];
        x.e[k] = x.e[x.n - 1 - k];
        x.e[x.n - 1 - k] = e;
    }
    base_free(x.index);
    *found = x.n;
    return x.e;
}

void set_memos_drop(struct race_cta *c)
{
    struct ordered_memo *p = &c->ordered_memo[SPACE_GLOBAL];
    if (p->since >= c->lo[SPACE_GLOBAL]) set_unref(&c->launch->notes, p->set, c->launch->parallel);
    p->since = 0;
}
