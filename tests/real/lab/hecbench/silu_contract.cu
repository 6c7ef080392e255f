// Contracts for kernels of zjin-lcf/HeCBench, src/silu-cuda/main.cu (tests/real/lab/run).
// regen: no

//! kernel silu_forward_kernel
//! dim    N 1..100000 = 1001
//! arg x   f32[N] in
//! arg out f32[N] out once
//! arg N   u64
//! launch grid=ceildiv(N, 256) block=256
//! oracle out = x / (1 + exp(-x))

// Four at a time, and what is left of them.
//! kernel silu_forward_kernel2
//! dim    N 1..100000 = 1001
//! arg x   f32[N] in align 16
//! arg out f32[N] out once align 16
//! arg N   u64
//! launch grid=ceildiv(N, 1024) block=256
//! oracle out = x / (1 + exp(-x))

//! kernel silu_backward_kernel
//! dim    N 1..100000 = 1001
//! arg dout f32[N] in
//! arg x    f32[N] in
//! arg dx   f32[N] out once
//! arg N    u64
//! launch grid=ceildiv(N, 256) block=256
//! oracle s = sigmoid(x); dx = dout * (s * (1 + x * (1 - s)))

//! kernel silu_backward_kernel2
//! dim    N 1..100000 = 1001
//! arg dout f32[N] in
//! arg x    f32[N] in
//! arg dx   f32[N] out once
//! arg N    u64
//! launch grid=ceildiv(N, 256) block=256
//! oracle s = sigmoid(x); dx = dout * (s * (1 + x * (1 - s)))
#include "src/silu-cuda/main.cu"
