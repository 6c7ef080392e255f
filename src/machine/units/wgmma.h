/* Asynchronous products of a warpgroup in flight (wgmma.c). */
#ifndef LOCKSTEP_WGMMA_H
#define LOCKSTEP_WGMMA_H
#include "units/attachments.h"
#include "units/flight.h"

/* A product of a warp from its issue to the wait that covers it. */
struct wgmma {
    struct lowered *low; /* its function */
    u32 op;              /* its operation there */
    u32 group;           /* of its warp, from 0 */
    u32 number;          /* of its warp, from 1 */
    u32 lanes;           /* that take part */
    bool add;            /* to what d holds */
    u64 a_at, b_at;      /* the descriptors */
    u32 a[4][LANES];     /* a in registers: they are read when the product is issued */
    u64 meta[LANES];     /* of a sparse a */
    bool reported;       /* it has been reported that its registers were touched */
    bool ready;          /* its accumulators have their values, although nobody has waited */
    u32 row_origin[16];  /* of an undefined row of a in registers, + 1; 0: it is defined */
};
struct wgmma_pair {  /* of instructions of one function */
    u32 function;    /* its serial number + 1; 0: none */
    u32 op, product; /* what may touch registers of a product, and what starts it */
};

struct wgmmas {    /* of a warp */
    u32 committed; /* groups so far */
    u32 n, cap;    /* products in flight; room */
    bool fenced;   /* wgmma.fence has been executed */
    u32 nwrote;    /* operations since, which have written registers that a product may have */
    struct {
        const struct lowered *low;
        u32 op;
    } wrote[64];
    u32 count;  /* products that were issued so far */
    u32 done;   /* of them, those that it has waited for */
    u32 due;    /* of those in flight, the first ones: waited for; done when all warps have */
    u32 waited; /* the operation that waited last, of function waited_in; NULL: none so far */
    const struct lowered *waited_in;
    u32 met;                      /* of those, the ones that its whole warpgroup has waited for */
    struct wgmma_pair apart[256]; /* that are known not to meet (wgmma_check.c) */
    struct wgmma p[];
};
static inline struct wgmmas *wgmmas_of(const struct warp *w) { return w->attached[AT_wgmma]; } /* NULL: none so far */
struct wgmmas *wgmmas_new(struct warp *w); /* with room for a product more; NULL: no memory, and the launch fails */
/* Puts the values of all products in flight into their accumulators, as the wait does that ptxas inserts in front of an
 * instruction that touches them; the products stay in flight. False: the frame needs planes for it first. */
bool wgmma_ready(struct warp *w);
/* A warp has come to its wait, or has left: those that it held back go on. */
void wgmma_recheck(struct warp *w);
/* Tells of what each product in flight in the CTA reads from shared memory, as a flight. */
void wgmma_each_in_flight(struct cta *c, void (*tell)(struct warp *w, const struct flight *f));
/* A bit for each warp of the warpgroup that lags behind this one. */
u32 wgmma_behind(const struct warp *w);
#endif
