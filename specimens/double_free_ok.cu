// The buffer is freed at the common end only.
//! kernel double_free
//! dim n = 32
//! arg x i32[n] in iota
//! arg y i32[n] out
//! launch grid=1 block=n
extern "C" __global__ void double_free(const int *x, int *y)
{
    int *copy = (int *)malloc(sizeof(int));
    if (!copy)
        return;
    copy[0] = x[threadIdx.x];
    y[threadIdx.x] = copy[0];
    if (x[threadIdx.x] > 29)
        y[threadIdx.x] = 0;
    free(copy);
}
