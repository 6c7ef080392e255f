/* Where threads stand, in words (stands.c), and why none of them can go on (verdict.c). */
#ifndef LOCKSTEP_VERDICT_H
#define LOCKSTEP_VERDICT_H
#include "sim/access.h"

struct stop {                                   /* a launch that came to a stop, while its report is written */
    struct launch *l;
    struct arena mem;
    struct cta **cta; u32 ncta;                 /* parked ones, by number */
    struct place_text { const struct lowered *low; u32 op; const char *text; struct place_text *next; } *places;     /* made so far: each reads the disk */
};

struct crew { u32 mask[MAX_WARPS]; };           /* threads of a CTA */

/* All texts live in st->mem. */
const char *stand_place(struct stop *st, const struct lowered *low, u32 op);            /* "lock.cu:2 (in lock, called at :12)" */
const char *stand_lanes(struct stop *st, u32 mask);                                     /* "lane 7", "lanes 0..15" */
const char *stand_threads(struct stop *st, const struct crew *c);                       /* "thread 0", "threads 1..31 and 64..95" */
const char *stand_thread(struct stop *st, u64 cta, u32 thread);                         /* "thread 3 of CTA 1" */
const char *stand_cta(struct stop *st, u64 linear);
const char *stand_address(struct stop *st, const struct lowered *low, const struct read *r);     /* "flag+0x0" */
const char *stand_read(struct stop *st, const struct lowered *low, const struct read *r);        /* "flag+0x0, which holds 0" */
const char *stand_writers(struct stop *st, const struct read *r, bool *nobody);         /* "it is written at a.cu:9"; NULL: cannot be said */
const char *stand_what(struct stop *st, const struct cta *c, struct warp *w, const struct split *s);       /* "at barrier 0, k.cu:12" */
const char *stand_all(struct stop *st);                                                 /* every CTA, equal ones folded: lines, each ended by \n */
u32 stand_op(const struct split *s);                                                    /* the operation a split stands at */
#endif
