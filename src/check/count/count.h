/* count.h: exact counts of what a kernel does, for `lockstep profile`: an observer of a launch (sim/observe.h), and
 * what the launches of a device have counted together, by kernel and line. docs/reference/profile.md defines every
 * counter. */
#ifndef LOCKSTEP_COUNT_H
#define LOCKSTEP_COUNT_H
#include "sim/sim.h"

struct observer;
enum count_space { COUNT_GLOBAL, COUNT_LOCAL, COUNT_SHARED, COUNT_CONST, COUNT_TEXTURE, COUNT_SPACES };
extern const char *const count_space_name[COUNT_SPACES];
/* What an instruction does there: an atomic returns what was there before, a reduction does not; a copy is cp.async. */
enum count_access { COUNT_LOAD, COUNT_STORE, COUNT_ATOMIC, COUNT_REDUCTION, COUNT_COPY, COUNT_ACCESSES };
extern const char *const count_access_name[COUNT_ACCESSES];

struct counts; /* of a device */
struct counts *counts_new(const struct card *card);
void counts_delete(struct counts *c);

struct count_shape {                      /* of a launch, as far as the machine does not know it */
    u32 registers;                        /* of a thread; 0: not known */
    bool assembled;                       /* ptxas says so, and what follows; else it is the bound that the PTX sets */
    u32 stack, spill_stores, spill_loads; /* bytes of a thread */
};
/* One launch that is to be counted. Its observer goes in front of the others. */
struct counting;
struct counting *counting_new(struct counts *into, const struct count_shape *shape);
const struct observer *counting_observer(struct counting *c, const struct observer *next);
void counting_free(struct counting *c);
#endif
