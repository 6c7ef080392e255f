// A loop that has no end from the usual size on, and one with half of it.

//! kernel endless_bad
//! dim n 1..64 = 36
//! arg y f32[n] out
//! arg n i32
//! launch grid=1 block=64
//! oracle y = iota(n)
extern "C" __global__ void endless_bad(float *y, int n)
{
    float s = 0;
    for (int first = 0; first < n; first = 32) {
        int i = first + threadIdx.x;
        if (i < n && threadIdx.x < 32) y[i] = i + (s - s);
        s += threadIdx.x;
    }
}

//! kernel endless_ok
//! dim n 1..64 = 36
//! arg y f32[n] out
//! arg n i32
//! launch grid=1 block=64
//! oracle y = iota(n)
extern "C" __global__ void endless_ok(float *y, int n)
{
    float s = 0;
    for (int first = 0; first < n; first += 32) {
        int i = first + threadIdx.x;
        if (i < n && threadIdx.x < 32) y[i] = i + (s - s);
        s += threadIdx.x;
    }
}
