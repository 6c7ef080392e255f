// regen: no
// Kernels of CUB, for tests/profile-against-ncu.
#include <cub/cub.cuh>

void cub_kernels(const unsigned *x, unsigned *y)
{
    const int N = 20000;
    size_t bytes = 0, more = 0;
    void *room;
    cub::DeviceReduce::Sum(nullptr, bytes, x, y, N);
    cub::DeviceScan::ExclusiveSum(nullptr, more, x, y, N);
    if (more > bytes) bytes = more;
    cub::DeviceHistogram::HistogramEven(nullptr, more, x, y, 65, 0u, 16384u, N);
    if (more > bytes) bytes = more;
    cub::DeviceSelect::Flagged(nullptr, more, x, x, y, y + N, N);
    if (more > bytes) bytes = more;
    cudaMalloc(&room, bytes);
    cub::DeviceReduce::Sum(room, bytes, x, y, N);
    cub::DeviceScan::ExclusiveSum(room, bytes, x, y, N);
    cub::DeviceHistogram::HistogramEven(room, bytes, x, y, 65, 0u, 16384u, N);
    cub::DeviceSelect::Flagged(room, bytes, x, x, y, y + N, N);
    cudaDeviceSynchronize();
    cudaFree(room);
}
