/* Return addresses by frame pointers. Nothing is read before it is known to lie in the stack of the thread. */
#include "where/where.h"
#include <pthread.h>

static _Thread_local u64 stack_low, stack_high; /* of the thread; high 0: not asked yet, 1: not known */

static void stack_ask(void)
{
    pthread_attr_t a;
    void *low;
    size_t bytes;
    stack_high = 1;
    if (pthread_getattr_np(pthread_self(), &a)) return;
    if (!pthread_attr_getstack(&a, &low, &bytes)) {
        stack_low = (uintptr_t)low;
        stack_high = stack_low + bytes;
    }
    pthread_attr_destroy(&a);
}

static u64 word_at(u64 address)
{
    u64 x;
    memcpy(&x, (const void *)(uintptr_t)address, sizeof x);
    return x;
}

void where_walk(const struct where_call *c, struct where_stack *s)
{
    if (!stack_high) stack_ask();
    s->n = 1;
    s->address[0] = c->address;
    s->stack[0] = c->stack;
    s->known[0] = false;
    u64 at = c->stack, frame = c->frame;
    if (at < stack_low || at >= stack_high) return; /* a coroutine, or a stack for signals */
    while (s->n < WHERE_FRAMES) {
        if (frame < at || frame % 8 || frame + 16 > stack_high) break;
        u64 address = word_at(frame + 8);
        if (!where_is_code(address)) break;
        s->known[s->n - 1] = true;
        at = frame + 16;
        s->address[s->n] = address;
        s->stack[s->n] = at;
        s->known[s->n++] = false;
        frame = word_at(frame);
    }
}
