/* race_set.h: reader sets: concurrent accesses to the same bytes that do not conflict, in kernels that are not simple.
 *
 * Most members are weak reads. Strong accesses to one location, which do not conflict with each other either, have sets
 * of their own (race_list.h). race_set.c explains the structure. */
#ifndef LOCKSTEP_RACE_SET_H
#define LOCKSTEP_RACE_SET_H
#include "race/race_notes.h"

struct list_entry;

/* The number of a set is the number of its block << SET_SHIFT, plus how many words of the block belong to it. */
enum { SET_SHIFT = 4, SET_WORDS = 10 };
struct reader_set {
    u32 rest;   /* number of the set of the other members; 0: there are none */
    u32 refs;   /* elements, sets and CTAs that refer to it, or to a set of fewer of its words */
    u32 count;  /* words of the other members */
    u32 latest; /* no member of it or of the rest has accessed after this time */
    u32 serial; /* grows when its words change their meaning */
    u8 used;    /* words in use */
    u8 clean;   /* log2 of the words that were left when replaced members were removed last, rounded up */
    /* for each member: its lanes if it is of kind WHO_WARP, or the number of a strong write; then its mark */
    u32 word[SET_WORDS];
};
/* A member of a set. es and kind of its access word say who accessed which byte. Strong members are of one thread each,
 * and have flags and a scope in their access word. */
struct member {
    u64 a;
    u32 lanes; /* of kind WHO_WARP; of a strong write: its number at its location */
    u32 site, mark;
};
enum { STRONG_WRITE = 1, STRONG_ANY = 2 }; /* flags of the access word of a strong member */
static inline u64 strong_word(u64 a, u32 scope, bool write)
{
    return a | scope << 2 | STRONG_ANY | (write ? STRONG_WRITE : 0);
}
static inline u32 member_words(u64 a) { return word_kind(a) == WHO_WARP || a & STRONG_WRITE ? 2 : 1; }

/* A CTA remembers which set an access made from another one: SET_MEMOS hash buckets of SET_MEMO_WAYS. */
enum { SET_MEMOS = 16, SET_MEMO_WAYS = 4 };
struct set_memo {
    u64 a; /* the access that was added */
    u32 lanes, site;
    u64 one;                    /* the only member so far, if that was no set; 0: it was a set */
    u32 from, to;               /* the set before, or the site of `one`; the set after */
    u32 from_serial, to_serial; /* which these had: another one now, and the memo is void */
};
/* A CTA remembers the last set that happens before all it does, and the last one that does not. */
struct ordered_memo {
    u64 since;       /* below lo: no set is remembered */
    u32 set;         /* each member of it happens before all that the CTA does since that time */
    u32 other, base; /* a set of which some member does not, when that was the base of the CTA */
};

/* the set of `old` and `me`, with a reference. leaves: who refers to the old set will refer to the new one instead */
u32 set_add(const struct touch *t, struct prior old, u64 me, u32 lanes, bool leaves);
/* The same where one element alone has the set, the block has room, and no member is replaced: the reference to x is
 * one to the result. 0: that is not so, and nothing was done. */
u32 set_append(const struct touch *t, u32 x, u64 me, u32 lanes);
u32 set_with(const struct touch *t, u32 x, const struct member *m); /* x and m; takes the reference to x, gives one */
/* the same with a strong access, which replaces others like it of the same thread */
u32 set_add_strong(const struct touch *t, u32 x, u64 me, u32 number);
/* The last member is an earlier access like `me` of the same thread, and no one else has the block: `me` takes its
 * place. false: that is not so, and nothing was done. */
bool set_again(const struct touch *t, u32 x, u64 me, u32 number);
void set_unref(struct notes *n, u32 x, bool locked);
struct set_bytes {
    u32 set, bytes; /* bytes of a sector, and the set of those who have read them */
};
/* each access of the members once, with all its bytes, the first one first; to be freed */
struct list_entry *set_entries(const struct notes *n, const struct set_bytes *of, u32 count, u32 *found);
void set_memos_drop(struct race_cta *c); /* the CTA has ended */

static inline struct reader_set *set_at(const struct notes *n, u32 x)
{
    return POOL_AT(&n->set, struct reader_set, x >> SET_SHIFT);
}
/* The number of words of a set, in all its blocks. */
static inline u32 set_count(const struct notes *n, u32 x)
{
    return set_at(n, x)->count + (x & ((1u << SET_SHIFT) - 1));
}
/* *m is the member that joined last. Returns the number of the set of the others. */
static inline u32 set_last(const struct notes *n, u32 x, struct member *m)
{
    const struct reader_set *s = set_at(n, x);
    const u32 *word = &s->word[x & ((1u << SET_SHIFT) - 1)];
    struct prior p = prior_of_mark(n, *--word);
    *m = (struct member){ p.a, 0, p.site, *word };
    if (member_words(m->a) == 2) m->lanes = *--word;
    return word == s->word ? s->rest : (x >> SET_SHIFT << SET_SHIFT) + (u32)(word - s->word);
}
/* The last member is this access already: the set is up to date. */
static inline bool set_last_is(const struct notes *n, u32 x, u64 me, u32 lanes)
{
    struct member m;
    set_last(n, x, &m);
    return m.a == me && !(lanes & ~m.lanes);
}
static inline void set_ref(struct notes *n, u32 x, bool locked)
{
    struct reader_set *s = set_at(n, x);
    if (unlikely(locked))
        __atomic_fetch_add(&s->refs, 1, __ATOMIC_RELAXED);
    else
        s->refs++;
}
#endif
