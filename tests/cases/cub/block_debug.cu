// regen: xz -arch=sm_80 -std=c++17 -G
// block.cu without optimisation, some of it.
#define SOME
#include "block.cu"
