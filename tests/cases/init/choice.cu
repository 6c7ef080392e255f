// regen: -arch=sm_90 -G
// I3: without optimisation a selection is a branch. One whose ways only compute is no use of its condition; what comes out of it is computed.
template <class T> __device__ T most(T a, T b) { return a > b ? a : b; }
template <class T> __device__ T most_of(const T &a, const T &b) { return a > b ? a : b; }

// The scan of CUB does so: the first warp has no prefix, computes with it, and drops what comes out.
template <bool DROPS> __device__ void scan(const int *in, int *out)
{
    int prefix;
    if (threadIdx.x >= 32) prefix = in[threadIdx.x - 32];
    int v = most(prefix, 5), u = most_of(prefix, 7);
    if (DROPS && threadIdx.x < 32) v = u = 0;
    out[threadIdx.x] = v + u;
}
extern "C" __global__ void choice_ok(const int *in, int *out) { scan<true>(in, out); }
extern "C" __global__ void choice_kept(const int *in, int *out) { scan<false>(in, out); }

// A way that stores is a decision.
extern "C" __global__ void choice_store(const int *in, int *out)
{
    int limit;
    if (threadIdx.x >= 32) limit = in[threadIdx.x];
    if (in[threadIdx.x] > limit) out[threadIdx.x] = 1;
    else out[threadIdx.x] = 2;
}
// What was chosen decides later.
extern "C" __global__ void choice_later(const int *in, int *out)
{
    int limit;
    if (threadIdx.x >= 32) limit = in[threadIdx.x];
    int v = most(limit, 3);
    out[threadIdx.x] = 0;
    if (v == 3) out[threadIdx.x] = 1;
}
// A second time round the same branch, with a condition that is known: what comes out is defined again.
extern "C" __global__ void choice_again_ok(const int *in, int *out)
{
    int v, sum = 0;
    for (int k = 0; k < 3; k++) {
        int w = v > 4 ? 1 : 2;
        if (k > 0) sum += w;
        v = in[threadIdx.x] + k;
    }
    out[threadIdx.x] = sum;
}
// Between references: the pointer is chosen, and what lies there is loaded.
template <class T> __device__ const T &larger(const T &a, const T &b) { return a > b ? a : b; }
template <bool DROPS> __device__ void scan_references(const double *in, double *out)
{
    double prefix, five = 5;
    if (threadIdx.x >= 32) prefix = in[threadIdx.x - 32];
    double v = larger(prefix, five) + most_of(prefix, five);
    if (DROPS && threadIdx.x < 32) v = 0;
    out[threadIdx.x] = v;
}
extern "C" __global__ void choice_reference_ok(const double *in, double *out) { scan_references<true>(in, out); }
extern "C" __global__ void choice_reference_kept(const double *in, double *out) { scan_references<false>(in, out); }
