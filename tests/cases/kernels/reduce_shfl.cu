// Reductions that pass values between the lanes of a warp instead of through memory.

// Down the lanes, one value a warp into shared memory, then the first warp again; one atomic a block.
extern "C" __global__ void reduce_down(const int *in, int *out, int n)
{
    __shared__ int part[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    for (int d = 16; d; d >>= 1)
        sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0)
        part[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < blockDim.x / 32 ? part[lane] : 0;
        for (int d = 16; d; d >>= 1)
            sum += __shfl_down_sync(~0u, sum, d);
        if (lane == 0)
            atomicAdd(out, sum);
    }
}

// The butterfly leaves the sum, the minimum and the maximum of each warp in every lane.
extern "C" __global__ void reduce_xor(const int *in, int *sum, int *low, int *high)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, s = in[i], l = s, h = s;
    for (int d = 16; d; d >>= 1) {
        s += __shfl_xor_sync(~0u, s, d);
        l = min(l, __shfl_xor_sync(~0u, l, d));
        h = max(h, __shfl_xor_sync(~0u, h, d));
    }
    sum[i] = s, low[i] = l, high[i] = h;
}

// What each variant delivers when the source lane is out of range: the lane's own value.
extern "C" __global__ void shuffles(int *out)
{
    int lane = threadIdx.x, *row = out + lane;
    row[0 * 32] = __shfl_up_sync(~0u, lane * 10, 3);
    row[1 * 32] = __shfl_down_sync(~0u, lane * 10, 3);
    row[2 * 32] = __shfl_sync(~0u, lane * 10, lane * 7);
    row[3 * 32] = __shfl_up_sync(~0u, lane * 10, 1, 8);
    row[4 * 32] = __shfl_down_sync(~0u, lane * 10, 1, 8);
    row[5 * 32] = __shfl_sync(~0u, lane * 10, 5, 8);
}
