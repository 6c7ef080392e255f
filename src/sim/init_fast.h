/* What the fast handlers of loads and stores (memory_fast.h) do for the check of initialised values. i and w are in
 * scope.
 *
 * A site's range remembers in which epoch of the shadow all of it was defined. While that is so, an access costs one
 * comparison, and the handler stays a function that calls nothing. Otherwise it hands over to init_unknown, which
 * checks the bytes: a load of an undefined byte deoptimises, a store defines its own bytes; the access itself is then
 * done by the handler without this check. So in handlers of several checks this one comes first. */
#ifndef LOCKSTEP_INIT_FAST_H
#define LOCKSTEP_INIT_FAST_H
#include "mem/shadow.h"
#include "sim/machine.h"

handler init_unknown; /* init_memory.c */
/* init_fast.c: for launches without another check of accesses */
handler *init_handler(const struct site *s, const struct insn *i, u32 group, s32 stride);

#define INIT_FIRST(sp)                                                              \
    do {                                                                            \
        if (unlikely(r->init != w->init_##sp->epoch)) return init_unknown(R, i, w); \
    } while (0)
#endif
