/* attach.h: what hangs at warps, CTAs and launches and works beside them: copies in flight, mbarriers, tensor memory,
 * checkers that keep something.
 *
 * The core knows none of them by name. Each is a row of the table asked->attachments (units/attachments.def).
 * What it has of a warp, a CTA or a launch hangs in a slot of that (`attached`), by the number of the row; a warp and a
 * CTA have a bit for each slot in use. So what nobody uses costs one test of a word. */
#ifndef LOCKSTEP_ATTACH_H
#define LOCKSTEP_ATTACH_H
#include "sim/asked.h"

struct flight; /* units/flight.h */
/* What a row does; NULL: nothing, unless said otherwise. Functions of warps and CTAs are called where the slot of the
 * warp, or the CTA, is in use. */
struct attachment {
    /* a warp */
    void (*warp_begin)(struct warp *w);      /* it starts in another CTA */
    void (*leave)(struct warp *w, u32 mask); /* these lanes are about to leave the kernel */
    void (*warp_free)(struct warp *w);       /* NULL: the slot is freed */
    /* a CTA */
    void (*cta_begin)(struct cta *c); /* it starts as another CTA of the grid */
    void (*left)(struct warp *w);     /* lanes of a warp of it have left: what waited for them alone goes on */
    bool (*push)(struct cta *c);      /* no warp can run: completes what the CTA has in flight; true: anything was */
    void (*cta_end)(struct cta *c);   /* all its threads have left */
    void (*cta_free)(struct cta *c);  /* NULL: the slot is freed */
    void (*fence)(struct warp *w, const struct lop *o); /* threads of it execute a fence */
    /* asynchronous operations: one has written shared memory of it; one is about to read its sources there; a tensor
     * copy of a lane uses the map at that address */
    void (*async_wrote)(struct cta *c, const char *at, u32 bytes);
    void (*async_reads)(struct cta *c, const struct flight *f);
    void (*map_used)(struct warp *w, const struct insn *i, u32 lane, u64 at);
    /* every launch */
    void (*launch_begin)(struct launch *l); /* before its first CTA */
    void (*launch_over)(struct launch *l);  /* it has ended or was stopped, and its CTAs are as they stand */
    void (*launch_free)(struct launch *l);  /* it is gone but for launch.result, and what it holds is given back */
    void (*turn)(struct worker *k, const struct cta *c, bool done); /* of launches with `trigger`: a CTA had a turn */
};

/* Hangs p there; NULL: nothing any more. */
static inline void attach_warp(struct warp *w, u32 row, void *p)
{
    w->attached[row] = p;
    w->has = p ? w->has | 1u << row : w->has & ~(1u << row);
}
static inline void attach_cta(struct cta *c, u32 row, void *p)
{
    c->attached[row] = p;
    c->has = p ? c->has | 1u << row : c->has & ~(1u << row);
}

/* For all rows whose slot is in use, in the order of the table. */
#define ATTACH_EACH(bits, member, ...)                                               \
    for (u32 todo_ = (bits), row_; todo_; todo_ &= todo_ - 1)                        \
        if (row_ = (u32)__builtin_ctz(todo_), asked->attachments[row_]->member != 0) \
    asked->attachments[row_]->member(__VA_ARGS__)
#define ATTACH_ALL(member, ...)                                                    \
    for (const struct attachment *const *row_ = asked->attachments; *row_; row_++) \
        if ((*row_)->member) (*row_)->member(__VA_ARGS__)
#endif
