/* count_line.h: the counters of a kernel by source line, and what a line costs. */
#ifndef LOCKSTEP_COUNT_LINE_H
#define LOCKSTEP_COUNT_LINE_H
#include "count/count_kernel.h"

struct count_line {
    const struct place *place; /* of its first instruction, the innermost of the user's own */
    u64 times, lanes, off;     /* of all its instructions */
    u64 operations[OPS_TYPES];
    struct access_counts access[COUNT_ACCESSES];
    struct branch_counts branch;
    u64 branches; /* executed */
    struct barrier_counts barrier;
    u64 cost;                       /* issue slots of a multiprocessor (count_cost) */
    const struct count_insn **insn; /* its instructions, as in the PTX */
    u32 insns;
};
struct count_lines {
    struct count_line *line; /* by file and line; those without a line come last */
    u32 n;
    u64 cost; /* of all */
    struct arena mem;
};
/* The lines of a kernel; free with arena_free(&out->mem). The caller holds the lock of the counts. */
void count_lines(const struct counts *all, const struct count_kernel *k, struct count_lines *out);
/* The lines that cost most first: `n` of them at most, as numbers into out->line. */
u32 count_lines_top(const struct count_lines *l, u32 *top, u32 n);

/* The kernels, those that executed most first; in `mem`. The caller holds the lock of the counts. */
const struct count_kernel **count_kernels(const struct counts *c, struct arena *mem, u32 *n);

/* What a line costs, for ranking lines: slots of a multiprocessor, of which four pass in a cycle. An instruction takes
 * one, a sector one, a pass of shared memory or of the constant cache four, an atomic four for each lane at one
 * address, arithmetic what the card's peak allows. */
u64 count_cost(const struct card *card, const struct count_line *l);

/* All accesses of a line; those to one space. */
struct access_counts count_line_access(const struct count_line *l);
struct space_counts count_line_space(const struct count_line *l, enum count_space s);
/* The same of atomics and reductions: lanes at one address, and requests. */
struct count_serial {
    u64 lanes, requests;
};
struct count_serial count_line_serial(const struct count_line *l);
#endif
