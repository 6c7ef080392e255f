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

/* The last walk of the thread, with all words of the stack that it read. A call from the same place whose words are the
 * same has the same path: most programs make their calls in loops. */
enum { WORDS = 2 * WHERE_FRAMES + 2 }; /* a step reads two at most, and the last one may lead nowhere */
struct walked {
    struct where_call from;
    const void *files; /* the list of modules then; NULL: nothing was walked yet */
    struct where_stack s;
    struct {
        u64 at, word;
    } read[WORDS];
    u32 n;     /* of these */
    bool held; /* a walk writes it: one in a handler of a signal leaves it alone */
};
static _Thread_local struct walked last;

static u64 word_at(u64 address)
{
    u64 x;
    memcpy(&x, (const void *)(uintptr_t)address, sizeof x);
    return x;
}

/* The same, written down. */
static u64 word_noted(struct walked *w, u64 address)
{
    u64 x = word_at(address);
    if (w && w->n < WORDS) w->read[w->n].at = address, w->read[w->n].word = x;
    if (w) w->n++;
    return x;
}

/* The path of `l`, if nothing has changed since. Its words lie in the stack above the caller's pointer: they can be
 * read. */
static bool walked_before(const struct walked *l, const struct where_call *c, const void *files, struct where_stack *s)
{
    if (l->held || l->files != files || l->from.address != c->address || l->from.stack != c->stack ||
        l->from.frame != c->frame)
        return false;
    for (u32 k = 0; k < l->n; k++)
        if (word_at(l->read[k].at) != l->read[k].word) return false;
    s->n = l->s.n;
    for (u32 k = 0; k < s->n; k++) {
        s->address[k] = l->s.address[k];
        s->stack[k] = l->s.stack[k];
        s->frame[k] = l->s.frame[k];
        s->known[k] = l->s.known[k];
    }
    return true;
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

static bool step_bare(struct walked *w, u64 address, const struct outwards *now, struct outwards *next)
{
    struct where_bare b;
    if (!where_frame_bare(address, now->at, &b) || b.end <= now->at || b.end % 8 || b.end > stack_high ||
        b.returns < now->at || b.returns + 8 > b.end || (b.frame && (b.frame < now->at || b.frame + 8 > b.end)))
        return false;
    next->record = b.end - 16;
    next->address = word_noted(w, b.returns);
    next->frame = b.frame ? word_noted(w, b.frame) : now->frame;
    next->at = b.end;
    return where_is_code(next->address);
}

static bool step_by_pointer(struct walked *w, const struct outwards *now, struct outwards *next)
{
    u64 frame = now->frame;
    if (frame < now->at || frame % 8 || frame + 16 > stack_high) return false;
    next->record = frame;
    next->address = unsigned_of(word_noted(w, frame + 8));
    next->frame = word_noted(w, frame);
    next->at = frame + 16;
    return where_is_code(next->address);
}

static void walk(struct walked *w, const struct where_call *c, struct where_stack *s)
{
    enum { BARE = 4 }; /* frames by descriptions: paths through libraries would make a site of each */
    struct outwards now = { .at = c->stack, .frame = c->frame }, next;
    while (s->n < WHERE_FRAMES) {
        bool bare = s->n <= BARE && step_bare(w, s->address[s->n - 1], &now, &next);
        if (!bare && !step_by_pointer(w, &now, &next)) break;
        s->known[s->n - 1] = true;
        s->frame[s->n - 1] = next.record;
        s->address[s->n] = next.address;
        s->stack[s->n] = next.at;
        s->frame[s->n] = 0;
        s->known[s->n++] = false;
        now = next;
    }
}

void where_walk(const struct where_call *c, struct where_stack *s)
{
    const void *files = where_modules_list();
    struct walked *l = &last, *w = l->held ? NULL : l;
    if (!stack_high) stack_ask();
    if (likely(files && walked_before(l, c, files, s))) return;
    s->n = 1;
    s->address[0] = c->address;
    s->stack[0] = c->stack;
    s->frame[0] = 0;
    s->known[0] = false;
    if (c->stack < stack_low || c->stack >= stack_high) return; /* a coroutine, or a stack for signals */
    if (w) w->held = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (w) w->n = 0;
    walk(w, c, s);
    if (!w) return;
    w->from = *c;
    w->s = *s;
    w->files = w->n <= WORDS ? files : NULL;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    w->held = false;
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
