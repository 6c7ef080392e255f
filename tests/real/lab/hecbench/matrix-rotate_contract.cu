// Contracts for kernels of zjin-lcf/HeCBench, src/matrix-rotate-cuda/main.cu (tests/real/lab/run).
// regen: no

//! kernel rotate_matrix_parallel
//! dim    n 1..1000 = 33
//! arg matrix f32[n, n] inout
//! arg n i32
//! launch grid=ceildiv(n / 2 + 1, 256) block=256
//! oracle matrix = T(flip(matrix, 0))
#include "src/matrix-rotate-cuda/main.cu"
