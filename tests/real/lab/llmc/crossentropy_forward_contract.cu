// Contracts for kernels of karpathy/llm.c, dev/cuda/crossentropy_forward.cu (tests/real/lab/run).
// regen: no

//! kernel crossentropy_forward_kernel1
//! dim    B 1..100 = 3, T 1..1000 = 10, V 1..50000 = 50
//! arg losses f32[B, T] out
//! arg probs f32[B, T, V] in uniform(0.01, 1)
//! arg targets i32[B, T] in index(V)
//! arg B i32
//! arg T i32
//! arg V i32
//! launch grid=ceildiv(B * T, 128) block=128
//! oracle losses = -log(sum(where(iota(V) == unsqueeze(targets, -1), probs, 0), -1))
#include "dev/cuda/crossentropy_forward.cu"
