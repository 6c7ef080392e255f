/* cta_state.h: what CTAs and warps of machine.h are made of: frames, splits, barriers, clusters, and what only one part
 * of the core keeps of a warp. */
#ifndef LOCKSTEP_CTA_STATE_H
#define LOCKSTEP_CTA_STATE_H
#include "code/code.h"
#include "mem/mem.h"

struct planes;            /* planes.h: undefined bits of registers */
struct rendezvous_taints; /* planes.h: undefined bits of operands at a rendezvous */
struct shadow;            /* mem/shadow.h: which bytes of memory are defined */

/* An activation of a function. Frames are a tree (a cactus stack): lanes may call different functions. */
struct frame {
    struct frame *up; /* the caller's; NULL: the kernel's own */
    struct code *code;
    char *R;                    /* register file */
    char *pmem;                 /* .param memory, [lane][pmem_bytes] */
    u32 *tags;                  /* tag planes, 32 object ids each */
    struct planes *planes;      /* undefined bits of its registers; NULL: fast code, which has none, or not checked */
    struct shadow *init_params; /* which bytes of pmem are defined; NULL: all */
    u32 local_base;             /* offset of its local memory in the thread's stack */
    u32 params;                 /* bytes of .param memory of the frames below it, which count against the stack, too */
    u32 top;                    /* bytes that alloca added after it */
    u32 depth, refs;            /* frames below it; splits in it and frames above it */
    u32 ret_block;              /* where its lanes go on in `up` */
    const struct call *call;    /* the call that made it */
    struct frame *next_free;    /* in warp.free_frames */
};

struct read {             /* what a spinning lane read */
    const char *ptr;      /* where the bytes are */
    u64 addr, value;      /* address as the program has it; what was there */
    u32 op;               /* the operation that read it */
    u8 size, space, lane; /* bytes; enum ptx_space */
};

enum split_state {
    SPLIT_RUN,        /* runnable */
    SPLIT_RENDEZVOUS, /* waits in a .sync operation for the lanes of its mask (warpop.c) */
    SPLIT_IDLE,       /* spins in a loop that can end only when something it reads changes (wait.c) */
    SPLIT_SLEEP,      /* has given way; runs again with the next turn */
    SPLIT_WAITS       /* this and enum isa_wait: waits at the end of its block */
};
#define SPLIT_AT(wait) (SPLIT_WAITS + WAIT_##wait)

struct split {
    u32 mask, block;    /* its lanes; the block they are at, or go on with */
    struct frame *fr;   /* the frame they are in */
    u8 state, bar;      /* enum split_state; at a barrier: which one; SPLIT_IDLE: turns given away (exec.c) */
    u32 missing;        /* waiting in an .aligned operation: lanes of the warp that were elsewhere when it arrived */
    u32 op;             /* the operation it waits at */
    u32 rdv;            /* SPLIT_RENDEZVOUS: the member mask */
    struct read *reads; /* SPLIT_IDLE: it runs again when one of these differs */
    u32 nreads;
    u64 polled; /* a mark of what the last watched round that was not idle polled, and its value (wait.c); 0: nothing */
};

/* ---- barriers and clusters ---- */

struct bar {                        /* one barrier of a CTA, between two phases all zero */
    u32 in_use;                     /* some thread has arrived in this phase */
    u32 arrived_threads;            /* threads that arrived without waiting */
    u32 expected;                   /* thread count given, 0: all of the CTA */
    u32 waiting_warps;              /* count of warps of which every live lane waits */
    bool results;                   /* some thread wants the result of a reduction */
    bool partial;                   /* a split arrived without all lanes of its warp */
    u64 arrived_warps;              /* bit set of warps that arrived without waiting */
    u32 red_and, red_or, red_count; /* reductions so far */
};

enum { CLUSTER_MOST = MEM_WINDOW_CTAS }; /* CTAs of a cluster */
/* CTAs that are resident together and reach each other's shared memory (cluster.h). A launch without clusters has
 * clusters of one. */
struct cluster {
    u32 size, running;             /* CTAs; those not yet done */
    u64 number;                    /* of the cluster in the grid */
    u32 phase;                     /* of barrier.cluster: how many are complete */
    bool arrived;                  /* some thread has arrived in this phase */
    bool began;                    /* all its threads have met at barrier.cluster: every CTA has started */
    struct cta *cta[CLUSTER_MOST]; /* by rank */
};

/* ---- what only one part keeps of a warp ---- */

enum { EXIT_RECORDS = 4 };
struct exit_records {    /* where lanes left the kernel (exits.h) */
    struct exit_record { /* when there is no room for more places, the last one has all further lanes */
        u32 mask, op;    /* the lanes; the operation: a branch to the end, or the exit itself */
        struct lowered *low;
    } at[EXIT_RECORDS];
    u32 n;
};

struct warp_loops {  /* loops that may wait for others (wait.c) */
    u32 next_fuel;   /* the fuel of the next refill */
    u32 idled_at;    /* the first block of the loop that the warp was idle in last */
    u32 woken;       /* it has woken up: what back edges of other loops may cost before one is probed */
    u32 outer_loop;  /* the first block of the loop to be probed next, around one that was left; NONE */
    u32 outer_edges; /* back edges that may pass before it comes round */
    u64 busy_loops;  /* bit set, by first block modulo 64: their last probe was not idle */
};

struct rendezvous {                  /* the .sync operation that each lane waits at (warpop.c) */
    u64 a[LANES];                    /* its operands */
    u32 b[LANES], e[LANES];          /* likewise */
    u32 tag[LANES];                  /* the object a shuffled pointer points into */
    u8 from[LANES];                  /* the lane that each lane read */
    struct rendezvous_taints *taint; /* of the operands; NULL: none so far */
};

struct warp_count {  /* of an observer that counts (src/check/count); it clears them when the CTA begins */
    u64 since;       /* instructions since the last barrier that it passed */
    u32 bar, bar_op; /* the barrier that it arrived at last, and the operation */
    const struct lowered *bar_low;
    u32 did;    /* lanes that have accessed memory */
    void *func; /* where it counted last */
};
#endif
