// Contracts for kernels of zjin-lcf/HeCBench, src/softmax-cuda/main.cu (tests/real/lab/run).
// regen: no

//! kernel softMax
//! dim    n 1..10000 = 40, size 1..10000 = 75
//! arg n i32
//! arg size i32
//! arg src  f32[n, size] in normal
//! arg dest f32[n, size] out once
//! launch grid=ceildiv(n, 256) block=256
//! oracle dest = softmax(src, -1)

//! kernel softMax2
//! dim    n 1..10000 = 40, size 1..10000 = 75
//! arg n i32
//! arg size i32
//! arg src  f32[n, size] in normal
//! arg dest f32[n, size] out once
//! launch grid=ceildiv(n, 8) block=256
//! oracle dest = softmax(src, -1)
#include "src/softmax-cuda/main.cu"
