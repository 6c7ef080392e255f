// Contracts for kernels of karpathy/llm.c, dev/cuda/softmax_forward.cu (tests/real/lab/run).
// regen: no

//! kernel softmax_forward_kernel1
//! dim    N 1..100000 = 40, C 1..100000 = 75
//! arg out f32[N, C] out
//! arg inp f32[N, C] in normal
//! arg N i32
//! arg C i32
//! launch grid=ceildiv(N, 128) block=128
//! oracle out = softmax(inp, -1)

//! kernel softmax_forward_kernel2
//! dim    N 1..100000 = 40, C 1..100000 = 200
//! arg out f32[N, C] out
//! arg inp f32[N, C] in normal
//! arg N i32
//! arg C i32
//! launch grid=N block=128 shared=512
//! oracle out = softmax(inp, -1)

//! kernel softmax_forward_kernel3
//! dim    N 1..100000 = 40, C 1..100000 = 75
//! arg out f32[N, C] out
//! arg inp f32[N, C] in normal
//! arg N i32
//! arg C i32
//! launch grid=N block=32 shared=128
//! oracle out = softmax(inp, -1)

//! kernel softmax_forward_kernel4
//! dim    N 1..100000 = 40, C 1..100000 = 200
//! arg out f32[N, C] out
//! arg inp f32[N, C] in normal
//! arg N i32
//! arg C i32
//! launch grid=N block=128 shared=16
//! oracle out = softmax(inp, -1)

//! kernel softmax_forward_online_kernel1
//! dim    N 1..100000 = 40, C 1..100000 = 75
//! arg out f32[N, C] out
//! arg inp f32[N, C] in normal
//! arg N i32
//! arg C i32
//! launch grid=ceildiv(N, 128) block=128
//! oracle out = softmax(inp, -1)

//! kernel softmax_forward_online_kernel2
//! dim    N 1..100000 = 40, C 1..100000 = 75
//! arg out f32[N, C] out
//! arg inp f32[N, C] in normal
//! arg N i32
//! arg C i32
//! launch grid=ceildiv(N, 4) block=128
//! oracle out = softmax(inp, -1)

//! kernel softmax_forward_kernel7
//! dim    N 1..100000 = 20, C 1..100000 = 2100
//! arg out f32[N, C] out
//! arg inp f32[N, C] in normal
//! arg N i32
//! arg C i32
//! launch grid=N block=256 shared=64
//! oracle out = softmax(inp, -1)

//! kernel softmax_forward_online_kernel8
//! dim    N 1..100000 = 40, C 1..100000 = 75
//! arg out f32[N, C] out
//! arg inp f32[N, C] in normal
//! arg N i32
//! arg C i32
//! launch grid=ceildiv(N, 4) block=128
//! oracle out = softmax(inp, -1)
#include "dev/cuda/softmax_forward.cu"
