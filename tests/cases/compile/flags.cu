// regen: no
#include <which.h>
#include <stdint.h>
#if __cplusplus < 202002L
#error "this wants C++20"
#endif
__global__ void flags(uint32_t *x) { x[0] = WHICH; x[1] = COUNT; x[2] = sizeof(uint64_t); }
