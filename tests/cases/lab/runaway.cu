// regen: -arch=sm_80
// The condition is (i < n / 128 * 128) ? ... : n, which is never 0: a loop that runs away over memory that is not its own.
//! kernel beyond
//! dim rows 1..64, n 1..1500
//! arg x f32[rows, n] in normal
//! arg y f32[rows] out once
//! arg n i32
//! launch grid=rows block=128
//! oracle y = sum(x, -1)
extern "C" __global__ void beyond(const float *x, float *y, int n) {
  __shared__ float part[4];
  float s = 0;
  for (int i = threadIdx.x; i < n / 128 * 128 ? n / 128 * 128 : n; i += 128) s += x[blockIdx.x * (size_t)n + i];
  for (int o = 16; o; o /= 2) s += __shfl_xor_sync(~0u, s, o);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = part[0] + part[1] + part[2] + part[3];
}

//! kernel within
//! dim rows 1..64, n 1..1500
//! arg x f32[rows, n] in normal
//! arg y f32[rows] out once
//! arg n i32
//! launch grid=rows block=128
//! oracle y = sum(x, -1)
extern "C" __global__ void within(const float *x, float *y, int n) {
  __shared__ float part[4];
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 128) s += x[blockIdx.x * (size_t)n + i];
  for (int o = 16; o; o /= 2) s += __shfl_xor_sync(~0u, s, o);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = part[0] + part[1] + part[2] + part[3];
}
