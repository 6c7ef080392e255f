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

LK_RING_KERNEL(zoo, lk_ring::block, relay, twice, herald, leaver, touchy, sticky)
