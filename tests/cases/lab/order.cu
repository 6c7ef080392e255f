// The number of the last block: who comes last depends on the order of blocks.

//! kernel last_bad
//! dim n 2..64
//! arg y f32[1] inout zeros
//! launch grid=n block=1
//! oracle y = y + n - 1
extern "C" __global__ void last_bad(float *y) { atomicExch(y, (float)blockIdx.x); }

//! kernel last_ok
//! dim n 2..64
//! arg y i32[1] inout zeros
//! launch grid=n block=1
//! oracle y = y + n - 1
extern "C" __global__ void last_ok(int *y) { atomicMax(y, (int)blockIdx.x); }
