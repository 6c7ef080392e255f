// One producer and two consumers on a ring for one consumer: both may take the same message, and one says that it is done with a slot while the other reads it.
//! kernel ring_consumers
//! arg y i32[8] inout zeros
//! launch grid=3 block=1
// regen: -arch=sm_90 -I../include
#include <lockstep_ring.cuh>
using namespace lk_ring;
__device__ spsc<int, 2, gpu> ring;
__device__ unsigned gone;
extern "C" __global__ void ring_consumers(int *y)
{
    int v;
    if (blockIdx.x == 0) {
        for (int i = 0; i < 8; i++) while (!ring.put(i)) {}
    } else {
        for (int i = 0; i < 4; i++) {
            while (!ring.take(v)) {}
            y[v] = 1;
        }
    }
    __threadfence(); // the last block clears what is left in the cells
    if (atomicAdd(&gone, 1) != 2) return;
    __threadfence();
    for (int i = 0; i < sizeof ring / 4; i++) ((int *)&ring)[i] = 0;
    gone = 0;
}
