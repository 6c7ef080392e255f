// Contracts for kernels of zjin-lcf/HeCBench, src/heat2d-cuda/main.cu (tests/real/lab/run). The grid is not compared with the size: whole blocks alone.
// regen: no

//! kernel dev_lapl_iter
//! dim    Ly 1..1000 = 12, Lx 64..1024 step 64 = 64
//! arg out f32[Ly, Lx] out once
//! arg in  f32[Ly, Lx] in normal
//! arg delta f32 = 0.125
//! arg norm  f32 = 0.5
//! arg Lx i32
//! arg Ly i32
//! launch grid=Ly * Lx / 64 block=64
//! oracle right = concat(in[0:Ly, 1:Lx], in[0:Ly, 0:1], 1); left = concat(in[0:Ly, Lx - 1:Lx], in[0:Ly, 0:Lx - 1], 1)
//! oracle down = concat(in[1:Ly], in[0:1], 0); up = concat(in[Ly - 1:Ly], in[0:Ly - 1], 0)
//! oracle out = norm * in + delta * (right + left + down + up)
#include "src/heat2d-cuda/main.cu"
