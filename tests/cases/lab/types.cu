// regen: no
// Kahan-compensated row sum per thread, then a tree with compensation.
//! kernel kahan_rows
//! dim rows 1..40, n 1..5000
//! arg x f16[rows, n] in normal
//! arg y f32[rows] out once
//! arg n i32
//! launch grid=rows block=64
//! oracle y = sum(x, -1)
extern "C" __global__ void kahan_rows(const float* x, float* y, int n) {
  __shared__ float sh[64];
  const float* p = x + (size_t)blockIdx.x * n;
  float s = 0.f, c = 0.f;
  for (int i = threadIdx.x; i < n; i += 64) {
    float v = p[i] - c, t = s + v;
    c = (t - s) - v;
    s = t;
  }
  sh[threadIdx.x] = s - c;
  __syncthreads();
  for (int k = 32; k; k >>= 1) { if (threadIdx.x < k) sh[threadIdx.x] += sh[threadIdx.x + k]; __syncthreads(); }
  if (threadIdx.x == 0) y[blockIdx.x] = sh[0];
}
