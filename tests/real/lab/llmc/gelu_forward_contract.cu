// Contracts for kernels of karpathy/llm.c, dev/cuda/gelu_forward.cu, as bf16 (tests/real/lab/run).
// regen: no

//! kernel gelu_forward_kernel1
//! dim    N 1..1000000 = 1000
//! arg out bf16[N] out
//! arg inp bf16[N] in normal
//! arg N i32
//! launch grid=ceildiv(N, 128) block=128
//! oracle out = gelu_tanh(inp)

//! kernel gelu_forward_kernel2
//! dim    N 8..1000000 step 8 = 1000
//! arg out bf16[N] out align 16
//! arg inp bf16[N] in normal align 16
//! arg N i32
//! launch grid=ceildiv(N, 1024) block=128
//! oracle out = gelu_tanh(inp)
#include "dev/cuda/gelu_forward.cu"
