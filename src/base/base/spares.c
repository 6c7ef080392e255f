/* Blocks of one size that one thread takes and another gives back.
 *
 * malloc keeps what a thread frees for that thread: where one enqueues and another one runs, each block goes through
 * the lock of its arena, at which the two meet. Here those given back are a list that the taker claims as a whole, with
 * one exchange, and then takes from without meeting anybody. Nobody follows a link that another thread may change: a
 * list is exchanged, or pushed to. */
#include "base/base.h"

enum { MOST = 1024 }; /* that are kept; about: givers may count past it */

struct spare {
    struct spare *next;
};

void *spares_take(struct spares *s, size_t bytes)
{
    struct spare *b = __atomic_exchange_n(&s->mine, NULL, __ATOMIC_ACQUIRE);
    if (!b && __atomic_load_n(&s->back, __ATOMIC_RELAXED)) {
        b = __atomic_exchange_n(&s->back, NULL, __ATOMIC_ACQUIRE);
        __atomic_store_n(&s->n, 0, __ATOMIC_RELAXED);
    }
    if (!b) return base_alloc(bytes);
    struct spare *rest = b->next;
    prefetch_for_writing(rest, bytes);
    if (rest) rest = __atomic_exchange_n(&s->mine, rest, __ATOMIC_ACQ_REL);
    while (rest) { /* of another taker, who has put it there meanwhile */
        struct spare *next = rest->next;
        spares_give(s, rest);
        rest = next;
    }
    return b;
}

void spares_give(struct spares *s, void *block)
{
    struct spare *b = block;
    if (!b) return;
    if (__atomic_fetch_add(&s->n, 1, __ATOMIC_RELAXED) >= MOST) {
        base_free(b);
        return;
    }
    b->next = __atomic_load_n(&s->back, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&s->back, &b->next, b, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {}
}

static void free_list(struct spare *b)
{
    while (b) {
        struct spare *next = b->next;
        base_free(b);
        b = next;
    }
}

void spares_free(struct spares *s)
{
    free_list(s->mine);
    free_list(s->back);
    *s = (struct spares){ 0 };
}
