/* shadow.h: which bytes of a memory are defined (rules.md I).
 *
 * A shadow covers a range of addresses: the device memory of the arena, the shared memory of a CTA, the stacks of a
 * warp, the parameters of a call. It has one bit a byte, 1 for defined, in pages that appear when touched; so new
 * memory is undefined at no cost, a load tests one or two words, and a store of defined values sets bits in as many.
 *
 * A byte whose bit is 0 was never written, unless it has a *stain*: a store of an undefined value leaves its taint in
 * memory, which of the bits are undefined, which of those arithmetic made, and their origin. Stains lie in pages too,
 * found by a small hash table. A later store of defined values only sets the bit again; a stain counts only where the
 * bit is 0. */
#ifndef LOCKSTEP_SHADOW_H
#define LOCKSTEP_SHADOW_H
#include "base/base.h"

struct taint {  /* of 8 bytes at most, in a register or in memory */
    u64 undef;  /* undefined bits: never written, or made from such */
    u64 made;   /* of them, those that arithmetic made: "computed" */
    u32 origin; /* number of the origin (check/planes.h); 0: the memory they are in */
};

struct shadow {
    u64 *word;       /* bit k of word w: byte 64 w + k from `from` on is defined */
    u64 from, bytes; /* addresses covered; others are defined */
    /* changes whenever a defined byte becomes undefined: a range that was seen defined in this epoch still is */
    u64 epoch;
    bool alone;           /* used by one thread at a time: no atomics */
    bool mapped;          /* word lies in pages */
    bool placed;          /* in pages of the caller (shadow_place) */
    u64 reached;          /* of a memory that grows: bytes of `word` that may be accessed */
    bool stained;         /* there are stains (read without the lock) */
    lock_t lock;          /* guards the stains */
    struct stains **page; /* hash table */
    u32 pages, capacity;  /* used; slots, a power of two */
};

/* false: no memory. Every byte is undefined. */
bool shadow_open(struct shadow *s, u64 from, u64 bytes, bool alone);
/* The same, of a memory that grows, in reserved pages `at` (shadow_bytes of them, which stay the caller's): addresses
 * below `to` may be asked about after shadow_reach. */
void shadow_place(struct shadow *s, u64 at, u64 from, u64 bytes);
u64 shadow_bytes(u64 bytes);
bool shadow_reach(struct shadow *s, u64 to);
void shadow_close(struct shadow *s);
void shadow_define(struct shadow *s, u64 addr, u64 n);
void shadow_forget(struct shadow *s, u64 addr, u64 n); /* undefined again, without stains */
/* What is known of n bytes of one memory becomes so of n bytes of another (or the same, where they do not overlap). */
void shadow_copy(struct shadow *to, u64 at, struct shadow *from, u64 source, u64 n);
bool shadow_defined_long(const struct shadow *s, u64 addr, u64 n);
bool shadow_defined_words(const struct shadow *s, u64 k, u64 end); /* all bytes of the words [k, end) */
/* The pieces of SHADOW_PAGE bytes, aligned to that, with something between addr and end of which more is known than
 * that it is undefined: their addresses in order, *n of them, for the caller to free. */
enum { SHADOW_PAGE = 512 };
u64 *shadow_stained(struct shadow *s, u64 addr, u64 end, u32 *n);
/* n bytes, 8 at most, that do not cross a multiple of 8. */
struct taint shadow_read(struct shadow *s, u64 addr, u32 n);
void shadow_write(struct shadow *s, u64 addr, u32 n, struct taint t);
/* The first byte in [addr, addr + n) that is not defined; addr + n: none. */
u64 shadow_next_undefined(const struct shadow *s, u64 addr, u64 n);

/* A word, which others may be writing. */
static inline u64 shadow_word(const struct shadow *s, u64 k) { return __atomic_load_n(&s->word[k], __ATOMIC_RELAXED); }

/* Whether all of n bytes are defined. Up to 57 bytes are one word, or two. */
static inline bool shadow_defined(const struct shadow *s, u64 addr, u64 n)
{
    u64 o = addr - s->from, at = o & 63;
    if (unlikely(o >= s->bytes)) return true;
    if (n > 57) return shadow_defined_long(s, addr, n);
    u64 w = shadow_word(s, o >> 6) >> at;
    if (unlikely(at + n > 64)) w |= shadow_word(s, (o >> 6) + 1) << (64 - at);
    return !(~w & ((1ull << n) - 1));
}

/* The same for a run of any length, by whole words. Where something is undefined it is mostly the end: that is looked
 * at first. */
static inline bool shadow_defined_run(const struct shadow *s, u64 addr, u64 n)
{
    u64 o = addr - s->from, end = o + n, k = o >> 6, last = end >> 6;
    if (unlikely(o >= s->bytes)) return true;
    u64 holes = ~shadow_word(s, k) >> (o & 63) << (o & 63);
    if (k == last) return !(holes & ((1ull << (end & 63)) - 1));
    if (holes | (~shadow_word(s, last) & ((1ull << (end & 63)) - 1))) return false;
    if (last - k > 8) return shadow_defined_words(s, k + 1, last);
    while (++k < last) holes |= ~shadow_word(s, k);
    return !holes;
}

/* A mask of bytes as one of bits. */
static inline u64 bits_of_bytes(u32 bytes)
{
    u64 x = bytes & 0xff;
    x = (x | x << 28) & 0x0000000f0000000full;
    x = (x | x << 14) & 0x0003000300030003ull;
    x = (x | x << 7) & 0x0101010101010101ull;
    return x * 255;
}
static inline u64 low_bits(u32 n) { return n >= 64 ? ~0ull : (1ull << n) - 1; }
#endif
