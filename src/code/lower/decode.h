/* decode.h: from a lowered function to flat code for one block shape. */
#ifndef LOCKSTEP_DECODE_H
#define LOCKSTEP_DECODE_H
#include "code/code.h"

/* Instructions that no operation stands for: each looks at the one after it before it runs. insn.form says which,
 * insn.op names that operation, and the operands are its own (of GUARD: a the affine operand, b enum guard_mode).
 *   name        counts as a step */
#define INSERTED(X)                                                                                \
    X(GUARD, 1)        /* fast code: the affine operand must not overflow along a group */         \
    X(SELECTION, 0)    /* WATCH_RACE: it selects the value of a speculated load */                 \
    X(HAZARD, 0)       /* a divisor of zero, a shift by more than the width */                     \
    X(IN_FLIGHT, 0)    /* a register that an asynchronous product may have */                      \
    X(UNFENCED, 0)     /* it writes a register of a product, and a way there has no wgmma.fence */ \
    X(PROXY, 0)        /* a store to shared memory that the async proxy may read */                \
    X(OVERFLOW, 0)     /* WATCH_OVERFLOW: arithmetic on the way to an address */                   \
    X(OVERFLOW_USE, 0) /* WATCH_OVERFLOW: an access with such an address */                        \
    X(TERMINATOR, 0)   /* WATCH_INIT, plain code: what the end of the block uses */
#define X(id, counted) INS_##id,
enum inserted { INSERTED(X) INS_COUNT };
#undef X

/* Which wrap-around an affine guard excludes. */
enum guard_mode {
    GUARD_SIGNED,
    GUARD_UNSIGNED,
    GUARD_AND,
    GUARD_SHR_SIGNED,
    GUARD_SHR_SIGNED64,
    GUARD_SHR_UNSIGNED,
    GUARD_SHR_UNSIGNED64
};

/* The version of a function for CTAs of this width: fast or plain, watched by WATCH_*. Made when first asked for, kept
 * with the function; the caller holds the lock of its engine. NULL: e says why. */
struct code *decode(struct lowered *l, u32 ntid_x, u32 watch, bool plain, struct error *e);
#endif
