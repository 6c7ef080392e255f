// Names of arrays in namespaces and templates, as the source has them.
namespace vllm {
namespace moe {
extern __shared__ int shared_counts[];

template <typename T, int N> __global__ void align(int a, int n, T *out, const T *in)
{
    __shared__ T tmp[N];
    int t = threadIdx.x;
    if (t < n) tmp[t + a] = in[t];
    __syncthreads();
    out[t] = tmp[t] + shared_counts[a];
}
template __global__ void align<float, 16>(int, int, float *, const float *);
}
}
