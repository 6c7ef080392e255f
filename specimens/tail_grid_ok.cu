// As many blocks as the card holds at a time.
//! kernel tail_grid
//! dim blocks = 288
//! arg x f32[blocks * 1024] in ones
//! arg y f32[blocks * 1024] out once
//! launch grid=blocks block=256
extern "C" __global__ void tail_grid(const float *__restrict__ x, float *__restrict__ y)
{
    for (int k = 0; k < 1024; k += 256) {
        int i = blockIdx.x * 1024 + k + threadIdx.x;
        y[i] = x[i] * x[i] + 1;
    }
}
