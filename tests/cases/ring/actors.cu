// regen: -arch=sm_90 -I../../../include
// Actors that hand on, publish, leave, trap and get stuck: what tests/unit/test_ring.c tries.
#include <lockstep_ring.cuh>
#include "actors.h"

// One more hop; a route takes the response to the next actor or to the host.
LK_RING_ACTOR(relay, number, number)
{
    if (!c.first()) return;
    out.value = in.value;
    out.hops = in.hops + 1;
}

// Doubles, so that a test sees who was last.
LK_RING_ACTOR(twice, number, number)
{
    if (!c.first()) return;
    out.value = 2 * in.value;
    out.hops = in.hops + 1;
}

// Sends what it gets to everybody who hears topic 0, and tells the host how many that were.
LK_RING_ACTOR(herald, number, number)
{
    unsigned got = c.publish(0, number_number, &in, sizeof in);
    if (!c.first()) return;
    out.value = got;
    out.hops = in.hops;
}

// Ends by itself behind its first message.
LK_RING_ACTOR(leaver, number, number)
{
    c.leave();
    if (!c.first()) return;
    out = in;
}

// 13 is refused, 666 is the end of the kernel.
LK_RING_ACTOR(touchy, number, number)
{
    if (in.value == 666) asm volatile("trap;");
    if (in.value == 13) return c.fail(LK_RING_USER + 4);
    if (c.first()) out = in;
}

// The first warp comes back, the others wait until the ring ends. (Lanes of one warp may not come back before the others do.)
LK_RING_ACTOR(sticky, number, number)
{
    if (c.first()) out = in;
    else if (c.thread() >= 32)
        while ((lk_ring::load_acquire<lk_ring::sys>(&c.head->command.value) & 255) != LK_RING_STOP) {}
}

// Fills memory of its own, another part each time, and lends it: to one unit (hops), or to all that hear topic 0. Says how many got it.
__device__ unsigned lent_all[8][1024];
LK_RING_ACTOR(lender, number, number)
{
    unsigned *lent = lent_all[in.value % 8];
    for (unsigned i = c.thread(); i < 1024; i += c.threads()) lent[i] = in.value + i;
    unsigned got = in.hops == 99 ? c.publish_reference(0, loan_number, lent, 4096) : c.send_reference(in.hops, loan_number, lent, 4096);
    if (!c.first()) return;
    out.value = got;
    out.hops = 0;
}

// Adds up what it was lent, or what lies in the message.
LK_RING_RAW_ACTOR(adder)
{
    if (c.type() != loan_number) return c.fail(LK_RING_WRONG_TYPE);
    const unsigned *v = (const unsigned *)c.data();
    number *out = (number *)c.respond(number_number, sizeof *out);
    if (!c.first()) return;
    unsigned sum = 0;
    for (unsigned i = 0; i < c.bytes() / 4; i++) sum += v[i];
    out->value = sum;
    out->hops = c.from() == LK_RING_HOST ? 0 : 1;
}

LK_RING_KERNEL(zoo, lk_ring::block, relay, twice, herald, leaver, touchy, sticky, lender, adder)
