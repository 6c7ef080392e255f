/* race.h: what the race check keeps, on one page (RULES.md R).
 *
 * Every 32-byte sector of memory that a launch may write has a cell with its last write and its last read(s), each an
 * access word:
 *
 *   63      32 31   19 18  14 13   9 8  6 5    4 3     2 1     0
 *      T        slot    warp   lane   es   kind   scope   flags
 *
 * T      time of the warp: every synchronisation of its own advances it, and one of the whole CTA sets the times of
 *        all its warps to one that is after them all, so "before my last barrier" is one comparison. T grows from
 *        launch to launch, so "before this launch" is one, too, and nothing is ever wiped.
 * slot   where the CTA is resident; slot and T name the CTA.
 * es     byte k of the sector was touched by lane + (k >> es), so a coalesced access is one word a sector. ES_ONE:
 *        all bytes by the same thread(s). ES_SET: by each member of a set (race_set.c). ES_MIXED: its bytes differ,
 *        and are noted one by one, or an exact list of accesses says it all (FLAG_LIST).
 * kind   ONE thread a byte, or a set: lanes of one WARP, warps of one CTA, threads of several CTAs (GRID), of which
 *        the word names the last.
 *
 * A kernel is simple when every barrier in it is one of all threads and nothing but barriers orders them
 * (race_kernel.c). There a set needs no members: they are concurrent, so they lie in one phase, and whoever comes
 * later is ordered after all of them or races with at least one. In other kernels readers are sets with their
 * members, what else meets unordered goes to the sector's list, and lanes have clocks (race_clock.h). A recorded
 * access is always a real one: nothing is reported that did not happen. */
#ifndef LOCKSTEP_RACE_H
#define LOCKSTEP_RACE_H
#include "race/racecheck.h"
#include "race/vclock.h"
#include "sim/observe.h"

enum { SECTOR = 32, ES_ONE = 5, ES_SET = 6, ES_MIXED = 7 };
enum { SLOTS = 8191, SLOT_NONE = SLOTS, STRIPES = 512 };
enum { WHO_ONE, WHO_WARP, WHO_CTA, WHO_GRID };
/* of a mixed write word: there is a list; strong writes are noted, too (struct both); of it or a mixed read word:
 * some is noted of less than words */
enum { FLAG_LIST = 1, FLAG_ATOMS = 2, FLAG_FINE = 4 };
enum { OP_READ = 0, OP_WRITE = 1, OP_STRONG = 2, OP_ASYNC = 4 }; /* ASYNC: a copy in flight */
enum { SPACE_SHARED, SPACE_GLOBAL };

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
/* Of a set, whose number stands where the site would: before nobody, as no CTA has the slot. Marks know no time of
 * it. */
static inline u64 set_word(u32 time) { return (u64)time << 32 | (u64)SLOT_NONE << 19 | ES_SET << 6; }
static inline u32 lane_of_byte(u64 a, u32 k)
{
    return word_es(a) >= ES_ONE ? word_lane(a) : (word_lane(a) + (k >> word_es(a))) & 31;
}

struct cell { /* of one sector */
    /* last write, last read(s); mixed reads of kind WHO_WARP: all by that warp, none later */
    u64 w, r;
    /* their sites; mixed: number of what is noted, of the list, of both (FLAG_ATOMS); of a set: its number */
    u32 wx, rx;
};
/* So many bytes of cells have this many of memory, of whole sectors. */
static inline u64 cells_for(u64 bytes) { return bytes / SECTOR * sizeof(struct cell); }
/* The cell of a sector; `cells` is so that what its address comes to reaches it, and may point nowhere itself. */
static inline struct cell *cell_of(const char *cells, u64 sector)
{
    return (struct cell *)((uintptr_t)cells + cells_for(sector));
}

/* The bytes of a mixed sector, one kind of access (writes, reads, strong writes), in one of several forms. Shared
 * memory, which is small and often read, notes its words one by one with all there is to know. Elsewhere what an
 * instruction of a CTA did is a note, once, and each element of the sector has a mark: the number of a note and a
 * thread. (Warps that have synchronised equally often have the same time, and so the same note.) Marks are of words,
 * or of what is smaller when that is touched alone; of bytes, whose notes are usually near each other, they count
 * from a base and take 16 bits, or with further bits beside these. The number of such a thing has its form in the
 * upper bits. */
struct words {
    u64 a[8];
    u32 site[8];
}; /* 0: none */
struct note {
    u64 a; /* an access word, without the thread */
    u32 site;
    u32 refs; /* marks that stand for it, and CTAs that may use it again */
};
struct marks_words {
    u32 mark[SECTOR / 4];
};
struct marks_bytes {
    /* a mark is the first one of this note more than what stands here; UPPER_BIT: which upper bits there are, and it
     * counts from note 1 */
    u32 base;
    u16 lower[SECTOR]; /* 0: none */
};
enum { UPPER_FEW, UPPER_ALL, UPPERS }; /* as many bits as the launch is likely to take; 16 */
enum form { FORM_WIDE, FORM_WORDS, FORM_HALVES, FORM_BYTES, FORMS, FORM_SHIFT = 29 };
/* an access and where it is; a 0: none; mark: by which it is noted, 0: by none, or it is a set */
struct seen {
    u64 a;
    u32 site, mark;
};
/* numbers of what is noted of weak writes, and of strong ones; 0: nothing */
struct both {
    u32 writes, atoms;
};
enum { SET_SHIFT = 4, SET_WORDS = 10 };
/* some readers, and the others: race_set.c. Its number, and how many of its words, is the number of a set */
struct set {
    u32 rest;   /* number of the set of the others; 0: there are none */
    u32 refs;   /* elements, sets and CTAs that have it, or a set of fewer of its words */
    u32 count;  /* words of the others */
    u32 latest; /* none of all of them has read after this time */
    u32 serial; /* grows when what its words say is so no more */
    u8 used;    /* words */
    u8 clean;   /* at most two to this many words were left when those that are replaced went last */
    /* of each member: the lanes if it is of kind WARP, or the number of a strong write; then its mark */
    u32 word[SET_WORDS];
};
/* A member of a set, most often a weak read: es and kind say who touched which byte. Strong accesses have sets of
 * their own, are of one thread each, and have flags and a scope in their word and their note; writes are numbered. */
struct member {
    u64 a;
    u32 lanes, site, mark;
}; /* lanes: of kind WARP; of a strong write: its number */
enum { STRONG_WRITE = 1, STRONG_ANY = 2 };
static inline u64 strong_word(u64 a, u32 scope, bool write)
{
    return a | scope << 2 | STRONG_ANY | (write ? STRONG_WRITE : 0);
}
static inline u32 member_words(u64 a) { return word_kind(a) == WHO_WARP || a & STRONG_WRITE ? 2 : 1; }
#define SET_MARK (1u << 31) /* of a mark: the number of a set */

struct list_entry { /* one access of a warp to a sector, exactly */
    u64 a;          /* es and kind say who touched which byte */
    u32 bytes;      /* of the sector */
    u32 whole;      /* a strong access: bytes of the vector that it is an element of, otherwise the same */
    u32 lanes;      /* kind WARP: its members; 0: unknown (simple kernels) */
    u32 site;
    u8 op, scope;
    u32 id, write; /* a strong write of a kernel that is not simple: location and number (race_clock.h) */
};
struct list {
    struct list_entry *e;
    u32 n, cap;
    u32 touched, strongly; /* bytes of the sector that those have, or had; that the strong ones have */
    /* strong ones that include each other, all of one size, so that none conflicts with another: of each location, as
     * above, those who did it */
    struct strong_at {
        u32 bytes, whole, id, set;
    } * s;
    u32 ns, caps, size;
    u32 latest; /* none of these is later */
};

/* three words and a list for every sector of shared memory; of 1 GB of mixed sectors */
enum { POOL_CHUNK = 1024, CHUNKS_SHARED = 64, CHUNKS_GLOBAL = 1 << 17 };
/* numbered things that never move; number 0 is none. When there is no room for another one, the command ends */
struct pool {
    char **chunk;
    u32 chunks;
    u32 n, size;                  /* given; bytes of one */
    u32 most;                     /* numbers end here */
    u32 *spare, nspare, capspare; /* given back */
    /* not 0: new ones are to be near the last ones, and a spare one that is not waits until there are many */
    u32 reach;
    lock_t lock;
};
struct notes { /* of the mixed sectors of global memory, or of a CTA's shared memory */
    struct pool form[FORMS], note, list, both, set;
    /* further bits of the marks of bytes: bit k of word n is bit 16 + n of that of byte k */
    struct pool upper[UPPERS];
    u32 shift; /* of a mark: below it the thread, from it on the note */
};
enum { KEPT = 8 };
struct kept {
    u64 a;
    u32 site, note;
}; /* a note that a CTA has made, and may use again */
enum { STEPS = 16, STEP_WAYS = 4, CTA_MEMO = 256 };
/* that access made one set from another, or from one reader and its site; the serials that they had */
struct step {
    u64 a;
    u32 lanes, site;
    u64 one;
    u32 from, to, from_serial, to_serial;
};
struct past {
    u64 since;
    u32 set;         /* every thread of the CTA is behind all of the set, since that time */
    u32 other, base; /* and not behind this one, when that was its base; maybe they are by now */
};

struct access;
struct view {                   /* what a lane knows */
    struct vclock *clock;       /* beyond the barriers of its warp and CTA */
    struct vclock *pending;     /* read by relaxed operations: known after the next fence of gpu scope or wider */
    struct vclock *pending_cta; /* the same for one of CTA scope */
    /* all that it knew at its last fence; what it had done itself is added when it is asked for */
    struct vclock *fence;
};
/* of a lane: what it has done itself is what its warp did before `now`, and all lanes of that before `warp_base` */
struct own_epoch {
    u32 now, warp_base;
    u32 weak_base;  /* as in race_warp; 0: not after warp_base */
    bool is_leader; /* the first lane of a CTA, which has had no barrier of its warp alone */
};
struct lane_clock {           /* only in kernels that are not simple: race_clock.h */
    struct view strict, weak; /* weak: what it would know beside that if .sync operations ordered their lanes (R5b) */
    struct vclock *rmw;       /* read by read-modify-writes of gpu scope: would be known behind a barrier (R5a) */
    struct vclock *unscoped;  /* would know if every scope were wide enough */
    struct scoped_clock sc_clock; /* of sequentially consistent fences */
    struct own_epoch fence_at;    /* its last one */
    /* what the views had as fenced, with all that the lane had done, at the last one of gpu scope or wider; NULL:
     * that was the last one of all, or there was none */
    struct vclock *fence_gpu, *fence_gpu_weak;
    bool has_fenced, fence_has_own; /* has had one; what is known behind that has all that the lane had done */
    bool has_released;              /* has had an operation that does */
    bool sc_deferred;               /* what it knew and had done then is news, too */
    bool sc_covers_cta;             /* its news include those of its warp and CTA */
    u8 fence_scope;                 /* of its last fence */
    /* what it read last, at which location: reading it again teaches nothing */
    struct {
        u32 id, version;
        u8 sem, scope;
    } read;
};

enum { RECENT = 8, WARP_MEMO = 8 };
struct race_warp {
    struct race_cta *c;
    u64 key;       /* slot and warp bits of its access words */
    u32 now;       /* its time */
    u32 warp_base; /* time of its last full warp barrier: all lanes know what all did before */
    /* all lanes know what the whole CTA did before this time: that of its last full barrier, or a later one, by
     * barriers of some warps */
    u32 cta_base;
    u32 id, all; /* in the CTA; its lanes at the start */
    /* simple kernels: .sync operations that order nothing by the manual (R5b) */
    struct {
        u32 time, mask;
    } recent[RECENT];
    u32 nrecent;
    struct lane_clock *lane;      /* [LANES], NULL in simple kernels */
    u32 used;                     /* lanes whose clocks have been anything but empty */
    u32 ahead;                    /* lanes that may know, or have news of, more than their warp */
    struct vclock *clock;         /* what all lanes know, beyond their CTA */
    struct scoped_clock sc_clock; /* that all of them have */
    u32 weak_base;                /* time of its last .sync operation of all lanes */
    struct vclock *weak;          /* what all lanes would know by R5b */
    u32 ahead_weak;               /* lanes that may know, or would know, more than that */
    u32 version;                  /* grows whenever lanes may have learned something */
    /* by warp: what another one of the CTA that began then did below that time all lanes know, by so many version */
    struct {
        u32 warp, start, below, version;
    } warp_memo[WARP_MEMO];
    /* speculated loads of which some lanes were not picked yet (R8): race_pending.c */
    struct pending *pending;
    u32 npending, cappending;
};

struct race_cta {
    u64 lo[2]; /* by space: access words below this precede all that the CTA does now */
    /* times: to which all its warps were set last, of its start, of its last full barrier */
    u32 now, start, base;
    u32 slot;
    u32 number;                /* of the CTA in its launch, in the order of their starts */
    bool exact;                /* the kernel is not simple */
    bool keeps;                /* notes or sets of global memory */
    struct kept kept[2][KEPT]; /* by space and site */
    struct step step[2][STEPS * STEP_WAYS];
    u32 nstep; /* by space and a hash, some for each; how many there were */
    struct past past[2];
    /* below this time every thread of it is behind all that the grid did, when that was its base; readers it had to
     * look at since */
    u32 grid_base, grid_base_at, walked;
    /* all its threads know what whoever had the slot did between those times, and that was its base when it was
     * looked up: hb_cta_maybe */
    struct {
        u32 slot, from, below, base;
    } cta_memo[CTA_MEMO];
    struct race *race;
    const struct launch *launch;
    char *shared;       /* its cells: cell_of(this, offset of a sector) */
    u64 shared_bytes;   /* that there are cells for */
    struct notes notes; /* of shared memory; empty again after every full barrier */
    /* global sectors that were written, and read in this phase: race_cell.c */
    struct passing {
        struct cell *cell;
        u64 at;
    } * passing;
    u32 npassing, cappassing;
    struct vclock *clock, *weak; /* what every thread of it knows, since its base; would know by R5 */
    /* what some thread had read and not acquired, or not with the scope it takes, before a barrier */
    struct vclock *pending, *unscoped;
    struct scoped_clock sc_clock;     /* of fences, to every thread of it */
    bool sc_acquired;                 /* all threads of it know what these say */
    struct bar_state {                /* a phase of a barrier that is not over */
        u32 waiting[MAX_WARPS];       /* lanes that arrived and wait */
        u32 latest;                   /* the greatest time of a warp that arrived and does not wait */
        struct vclock *known, *weak;  /* what the arrived know, would know by R5 */
        struct scoped_clock sc_clock; /* and have news of */
    } bar[MAX_BARS];
    struct race_warp warp[MAX_WARPS];
    /* CTAs that were in this slot during the launch */
    struct resident {
        u32 start, number;
        u64 linear;
    } * residents;
    u32 nresidents, capresidents;
    struct flight *flights;
    u32 nflights, capflights; /* race_async.c: copies under way */
    struct race_cta *next_free;
    struct cell *shared_cells;
};

struct race_kernel;
struct touch;
struct race {
    struct mem *mem;
    struct race_kernel *kernels;      /* what was found out about functions */
    const struct race_kernel *kernel; /* of the running launch */
    u32 epoch;                        /* first T of the running launch */
    u32 last;                         /* greatest T of launches before */
    u32 nslot;
    struct race_cta *slot[SLOTS];
    struct race_cta *free;
    struct notes notes; /* of global memory; empty at every launch */
    bool parallel;      /* several workers: cells of global memory are locked */
    /* spin locks of pages of cells, each on a cache line of its own */
    struct {
        u8 taken, padding[63];
    } stripe[STRIPES];
    /* around a strong access and what is learned from it, when there are several workers */
    lock_t strong;
    lock_t lock; /* slots, tracked objects, clocks, synchronising locations */
    struct tracked {
        struct mem_object *o;
        u64 cells, bytes;
    } * tracked;
    u32 ntracked, captracked;
    struct locations *locations; /* race_clock.c: where something can be learned */
    struct vclock_store vclocks; /* of what is known in this launch */
    u32 ctas;                    /* of the launch that have begun */
    bool exact;                  /* of the running launch */
    /* one worker: in this launch weak accesses were taken for flags, and may have locations (R5c) */
    bool flags;
    /* tests: told of every racy byte, instead of the report; weak: ordered by R5 */
    void (*hook)(void *self, const struct touch *t, u32 byte, bool weak);
    void *hook_self;
    struct observer observer;
};

/* What one instruction does, for the slow ways and the report. */
struct touch {
    struct warp *warp;
    struct race_warp *w;
    u32 op_index; /* in warp->code->low */
    u32 site;
    u32 op, space;
    u8 scope;
    u32 whole, id, write; /* as in list_entry */
    u64 at;               /* address of the sector (global), offset in shared memory */
};

/* race_cell.c */
void race_sector_slow(const struct touch *t, struct cell *c, u64 me);
void race_word(const struct touch *t, struct cell *c, u32 j, u64 me, u32 lanes);
void race_bytes(const struct touch *t, struct cell *c, u64 me, u32 bytes, u32 lanes);
void race_strong(const struct touch *t, struct cell *c, u32 first, u32 size, u64 me);
/* race_list.c: asks for its memory: the list, then what is in it */
void list_prefetch(const struct touch *t, const struct cell *c, u32 stage);
/* in this launch; then *old is a write */
bool list_last_write(const struct touch *t, struct cell *c, u32 bytes, struct list_entry *old);
void list_copy_done(const struct touch *t, struct cell *c, u32 bytes, u32 lane);
/* on all bytes they share */
bool race_entry_before(struct race_warp *w, const struct list_entry *o, const struct list_entry *m, u32 space);
void list_insert(const struct touch *t, struct cell *c, struct list_entry e); /* adds e, checked before */
/* a sector of global memory that was written has notes of reads now */
void race_passing(struct race_cta *c, struct cell *cell, u64 at);
/* behind a barrier, or at its end: those that are of no use any more go */
void race_passed(struct race_cta *c);
/* at byte k, in a kernel that is not simple, if R5 ordered */
bool race_weakly_before(struct race_warp *w, const struct list_entry *o, const struct list_entry *m, u32 k, u32 space);
/* race_async.c: copies under way. */
void race_copy_issued(struct touch *t, const struct access *a);
void race_copy_done(struct race_warp *w, struct warp *warp, u32 lane, u64 at, u32 bytes);
void race_copies_relist(struct race_cta *c); /* after a barrier that emptied the lists */
void race_copies_reset(struct race_cta *c);  /* a new CTA */
/* race_report.c */
void race_report(const struct touch *t, const struct list_entry *old, const struct list_entry *me, u32 byte);
/* several lanes of one instruction store to one address (R6) */
void race_report_lanes(const struct touch *t, const struct access *a, u32 lanes);
void race_check_noncoherent(struct touch *t, const struct access *a); /* ld.nc (R9) */
/* race_pending.c */
void pending_add(struct race_warp *w, const struct access *a, u32 lanes);
/* they synchronise: what they loaded before can no longer be told from what they load now */
void pending_drop(struct race_warp *w, u32 lanes);
void pending_selected(void *self, struct warp *w, u32 reg, u32 lanes); /* of struct observer */
void race_tick(struct race_cta *c, u32 warps); /* race.c: these have the same time now, which none of them has had */
/* race_set.c */
/* the set of those and `me`; a reference. leaves: who has the old one will have the new one instead */
u32 set_add(const struct touch *t, struct seen old, u64 me, u32 lanes, bool leaves);
/* the same, if one element alone has the set, there is room, and nothing goes: its reference is to that now; 0: it is
 * not so */
u32 set_append(const struct touch *t, u32 x, u64 me, u32 lanes);
bool set_known(const struct touch *t, u32 x); /* every thread of the CTA is behind all of it */
/* with one more, as he is; takes the reference, and gives one */
u32 set_with(const struct touch *t, u32 x, const struct member *m);
/* the same with a strong access, which replaces others like it of the same thread */
u32 set_add_strong(const struct touch *t, u32 x, u64 me, u32 number);
void set_release(struct notes *n, u32 x, bool locked);
/* every thread of the CTA is behind that reader; maybe they are though it says no */
bool set_member_known(const struct touch *t, u64 a);
struct reads {
    u32 set, bytes;
}; /* bytes of a sector, and who has read them */
/* each access of the members once, with all its bytes, the first one first; to be freed */
struct list_entry *set_entries(const struct notes *n, const struct reads *of, u32 count, u32 *found);
void sets_unkeep(struct race_cta *c); /* it is over */
/* race_clock.c */
/* time of the start of the CTA whose access that was; under the lock */
u32 clock_cta_start(const struct race *r, u64 a);
void clock_grid_base(struct race_cta *c); /* its `grid_base`, by what it knows now */
/* all its threads know what the whole CTA of that access did until then; maybe they do though it says no */
bool hb_cta_maybe(struct race_cta *c, u64 a);
/* the lane knows that thread's access at `time`; id: it was a strong write, number `write` of that location */
bool hb_thread_clock(struct race_warp *w, u32 lane, u32 thread, u32 time, u32 id, u32 write);
/* each of the lanes knows what all of his lanes, of a slot and warp, did at `time`; maybe they do though it says no */
bool hb_lanes_maybe(struct race_warp *w, u32 lanes, u32 warp, u32 his, u32 time);
/* all its lanes know what the warp of that access, one of its CTA, did until then; maybe they do though it says no */
bool hb_warp_maybe(struct race_warp *w, u64 a);
/* it would, by R5 */
bool hb_thread_weak(struct race_warp *w, u32 lane, u32 thread, u32 time, u32 id, u32 write);
enum missing { MISSING_ALL, MISSING_ACQUIRE, MISSING_SCOPE, MISSING_RELEASE };
/* what it takes for the lane to know */
enum missing hb_missing(struct race_warp *w, u32 lane, u32 thread, u32 time);

/* race_notes.c; locked: others may take, too */
u32 pool_more(struct pool *p, bool locked);         /* the next number */
void pool_give(struct pool *p, u32 n, bool locked); /* n is of no use any more */
bool notes_open(struct notes *n, u32 chunks);       /* false: no memory */
void notes_empty(struct notes *n);
void notes_free(struct notes *n);
/* empty ones: a mark names a thread of that many warps; so many marks are likely */
void notes_shape(struct notes *n, u32 warps, u64 marks);
/* the number of a note of that; the CTA keeps it for a while */
u32 note_make(struct race_warp *w, u32 space, u64 a, u32 site);
u32 note_new(struct notes *n, u64 a, u32 site, bool locked); /* of one that it does not keep; a reference */
void note_release(struct notes *n, u32 note, bool locked);
void notes_unkeep(struct race_cta *c);                         /* it is over */
struct seen marked_at(const struct notes *n, u32 x, u32 byte); /* not of FORM_WIDE */
/* bytes first .. first + size - 1: a, at site; *x may change its form */
void note_down(const struct touch *t, u32 *x, u32 first, u32 size, u64 a, u32 site);
/* an element of that size, if there is one, has the set, and takes the reference */
bool note_set(const struct touch *t, u32 x, u32 byte, u32 size, u32 set);
bool note_clear(const struct touch *t, u32 x, u32 first, u32 size); /* true: nothing is noted in x any more */
void marks_drop(const struct touch *t, u32 x);

static inline void *pool_at(const struct pool *p, u32 n)
{
    return p->chunk[n / POOL_CHUNK] + (size_t)(n % POOL_CHUNK) * p->size;
}
/* The same where the compiler knows the type. */
#define POOL_AT(p, T, n) ((T *)(void *)(p)->chunk[(n) / POOL_CHUNK] + (n) % POOL_CHUNK)
static inline u32 pool_take(struct pool *p, bool locked)
{
    if (unlikely(locked || p->reach)) return pool_more(p, locked);
    if (p->nspare) return p->spare[--p->nspare];
    u32 n = p->n + 1;
    if (likely(n % POOL_CHUNK && n / POOL_CHUNK < p->chunks && p->chunk[n / POOL_CHUNK])) return p->n = n;
    return pool_more(p, false);
}
static inline struct notes *notes_in(struct race_warp *w, u32 space)
{
    return space == SPACE_SHARED ? &w->c->notes : &w->c->race->notes;
}
static inline struct notes *notes_of(const struct touch *t) { return notes_in(t->w, t->space); }
static inline bool notes_locked(const struct race_warp *w, u32 space)
{
    return space == SPACE_GLOBAL && w->c->race->parallel;
}
static inline void *form_at(const struct notes *n, u32 x)
{
    return pool_at(&n->form[x >> FORM_SHIFT], x & ((1u << FORM_SHIFT) - 1));
}
static inline struct seen mark_seen(const struct notes *n, u32 mark)
{
    if (unlikely(mark & SET_MARK)) return (struct seen){ set_word(~0u), mark & ~SET_MARK, 0 };
    const struct note *p = POOL_AT(&n->note, const struct note, mark >> n->shift);
    return (struct seen){ p->a | (u64)(mark & ((1u << n->shift) - 1)) << 9, p->site, mark };
}
/* of elements that such bytes are made of, at most a word */
static inline u32 granule(u32 first, u32 size) { return (first | size) & 1 ? 1 : (first | size) & 2 ? 2 : 4; }
/* bytes of one element */
static inline u32 marks_step(u32 x)
{
    static const u8 step[FORMS] = { 4, 4, 2, 1 };
    return step[x >> FORM_SHIFT];
}
/* What is noted of a byte; x 0: nothing is noted. */
static inline struct seen noted_at(const struct notes *n, u32 x, u32 byte)
{
    if (unlikely(!x)) return (struct seen){ 0, 0, 0 };
    if (unlikely(x >> FORM_SHIFT != FORM_WIDE)) return marked_at(n, x, byte);
    const struct words *w = POOL_AT(&n->form[FORM_WIDE], const struct words, x);
    return (struct seen){ w->a[byte / 4], w->site[byte / 4], 0 };
}
static inline void note_hold(struct notes *n, u32 note, bool locked)
{
    struct note *p = POOL_AT(&n->note, struct note, note);
    if (unlikely(locked))
        __atomic_fetch_add(&p->refs, 1, __ATOMIC_RELAXED);
    else
        p->refs++;
}
static inline struct set *set_at(const struct notes *n, u32 x) { return POOL_AT(&n->set, struct set, x >> SET_SHIFT); }
static inline u32 set_count(const struct notes *n, u32 x)
{
    return set_at(n, x)->count + (x & ((1u << SET_SHIFT) - 1));
}
/* The last one to join the set; the number of the set of the others. */
static inline u32 set_last(const struct notes *n, u32 x, struct member *m)
{
    const struct set *s = set_at(n, x);
    const u32 *word = &s->word[x & ((1u << SET_SHIFT) - 1)];
    struct seen seen = mark_seen(n, *--word);
    *m = (struct member){ seen.a, 0, seen.site, *word };
    if (member_words(m->a) == 2) m->lanes = *--word;
    return word == s->word ? s->rest : (x >> SET_SHIFT << SET_SHIFT) + (u32)(word - s->word);
}
/* He was this one already. */
static inline bool set_has(const struct notes *n, u32 x, u64 me, u32 lanes)
{
    struct member m;
    set_last(n, x, &m);
    return m.a == me && !(lanes & ~m.lanes);
}
static inline void set_hold(struct notes *n, u32 x, bool locked)
{
    struct set *s = set_at(n, x);
    if (unlikely(locked))
        __atomic_fetch_add(&s->refs, 1, __ATOMIC_RELAXED);
    else
        s->refs++;
}
static inline struct kept *kept_for(struct race_warp *w, u32 space, u64 a, u32 site)
{
    return &w->c->kept[space][(site + word_kind(a) + 3 * ((u32)a & 3)) % KEPT];
}
/* The mark of an access; its note is not held yet. */
static inline u32 mark_of(struct race_warp *w, u32 space, u64 a, u32 site)
{
    const struct kept *k = kept_for(w, space, a, site);
    u32 shift = notes_in(w, space)->shift, threads = (1u << shift) - 1;
    u64 all = a & ~((u64)threads << 9);
    return (likely(k->a == all && k->site == site) ? k->note : note_make(w, space, all, site)) << shift |
           (word_thread(a) & threads);
}

static inline u64 race_stamp(const struct race_warp *w, u32 lane, u32 es, u32 kind)
{
    return (u64)w->now << 32 | w->key | lane << 9 | es << 6 | kind << 4;
}

/* Ordered before the access `me` of this warp: by a barrier or a kernel boundary, or made by the very same thread(s).
 */
static inline bool hb_by_barrier_maybe(const struct race_warp *w, u64 old, u64 me, u64 lo)
{
    if (likely(old < lo)) return true;
    const struct race_cta *c = w->c;
    if (word_time(old) < c->start || ((u32)(old ^ me) >> 19)) return false;
    if (word_mixed(old)) return word_kind(old) == WHO_WARP && !((u32)(old ^ me) >> 14) && word_time(old) < w->warp_base;
    if (word_time(old) < w->cta_base) return word_kind(old) != WHO_GRID;
    if ((u32)(old ^ me) >> 14) return false;
    return ((u32)old == (u32)me && word_kind(old) == WHO_ONE) ||
           (word_time(old) < w->warp_base && word_kind(old) <= WHO_WARP);
}
/* A read set that has an access by this warp in this phase as good as in it. */
static inline bool race_in_set(const struct race_warp *w, u64 r, u64 me)
{
    if (word_kind(r) == WHO_ONE || word_mixed(r)) return false;
    if (word_kind(r) == WHO_GRID) return true;
    if ((u32)(r ^ me) >> 19 || word_time(r) < w->c->base) return false;
    return word_kind(r) == WHO_CTA || ((u32)(r ^ me) >> 14 == 0 && word_time(r) >= w->warp_base);
}

/* A lane of this warp was noted in the words of reads. */
static inline void reads_noted(struct cell *c, const struct race_warp *w)
{
    u64 mine = (u64)w->now << 32 | w->key | MIXED | WHO_WARP << 4;
    c->r = (u32)c->r == (u32)mine && word_time(c->r) >= w->c->start ? mine : (u64)w->now << 32 | MIXED;
}

/* A whole sector by consecutive threads, or by one set. */
static inline void race_sector(const struct touch *t, struct cell *c, u64 me)
{
    const struct race_warp *w = t->w;
    const u64 lo = w->c->lo[t->space];
    if (likely(hb_by_barrier_maybe(w, c->w, me, lo))) {
        if (!(t->op & OP_WRITE)) {
            if (likely(hb_by_barrier_maybe(w, c->r, me, lo)) && !word_mixed(c->r)) {
                c->r = me;
                c->rx = t->site;
                return;
            }
            if (race_in_set(w, c->r, me)) return;
        } else if (likely(hb_by_barrier_maybe(w, c->r, me, lo))) {
            c->w = me;
            c->wx = t->site;
            return;
        }
    }
    race_sector_slow(t, c, me);
}
#endif
