// regen: no
// Programs over thrust and CUB, with the shared runtime. The bad ones give the library what is not theirs.
#include "programs.h"
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda_runtime.h>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

struct scramble { __host__ __device__ int operator()(int i) const { return (int)((unsigned)i * 2654435761u >> 16); } };

static int sort_ok()
{
    thrust::device_vector<int> x(3000);
    thrust::sequence(x.begin(), x.end());
    thrust::transform(x.begin(), x.end(), x.begin(), scramble());
    thrust::host_vector<int> h = x;
    thrust::sort(x.begin(), x.end());
    thrust::sort(h.begin(), h.end());
    thrust::host_vector<int> y = x;
    printf("%s\n", y == h ? "sorted" : "wrong");
    return y != h;
}
static int scan_ok()
{
    thrust::device_vector<int> x(5000, 1), y(5000);
    thrust::inclusive_scan(x.begin(), x.end(), y.begin());
    printf("%d %d\n", (int)y[4999], thrust::reduce(x.begin(), x.end()));
    return 0;
}
static int sum(bool right, int n)
{
    int *x, *y, h = 0;
    size_t bytes = 0;
    void *temp = NULL;
    TRY(cudaMalloc(&x, 4 * n)); TRY(cudaMalloc(&y, 4)); TRY(cudaMemset(x, 0, 4 * n));
    TRY(cub::DeviceReduce::Sum(NULL, bytes, x, y, n));
    TRY(cudaMalloc(&temp, bytes));
    TRY(cub::DeviceReduce::Sum(temp, bytes, x, y, right ? n : n + 1));
    TRY(cudaMemcpy(&h, y, 4, cudaMemcpyDeviceToHost));
    if (right) printf("%d\n", h);
    TRY(cudaFree(x)); TRY(cudaFree(y)); TRY(cudaFree(temp));
    return 0;
}
static int reduce_ok() { return sum(true, 100); }
static int reduce_bad() { return sum(false, 128); }

#define ONE(name) { #name, name }
PROGRAMS(ONE(sort_ok), ONE(scan_ok), ONE(reduce_ok), ONE(reduce_bad))
