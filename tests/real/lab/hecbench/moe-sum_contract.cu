// Contracts for kernels of zjin-lcf/HeCBench, src/moe-sum-cuda/kernels.h (tests/real/lab/run).
// regen: no

//! kernel moe_sum_kernel<float,4>
//! dim    tokens 1..1000 = 10, d 1..10000 = 600
//! arg out f32[tokens, d] out once
//! arg input f32[tokens, 4, d] in normal
//! arg d i32
//! launch grid=tokens block=256
//! oracle out = sum(input, 1)

//! kernel moe_sum_kernel_vec4<4>
//! dim    tokens 1..1000 = 10, d 4..10000 step 4 = 1200
//! arg out f32[tokens, d] out once align 16
//! arg input f32[tokens, 4, d] in normal align 16
//! arg d i32
//! launch grid=tokens block=256
//! oracle out = sum(input, 1)
#include "src/moe-sum-cuda/kernels.h"
