/* race_notes.h: the elements of mixed sectors: sectors whose bytes were accessed differently.
 *
 * A cell has room for one access word of writes and one of reads. When the bytes of a sector differ, the cell has the
 * number of an element block instead, for each of writes, reads and strong writes: one access for each element of the
 * sector. There are four forms of block:
 *
 *   FORM_FULL     8 elements of 4 bytes, each an access word and a site. Shared memory, which is small and often read.
 *   FORM_WORDS    8 elements of 4 bytes, each a mark. Global memory.
 *   FORM_HALVES   16 elements of 2 bytes, each a mark.
 *   FORM_BYTES    32 elements of 1 byte, each a mark in 16 bits: an offset from the base of the block. Where the offset
 *                 of some mark takes more, the block has upper bits beside it.
 *
 * A block takes the finer form when a part of an element is accessed alone. The number of a block has its form in the
 * upper bits (FORM_SHIFT); number 0 is a block of which no element was accessed.
 *
 * A mark is 32 bits: the number of a note and a thread of its CTA, or (SET_MARK) the number of a reader set. A note is
 * an access word without the thread, and a site: all that one instruction of a CTA does in one epoch, interned once.
 * (Warps that have synchronised equally often have the same epoch, and share the note.) Notes are counted: one goes
 * when no mark refers to it. */
#ifndef LOCKSTEP_RACE_NOTES_H
#define LOCKSTEP_RACE_NOTES_H
#include "clocks/access_word.h"
#include "clocks/race_pool.h"

struct touch;
struct race_warp;
struct race_cta;

/* chunks of each pool: three blocks and a list for every sector of shared memory; blocks for 1 GB of mixed sectors */
enum { CHUNKS_SHARED = 64, CHUNKS_GLOBAL = 1 << 17 };
enum form { FORM_FULL, FORM_WORDS, FORM_HALVES, FORM_BYTES, FORMS, FORM_SHIFT = 29 };
#define SET_MARK (1u << 31) /* of a mark: the rest is the number of a set */

struct note {
    u64 a;    /* the access word, without the thread */
    u32 site; /* of the instruction */
    u32 refs; /* marks that refer to it, and CTAs that may use it again */
};
struct elements_full {
    u64 a[SECTOR / 4]; /* access words; 0: the element was not accessed */
    u32 site[SECTOR / 4];
};
struct elements_words {
    u32 mark[SECTOR / 4]; /* 0: the element was not accessed */
};
struct elements_bytes {
    /* A mark is the first mark of this note, plus its offset. With UPPER_BIT: the number of the upper bits, and offsets
     * count from note 1. */
    u32 base;
    u16 lower[SECTOR]; /* the lower bits of the offset; 0: the element was not accessed */
};
/* Upper bits of the offsets in a block of bytes: bit k of word n is bit 16 + n of the offset of byte k, so that any
 * number of bits is an array. There are two sizes: as many bits as the launch is likely to take, and 16. */
enum { UPPER_FEW, UPPER_ALL, UPPERS };

/* A prior access, as a cell, a block or a set has recorded it. */
struct prior {
    u64 a;    /* access word; 0: none */
    u32 site; /* of the instruction; of a set: its number */
    u32 mark; /* the mark that it is recorded by; 0: by none, or it is a set */
};
/* The blocks of a sector that has weak and strong writes (FLAG_PAIR). */
struct write_pair {
    u32 weak, strong;
};

/* All that cells refer to by number: for global memory, or for the shared memory of one CTA. */
struct notes {
    struct pool form[FORMS], note, list, write_pair, set;
    struct pool upper[UPPERS]; /* of blocks of bytes */
    u32 shift;                 /* of a mark: bits below it are the thread, from it on the note */
};
/* A CTA remembers the notes it has made last, and uses them again. */
enum { NOTE_CACHE = 8 };
struct note_cache {
    u64 a;          /* as in the note; below lo: the entry is empty */
    u32 site, note; /* as in the note; its number */
};

bool notes_open(struct notes *n, u32 chunks); /* false: no memory */
void notes_empty(struct notes *n);
void notes_free(struct notes *n);
/* empty notes: a mark names a thread of that many warps; so many marks are likely */
void notes_shape(struct notes *n, u32 warps, u64 marks);
/* the number of a note, which the CTA remembers; mark_of asks the cache first */
u32 note_make(struct race_warp *w, u32 space, u64 a, u32 site);
u32 note_new(struct notes *n, u64 a, u32 site, bool locked); /* of a note that no cache has; with a reference */
void note_unref(struct notes *n, u32 note, bool locked);
void notes_unref(struct notes *n, u32 note, u32 marks, bool locked);  /* of so many marks */
void note_caches_drop(struct race_cta *c);                            /* the CTA has ended */
struct prior element_by_mark(const struct notes *n, u32 x, u32 byte); /* not of FORM_FULL */
/* a, at site, accesses bytes first .. first + size - 1; *x may change its form */
void elements_record(const struct touch *t, u32 *x, u32 first, u32 size, u64 a, u32 site);
/* the element at `byte` has the set, and takes the reference; false: nothing was done, as elements have another size */
bool element_put_set(const struct touch *t, u32 x, u32 byte, u32 size, u32 set);
/* bytes were not accessed; true: no element of x is in use any more. Elements that are larger stay as they are. */
bool elements_clear(const struct touch *t, u32 x, u32 first, u32 size);
void elements_drop(const struct touch *t, u32 x); /* gives the block back, with its references */

static inline void *elements_at(const struct notes *n, u32 x)
{
    return pool_at(&n->form[x >> FORM_SHIFT], x & ((1u << FORM_SHIFT) - 1));
}
static inline struct prior prior_of_mark(const struct notes *n, u32 mark)
{
    if (unlikely(mark & SET_MARK)) return (struct prior){ word_of_set(~0u), mark & ~SET_MARK, 0 };
    const struct note *p = POOL_AT(&n->note, const struct note, mark >> n->shift);
    return (struct prior){ p->a | (u64)(mark & ((1u << n->shift) - 1)) << 9, p->site, mark };
}
/* The size of the largest elements that bytes first .. first + size - 1 consist of, at most 4. */
static inline u32 granule(u32 first, u32 size) { return (first | size) & 1 ? 1 : (first | size) & 2 ? 2 : 4; }
/* The size of the elements of a block. */
static inline u32 element_size(u32 x)
{
    static const u8 size[FORMS] = { 4, 4, 2, 1 };
    return size[x >> FORM_SHIFT];
}
/* The access that a block has for a byte. */
static inline struct prior element_at(const struct notes *n, u32 x, u32 byte)
{
    if (unlikely(!x)) return (struct prior){ 0, 0, 0 };
    if (unlikely(x >> FORM_SHIFT != FORM_FULL)) return element_by_mark(n, x, byte);
    const struct elements_full *w = POOL_AT(&n->form[FORM_FULL], const struct elements_full, x);
    return (struct prior){ w->a[byte / 4], w->site[byte / 4], 0 };
}
/* So many marks refer to the note now. */
static inline void notes_ref(struct notes *n, u32 note, u32 marks, bool locked)
{
    struct note *p = POOL_AT(&n->note, struct note, note);
    if (unlikely(locked))
        __atomic_fetch_add(&p->refs, marks, __ATOMIC_RELAXED);
    else
        p->refs += marks;
}
static inline void note_ref(struct notes *n, u32 note, bool locked) { notes_ref(n, note, 1, locked); }
#endif
