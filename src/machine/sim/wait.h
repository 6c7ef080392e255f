/* Loops that wait: fuel, probes, idle splits, and the budget of a launch (wait.c). */
#ifndef LOCKSTEP_WAIT_H
#define LOCKSTEP_WAIT_H
#include "sim/machine.h"

enum {
    FUEL_FIRST = 128,    /* back edges before a loop is probed for the first time */
    FUEL_LOCKED = 32,    /* the same where locks were taken, and whoever has one has given way (atomic.c) */
    FUEL_SOME = 1024,    /* of a loop that reads nothing others write */
    FUEL_MAX = 1 << 16,  /* between two probes of a loop that was not idle, at most */
    FUEL_LOOKS = 512,    /* the same if it has only read memory that others may change */
    OUTER_EDGES = 64,    /* back edges that may pass before that of a loop around one that was left under a probe */
    FUEL_SHARED = 4096,  /* the same while other launches are in flight, which want their turns */
    WOKEN_MOST = 1024,   /* of a warp that was idle: what back edges may cost before one is probed, and ... */
    WOKEN_NEW = 128,     /* ... what one of a loop costs that is not known to be at work; those of others cost 1 */
    BUDGET_STEPS = 4096, /* steps after which a call, or the start of a CTA, looks at the budget */
};

/* What the running split does at a back edge: go on; wait, it is idle now; give way. */
enum wait_action { WAIT_GO, WAIT_IDLE, WAIT_YIELD };
/* The running split jumps back to block `target`, and has no fuel left. */
enum wait_action wait_out_of_fuel(struct warp *w, u32 target);
/* The fuel for n back edges; less near the end of the budget, little under a perturbed schedule. */
s32 wait_refill(struct warp *w, u32 n);
/* Counts the warp's steps. true: the launch was interrupted or has spent its budget, and stops. */
bool wait_budget_spent(struct warp *w);

/* The ways to wait at the end of a block (isa/waits.def). The running split comes to the operation; true: it goes on.
 * Otherwise its state says why not (split_waits). */
typedef bool wait_arrive(struct warp *w, struct split *s, const struct insn *i);
#define WAIT(id, ...) wait_arrive wait_##id;
#include "isa/waits.def"
#undef WAIT
extern const struct wait_row {
    bool again;       /* who has waited comes to the operation again */
    bool own;         /* only threads of its cluster let it go on */
    const char *text; /* what a split does that waits there */
} wait_rows[WAITS];
/* The split waits at the operation, all lanes of its warp that should being there. */
static inline void split_waits(struct split *s, const struct insn *i, enum isa_wait wait)
{
    s->op = i->op;
    s->missing = 0;
    s->state = (u8)(SPLIT_WAITS + wait);
}
/* Whether a split waits in a way that leaves the operation it waits at in split.op. */
static inline bool split_has_op(const struct split *s)
{
    return s->state == SPLIT_RENDEZVOUS || s->state == SPLIT_IDLE || s->state > SPLIT_WAITS;
}

/* Whether memory that an idle split reads has another value now. */
bool wait_changed(const struct split *s);
/* Whether some idle split of a parked CTA reads memory that the host can write. */
bool wait_for_host(const struct launch *l);
/* Whether a parked CTA waits for nobody but itself and its cluster: at barriers, in operations of a warp, and in loops
 * that read its own memory. Nothing that the program or another kernel does can wake it. */
bool wait_for_itself(const struct launch *l);
/* Whether one of them reads what may change while all threads of the program sleep: by a handler of signals, or by
 * another process that has the memory, too. Slow. */
bool wait_for_others_maybe(const struct launch *l);

/* While a probe is on: lanes of the running split come to a block; a lane reads this. */
void wait_probe_block(struct warp *w, u32 block);
void wait_probe_read(struct warp *w, u32 op, u32 lane, u8 space, u64 addr, const char *ptr, u32 size, u64 value);
/* Ends the probe, if there is one, without a result. */
void wait_probe_stop(struct warp *w);
/* Whether blocks of this warp must go through run_instrumented even without a probe. */
static inline bool wait_always_instrumented(const struct warp *w)
{
    return w->trace != NULL || w->cta->launch->in->follow || w->cta->launch->schedule.perturb;
}
#endif
