/* The lane handlers of isa_float.def: f32 and f64, to the nearest. */
#define LANES_FAMILY float
#define LANES_DEF "isa/isa_float.def"
#include "lanes/lanes_pass.h"
