/* Where threads stand, in words (stands.c), and why none of them can go on (verdict.c). */
#ifndef LOCKSTEP_VERDICT_H
#define LOCKSTEP_VERDICT_H
#include "sim/access.h"
#include "sim/async.h"

struct stop { /* a launch that came to a stop, while its report is written */
    struct launch *l;
    struct arena mem;
    struct cta **cta;
    u32 ncta; /* parked ones, by number */
    /* made so far: each reads the disk */
    struct place_text {
        const struct lowered *low;
        u32 op;
        const char *text;
        struct place_text *next;
    } * places;
};

struct crew {
    u32 mask[MAX_WARPS];
}; /* threads of a CTA */

/* All texts live in st->mem. */
/* "lock.cu:2 (in lock, called at :12)" */
const char *stand_place(struct stop *st, const struct lowered *low, u32 op);
const char *stand_lanes(struct stop *st, u32 mask); /* "lane 7", "lanes 0..15" */
/* "thread 0", "threads 1..31 and 64..95" */
const char *stand_threads(struct stop *st, const struct crew *c);
const char *stand_thread(struct stop *st, u64 cta, u32 thread); /* "thread 3 of CTA 1" */
const char *stand_cta(struct stop *st, u64 linear);
const char *stand_address(struct stop *st, const struct read *r); /* "flag+0x0" */
/* "flag+0x0, which holds 0" */
const char *stand_read(struct stop *st, const struct lowered *low, const struct read *r);
/* whether a wait of an mbarrier reads it, and what it says */
bool stand_mbarrier(const struct lowered *low, const struct read *r, struct mbarrier_word *m);
/* "it is written at a.cu:9"; NULL: cannot be said */
const char *stand_writers(struct stop *st, const struct read *r, bool *nobody);
/* "at barrier 0, k.cu:12" */
const char *stand_what(struct stop *st, const struct cta *c, struct warp *w, const struct split *s);
/* every CTA, equal ones folded: lines, each ended by \n */
const char *stand_all(struct stop *st);
const char *stand_ctas(struct stop *st, const u32 *bits, u32 n); /* "CTA 3", "CTAs 4..7 and 9" */
const char *stand_loop(struct stop *st, const struct lowered *l, const struct loop *lp); /* "flag.cu:20..21" */
/* the operation a split stands at */
u32 stand_op(const struct split *s);

/* left.c */
/* where they left, seen from a barrier that they did not reach */
u32 leave_at(const struct leave *v, u32 barrier_op);
/* "threads 80..127 left the kernel at k.cu:17"; NULL: all are at the barrier; adds to `gone` those that left */
const char *stand_absent(struct stop *st, const struct cta *c, u32 bar, u32 barrier_op, struct crew *gone);
/* "; their ways part at k.cu:12", or that a loop does; or "" */
const char *stand_parting(struct stop *st, const struct lowered *l, u32 op);
/* the innermost around an operation; NULL: none */
const struct loop *stand_loop_of(const struct lowered *l, u32 op);
/* the branch that decides whether it is reached; NONE: none */
u32 stand_decides(const struct lowered *l, u32 op);
/* "CTA 3 has left the kernel at k.cu:12"; NULL: none has */
const char *stand_ended(struct stop *st, u32 barrier_op);

/* verdict.c: a deadlock, with its cause */
void wait_verdict(struct launch *l);
void wait_report_stopped(struct launch *l);
#endif
