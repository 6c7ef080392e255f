// Words read from a message behind a header of `skip` bytes: where that is no multiple of 4, the last word also ends outside; the alignment is the mistake.
extern "C" __global__ void slipped(const unsigned char *message, int skip, int *word)
{
    word[threadIdx.x] = *(const int *)(message + skip + 4 * threadIdx.x);
}

extern "C" __global__ void slipped_shared(int skip, int *word)
{
    __shared__ __align__(4) unsigned char message[64];
    message[threadIdx.x] = threadIdx.x;
    message[threadIdx.x + 32] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x < 16) word[threadIdx.x] = *(const int *)(message + skip + 4 * threadIdx.x);
}
