/* surface.h: what texture.c and surface.c share. */
#ifndef LOCKSTEP_SURFACE_H
#define LOCKSTEP_SURFACE_H
#include "mem/texels.h"

struct warp;
struct insn;
/* What lanes mean by a number, as texture_at has it; that it was destroyed while the launch was in flight is noted. */
const struct texture *texture_of(struct warp *w, const struct insn *i, u32 lanes, u64 handle, bool *gone);
/* Texel i of n under an address mode; -1: outside. */
s64 texture_folded(s64 i, s64 n, enum texture_address mode);
/* Reports a number that is no object of the kind that the instruction wants; `what` says why, unless it was destroyed.
 */
void texture_none(struct warp *w, const struct insn *i, u32 lanes, u64 handle, bool gone, const char *what);
#endif
