/* The lane handlers of isa_cvt.def: conversions. */
#define LANES_FAMILY cvt
#define LANES_DEF "isa/isa_cvt.def"
#include "lanes/lanes_pass.h"
