// regen: -arch=sm_90 -std=c++17 -diag-suppress 20054
// The kernels of review_bad.cu without their mistakes.
#define B 0
#include "review_bad.cu"
