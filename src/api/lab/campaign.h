/* campaign.h: the insides of lockstep test: a file, its kernels, what became of their cases. */
#ifndef LOCKSTEP_CAMPAIGN_H
#define LOCKSTEP_CAMPAIGN_H
#include "lab/lab.h"

enum { WITNESSES = 7, WITNESS_REPEATED = 5, WITNESS_SECOND = 6, JOBS_MOST = 64, LIKENESS_LEAST = 20 };
#define LIKENESS_MOST 3e4 /* operations of the oracle of a case that is classified */
struct failure {          /* cases that fail in the same way */
    const char *first;
    bool gpu;                               /* on the GPU, and not on the software GPU */
    struct contract_case least;             /* the first that was seen, or one that takes much less work */
    double work;                            /* of that */
    struct contract_case likely[WITNESSES]; /* by kind of contents: the one in which the mistake stands out most */
    double clear[WITNESSES];                /* how much it does; 0: there is none */
    u32 cases;
    bool suppressed; /* it was told, and a rule keeps all of that out of the report */
    const char *kind, *line;
};
struct tested { /* a kernel */
    lk_test_kernel is;
    VEC(lk_test_case) list;
    VEC(struct failure) failure;
    struct lab_subject subject;                     /* on the software GPU, in this process */
    struct lab_subject elsewhere;                   /* the same for workers: it is never opened here */
    struct lab_subject other;                       /* --against */
    const struct contract_kernel *other_k;          /* its own contract; NULL: it has none, and runs by this one */
    struct lab_side here, gpu;                      /* over subject; over a worker with a GPU */
    const struct contract_kernel *k;                /* with the usual choices */
    s64 low[CONTRACT_DIMS], high[CONTRACT_DIMS];    /* of each dim, that cases had */
    bool least[CONTRACT_DIMS], most[CONTRACT_DIMS]; /* of each dim: a case was at that end of its range */
    u64 choice[CONTRACT_DIMS];                      /* of each choice, a bit for each value that cases had */
    u32 layout[CONTRACT_ARGS];    /* of each argument, a bit for each layout: dense, then lab_layout */
    struct contract_case suspect; /* the first that was */
    struct contract_case noted;   /* the first in which maxima pass over NaN */
    bool any_noted;
    struct map seen;        /* lines of cases that ran */
    struct lab_cover cover; /* of all cases */
    bool endless;           /* a launch had no end: others would take as long */
    double work;            /* that its cases took (lab_work) */
    u64 outputs, judged;    /* as in an outcome, of all cases */
    const char *unseen;     /* the first output that a case could not judge; NULL: there is none */
};
struct lk_test {
    struct handle handle;
    lk_test_options options; /* as far as the caller has them */
    struct arena mem;
    struct contract read; /* with the usual choices */
    struct str text;
    char hash[HASH_HEX]; /* of the file and of what is said to the compiler */
    VEC(struct tested) kernel;
    const lk_test_options *o; /* the same */
    lk_gpu *report;
    u64 began;
    struct map journal; /* "kernel case" to a struct lab_outcome of an earlier campaign (--resume) */
    bool on_gpu, on_both;
    bool recorded;           /* the first failure was (lk_test_options.record, emit) */
    u32 disbelieved;         /* entries of the journal that were left alone */
    const char *undone;      /* why the file was not tested; NULL: it was */
    lk_status undone_status; /* of that */
    const char *undone_path; /* which file that is */
};
bool is_stopped(const struct lk_test *t); /* by lk_gpu_interrupt */
const char *lab_line(struct arena *mem, const struct contract_case *c);
bool campaign_run(struct lk_test *t, struct tested *k, struct error *e);
/* The failure that begins so, which may be new. */
struct failure *failure_of(struct lk_test *t, struct tested *k, const char *first, bool gpu);
/* The kind of contents of a case, below WITNESS_SECOND: those that show different mistakes are kept apart; 4: odd ones.
 * Cases with an array that is repeated are a kind of their own. WITNESS_SECOND is one more case of a kind that has one:
 * where contents are all of one kind, a name would fit one case by chance. */
u32 witness_class(const struct contract_case *c);
/* lab_likeness.c: how clearly a case shows its mistake: by how many times it exceeds the bound, with enough elements
 * and no size so small that many mistakes come to the same; below 1: not clearly. */
double likeness_clarity(const struct contract_case *c, const struct lab_outcome *o);
/* What the mistake looks like, into `how`, where it has a name that is sure. */
bool likeness_find(struct lk_test *t, const struct tested *k, struct failure *f, struct lab_side *side,
                   struct lab_how *how, struct error *e);

/* lab_tell.c: makes the case of a failure smaller and puts what it finds into the report of the campaign. */
bool tell_failure(struct lk_test *t, struct tested *k, struct failure *f, struct error *e);
/* One case that is suspect, and no second one: a note. And one in which maxima pass over NaN. */
bool tell_suspect(struct lk_test *t, struct tested *k, struct error *e);
/* The properties of the contract. */
bool hold_properties(struct lk_test *t, struct tested *k, struct error *e);
/* A failure that has been put into the report of the subject: it is counted, and taken from there. */
void count_failure(struct lk_test *t, struct tested *k, const char *first, const char *kind, const char *line);

/* lab_against.c: what the other kernel of --against is launched with. */
bool against_open(struct lk_test *t, struct tested *k, struct error *e);
/* Two kernels on the same inputs: an oracle, if any, has judged each; here stands how far they differ from each other.
 */
bool hold_against(struct lk_test *t, struct tested *k, struct error *e);

/* lab_corners.c: what of the contract a case had; and all of them together. */
void corners_note(struct tested *k, const struct contract_case *c, const struct lab_outcome *o);
void corners_sum(struct lk_test *t, struct tested *k);

/* lab_keep.c: the corpus beside a file, FILE.cases, a line `KERNEL: CASE` each. NULL: no more. */
bool corpus_known(struct lk_test *t, struct error *e); /* that one which was asked for by name can be read, or made */
bool corpus_read(struct lk_test *t, const char *path, struct str *out);
bool corpus_next(struct arena *mem, struct str *rest, const char *kernel, const char **line);
bool corpus_add(struct lk_test *t, const struct tested *k, const char *line, struct error *e);
/* The journal: a line of JSON for each case that ran, appended. Where it reached points that are not in `before`, these
 * and its lines are in it, so that a campaign that goes on makes the cases that it would have made. */
bool journal_add(struct lk_test *t, const struct tested *k, const lk_test_case *c, const struct lab_outcome *x,
                 const struct lab_cover *before, struct error *e);
bool journal_read(struct lk_test *t, struct error *e);
#endif
