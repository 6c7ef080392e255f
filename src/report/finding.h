/* A finding: one bug of the user's, as a value. Strings are copied in, so report knows neither mem nor sim. */
#ifndef LOCKSTEP_FINDING_H
#define LOCKSTEP_FINDING_H
#include "base/base.h"

/* Kinds live in finding.def: KIND(id, severity, title, meaning, fix). */
enum finding_kind {
#define KIND(id, severity, title, meaning, fix) F_##id,
#include "report/finding.def"
#undef KIND
    F_COUNT
};
enum severity { SEV_ERROR, SEV_NOTE };

struct place {                  /* where in the program */
    const char *file;           /* source path or NULL */
    u32 line, col;              /* 0: unknown */
    const char *function;       /* inlined function, or the kernel/function itself */
    const char *ptx_file; u32 ptx_line;
    const char *ptx_text;       /* the instruction as text */
    const struct place *inlined_at;     /* NULL at the outermost */
};

enum { FINDING_LANES = 32 };
struct finding {
    enum finding_kind kind;
    const struct place *place;
    const struct place *other;  /* second site (a race, a lock's holder), or NULL */
    const char *kernel;
    u64 cause_key;              /* findings with equal kind, place and cause_key are one cause */
    /* who */
    u32 cta[3], nctaid[3], ntid[3];
    u32 nlanes;                 /* 0: not about threads */
    u32 thread[FINDING_LANES];  /* linear thread index in the CTA */
    bool once;                  /* all these threads together are one occurrence: a deadlock */
    bool joins;                 /* further threads of an occurrence that was added before */
    /* what, for memory findings */
    const char *access;         /* "read" "write" "atomic" or NULL */
    const char *space;          /* "global" "shared" "local" ... */
    u32 width;                  /* bytes per lane */
    u64 addr[FINDING_LANES];    /* per lane */
    const char *object;         /* name of the allocation, array or variable; NULL: none */
    const char *object_type;    /* "f32[1000]" or NULL */
    u64 object_base, object_size;
    u32 element_size;           /* 0: unknown */
    const char *object_note;    /* "allocated at ..., freed at ..." or NULL */
    const char *neighbour;      /* name of the object actually hit, or NULL */
    /* Why and what to do: sentences without a final newline; NULL: the default of the kind. Each of an entry's occurrences knows only its own
     * addresses, so {end} in a sentence stands for the largest end, in bytes from the object's start, over all of them. */
    const char *cause;
    const char *fix;
    const char *detail;         /* further lines, each ended by \n (a wait-for graph), or NULL */
};
#endif
