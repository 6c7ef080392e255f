/* Where the threads of a launch are and what they wait for, in words (deadlock_text.c). All texts live in st->mem. */
#ifndef LOCKSTEP_DEADLOCK_TEXT_H
#define LOCKSTEP_DEADLOCK_TEXT_H
#include "sim/access.h"
#include "units/mbarrier.h"

struct stopped { /* a launch whose threads are being described: it came to a stop, or is at a bad barrier */
    struct launch *l;
    struct arena mem; /* of all texts */
    struct cta **cta; /* the parked CTAs, by number */
    u32 ncta;
    bool runs; /* it has not stopped, and no other launch is looked at */
    /* places described so far: each reads the disk */
    struct place_text {
        const struct lowered *low;
        u32 op;
        const char *text;
        struct place_text *next;
    } * places;
};
struct cta_threads {     /* a set of threads of a CTA */
    u32 mask[MAX_WARPS]; /* lanes, by warp */
};

/* ---- threads ---- */
const char *describe_lanes(struct stopped *st, u32 mask);                      /* "lane 7", "lanes 0..15" */
const char *describe_threads(struct stopped *st, const struct cta_threads *c); /* "threads 1..31 and 64..95" */
const char *describe_thread(struct stopped *st, u64 cta, u32 thread);          /* "thread 3 of block 1" */
const char *describe_cta(struct stopped *st, u64 linear);                      /* "block (1,2)" */
const char *describe_ctas(struct stopped *st, const u32 *bits, u32 n);         /* "blocks 4..7 and 9" */

/* ---- code ---- */
const char *describe_place(struct stopped *st, const struct lowered *low,
                           u32 op); /* "lock.cu:2 (in lock, called at :12)" */
const char *describe_loop(struct stopped *st, const struct lowered *l, const struct loop *lp); /* "flag.cu:20..21" */

/* ---- memory ---- */
const char *describe_address(struct stopped *st, const struct read *r); /* "flag+0x0" */
/* "flag+0x0, which holds 0" */
const char *describe_read(struct stopped *st, const struct lowered *low, const struct read *r);
/* "it is written at a.cu:9"; NULL: not known. nobody: no instruction of the kernel writes it but the atomic that polls
 * it. */
const char *describe_writers(struct stopped *st, const struct read *r, bool *nobody);
/* Reads of the loop that a running split is in, of what no instruction of the kernel writes: how many of these. */
u32 loop_reads_unwritten(struct stopped *st, struct warp *w, const struct split *s, struct read *out, u32 most);
/* Whether a read is that of an mbarrier's wait, and what the mbarrier said. */
bool read_mbarrier(const struct stopped *st, const struct lowered *low, const struct read *r, struct mbarrier_state *m);

/* Some have arrived in its phase, others have not, or bytes that it expects have not come (deadlock_mbarrier.c). */
bool mbarrier_is_short(const struct mbarrier_state *m);
const char *advise_mbarrier(struct stopped *st, const struct mbarrier_state *m); /* what to do about a wait for it */

/* ---- splits ---- */
u32 split_op(const struct split *s); /* the operation that a split is at */
/* "at barrier 0, k.cu:12" */
const char *describe_split(struct stopped *st, const struct cta *c, struct warp *w, const struct split *s);
/* Every parked CTA, equal ones folded: lines, each ended by \n. */
const char *describe_all(struct stopped *st);
#endif
