// GELU by tanh where the one by erf is meant.
//! kernel gelu
//! dim n 1..4096
//! arg x f32[n] in
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle y = gelu(x)
extern "C" __global__ void gelu(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    y[i] = 0.5f * v * (1 + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
}
