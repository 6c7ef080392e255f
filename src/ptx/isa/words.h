/* The words that values in isa.def are written in, in their scalar spelling, a file for each family. Each word is
 * total: defined for every input, as the PTX manual or, where that leaves it open, the silicon defines it. M stands
 * for the modifiers of the instruction (enum isa_mod), where a row has no form for each. */
#ifndef LOCKSTEP_ISA_WORDS_H
#define LOCKSTEP_ISA_WORDS_H
#include <math.h>
#include "isa/expand.h"
#include "isa/isa.h"

#define SEL(c, x, y) ((c) ? (x) : (y))
#define WORD static inline __attribute__((always_inline))

#include "isa/words_int.h"
#include "isa/words_float.h"
#include "isa/words_mufu.h"
#include "isa/words_half.h"
#include "isa/words_video.h"
#endif
