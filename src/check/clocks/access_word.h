/* access_word.h: an access word: one recorded access to a 32-byte sector, or a set of them, packed into 64 bits.
 *
 *   63      32 31   19 18  14 13   9 8  6 5    4 3     2 1     0
 *      T        slot    warp   lane   es   kind   scope   flags
 *
 * T      the epoch of the warp: each synchronisation of its own advances it, and one of the whole CTA sets those of all
 *        its warps to one that is greater than any of them before. So "before my last barrier" is one comparison. T
 *        grows from launch to launch: "before this launch" is one comparison, too, and no cell is ever wiped.
 * slot   where the CTA is resident; slot and T name the CTA.
 * es     element size: byte k of the sector was accessed by lane + (k >> es), so a coalesced access is one word a
 *        sector. ES_ONE: one thread, or one set of threads, accessed all bytes. ES_SET: each member of a reader set did
 *        (race_set.h). ES_MIXED: the bytes differ; each element has an access of its own (race_notes.h), or a list has
 *        all accesses (race_list.h, FLAG_LIST).
 * kind   WHO_ONE: one thread a byte. Otherwise a set: lanes of one warp (WHO_WARP), warps of one CTA (WHO_CTA), threads
 *        of several CTAs (WHO_GRID), of which the word names one.
 * scope  of a strong access.
 * flags  FLAG_* of a mixed word, STRONG_* of a member of a set. */
#ifndef LOCKSTEP_ACCESS_WORD_H
#define LOCKSTEP_ACCESS_WORD_H
#include "base/base.h"

enum { SECTOR = 32 }; /* bytes that have one cell */
enum { ES_ONE = 5, ES_SET = 6, ES_MIXED = 7 };
enum { SLOTS = 8191, SLOT_NONE = SLOTS }; /* CTAs that are resident at once; no CTA has SLOT_NONE */
enum { WHO_ONE, WHO_WARP, WHO_CTA, WHO_GRID };
/* Flags of a mixed word. */
enum {
    FLAG_LIST = 1, /* of the write word: the sector has a list */
    FLAG_PAIR = 2, /* of the write word: strong writes have elements of their own (struct write_pair) */
    FLAG_FINE = 4  /* some elements are smaller than 4 bytes */
};

#define WORD_SCOPE (3ull << 2)
#define WORD_KIND (3ull << 4)
#define WORD_ES (7ull << 6)
#define WORD_LANE (31ull << 9)
#define WORD_LOW 15ull /* scope and flags */
#define MIXED ((u64)ES_MIXED << 6)

static inline u32 word_time(u64 a) { return (u32)(a >> 32); }
static inline u32 word_slot(u64 a) { return (u32)a >> 19; }
static inline u32 word_warp(u64 a) { return (u32)a >> 14; }  /* slot and warp */
static inline u32 word_thread(u64 a) { return (u32)a >> 9; } /* slot, warp and lane */
static inline u32 word_lane(u64 a) { return (u32)a >> 9 & 31; }
static inline u32 word_es(u64 a) { return (u32)a >> 6 & 7; }
static inline u32 word_kind(u64 a) { return (u32)a >> 4 & 3; }
static inline u32 word_scope(u64 a) { return (u32)a >> 2 & 3; }
static inline bool word_mixed(u64 a) { return word_es(a) == ES_MIXED; }
static inline bool word_is_set(u64 a) { return word_es(a) == ES_SET; }
/* Both words have the same slot; the same slot and warp. */
static inline bool word_same_slot(u64 a, u64 b) { return !((u32)(a ^ b) >> 19); }
static inline bool word_same_warp(u64 a, u64 b) { return !((u32)(a ^ b) >> 14); }

/* The word of a reader set, whose number stands where the site of an access would. No CTA has its slot, so no thread
 * takes it for its own access. A mark does not keep the time of it. */
static inline u64 word_of_set(u32 time) { return (u64)time << 32 | (u64)SLOT_NONE << 19 | ES_SET << 6; }

/* The lane that accessed byte k. */
static inline u32 lane_of_byte(u64 a, u32 k)
{
    return word_es(a) >= ES_ONE ? word_lane(a) : (word_lane(a) + (k >> word_es(a))) & 31;
}

/* The access word of byte k of a uniform sector: one thread, or the set. */
static inline u64 word_at_byte(u64 a, u32 k)
{
    if (word_es(a) >= ES_ONE || word_kind(a) != WHO_ONE) return a;
    return (a & ~(WORD_LANE | WORD_ES)) | (u64)lane_of_byte(a, k) << 9 | (u64)ES_ONE << 6;
}

/* The size of elements of a uniform sector that each have one thread, at most 4. */
static inline u32 word_element_size(u64 a) { return word_kind(a) == WHO_ONE && word_es(a) < 2 ? 1u << word_es(a) : 4; }

/* Bytes first .. first + size - 1 of a sector, as a mask of its bytes. */
static inline u32 bytes_mask(u32 first, u32 size) { return (u32)((1ull << size) - 1) << first; }
#endif
