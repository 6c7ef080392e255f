// The same through cooperative groups: the driver gives a workspace in %envreg1 and %envreg2.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void grid_sync(int *a, int *sums)
{
    cg::grid_group grid = cg::this_grid();
    unsigned i = grid.thread_rank(), size = gridDim.x * blockDim.x;
    a[i] = i;
    grid.sync();
    int next = a[(i + 1) % size];
    grid.sync();
    a[i] = next * 2;
    grid.sync();
    if (threadIdx.x == 0) {
        int s = 0;
        for (unsigned k = 0; k < size; k++)
            s += a[k];
        sums[blockIdx.x] = s;
    }
}
