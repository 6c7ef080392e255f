/* explain_index.h: an address as an affine function of the thread's coordinates.
 *
 * `a[y * w + x]` is, when the launch is known, so many bytes for each step of threadIdx.x, threadIdx.y, blockIdx.x
 * ... and a constant. The text of the function gives the factors; the lanes that were there have to agree, or nothing
 * is said. The counter of a loop makes the sum an open one. */
#ifndef LOCKSTEP_FORMULA_H
#define LOCKSTEP_FORMULA_H
#include "sim/access.h"

/* In elements of the finding's object, from its start. */
struct index_form formula_of(const struct access *a, const struct finding *f);
/* The same for an operation of the warp's function, of which one lane is known. */
struct index_form formula_at(const struct warp *w, u32 op, u32 lane, const struct finding *f);
/* Whether an operation of the kernel takes `bytes` for each thread, one after the other in the order of the threads'
 * numbers in the grid, in a loop over the grid perhaps. */
bool formula_flat(const struct launch *l, u32 op, u32 bytes);
/* Whether an operand grows from thread to thread as the index of the access does, of elements of `bytes`; true also
 * where either is not known. */
bool formula_same_steps(const struct access *a, const struct opnd *o, u32 width, u32 bytes);
/* How far apart two operations of the warp's function are for each thread; false: not the same for all, or not known.
 */
bool formula_apart(const struct warp *w, u32 first, u32 second, s64 *bytes);
#endif
