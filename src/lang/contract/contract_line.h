/* What the files that read contract lines share. */
#ifndef LOCKSTEP_CONTRACT_LINE_H
#define LOCKSTEP_CONTRACT_LINE_H
#include "contract/contract.h"

struct reader {
    struct contract *out;
    struct cursor c;
    const struct choice_value *given; /* by the caller */
    u32 n;                            /* of them */
    bool bare;                        /* every line counts */
    bool in_block;                    /* the line before belonged to a kernel or an op */
    struct contract_kernel *k;        /* the block being read; NULL: an op */
    struct contract_op *op;
};
/* A line of the grammar: its first word, who reads the rest, and in which blocks it may stand. */
enum {
    IN_KERNEL = 1,
    IN_OP = 2,
    BEGINS = 4,
    SURELY = 8, /* outside a block it is an error; the others may be words of somebody else's comment */
};
struct line_rule {
    const char *word;
    bool (*read)(struct reader *r);
    u32 where;
};

/* ---- contract_lab.c: lines for the laboratory ---- */
bool read_type(struct reader *r);
bool read_config(struct reader *r);
bool read_oracle(struct reader *r);
bool read_property(struct reader *r);
bool read_assume(struct reader *r);
bool read_example(struct reader *r);
bool read_launches(struct reader *r);
bool read_accumulate(struct reader *r);
bool read_tolerance(struct reader *r);
bool read_threshold(struct reader *r);
bool read_flops(struct reader *r);
bool read_empty(struct reader *r);
bool read_op(struct reader *r);
bool read_forward(struct reader *r);
bool read_backward(struct reader *r);
/* Whether what the caller chose was asked for by some block. */
bool choices_known(struct reader *r);
/* The rest of the line as it is, without blanks at its end. */
struct str line_rest(struct cursor *c);

/* A name that no argument, no part and, unless `dims_too`, no dim of this block has. NULL: e says why. */
const char *line_name(struct cursor *c, struct contract_kernel *k, const char *what, bool dims_too);
/* f32[rows, cols]; a type alone when `bare` allows it. */
bool line_shape(struct cursor *c, struct contract_shape *out, bool bare);
/* [a, b, ...]: returns how many, 0: e says why. */
u32 line_list(struct cursor *c, struct expr *out[CONTRACT_RANK]);
/* Nothing but blanks may be left. */
bool line_ends(struct cursor *c, const char *what);
bool line_arg(struct cursor *c, struct contract_kernel *k);
#endif
