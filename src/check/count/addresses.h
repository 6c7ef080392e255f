/* addresses.h: how the addresses of a warp's access repeat: each distinct one is a pass of the constant cache, and
 * lanes of an atomic at one address wait for each other. */
#ifndef LOCKSTEP_ADDRESSES_H
#define LOCKSTEP_ADDRESSES_H
#include "code/code.h"

struct addresses {
    u32 distinct; /* addresses */
    u32 most;     /* lanes at the one that most have */
};
void addresses_of(const u64 addr[LANES], u32 mask, struct addresses *out);

/* The distance of neighbouring lanes, where it is the same for all that take part; false: it is not, or one lane does.
 */
bool addresses_stride(const u64 addr[LANES], u32 mask, s64 *stride);
#endif
