// Contracts for kernels of karpathy/llm.c, dev/cuda/residual_forward.cu, as bf16 (tests/real/lab/run).
// regen: no

//! kernel residual_forward_kernel1
//! dim    N 1..1000000 = 1000
//! arg out bf16[N] out
//! arg inp1 bf16[N] in
//! arg inp2 bf16[N] in
//! arg N i32
//! launch grid=ceildiv(N, 128) block=128
//! oracle out = inp1 + inp2

//! kernel residual_forward_kernel2
//! dim    N 8..1000000 step 8 = 1000
//! arg out bf16[N] out align 16
//! arg inp1 bf16[N] in align 16
//! arg inp2 bf16[N] in align 16
//! arg N i32
//! launch grid=ceildiv(N, 1024) block=128
//! oracle out = inp1 + inp2
#include "dev/cuda/residual_forward.cu"
