// grid.sync() in an ordinary launch.
#include <cooperative_groups.h>
//! kernel grid_sync_plain
//! dim blocks = 4
//! arg x i32[blocks * 32] inout zeros
//! arg y i32[blocks * 32] inout zeros
//! launch grid=blocks block=32
extern "C" __global__ void grid_sync_plain(int *x, int *y)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    x[grid.thread_rank()] = 1;
    grid.sync();
    y[grid.thread_rank()] = x[grid.size() - 1 - grid.thread_rank()];
}
