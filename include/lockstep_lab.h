/* lockstep_lab.h: is it right? What a kernel should have computed, from a line of text, and whether it does.
 *
 * An oracle is a text (docs/lab/oracle.md) over named arrays. It gives the exact value of every element, and a bound on
 * what a correct kernel may differ by. No gpu is needed.
 *
 *     lk_oracle_name x = { .name = "x", .type = "f32", .rank = 2, .dim = { 3, 4 }, .data = numbers };
 *     lk_oracle *o = lk_oracle_new(&x, 1);
 *     if (lk_oracle_read(o, "softmax(x, -1)") != LK_OK || lk_oracle_evaluate(o) != LK_OK) puts(lk_oracle_error(o));
 */
#ifndef LOCKSTEP_LAB_H
#define LOCKSTEP_LAB_H
#include <lockstep.h>
#ifdef __cplusplus
extern "C" {
#endif
#if defined __GNUC__
#pragma GCC visibility push(default)
#endif

typedef struct lk_oracle lk_oracle;

typedef struct lk_oracle_name { /* what the text may speak of; zero it first */
    const char *name;
    const char *type; /* of the elements: "f32", "bf16", "i64" ...; NULL: a number, which is `value` */
    uint32_t rank;
    uint64_t dim[8];
    const void *data; /* dense, as long as the oracle lives */
    double value;
} lk_oracle_name;

typedef struct lk_oracle_result { /* a name that the text defines */
    const char *name;
    uint32_t rank;
    uint64_t dim[8];
    uint64_t count;
    const double *value;
    const double *worst;    /* no correct kernel differs by more; infinity: nothing is known */
    const double *suspect;  /* a correct kernel hardly ever differs by more */
    const uint8_t *unknown; /* 0; 1: the kernel may overflow; 2: ill-conditioned */
    int exact;              /* no kernel rounds: the bound is 0, but for storing */
    int sampled;            /* `suspect` is a Monte Carlo bound: the text is too deep for the worst case */
} lk_oracle_result;

typedef struct lk_oracle_term { /* a part of the bound of an element */
    double share;
    char what[120];  /* "sum of 64 terms in softmax" */
    uint32_t column; /* of the text, from 1; 0: none */
} lk_oracle_term;

/* NULL: no memory, or a type that is not one. */
lk_oracle *lk_oracle_new(const lk_oracle_name *names, uint32_t n);
void lk_oracle_free(lk_oracle *oracle);
/* How a correct kernel computes: "f32 tree 256 fast". Before lk_oracle_evaluate. */
lk_status lk_oracle_accumulate(lk_oracle *oracle, const char *words);
/* Adds a text. */
lk_status lk_oracle_read(lk_oracle *oracle, const char *text);
lk_status lk_oracle_evaluate(lk_oracle *oracle);
int lk_oracle_output(const lk_oracle *oracle, uint32_t i, lk_oracle_result *result); /* 0: there are no more */
/* The largest parts of the bound of one element; returns how many. Costs an evaluation for each operation. */
uint32_t lk_oracle_why(lk_oracle *oracle, uint32_t i, uint64_t index, lk_oracle_term *terms, uint32_t most);
const char *lk_oracle_accumulates(const lk_oracle *oracle); /* the type that sums are kept in */
const char *lk_oracle_error(const lk_oracle *oracle);       /* what the last call refused, with its place; "" */

typedef struct lk_oracle_primitive { /* a row of the table, as text */
    const char *name, *family, *value, *prop, *loc, *fast, *gradient;
} lk_oracle_primitive;
int lk_oracle_row(uint32_t i, lk_oracle_primitive *row); /* 0: there are no more */
const char *lk_oracle_definitions(void);                 /* the named operations, as they are written */
const char *lk_oracle_signature(uint32_t i);             /* "sum(x, axes, keep)", of each function; NULL: no more */

/* A function of a shared object can be the oracle of a kernel (`oracle library ./reference.so:softmax`). It gets every
 * argument and dim of the contract by name, in the order of the contract, as doubles, and writes the outputs. 0: done.
 * It is called in a process of its own. */
typedef struct lk_reference_value {
    const char *name;
    uint32_t rank; /* 0: a number */
    uint64_t dim[8];
    uint64_t count;
    double *value; /* the elements, dense; those of an output that is not read are to be written, all of them */
    double *bound; /* of an output: how far a correct kernel may be off, unless the contract says it. NULL: no output */
} lk_reference_value;
typedef int lk_reference(const lk_reference_value *values, uint32_t n);
/* What the command does in that process (`test --reference FILE FUNCTION`). */
lk_status lk_reference_serve(const char *path, const char *function);

/* ---- kernels against the oracles of their contracts ---- */

typedef struct lk_test lk_test;
typedef struct lk_test_options { /* zero it, set size, then what you need */
    size_t size;
    const char *kernel;        /* only the contract of this one; NULL: all of the file */
    uint64_t seed;             /* of cases and contents */
    uint32_t cases;            /* for each kernel; 0: 64 */
    const char *only;          /* this case alone, as lk_test_case.line has it; NULL: those that are made */
    const lk_options *gpu;     /* of the gpu that runs them; NULL: the usual software GPU. A GPU runs in workers */
    uint32_t both;             /* non-zero: on the software GPU, then on that GPU */
    const lk_compile *compile; /* what is said to the compiler; NULL: nothing */
    uint32_t jobs;          /* processes that run cases; 1: this one. 0: this one, then, of a long test, others help */
    double seconds;         /* non-zero: cases until so much time has passed, in place of `cases` */
    double limit;           /* seconds that a launch, or a case in a worker, may take; 0: any, on a GPU 60 */
    uint32_t shard, shards; /* only the cases of this shard, from 0 on, of so many; 0, 0: all */
    uint32_t repeat;        /* run every case so often, under other orders; 0: once */
    const char *corpus;     /* failing cases of earlier campaigns, which run first; NULL: FILE.cases */
    uint32_t keep;          /* non-zero: failing cases are added to it */
    const char *journal;    /* a line of JSON is added there for each case; NULL: nowhere */
    uint32_t resume;        /* non-zero: cases that the journal has of this very file are not run again */
    const char *against;    /* another file with the same kernel, run on the same inputs; NULL: none */
    const char *against_kernel; /* what it is called there; NULL: the same */
    double within; /* how much the two may differ, of the larger one; 0: by nothing, or by what the oracle allows */
    /* the lockstep command, which is started for cases that run in processes of their own; NULL: there can be none,
     * neither with `jobs` nor on a GPU */
    const char *command;
    const char *record; /* the smallest case of the first failure is recorded there, for lk_recording_open; NULL */
    const char *emit;   /* and written there as a C program; NULL */
    /* non-zero: the first case that fails ends it; it is told as it is, not made smaller */
    uint32_t fail_fast;
    uint64_t budget;    /* warp instructions after which a launch is a livelock; 0: 200 million */
    const char *config; /* choices that all cases make: "BLOCK=64,T=f16"; NULL: each its own */
} lk_test_options;

typedef enum lk_test_end {
    LK_TEST_PASSED,
    LK_TEST_FAILED,
    LK_TEST_REFUSED,     /* the contract has no such case */
    LK_TEST_LARGE,       /* too large for the oracle */
    LK_TEST_EMPTY,       /* a grid without blocks */
    LK_TEST_UNSUPPORTED, /* needs something that Lockstep does not support */
    LK_TEST_DISCARDED    /* an `assume` line of the contract does not hold for its contents */
} lk_test_end;
typedef struct lk_test_case {
    const char *line; /* "rows=33 x=cancel seed=7" */
    lk_test_end end;
    const char *first; /* of a failure: what the report begins with */
    double ratio;      /* the largest difference from the oracle, over its bound */
    uint64_t elements; /* that were judged */
    double seconds;
} lk_test_case;
typedef struct lk_test_failure { /* cases that fail in the same way */
    const char *first;           /* "result:y", "bounds:8" */
    const char *kind;            /* of the finding: "result_tail" */
    const char *line;            /* the smallest case that shows it */
    uint32_t cases;              /* that fail so */
    uint32_t suppressed;         /* non-zero: a rule of the report keeps its finding out, so that it does not count */
} lk_test_failure;
typedef struct lk_test_kernel {
    const char *name;
    uint32_t line; /* of its contract */
    uint32_t cases, passed, failed, refused, large, empty, failures;
    uint32_t smaller;  /* cases that were made smaller: their oracle would have taken too long */
    uint32_t left_out; /* non-zero: a kernel before it has failed, and `fail_fast` ended the test; or it was stopped */
    uint32_t has_oracle;
    uint32_t suspects;                 /* cases above the suspect bound, by less than the worst case */
    uint64_t elements;                 /* that were judged */
    uint64_t overflow, ill;            /* that were not: may overflow; ill-conditioned */
    double ratio;                      /* the largest difference over its bound of the cases that passed */
    const char *closest;               /* that case; NULL: none */
    const char *unsupported;           /* what stopped it, by name; NULL: nothing */
    const char *refusal;               /* why the contract has refused a case, the first one; NULL: it has not */
    double tolerance;                  /* of its contract: 1, or how much wider the bound is */
    const char *shapes;                /* "rows 1..1000, cols 1..1000" */
    uint32_t properties;               /* trials of `property` lines */
    uint32_t compared;                 /* cases that were compared with another kernel */
    double difference;                 /* the largest between the two */
    uint32_t on_gpu;                   /* with `both`: cases that passed on the GPU, too */
    uint32_t lines, lines_reached;     /* of the kernel's file that have code; those that a thread has run */
    uint32_t ways, ways_taken;         /* two of each line that branches; those that threads went */
    uint32_t corners, corners_reached; /* ends of ranges, values of choices, layouts; those that a case had */
    const char *lines_missing;         /* "12, 14" */
    const char *branches_one_way;      /* lines that branch, and always went the same way: "31" */
    const char *corners_missing;       /* "cols=65536, x:offset(1)" */
    uint32_t differing;                /* those of them with other bytes than on the software GPU, both within bounds */
    uint32_t points;   /* of its code that cases have reached: sites by lanes that branch, and by trip counts */
    uint32_t reaching; /* cases that reached new ones: others are made by changing these */
    /* What it comes to: LK_OK; LK_FINDINGS: a case fails; LK_UNSUPPORTED; LK_NOTHING: no case was run, or the oracle
     * could judge no element of an output, or every check is off. */
    lk_status status;
    uint32_t oracle_off;  /* non-zero: it has an oracle, and the check `oracle` is switched off */
    uint32_t suppressed;  /* failing cases whose findings are all suppressed: they do not count */
    const char *unjudged; /* an output of which no case had an element that could be judged; NULL: there is none */
    uint32_t discarded;   /* cases whose contents an `assume` line rules out */
    uint32_t stopped;     /* non-zero: lk_gpu_interrupt has ended it before its cases were done */
    uint32_t unchecked;   /* non-zero: every check is off, and nothing else has judged its cases */
} lk_test_kernel;

/* Whether the oracle lines of a bound contract can be read: those that cannot are a note, oracle_unread, of its gpu. */
void lk_contract_oracle_read(lk_contract *contract);

/* Tests the kernels of a file that have a contract. What is wrong with them is added to the report of `report`, a
 * software GPU, one finding for each way to fail, with the smallest case that shows it. LK_OK, LK_FINDINGS; LK_NOTHING:
 * the file has no contract, or no case could be run; LK_UNSUPPORTED: all kernels need something that is not there.
 * Else lk_gpu_error(report) says what is wrong with the file. *test is then NULL. */
lk_status lk_test_file(lk_gpu *report, const char *path, const lk_test_options *options, lk_test **test);
/* A file that could not be tested, with what lk_test_file has returned and the reason, for the functions below: it
 * counts as not done, or as nothing judged (LK_NOTHING), or as unsupported. */
lk_status lk_test_undone(lk_gpu *report, const char *path, lk_status status, const char *why, lk_test **test);
/* What all of them come to, with the findings of `report` (lk_report_conclude): everything that is written afterwards
 * says so. `sharded`: kernels without a case of this shard are no reason. */
lk_status lk_test_conclude(lk_test *const *tests, uint32_t n, uint32_t sharded, lk_gpu *report);
/* Entries of the journal that `resume` has not believed: cut off, edited, or without their hash. */
uint32_t lk_test_disbelieved(const lk_test *test);
void lk_test_free(lk_test *test);
/* What the command does in such a process (`test --worker IN,OUT`): runs the cases that are asked for over `in`,
 * answers over `out`, until `in` ends. */
lk_status lk_test_serve(int in, int out);
int lk_test_kernel_at(const lk_test *test, uint32_t i, lk_test_kernel *out); /* 0: there are no more */
int lk_test_case_at(const lk_test *test, uint32_t kernel, uint32_t i, lk_test_case *out);
int lk_test_failure_at(const lk_test *test, uint32_t kernel, uint32_t i, lk_test_failure *out);
const char *lk_test_path(const lk_test *test);
const char *lk_test_why(const lk_test *test); /* of a file that could not be tested; "": it was */
/* Tests as JSON and JUnit XML, every case with its end, and the report with them; released with lk_text_free. */
char *lk_test_json(lk_test *const *tests, uint32_t n, lk_gpu *report);
char *lk_test_junit(lk_test *const *tests, uint32_t n, lk_gpu *report);

/* ---- recordings of launches (lk_record, docs/use/recording.md) ---- */

typedef struct lk_recording lk_recording;
lk_status lk_recording_open(const char *path, lk_recording **recording); /* lk_gpu_error(NULL) says why not */
void lk_recording_close(lk_recording *recording);
char *lk_recording_text(const lk_recording *recording); /* what it is, in a line; released with lk_text_free, as all */
uint64_t lk_recording_seed(const lk_recording *recording); /* of the software GPU that recorded it */
/* Runs it on a gpu; what is wrong is in the gpu's report. LK_OK, LK_FINDINGS, or why it cannot be run. */
lk_status lk_recording_run(lk_recording *recording, lk_gpu *gpu);
/* Which bytes the last two runs left different, in words; "": none. NULL: there were no two runs. */
char *lk_recording_difference(const lk_recording *recording);
/* Makes it smaller, grid and contents, as long as its report begins with the same finding on gpus of these options.
 * LK_OK: there is no finding. */
lk_status lk_recording_shrink(lk_recording *recording, const lk_options *options, uint32_t *tries);
lk_status lk_recording_save(const lk_recording *recording, const char *path);
/* As one C program over the driver's interface, with its data. NULL: the launch has a cluster of its own. */
char *lk_recording_c(const lk_recording *recording);

#if defined __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
