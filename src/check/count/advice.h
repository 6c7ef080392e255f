/* advice.h: what follows from the counts of a kernel: which waste, where, and what to do (advice.def). */
#ifndef LOCKSTEP_ADVICE_H
#define LOCKSTEP_ADVICE_H
#include "count/count_limits.h"

enum advice_kind {
#define ADVICE(id, about, certainty, title, fix) ADVICE_##id,
#include "count/advice.def"
#undef ADVICE
    ADVICES
};
enum advice_about { ABOUT_LINE, ABOUT_LAUNCH, ABOUT_OPERATION };
const char *advice_id(enum advice_kind k);
const char *advice_title(enum advice_kind k);
const char *advice_fix(enum advice_kind k);
const char *advice_certainty(enum advice_kind k); /* "exact", "model", "hardware" */

struct advice {
    enum advice_kind kind;
    const struct count_line *line;     /* NULL: it is about launches */
    const struct count_launch *launch; /* NULL: it is about a line */
    u32 shape;                         /* which that is in the list */
    const struct timeline_op *op;      /* the operation that matters most; NULL: it is about none */
    u32 weight; /* of 1000: the share of the kernel's cost, or of the card's time, that it is about */
    const char *why;
};
struct advices {
    struct advice *p; /* of lines first, in the order of the lines; then of launches */
    u32 n;
    struct arena mem;
};
/* Free with arena_free(&out->mem). The caller holds the lock of the counts. */
void advise(const struct counts *all, const struct count_kernel *k, const struct count_lines *lines,
            struct advices *out);
/* The same about what was enqueued: its timeline, which the model has run. */
void advise_operations(const struct counts *all, struct advices *out);

/* One question: a line or the launches of a shape, of a kernel. An answer is a sentence, or NULL, and its weight. */
struct question {
    const struct counts *all;
    const struct count_kernel *kernel;
    const struct count_lines *lines;
    const struct count_line *line;
    const struct count_launch *launch;
    struct count_limits limits; /* of the launch */
    const struct timeline *timeline;
    const struct timeline_op *op; /* set by the answer: the one that matters most */
    struct arena *mem;            /* for sentences */
    u32 weight;
};
#define ADVICE(id, about, certainty, title, fix) const char *advise_##id(struct question *q);
#include "count/advice.def"
#undef ADVICE

/* "31.5": n tenths of a/b. */
struct tenths {
    u64 whole;
    u32 tenth;
};
static inline struct tenths tenths(u64 a, u64 b)
{
    u64 t = b ? (u64)(((unsigned __int128)a * 10 + b / 2) / b) : 0;
    return (struct tenths){ t / 10, (u32)(t % 10) };
}
#define TENTHS "%llu.%u"
#define TENTHS_OF(t) (unsigned long long)(t).whole, (t).tenth
#endif
