/* observe.h: what a checker or a counter may watch. This page is the whole interface.
 *
 * A launch carries a list of observers. With one that wants all accesses, decode picks the watched memory handler for
 * every memory instruction; one that brings its own handlers sees there what it wants, and hands the rest on; without
 * any, nothing of this costs anything. Observers see events on the worker that runs the CTA, in
 * the order in which that worker executes them; events of different CTAs may come concurrently. They must not change
 * the machine. Propagation along registers (initialised values, provenance) is not done here: it lives in planes
 * beside them. */
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
    SYNC_FENCE
};
struct sync_event {
    enum sync_kind kind;
    const struct cta *cta;
    const struct warp *warp; /* NULL for events of the whole CTA */
    u32 mask, id;
    u32 op; /* operation of warp->code->low, NONE: none */
};

/* Chooses the handler of a memory instruction, for checks that look at accesses on the fast way (memory_fast.h). */
typedef handler *memory_chooser(u32 watch, const struct site *s, const struct insn *i, u32 group, s32 stride);

struct observer {
    void *self;
    u32 watch; /* WATCH_* beside WATCH_OBSERVE, which goes with `access` */
    /* `access` is wanted for what may write global memory only: loads stay as fast as the others let them
     * (WATCH_WRITES); plain stores come without a->ptr, and whether the lanes were allowed to is not known */
    bool writes;
    memory_chooser *memory; /* not NULL: its own handlers; it then sees what they pass on (memory_watched) */
    /* before the first CTA; may be NULL, like all of these */
    void (*begin)(void *self, const struct launch *l);
    void (*end)(void *self, const struct launch *l);
    /* before an access: lanes in a->ok will do it, a->ptr says where */
    void (*before)(void *self, const struct access *a);
    void (*access)(void *self, const struct access *a); /* after it */
    void (*sync)(void *self, const struct sync_event *e);
    /* before and after every instruction that is not the end of a block; goes with sim_launch.follow */
    void (*step)(void *self, struct warp *w, const struct insn *i, bool done);
    /* these lanes are about to select register `reg`, which a SITE_SPECULATED load gave; goes with WATCH_RACE */
    void (*selected)(void *self, struct warp *w, u32 reg, u32 lanes);
    /* an asynchronous copy of that lane is done */
    void (*copied)(void *self, const struct warp *w, u32 lane, const char *to, u32 bytes);
    void (*allocated)(void *self, struct mem_object *o); /* by device malloc */
    const struct observer *next;
};

u32 observe_watch(const struct sim_launch *in);
handler *observe_handler(const struct sim_launch *in, u32 watch, const struct site *s, const struct insn *i, u32 group,
                         s32 stride);
/* Whether a store keeps its own handler and is noted behind it, for observers of writes: its record has addresses,
 * and no a->ptr. */
bool observe_noted(const struct sim_launch *in, const struct site *s);
void observe_wrote(const struct launch *l, const struct access *a);
void observe_before(const struct launch *l, const struct access *a);
void observe_access(const struct launch *l, const struct access *a);
void observe_sync(const struct launch *l, struct sync_event e);
void observe_step(struct warp *w, const struct insn *i, bool done);
void observe_copied(const struct launch *l, const struct warp *w, u32 lane, const char *to, u32 bytes);
/* stands before a selection that takes from a speculated load, in code that is watched for races */
handler observe_pick;
void observe_allocated(const struct launch *l, struct mem_object *o);
void observe_launch(const struct launch *l, bool begin);
static inline bool observed(const struct launch *l) { return l->in->observers != NULL; }
#endif
