// Contracts for kernels of zjin-lcf/HeCBench, src/reverse-cuda/main.cu (tests/real/lab/run).
// regen: no

//! kernel reverse
//! dim    len 1..256 = 100
//! arg d i32[len] inout randint(0, 999)
//! arg len i32
//! launch grid=1 block=len
//! oracle d = flip(d, 0)
#include "src/reverse-cuda/main.cu"
