// regen: -arch=sm_90 -I../../include
// The actors of the validation suite.
#include <lockstep_ring.cuh>
#include "vectors.h"

// a + b, elementwise: all threads of the unit share the work.
LK_RING_RAW_ACTOR(add)
{
    if (c.type() != vector_pair_number) return c.fail(LK_RING_WRONG_TYPE);
    const vector_pair *in = (const vector_pair *)c.data();
    unsigned n = in->count;
    if (c.bytes() != sizeof *in + 8ull * n) return c.fail(LK_RING_TOO_SHORT);
    const float *a = (const float *)(in + 1), *b = a + n;
    float *sum = (float *)c.respond(vector_pair_number, 4 * n);
    if (!sum) return;
    for (unsigned i = c.thread(); i < n; i += c.threads()) sum[i] = a[i] + b[i];
}

// A typed actor: mirrors a point, and moves the tags by one.
LK_RING_ACTOR(mirror, point, point)
{
    if (!c.first()) return;
    out.x = -in.x;
    out.y = -in.y;
    for (int i = 0; i < 6; i++) out.tag[i] = in.tag[i] + 1;
}

LK_RING_KERNEL(vectors, lk_ring::block, add, mirror)
LK_RING_KERNEL(vectors_warp, lk_ring::warp, add, mirror)

// The sum as a launch of its own, for comparison: `in` is a message of `add`.
extern "C" __global__ void add_once(const vector_pair *in, float *sum)
{
    unsigned n = in->count;
    const float *a = (const float *)(in + 1);
    for (unsigned i = threadIdx.x; i <= n; i += blockDim.x) sum[i] = i < n ? a[i] + a[n + i] : 0;
}
