// Contracts for kernels of zjin-lcf/HeCBench, src/concat-cuda/main.cu (tests/real/lab/run).
// regen: no

//! kernel concat<T>
//! type   T f32|f64
//! dim    a 1..100 = 3, b 1..1000 = 9, c 1..100 = 4, d 1..100 = 5
//! arg inp1 T[a, c, b] in
//! arg inp2 T[a, d, b] in
//! arg output T[a, c + d, b] out once
//! arg a i32
//! arg b i32
//! arg c i32
//! arg d i32
//! launch grid=ceildiv(a * b * (c + d), 256) block=256
//! oracle output = concat(inp1, inp2, 1)
#include "src/concat-cuda/main.cu"
