/* Matrix loads and stores of a warp (matrix.c). */
#ifndef LOCKSTEP_MATRIX_H
#define LOCKSTEP_MATRIX_H
#include "sim/machine.h"

handler *matrix_handler(enum isa_name name); /* NULL: not a matrix operation */
#endif
