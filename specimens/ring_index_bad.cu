// A ring of 2 slots whose indices lie in one struct: each side reads it, changes its own index, and writes all of it back, with what it read of the other's.
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
            ulonglong2 whole = *(ulonglong2 *)at; // placed and taken
            whole.x++;
            __threadfence();
            *(ulonglong2 *)at = whole;
        } else {
            while (load_acquire<gpu>(&at->placed) == i) {}
            y[i] = value[i % 2];
            ulonglong2 whole = *(ulonglong2 *)at; // placed and taken
            whole.y++;
            __threadfence();
            *(ulonglong2 *)at = whole;
        }
    }
}
