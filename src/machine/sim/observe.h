/* observe.h: what a checker or a counter may watch. This page is the whole interface.
 *
 * A launch carries a list of observers. Observers see events on the worker that runs the CTA, in the order in which
 * that worker executes them; events of different CTAs may come concurrently. They must not change the machine.
 * Without any, nothing of this costs anything. Propagation along registers (initialised values, provenance) is not
 * done here: it lives in planes beside them.
 *
 * There are three ways to see accesses, the slowest first, and observers of all three can stand in one list:
 *   access   A record of every access (access.h), which then goes through the common path, memory_watched.
 *   around   A function that lies around the handler of each instruction that the observer wants, and calls it. The
 *            access below stays as fast as it was. AROUND_MOST observers of a launch may have one; the first in the
 *            list is outermost. They lie outside all other layers (handlers.h): what one calls does the whole
 *            instruction.
 *   memory   Handlers of its own in the place of the plain ones, with the check of an access compiled into them
 *            (memory_fast.h; the race check). One observer of a launch may have them; with a second one, both see
 *            records, by `access`. */
#ifndef LOCKSTEP_OBSERVE_H
#define LOCKSTEP_OBSERVE_H
#include "sim/access.h"

enum sync_kind {
    SYNC_CTA_BEGIN,
    SYNC_CTA_END,        /* a CTA becomes resident; all its threads have left */
    SYNC_EXIT,           /* lanes of `mask` leave the kernel */
    SYNC_BARRIER,        /* barrier `id` of the CTA completed: every warp in it goes on */
    SYNC_BARRIER_ARRIVE, /* lanes of `mask` arrive at barrier `id`, waiting or not */
    SYNC_WARP,           /* a .sync operation fired for the lanes of `mask` */
    /* lanes of `mask` execute a fence; `id` is its scope, enum mem_scope, and FENCE_* */
    SYNC_FENCE,
    SYNC_CLUSTER_ARRIVE, /* lanes of `mask` arrive at the barrier of the cluster; `id`: as the operation's aux */
    SYNC_CLUSTER,        /* its phase `id` completed; cta: that of rank 0 */
    SYNC_CLUSTER_WAITED, /* lanes of `mask` go on after its wait */
    SYNC_GROUP,          /* the warpgroup of `warp`, its first one, has waited for products; `mask`: its lanes */
    SYNC_DEPEND          /* lanes of `mask` wait for the launches in front (griddepcontrol.wait), or have no need to */
};
struct sync_event {
    enum sync_kind kind;
    const struct cta *cta;
    const struct warp *warp; /* NULL for events of the whole CTA */
    u32 mask, id;
    u32 op; /* operation of warp->code->low, NONE: none */
};

struct flight;
/* Of a flight (flight.h): it is issued; its source has been read, before its destination is written; it is complete,
 * its bytes are counted by its mbarrier. */
enum flight_moment { FLIGHT_ISSUED, FLIGHT_READ, FLIGHT_DONE };

/* Chooses the handler of a memory instruction, for checks that see accesses in the fast handlers (memory_fast.h). */
typedef handler *memory_chooser(u32 watch, const struct site *s, const struct insn *i, u32 group, s32 stride);

/* Whether an observer wants to be around an operation. It may depend on nothing but the code: the answer is kept. */
typedef bool around_chooser(const struct lowered *l, const struct lop *o);

struct observer {
    void *self;
    u32 watch; /* WATCH_* beside WATCH_OBSERVE, which goes with `access` */
    /* `access` is wanted for what may write global memory only: loads stay as fast as the others let them
     * (WATCH_WRITES); plain stores come without a->ptr, and whether the lanes were allowed to is not known */
    bool writes;
    memory_chooser *memory; /* not NULL: its own handlers; `access` then comes for what they pass on (memory_watched) */
    /* Executes an instruction that `wants` chose by calling `beneath`, and returns what that one does. A result other
     * than 0 means: the instruction did not run, will be retried, and its operands are unchanged. */
    int (*around)(void *self, char *R, const struct insn *i, struct warp *w, handler *beneath);
    around_chooser *wants; /* goes with `around` */
    /* before the first CTA; may be NULL, like all of these */
    void (*begin)(void *self, const struct launch *l);
    void (*end)(void *self, const struct launch *l);
    /* before an access: lanes in a->ok will do it, a->ptr says where */
    void (*before)(void *self, const struct access *a);
    void (*access)(void *self, const struct access *a); /* after it */
    void (*sync)(void *self, const struct sync_event *e);
    /* before and after every instruction that is not the end of a block; goes with sim_launch.follow */
    void (*step)(void *self, struct warp *w, const struct insn *i, bool done);
    /* the lanes of w->mask have executed block `b` of w->code up to its terminator, which is about to decide; `taken`:
     * of a branch, the lanes that jump */
    void (*block)(void *self, struct warp *w, u32 b, u32 taken);
    /* these lanes are about to select register `reg`, which a SITE_SPECULATED load gave; goes with WATCH_RACE */
    void (*selected)(void *self, struct warp *w, u32 reg, u32 lanes);
    /* an asynchronous copy of that lane is done */
    void (*copied)(void *self, const struct warp *w, u32 lane, const char *to, u32 bytes);
    void (*flight)(void *self, struct flight *f, enum flight_moment m);
    void (*allocated)(void *self, const struct warp *w, struct mem_object *o); /* by device malloc */
    void (*texel)(void *self, const struct access *a); /* lanes of a->ok read a texel each for a fetch, of several */
    /* that lane launches a kernel; *handle is given to the launch (grid.race) */
    void (*launched)(void *self, const struct warp *w, u32 lane, u64 *handle);
    const struct observer *next;
};

u32 observe_watch(const struct sim_launch *in);
/* Of the observers with `around`, by their place among these: the handler that calls the observer. */
extern handler *const observe_around[AROUND_MOST];
/* An access by the common path with the observers around it, while a loop is probed (wait.h). */
handler observe_probed;
handler *observe_handler(const struct sim_launch *in, u32 watch, const struct site *s, const struct insn *i, u32 group,
                         s32 stride);
/* Whether observers of writes see a store after its own handler (memory_observed_after), not by the common path: its
 * record then has addresses, and no a->ptr. */
bool observe_after(const struct sim_launch *in, const struct site *s);
void observe_wrote(const struct launch *l, const struct access *a);
void observe_before(const struct launch *l, const struct access *a);
void observe_access(const struct launch *l, const struct access *a);
void observe_sync(const struct launch *l, const struct sync_event *e);
void observe_step(struct warp *w, const struct insn *i, bool done);
/* Whether an observer wants to see blocks: then warps are `blocks_seen`. */
bool observe_blocks_wanted(const struct sim_launch *in);
void observe_block(struct warp *w, u32 b);
void observe_copied(const struct launch *l, const struct warp *w, u32 lane, const char *to, u32 bytes);
void observe_flight(const struct launch *l, struct flight *f, enum flight_moment m);
/* stands before a selection that takes from a speculated load, in code that is watched for races */
handler observe_selection;
void observe_allocated(const struct warp *w, struct mem_object *o);
void observe_launched(const struct warp *w, u32 lane, u64 *handle);
void observe_texel(const struct access *a);
void observe_launch(const struct launch *l, bool begin);
static inline bool observed(const struct launch *l) { return l->in->observers != NULL; }
#endif
