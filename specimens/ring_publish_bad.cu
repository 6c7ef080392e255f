// A ring of 4 slots from block 0 to block 1: the slot's word is stored before the value is there.
//! kernel ring_publish
//! arg ready u64[4] inout zeros
//! arg value i32[4] inout zeros
//! arg y i32[4] out once
//! launch grid=2 block=1
// regen: -arch=sm_90 -I../include
#include <lockstep_ring.cuh>
using namespace lk_ring;
extern "C" __global__ void ring_publish(u64 *ready, int *value, int *y)
{
    for (int i = 0; i < 4; i++) {
        if (blockIdx.x == 0) {
            store_release<gpu>(&ready[i], i + 1);
            value[i] = 10 * i;
        } else {
            while (load_acquire<gpu>(&ready[i]) != i + 1) {}
            y[i] = value[i];
        }
    }
}
