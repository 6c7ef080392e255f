/* counting.h: what is counted while a launch runs: counters of each worker, by function and instruction.
 *
 * How a warp goes through the code is counted by block: how often, with how many lanes. That says how often each
 * instruction was executed, since all lanes of a split execute all of a block. Instructions of which that does not say
 * enough have counters of their own: accesses to memory, branches, barriers, copies in flight, and what a guard turns
 * off for some lanes. All are integers, and sums, extremes or sets, so that neither the number of workers nor their
 * order shows. */
#ifndef LOCKSTEP_COUNTING_H
#define LOCKSTEP_COUNTING_H
#include "count/count.h"
#include "count/operations.h"
#include "count/touched.h"
#include "count/wavefronts.h"
#include "sim/observe.h"

struct conflict { /* of shared memory: the access with most ways, of these the first in the grid */
    u32 ways;     /* 0: there was none */
    u32 bank;
    u64 cta;
    u32 warp, lane[2];
    u64 addr[2]; /* in shared memory */
};

/* Counters that are added up are rows of counter.def. */
#define COUNTER_FIELD(field, key, text) u64 field;
struct space_counts {
#define SPACE_COUNTER COUNTER_FIELD
#include "count/counter_rows.h"
};

enum { AFFINE_GROUPS = 4 }; /* groups of lanes whose addresses are counted without looking at each lane */

struct memo { /* the last access to shared memory with affine addresses, and what it cost */
    bool valid, strided;
    u32 mask;
    u32 bytes;             /* of a lane */
    u64 at[AFFINE_GROUPS]; /* the first address of each group of lanes */
    u64 times;             /* that it came so, not yet among the counters (count_settle) */
    s64 stride;
    struct wavefronts cost;
};

struct bulk { /* copies in flight that an instruction has issued */
#define BULK_COUNTER COUNTER_FIELD
#include "count/counter_rows.h"
};

struct access_counts {
    struct space_counts in[COUNT_SPACES];
#define ACCESS_COUNTER COUNTER_FIELD
#include "count/counter_rows.h"
    u64 strided;                /* requests of which all lanes are at one distance */
    s64 stride_min, stride_max; /* of these */
    struct conflict worst;
    struct bulk bulk;
    struct memo memo;
};

struct block_counts {
#define BLOCK_COUNTER COUNTER_FIELD
#include "count/counter_rows.h"
};

struct barrier_counts {
#define BARRIER_COUNTER COUNTER_FIELD
#include "count/counter_rows.h"
};

struct products { /* whose shape is known when they are started */
    enum operation_type type;
    u64 operations;
};

struct func_counts { /* of a function */
    struct lowered *low;
    const struct worker *of;        /* who counts here */
    struct worker_counts *worker;   /* the same */
    u32 *insns;                     /* by block: how many instructions of the text it has */
    struct block_counts *block;     /* by block */
    struct access_counts *access;   /* by site */
    struct barrier_counts *barrier; /* by operation; NULL: none so far */
    u64 *on;                        /* by operation: lanes that a guard let through; NULL: none so far */
    struct products *products;      /* by operation: of tcgen05.mma; NULL: none so far */
    struct func_counts *next;
};

struct texels_seen { /* of the fetch under way */
    u64 *key;        /* address and size of each; in the worker's arena */
    u32 n, cap;
};

struct worker_counts {
    struct func_counts *func;
    struct texels_seen texels;
    struct touched touched;
    u64 idle; /* threads that left without an access to memory */
    struct arena mem;
    char apart[128]; /* from what the next worker writes */
};

struct counting { /* one launch */
    struct observer observer;
    struct counts *into;
    struct count_shape shape;
    struct worker_counts *worker;
    u32 workers;
};

/* Instructions of the text in a block that are executed: of several operations that were made from one, one. */
u32 block_insns(const struct lowered *l, u32 b);
/* The counters of a function, of this worker. */
struct func_counts *counting_func(struct counting *c, const struct warp *w, struct lowered *low);
static inline struct worker_counts *counting_worker(const struct counting *c, const struct cta *cta)
{
    return &c->worker[cta->worker - cta->launch->worker];
}

/* The counters of the function that the warp is in. A CTA that has waited may go on with another worker. */
static inline struct func_counts *counting_here(struct counting *c, struct warp *w)
{
    struct func_counts *f = w->count.func;
    if (likely(f && f->low == w->code->low && f->of == w->cta->worker)) return f;
    return w->count.func = counting_func(c, w, w->code->low);
}

/* fetches.c: for observer.texel, and around a fetch. */
void count_texel(void *self, const struct access *a);
int around_texture(struct counting *c, char *R, const struct insn *i, struct warp *w, handler *beneath);
/* count_access.c: for observer.around, observer.wants and observer.flight. */
int count_around(void *self, char *R, const struct insn *i, struct warp *w, handler *beneath);
bool count_wants(const struct lowered *l, const struct lop *o);
/* Adds what struct memo holds back to the counters. */
void count_settle(struct access_counts *k);
void count_flight(void *self, struct flight *f, enum flight_moment m);
/* count_merge.c: adds what the workers of a launch have counted to the first of them; adds up counters. */
void counting_merge(struct counting *c);
void bulk_add(struct bulk *to, const struct bulk *from);
void barrier_counts_add(struct barrier_counts *to, const struct barrier_counts *from);
void space_counts_add(struct space_counts *to, const struct space_counts *from);
void access_counts_add(struct access_counts *to, const struct access_counts *from);
/* count_kernel.c: takes what one launch has counted. */
void counts_take(struct counts *all, const struct counting *c, const struct launch *l);
#endif
