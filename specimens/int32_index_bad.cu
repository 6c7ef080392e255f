// Row 40000 of a matrix with rows 65536 apart: the 32-bit product is larger than 2147483647.
//! kernel int32_index
//! dim rows = 4, pitch = 65536
//! arg x u8[rows, pitch] in zeros
//! arg y u8[32] out once
//! arg first i32 = 40000
//! arg pitch i32
//! launch grid=1 block=32
extern "C" __global__ void int32_index(const unsigned char *x, unsigned char *y, int first, int pitch)
{
    int row = first + threadIdx.x % 4;
    y[threadIdx.x] = x[row * pitch];
}
