/* race_kind.h: which kind of race a draft is (race_kind.c). */
#ifndef LOCKSTEP_RACE_KIND_H
#define LOCKSTEP_RACE_KIND_H
#include "explain/race_advice.h"
#include "units/async.h"

enum finding_kind race_classify(struct draft *x); /* fills x->of_block and equal of the finding, too */
bool race_same_constant(const struct draft *x);   /* R7: both write the same immediate, or the same parameter */
/* One side is a load that only proposes a value which a compare-and-swap verifies, the other a strong write: harmless.
 */
bool race_optimistic_read(const struct draft *x);
/* The asynchronous copy that is the prior access; group 0: it is not known any more. */
struct async_flight race_copy_in_flight(const struct draft *x);

/* Both accesses are of threads of one CTA, of one warp; the lane of the prior access that is shown. */
bool draft_same_cta(const struct draft *x);
bool draft_same_warp(const struct draft *x);
u32 draft_prior_lane(const struct draft *x);
/* It is about shared memory, of this CTA or another one of the cluster: no global address is as small. */
bool draft_in_shared(const struct draft *x);

/* The bytes as they are now: what a reader gets, and what a writer replaces; NULL: there are none. */
const char *race_bytes_now(const struct draft *x, u64 at);
u64 race_stored_value(const struct warp *w, const struct opnd *d, u32 width, u32 lane); /* of a lane */
/* What a lane is about to store into the element; false: the instruction is no store of up to 8 bytes. */
bool race_stored_bits(const struct draft *x, const struct site *s, u32 lane, u64 *bits);
#endif
