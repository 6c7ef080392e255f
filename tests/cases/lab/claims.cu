// regen: -arch=sm_80
// Claims that a kernel is held to: compensated sums, which of equal elements, how deep a sum is.
#ifdef BUG
#define PICK(right, wrong) wrong
#else
#define PICK(right, wrong) right
#endif
//! kernel kahan
//! dim rows 1..40, n 1..5000
//! arg x f32[rows, n] in normal
//! arg y f32[rows] out once
//! arg n i32
//! launch grid=rows block=1
//! accumulate f32 compensated
//! oracle y = sum(x, -1)
extern "C" __global__ void kahan(const float *x, float *y, int n)
{
    float s = 0, c = 0;
    for (int i = 0; i < n; i++) {
        float v = x[(size_t)blockIdx.x * n + i] - PICK(c, 0), t = s + v;
        c = (t - s) - v;
        s = t;
    }
    y[blockIdx.x] = s;
}

//! kernel first
//! dim rows 1..40, n 1..300
//! arg x f32[rows, n] in normal
//! arg y i32[rows] out once
//! arg n i32
//! launch grid=rows block=1
//! oracle y = argmax(x, -1, first)
extern "C" __global__ void first(const float *x, int *y, int n)
{
    const float *p = x + (size_t)blockIdx.x * n;
    int k = 0;
    for (int i = 1; i < n; i++)
        if (PICK(p[i] > p[k], p[i] >= p[k])) k = i;
    y[blockIdx.x] = k;
}

//! kernel halves
//! dim rows 1..40
//! arg x f32[rows, 1024] in normal
//! arg y f32[rows] out once
//! launch grid=rows block=1
//! accumulate f32 depth 10
//! oracle y = sum(x, -1)
extern "C" __global__ void halves(const float *x, float *y)
{
    float t[1024];
    for (int i = 0; i < 1024; i++) t[i] = x[(size_t)blockIdx.x * 1024 + i];
    for (int k = 512; k; k /= 2)
        for (int i = 0; i < k; i++) t[i] += t[i + k];
    float s = 0;
    for (int i = 0; i < 1024; i++) s += x[(size_t)blockIdx.x * 1024 + i];
    y[blockIdx.x] = PICK(t[0], s);
}
