// Contracts for kernels of zjin-lcf/HeCBench, src/mask-cuda/main.cu (tests/real/lab/run).
// regen: no

//! kernel sequenceMaskKernel<float>
//! dim    N 1..1000 = 20, M 1..1000 = 30
//! arg N i32
//! arg M i32
//! arg B i32 = -1
//! arg in f32[N, M] in
//! arg lengths i32[N] in index(M)
//! arg fill f32 = -1
//! arg out f32[N, M] out once
//! launch grid=ceildiv(N * M, 256) block=256
//! oracle out = where(iota(M) >= unsqueeze(lengths, -1), fill, in)

//! kernel upperMaskKernel<float>
//! dim    N 1..1000 = 20, M 1..1000 = 30
//! arg N i32
//! arg M i32
//! arg B i32 = -1
//! arg in f32[N, M] in
//! arg fill f32 = -1
//! arg out f32[N, M] out once
//! launch grid=ceildiv(N * M, 256) block=256
//! oracle out = where(iota(M) > unsqueeze(iota(N), -1), fill, in)
//! kernel windowMaskKernel<float>
//! dim    N 1..1000 = 20, M 1..1000 = 30
//! arg N i32
//! arg M i32
//! arg B i32 = -1
//! arg in f32[N, M] in
//! arg centers i32[N] in index(M)
//! arg radius i32 = 3
//! arg fill f32 = -1
//! arg out f32[N, M] out once
//! launch grid=ceildiv(N * M, 256) block=256
//! oracle out = where(abs(iota(M) - unsqueeze(centers, -1)) > 3, fill, in)
#include "src/mask-cuda/main.cu"
