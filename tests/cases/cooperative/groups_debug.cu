// regen: xz -arch=sm_80 -std=c++17 -G
// groups.cu without optimisation, some of it.
#define SOME
#include "groups.cu"
