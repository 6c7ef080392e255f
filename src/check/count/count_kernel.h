/* count_kernel.h: what the launches of a device have counted together: kernels, their launches by shape, and their
 * instructions, each with its place in the source. It outlives the code: a module may be gone when it is written. */
#ifndef LOCKSTEP_COUNT_KERNEL_H
#define LOCKSTEP_COUNT_KERNEL_H
#include "count/counting.h"
#include "count/operations.h"

struct branch_counts {
    u64 divergent;        /* times that lanes went both ways */
    u64 jumped, followed; /* lanes of each side then */
    /* up to where the sides meet: warp instructions of each side, and thread instructions; those of lanes that jump
     * first */
    u64 side[2], side_lanes[2];
    bool loops; /* one of them leads back to the branch */
};

struct count_insn { /* an instruction of the PTX */
    const struct place *place;
    u64 times;                      /* warps executed it */
    u64 lanes, off;                 /* lanes that did; lanes of these warps that its guard kept from it */
    u64 operations;                 /* of `type` */
    enum operation_type type;       /* ... */
    struct access_counts *access;   /* NULL: it is no access */
    struct branch_counts *branch;   /* NULL: it is no branch, or all went one way */
    struct barrier_counts *barrier; /* NULL: it is no barrier */
    enum count_access kind;         /* of the access */
    bool is_read_only;              /* ld.global.nc, which may be cached like a texture */
    bool is_branch;                 /* a jump under a condition */
};

struct count_func { /* a function that the kernel has executed, in one of its versions */
    u32 serial;     /* of the lowered one: never given twice */
    u32 ops;        /* of it */
    u32 *of;        /* by operation: number of the instruction; NONE: nothing of it is executed */
    struct count_insn *insn;
    u32 insns;
    u32 alive;                   /* most words of registers that are alive at a time */
    const struct place *crowded; /* where; NULL: not known */
    struct count_func *next;     /* in the order in which they came */
};

struct count_sums { /* of one launch, or of several */
#define SUMS_COUNTER COUNTER_FIELD
#define FOOTPRINT_COUNTER COUNTER_FIELD
#include "count/counter_rows.h"
    u64 operations[OPS_TYPES];
    struct space_counts access[COUNT_ACCESSES][COUNT_SPACES];
    struct bulk bulk;
};

struct count_launch { /* launches of one shape */
    u32 grid[3], block[3], cluster[3];
    u64 shared_fixed, shared_dynamic; /* bytes of a CTA */
    struct count_shape more;
    u64 launches, ctas, threads;
    struct count_sums sums;
    struct count_launch *next; /* in the order in which they came */
};

struct count_kernel {
    const char *name, *plain; /* as in the PTX; as in the source */
    const char *file;         /* of its first instruction; NULL: not known */
    struct count_func *func;
    struct count_launch *launch;
    struct count_sums sums;
    u64 launches;
    struct count_kernel *next; /* in the order in which they came */
};

struct timeline;
struct counts {
    const struct card *card;
    struct timeline *timeline; /* timeline.h; NULL: nothing was enqueued */
    struct count_kernel *kernel;
    lock_t lock; /* of all of these */
    struct arena mem;
};

void count_sums_add(struct count_sums *to, const struct count_sums *from);
#endif
