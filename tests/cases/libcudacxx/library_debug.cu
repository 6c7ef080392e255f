// regen: xz -arch=sm_90 -std=c++17 -G
// library.cu without optimisation, some of it.
#define SOME
#include "library.cu"
