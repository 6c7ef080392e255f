/* Pointers that the host has moved out of their allocation into another one (rules.md B9). */
#ifndef LOCKSTEP_MOVED_POINTER_H
#define LOCKSTEP_MOVED_POINTER_H
#include "explain/explain_access.h"

/* An access through a kernel parameter stayed in the object that the parameter points into, or is in no object at all:
 * the parameter is that object's. Whatever was held of it is reported. */
void moved_pointer_own(const struct access *a);
/* Where a report that the lane landed in c->hit is held until the launch ends; NULL: it is reported at once. The lane
 * may go on. */
struct report *moved_pointer_held(const struct access *a, const struct lane_check *c);
#endif
