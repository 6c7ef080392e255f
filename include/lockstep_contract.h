/* lockstep_contract.h: contracts, the //! lines of a file (lockstep-contract(5)): how its kernels are to be called.
 * Part of lockstep.h, which includes it. Read one, bind it to a kernel with values for its dims, then ask. */
#ifndef LK_CONTRACT_H
#define LK_CONTRACT_H
#include "lockstep.h"
#ifdef __cplusplus
extern "C" {
#endif
#if defined __GNUC__
#pragma GCC visibility push(default)
#endif

typedef enum lk_argument_kind {
    LK_ARGUMENT_VALUE,
    LK_ARGUMENT_BUFFER,
    LK_ARGUMENT_BYTES,
    LK_ARGUMENT_NULL
} lk_argument_kind;
typedef enum lk_flow { LK_FLOW_IN, LK_FLOW_OUT, LK_FLOW_INOUT } lk_flow;
typedef struct lk_argument {
    const char *name; /* lives as long as the contract, like type */
    const char *type; /* "f32"; "" for bytes and null pointers */
    lk_argument_kind kind;
    lk_flow flow;               /* of a buffer, like the rest */
    uint32_t rank;              /* dimensions */
    uint64_t dim[8], stride[8]; /* elements */
    uint64_t bytes;             /* of memory for a buffer; of a value or bytes, its size */
    uint64_t align;
    int32_t same;    /* the earlier argument whose memory it takes, -1: its own */
    uint32_t filled; /* lk_contract_fill writes something */
    uint32_t line;   /* of the file: where it is described */
    uint64_t offset; /* elements of memory before the first one, which `bytes` does not count (lk_contract_layout) */
} lk_argument;
typedef struct lk_dim {
    const char *name;
    int64_t value;
} lk_dim;
/* `text` is copied, `file` stands in messages and reports. A file without //! kernel lines gives a contract with no
 * kernels. */
lk_status lk_contract_read(lk_gpu *gpu, const char *file, const char *text, size_t bytes, lk_contract **contract);
/* The same with choices in place of the usual ones: values of its `type` and `config` lines, "f16", "128". */
typedef struct lk_choice {
    const char *name, *value;
} lk_choice;
lk_status lk_contract_read_with(lk_gpu *gpu, const char *file, const char *text, size_t bytes, const lk_choice *choices,
                                uint32_t count, lk_contract **contract);
/* The same for a case, one line that `lockstep test` prints: sizes, choices, layouts and contents of arrays, a seed, as
 * in "rows=33 T=f16 x:rows(2) x=cancel seed=7". `kernel` is the block that it belongs to, NULL: the first.
 * lk_contract_bind then takes its sizes, lk_contract_fill its contents and, in place of `seed`, its seed. */
lk_status lk_contract_read_case(lk_gpu *gpu, const char *file, const char *text, size_t bytes, const char *kernel,
                                const char *line, lk_contract **contract);
/* What the lines say before anything is chosen or bound, as JSON, for who reads contracts in another language:
 * blocks, arguments, ops, expressions as trees (docs/lab/contract.md). It needs no gpu: why it failed says lk_gpu_error
 * of NULL. `json` goes back by lk_text_free. */
lk_status lk_contract_json(const char *file, const char *text, size_t bytes, char **json);
lk_status lk_contract_free(lk_contract *contract);
/* the name of its i-th block, NULL: there is none */
const char *lk_contract_kernel(const lk_contract *contract, uint32_t i);
/* the words after `compile` of its i-th block, for the compiler; "" */
const char *lk_contract_flags(const lk_contract *contract, uint32_t i);
/* Gives the dims their values, those in `dims` and by choice the others, and holds the block against the kernel's
 * parameters. LK_NOTHING: the contract has no block for this kernel. */
lk_status lk_contract_bind(lk_contract *contract, const lk_kernel *kernel, const lk_dim *dims, uint32_t count);
/* Before it is bound: an array in another layout than dense, one that its `view` takes: "rows(2)", two elements more
 * from row to row; "offset(4)", four elements past the start of its memory; "broadcast(0)", a stride of 0;
 * "broadcast(all)", nothing but strides of 0. */
lk_status lk_contract_layout(lk_contract *contract, const char *argument, const char *layout);
/* Of a bound contract: */
const char *lk_contract_dims(const lk_contract *contract); /* "rows=100, cols=72" */
/* the words after `oracle`, a line for each, for who can evaluate them; "" */
const char *lk_contract_oracle(const lk_contract *contract);
uint32_t lk_contract_argument_count(const lk_contract *contract);
lk_status lk_contract_argument(const lk_contract *contract, uint32_t i, lk_argument *out);
/* Writes argument i: the value, the bytes, or the contents of a buffer, which depend on seed and i only. */
lk_status lk_contract_fill(const lk_contract *contract, uint32_t i, uint64_t seed, void *to);
/* Sets what the contract says of grid, block, shared memory and cooperation; grid[0] or block[0] stay 0 where it is
 * silent. */
void lk_contract_shape(const lk_contract *contract, lk_launch *launch);
/* Non-zero: for these dims the grid has no blocks, and there is nothing to launch. */
int lk_contract_is_empty(const lk_contract *contract);

#if defined __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
