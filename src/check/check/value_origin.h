/* value_origin: where a NaN or an infinity began (rules.md V1).
 *
 * Checking every result would slow down every run. So the first run only checks what is stored into outputs
 * (values.c), and only when something odd was stored there is the launch run again, from the same memory and under
 * the same seed, with every instruction watched: a result that is odd although no operand was is where an odd value
 * is born; from there it is followed through registers, shuffles, memory and calls to the store. */
#ifndef LOCKSTEP_VALUE_ORIGIN_H
#define LOCKSTEP_VALUE_ORIGIN_H
#include "base/scalar.h"
#include "sim/observe.h"

enum odd { ODD_NONE, ODD_INF, ODD_NAN };

/* By the bits: an exponent of all ones is infinite or not a number; e4m3 has no infinity, and one NaN. */
static inline enum odd odd_kind(const struct scalar *t, u64 bits)
{
    u64 all = ((u64)1 << t->exponent) - 1, fraction = bits & (((u64)1 << t->mantissa) - 1);
    if ((bits >> t->mantissa & all) != all) return ODD_NONE;
    if (t->finite) return fraction == ((u64)1 << t->mantissa) - 1 ? ODD_NAN : ODD_NONE;
    return fraction ? ODD_NAN : ODD_INF;
}
/* The type of one element of a float type of PTX; NULL: it has none that is looked at. *halves: elements in a
 * register. */
const struct scalar *odd_type(enum ptx_type t, u32 *elements);
/* What a register of b16, b32 or b64 holds, by the instructions that use it: by register, enum ptx_type. */
const u8 *odd_types(const struct lowered *low, struct arena *a);

struct value_origins;
struct value_origins *value_origins_new(void); /* NULL: no memory */
void value_origins_free(struct value_origins *v);
const struct observer *value_origins_observer(struct value_origins *v, const struct observer *next);

struct birth;
/* The birth of what a lane of this store or atomic wrote at an offset; NULL: not known. */
const struct birth *value_born(const struct value_origins *v, const struct access *a, u32 lane, u32 offset);
u64 birth_key(const struct birth *b); /* the same for births at the same instruction */
/* Fills in origin, cause and fix; the strings live in `mem`. */
void birth_describe(const struct value_origins *v, const struct birth *b, struct arena *mem, struct finding *f);
#endif
