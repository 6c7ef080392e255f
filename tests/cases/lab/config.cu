// Two kernels that have a constant of one name, with other values; one has a second.
// regen: no
//! kernel a
//! config BLOCK 64 {64, 128}
//! dim n 1..1000 = 100
//! arg x f32[n] in
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, BLOCK) block=BLOCK
//! oracle y = 2 * x
__global__ void a(const float *x, float *y, int n) { int i = blockIdx.x * BLOCK + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }

//! kernel b
//! config BLOCK 32 {32, 64}
//! config VEC 1 {1, 2}
//! dim n 1..1000 = 100
//! arg x f32[n] in
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, BLOCK) block=BLOCK
//! oracle y = 3 * x
__global__ void b(const float *x, float *y, int n) { int i = blockIdx.x * BLOCK + threadIdx.x; if (i < n) y[i] = 3 * x[i]; }
