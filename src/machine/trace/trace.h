/* Following a launch by hand: every executed warp instruction as a line of text, and a stop at a line.
 *
 * A launch that is traced runs on one worker in plain code, where every register is 32 lanes. Its warps have
 * `instrumented` set, so that a block goes through trace_run() (exec.c); other warps pay nothing for this. trace.c
 * chooses and drives, trace_text.c writes values. */
#ifndef LOCKSTEP_TRACE_H
#define LOCKSTEP_TRACE_H
#include "sim/asked.h"

struct trace_lines { /* "[FILE:]LINE[-LINE][@N]" */
    char file[200];  /* the end of a path; "": any */
    u32 from, to;    /* from 0: every line */
    u64 nth;         /* the N-th time a warp gets there */
};

enum { TRACE_SHOW = 1, TRACE_STOP = 2 };
struct traced { /* what is known of a function, made when a warp first runs it */
    const struct lowered *low;
    u8 *type;           /* by register: enum ptx_type to show it in */
    u8 *want;           /* by operation: TRACE_* */
    u8 *block;          /* by block: what its operations want */
    const char **place; /* by operation: "smooth.cu:8", NULL: not yet asked for */
    struct opnd *is;    /* by register: what a copy that was propagated away stands for */
    struct traced *next;
};

struct trace {
    const struct sim_trace *in;
    struct launch *l;
    struct arena mem;
    struct traced *func;
    struct trace_lines show, stop;
    u64 reached;      /* times that a warp got to `stop` */
    struct text line; /* being written */
};

/* The type to show register r in: its own, or a float's when the text uses it as one. */
void trace_types(struct traced *f, struct arena *a);
/* The values of register r of the running frame. false: it has none now. A predicate is one word, in v[0]. */
bool trace_values(const struct warp *w, const struct traced *f, u32 r, u64 v[LANES]);
/* "7", "16+4*lane", "x+0x10+4*lane", "[1*8 3*24]": the lanes in mask. */
void trace_value_text(struct text *t, const struct trace *tr, enum ptx_type type, const u64 v[LANES], u32 mask);
#endif
