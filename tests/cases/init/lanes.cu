// Values that cross lanes.

// Lanes 16 to 31 have left: what a shuffle reads from them is nobody's value.
extern "C" __global__ void exited_bad(const int *in, int *out)
{
    int t = threadIdx.x, v = in[t];
    if (t >= 16) return;
    v += __shfl_down_sync(0xffff, v, 8);
    v += __shfl_down_sync(0xffff, v, 4, 16);
    out[t] = v + __shfl_xor_sync(0xffff, v, 16);
}
extern "C" __global__ void exited_ok(const int *in, int *out)
{
    int t = threadIdx.x, v = in[t];
    if (t >= 16) return;
    int w = __shfl_down_sync(0xffff, v, 8, 16);
    if (t < 8) out[t] = v + w;
}

// A register set by some lanes only, summed over the warp.
extern "C" __global__ void reduce_bad(const int *in, int *out)
{
    __shared__ int part[32];
    int t = threadIdx.x;
    if (t < 20) part[t] = in[t];
    __syncwarp();
    int v = part[t];
    for (int s = 16; s > 0; s >>= 1) v += __shfl_xor_sync(~0u, v, s);
    out[t] = v;
}
extern "C" __global__ void reduce_ok(const int *in, int *out)
{
    __shared__ int part[32];
    int t = threadIdx.x;
    if (t < 20) part[t] = in[t];
    __syncwarp();
    int v = t < 20 ? part[t] : 0;
    for (int s = 16; s > 0; s >>= 1) v += __shfl_xor_sync(~0u, v, s);
    out[t] = v;
}

extern "C" __global__ void ballot_bad(const int *in, unsigned *out)
{
    __shared__ int part[32];
    int t = threadIdx.x;
    if (t & 1) part[t] = in[t];
    __syncwarp();
    out[t] = __ballot_sync(~0u, part[t] > 3);
}
extern "C" __global__ void ballot_ok(const int *in, unsigned *out)
{
    __shared__ int part[32];
    int t = threadIdx.x;
    if (t & 1) part[t] = in[t];
    __syncwarp();
    bool p = false;
    if (t & 1) p = part[t] > 3;
    out[t] = __ballot_sync(~0u, p);
}
