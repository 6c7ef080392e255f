// Contracts for kernels of zjin-lcf/HeCBench, src/gelu-cuda/main.cu (tests/real/lab/run).
// regen: no

//! kernel gelu_bias_loop
//! dim    batch 1..100 = 2, height 1..1000 = 5, width 2..10000 step 2 = 600
//! arg src  f16[batch, height, width] inout normal align 4
//! arg bias f16[width] in normal align 4
//! arg width  i32
//! arg height i32
//! launch grid=height,batch block=256
//! oracle src = gelu_tanh(via(src + bias, f16))

//! kernel gelu_bias_loop_base
//! dim    batch 1..100 = 2, height 1..1000 = 5, width 1..10000 = 300
//! arg src  f16[batch, height, width] inout normal
//! arg bias f16[width] in normal
//! arg width  i32
//! arg height i32
//! launch grid=height,batch block=256
//! oracle src = gelu_tanh(via(src + bias, f16))
#include "src/gelu-cuda/main.cu"
