/* number.h: elements of matrices and vectors, of every type, as numbers. */
#ifndef LOCKSTEP_NUMBER_H
#define LOCKSTEP_NUMBER_H
#include "base/base.h"

enum number_type { ANY, F32, F64, C32, C64, F16, BF16, E4M3, E5M2, I8, U8, I32, NUMBER_TYPES };
struct element { /* what every type fits into */
    double re, im;
};
/* By cudaDataType_t; ANY: a type that is not here. */
enum number_type number_type_of(s64 cuda);
s64 number_bytes(enum number_type t);
bool number_is_complex(enum number_type t);
bool number_is_whole(enum number_type t); /* of integers */
const char *number_name(enum number_type t);
/* Element i of an array. */
struct element number_load(enum number_type t, const void *from, s64 i);
void number_store(enum number_type t, void *to, s64 i, struct element v);
/* To TF32, to nearest, ties to even: as an H200 rounds what goes into a product of floats on tensor cores. */
float number_tf32(float v);
#endif
