// regen: -arch=sm_90 -I../../include
// Actors that send to each other, for the validation suite. Every thread of a unit reads the whole of every message, and the answer has a sum of each thread: what one lane has
// acquired for the others and they may not read yet is a race, or a wrong sum.
#include <lockstep_ring.cuh>
#include "mail.h"

enum { WORDS = 33, MOST_UNITS = 16, TOKENS = 64 };
// What a unit sends, or lends: two places for each token, in turn. One is written again when the token has come round, so that its reader has sent it on.
__device__ unsigned lent[MOST_UNITS][TOKENS][2][sizeof(run) / 4];
// Of the collector: the last number that it has seen of each sender. Of each runner: the last that it has given to one.
__device__ unsigned last_seen[MOST_UNITS], last_given[MOST_UNITS];

// Another sum in every thread, in an order of its own.
template <class T> __device__ unsigned sum_of(const T &m, unsigned thread)
{
    unsigned sum = 0;
#pragma unroll 1
    for (unsigned i = 0; i < WORDS; i++) sum += m.word[(i + thread) % WORDS] * (i + thread + 1);
    return sum;
}

// Some threads come late to the message, each time others.
__device__ void linger(unsigned ns, unsigned thread, unsigned number)
{
    if (ns && (thread * 7 + number * 5) % 11 == 0) __nanosleep(ns);
}

// What every answer begins with; then the sum of each thread.
struct seen { unsigned token, hop, from, ok; };
__device__ void answer(lk_ring::call &c, unsigned token, unsigned hop, unsigned ok, unsigned sum)
{
    seen *out = (seen *)c.respond(LK_RING_USER, (unsigned)sizeof *out + 4 * c.threads());
    if (!out) return;
    if (c.first()) *out = { token, hop, c.from(), ok };
    ((unsigned *)(out + 1))[c.thread()] = sum;
}

// Hands the message on to the unit `step` further, each word changed, now as a copy and now by reference; the last hop goes to the collector, where there is one.
LK_RING_RAW_ACTOR(runner)
{
    if (c.type() != run_number) return c.fail(LK_RING_WRONG_TYPE);
    const run &in = *(const run *)c.data();
    linger(in.delay, c.thread(), in.hop);
    unsigned sum = sum_of(in, c.thread()), ok = 1, token = in.token, hop = in.hop;
    bool last = hop == in.hops; // once it is sent, nothing of what was lent may be read: its owner may write there
    if (!last || in.collector) {
        run *next = (run *)lent[c.number % MOST_UNITS][token % TOKENS][hop % 2];
        part *end = (part *)next;
        if (c.first() && last) *end = { token, ++last_given[c.number % MOST_UNITS] };
        if (c.first() && !last) *next = { token, hop + 1, in.hops, in.step, in.units, in.delay, in.collector };
        c.sync();
        unsigned *word = last ? end->word : next->word;
#pragma unroll 1
        for (unsigned i = c.thread(); i < WORDS; i += c.threads()) word[i] = in.word[i] * 3 + i;
        ok = lk_ring::deliver(c, last ? in.collector : (c.number + in.step) % in.units, last ? part_number : run_number, next, last ? sizeof *end : sizeof *next,
                              LK_RING_DONE, !last && hop % 3 == 2);
    }
    answer(c, token, hop, ok, sum);
}

// What it gets goes to all that hear topic 0.
LK_RING_RAW_ACTOR(herald)
{
    if (c.type() != run_number) return c.fail(LK_RING_WRONG_TYPE);
    const run &in = *(const run *)c.data();
    unsigned got = c.publish(0, run_number, &in, sizeof in);
    answer(c, in.token, in.hop, got, sum_of(in, c.thread()));
}

// Numbers of one sender come one after the other.
LK_RING_RAW_ACTOR(collector)
{
    if (c.type() != part_number) return c.fail(LK_RING_WRONG_TYPE);
    const part &in = *(const part *)c.data();
    unsigned sum = sum_of(in, c.thread()), from = c.from() % MOST_UNITS, ok = 0;
    if (c.first()) {
        ok = in.serial == last_seen[from] + 1;
        last_seen[from] = in.serial;
    }
    answer(c, in.token, in.serial, ok, sum);
}

LK_RING_KERNEL(mail, lk_ring::block, runner, herald, collector)
LK_RING_KERNEL(mail_warp, lk_ring::warp, runner, herald, collector)
