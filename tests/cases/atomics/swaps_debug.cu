// regen: -arch=sm_90 -G
#include "swaps.cu"
