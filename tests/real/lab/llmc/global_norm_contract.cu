// Contracts for kernels of karpathy/llm.c, dev/cuda/global_norm.cu (tests/real/lab/run).
// regen: no

//! kernel norm_kernel1<T>
//! type   T bf16|f32
//! dim    n 0..1000000 = 1000
//! arg out f32[1] inout zeros
//! arg data T[n] in normal
//! arg n u64
//! launch grid=3 block=128
//! oracle out = out + sum(data * data, 0, keep)

//! kernel norm_kernel2<T>
//! type   T bf16|f32
//! dim    n 0..1000000 = 1000
//! arg out f32[1] inout zeros
//! arg data T[n] in normal
//! arg n u64
//! launch grid=3 block=128
//! oracle out = out + sum(data * data, 0, keep)

//! kernel norm_kernel3<T>
//! type   T bf16|f32
//! dim    n 0..1000000 = 1000
//! arg out f32[1] inout zeros
//! arg data T[n] in normal
//! arg n u64
//! launch grid=3 block=128
//! oracle out = out + sum(data * data, 0, keep)
#include "dev/cuda/global_norm.cu"
