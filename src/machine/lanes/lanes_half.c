/* The lane handlers of isa_half.def: f16, bf16 and their pairs. */
#define LANES_FAMILY half
#define LANES_DEF "isa/isa_half.def"
#include "lanes/lanes_pass.h"
