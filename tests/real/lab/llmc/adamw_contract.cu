// Contracts for kernels of karpathy/llm.c, dev/cuda/adamw.cu (tests/real/lab/run).
// regen: no

//! kernel adamw_kernel1
//! dim    n 1..1000000 = 1000
//! arg p f32[n] inout normal
//! arg g f32[n] in normal
//! arg m f32[n] inout normal
//! arg v f32[n] inout uniform(0, 1)
//! arg n i64
//! arg lr f32 = 0.001
//! arg beta1 f32 = 0.9
//! arg beta2 f32 = 0.999
//! arg c1 f32 = 0.1
//! arg c2 f32 = 0.001
//! arg eps f32 = 0.00000001
//! arg wd f32 = 0.01
//! launch grid=ceildiv(n, 128) block=128
//! oracle a = beta1 * m + (1 - beta1) * g; b = beta2 * v + (1 - beta2) * g * g
//! oracle p = p - lr * (a / c1 / (sqrt(b / c2) + eps) + wd * p); m = a; v = b

//! kernel adamw_kernel2
//! dim    n 1..1000000 = 1000
//! arg p f32[n] inout normal
//! arg g f32[n] in normal
//! arg m f32[n] inout normal
//! arg v f32[n] inout uniform(0, 1)
//! arg n i64
//! arg lr f32 = 0.001
//! arg beta1 f32 = 0.9
//! arg beta2 f32 = 0.999
//! arg c1 f32 = 0.1
//! arg c2 f32 = 0.001
//! arg eps f32 = 0.00000001
//! arg wd f32 = 0.01
//! launch grid=ceildiv(n, 128) block=128
//! oracle a = beta1 * m + (1 - beta1) * g; b = beta2 * v + (1 - beta2) * g * g
//! oracle p = p - lr * (a / c1 / (sqrt(b / c2) + eps) + wd * p); m = a; v = b
#include "dev/cuda/adamw.cu"
