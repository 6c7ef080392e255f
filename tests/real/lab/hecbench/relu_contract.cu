// Contracts for kernels of zjin-lcf/HeCBench, src/relu-cuda/main.cu (tests/real/lab/run).
// regen: no

//! kernel ReluGrad_impl1
//! dim    count 1..100000 = 1001
//! arg gradient f16[count] in align 4
//! arg feature  f16[count] in align 4
//! arg backprop f16[count] out once align 4
//! arg count i32
//! launch grid=2 block=256
//! oracle backprop = where(feature > 0, gradient, 0)
// Eight at a time, and what is left of them.
//! kernel ReluGrad_impl2
//! dim    count 1..100000 = 1003
//! arg gradient f16[count] in align 16
//! arg feature  f16[count] in align 16
//! arg backprop f16[count] out once align 16
//! arg count i32
//! launch grid=ceildiv(count, 8 * 256) block=256
//! oracle backprop = where(feature > 0, gradient, 0)
#include "src/relu-cuda/main.cu"
