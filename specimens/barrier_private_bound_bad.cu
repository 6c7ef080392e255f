// A loop with a barrier inside whose bound each thread takes from its own row.
//! kernel barrier_private_bound
//! dim n = 64
//! arg lengths i32[n] in iota
//! arg y i32[n] out once
//! launch grid=1 block=n
extern "C" __global__ void barrier_private_bound(const int *lengths, int *y)
{
    __shared__ int held[2][64];
    int i = threadIdx.x, sum = 0, mine = lengths[i] / 16;
    for (int step = 0; step < mine; step++) {
        held[step & 1][i] = step;
        __syncthreads();
        sum += held[step & 1][i ^ 1];
    }
    y[i] = sum;
}
