// regen: -arch=sm_80
// CUB's decoupled look-back, with the state of the tiles made in the same launch behind grid.sync(): a scan of int and one of f64.
#include <cooperative_groups.h>
#include <cub/agent/single_pass_scan_operators.cuh>
#include <cub/block/block_scan.cuh>
template <typename T> __device__ void scan(const T *in, T *out, char *temp, int n)
{
    constexpr int threads = 96, items = 3;
    using State = cub::ScanTileState<T>;
    using Prefix = cub::TilePrefixCallbackOp<T, ::cuda::std::plus<>, State>;
    using Scan = cub::BlockScan<T, threads>;
    __shared__ typename Prefix::TempStorage prefix_storage;
    __shared__ typename Scan::TempStorage scan_storage;
    State state;
    size_t bytes;
    State::AllocationSize(gridDim.x, bytes);
    state.Init(gridDim.x, temp, bytes);
    state.InitializeStatus(gridDim.x);
    cooperative_groups::this_grid().sync();
    T v[items];
    int first = (blockIdx.x * threads + threadIdx.x) * items;
    for (int k = 0; k < items; k++)
        v[k] = first + k < n ? in[first + k] : T(0);
    if (blockIdx.x == 0) {
        T all;
        Scan(scan_storage).InclusiveSum(v, v, all);
        if (threadIdx.x == 0)
            state.SetInclusive(0, all);
    } else {
        Prefix prefix(state, prefix_storage, ::cuda::std::plus<>(), blockIdx.x);
        Scan(scan_storage).InclusiveSum(v, v, prefix);
    }
    for (int k = 0; k < items; k++)
        if (first + k < n)
            out[first + k] = v[k];
}
extern "C" __global__ void look_back(const int *in, int *out, char *temp, int n) { scan(in, out, temp, n); }
extern "C" __global__ void look_back_double(const double *in, double *out, char *temp, int n) { scan(in, out, temp, n); }
