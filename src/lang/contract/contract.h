/* contract: how a kernel is to be called, as its file says it in `//!` lines. lockstep-contract(5) is the grammar.
 *
 *     //! kernel scale_rows
 *     //! dim    rows 1..4096, cols 1..8192
 *     //! arg x  f32[rows, cols] in normal
 *     //! arg y  f32[rows, cols] out
 *     //! arg n  i32 = rows
 *     //! launch grid=rows block=256
 *
 * Two steps. contract_parse reads the text into blocks, one for each kernel, whose shapes and values are expressions.
 * contract_bind gives the dims their values, and everything becomes a number. Then contract_obeyed holds the
 * arguments of an actual launch against it. */
#ifndef LOCKSTEP_CONTRACT_H
#define LOCKSTEP_CONTRACT_H
#include "base/fill.h"
#include "contract/expr.h"
#include "mem/mem.h"
#include "report/report.h"

enum { CONTRACT_RANK = 8, CONTRACT_ARGS = 512, CONTRACT_DIMS = 64 };

struct contract_dim { /* dim rows 1..4096 step 4 = 100 */
    const char *name;
    const char *at;          /* of the name */
    struct expr *low, *high; /* the range; NULL: from 1 on */
    struct expr *step;       /* must be a multiple of this; NULL: of 1 */
    struct expr *value;      /* unless somebody gives another; NULL: contract_bind chooses */
    u32 symbol;              /* its number in expressions */
};

struct contract_shape { /* f32[rows, cols] */
    const struct scalar *type;
    const char *choice; /* the type line that it is; NULL: a type as it is written */
    u32 rank;           /* 0: a single element */
    struct expr *dim[CONTRACT_RANK];
    struct expr *stride[CONTRACT_RANK]; /* in elements; NULL in [0]: dense, the last dimension fastest */
};

struct contract_fill { /* uniform(-1, 1) */
    enum fill_kind kind;
    struct expr *a, *b; /* its operands or NULL */
    const char *file;   /* FILL_FILE: as written, from the contract's folder */
    bool given;         /* false: what goes with direction and type */
    bool below;         /* the upper end is not included: index(n) */
    bool integers;      /* FILL_RAND of floats: whole numbers, the upper end included */
    bool nan;           /* FILL_CONST: not a number */
    const char *at;     /* of its word */
};

/* Layouts of an array: as it is written, rows further apart, beginning past the start of its memory, or standing
 * still along one dimension. An argument takes the first alone, unless its `view` says otherwise. */
enum contract_layout { LAYOUT_DENSE, LAYOUT_ROWS, LAYOUT_OFFSET, LAYOUT_BROADCAST, LAYOUTS };
enum { LAYOUT_STRIDES = LAYOUTS }; /* in place of one of them: the strides that a launch tells the kernel */
enum { BROADCAST_ALL = 31 };       /* in place of a dimension: along all of them */
extern const char *const layout_names[LAYOUTS];

enum contract_arg_kind { CONTRACT_VALUE, CONTRACT_BUFFER, CONTRACT_BYTES, CONTRACT_NULL };
enum contract_flow { FLOW_IN, FLOW_OUT, FLOW_INOUT };
enum { NO_ALIAS = UINT32_MAX };
struct contract_arg {
    const char *name;
    const char *at; /* of the name */
    enum contract_arg_kind kind;
    struct contract_shape shape; /* its type, for a value too */
    struct expr *value;          /* CONTRACT_VALUE */
    u32 symbol;                  /* CONTRACT_VALUE: its number in expressions; UINT32_MAX: it has the name of a dim */
    enum contract_flow flow;     /* CONTRACT_BUFFER, like all that follows */
    bool once;                   /* every element is written by one thread, one time */
    bool partial;                /* elements may stay unwritten */
    bool optional;               /* a null pointer is fine */
    struct contract_fill fill;
    struct expr *align; /* bytes; NULL: the element's size */
    u32 layouts;        /* a bit for each layout that it takes; 0: dense alone */
    u32 broadcasts;     /* LAYOUT_BROADCAST: a bit for each dimension along which it may stand still */
    u32 strides;        /* the number of NAME.stride0 in expressions, the others follow; UINT32_MAX: no view line */
    u32 alias;          /* an earlier argument whose memory this may be; NO_ALIAS: of none */
    const u8 *bytes;
    u32 nbytes; /* CONTRACT_BYTES: a struct passed by value */
};

struct contract_part { /* shared tile f32[32, 33] at 0 */
    const char *name;
    const char *at;
    struct contract_shape shape;
    /* bytes from the start of dynamic shared memory; NULL: after the part before, aligned to its type */
    struct expr *offset;
};

struct contract_require {
    struct expr *what;
    const char *text; /* as it is written */
    u32 last;         /* the largest symbol in it, UINT32_MAX: none */
};

/* type T f32|f16, config BLOCK 256 {64, 128}: what is decided before a block is read. The first value is the usual one.
 */
enum { CONTRACT_CHOICES = 16, CONTRACT_VALUES = 64 };
struct contract_choice {
    const char *name;
    const char *at;
    bool is_type;
    bool in_name; /* a template argument of the kernel; else a -D of the compiler */
    VEC(const char *) value;
    u32 chosen; /* of them */
};
struct choice_value { /* a choice that the caller makes; what no block asks for is an error */
    const char *name, *value;
};

enum contract_source { ORACLE_TEXT, ORACLE_PYTHON, ORACLE_LIBRARY };
struct contract_text { /* words that somebody else reads: oracle, property */
    const char *text;
    const char *at;
    enum contract_source source; /* of an oracle: these words, or a function that is asked */
    const char *from, *function; /* a module or a file, as written, and its function; NULL: ORACLE_TEXT */
    VEC(const char *) out;       /* outputs that the function computes; none: all that the kernel has */
    struct str within;           /* the bound that its results have, an expression; empty: the function says it */
};
struct contract_texts {
    VEC(struct contract_text) list;
};

enum contract_empty { EMPTY_NOTHING, EMPTY_ZEROS, EMPTY_LAUNCH };

struct contract_kernel {
    const char *name;    /* as in the source, or mangled; template arguments that are choices have their values */
    const char *written; /* the same with the names of the choices */
    const char *at;
    VEC(struct contract_choice) choices;
    struct settings settings; /* what the choices came to */
    const char *unchosen;     /* a choice of the caller that is none of this block, in words, and where; NULL: none */
    const char *unchosen_at;
    struct symbols symbols; /* dims first, then values and grid.x to block.z in the order of the text */
    VEC(struct contract_dim) dims;
    VEC(struct contract_arg) args;
    VEC(struct contract_part) parts;
    VEC(struct contract_require) requires;
    const char *launch_at;                        /* the launch line; NULL: none */
    u32 launch_after;                             /* it stands after so many arguments */
    u32 launch_symbol;                            /* the number of grid.x; grid.y to block.z follow */
    struct expr *grid[3], *block[3], *cluster[3]; /* NULL in [0]: not given; in the others: 1 */
    struct expr *shared;                          /* bytes; NULL: what the parts need */
    bool cooperative;
    const char *compile; /* flags for the compiler, those of the choices with them, or NULL */
    const char *flags;   /* as the compile line has them, or NULL */
    const char *compile_at;
    /* for the laboratory */
    struct contract_texts oracles, properties;
    struct contract_texts assumes;  /* what has to hold of the contents of a case: else it is not run */
    struct contract_texts examples; /* cases that are run first, as --case has them */
    u32 launches;                   /* in sequence, on one memory; 0: not said */
    const char *accumulate;         /* "f32 tree 256": what sums are kept in; NULL: not said */
    struct str accumulate_at;       /* the same in the file */
    double tolerance;               /* 4 of `tolerance 4x`: how much wider the bound is; 1 */
    double threshold;               /* 0.03 of `threshold 3%`: a difference of time that counts; 0: not said */
    struct expr *flops;             /* of one launch; NULL: not said */
    enum contract_empty empty;      /* what becomes of the outputs of a grid without blocks */
};

struct contract_call { /* ln_fwd(x, g, b) -> y, mean */
    const char *name;  /* NULL: not said */
    const char *at;
    VEC(const char *) in;
    VEC(const char *) out;
};
struct contract_op { /* what one kernel or several compute together */
    struct contract_call is;
    VEC(struct contract_call) forward;  /* kernels, one after the other */
    VEC(struct contract_call) backward; /* kernels for its gradients */
    struct contract_texts oracles;
};

struct contract {
    const char *file; /* for messages and as the place of findings */
    struct str text;  /* the caller's; must live as long */
    VEC(struct contract_kernel) kernels;
    VEC(struct contract_op) ops;
};

/* Reads all blocks. Files without one give a contract without kernels. Everything lives in `a`. */
bool contract_parse(struct arena *a, const char *file, struct str text, struct contract *out, struct error *e);
/* The same with choices of the caller in place of the usual ones. */
bool contract_parse_with(struct arena *a, const char *file, struct str text, const struct choice_value *given, u32 n,
                         struct contract *out, struct error *e);
/* The block of this kernel, by its plain or mangled name; NULL: none. */
const struct contract_kernel *contract_find(const struct contract *c, const char *plain, const char *mangled);

struct bound_shape { /* a shape whose expressions have become numbers */
    u64 dim[CONTRACT_RANK], stride[CONTRACT_RANK];
    u64 offset; /* elements of memory before the first one */
    u64 count;  /* elements */
    u64 extent; /* elements from the first to the last in memory, both included */
};
struct bound_arg {
    const struct contract_arg *arg;
    struct bound_shape shape; /* CONTRACT_BUFFER */
    u64 bytes;                /* of memory for it; of a value, its size */
    u64 align;                /* bytes */
    u8 value[8];              /* CONTRACT_VALUE */
    bool tied;                /* CONTRACT_VALUE: depends on dims, so no other will do */
    struct fill fill;
};
struct bound_part {
    const struct contract_part *part;
    u64 offset, bytes;
};
struct bound {
    const struct contract *contract;
    const struct contract_kernel *kernel;
    struct number *value;  /* by symbol */
    struct bound_arg *arg; /* as many as the kernel's block has */
    struct bound_part *part;
    bool has_grid, has_block; /* the launch line gives them */
    bool is_empty;            /* and the grid has no blocks */
    u32 grid[3], block[3], cluster[3];
    u64 shared; /* bytes of dynamic shared memory */
};
struct dim_value {
    const char *name;
    s64 value;
};                    /* a dim that the caller decides */
struct layout_value { /* a layout that the caller decides: rows(2), offset(4), broadcast(0), broadcast(all) */
    const char *name; /* of the argument */
    u32 layout;       /* enum contract_layout or LAYOUT_STRIDES */
    u64 amount;
    u32 told;                  /* LAYOUT_STRIDES: a bit for each dimension whose stride is known */
    u64 stride[CONTRACT_RANK]; /* of them, elements */
};
/* "rows(2)"; false: e says what there is */
bool layout_parse(struct str text, struct layout_value *out, struct error *e);
/* Gives the dims their values, those in `given` first, and evaluates everything. false: e says what does not hold,
 * and where. */
bool contract_bind(struct arena *a, const struct contract *c, const struct contract_kernel *k, struct dim_value *given,
                   u32 n, struct bound *out, struct error *e);
/* The same with layouts of arguments other than dense. One that the contract does not take is an error. */
bool contract_bind_with(struct arena *a, const struct contract *c, const struct contract_kernel *k,
                        struct dim_value *given, u32 n, const struct layout_value *layout, u32 layouts,
                        struct bound *out, struct error *e);
/* "f32[100,72]" */
void contract_type_text(const struct bound_arg *b, char *out, size_t size);

/* Holds a launch against its contract: pointers, sizes, alignment, overlap, values, parts of shared memory. What does
 * not fit becomes a finding at the line of the contract. True: everything fits. */
struct contract_launch {
    const struct bound *bound;
    const char *kernel;      /* for the report */
    const void *const *args; /* a pointer to each argument's bytes */
    u32 nargs;
    u64 shared;                                      /* bytes of dynamic shared memory */
    struct mem_object *(*find)(void *ctx, u64 addr); /* live or freed, as mem_find */
    void *ctx;
    struct report *report;
};
bool contract_obeyed(const struct contract_launch *l);
/* Where a piece of the contract's text stands, for a finding; `line` is the storage for its text. */
void contract_place(const struct contract *c, const char *at, struct place *p);
#endif
