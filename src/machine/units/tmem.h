/* tmem.h: tensor memory (9.7.16.1), of a CTA: 128 lanes of 512 columns, a word each.
 *
 *   tmem.c       allocation; between registers and tensor memory (tcgen05.ld, tcgen05.st)
 *   tmem_async.c what a thread starts: copies from shared memory (tcgen05.cp), commits
 *   umma.c       the products (tcgen05.mma); umma_form.c reads their descriptors
 *   tmem_check.c what is wrong with how it is used
 *
 * Loads and stores of a warp are done when they are executed. Products and copies are flights (flight.h) that a commit
 * after them completes: a load that does not wait finds what was there before. */
#ifndef LOCKSTEP_TMEM_H
#define LOCKSTEP_TMEM_H
#include "code/tensor_memory.h"
#include "units/attachments.h"

struct flight;
enum { TMEM_UNITS = TMEM_COLUMNS / TMEM_UNIT };

struct tmem_allocation {
    u32 units;                 /* 0: the columns from here on are free, or belong to an allocation that begins before */
    const struct lowered *low; /* where it was allocated */
    u32 op;
    struct warp *warp; /* by which warp */
};
struct tmem { /* of a CTA */
    u32 cell[TMEM_LANES][TMEM_COLUMNS];
    struct tmem_allocation unit[TMEM_UNITS]; /* by the first unit of each */
    u32 taken;                               /* bit set of units */
    bool relinquished;                       /* no more is allocated */
    u32 given[MAX_WARPS];                    /* to each warp: the address of its latest allocation */
    /* by cell, origin of an undefined value + 1; 0: it is defined. NULL: not checked */
    u32 (*origin)[TMEM_COLUMNS];
};

/* A rectangle of cells. */
struct tmem_area {
    u32 lane, lanes, column, columns;
    bool half; /* of each 32 lanes from the first on, only 16 */
};

struct tmem *tmem_of(struct cta *c); /* made when first asked for; NULL: no memory, and the launch fails */
static inline struct tmem *tmem_in(const struct cta *c) { return c->attached[AT_tmem]; } /* NULL: not used so far */
/* The CTAs that an operation of a warp works on: its own, or both of its pair, the even one first. How many. */
u32 tmem_ctas(const struct warp *w, bool pair, struct cta *out[2]);

/* ---- tmem_async.c ---- */

/* What a flight of tcgen05 does when it is done, and which cells it uses. */
struct tmem_work {
    struct cta *cta[2];     /* whose tensor memory */
    u32 ctas;               /* how many */
    struct tmem_area wrote; /* in each; columns 0: none */
    struct tmem_area read[4];
    u32 reads;
    void (*run)(struct tmem_work *x); /* does it */
    const struct flight *flight;      /* while it is done: whose work it is */
};
/* The work that an operation in flight has; NULL: it is none of tcgen05. */
const struct tmem_work *tmem_work_of(const struct flight *f);
#endif
