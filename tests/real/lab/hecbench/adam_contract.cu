// Contracts for kernels of zjin-lcf/HeCBench, src/adam-cuda/main.cu (tests/real/lab/run).
// regen: no

//! kernel adam<float,float>
//! dim    n 1..100000 = 1000
//! arg p f32[n] inout normal
//! arg m f32[n] inout normal
//! arg v f32[n] inout uniform(0, 1)
//! arg g f32[n] in normal
//! arg b1 f32 = 0.9
//! arg b2 f32 = 0.999
//! arg eps f32 = 0.00000001
//! arg scale f32 = 256
//! arg step f32 = 0.001
//! arg times i32 = 1
//! arg n u64
//! arg mode i32 = 0
//! arg decay f32 = 0.5
//! launch grid=3 block=256
//! oracle s = g / scale; a = b1 * m + (1 - b1) * s; b = b2 * v + (1 - b2) * s * s
//! oracle p = p - step * (a / (1 - b1) / sqrt(b / (1 - b2) + eps) + decay * p); m = a; v = b
#include "src/adam-cuda/main.cu"
