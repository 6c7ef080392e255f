/* deadlock_memory.h: what the text of a kernel says of the memory that its stopped threads wait for. */
#ifndef LOCKSTEP_DEADLOCK_MEMORY_H
#define LOCKSTEP_DEADLOCK_MEMORY_H
#include "deadlock/deadlock_text.h"

/* Whether the instruction may write the byte at this address of global memory, as far as the operations say that make
 * its address: what is added to a pointer is not negative where nothing negative goes into it. May return true for one
 * that does not. */
bool site_reaches_maybe(const struct stopped *st, const struct lowered *l, const struct site *s, u64 address);

struct loaded_once { /* a load that stands in front of a loop, which does not look again */
    const struct mem_object *object;
    const char *place; /* of the load, in words */
};
/* Of another variable of the host's than the one that is polled at this address. */
bool loaded_once_beside(struct stopped *st, u64 polled, struct loaded_once *out);
/* Of the loop that the split is in, which reads nothing itself. */
bool loaded_once_before(struct stopped *st, const struct split *s, struct loaded_once *out);

/* What the loops of running threads read that no instruction of the kernel writes: how many of these. */
u32 polled_unwritten(struct stopped *st, struct read *out, u32 most);
/* The host may write it, too. */
bool read_is_of_host(const struct stopped *st, const struct read *r);
/* What is queued behind this launch, kernels that wait as it does, and hosts that wait. The text is in `st`; NULL:
 * nothing is known of them. named: somebody is among them who could change the value. */
const char *explain_operations(struct stopped *st, u64 address, bool *named, const char **fix);
#endif
