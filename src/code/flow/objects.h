/* objects.h: which objects of global memory a launch of a kernel can write, and which it can load from; of constant
 * memory those that the host may change while it runs. */
#ifndef LOCKSTEP_OBJECTS_H
#define LOCKSTEP_OBJECTS_H
#include "code/code.h"

struct objects {          /* that instructions of a kernel can get to */
    bool anywhere;        /* through pointers of unknown provenance: all */
    u32 *param;           /* offsets of the parameters that lead to them */
    u32 nparam;           /* how many */
    struct ptx_var **var; /* variables */
    u32 nvar;             /* how many */
};
/* From base_need, until objects_free. A call may access anything: then both sets are all memory. Returns how
 * many instructions write global memory. */
u32 objects_find(const struct lowered *l, struct objects *written, struct objects *read);
void objects_free(struct objects *o);
#endif
