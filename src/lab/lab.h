/* lab: a case, computed by several sides, judged (docs/testing.md).
 *
 * A case (contract/contract_case.h) is one call of a kernel. A subject is a kernel that can run cases: compiled once
 * for each choice of types and constants, on a gpu of its own. lab_run makes the arrays, launches under every check,
 * reads back, and lets lab_judge hold the outputs against the oracle. lab_maker makes cases, lab_shrink makes a failing
 * one smaller; lab_test.c is the campaign over them. */
#ifndef LOCKSTEP_LAB_IN_H
#define LOCKSTEP_LAB_IN_H
#include "host/host.h"
#include "oracle/oracle.h"
#include <lockstep_lab.h>

enum { LAB_BUILDS = 16 };
struct lab_build {
    struct contract_case with; /* the choices that it was compiled for */
    lk_module *module;
};
struct lab_subject {
    const char *path;
    struct str text;           /* of the file */
    u32 block;                 /* of the contract */
    const char *kernel;        /* its name under the usual choices */
    lk_options options;        /* of its gpu */
    const lk_compile *compile; /* what the command line says to the compiler; NULL: nothing */
    lk_gpu *gpu;
    lk_contract *contract; /* of the last case */
    struct lab_build build[LAB_BUILDS];
    u32 builds;
    struct arena mem; /* names of the builds */
};
void lab_close(struct lab_subject *s);

enum lab_end {
    LAB_PASSED,
    LAB_FAILED,
    LAB_REFUSED, /* the contract has no such case: sizes that do not fit */
    LAB_LARGE,   /* too much for an oracle */
    LAB_EMPTY,   /* a grid without blocks: nothing is launched */
    LAB_LATER,   /* needs something that Lockstep does not support; `why` names it */
};
enum { LAB_FIRST = 80 };
struct lab_outcome {
    enum lab_end end;
    bool judged;           /* an oracle was evaluated */
    u64 elements;          /* that it judged */
    u64 overflow, ill;     /* that have no bound */
    double ratio;          /* the largest difference over its bound */
    double cost;           /* of the oracle: operations of an evaluation */
    bool suspect;          /* no error, but above the suspect bound */
    bool sampled, exact;   /* how the bound was made */
    char first[LAB_FIRST]; /* what failed, in a word: the same when the case is made smaller */
    char why[400];         /* LAB_LATER, LAB_REFUSED: a sentence */
    char likeness[300];    /* what the mistake looks like, where it was asked for and is sure; "" */
    u32 label;             /* enum oracle_label of it */
};
struct lab_how {
    bool explain;            /* name the mistake: some hundred evaluations of the oracle */
    bool tell;               /* find the reasons of the bound, too: for the report */
    bool twice;              /* a suspect result is the second one: an error */
    const char *likeness;    /* what another case of the same failure looks like; NULL: not known */
    enum oracle_label label; /* of that */
    const char *likeness_of; /* that case */
};
/* Runs a case; what it finds is in the report of the subject's gpu until the next case. false: e says what is wrong
 * with the file, or with the machine. */
bool lab_run(struct lab_subject *s, const struct contract_case *c, const struct lab_how *how, struct lab_outcome *out,
             struct error *e);

struct lab_data { /* of an argument: its elements in the order of its shape, NULL where it is no array */
    u8 *before, *after;
};
extern const u8 lab_poison[8]; /* a NaN of every width: what outputs hold before the launch */
/* Holds what the kernel wrote against the oracle; what is wrong becomes a finding of the subject's gpu. */
bool lab_judge(struct lab_subject *s, const struct contract_case *c, const struct lab_data *data,
               const struct lab_how *how, struct lab_outcome *out, struct error *e);

/* The cases of a kernel, one after the other. */
struct lab_maker;
struct lab_maker *lab_maker_new(struct arena *mem, const struct contract_kernel *k, u64 seed, u32 cases);
void lab_maker_next(struct lab_maker *m, struct contract_case *out);

/* Makes a failing case smaller, as long as the same comes first in the report; *tries is how many were run. */
bool lab_shrink(struct lab_subject *s, struct arena *mem, struct contract_case *c, const char *first, u32 *tries,
                struct error *e);
#endif
