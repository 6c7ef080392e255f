/* lab: a case, computed by several sides, judged (docs/lab/testing.md).
 *
 * A case (contract/contract_case.h) is one call of a kernel. A subject is a kernel that can run cases: compiled once
 * for each choice of types and constants, on a gpu of its own. lab_run makes the arrays, launches under every check,
 * reads back, and lets lab_judge hold the outputs against the oracle. lab_maker makes cases, lab_shrink makes a failing
 * one smaller; lab_test.c is the campaign over them. */
#ifndef LOCKSTEP_LAB_IN_H
#define LOCKSTEP_LAB_IN_H
#include "api/host.h"
#include "lab/cover.h"
#include "mistake/mistake.h"
#include <lockstep_lab.h>

enum { LAB_BUILDS = 16 };
struct lab_build {
    struct contract_case with; /* the choices that it was compiled for */
    lk_module *module;
    u8 *state;       /* initial values of module variables, concatenated; NULL: no variables */
    u64 state_bytes; /* of them */
};
struct lab_subject {
    const char *path;
    struct str text;           /* of the file */
    u32 block;                 /* of the contract */
    u64 budget;                /* warp instructions after which a launch is a livelock; 0: the usual ones */
    const char *kernel;        /* its name under the usual choices */
    lk_options options;        /* of its gpu */
    const lk_compile *compile; /* what the command line says to the compiler; NULL: nothing */
    const char *other;         /* the file that is compiled, where it is not `path`, which has the contract; NULL */
    const char *other_kernel;  /* and what the kernel is called there; NULL: the same */
    lk_gpu *gpu;
    lk_contract *contract; /* of the last case */
    struct lab_build build[LAB_BUILDS];
    u32 builds;
    u32 oldest;                /* of a full list: the build that goes next */
    struct cover_watch *watch; /* over its launches; NULL: not yet, or a real GPU */
    struct arena mem;          /* names of the builds */
    bool rated;                /* `rate` is known */
    double rate;               /* operations that a warp of the usual case takes; 0: nobody knows */
    /* for oracles that are functions (lab_outside.h) */
    const char *command; /* of lockstep, which runs those of shared objects; NULL: there is none */
    double limit;        /* seconds that one may take for a case; 0: the usual */
    struct outside_process *outside;
};
void lab_close(struct lab_subject *s);

enum lab_end {
    LAB_PASSED,
    LAB_FAILED,
    LAB_REFUSED,   /* the contract has no such case: sizes that do not fit */
    LAB_LARGE,     /* too much for an oracle: it was not launched; or it has spent its budget */
    LAB_EMPTY,     /* a grid without blocks: nothing is launched */
    LAB_LATER,     /* needs something that Lockstep does not support; `why` names it */
    LAB_DISCARDED, /* an `assume` line does not hold for its contents */
};
enum { LAB_FIRST = 80, LAB_LIKENESS = 1000 };
struct lab_outcome { /* no pointers: workers send it through a pipe */
    enum lab_end end;
    bool judged;           /* an oracle was evaluated */
    u64 outputs, seen;     /* a bit for each output of the oracle; of these, for each of which an element was judged */
    char unseen[64];       /* the first output of which none was; "": there is no such */
    u64 elements, wrong;   /* that it judged; of these, those that are wrong */
    u64 overflow, ill;     /* that have no bound */
    bool spent;            /* LAB_LARGE: it was launched, and stopped after `budget` instructions */
    double ratio;          /* the largest difference over its bound */
    double cost;           /* of the oracle: operations of an evaluation */
    double named;          /* operations that the search for a name has taken */
    char suspect[64];      /* an output above the suspect bound and not above the worst case; "": none */
    bool noted;            /* maxima pass over NaN, and nothing else is wrong of an output */
    char first[LAB_FIRST]; /* what failed, in a word: the same when the case is made smaller */
    char why[400];         /* LAB_LATER, LAB_REFUSED: a sentence */
    char likeness[300];    /* what the mistake looks like, where it was asked for and is sure; "" */
    char other[300];       /* what it looks like as well; "": nothing else */
    u64 bad;               /* as `outputs`: of these, for each of which an element is wrong */
    enum oracle_label label;
    enum oracle_met met;    /* what became of the name that was asked for */
    u32 runs, fails;        /* of a case that was repeated */
    u64 hash;               /* of the outputs */
    s64 dim[CONTRACT_DIMS]; /* the sizes that the case came to */
    u32 dims;
    struct lab_cover cover; /* what of the kernel was reached */
};
struct lab_data;
struct lab_kept { /* arrays, for those who compare runs; all zero: empty */
    struct arena mem;
    struct lab_data *data; /* by argument; `before` of inputs, `after` of outputs */
    struct oracle_shape *shape;
    const char **name;
    const struct scalar **type; /* of an output; NULL: it is not one */
    const struct scalar **input_type;
    u32 n;
};
struct lab_how {
    bool explain;     /* name the mistake: some hundred evaluations of the oracle */
    bool tell;        /* find the reasons of the bound, too: for the report */
    bool twice;       /* a suspect result is not the first one: an error */
    bool plain;       /* the oracle is not asked */
    u32 launch;       /* of several on the same memory, the number of this one from 0 on */
    u32 repeat;       /* run it so often, under other orders: some failing is `intermittent`; 0, 1: once */
    double cost_most; /* operations that an oracle may take; 0: what can be waited for */
    u64 budget;       /* warp instructions after which a case is too large; 0: after which it is a livelock */
    struct oracle_hints hints;
    const char *likeness;          /* what other cases of the same failure look like, a line for each output that has
                                      a name of its own; NULL: not known */
    enum oracle_label label;       /* of that */
    const char *likeness_of;       /* such a case */
    struct lab_kept *keep;         /* where arrays go; NULL: nowhere */
    const struct lab_kept *inputs; /* inputs of the same name and size have these elements; NULL: the contract's */
    const char *record;            /* a file for what the launch finds (lk_record); NULL: none */
    /* changes the contents of an array before the launch; NULL: nothing. `p` has its elements, dense */
    void (*edit)(void *self, const struct bound_arg *b, u8 *p);
    void *edit_self;
};
/* Runs a case; what it finds is in the report of the subject's gpu until the next case. false: e says what is wrong
 * with the file, or with the machine. */
bool lab_run(struct lab_subject *s, const struct contract_case *c, const struct lab_how *how, struct lab_outcome *out,
             struct error *e);
/* lab_state.c: the variables of a module that kernels may write, as they were when it was loaded. Every case begins
 * with them. false: they cannot be read or written. */
bool lab_state_take(struct lab_subject *s, struct lab_build *b, struct error *e);
bool lab_state_put(struct lab_subject *s, const struct lab_build *b, struct error *e);
/* lab_assume.c: whether the `assume` lines hold for what arrays hold before the launch. */
bool lab_assumed(struct lab_subject *s, const struct lab_data *data, bool *holds, struct error *e);
/* The same as often as `how` says. */
bool lab_run_repeated(struct lab_subject *s, const struct contract_case *c, const struct lab_how *how,
                      struct lab_outcome *out, struct error *e);
void lab_kept_free(struct lab_kept *k);
/* lab_text.c: whether all of a caller's list are tests; if not, it was said. */
bool lab_are_tests(lk_test *const *tests, u32 n, const char *function);
/* Whether results are held against oracles: the check was not switched off. */
bool lab_judges(const struct lab_subject *s);
/* Whether a check is on, beside the oracle. */
bool lab_checks(const struct lab_subject *s);

/* A finding at a place of the contract. */
void lab_found(struct lab_subject *s, enum finding_kind kind, const char *at, u64 key, const char *cause,
               const char *detail);
struct lab_data { /* of an argument: its elements in the order of its shape, NULL where it is no array */
    u8 *before, *after;
    const u8 *flat; /* its memory from the first element on, before the launch, where that is another order; or NULL */
};
extern const u8 lab_poison[8]; /* a NaN of every width: what outputs hold before the launch */
/* The oracle lines of a kernel, or of the op that it computes; NULL: there are none. *forward: of an op's forward
 * kernel, which has no gradients. */
const struct contract_texts *lab_oracles(const struct contract *c, const struct contract_kernel *k, bool *forward);
/* How many operations the oracle takes for the sizes that the contract is bound to; 0: there is none, infinity: too
 * many to be thought of. */
bool lab_cost(struct lab_subject *s, double *cost, struct error *e);
/* Holds what the kernel wrote against the oracle; what is wrong becomes a finding of the subject's gpu. */
bool lab_judge(struct lab_subject *s, const struct contract_case *c, const struct lab_data *data,
               const struct lab_how *how, struct lab_outcome *out, struct error *e);

/* lab_functions.c: outputs whose values come from functions outside (lab_outside.h). The text that judges them is
 * `y = expected_y`, over an array of what the function said. */
struct lab_function {
    const struct contract_text *line; /* of the oracle */
    u32 argument;
    const char *name, *hidden; /* of the output; of the array that holds what was said */
    struct oracle_shape shape;
    u64 count;
    double *value, *bound;
    bool bounded; /* `bound` is known */
};
struct lab_functions {
    struct lab_function *p;
    u32 n;
};
/* The outputs of the lines that are functions. */
bool functions_of(struct arena *mem, const struct contract *all, const struct bound *b,
                  const struct contract_texts *oracles, struct lab_functions *out, struct error *e);
/* Asks for the values and bounds. `names` are what the kernel is given, with their contents. *failed: a finding says
 * how a function has failed. */
bool functions_ask(struct lab_subject *s, const struct contract_texts *oracles, const struct oracle_name *names,
                   const void *const *data, u32 n, struct lab_functions *f, bool *failed, struct error *e);
/* Whether the bounds of `within` can be read, and what they are, by the values of *f; `bound` is set. */
bool functions_within(struct arena *mem, const struct contract *all, const struct oracle_name *names,
                      const void *const *data, u32 n, struct lab_function *f, bool evaluate, struct error *e);
/* Bounds of the result become those of the functions, `looser` times wider, and what storing rounds. */
void functions_widen(const struct lab_functions *f, double looser, const struct oracle *o, struct oracle_result *r);
const struct lab_function *function_of(const struct lab_functions *f, const char *output); /* NULL: none */

/* The properties of the contract, held against runs on related inputs (lab_property.c); what does not hold becomes a
 * finding of the subject's gpu, and *broken names it. `done` counts those that were tried. */
bool lab_properties(struct lab_subject *s, const struct contract_case *c, char *broken, size_t size, u32 *done,
                    struct error *e);
/* Whether every `property` line can be read. */
bool lab_properties_read(const struct contract *c, const struct contract_kernel *k, struct error *e);

/* Something that computes cases: this process, or a process of its own. */
struct lab_side {
    double work, most; /* that its cases have taken; that they may take until no more are run but to tell, 0: any */
    bool tired;        /* a case was left out for that reason */
    struct lab_subject *subject; /* not yet opened, where it is computed elsewhere */
    const char *command;         /* of lockstep, for a process of its own; NULL: there is none */
    int to, from;                /* pipes; -1: it is this process */
    s32 pid;
    double limit; /* seconds that a case may take there; 0: any */
    u64 began;    /* of the case that it works on; 0: of none */
    u32 number;   /* of that case */
};
/* Starts a process for it. */
bool lab_side_start(struct lab_side *x, struct error *e);
void lab_side_end(struct lab_side *x);
/* Asks and waits. `first`: what the report says first; may be NULL. */
bool lab_ask(struct lab_side *x, const struct contract_case *c, const struct lab_how *how, struct lab_outcome *out,
             struct report_brief *first, struct error *e);
/* What a case has taken, about: operations of its oracle, of its warps, and of the search for a name. */
double lab_work(const struct lab_outcome *o);
/* The same in two steps, for a side that is a process. */
bool lab_send(struct lab_side *x, const struct contract_case *c, const struct lab_how *how, struct error *e);
bool lab_receive(struct lab_side *x, struct lab_outcome *out, struct report_brief *first, struct error *e);

/* The cases of a kernel, one after the other. */
struct lab_maker;
struct lab_maker *lab_maker_new(struct arena *mem, const struct contract_kernel *k, u64 seed, u32 cases);
/* All cases make these choices, "BLOCK=64,T=f16", as far as the kernel has them. */
void lab_maker_pin(struct lab_maker *m, const char *config);
/* The next NAME=VALUE of such a list; false: there are no more. */
bool lab_config_next(struct str *rest, struct str *name, struct str *value);
/* The value of the kernel that is meant, and its choice; NULL: it has none. */
const char *lab_config_taken(const struct contract_kernel *k, struct str name, struct str value,
                             const struct contract_choice **choice);
/* The case with this number, from 0 on. */
void lab_maker_next(struct lab_maker *m, u32 number, struct contract_case *out);
/* lab_guide.c: a case that reached points of the code that none before it had (cover.h). From number GUIDED_FROM on
 * every second of those that are made by chance is a change of such a case, REACHED_LATER numbers after it or later. A
 * campaign of the usual length is the same whatever code the compiler makes. */
enum { GUIDED_FROM = 64, REACHED_LATER = 32 };
struct lab_reached {
    struct contract_case c;
    s64 dim[CONTRACT_DIMS]; /* the sizes that it came to */
    u32 dims, number;
};
void lab_maker_reached(struct arena *mem, struct lab_maker *m, const struct contract_case *c,
                       const struct lab_outcome *o, u32 number);
/* Changes one or two things of it. */
void lab_change(const struct contract_kernel *k, const struct lab_reached *from, u64 *state, struct contract_case *out);
/* A layout that the array takes beside dense, by number from 0 on; NULL: there are no more. */
const char *lab_layout(const struct contract_arg *g, u32 v);
/* Whether cases have a size of their own for a dim: one whose value follows from others is left to them. */
bool lab_size_varies(const struct contract_dim *d);
/* The nearest size that the range and the step of a dim allow. */
s64 lab_size_fitted(const struct contract_dim *d, s64 v);

/* Makes a failing case smaller, as long as the same comes first; *tries is how many were run. `k` is the block with the
 * usual choices. */
bool lab_shrink(struct lab_side *s, const struct contract_kernel *k, struct contract_case *c, const struct lab_how *how,
                const char *first, u32 *tries, struct error *e);
#endif
