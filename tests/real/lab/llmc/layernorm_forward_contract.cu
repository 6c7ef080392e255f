// Contracts for kernels of karpathy/llm.c, dev/cuda/layernorm_forward.cu (tests/real/lab/run).
// regen: no

//! kernel layernorm_forward_kernel1
//! dim    N 1..100000 = 40, C 1..100000 = 75
//! arg out f32[N, C] out
//! arg mean f32[N] out
//! arg rstd f32[N] out
//! arg inp f32[N, C] in normal
//! arg weight f32[C] in normal
//! arg bias f32[C] in normal
//! arg N i32
//! arg C i32
//! launch grid=ceildiv(N, 128) block=128
//! oracle out = layernorm(inp, weight, bias, 1e-5); mean = mean(inp, -1); rstd = rsqrt(var(inp, -1) + 1e-5)

//! kernel layernorm_forward_kernel3
//! dim    N 1..100000 = 40, C 1..100000 = 75
//! arg out f32[N, C] out
//! arg mean f32[N] out
//! arg rstd f32[N] out
//! arg inp f32[N, C] in normal
//! arg weight f32[C] in normal
//! arg bias f32[C] in normal
//! arg N i32
//! arg C i32
//! launch grid=ceildiv(N, 4) block=128
//! oracle out = layernorm(inp, weight, bias, 1e-5); mean = mean(inp, -1); rstd = rsqrt(var(inp, -1) + 1e-5)

//! kernel layernorm_forward_kernel4
//! dim    N 1..100000 = 40, C 1..100000 = 75
//! arg out f32[N, C] out
//! arg mean f32[N] out
//! arg rstd f32[N] out
//! arg inp f32[N, C] in normal
//! arg weight f32[C] in normal
//! arg bias f32[C] in normal
//! arg N i32
//! arg C i32
//! launch grid=ceildiv(N, 4) block=128
//! oracle out = layernorm(inp, weight, bias, 1e-5); mean = mean(inp, -1); rstd = rsqrt(var(inp, -1) + 1e-5)

//! kernel layernorm_forward_kernel5
//! dim    N 1..100000 = 40, C 1..100000 = 75
//! arg out f32[N, C] out
//! arg mean f32[N] out
//! arg rstd f32[N] out
//! arg inp f32[N, C] in normal
//! arg weight f32[C] in normal
//! arg bias f32[C] in normal
//! arg N i32
//! arg C i32
//! launch grid=N block=128
//! oracle out = layernorm(inp, weight, bias, 1e-5); mean = mean(inp, -1); rstd = rsqrt(var(inp, -1) + 1e-5)
#include "dev/cuda/layernorm_forward.cu"
