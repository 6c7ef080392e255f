// The kernel of ring_layout_bad.c and ring_layout_ok.c: its message has 128 bytes.
// regen: -arch=sm_90 -I../include
#include <lockstep_ring.cuh>
#define READING(F, A, S) F(S, unsigned long long, time) A(S, float, value, 30)
LK_RING_MESSAGE(reading, 1, READING)
LK_RING_ACTOR(keep, reading, reading)
{
    if (c.first()) out = in;
}
LK_RING_KERNEL(readings, lk_ring::block, keep)
