// Kernels whose oracles are functions, since the language of oracles has no recurrences: functions.py, and functions.c as a shared object.

//! kernel recur_ok
//! dim rows 1..40, n 1..200
//! arg x f32[rows, n] in
//! arg y f32[rows, n] out once
//! arg a f32 = 0.5
//! arg rows i32
//! arg n i32
//! launch grid=ceildiv(rows, 32) block=32
//! oracle python functions:recur
extern "C" __global__ void recur_ok(const float *x, float *y, float a, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float last = 0;
    for (int i = 0; row < rows && i < n; i++) y[row * n + i] = last = a * last + x[row * n + i];
}

// Forgets what was before at every sixteenth element.
//! kernel recur_bad
//! dim rows 1..40, n 1..200
//! arg x f32[rows, n] in
//! arg y f32[rows, n] out once
//! arg a f32 = 0.5
//! arg rows i32
//! arg n i32
//! launch grid=ceildiv(rows, 32) block=32
//! oracle python functions:recur
extern "C" __global__ void recur_bad(const float *x, float *y, float a, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float last = 0;
    for (int i = 0; row < rows && i < n; i++) y[row * n + i] = last = (i % 16 ? a * last : 0) + x[row * n + i];
}

// Two outputs: one by a text, one by a function. Whole numbers need no bound.
//! kernel longest
//! dim n 1..100
//! arg x i32[n] in randint(-3, 4)
//! arg total i32[1] out
//! arg run i32[1] out
//! arg n i32
//! launch grid=1 block=1
//! oracle total = sum(x, 0, keep)
//! oracle run = python functions:longest
extern "C" __global__ void longest(const int *x, int *total, int *run, int n)
{
    int sum = 0, best = 0, now = 0;
    for (int i = 0; i < n; i++) {
        sum += x[i];
        now = x[i] > 0 ? now + 1 : 0;
        if (now > best) best = now;
    }
    *total = sum;
    *run = best;
}
