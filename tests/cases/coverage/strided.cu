// Rows that lie apart in memory: the gap between them is nobody's business. Results by atomics count as written.
//! kernel rows_apart
//! dim   rows 1..64, cols 1..64, pitch 64..128 = 80
//! arg y  f32[rows, cols] stride [pitch, 1] out once
//! arg cols i32
//! arg pitch i32
//! launch grid=rows block=cols

//! kernel counted
//! dim   bins 1..64
//! arg y  u32[bins] out
//! launch grid=1 block=bins
extern "C" __global__ void rows_apart(float *y, int cols, int pitch)
{
    if (threadIdx.x < cols)
        y[blockIdx.x * pitch + threadIdx.x] = threadIdx.x;
}

extern "C" __global__ void counted(unsigned *y)
{
    atomicExch(&y[threadIdx.x], threadIdx.x);
}
