// Contracts for kernels of zjin-lcf/HeCBench, src/maxpool3d-cuda/main.cu (tests/real/lab/run).
// regen: no

//! kernel maxpool3d
//! dim    count 1..100 = 3, ow 1..500 = 9, oh 1..500 = 7, pw 1..8 = 2, ph 1..8 = 3
//! arg in  f32[count, oh, ph, ow, pw] in normal
//! arg out f32[count, oh, ow] out once
//! arg hstride i32 = pw
//! arg vstride i32 = ph
//! arg pool_w  i32 = pw
//! arg pool_h  i32 = ph
//! arg count i32
//! arg iw i32 = ow * pw
//! arg ih i32 = oh * ph
//! arg ow i32
//! arg oh i32
//! launch grid=ceildiv(ow, 16),ceildiv(oh, 16),count block=16,16
//! oracle out = max(max(in, 4), 2)
#include "src/maxpool3d-cuda/main.cu"
