/* The lane handlers of isa_int.def: integer arithmetic, logic, comparison, selection and moves. */
#define LANES_FAMILY int
#define LANES_DEF "isa/isa_int.def"
#include "lanes/lanes_pass.h"
