/* Return addresses by frame pointers. Nothing is read before it is known to lie in the stack of the thread. */
#include "where/where.h"
#include <pthread.h>
#include <unwind.h>

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

u64 where_stack_end(void) { return stack_high; }

static u64 word_at(u64 address)
{
    u64 x;
    memcpy(&x, (const void *)(uintptr_t)address, sizeof x);
    return x;
}

/* A return address without the signature that arm64 with pointer authentication keeps in its upper bits. */
static u64 unsigned_of(u64 address)
{
#if defined __aarch64__
    return address & 0xffffffffffffu;
#else
    return address;
#endif
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
        u64 address = unsigned_of(word_at(frame + 8));
        if (!where_is_code(address)) break;
        s->known[s->n - 1] = true;
        s->frame[s->n - 1] = frame;
        at = frame + 16;
        s->address[s->n] = address;
        s->stack[s->n] = at;
        s->known[s->n++] = false;
        frame = word_at(frame);
    }
}

/* ---- of another thread, and where a signal came ---- */

bool where_words(u64 address, u64 out[2]) { return pages_copy(out, address, 16); }

void where_walk_other(const struct where_call *c, struct where_stack *s)
{
    enum { FRAME_MOST = 1 << 20 };
    s->n = 1;
    s->address[0] = c->address;
    s->stack[0] = c->stack;
    s->known[0] = false;
    u64 at = c->stack, frame = c->frame, word[2];
    while (s->n < WHERE_FRAMES) {
        if (frame < at || frame - at > FRAME_MOST || frame % 8 || !where_words(frame, word)) break;
        word[1] = unsigned_of(word[1]);
        if (!where_is_code(word[1])) break;
        at = frame + 16;
        s->address[s->n] = word[1];
        s->stack[s->n] = at;
        s->known[s->n++] = false;
        frame = word[0];
    }
}

struct unwinding {
    u64 code; /* of the instruction that the signal came at */
    struct where_stack *s;
};
static _Unwind_Reason_Code frame_take(struct _Unwind_Context *c, void *self)
{
    struct unwinding *u = self;
    int at_instruction = 0;
    u64 address = _Unwind_GetIPInfo(c, &at_instruction);
    struct where_stack *s = u->s;
    if (!s->n && address != u->code) return _URC_NO_REASON; /* the handler's own frames */
    if (s->n == WHERE_FRAMES || !address) return _URC_END_OF_STACK;
    s->address[s->n] = address + (at_instruction ? 1 : 0); /* as if it were a return address */
    s->stack[s->n] = 0;
    s->known[s->n++] = false;
    return _URC_NO_REASON;
}

bool where_unwind(u64 code, struct where_stack *s)
{
    struct unwinding u = { code, s };
    s->n = 0;
    _Unwind_Backtrace(frame_take, &u);
    return s->n != 0;
}
