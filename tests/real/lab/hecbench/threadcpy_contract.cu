// Contracts for kernels of zjin-lcf/HeCBench, src/threadcpy-cuda/main.cu (tests/real/lab/run).
// regen: no

//! kernel threads_copy_kernel<float,4>
//! dim    n 1..100000 = 1000
//! arg in  f32[n] in align 16
//! arg out f32[n] out once align 16
//! arg n u64
//! launch grid=ceildiv(n, 1024) block=256
//! oracle out = in
#include "src/threadcpy-cuda/main.cu"
