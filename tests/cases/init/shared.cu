// Shared memory that is read before anybody wrote it, and the same kernels with every cell written.

// A three-point stencil through a tile with a halo: the bad twin forgets the right halo cell.
template <bool RIGHT> __device__ static void halo(const float *in, float *out, int n)
{
    __shared__ float tile[66];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t + 1] = i < n ? in[i] : 0.f;
    if (t == 0) tile[0] = i > 0 ? in[i - 1] : 0.f;
    if (RIGHT && t == 63) tile[65] = i + 1 < n ? in[i + 1] : 0.f;
    __syncthreads();
    if (i < n) out[i] = tile[t] + tile[t + 1] + tile[t + 2];
}
extern "C" __global__ void halo_bad(const float *in, float *out, int n) { halo<false>(in, out, n); }
extern "C" __global__ void halo_ok(const float *in, float *out, int n) { halo<true>(in, out, n); }

// The last tile is partial: threads beyond n leave their cell as it was, and the sum reads all of them.
template <bool FILL> __device__ static void partial(const float *in, float *out, int n)
{
    __shared__ float part[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    if (i < n) part[t] = in[i];
    else if (FILL) part[t] = 0.f;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}
extern "C" __global__ void partial_bad(const float *in, float *out, int n) { partial<false>(in, out, n); }
extern "C" __global__ void partial_ok(const float *in, float *out, int n) { partial<true>(in, out, n); }

// A flag in shared memory that only one path sets, and a branch that asks for it.
template <bool SET> __device__ static void flag(const int *in, int *out)
{
    __shared__ volatile int found;
    int t = threadIdx.x;
    if (SET && t == 0) found = 0;
    __syncthreads();
    if (in[t] == 7) found = 1;
    __syncthreads();
    if (found) out[t] = in[t];
    else out[t] = -1;
    __syncthreads();
    if (found == 1 && t == 0) atomicAdd(&out[32], 1);
}
extern "C" __global__ void flag_bad(const int *in, int *out) { flag<false>(in, out); }
extern "C" __global__ void flag_ok(const int *in, int *out) { flag<true>(in, out); }
