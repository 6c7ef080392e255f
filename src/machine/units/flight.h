/* flight.h: asynchronous operations from their issue to their completion (flight.c).
 *
 * A thread issues a flight: a bulk or tensor copy, a reduction of such, st.async, red.async, the reads of shared memory
 * by wgmma. (cp.async, of 16 bytes a lane at most, has a shorter record: async.h.) What is to be moved is a list of
 * contiguous pieces. Until the flight is complete its source and its destination are its own: the race check takes it
 * for a party beside the threads (observer.flight).
 *
 * It is done at the latest moment that the program allows, so that who does not wait sees what was there before:
 *   - when its thread waits for its group (flights_wait);
 *   - when a wait for the mbarrier that it signals has failed (flights_land_at);
 *   - when every thread of its CTA waits, or has left (attach_flights).
 * Under a perturbed schedule some are done when they are issued. A copy to global memory has two moments: its source
 * has been read, and all is written.
 *
 * To issue one:
 *   struct flight *f = flight_new(w, i, lane, FLIGHT_GROUP);
 *   f->to_space = SP_GLOBAL; ...; flight_add(f, (struct flight_move){ ... }); ...
 *   flight_issue(f);
 * Addresses must have been checked. The pieces of one flight do not overlap each other in the destination. */
#ifndef LOCKSTEP_FLIGHT_H
#define LOCKSTEP_FLIGHT_H
#include "sim/machine.h"

/* What completes it: bytes or an arrival that an mbarrier counts; a group of bulk copies of its thread; a group of
 * wgmma of its warp, whose lanes have the same groups; a later flight of its CTA, tcgen05.commit. */
enum flight_end { FLIGHT_MBARRIER, FLIGHT_GROUP, FLIGHT_WGMMA, FLIGHT_TENSOR, FLIGHT_ENDS };

struct flight_move {    /* contiguous bytes */
    char *to;           /* where to; NULL: they are only read */
    const char *from;   /* where from; NULL: the flight's fill */
    u64 to_at, from_at; /* addresses: in global memory, or offsets in the shared memory of to_cta, from_cta */
    u32 bytes;          /* how many */
};

enum flight_fill { FILL_ZERO, FILL_NAN }; /* what elements outside of a tensor become */

struct flight {
    struct flight *next;           /* of the same CTA, issued later */
    struct warp *warp;             /* whose thread issued it */
    const struct insn *insn;       /* the instruction, in warp->code when it was issued */
    struct lowered *low;           /* its function */
    u32 op;                        /* its operation there */
    u8 lane;                       /* the thread */
    u8 end;                        /* enum flight_end */
    u8 to_space, from_space;       /* SP_GLOBAL or SP_SHARED */
    const struct site *reduce;     /* not NULL: combines with the destination as this atomic does; NULL: copies */
    struct site own;               /* what reduce may point to */
    u8 fill;                       /* enum flight_fill */
    bool lays_tile;                /* a tensor copy into shared memory: asked->tile_copied has its layout */
    bool to_tf32;                  /* f32 elements are rounded to tf32 on their way */
    bool pack_6;                   /* 16 bytes of the source, an element of 6 bits each, become the 12 of a piece */
    bool was_read;                 /* the source has been read: the bytes are in data */
    struct cta *to_cta, *from_cta; /* whose shared memory it writes, reads */
    char *mbarrier;                /* FLIGHT_MBARRIER: its word */
    struct cta *mbarrier_cta;      /* in whose shared memory that is */
    u64 mbarrier_at;               /* its offset there */
    u32 tx;                        /* FLIGHT_MBARRIER: bytes that it counts there */
    /* tcgen05.commit: it arrives there when all FLIGHT_TENSOR before it are done; tx is 0 */
    bool arrives;
    u32 group;                     /* FLIGHT_GROUP, FLIGHT_WGMMA: of its thread */
    u32 product;                   /* FLIGHT_WGMMA: how many its warp had issued, with it */
    u64 mbarrier_phase;            /* FLIGHT_MBARRIER: its phase when the flight was issued */
    struct flight_move *move;      /* the pieces */
    u32 n, cap;                    /* how many; room for how many */
    u64 bytes;                     /* of all pieces */
    char *data;                    /* was_read: the bytes, piece after piece */
    void *race;                    /* what the race check keeps of it */
    void (*act)(struct flight *f); /* not NULL: done in place of moving the pieces */
    void *act_self;                /* for act, which frees it */
    void *work;                    /* FLIGHT_TENSOR: what it does (tmem.h), freed with it */
};

/* A new flight of a lane; NULL: no memory, and the launch fails. */
struct flight *flight_new(struct warp *w, const struct insn *i, u32 lane, enum flight_end end);
void flight_add(struct flight *f, struct flight_move m);
/* Its bytes are these, which are defined: it has no source in memory. */
void flight_data(struct flight *f, const char *data);
void flight_issue(struct flight *f);

void flights_commit(struct warp *w, u32 mask, enum flight_end end); /* the groups of these lanes end here */
/* These lanes wait until at most `keep` of their newest groups are in flight; read: until the sources of the others
 * have been read, if not more is asked for. */
void flights_wait(struct warp *w, u32 mask, enum flight_end end, u32 keep, bool read);
/* The flights that signal the mbarrier at `at` are done. true: there were some; *committed is set when one of them was
 * a tcgen05.commit. */
bool flights_land_at(struct cta *c, const char *at, bool *committed);
void flights_land_tensor(struct cta *c); /* all that tcgen05 has started there */
/* The oldest flight in flight with one of these bytes in its destination, or its source; NULL: none. */
const struct flight *flight_to(const struct cta *c, const char *at, u32 bytes);
const struct flight *flight_from(const struct cta *c, const char *at, u32 bytes);
const struct flight *flight_first(const struct cta *c); /* the oldest that is in flight; NULL: none */
bool flight_commits_behind(const struct flight *f);     /* a tcgen05.commit after it is in flight */
/* Groups that its thread has committed after it: the largest count that a wait for it may have. */
u32 flight_newer(const struct flight *f);
bool flight_committed(const struct flight *f); /* its group has been committed */
#endif
