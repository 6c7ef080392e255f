// A counter in shared memory that everybody adds to, and nobody sets to zero.
//! kernel uninit_shared
//! dim n = 128
//! arg x i32[n] in iota
//! arg y i32[1] out once
//! launch grid=1 block=n
extern "C" __global__ void uninit_shared(const int *x, int *y)
{
    __shared__ int even;
    if (x[threadIdx.x] % 2 == 0)
        atomicAdd(&even, 1);
    __syncthreads();
    if (threadIdx.x == 0)
        y[0] = even;
}
