// A barrier in a branch that half a warp takes. Where the other threads leave the kernel it completes without them, on
// silicon too: a note. Where they go on to another barrier it is an error.
extern "C" __global__ void half_left(int *out)
{
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 16) {
        __syncthreads();
        out[threadIdx.x] = s[63 - threadIdx.x];
    }
}

extern "C" __global__ void skip_bad(int *out)           // the rest goes on to the next barrier
{
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 16) {
        __syncthreads();
        s[threadIdx.x] += s[63 - threadIdx.x];
    }
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
}

extern "C" __global__ void else_bad(int *out)
{
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    if (threadIdx.x % 2) {
        __syncthreads();
        out[threadIdx.x] = s[63 - threadIdx.x];
    } else {
        __syncthreads();
        out[threadIdx.x] = -s[63 - threadIdx.x];
    }
}

extern "C" __global__ void divergent_ok(int *out)       // the branch is the same for every thread
{
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    if (blockDim.x == 64) {
        __syncthreads();
        out[threadIdx.x] = s[63 - threadIdx.x];
    }
}
