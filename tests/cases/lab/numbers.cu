// Numbers that a type has no NaN for, and numbers that kernels compute from their arguments.

//! kernel quantize_ok
//! dim n 1..64, d 1..300
//! arg x f32[n, d] in normal
//! arg q i8[n, d] out once
//! arg scale f32[n] out once
//! arg d i32
//! launch grid=n block=32
//! oracle scale = max(abs(x), -1) / 127; q = round(x / unsqueeze(scale, 1))
extern "C" __global__ void quantize_ok(const float *x, signed char *q, float *scale, int d)
{
    float most = 0;
    x += blockIdx.x * d, q += blockIdx.x * d;
    for (int i = threadIdx.x; i < d; i += 32) most = fmaxf(most, fabsf(x[i]));
    for (int o = 16; o; o /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, o));
    if (threadIdx.x == 0) scale[blockIdx.x] = most / 127;
    for (int i = threadIdx.x; i < d; i += 32) q[i] = (signed char)rintf(x[i] / (most / 127));
}

//! kernel quantize_bad
//! dim n 1..64, d 1..300
//! arg x f32[n, d] in normal
//! arg q i8[n, d] out partial
//! arg d i32
//! launch grid=n block=32
//! oracle q = round(x / (max(abs(x), -1, keep) / 127))
extern "C" __global__ void quantize_bad(const float *x, signed char *q, int d)
{
    float most = 0;
    x += blockIdx.x * d, q += blockIdx.x * d;
    for (int i = threadIdx.x; i < d; i += 32) most = fmaxf(most, fabsf(x[i]));
    for (int o = 16; o; o /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, o));
    if (threadIdx.x < d) q[threadIdx.x] = (signed char)rintf(x[threadIdx.x] / (most / 127));
}

// 1 - 0.999^3 loses nine bits in f32: the kernel is as good as its arithmetic.
//! kernel adam_ok
//! dim n 1..600
//! arg p f32[n] inout normal
//! arg g f32[n] in normal
//! arg m f32[n] inout normal
//! arg v f32[n] inout uniform(0, 1)
//! arg n i32
//! arg rate f32 = 0.001
//! arg decay f32 = 0.01
//! arg step i32 = 3
//! launch grid=ceildiv(n, 256) block=256
//! oracle m = 0.9*m + 0.1*g; v = 0.999*v + 0.001*g*g; p = p*(1 - rate*decay) - rate * (m/(1 - 0.9**step)) / (sqrt(v/(1 - 0.999**step)) + 1e-8)
extern "C" __global__ void adam_ok(float *p, const float *g, float *m, float *v, int n, float rate, float decay, int step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float first = 0.9f * m[i] + 0.1f * g[i], second = 0.999f * v[i] + 0.001f * g[i] * g[i];
    m[i] = first, v[i] = second;
    first /= 1 - powf(0.9f, step), second /= 1 - powf(0.999f, step);
    p[i] = p[i] * (1 - rate * decay) - rate * first / (sqrtf(second) + 1e-8f);
}
