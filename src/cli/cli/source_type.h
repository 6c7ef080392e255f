/* What a C++ parameter type is on the command line: `const float *x` takes an f32 buffer, `__half s` an f16 value. */
#ifndef LOCKSTEP_SOURCE_TYPE_H
#define LOCKSTEP_SOURCE_TYPE_H
#include "base/scalar.h"

struct source_type {
    const struct scalar *scalar; /* of a value, or of an element of what it points to; NULL: not known */
    u32 lanes;                   /* scalars in one element: 4 for float4 */
    bool pointer;                /* it points to the element */
    bool constant;               /* to something that is not written */
};
/* Reads "const float *__restrict__ x" as well as "const float*"; anything unusual yields no scalar. */
struct source_type source_type(const char *text);
#endif
