/* dev_rerun.h: the bytes of device memory, kept aside so that a launch can run again from them. */
#ifndef LOCKSTEP_DEV_RERUN_H
#define LOCKSTEP_DEV_RERUN_H
#include "device/dev.h"

struct kept {
    struct mem_object *o;
    u8 *bytes;
}; /* one object */
struct memory_copy {
    struct kept *kept;
    u32 n, cap;
}; /* {0} is empty */

/* Whether a kernel can leave something in it that matters afterwards. The device heap is left out: who gets which
 * piece of it is chance. */
bool copy_matters(const struct mem_object *o);
bool copy_add(struct memory_copy *c, struct mem_object *o); /* false: no memory */
bool copy_take(struct memory_copy *c, struct mem *m);       /* every object that matters */
void copy_put(const struct memory_copy *c);                 /* back to where they were */
void copy_free(struct memory_copy *c);

/* What device malloc gives to another run is taken back after it: the program knows nothing of it. Objects from
 * `mark` on. */
u32 heap_mark(struct mem *m);
void heap_back(struct mem *m, u32 mark);

/* What running a launch again needs besides its memory: no checks but `observers`, no output, findings into a report
 * that nobody reads. */
struct sim_launch launch_rerun(const struct sim_launch *first, const struct observer *observers);

/* ---- the origin of NaN and infinity (check/value_origin.h) ---- */
struct outputs;
/* Before the first run: keeps what the kernel may both read and write, as far as it can be told: inout arguments of
 * the contract and variables, or everything when every store is looked at. */
bool values_keep(struct memory_copy *before, struct device *d, const struct dev_launch *l, struct error *e);
/* After it: if something odd was stored, runs the launch again and tells where it began. Leaves memory as the first
 * run left it. */
bool values_rerun(struct outputs *o, struct memory_copy *before, struct device *d, const struct sim_launch *first,
                  const struct sim_result *r, struct error *e);
#endif
