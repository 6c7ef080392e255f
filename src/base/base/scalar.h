/* Scalar types as the command line and contracts write them: f32:2.5, u8[16], bool:true. Parsing, storing, printing
 * and comparing one value. */
#ifndef LOCKSTEP_SCALAR_H
#define LOCKSTEP_SCALAR_H
#include "base/base.h"

enum scalar_class { SCALAR_SIGNED, SCALAR_UNSIGNED, SCALAR_BITS, SCALAR_FLOAT, SCALAR_BOOL };
struct scalar {
    const char *name; /* "f32" */
    u32 bytes;        /* of one element */
    enum scalar_class class;
    u32 exponent, mantissa; /* floats: bits of each, the hidden one not counted */
    /* e4m3: no infinity, only all ones are NaN; what is too large becomes the largest number */
    bool finite;
};
/* The type of this name (s32 and i32 are the same), NULL: none. */
const struct scalar *scalar_find(struct str name);
/* All names, for messages. */
extern const char scalar_names[];

/* Reads all of `s` as a number for type `t` and stores it in t->bytes bytes at `to`. false: `why` says what is wrong.
 */
bool scalar_parse(const struct scalar *t, struct str s, void *to, char *why, size_t size);
/* Stores a number that fits: the generators use it. */
void scalar_store(const struct scalar *t, double value, void *to);
void scalar_store_int(const struct scalar *t, s64 value, void *to);
double scalar_load(const struct scalar *t, const void *from);
/* Prints the value so that reading it back gives the same bits: the shortest such text. */
void scalar_print(const struct scalar *t, const void *from, char *out, size_t size);
/* Same bits, or with a tolerance above 0 a difference of at most tolerance times the larger magnitude. */
bool scalar_same(const struct scalar *t, const void *a, const void *b, double tolerance);
#endif
