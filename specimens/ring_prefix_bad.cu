// Records of variable length in a slot: a word with the size, then the payload. The payload is copied over the word. A race, since another thread writes the word.
//! kernel ring_prefix
//! arg slot u32[32] inout zeros
//! arg n u32 = 20
//! arg y u32[20] out
//! launch grid=1 block=32
// regen: -arch=sm_90
extern "C" __global__ void ring_prefix(unsigned *slot, unsigned n, unsigned *y)
{
    unsigned t = threadIdx.x;
    if (t == 31) slot[0] = n;
    if (t < n) slot[t] = 100 + t;
    __syncthreads();
    unsigned size = slot[0];
    if (t < size && t < n) y[t] = slot[t + 1];
}
