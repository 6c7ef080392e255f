// regen: no
// Adds two vectors of as many elements as the message says, and does not look how long the message is.
#include <lockstep_ring.cuh>
LK_RING_RAW_ACTOR(adder)
{
    const unsigned *w = (const unsigned *)c.data();
    unsigned n = w[0];
    const float *a = (const float *)(w + 1), *b = a + n;
    float *sum = (float *)c.respond(2, 4 * n);
    for (unsigned i = c.thread(); i < n; i += c.threads()) sum[i] = a[i] + b[i];
}
LK_RING_KERNEL(sums, lk_ring::block, adder)
