// A loop that does not end where n is no multiple of 4, and its good twin.

//! kernel endless
//! dim n 1..1000 = 100
//! arg y f32[n] out
//! arg n i32
//! launch grid=1 block=1
//! oracle y = broadcast(1, n)
extern "C" __global__ void endless(float *y, int n)
{
    for (int i = 0; i != (n % 4 ? n + 1 : n); i = i < n ? i + 1 : 0)
        if (i < n) y[i] = 1;
}

//! kernel ends
//! dim n 1..1000 = 100
//! arg y f32[n] out
//! arg n i32
//! launch grid=1 block=1
//! oracle y = broadcast(1, n)
extern "C" __global__ void ends(float *y, int n)
{
    for (int i = 0; i < n; i++) y[i] = 1;
}
