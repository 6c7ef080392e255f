// A ring of 2 slots whose indices lie in one struct: each side stores its own index only.
//! kernel ring_index
//! arg at u64[2] inout zeros
//! arg value i32[2] inout zeros
//! arg y i32[4] out once
//! launch grid=2 block=1
// regen: -arch=sm_90 -I../include
#include <lockstep_ring.cuh>
using namespace lk_ring;
struct indices { u64 placed, taken; };
extern "C" __global__ void ring_index(indices *at, int *value, int *y)
{
    for (int i = 0; i < 4; i++) {
        if (blockIdx.x == 0) {
            while (i - load_acquire<gpu>(&at->taken) == 2) {}
            value[i % 2] = 10 * i;
            store_release<gpu>(&at->placed, i + 1);
        } else {
            while (load_acquire<gpu>(&at->placed) == i) {}
            y[i] = value[i % 2];
            store_release<gpu>(&at->taken, i + 1);
        }
    }
}
