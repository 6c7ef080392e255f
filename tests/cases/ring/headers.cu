// regen: no
#include <lockstep_ring.cuh>
#define SIDE(F, A, S) F(S, float, side)
LK_RING_MESSAGE(square, 1, SIDE)
#define AREA(F, A, S) F(S, float, value)
LK_RING_MESSAGE(area, 2, AREA)
LK_RING_ACTOR(measure, square, area) { if (c.first()) out.value = in.side * in.side; }
LK_RING_KERNEL(shapes, lk_ring::block, measure)
