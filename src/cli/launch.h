/* lockstep launch: what was asked for, and the buffers of one launch. Six files share it: launch_options.c reads the
 * command line, launch_contract.c adds what the contract says, launch_args.c checks and makes the arguments,
 * cmd_launch.c runs, launch_trace.c follows, launch_output.c prints, saves and compares. */
#ifndef LOCKSTEP_LAUNCH_H
#define LOCKSTEP_LAUNCH_H
#include "cli/args.h"
#include "cli/compiling.h"
#include "cli/reporting.h"
#include "cli/option.h"
#include "cli/signature.h"
#include <lockstep.h>

enum { LAUNCH_ARGS = 512, LAUNCH_WANTS = 64, LAUNCH_DIMS = 64 };

enum want_kind { WANT_PRINT, WANT_SAVE, WANT_EXPECT };
struct want { /* --print, --save or --expect */
    enum want_kind kind;
    const char *key;  /* the argument: its number or name */
    u32 arg;          /* its number, once known */
    bool ranged;      /* FROM:TO was given */
    u64 from, to;     /* --print: elements, `to` not included */
    const char *file; /* --save, --expect: path, or a FILL for --expect */
};

struct launch_options {
    const char *path;            /* FILE.ptx or FILE.cu */
    const char *kernel;          /* the name behind the colon, or NULL */
    u32 grid[3], block[3];       /* 0 in x: not given */
    u32 shared;                  /* bytes of dynamic shared memory */
    bool shared_given;           /* --shared */
    u32 shared_optin, registers; /* what the host and ptxas say; 0: not given */
    bool cooperative;
    const char *contract; /* --contract FILE: where the //! lines are, or NULL: in `path` */
    bool no_contract;     /* --no-contract */
    bool merged;          /* what the contract gives is in the fields here */
    lk_dim dim[LAUNCH_DIMS];
    u32 dims;                   /* --dim */
    struct common common;       /* --quiet, --verbose, --color */
    lk_options gpu;             /* device, seed, threads, checks, budget */
    bool both;                  /* --on both: gpu.on is the software GPU, and the real one comes after it */
    u32 runs;                   /* --time: how many, 0: not timed */
    u32 order, orders;          /* --order, --schedules: as in lk_launch */
    const char *trace_file;     /* --trace FILE or NULL */
    lk_trace trace;             /* --trace-..., --break; write and stop are set when it runs */
    double tolerance;           /* --tolerance: relative, 0: the same bits */
    struct compiling compiling; /* what is said to the compiler of a .cu */
    struct reporting reporting; /* --json, --suppress...: what becomes of the report */
    struct want want[LAUNCH_WANTS];
    u32 wants;
    struct set {
        const char *name, *text; /* a variable, and what it is given */
        struct arg arg;
    } set[LAUNCH_WANTS];
    u32 sets; /* --set */
    struct arg arg[LAUNCH_ARGS];
    u32 args; /* of the kernel */
    u32 all;  /* and behind those the buffers inside of structs */
};

struct buffer {        /* one argument as it is passed */
    char name[64];     /* in reports and messages */
    char type[96];     /* "f32[64,32]"; "" for values */
    u64 address;       /* of a buffer; also what a null pointer or same: passes */
    u64 bytes;         /* of a buffer, 0: none */
    void *initial;     /* what it held before the launch, from base_alloc; NULL: uninitialised */
    const void *value; /* what the kernel gets */
    u32 value_bytes;
};

struct tracing {    /* a launch that is followed */
    lk_trace trace; /* what the launch gets */
    bool on;        /* it is traced, or stops at a line */
    bool stopped;   /* it did */
    FILE *file;     /* of the trace, NULL: none */
    u64 lines;      /* written */
    int failed;     /* errno of the first write that failed */
};
struct session { /* everything that one launch owns */
    struct arena mem;
    struct launch_options *o;
    lk_gpu *gpu;
    lk_module *module;
    lk_kernel *kernel;
    const char *name;           /* the kernel's, as in the source */
    struct signature signature; /* names from the source, when it is there */
    struct buffer *buffer;      /* one for each argument, and for each buffer inside of one */
    struct tracing tracing;     /* of the checked run */
    lk_contract *contract;      /* of the file; NULL: not looked at */
};

/* Whether the contract is in force: it has a block for this kernel. */
static inline bool launch_by_contract(const struct session *s)
{
    return s->contract && lk_contract_argument_count(s->contract) == s->o->args && s->o->merged;
}

/* launch_args.c: the arguments against the kernel's parameters; allocates and fills them; puts their contents back
 * before every run; --set. */
bool launch_args_check(struct session *s, struct error *e);
bool launch_args_make(struct session *s, struct error *e);
bool launch_args_restore(struct session *s, struct error *e);
bool launch_sets_do(struct session *s, struct error *e);
/* The command line of this launch with what is missing filled in, for people to copy. */
const char *launch_example(struct session *s);

/* launch_trace.c: opens what --trace asks for; closes it, and says when a --break was never reached. */
bool launch_trace_begin(const struct launch_options *o, struct tracing *t, struct error *e);
bool launch_trace_end(const struct launch_options *o, struct tracing *t, struct error *e);

/* Fills `o`; false: e says what is wrong. Strings live in `a` or argv. */
bool launch_options_parse(struct arena *a, int argc, char **argv, struct launch_options *o, struct error *e);

/* launch_contract.c. --dim rows=100,cols=64 */
bool launch_dim_parse(struct arena *a, const char *text, struct launch_options *o, struct error *e);
/* Reads the contract of the file; one without kernels when it has none. 0, or an exit code after saying why. */
int launch_contract_read(lk_gpu *gpu, const struct launch_options *o, lk_contract **contract, struct error *e);
/* Binds it to the kernel and completes `o` from it. 0, or an exit code after saying why; without a block for this
 * kernel nothing happens. */
int launch_contract_bind(struct arena *a, lk_gpu *gpu, lk_contract *c, const lk_kernel *kernel,
                         const struct signature *s, struct launch_options *o, struct error *e);
/* A line for each array that the kernel writes. */
bool launch_contract_show(const lk_contract *c, const struct launch_options *o, lk_gpu *gpu, const struct buffer *b,
                          struct error *e);

/* Resolves the keys of all wants: numbers, or names of arguments. */
bool launch_wants_resolve(struct arena *a, struct launch_options *o, const struct buffer *b, struct error *e);
/* Compares a buffer of the software GPU with the real one's, byte for byte, and prints the first difference. false:
 * e. */
bool launch_same(const struct arg *g, const struct buffer *b, lk_gpu *sim, lk_gpu *gpu, u64 gpu_address, bool *same,
                 struct error *e);
/* Does them, in the order given. Returns false on an error; *differs counts expectations that did not hold. */
bool launch_wants_do(struct arena *a, const struct launch_options *o, lk_gpu *gpu, const struct buffer *b, u32 *differs,
                     struct error *e);
#endif
