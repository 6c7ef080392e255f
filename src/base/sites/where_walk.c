/* Return addresses by frame pointers, and where a program has none, by the descriptions of frames (where_frame.c), for
 * as many functions as it takes from a launch to its line. Nothing is read before it is known to lie in the stack of
 * the thread. */
#include "sites/where.h"
#include <pthread.h>
#include <unwind.h>

/* Some last walks of the thread, each with all words of the stack that it read. A call from the same place whose words
 * are the same has the same path: most programs make their calls in loops. */
enum {
    WALKS = 4,                    /* by a hash of the return address */
    WORDS = 2 * WHERE_FRAMES + 2, /* a step reads two at most, and the last one may lead nowhere */
};
struct walked {
    struct where_call from;
    const void *files; /* the list of modules then; NULL: nothing was walked yet */
    struct where_stack s;
    struct {
        u64 at, word;
    } read[WORDS];
    u32 n;                       /* of these */
    const char *function, *site; /* of where_site; NULL: it was not asked for */
    bool held;                   /* a walk writes it: one in a handler of a signal leaves it alone */
};

/* The thread's own, together: to find out where it is takes a call. */
static _Thread_local struct mine {
    u64 low, high; /* of its stack; high 0: not asked yet, 1: not known */
    struct walked walked[WALKS];
} mine;

static void stack_ask(struct mine *t)
{
    pthread_attr_t a;
    void *low;
    size_t bytes;
    t->high = 1;
    if (pthread_getattr_np(pthread_self(), &a)) return;
    if (!pthread_attr_getstack(&a, &low, &bytes)) {
        t->low = (uintptr_t)low;
        t->high = t->low + bytes;
    }
    pthread_attr_destroy(&a);
}

u64 where_stack_end(void) { return mine.high; }

static struct walked *walked_of(struct mine *t, const struct where_call *c)
{
    return &t->walked[(u32)c->address * 0x9e3779b1u >> 30];
}
_Static_assert(WALKS == 4, "two bits of the hash");

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

/* The call has the path of `l`: nothing has changed since. Its words lie in the stack above the caller's pointer: they
 * can be read. */
static bool walked_before(const struct walked *l, const struct where_call *c, const void *files)
{
    if (l->held || l->files != files || l->from.address != c->address || l->from.stack != c->stack ||
        l->from.frame != c->frame)
        return false;
    for (u32 k = 0; k < l->n; k++)
        if (word_at(l->read[k].at) != l->read[k].word) return false;
    return true;
}

static void path_copy(struct where_stack *s, const struct where_stack *from)
{
    s->n = from->n;
    for (u32 k = 0; k < s->n; k++) {
        s->address[k] = from->address[k];
        s->stack[k] = from->stack[k];
        s->frame[k] = from->frame[k];
        s->known[k] = from->known[k];
    }
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

static bool step_bare(struct walked *w, u64 address, u64 high, const struct outwards *now, struct outwards *next)
{
    struct where_bare b;
    if (!where_frame_bare(address, now->at, &b) || b.end <= now->at || b.end % 8 || b.end > high ||
        b.returns < now->at || b.returns + 8 > b.end || (b.frame && (b.frame < now->at || b.frame + 8 > b.end)))
        return false;
    next->record = b.end - 16;
    next->address = word_noted(w, b.returns);
    next->frame = b.frame ? word_noted(w, b.frame) : now->frame;
    next->at = b.end;
    return where_is_code(next->address);
}

static bool step_by_pointer(struct walked *w, u64 high, const struct outwards *now, struct outwards *next)
{
    u64 frame = now->frame;
    if (frame < now->at || frame % 8 || frame + 16 > high) return false;
    next->record = frame;
    next->address = unsigned_of(word_noted(w, frame + 8));
    next->frame = word_noted(w, frame);
    next->at = frame + 16;
    return where_is_code(next->address);
}

static void walk(struct walked *w, u64 high, const struct where_call *c, struct where_stack *s)
{
    enum { BARE = 4 }; /* frames by descriptions: paths through libraries would make a site of each */
    struct outwards now = { .at = c->stack, .frame = c->frame }, next;
    while (s->n < WHERE_FRAMES) {
        bool bare = s->n <= BARE && step_bare(w, s->address[s->n - 1], high, &now, &next);
        if (!bare && !step_by_pointer(w, high, &now, &next)) break;
        s->known[s->n - 1] = true;
        s->frame[s->n - 1] = next.record;
        s->address[s->n] = next.address;
        s->stack[s->n] = next.at;
        s->frame[s->n] = 0;
        s->known[s->n++] = false;
        now = next;
    }
}

/* The path, walked; w: where it is written down, or NULL. */
static void walk_new(const struct mine *t, struct walked *w, const void *files, const struct where_call *c,
                     struct where_stack *s)
{
    s->n = 1;
    s->address[0] = c->address;
    s->stack[0] = c->stack;
    s->frame[0] = 0;
    s->known[0] = false;
    if (c->stack < t->low || c->stack >= t->high) return; /* a coroutine, or a stack for signals */
    if (w) w->held = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (w) w->n = 0;
    walk(w, t->high, c, s);
    if (!w) return;
    w->from = *c;
    path_copy(&w->s, s);
    w->site = NULL;
    w->files = w->n <= WORDS ? files : NULL;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    w->held = false;
}

void where_walk(const struct where_call *c, struct where_stack *s)
{
    const void *files = where_modules_list();
    struct mine *t = &mine;
    struct walked *l = walked_of(t, c);
    if (!t->high) stack_ask(t);
    if (likely(files && walked_before(l, c, files)))
        path_copy(s, &l->s);
    else
        walk_new(t, l->held ? NULL : l, files, c, s);
}

/* If `l` still holds the walk of this call, that walk becomes the site's. */
static void site_keep(struct walked *l, const struct where_call *c, const struct where_stack *s, const char *function,
                      const char *site)
{
    if (l->held) return;
    l->held = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (l->files && l->from.address == c->address && l->from.stack == c->stack && l->s.n == s->n &&
        !memcmp(l->s.address, s->address, s->n * sizeof *s->address)) {
        l->function = function;
        l->site = site;
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    l->held = false;
}

const char *where_site_of(const char *function, const struct where_call *c)
{
    const void *files = where_modules_list();
    struct walked *l = walked_of(&mine, c);
    const char *site = l->function == function ? l->site : NULL;
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* a handler may write another walk, whose stack is another */
    if (likely(site && files && walked_before(l, c, files))) return site;
    struct where_stack s;
    if (!where_is_code(c->address)) where_modules_look(); /* a library that was loaded since */
    where_walk(c, &s);
    site = where_site(function, &s);
    site_keep(l, c, &s, function, site);
    return site;
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
