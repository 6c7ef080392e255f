/* outputs: the arrays that a contract calls out or inout, while a launch writes them, and those called in, which it
 * must not write.
 *
 * One observer sees every access that writes global memory, finds the output it falls into, and hands it to two
 * checks: coverage.c keeps which bytes were written, and by whom where the contract says `once`; values.c looks for
 * NaN and infinity in what was written. Loads are not watched, so that the fast handlers of other checks stay in
 * place for them. */
#ifndef LOCKSTEP_OUTPUTS_H
#define LOCKSTEP_OUTPUTS_H
#include "contract/contract.h"
#include "sim/observe.h"

struct output {                  /* one argument */
    const struct bound_arg *arg; /* NULL: an allocation that no contract speaks of (--check values) */
    const struct scalar *type;   /* of its elements, when they are checked for NaN and infinity; NULL: they are not */
    const struct mem_object *object; /* where it lies */
    bool input;                      /* it is `in`, and nobody may write it */
    u64 lo, end;                     /* its addresses */
    u64 *written;                    /* a bit for each byte; NULL: coverage is not checked */
    /* by element: the thread that wrote it, counted through the grid, plus one; 0: none; NULL: may be written often */
    u32 *writer;
};

/* what the registers of a function are used as */
struct learned {
    const struct lowered *low;
    const u8 *type;
    struct learned *next;
};

struct outputs {
    struct observer observer; /* first in the list of the launch */
    const struct bound *bound;
    const char *kernel; /* plain name, for the report */
    struct report *report;
    struct output *list;
    u32 n;
    u64 threads;     /* of the launch */
    u32 block, grid; /* threads of a CTA, CTAs along x: for causes */
    bool all;        /* every store to global memory is checked for NaN and infinity */
    const struct mem *memory;
    bool once;                     /* as in outputs_launch */
    struct report *held;           /* findings of a first run; NULL: values are not checked */
    struct value_origins *origins; /* of a second run, NULL: this is the first */
    u32 odd, reported;             /* bits of enum odd: seen by the first run; reported by the second one; atomic */
    lock_t lock;                   /* guards what follows */
    struct learned *learned;
    struct arena mem; /* for the list; the maps are from base_alloc */
};

struct outputs_launch {
    const struct bound *bound; /* NULL: there is no contract */
    const struct ptx_func *kernel;
    const void *params;
    const u32 *grid, *block;
    const struct mem *mem;
    u32 checks;      /* CHECK_COVERAGE, CHECK_VALUES */
    bool all_values; /* every store, contract or not */
    bool once;       /* the launch is not run again for the origin of odd values */
    struct report *report;
    const struct observer *next;
};
/* *out is NULL when there is nothing to watch. false: no memory, e says for what. */
bool outputs_begin(const struct outputs_launch *l, struct outputs **out, struct error *e);
/* After the launch; `whole`: it ran to its end, so that what is missing stays missing. */
void outputs_end(struct outputs *o, bool whole);
/* The same launch is going to run again, followed by `origins`: coverage is done, and odd values are reported with
 * their origins. */
void outputs_rerun(struct outputs *o, struct value_origins *origins);
/* What the first run found odd and the second one did not see goes into the report as it is. */
void outputs_settle(struct outputs *o);
void outputs_free(struct outputs *o);

/* What a finding about an output says of its memory; strings live in `a`. */
void output_describe(struct arena *a, const struct output *out, struct finding *f);

/* coverage.c */
bool coverage_begin(struct output *out, bool once, struct error *e);
void coverage_write(struct outputs *o, struct output *out, const struct access *a, u32 lanes);
void coverage_end(struct outputs *o, const struct output *out);
/* values.c */
bool values_wanted(const struct bound_arg *b);
void values_write(struct outputs *o, const struct output *out, const struct access *a, u32 lanes);
/* lanes that write global memory outside of the contract's outputs */
void values_any(struct outputs *o, const struct access *a, u32 lanes);
#endif
