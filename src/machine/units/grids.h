/* grids.h: grids that kernels launch (dynamic parallelism): which there are, in what order they run (grids.c).
 *
 * A launch of the host and all that it launches, directly or not, is a family. A grid runs when the one that launched
 * it has ended, one after the other: first those of its device streams and of the fire-and-forget stream, in the order
 * of their launches, then those of its tail-launch stream; what a grid launches runs before its next sibling. CUDA
 * promises no more: no grid may wait for one that it has launched. Who is ordered after whom is asked with grid_before,
 * and the race check takes all others for concurrent.
 *
 * While a launch runs, its threads add to its grid under the lock of the family. */
#ifndef LOCKSTEP_GRIDS_H
#define LOCKSTEP_GRIDS_H
#include "sim/machine.h"

/* The stream of a launch: one that the device has created, or the default stream of a CTA; the two special ones. */
enum grid_kind { GRID_STREAM, GRID_FIRE, GRID_TAIL };
enum {
    GRID_DEPTH = 30,
    GRID_TAILS = 2048
}; /* levels of nesting, as many as an H200 was seen to run; tail launches of one grid */

struct grid {                    /* one launch of a family */
    struct grids *family;        /* that it is of */
    struct grid *parent;         /* that launched it; NULL: the host's */
    u32 depth;                   /* launches between it and the host's, which has 0 */
    u32 level;                   /* of nesting: a tail launch has that of its parent */
    u32 nth;                     /* how-many-eth launch of its parent, from 1 on */
    enum grid_kind kind;         /* its stream */
    u64 serial;                  /* launch.serial when it has begun */
    struct ptx_func *kernel;     /* what is launched */
    u32 grid[3], block[3];       /* its shape */
    u32 shared_bytes;            /* its dynamic shared memory */
    struct mem_object *buffer;   /* its parameters, until it is launched */
    char *params;                /* its parameters, from then on */
    struct grid *after;          /* the one before it in its stream; NULL: none */
    struct grid **wait;          /* those that its stream waited for by an event */
    u32 nwait;                   /* how many */
    u32 mark;                    /* of the last search of grid_before that came by */
    u32 list;                    /* that grid_wait_for has put it into last */
    struct grid *due;            /* in the list of a search */
    u64 race;                    /* what the race check keeps of the thread that launched it; 0: nothing */
    struct launch_origin origin; /* its host's side, and who launched it */
    struct grid *next;           /* in a list */
    struct grid_making *making;  /* what its threads do; NULL: they launch nothing, or it has ended */
};

/* A stream or an event of a grid. */
struct grid_handle {
    u64 handle;         /* as the program has it; the default stream of a CTA: its number, with the highest bit */
    bool event, gone;   /* which of the two; it was destroyed */
    struct grid *last;  /* stream: its last launch. event: the launch that was last when it was recorded */
    struct grid **wait; /* launches that what comes next is after, beside last */
    u32 nwait;          /* how many */
    u32 next;           /* of the same bucket, the one before it, + 1; 0: none */
};

/* A thread that has had an error. */
struct grid_error {
    u64 cta;    /* its number in the grid */
    u32 thread; /* its number in the CTA, + 1; 0: the entry is empty */
    u32 code;   /* cudaError_t: the last one, 0 once it was asked for */
};

struct grid_making {
    struct grid *buffers;       /* that have a parameter buffer and are not launched; newest first */
    struct grid *first, **last; /* launched, in their order */
    u32 launched, tails;        /* how many; of the tail-launch stream */
    struct grid_handle *handle; /* streams and events */
    u32 nhandle, caphandle;     /* how many; room for how many, a power of two */
    u32 *bucket;                /* as many as there is room: the newest of those with this hash, + 1; 0: none */
    struct grid_error *error;   /* a hash table */
    u32 nerror, caperror;       /* how many entries are used; its size, a power of two */
};

/* The grid that the launch is, with `making`; locks its family. NULL: no memory, and the launch fails. */
struct grid *grid_lock(struct launch *l);
void grid_unlock(struct grid *g);
/* The stream or event; NULL: the grid has none of that number. */
struct grid_handle *grid_handle_of(struct grid *g, u64 handle, bool event);
struct grid_handle *grid_handle_new(struct grid *g, u64 handle, bool event);
/* All that `from` stands for is before what comes next on `to`. */
void grid_wait_for(struct grid *self, struct grid_handle *to, const struct grid_handle *from);
/* A grid whose parameters are to be filled in: it is in making->buffers. */
struct grid *grid_new(struct grid *parent);
/* It is launched, in that stream (GRID_STREAM). */
void grid_launched(struct grid *g, enum grid_kind kind, struct grid_handle *stream);
/* Whether launches of its family are still to come. */
bool grid_has_more(const struct launch *l);
/* Whether the launch of that serial is of the same family. */
bool grid_is_kin(const struct grid *g, u64 serial);
/* Whether the launch of that serial is before the grid, which begins, as a whole: 1; not: 0; not of its family: -1. */
int grid_before(const struct grid *g, u64 serial);
/* Whether the launch of that serial has launched the grid, or one that has. */
bool grid_descends(const struct grid *g, u64 serial);
#endif
