/* lockstep launch: what was asked for, and the buffers of the launches. These files share it: launch_options.c reads
 * the command line, launch_contract.c adds what the contract says, launch_args.c checks and makes the arguments,
 * launch_names.c finds what a name stands for, launch_sets.c gives variables their values, launch_open.c puts them
 * together, cmd_launch.c runs, launch_trace.c follows, launch_output.c prints, saves and compares.
 *
 * A command line has one launch, or several with -- between them. They run one after the other on one GPU; what a
 * launch has given a name, those after it can take as an argument. */
#ifndef LOCKSTEP_LAUNCH_H
#define LOCKSTEP_LAUNCH_H
#include "launch/args.h"
#include "cli/compiling.h"
#include "cli/reporting.h"
#include "cli/option.h"
#include "cli/host_launch.h"
#include "cli/signature.h"
#include "cli/source_type.h"
#include <lockstep.h>

enum { LAUNCH_ARGS = 512, LAUNCH_WANTS = 64, LAUNCH_DIMS = 64, LAUNCH_MOST = 1000, LAUNCH_AFTER = 16 };

/* What a part of the command line is: a launch of a kernel, or another operation, by its first word. */
enum part_kind {
    PART_LAUNCH,
    PART_COPY,
    PART_FILL,
    PART_ALLOC,
    PART_FREE,
    PART_WRITE_VALUE,
    PART_WAIT_VALUE,
    PART_SYNC, /* this and the next ones are done by the host itself */
    PART_HOST_WRITE,
    PART_HOST_READ
};

enum want_kind { WANT_PRINT, WANT_SAVE, WANT_EXPECT };
struct want { /* --print, --save or --expect */
    enum want_kind kind;
    const char *key;  /* the argument: its number or name */
    u32 launch, arg;  /* whose buffer it is: the launch from 0 on, and the number there, once known */
    bool ranged;      /* FROM:TO was given */
    u64 from, to;     /* --print: elements, `to` not included */
    const char *file; /* --save, --expect: path, or a FILL for --expect */
};

struct run_options {            /* what holds for all launches of a command line */
    struct common common;       /* --quiet, --verbose, --color */
    lk_options gpu;             /* device, seed, threads, checks, budget */
    bool both;                  /* --on both: gpu.on is the software GPU, and the real one comes after it */
    u32 runs;                   /* --time: how many, 0: not timed */
    u32 order, orders;          /* --order, --schedules: as in lk_launch */
    u32 graphs;                 /* --graph: how often the graph of all parts is launched; 0: they are in streams */
    u64 inputs;                 /* the seed of random inputs: --seed, also where other orders have other seeds */
    struct reporting reporting; /* --json, --suppress...: what becomes of the report */
};

struct launch_options { /* one part */
    enum part_kind part;
    const char *label;               /* --name, or NULL */
    const char *stream;              /* --stream, or NULL: the host waits until it is done */
    bool non_blocking;               /* --non-blocking: the stream is made so */
    bool programmatic;               /* --programmatic: as in lk_launch */
    s32 priority;                    /* --priority: of the stream */
    const char *after[LAUNCH_AFTER]; /* --after: names of earlier parts */
    u32 afters;
    u32 words;                   /* that were read of an operation, without its first one */
    u64 value;                   /* PART_FILL, PART_HOST_WRITE: of every byte; PART_*_VALUE: that value */
    lk_compare compare;          /* PART_WAIT_VALUE */
    u64 bytes;                   /* of an operation; 0: as many as there are */
    const char *waits;           /* PART_SYNC: for this stream, NULL: for all */
    const char *path;            /* FILE.ptx or FILE.cu */
    const char *kernel;          /* the name after the colon, or NULL */
    u32 grid[3], block[3];       /* 0 in x: not given */
    u32 cluster[3];              /* the same */
    u32 shared;                  /* bytes of dynamic shared memory */
    bool shared_given;           /* --shared */
    u32 shared_optin, registers; /* what the host and ptxas say; 0: not given */
    bool cooperative;
    const char *contract; /* --contract FILE: where the //! lines are, or NULL: in `path` */
    bool no_contract;     /* --no-contract */
    bool merged;          /* what the contract gives is in the fields here */
    lk_dim dim[LAUNCH_DIMS];
    u32 dims; /* --dim */
    lk_choice choice[LAUNCH_DIMS];
    const char *case_line;      /* --case: what lockstep test printed; NULL: none */
    u32 choices;                /* --config */
    const char *trace_file;     /* --trace FILE or NULL */
    lk_trace trace;             /* --trace-..., --break; write and stop are set when it runs */
    double tolerance;           /* --tolerance: relative, 0: the same bits */
    struct compiling compiling; /* what is said to the compiler of a .cu */
    struct want want[LAUNCH_WANTS];
    u32 wants;
    struct set {
        const char *name, *text; /* a variable, and what it is given */
        struct arg arg;
    } set[LAUNCH_WANTS];
    u32 sets; /* --set */
    struct arg arg[LAUNCH_ARGS];
    u32 args; /* of the kernel */
    u32 all;  /* and after those the buffers inside of structs */
};

struct request { /* a command line */
    struct run_options run;
    struct launch_options **launch; /* in the order of the command line, which is that of execution */
    u32 launches;
};

struct buffer {        /* one argument as it is passed */
    char name[64];     /* in reports and messages */
    char type[96];     /* "f32[64,32]"; "" for values */
    u64 address;       /* of a buffer; also what a null pointer or same: passes */
    u64 bytes;         /* of a buffer, 0: none */
    void *initial;     /* what it held before the launch, from base_alloc; NULL: uninitialised */
    const void *value; /* what the kernel gets */
    u32 value_bytes;
    bool gone; /* it was freed, or is not allocated yet */
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
    struct pipeline *all; /* that it is a part of */
    u32 number;           /* in it, from 0 on */
    struct launch_options *o;
    lk_gpu *gpu;       /* that of the pipeline */
    lk_module *module; /* one for all launches of a file that is compiled in the same way */
    bool owns_module;  /* it was loaded for this launch first */
    lk_kernel *kernel;
    const char *name;           /* the kernel's, as in the source */
    struct signature signature; /* names from the source, when it is there */
    struct host_code host;      /* launches in the source, once somebody has looked */
    struct buffer *buffer;      /* one for each argument, and for each buffer inside of one */
    struct tracing tracing;     /* of the checked run */
    lk_contract *contract;      /* of the file; NULL: not looked at */
    const char *site;           /* what reports call it, when there are streams */
    lk_stream *stream;          /* NULL: the host waits until it is done */
    lk_event *done;             /* recorded after it, when a later part waits for it; else NULL */
    lk_node *node;              /* --graph: what it is in the graph */
};
struct pipeline { /* the launches of a command line on one GPU */
    struct arena mem;
    struct request *asked;
    lk_gpu *gpu;
    struct session *launch; /* asked->launches of them */
    struct named_stream {   /* in the order in which they are named */
        const char *name;
        lk_stream *stream;
    } * stream;
    u32 streams;
};
/* Whether messages have to say which launch they are about. */
static inline bool launch_of_several(const struct session *s) { return s->all->asked->launches > 1; }

/* Whether the contract is in force: it has a block for this kernel. */
static inline bool launch_by_contract(const struct session *s)
{
    return s->contract && lk_contract_argument_count(s->contract) == s->o->args && s->o->merged;
}

/* launch_open.c: makes all launches ready to run. 0, or an exit code after saying why; close it either way. */
int pipeline_open(struct pipeline *p, struct request *asked, struct error *e);
void pipeline_close(struct pipeline *p);

/* launch_args.c: the arguments against the kernel's parameters; allocates and fills them; puts their contents back
 * before every run. */
bool launch_args_check(struct session *s, struct error *e);
bool launch_args_make(struct session *s, struct error *e);
bool launch_args_restore(struct session *s, struct error *e);
/* The members of a struct, in their places; its buffers are there already. */
void launch_put_members(const struct session *s, const struct arg *g, u8 *to);
/* launch_sets.c: --set, checked when the launch is opened, and done before it runs. */
bool launch_sets_check(struct session *s, struct error *e);
bool launch_sets_do(struct session *s, struct error *e);

/* launch_names.c. What argument g, which is the i-th or inside of it, takes from elsewhere: same:K of this launch, or
 * a name of this launch or an earlier one. A buffer stays ARG_SAME, with its launch and number; a value is copied. */
bool launch_same_resolve(struct session *s, u32 i, struct arg *g, struct error *e);
/* No explicit name is given to two things. */
bool launch_names_check(const struct session *s, struct error *e);
/* The buffer that a key of --print and its like names: an argument's number, or a name. */
bool launch_want_find(const struct session *s, const char *option, struct want *w, struct error *e);
/* A buffer of any launch. */
static inline struct buffer *launch_buffer(const struct session *s, u32 launch, u32 i)
{
    return &s->all->launch[launch].buffer[i];
}
static inline struct arg *launch_arg(const struct session *s, u32 launch, u32 i)
{
    return &s->all->launch[launch].o->arg[i];
}
/* What the source says of parameter i, by the kernel's name or by its text. */
struct source_type launch_param_type(struct session *s, u32 i, const lk_param *p);
/* The type of a value for parameter i: the source's, else that of the PTX. */
const char *launch_value_type(struct session *s, u32 i, const lk_param *p);
static inline bool launch_is_struct(const lk_param *p) { return p->bytes > 8 || !strcmp(p->type, "b8"); }

/* launch_example.c. The command line of this launch with what is missing filled in, for people to copy. */
const char *launch_example(struct session *s);
/* On standard error: that main is not run, and the launches that the file's host code has, as a command line. */
void launch_offer(struct session *s);

/* launch_trace.c: opens what --trace asks for; closes it, and says when a --break was never reached. */
bool launch_trace_begin(const struct launch_options *o, struct tracing *t, struct error *e);
bool launch_trace_end(const struct launch_options *o, struct tracing *t, struct error *e);

/* launch_parts.c. Whether a word names an operation; *out says which. */
bool part_find(const char *word, enum part_kind *out);
const char *part_word(enum part_kind kind);
/* Whether some part is no launch, or has a stream: then parts run as launch_streams.c has it. */
bool parts_in_streams(const struct request *r);
/* A word of an operation after its first one; *arg: it is an argument, for arg_parse. */
bool part_read_word(struct launch_options *o, const char *word, bool *arg, struct error *e);
/* Names of --after and sync, options that do not fit together, words that are missing. */
bool parts_check(const struct request *r, struct error *e);
bool part_complete(const struct launch_options *o, struct error *e);
/* The arguments of an operation, against what it does with them. */
bool part_args_check(struct session *s, struct error *e);
/* launch_streams.c: all parts in their streams, and the host's wait for them. The status is that of the worst. */
lk_status parts_run(struct pipeline *p, u32 *ran, u32 *differs, struct text *wanted, struct error *e);
/* A launch as the interface has it; in `mem`. */
void launch_fill(struct session *s, lk_launch *l);

/* Fills `r`; false: e says what is wrong. Strings live in `a` or argv. */
bool launch_options_parse(struct arena *a, int argc, char **argv, struct request *r, struct error *e);

/* launch_contract.c. --dim rows=100,cols=64 */
bool launch_dim_parse(struct arena *a, const char *text, struct launch_options *o, struct error *e);
bool launch_config_parse(struct arena *a, const char *text, struct launch_options *o, struct error *e);
/* Whether the element type that a contract gives argument i is that of the source, where it is known: width, and float
 * or not. */
bool launch_type_agrees(const struct signature *s, u32 i, const char *name, const char *type, bool array,
                        const char *path, u32 line, struct error *e);
/* Reads the contract of the file; one without kernels when it has none. 0, or an exit code after saying why. */
int launch_contract_read(lk_gpu *gpu, const struct launch_options *o, lk_contract **contract, struct error *e);
/* Binds it to the kernel and completes `o` from it. 0, or an exit code after saying why; without a block for this
 * kernel nothing happens. */
int launch_contract_bind(struct arena *a, lk_gpu *gpu, lk_contract *c, const lk_kernel *kernel,
                         const struct signature *s, struct launch_options *o, struct error *e);
/* A line for each array that the kernel writes. */
bool launch_contract_show(struct session *s, struct text *out, struct error *e);

/* Resolves the keys of all wants: numbers, or names of arguments. */
bool launch_wants_resolve(struct session *s, struct error *e);
/* Compares a buffer with the same one of another run, byte for byte, and prints the first difference. false: e. */
struct other_run {
    const char *option;    /* "both", "schedules": what the line begins with */
    const char *one, *two; /* what the runs are called: "software GPU" */
    lk_gpu *gpu;           /* of the other run */
};
bool launch_same(const struct arg *g, const struct buffer *b, lk_gpu *sim, const struct other_run *other, u64 address,
                 bool *same, struct error *e);
/* Does them, in the order given; what is for people goes to `out`. Returns false on an error; *differs counts
 * expectations that did not hold. */
bool launch_wants_do(struct session *s, u32 *differs, struct text *out, struct error *e);
#endif
