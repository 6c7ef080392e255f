// A message of 65,792 bytes is copied into a buffer of 16,384 bytes in shared memory.
//! kernel shared_overflow
//! dim bytes = 65792
//! arg message u8[bytes] in
//! arg sum u32[1] inout zeros
//! arg bytes i32
//! launch grid=1 block=256
extern "C" __global__ void shared_overflow(const unsigned char *message, unsigned *sum, int bytes)
{
    __shared__ unsigned char buffer[16384];
    unsigned mine = 0;
    for (int i = threadIdx.x; i < bytes; i += blockDim.x)
        buffer[i] = message[i];
    __syncthreads();
    for (int i = threadIdx.x; i < 16384; i += blockDim.x)
        mine += buffer[i ^ 1];
    atomicAdd(sum, mine);
}
