// regen: -arch=sm_90 -G
#include "../loud/guess.cu"
