// regen: -arch=sm_90 -G
#include "optimistic_bad.cu"
