/* A finding: one bug of the user's, as a value. Strings are copied in, so report knows neither mem nor sim.
 *
 * A finding has a place and the threads that were there, up to a warp at a time. One about two threads (a race) has a
 * second side: `other` is its place, `rival` its thread and what it did. One about a value has an origin: where the
 * value came from. */
#ifndef LOCKSTEP_FINDING_H
#define LOCKSTEP_FINDING_H
#include "base/base.h"

/* The checks of check.def, one bit each. */
enum check_index {
#define CHECK_ROW(BIT, name, what) CHECK_##BIT##_INDEX,
#include "report/check.def"
#undef CHECK_ROW
    CHECK_COUNT
};
enum check_bit {
#define CHECK_ROW(BIT, name, what) CHECK_##BIT = 1 << CHECK_##BIT##_INDEX,
#include "report/check.def"
#undef CHECK_ROW
    CHECK_ALL = (1 << CHECK_COUNT) - 1,
    CHECK_ALWAYS = 0 /* of a kind that belongs to no check */
};

/* Kinds live in finding.def. */
enum finding_kind {
#define KIND(id, code, severity, check, rule, example, title, meaning, fix) F_##id,
#include "report/finding.def"
#undef KIND
    F_COUNT
};
enum severity { SEV_ERROR, SEV_NOTE };

struct place {            /* where in the program */
    const char *file;     /* source path or NULL */
    u32 line, col;        /* 0: unknown */
    const char *function; /* inlined function, or the kernel/function itself */
    const char *ptx_file;
    u32 ptx_line;
    const char *ptx_text;           /* the instruction as text */
    const struct place *inlined_at; /* where this function was inlined or called; NULL at the outermost */
    bool called;                    /* it was called */
};

/* it is one of several: of several warps, of several CTAs */
enum rival_crowd { CROWD_NONE, CROWD_CTA, CROWD_GRID };
struct rival {          /* the second thread of a finding about two */
    u32 cta[3], thread; /* linear index in its CTA */
    const char *access; /* "read" "write" "atomic" */
    u32 width;          /* bytes */
    u64 addr;           /* in the same object as the first */
    const char *how;    /* "weak", "relaxed.cta"...; NULL: not worth saying */
    const char *value;  /* what it read or wrote, as text; NULL: unknown */
    enum rival_crowd crowd;
};

/* How the element that an access takes follows from the number of its thread, for every lane that was there: number +
 * shift, or not at all. */
/* the number: blockIdx.x * blockDim.x + threadIdx.x; threadIdx.x */
enum index_kind { INDEX_GRID, INDEX_BLOCK, INDEX_KINDS };
struct index_rule {
    bool holds;
    s64 shift;
};

/* The same in full, where the text of the kernel tells: elements for each step of threadIdx.x .z, of blockIdx.x .z,
 * and the element of thread 0 of CTA 0. */
struct index_form {
    bool known;
    bool open; /* and the counter of a loop; `start` is then not known */
    s64 step[3], cta_step[3], start;
    s64 loop; /* what the loop adds in a pass; 0: not known */
};

/* A sentence about all occurrences together, of which each knows only its own addresses and threads: words, a gap
 * that is filled when the report is written, words. The gap is no mark in the words, so that no name, path or message
 * of the user's can pass for one. */
enum gap {
    GAP_NONE,
    GAP_END, /* the largest end, in bytes from the object's start */
    /* how the threads of the two sides stand to each other; what would order them; what to do */
    GAP_APART,
    GAP_BETWEEN,
    GAP_REPAIR,
    GAP_BARRIER, /* the barrier that the threads of a CTA need: __syncthreads() or __syncwarp() */
    GAP_STAYS,
    GAP_OWN, /* why several threads write one element with one store; what to do */
    GAP_INDEX,
    GAP_GUARD /* how an index came to lie outside; what to do about it */
};
/* the words may be NULL; GAP_NONE: there is no such sentence */
struct joint {
    const char *before;
    enum gap gap;
    const char *after;
};

/* The host's side of a launch. */
struct launch_origin {
    u64 nth;          /* how-many-eth launch of its kernel, from 1 on; 0: nothing is known of the host */
    u64 stream;       /* 1 is the default stream, 2 "stream 1"; 0: not known */
    const char *site; /* the host's call, or NULL */
    const char *by;   /* a kernel has launched it: "`parent` at a.cu:6"; NULL: the host has */
};

enum { FINDING_LANES = 32 };
/* finding.cause_key of an mbarrier_misuse: an arrival that follows from a wait for the wrong phase, where there is one;
 * bytes that come after their phase, whose readers are then too early */
enum { MBARRIER_EARLY_ARRIVAL = 1, MBARRIER_LATE_BYTES };
/* of an async_early: the copy was complete, since another thread had waited for it (no number of a kind is as large) */
enum { ASYNC_WAITED_BY_ANOTHER = 1 << 16 };
/* of a race: one side is the initialisation of an mbarrier */
enum { MBARRIER_UNPUBLISHED = 1 << 17 };
/* one side is a copy that was complete by chance: a barrier lies after it, in front of the other side, but no wait */
enum { COPY_BY_CHANCE = 1 << 18 };
/* what the threads of a deadlock wait for, where other findings may be the reason */
enum waits_for {
    WAITS_FOR_OTHERS,
    WAITS_FOR_PHASE /* of an mbarrier */,
    WAITS_FOR_BYTES /* that a copy brings to it */
};
struct finding {
    enum finding_kind kind;
    const struct place *place;
    const struct place *other; /* second site (a race, a lock's holder), or NULL */
    const char *kernel;
    /* the host's side of the launch that it belongs to, where it is found after that launch; NULL: the launch that the
     * calling thread works for */
    const struct launch_origin *from;
    u32 launch;    /* of several, from 1 on; 0: the one that report_launch named last */
    u64 cause_key; /* findings with equal kind, places and cause_key are one cause */
    u64 streams;   /* of two operations: the numbers of their streams, which may differ within a cause; 0: none */
    u64 ticket;    /* see report_again; 0: none */
    u64 hold;      /* bits by which report_release may leave the finding out; 0: none */
    /* who */
    u32 cta[3], nctaid[3], ntid[3];
    u32 nlanes;                /* 0: not about threads */
    u32 thread[FINDING_LANES]; /* linear thread index in the CTA */
    bool once;                 /* all these threads together are one occurrence: a deadlock */
    enum waits_for waits_for;  /* a deadlock */
    bool cooperative;          /* of a cooperative launch, whose blocks grid.sync() orders */
    bool stops;                /* it stops a kernel on every machine: reported although its check is off */
    bool joins;                /* further threads of an occurrence that was added before */
    /* what, for memory findings */
    const char *access; /* "read" "write" "atomic" or NULL */
    /* for a finding without threads: the operation at `place`, and at `other`, as in access; NULL: no access */
    const char *does, *other_does;
    u64 common_low, common_high; /* the addresses that both use, up to the end of the last one; 0, 0: none */
    const char *how;             /* "weak", "relaxed.cta"...; NULL: not worth saying */
    const char *space;           /* "global" "shared" "local" ... */
    u32 width;                   /* bytes per lane */
    u32 align;                   /* what its address must be a multiple of; 0: its width */
    u64 addr[FINDING_LANES];     /* per lane */
    const char *value;           /* what the smallest of these threads read or wrote, as text; NULL: unknown */
    bool equal;                  /* two stores, of which the second one stored what was there: the value */
    u64 stored;
    const char *object;      /* name of the allocation, array or variable; NULL: none */
    const char *object_type; /* "f32[1000]" or NULL */
    const char *parameter;   /* that the object was passed as, where a client of Python has told; NULL: not known */
    u64 object_base, object_size;
    u32 element_size;                     /* 0: unknown */
    struct index_rule index[INDEX_KINDS]; /* accesses outside an object */
    struct index_form form;               /* the same */
    const char *object_note;              /* "allocated at ..., freed at ..." or NULL */
    const char *neighbour;                /* name of the object actually hit, or NULL */
    /* Which of the kernel's pointers it was reached by, the same in every launch: a number of the parameter or
     * variable; 0: not known. */
    u64 array;
    bool launch_sized; /* the launch gives the object its size: dynamic shared memory */
    /* the thread at `other`, NULL: the finding is not about two. One lane then, and which of the two sides is the
     * first does not matter: the report sorts them */
    const struct rival *rival;
    const struct place *origin;  /* where the value came from (an uninitialised load), or NULL */
    const char *origin_text;     /* "read from tile (b32[256] shared), which was never written", or NULL */
    const char *origin_space;    /* "global" or "shared": what was read there has addresses; NULL: it has none */
    u64 origin_low, origin_high; /* the addresses that were read there, up to the end of the last one */
    /* Two stores that race, each the end of an update (x += 1): the load that begins it, or NULL. A race of that load
     * with the store says more, and takes the place of this finding. */
    const struct place *update;
    /* Why and what to do: sentences without a final newline; NULL: the joint one below, and without that the default
     * of the kind. */
    const char *cause;
    const char *order; /* what would order the two sides: "a __syncthreads() between the two", or NULL */
    const char *fix;
    struct joint joint_cause, joint_order, joint_fix;
    const char *call;   /* the host's call that this is about, "cudaFree at main.cu:41", or NULL */
    const char *host;   /* where the host's own code was, a site of where.h, or NULL */
    const char *detail; /* further lines, each ended by \n (a wait-for graph), or NULL */
};
#endif
