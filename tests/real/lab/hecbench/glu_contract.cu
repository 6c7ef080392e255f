// Contracts for kernels of zjin-lcf/HeCBench, src/glu-cuda/main.cu (tests/real/lab/run).
// regen: no

//! kernel glu_kernel
//! dim    M 1..1000 = 5, S 1..1000 = 7, N 1..1000 = 9
//! arg M i32
//! arg S i32
//! arg N i32
//! arg X f32[M, 2, S, N] in normal
//! arg Y f32[M, 1, S, N] out once
//! launch grid=ceildiv(M * S * N, 256) block=256
//! oracle Y = X[0:M, 0:1] * sigmoid(X[0:M, 1:2])
#include "src/glu-cuda/main.cu"
