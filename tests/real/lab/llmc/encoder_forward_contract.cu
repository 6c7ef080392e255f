// Contracts for kernels of karpathy/llm.c, dev/cuda/encoder_forward.cu, as bf16 (tests/real/lab/run).
// regen: no

//! kernel encoder_forward_kernel2
//! dim    B 1..100 = 3, T 1..1000 = 10, C 1..1000 = 24, V 1..50000 = 50
//! arg out bf16[B, T, C] out
//! arg inp i32[B, T] in index(V)
//! arg wte bf16[V, C] in
//! arg wpe bf16[T, C] in
//! arg B i32
//! arg T i32
//! arg C i32
//! launch grid=ceildiv(B * T * C, 128) block=128
//! oracle out = embedding(wte, inp) + wpe

//! kernel encoder_forward_kernel3
//! dim    B 1..100 = 3, T 1..1000 = 10, C 8..1000 step 8 = 24, V 1..50000 = 50
//! arg out bf16[B, T, C] out align 16
//! arg inp i32[B, T] in index(V)
//! arg wte bf16[V, C] in align 16
//! arg wpe bf16[T, C] in align 16
//! arg B i32
//! arg T i32
//! arg C i32
//! launch grid=ceildiv(B * T * C, 1024) block=128
//! oracle out = embedding(wte, inp) + wpe
#include "dev/cuda/encoder_forward.cu"
