// Prefix sums of one block, three ways.

// Hillis and Steele: log n steps, each lane adds the value d places to its left.
extern "C" __global__ void scan_steps(const int *in, int *out)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        int left = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += left;
        __syncthreads();
    }
    out[t] = s[t];
}

// Blelloch: up and down a tree, two elements a thread, exclusive.
extern "C" __global__ void scan_tree(const int *in, int *out)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[2 * t] = in[2 * t], s[2 * t + 1] = in[2 * t + 1];
    for (int n = 128, d = 1; n > 0; n /= 2, d *= 2) {
        __syncthreads();
        if (t < n)
            s[d * (2 * t + 2) - 1] += s[d * (2 * t + 1) - 1];
    }
    if (t == 0)
        s[255] = 0;
    for (int n = 1, d = 128; n <= 128; n *= 2, d /= 2) {
        __syncthreads();
        if (t < n) {
            int left = s[d * (2 * t + 1) - 1];
            s[d * (2 * t + 1) - 1] = s[d * (2 * t + 2) - 1];
            s[d * (2 * t + 2) - 1] += left;
        }
    }
    __syncthreads();
    out[2 * t] = s[2 * t], out[2 * t + 1] = s[2 * t + 1];
}

// Inside each warp with shuffles, then over the sums of the warps.
extern "C" __global__ void scan_shfl(const int *in, int *out)
{
    __shared__ int sums[8];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, v = in[t];
    for (int d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(~0u, v, d);
        if (lane >= d)
            v += left;
    }
    if (lane == 31)
        sums[warp] = v;
    __syncthreads();
    for (int w = 0; w < warp; w++)
        v += sums[w];
    out[t] = v;
}
