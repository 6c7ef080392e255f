/* The lane handlers of isa_video.def: video instructions. */
#define LANES_FAMILY video
#define LANES_DEF "isa/isa_video.def"
#include "lanes/lanes_pass.h"
