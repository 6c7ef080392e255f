// Contracts for kernels of zjin-lcf/HeCBench, src/hellinger-cuda/main.cu (tests/real/lab/run).
// regen: no

// The distance of two distributions: what is summed stays below 1.
//! kernel hellinger
//! dim    m 1..1000 = 20, n 1..100 = 30, k 1..1000 = 18
//! arg a f32[m, n] in uniform(0, 0.01)
//! arg b f32[n, k] in uniform(0, 0.01)
//! arg c f32[m, k] out once
//! arg m i32
//! arg n i32
//! arg k i32
//! launch grid=ceildiv(k, 16),ceildiv(m, 16) block=16,16
//! oracle c = sqrt(1 - sum(sqrt(unsqueeze(a, -1) * unsqueeze(b, 0)), 1))
#include "src/hellinger-cuda/main.cu"
