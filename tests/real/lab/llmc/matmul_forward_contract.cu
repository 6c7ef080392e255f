// Contracts for kernels of karpathy/llm.c, dev/cuda/matmul_forward.cu (tests/real/lab/run). The sum begins with the bias.
// regen: no

//! kernel matmul_forward_kernel1
//! dim    BT 1..10000 = 20, C 1..10000 = 36, OC 1..10000 = 24
//! arg out f32[BT, OC] out
//! arg inp f32[BT, C] in normal
//! arg weight f32[OC, C] in normal
//! arg bias f32[OC] in normal
//! arg BT i32
//! arg C i32
//! arg OC i32
//! launch grid=ceildiv(BT, 8),ceildiv(OC, 8) block=8,8
//! oracle products = unsqueeze(inp, 1) * unsqueeze(weight, 0)
//! oracle out = sum(concat(unsqueeze(broadcast(bias, BT, OC), -1), products, -1), -1)

//! kernel add_bias
//! dim    B 1..100 = 3, T 1..1000 = 10, OC 1..1000 = 24
//! arg out f32[B, T, OC] inout normal
//! arg bias f32[OC] in normal
//! arg B i32
//! arg T i32
//! arg OC i32
//! launch grid=2 block=128
//! oracle out = out + bias

// Tiles of 128 x 128, eight of depth at a time: no other sizes.
//! kernel matmul_forward_kernel4
//! dim    BT 128..1024 step 128 = 128, C 32..1024 step 32 = 32, OC 128..1024 step 128 = 128
//! arg out f32[BT, OC] out align 16
//! arg inp f32[BT, C] in normal align 16
//! arg weight f32[OC, C] in normal align 16
//! arg bias f32[OC] in normal align 16
//! arg C i32
//! arg OC i32
//! launch grid=BT / 128,OC / 128 block=16,16
//! oracle products = unsqueeze(inp, 1) * unsqueeze(weight, 0)
//! oracle out = sum(concat(unsqueeze(broadcast(bias, BT, OC), -1), products, -1), -1)
#include "dev/cuda/matmul_forward.cu"
