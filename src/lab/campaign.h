/* campaign.h: the insides of lockstep test: a file, its kernels, what became of their cases. */
#ifndef LOCKSTEP_CAMPAIGN_H
#define LOCKSTEP_CAMPAIGN_H
#include "lab/lab.h"

enum { WITNESSES = 5, JOBS_MOST = 64 };
struct failure { /* cases that fail in the same way */
    const char *first;
    bool gpu;                               /* on the GPU, and not on the software GPU */
    struct contract_case least;             /* the smallest that was seen */
    struct contract_case likely[WITNESSES]; /* by kind of contents: the one in which the mistake stands out most */
    double clear[WITNESSES];                /* how much it does; 0: there is none */
    u32 cases;
    const char *kind, *line;
};
struct tested { /* a kernel */
    lk_test_kernel is;
    VEC(lk_test_case) list;
    VEC(struct failure) failure;
    struct lab_subject subject;                  /* on the software GPU, in this process */
    struct lab_subject elsewhere;                /* the same for workers: it is never opened here */
    struct lab_subject other;                    /* --against */
    struct lab_side here, gpu;                   /* over subject; over a worker with a GPU */
    const struct contract_kernel *k;             /* with the usual choices */
    s64 low[CONTRACT_DIMS], high[CONTRACT_DIMS]; /* of each dim, that cases had */
    struct contract_case suspect;                /* the first that was */
    struct map seen;                             /* lines of cases that ran */
};
struct lk_test {
    struct arena mem;
    struct contract read; /* with the usual choices */
    struct str text;
    char hash[HASH_HEX]; /* of the file and of what is said to the compiler */
    VEC(struct tested) kernel;
    const lk_test_options *o;
    lk_gpu *report;
    u64 began;
    struct map journal; /* "kernel case" to a struct lab_outcome of an earlier campaign (--resume) */
    bool on_gpu, on_both;
};
const char *lab_line(struct arena *mem, const struct contract_case *c);
bool campaign_run(struct lk_test *t, struct tested *k, struct error *e);

/* lab_keep.c: the corpus beside a file, FILE.cases, a line `KERNEL: CASE` each. NULL: no more. */
bool corpus_read(struct lk_test *t, const char *path, struct str *out);
bool corpus_next(struct arena *mem, struct str *rest, const char *kernel, const char **line);
bool corpus_add(struct lk_test *t, const struct tested *k, const char *line, struct error *e);
/* The journal: a line of JSON for each case that ran, appended. */
bool journal_add(struct lk_test *t, const struct tested *k, const lk_test_case *c, const struct lab_outcome *x,
                 struct error *e);
bool journal_read(struct lk_test *t, struct error *e);
#endif
