// A ring of 1 slot from block 0 to block 1: the consumer reads the message, then says that it has taken it.
//! kernel ring_free
//! arg words u64[2] inout zeros
//! arg value i32[1] inout zeros
//! arg y i32[4] out once
//! launch grid=2 block=1
// regen: -arch=sm_90 -I../include
#include <lockstep_ring.cuh>
using namespace lk_ring;
extern "C" __global__ void ring_free(u64 *words, int *value, int *y)
{
    u64 *ready = &words[0], *taken = &words[1];
    for (int i = 0; i < 4; i++) {
        if (blockIdx.x == 0) {
            while (load_acquire<gpu>(taken) != i) {}
            *value = 10 * i;
            store_release<gpu>(ready, i + 1);
        } else {
            while (load_acquire<gpu>(ready) != i + 1) {}
            y[i] = *value;
            store_release<gpu>(taken, i + 1);
        }
    }
}
