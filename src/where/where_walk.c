/* Return addresses by frame pointers, and where a program has none, by the descriptions of frames (where_frame.c), for
 * as many functions as it takes from a launch to its line. Nothing is read before it is known to lie in the stack of
 * the thread. */
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

/* Out of a function: the frame that it has, from `at` on, by its description or by the frame pointer, and where the
 * call returns to. false: neither leads on. */
struct outwards {
    u64 record; /* the frame pointer, or where it would point to */
    u64 address, at, frame;
};

static bool step_bare(u64 address, const struct outwards *now, struct outwards *next)
{
    struct where_bare b;
    if (!where_frame_bare(address, now->at, &b) || b.end <= now->at || b.end % 8 || b.end > stack_high ||
        b.returns < now->at || b.returns + 8 > b.end || (b.frame && (b.frame < now->at || b.frame + 8 > b.end)))
        return false;
    next->record = b.end - 16;
    next->address = word_at(b.returns);
    next->frame = b.frame ? word_at(b.frame) : now->frame;
    next->at = b.end;
    return where_is_code(next->address);
}

static bool step_by_pointer(const struct outwards *now, struct outwards *next)
{
    u64 frame = now->frame;
    if (frame < now->at || frame % 8 || frame + 16 > stack_high) return false;
    next->record = frame;
    next->address = unsigned_of(word_at(frame + 8));
    next->frame = word_at(frame);
    next->at = frame + 16;
    return where_is_code(next->address);
}

void where_walk(const struct where_call *c, struct where_stack *s)
{
    enum { BARE = 4 }; /* frames by descriptions: paths through libraries would make a site of each */
    if (!stack_high) stack_ask();
    s->n = 1;
    s->address[0] = c->address;
    s->stack[0] = c->stack;
    s->known[0] = false;
    struct outwards now = { .at = c->stack, .frame = c->frame }, next;
    if (now.at < stack_low || now.at >= stack_high) return; /* a coroutine, or a stack for signals */
    while (s->n < WHERE_FRAMES) {
        bool bare = s->n <= BARE && step_bare(s->address[s->n - 1], &now, &next);
        if (!bare && !step_by_pointer(&now, &next)) break;
        s->known[s->n - 1] = true;
        s->frame[s->n - 1] = next.record;
        s->address[s->n] = next.address;
        s->stack[s->n] = next.at;
        s->known[s->n++] = false;
        now = next;
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
