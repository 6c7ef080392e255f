/* outputs: the arrays that a contract calls out or inout, while a launch writes them.
 *
 * One observer looks at every access that writes global memory, finds the output it falls into, and hands it to two checks: coverage.c keeps
 * which bytes were written, and by whom where the contract says `once`; values.c looks for NaN and infinity in what was written. Loads are
 * not watched, so that the fast handlers of other checks stay in place for them. */
#ifndef LOCKSTEP_OUTPUTS_H
#define LOCKSTEP_OUTPUTS_H
#include "contract/contract.h"
#include "sim/observe.h"

struct output {                 /* one argument */
    const struct bound_arg *arg;
    const struct mem_object *object;    /* where it lies */
    u64 lo, end;                /* its addresses */
    u64 *written;               /* a bit for each byte; NULL: nobody asks */
    u32 *writer;                /* by element: the thread that wrote it, counted through the grid, plus one; 0: nobody; NULL: may be written often */
    bool finite;                /* NaN and infinity are looked for */
};

struct outputs {
    struct observer observer;   /* first in the list of the launch */
    const struct bound *bound;
    const char *kernel;         /* plain name, for the report */
    struct report *report;
    struct output *list;
    u32 n;
    u64 threads;                /* of the launch */
    u32 block, grid;            /* threads of a CTA, CTAs along x: for causes */
    u32 bad_nan, bad_inf;       /* stores that had some; atomic */
    struct arena mem;           /* for the list; the maps are from base_alloc */
};

struct outputs_launch {
    const struct bound *bound;
    const struct ptx_func *kernel;
    const void *params;
    const u32 *grid, *block;
    const struct mem *mem;
    u32 checks;                 /* CHECK_COVERAGE, CHECK_VALUES */
    struct report *report;
    const struct observer *next;
};
/* *out is NULL when there is nothing to watch. false: no memory, e says for what. */
bool outputs_begin(const struct outputs_launch *l, struct outputs **out, struct error *e);
/* After the launch; `whole`: it ran to its end, so that what is missing stays missing. */
void outputs_end(struct outputs *o, bool whole);
void outputs_free(struct outputs *o);

/* What a finding about an output says of its memory; strings live in `a`. */
void output_describe(struct arena *a, const struct output *out, struct finding *f);

/* coverage.c */
bool coverage_begin(struct output *out, bool once, struct error *e);
void coverage_write(struct outputs *o, struct output *out, const struct access *a, u32 lanes);
void coverage_end(struct outputs *o, const struct output *out);
/* values.c */
bool values_wanted(const struct bound_arg *b);
void values_write(struct outputs *o, struct output *out, const struct access *a, u32 lanes);
#endif
