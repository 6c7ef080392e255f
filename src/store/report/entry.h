/* entry.h: the inside of report, shared by its files.
 *
 * An entry is one cause. It keeps one finding in full, the one of the smallest (CTA, thread), and of all the others
 * only what can be joined in any order: counts, the set of threads as bits, the range of offsets and the greatest
 * common divisor of their differences. So a report is the same whoever came first, and its size does not grow with
 * the number of occurrences. */
#ifndef LOCKSTEP_ENTRY_H
#define LOCKSTEP_ENTRY_H
#include "base/printable.h"
#include "report/report.h"

/* Threads of a grid, one bit each at CTA * threads + thread, in pieces that exist once a bit in them is set. Exact up
 * to SET_MOST threads; what lies beyond is only known to be there. */
enum { SET_PIECE = 1 << 15, SET_PIECES = 512, SET_MOST = SET_PIECE * SET_PIECES, SET_CTA_MOST = 2048 };
struct thread_set {
    u32 nctaid[3], ntid[3]; /* shape of the launches counted here; ntid[0] = 0: nothing yet */
    u64 threads, ctas;      /* per CTA; in the grid */
    u64 **piece;            /* SET_PIECES of them or NULL */
    bool partial;           /* some threads are not in the bits: other shape, beyond SET_MOST, or no memory */
};

struct tie {                             /* how the two threads of each occurrence stand to each other */
    bool same_warp, same_cta, other_cta; /* there are occurrences of this kind */
    bool varies;                         /* the distance below is not the same for all */
    s64 apart;                           /* second thread - first one, in linear numbers of their CTAs */
    u64 count;                           /* occurrences tied so far */
};

/* What is left of an entry that another one stands for: the same mistake in another launch. */
struct again {
    u64 nth; /* of the launch's kernel; 0: `launch` counts */
    u32 launch;
    u32 grid[3], block[3];
    u64 occurrences;
    s64 low, high; /* as in the entry */
    bool has_range;
    char *object, *site; /* own copies, or NULL */
    u64 statement;       /* of the object's name: where_statement */
};

struct entry {
    struct finding f;               /* the representative; strings and places live in `mem` */
    struct arena mem;               /* emptied when a smaller (CTA, thread) takes over */
    u64 hash;                       /* of what makes two findings one cause */
    struct launch_origin origin;    /* of the first launch that had it; its site is the entry's own */
    u32 grid[3], block[3];          /* of that launch; block[0] is 0: not known */
    const void *running;            /* the origin of that launch while it runs; NULL: it has ended */
    bool said;                      /* report_text_fresh has given it out */
    u64 launches, last;             /* that had it; the number of the last one */
    u32 launch;                     /* that it belongs to, of several; 0: there is only one */
    struct entry *next;             /* in its bucket */
    u64 first_cta;                  /* linear CTA of the representative */
    u32 first_lane;                 /* which lane of f is the smallest thread */
    struct suppression *suppressed; /* the rule that keeps it out of the report, NULL: none */
    u64 occurrences;                /* threads, each time; or 1 for a finding without threads */
    struct thread_set who;
    struct thread_set against; /* the second threads, for findings with a rival */
    struct tie tie;
    u64 hold;                       /* joined bits of its findings (finding.h) */
    u64 origin_low, origin_high;    /* as in the finding, of all occurrences */
    bool values_vary;               /* finding.equal: occurrences store different values */
    bool is_effect;                 /* report_settle: a race at an address that comes from an undefined value */
    bool gone;                      /* report_settle: it is in no bucket any longer, and is freed at the end */
    bool index_varies[INDEX_KINDS]; /* occurrences differ in f.index */
    bool form_varies, start_varies; /* or in f.form; or only in where that starts */
    bool streams_vary;              /* or in f.streams */
    bool has_range;                 /* addresses were given */
    s64 low, high; /* smallest and largest offset from the object (addresses when there is no object) */
    u64 step;      /* gcd of the differences of offsets, 0: only one offset */
    s64 anchor;    /* any of the offsets */
    s64 end;       /* the largest end of an access, from the same start */
    /* report_group: places of other entries that this one stands for, as text, and how many they are */
    struct text also;
    u32 nalso;
    /* report_again.c: the same mistake in other launches. Of the first AGAIN_MOST all is kept, and nothing of them is
     * in the sums above */
    struct again *again;
    u32 nagain;
    u64 again_launches, again_occurrences;
    s64 again_low, again_high; /* of all of them that have a range, if there are */
    bool again_ranges;
    u64 again_nth;         /* the last of these launches */
    u32 again_launch;      /* the same */
    u64 family, family_of; /* the key of the mistake, whatever the launch; of so many occurrences */
    u64 said_launches;     /* when report_text_fresh gave it out */
    /* report_group: the hash of the entry that was its line's store, which more threads may come to; 0: none */
    u64 update;
};

struct ticket { /* what report_again goes by */
    u64 key;    /* 0: free */
    struct entry *entry;
    bool flipped; /* the finding's two sides were exchanged */
};

enum { BUCKETS = 256, ENTRIES_MOST = 4096, TICKETS = 512, AGAIN_MOST = 256 };
struct report {
    lock_t lock;               /* held by every function */
    u32 checks_off;            /* CHECK_*: kinds of these are not taken in */
    u32 checks_ran;            /* CHECK_*: that have looked at something */
    u64 kinds_off[KIND_WORDS]; /* a bit for each kind that is not taken in either */
    u32 launch;                /* that findings belong to which name none; 0: there is only one */
    struct entry *bucket[BUCKETS];
    /* at key % TICKETS; a newer one replaces an older one, which is then simply not known */
    struct ticket ticket[TICKETS];
    bool tickets;                   /* atomic: some of them are given */
    struct entry *last;             /* the entry last added to: a loop adds to the same one again and again */
    struct suppressions *rules;     /* suppress.h */
    u32 entries, errors, notes;     /* entries, atomic: all of them; errors, notes: those that are not suppressed */
    u32 fresh;                      /* atomic: at least as many as report_text_fresh has not given out */
    void (*fresh_call)(void *self); /* of report_on_fresh; atomic */
    void *fresh_self;
    u32 settled;    /* entries when consequences were last taken out; UINT32_MAX: a launch has ended since */
    u32 kept;       /* entries that were left then */
    u32 suppressed; /* entries that are */
    u64 occurrences;
    u64 error_occurrences; /* of them, of severity error */
    u64 dropped;           /* occurrences of causes beyond ENTRIES_MOST */
    struct outcome facts;  /* of report_conclude */
    char why[400];         /* of report_conclude */
    bool concluded;        /* they were given */
    bool fail_on_notes;
};

/* Whether findings of this kind are not taken in. */
static inline bool is_off(const struct report *r, enum finding_kind k)
{
    return (u32)finding_check(k) & r->checks_off || r->kinds_off[k / 64] >> k % 64 & 1;
}

/* report.c */
void entry_free(struct entry *e);
void entry_count(struct report *r, struct entry *e);         /* among the others, or as kept out by a rule */
void entry_join(struct entry *to, const struct entry *from); /* occurrences, threads and range */
bool same_form(const struct index_form *a, const struct index_form *b);

/* report_fresh.c: calls whoever wants to know of new entries; without the lock */
void fresh_notify(struct report *r);
/* report_text.c */
void entry_text_styled(const struct entry *e, bool color, struct text *out);
void closing_text(const struct report *r, struct text *out); /* "2 findings: 1 error, 1 note (24 occurrences)" */

/* report_settle.c: takes out the entries that follow from others; with the lock held */
void report_settle(struct report *r);
/* adds e to the entry that it is a part of, and takes it out */
void report_absorb(struct report *r, struct entry *whole, struct entry *e);
void report_drop(struct report *r, struct entry *e); /* takes it out */
/* report_group.c: entries of one root become one; v: all of them, sorted */
void report_group(struct report *r, struct entry **v, u32 n);
void also_text(const struct entry *e, struct text *out);

/* report_again.c: entries of several launches that are one mistake become one. v: all of them, sorted; those that are
 * gone are NULL then */
void report_fold(struct report *r, struct entry **v, u32 n);
bool same_family(struct entry *a, struct entry *b); /* one mistake, in two launches */
void report_fold_one(struct report *r, struct entry *whole, struct entry *e);
/* The occurrences of e count as some of the entry that stands for it, whose own facts stay as they are; e goes. */
void report_count_with(struct report *r, struct entry *whole, struct entry *e);
void again_free(struct entry *e);
void again_of(const struct entry *e, struct again *out); /* of the entry itself, with its texts */
static inline u64 entry_occurrences(const struct entry *e) { return e->occurrences + e->again_occurrences; }
static inline u64 entry_launches(const struct entry *e) { return e->launches + e->again_launches; }
/* "in 20 of them other memory: buffer 129 and 19 more; offsets 0..124 in all" */
void others_text(const struct entry *e, struct text *out);
/* Of what was given out as it happened, and came again since: a line each. */
void grown_text(struct entry *const *v, u32 n, struct text *out);

/* report_find.c: numbers below a limit in a hash table, several under one key */
enum { NO_NUMBER = 0xffffffffu };
struct chains {
    u32 *first; /* by slot: the first number of its chain, NO_NUMBER: none */
    u32 *next;  /* by number: the one after it */
    u32 mask;   /* slots - 1 */
};
void chains_open(struct chains *c, u32 most); /* for numbers below `most` */
void chains_close(struct chains *c);
void chains_add(struct chains *c, u64 key, u32 number);
u32 chains_first(const struct chains *c, u64 key);

/* Entries by their kind and each of their two places. */
struct place_index {
    struct chains by;
    struct entry **entry; /* by number */
    u32 n, most;          /* numbers given; room for them */
};
struct place_walk { /* along the entries of one kind at one place, and some at others */
    enum finding_kind kind;
    u32 number; /* the next one to look at */
};
/* of all entries that are wanted; NULL: all */
void place_index_open(struct place_index *x, const struct report *r, bool (*wanted)(const struct finding *f));
void place_index_close(struct place_index *x);
void place_index_add(struct place_index *x, struct entry *e);
struct entry *place_index_first(const struct place_index *x, enum finding_kind kind, const struct place *p,
                                struct place_walk *w);
struct entry *place_index_next(const struct place_index *x, struct place_walk *w);

/* report_cause.c */
u64 hash_mix(u64 h, u64 x);
u64 hash_text(u64 h, const char *z);          /* NULL is only itself */
u64 hash_place(u64 h, const struct place *p); /* equal for what same_place takes for one */
u64 finding_hash(const struct finding *f);    /* equal for findings of one cause */
bool same_cause(const struct finding *a, const struct finding *b);
bool same_place(const struct place *a, const struct place *b); /* the chain of inlined calls included */
bool same_text(const char *a, const char *b);                  /* NULL is only itself */
void entry_keep(struct entry *e, const struct finding *f);     /* as its representative, copied */

/* All entries in the order of the report; from base_alloc, NULL when there are none. Call with the lock held. */
struct entry **report_sorted(struct report *r);

/* Several reports as one, each locked. */
struct reports {
    struct report *const *r;
    u32 n;
    struct entry **v; /* their entries, report by report, each sorted */
    u32 entries;
    u32 errors, notes, suppressed; /* of all */
    u64 occurrences, dropped;
    u32 checks_ran; /* by any */
};
void reports_begin(struct reports *all, struct report *const *r, u32 n);
void reports_end(struct reports *all);
struct entry **entries_sorted(struct report *r); /* the same, before consequences are taken out */
/* Merge sort: the C library's qsort may allocate. scratch: room for as many. */
void entries_sort(struct entry **v, struct entry **scratch, u32 n,
                  int (*by)(const struct entry *, const struct entry *));

/* A set of points (x,y,z) seen as a box with a step in each direction. */
struct box {
    u32 min[3], max[3], step[3];
    u64 count; /* points added; the box is exact when it has as many */
};
struct crowd {          /* a thread_set, summed up */
    struct box ctas;    /* those with a thread in the set */
    struct box threads; /* of the first of them */
    struct box grid;    /* all threads, by blockIdx * blockDim + threadIdx along each axis */
    u64 total;          /* threads in the set */
    bool same;          /* all of these CTAs have the same threads in it */
    bool consecutive;   /* no gap between the first and the last in linear order */
    u32 first_cta[3], first_thread[3], last_cta[3], last_thread[3];
};
bool who_sum(const struct thread_set *s, struct crowd *c); /* false: the set is empty */
void who_text(const struct entry *e, struct text *out);    /* "threads (232..255,0,0) of block (3,0,0)" */
/* the same for the second threads, and how they stand to the first */
void against_text(const struct entry *e, struct text *out);
/* "thread 33 of block 0 (warp 1, lane 1)" */
void one_text(const struct finding *f, const u32 cta[3], u32 thread, struct text *out);
bool box_exact(const struct box *b);

struct source {      /* the source of a place, as far as it is on this machine */
    char shown[512]; /* path to print; "" when the place has none */
    struct str all;  /* the file; p is NULL when it is not there */
    struct str line; /* the line in it; p is NULL when the file has no such line */
};
/* Keeps the file until sources_drop, which whoever writes a report calls at its end; the last eight files
 * opened are valid until then. */
void source_open(const struct place *p, struct source *s);
void sources_drop(void);
const char *path_name(const char *path); /* what follows the last slash */

/* mark.c */
struct mark { /* a part of a line, as offset and length */
    u32 at, n;
};
/* the access of an array in the statement at a column; false: it is not found in the text */
bool access_mark(struct str line, u32 col, const char *access, const char *object, struct mark *m);
u32 subscripted(struct str line, u32 from); /* length of a name with the subscripts or the call that follows it */

/* one entry as the text report has it, without colours */
void report_entry_text(const struct entry *e, struct text *out);
/* "number 3 of this kernel, <<<8, 128>>> in stream 2, from main (main.cu:41)"; nothing where that is not known */
void origin_text(const struct entry *e, struct text *out);
const char *check_of(enum finding_kind k); /* name of its check, "run" for those of none */
/* Its sentences, with the gaps of joint ones filled (finding.h); of what has no order, nothing. */
void cause_text(const struct entry *e, struct text *out);
void order_text(const struct entry *e, struct text *out);
void fix_text(const struct entry *e, struct text *out);
/* The text in Python's words, where the entry is of a kernel of Numba (python_words.c); in those of the driver
 * interface, where the program calls that one (driver_words.c). */
void python_words(const struct entry *e, struct text *t);
void driver_words(const struct entry *e, struct text *t);
/* those in "f32[8,130]" or "f32[8][130]"; 0: none are written */
u32 dimensions(const char *type, u64 dim[8]);
/* why the index is outside: a missing guard, off by one, a neighbour too many ... */
void index_text(const struct entry *e, struct text *out);
void guard_text(const struct entry *e, struct text *out); /* and what to do */
/* Axes of the launch, as bits, along which the guard of an index of several thread numbers is missing, and how many
 * threads there should be along each. */
u32 index_unguarded(const struct entry *e, u64 extent[3]);
/* the index has two thread numbers in it, and there are more threads along a row than the row has elements */
bool index_rows_overlap(const struct entry *e);
/* rows that overlap because their distance is wrong; false: nothing is known of that */
bool overlap_text(const struct entry *e, struct text *out);
bool overlap_fix(const struct entry *e, struct text *out);
void what_text(const struct entry *e, struct text *out);     /* "ld.global.f32 reads 4 bytes at a+0xfa0, ..." */
void rival_text(const struct entry *e, struct text *out);    /* the same for the second side */
void elements_text(const struct entry *e, struct text *out); /* "[1000..1023]", or nothing when there is one */
u64 entry_address(const struct entry *e);                    /* of the representative lane */
#endif
