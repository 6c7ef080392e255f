/* handlers.h: which function executes each instruction of decoded code.
 *
 * code/ decodes without knowing who executes. Binding fills the side array code.fn, which exec.c calls: the handler of
 * the instruction's form, its classes and the checks of the launch. Around that one others may lie, each for a thing
 * that it does not know of. They are the layers, outermost first; fn is the outermost that the instruction has, and a
 * layer calls the next one inwards through handler_under(). An instruction without layers pays nothing for them. */
#ifndef LOCKSTEP_HANDLERS_H
#define LOCKSTEP_HANDLERS_H
#include "sim/machine.h"

enum layer {
    LAYER_AROUND, /* an observer that sees the instruction (observer.around), and so on for AROUND_MOST of them */
    LAYER_ESCAPE = LAYER_AROUND + AROUND_MOST, /* a store of an address of local memory (escape.c) */
    /* plain code under the check of initialised values: undefined bits follow the values (planes.h) */
    LAYER_PLANES,
    LAYER_OBSERVED_AFTER, /* a store that observers of writes see after it (memory_observed_after) */
    LAYER_TAG,            /* the object that the result points into (provenance_tags.c) */
    LAYER_BLEND,          /* lanes that take no part keep what they had (lanes_blend) */
    LAYER_DEFINED         /* an access that looks first whether the bytes are defined (planes.h) */
};
_Static_assert((int)LAYER_DEFINED < (int)CODE_LAYERS, "each layer has its side array");

/* What layer `l` of this instruction calls. */
static inline handler *handler_under(const struct warp *w, const struct insn *i, enum layer l)
{
    return w->code->under[l][i - w->code->insn];
}

/* The handlers of rows written out at length, as the column `run` of isa_named.def names them. */
#define MEM(id, in, pv, low, run, ...) handler run_##run;
#define MEM_MORE MEM
#define WARP MEM
#define SYNC(...)
#define SYNC_MORE(...)
#define CTRL(...)
#include "isa/isa_named.def"
#include "isa/isa_end.def"

/* The version of a function for a launch, decoded and bound when first asked for. The caller holds sim.lock. NULL: e
 * says why. */
struct code *code_for(struct lowered *l, const struct sim_launch *in, bool plain, struct error *e);
#endif
