// The error path frees the buffer, and so does the common end.
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
        free(copy);
    free(copy);
}
