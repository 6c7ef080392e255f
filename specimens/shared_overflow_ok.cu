// The message is copied in pieces that fit the buffer.
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
    for (int start = 0; start < bytes; start += 16384) {
        int length = min(16384, bytes - start);
        for (int i = threadIdx.x; i < length; i += blockDim.x)
            buffer[i] = message[start + i];
        __syncthreads();
        for (int i = threadIdx.x; i < length; i += blockDim.x)
            mine += buffer[i ^ 1];
        __syncthreads();
    }
    atomicAdd(sum, mine);
}
