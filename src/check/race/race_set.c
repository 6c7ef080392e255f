/* Reader sets, in kernels that are not simple: a write must be ordered after each of the reads before it, so each is
 * remembered.
 *
 * A set is a linked list of blocks: some members in its own block, and `rest`, the set of the others. A set is
 * shared, and does not change while it is. Elements that the same warps have read have the same set: the n-th warp that
 * reads an array finds one set in every element and leaves another one in every element. The CTA remembers which set
 * became which (struct set_memo), so that adding a reader is most often a comparison, and the memory of a set does not
 * depend on how many elements have it.
 *
 * Where each element has readers of its own, a set has to be small and lie together. So a block has room for several
 * members, one or two words each, and the number of a set says how many words of the block belong to it. A set that has
 * all words in use of a block is extended in place: sets of fewer words of the same block do not change by that.
 *
 * A member is removed when a new one replaces it: the same lanes at a later time. The last members are handled at once,
 * the others when many have accumulated. All members are removed when they happen before all that the CTA of the new
 * reader does now.
 *
 * References: functions that return a set "take" the reference to their argument and "give" one to their result, unless
 * said otherwise. */
#include "race/race_launch.h"
#include "race/race_touch.h"

/* The words of its block that belong to a set; the set of the first words of a block. */
static u32 set_words(u32 x) { return x & ((1u << SET_SHIFT) - 1); }
static u32 set_of_words(u32 x, u32 words) { return (x >> SET_SHIFT << SET_SHIFT) + words; }

/* ---- blocks ---- */

/* The words of a block change their meaning: a memo that names the set without a reference to it becomes void. */
static void set_invalidate(struct reader_set *s) { __atomic_store_n(&s->serial, s->serial + 1, __ATOMIC_RELEASE); }
static u32 set_serial(const struct notes *n, u32 x) { return __atomic_load_n(&set_at(n, x)->serial, __ATOMIC_ACQUIRE); }

/* Gives up the references of all members in a block. */
static void unref_notes(struct notes *n, const struct reader_set *s, bool locked)
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
        unref_notes(n, s, locked);
        set_invalidate(s);
        pool_give(&n->set, x >> SET_SHIFT, locked); /* from now on it may be taken for another set */
        x = rest;
    }
}

/* x, with one more reference. */
static u32 set_reffed(const struct touch *t, u32 x)
{
    if (x) set_ref(notes_of(t), x, notes_locked(t->w, t->space));
    return x;
}

/* Takes a reference to a set that a memo names; false: the set has changed since, and there is none. */
static bool set_ref_if_unchanged(const struct touch *t, u32 x, u32 serial)
{
    struct notes *n = notes_of(t);
    bool locked = notes_locked(t->w, t->space);
    if (set_serial(n, x) != serial) return false;
    if (!locked) {
        set_at(n, x)->refs++;
        return true;
    }
    u32 refs = __atomic_load_n(&set_at(n, x)->refs, __ATOMIC_RELAXED);
    do
        if (!refs) return false;
    while (
        !__atomic_compare_exchange_n(&set_at(n, x)->refs, &refs, refs + 1, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
    if (set_serial(n, x) == serial) return true;
    set_unref(n, x, locked); /* the block was given back and taken again in between */
    return false;
}

/* Extends a block of which exactly `words` are in use by `more` words, which are the caller's to write. false: more
 * words are in use, or there is no room. */
static bool claim_words(struct reader_set *s, u32 words, u32 more, bool locked)
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

/* A new block, of which so many words are in use; takes the reference to the rest. */
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
    __atomic_store_n(&s->refs, 1, __ATOMIC_RELEASE); /* set_ref_if_unchanged: after the serial of the block */
    return x;
}

/* The set x with one more member, whose reference to its note is given along. */
static u32 set_push(const struct touch *t, u32 x, const struct member *m)
{
    struct notes *n = notes_of(t);
    u32 words = member_words(m->a), at = set_words(x);
    if (!x || !claim_words(set_at(n, x), at, words, notes_locked(t->w, t->space))) {
        x = set_new(t, x, words);
        at = 0;
    }
    struct reader_set *s = set_at(n, x);
    if (words == 2) s->word[at++] = m->lanes;
    s->word[at++] = m->mark;
    if (word_time(m->a) > s->latest) __atomic_store_n(&s->latest, word_time(m->a), __ATOMIC_RELAXED);
    return set_of_words(x, at);
}

u32 set_with(const struct touch *t, u32 x, const struct member *m)
{
    struct notes *n = notes_of(t);
    note_ref(n, m->mark >> n->shift, notes_locked(t->w, t->space));
    return set_push(t, x, m);
}

/* ---- one more reader ---- */

/* LOOK_BACK: so many of the last members are compared with a new one. SLACK: a set is searched for replaced members
 * when it has twice the words it had after the last search, and so many more. */
enum { LOOK_BACK = 2, SLACK = 64 };

/* The lanes of a member. */
static u32 member_lanes(u64 a, u32 lanes) { return word_kind(a) == WHO_WARP ? lanes : 1u << word_lane(a); }

/* The new read `me` replaces the member m, or both can be one member: then *lanes has the lanes of both. */
static bool is_replaced(const struct touch *t, const struct member *m, u64 me, u32 *lanes)
{
    if (!word_same_warp(m->a, me) || word_time(m->a) < t->w->c->start || word_es(m->a) != word_es(me) ||
        (m->a ^ me) & WORD_LOW)
        return false;
    u32 theirs = member_lanes(m->a, m->lanes), mine = member_lanes(me, *lanes);
    if (word_es(me) < ES_ONE) return word_lane(m->a) == word_lane(me); /* the same threads at every byte */
    if (theirs & ~mine && (word_time(m->a) != word_time(me) || m->site != t->site || me & STRONG_ANY)) return false;
    *lanes = theirs | mine;
    return true;
}

/* x without its last member, in place: no other set has these words. rest: the number of the set of the others. */
static u32 without_last(struct notes *n, u32 x, u32 rest, u32 mark)
{
    struct reader_set *s = set_at(n, x);
    s->used = (u8)set_words(rest);
    set_invalidate(s);
    note_unref(n, mark >> n->shift, false);
    return rest;
}

/* x without the member that `me` replaces, if it is among the last. owners: if x has no more references than these, no
 * one needs it any longer, and its block may be changed. */
static u32 without_replaced(const struct touch *t, u32 x, u64 me, u32 *lanes, u32 owners)
{
    struct notes *n = notes_of(t);
    bool locked = notes_locked(t->w, t->space), found = false;
    struct member m, above[LOOK_BACK];
    u32 rest = x, depth = 0;
    while (rest && depth < LOOK_BACK) {
        rest = set_last(n, rest, &m);
        if ((found = is_replaced(t, &m, me, lanes))) break;
        above[depth++] = m;
    }
    if (!found) return x;
    const struct reader_set *s = set_at(n, x);
    if (!depth && !locked && s->refs == owners && s->used == set_words(x) && rest >> SET_SHIFT == x >> SET_SHIFT)
        return without_last(n, x, rest, m.mark);
    rest = set_reffed(t, rest);
    while (depth-- > 0) rest = set_with(t, rest, &above[depth]);
    set_unref(n, x, locked);
    return rest;
}

/* A hash table of the readers that come after a member in a set. */
struct later_readers {
    u64 who;   /* slot, warp, es and flags; 0: the entry is empty */
    u32 start; /* of their CTA */
    u32 lanes; /* of one thread a byte: the lane of the first byte */
};

/* Adds a member to the table; true: it has lanes that no later member has. */
static bool later_readers_add(struct later_readers *table, u32 size, const struct race *r, const struct member *m)
{
    u32 es = word_es(m->a), lanes = es < ES_ONE ? 1u << word_lane(m->a) : member_lanes(m->a, m->lanes),
        start = resident_start(r, m->a);
    u64 who = (u64)word_warp(m->a) << 8 | (m->a & 15) << 4 | es | 8;
    u32 k = (u32)((who ^ (u64)start << 20) * 0x9e3779b97f4a7c15u >> 32) & (size - 1);
    while (table[k].who && (table[k].who != who || table[k].start != start)) k = (k + 1) & (size - 1);
    bool adds = lanes & ~table[k].lanes;
    table[k] = (struct later_readers){ who, start, table[k].lanes | lanes };
    return adds;
}

/* The current access stands for a member of a launch that is before it, whole: whoever is ordered after the access is
 * ordered after the member, and whoever is not races with the access, too. Of strong members that is so where the
 * access conflicts with all that the member conflicts with. Under the lock of the era. */
static bool stands_for(const struct touch *t, const struct member *m)
{
    const struct race_cta *c = t->w->c;
    struct resident was;
    if (t->space == SPACE_SHARED || c->era->launches < 2) return false;
    if (m->a & STRONG_ANY && ((m->a & STRONG_WRITE && !(t->op & OP_WRITE)) || word_scope(m->a) < t->scope))
        return false;
    if (!resident_at(c->race, word_slot(m->a), word_time(m->a), &was)) return true;
    return was.launch != c->launch->number && launch_before(c->era, was.launch, c->launch);
}

/* x without members that later ones, or the current access, replace. */
static u32 without_all_replaced(const struct touch *t, u32 x)
{
    struct notes *n = notes_of(t);
    u32 count = set_count(n, x), m = 0, size = 64, rest = 0, clean = 0;
    while (size < 2 * count) size *= 2;
    struct later_readers *table = base_need(sizeof *table * size);
    struct member *keep = base_need_more(NULL, sizeof *keep * count);
    lock(&t->w->c->era->lock);
    for (u32 k = x; k;) {
        k = set_last(n, k, &keep[m]);
        if (!stands_for(t, &keep[m])) m += later_readers_add(table, size, t->w->c->race, &keep[m]);
    }
    unlock(&t->w->c->era->lock);
    while (m-- > 0) rest = set_with(t, rest, &keep[m]);
    while (rest && 1u << clean < set_count(n, rest)) clean++;
    if (rest) set_at(n, rest)->clean = (u8)clean;
    base_free(table);
    base_free(keep);
    set_unref(n, x, notes_locked(t->w, t->space));
    return rest;
}

/* The set is to be searched for replaced members. */
static bool is_crowded(const struct notes *n, u32 x) { return set_count(n, x) > (2u << set_at(n, x)->clean) + SLACK; }

/* x with the weak read `me`; owners: as in without_replaced. */
static u32 set_added(const struct touch *t, u32 x, u64 me, u32 lanes, u32 owners)
{
    struct notes *n = notes_of(t);
    u32 mine = member_lanes(me, lanes);
    if (x && hb_set_maybe(t, x)) {
        set_unref(n, x, notes_locked(t->w, t->space));
        x = 0;
    }
    x = without_replaced(t, x, me, &mine, owners);
    if (x && is_crowded(n, x)) x = without_all_replaced(t, x);
    /* a run of lanes stays as it is; otherwise the word names the first lane */
    bool run = word_es(me) < ES_ONE, one = !(mine & (mine - 1));
    u64 a = run ? me
                : (me & ~(WORD_LANE | WORD_KIND)) | (u64)__builtin_ctz(mine) << 9 | (one ? WHO_ONE : WHO_WARP) << 4;
    return set_with(t, x, &(struct member){ a, run || one ? 0 : mine, t->site, mark_of(t->w, t->space, a, t->site) });
}

/* A thread that goes round a ring, or polls, does no more than this. If x has one reference, that is under the lock of
 * the cell: it does not become more meanwhile. */
bool set_again(const struct touch *t, u32 x, u64 me, u32 number)
{
    struct notes *n = notes_of(t);
    struct reader_set *s = set_at(n, x);
    u32 at = set_words(x), old = s->word[at - 1];
    u64 was = prior_of_mark(n, old).a;
    if ((u32)was != (u32)me || word_time(was) < t->w->c->start || s->used != at ||
        __atomic_load_n(&s->refs, __ATOMIC_ACQUIRE) != 1)
        return false;
    bool locked = notes_locked(t->w, t->space);
    u32 mark = mark_of(t->w, t->space, me, t->site);
    if (member_words(me) == 2) s->word[at - 2] = number;
    if (mark != old) {
        note_ref(n, mark >> n->shift, locked);
        s->word[at - 1] = mark;
        note_unref(n, old >> n->shift, locked);
    }
    if (word_time(me) > s->latest) __atomic_store_n(&s->latest, word_time(me), __ATOMIC_RELAXED);
    set_invalidate(s);
    return true;
}

u32 set_add_strong(const struct touch *t, u32 x, u64 me, u32 number)
{
    const struct notes *n = notes_of(t);
    u32 mine = member_lanes(me, 0);
    if (x && set_again(t, x, me, number)) return x;
    if (x) x = without_replaced(t, x, me, &mine, 1);
    if (x && is_crowded(n, x)) x = without_all_replaced(t, x);
    return set_with(t, x, &(struct member){ me, number, t->site, mark_of(t->w, t->space, me, t->site) });
}

u32 set_append(const struct touch *t, u32 x, u64 me, u32 lanes)
{
    struct notes *n = notes_of(t);
    struct reader_set *s = set_at(n, x);
    u32 at = set_words(x), words = lanes ? 2 : 1;
    if (notes_locked(t->w, t->space) || s->refs != 1 || s->used != at || at + words > SET_WORDS ||
        hb_grid_maybe(t->w->c, s->latest) || is_crowded(n, x))
        return 0;
    /* a last member of the same warp may be replaced, and one that is ordered already may end the set: not here */
    u64 last = prior_of_mark(n, s->word[at - 1]).a;
    if (word_same_warp(last, me) || hb_cta_maybe(t->w->c, last, t->space)) return 0;
    u32 mark = mark_of(t->w, t->space, me, t->site);
    note_ref(n, mark >> n->shift, false);
    if (lanes) s->word[at++] = lanes;
    s->word[at++] = mark;
    s->used = (u8)at;
    s->latest = MAX_OF(s->latest, word_time(me));
    return set_of_words(x, at);
}

/* The set of one reader, whose mark is used again if it has one. */
static u32 set_of_one(const struct touch *t, u64 a, u32 site, u32 mark)
{
    struct notes *n = notes_of(t);
    u32 threads = (1u << n->shift) - 1;
    struct member m = { a, 0, site, mark };
    if (mark && prior_of_mark(n, mark).a == a) return set_with(t, 0, &m);
    m.mark = note_new(n, a & ~((u64)threads << 9), site, notes_locked(t->w, t->space)) << n->shift |
             (word_thread(a) & threads);
    return set_push(t, 0, &m);
}

u32 set_add(const struct touch *t, struct prior old, u64 me, u32 lanes, bool leaves)
{
    struct race_cta *c = t->w->c;
    const struct notes *n = notes_of(t);
    u64 one = word_is_set(old.a) ? 0 : old.a & ~WORD_SCOPE; /* the only reader so far; 0: there is a set, or none */
    u32 from = old.a ? old.site : 0, serial = !one && from ? set_serial(n, from) : 0;
    /* No other element has the set: no one will add this reader to it again, so a memo would be of no use. */
    if (!one && from && leaves && __atomic_load_n(&set_at(n, from)->refs, __ATOMIC_RELAXED) == 1)
        return set_added(t, set_reffed(t, from), me, lanes, 2);
    struct set_memo *s = &c->set_memo[t->space][(from + (from >> SET_SHIFT) + 5 * t->site + (word_lane(me) >> 3)) %
                                                SET_MEMOS * SET_MEMO_WAYS];
    for (u32 k = 0; k < SET_MEMO_WAYS; k++, s++) {
        if (s->a != me || s->one != one || s->from != from || s->lanes != lanes || s->site != t->site) continue;
        if (s->from_serial == serial && set_ref_if_unchanged(t, s->to, s->to_serial)) return s->to;
    }
    /* s points after the last way of its bucket: one of the ways before it is replaced in turn */
    s -= 1 + c->nset_memo++ % SET_MEMO_WAYS;
    u32 to = one ? set_added(t, set_of_one(t, one, from, old.mark), me, lanes, 1)
                 : set_added(t, set_reffed(t, from), me, lanes, leaves ? 2 : 0);
    *s = (struct set_memo){ me, lanes, t->site, one, from, to, serial, set_serial(n, to) };
    return to;
}

/* ---- as entries of a list ---- */

/* Elements whose sets differ have many members in common. A hash table finds the entry of each member, which then gets
 * the bytes of all those elements. */
struct entry_table {
    struct list_entry *e; /* the entries */
    u32 n, cap;           /* how many; room for how many */
    u32 *index;           /* hash table of 2 * cap: number of an entry + 1; 0: empty */
};

/* The place of a member in the hash table. */
static u32 *entry_slot(const struct entry_table *x, const struct member *s)
{
    u32 k = (u32)((s->a ^ (u64)s->lanes << 29 ^ (u64)s->site << 13) * 0x9e3779b97f4a7c15u >> 32) & (2 * x->cap - 1);
    for (; x->index[k]; k = (k + 1) & (2 * x->cap - 1)) {
        const struct list_entry *e = &x->e[x->index[k] - 1];
        if (e->a == s->a && e->lanes == s->lanes && e->site == s->site) break;
    }
    return &x->index[k];
}

static void entry_table_grow(struct entry_table *x)
{
    x->cap = x->cap ? 2 * x->cap : 64;
    x->e = base_need_more(x->e, sizeof *x->e * x->cap);
    base_free(x->index);
    x->index = base_need(sizeof *x->index * 2 * x->cap);
    for (u32 k = 0; k < x->n; k++)
        *entry_slot(x, &(struct member){ .a = x->e[k].a, .lanes = x->e[k].lanes, .site = x->e[k].site }) = k + 1;
}

struct list_entry *set_entries(const struct notes *n, const struct set_bytes *of, u32 count, u32 *found)
{
    struct entry_table x = { 0 };
    for (u32 j = 0; j < count; j++)
        for (u32 k = of[j].set; k;) {
            struct member m;
            k = set_last(n, k, &m);
            if (x.n == x.cap) entry_table_grow(&x);
            u32 *at = entry_slot(&x, &m);
            if (*at) {
                x.e[*at - 1].bytes |= of[j].bytes;
                continue;
            }
            x.e[x.n] =
                (struct list_entry){ .a = m.a, .bytes = of[j].bytes, .lanes = m.lanes, .site = m.site, .op = OP_READ };
            *at = ++x.n;
        }
    for (u32 k = 0; k < x.n / 2; k++) { /* sets give the last member first */
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
    if (p->since >= c->lo[SPACE_GLOBAL]) set_unref(&c->era->notes, p->set, c->era->parallel);
    p->since = 0;
}
