// A set of bits that nobody has cleared.
__global__ void marks(const int *in, unsigned *bits) { atomicOr(&bits[in[threadIdx.x] / 32], 1u << in[threadIdx.x] % 32); } // <-- uninit_output
__global__ void cleared(const int *in, unsigned *bits)
{
    if (threadIdx.x < 2) bits[threadIdx.x] = 0;
    __syncthreads();
    atomicOr(&bits[in[threadIdx.x] / 32], 1u << in[threadIdx.x] % 32);
}
__global__ void bytes(const int *in, unsigned *words) // each byte is set as a whole, beside others that are not
{
    atomicOr(&words[in[threadIdx.x] / 32], 0xffu << threadIdx.x % 2 * 8);
}
