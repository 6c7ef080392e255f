// regen: no
#include <cuda_fp16.h>
#include <stdint.h>
__global__ void half_sum(const __half *x, uint32_t *out) { *out = (uint32_t)__half2float(__hadd(x[0], x[1])); }
