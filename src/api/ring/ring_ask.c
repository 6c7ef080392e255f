/* Asks: a message is sent and its response waited for, by any number of threads at once.
 *
 * One of the threads that wait receives for all: it hands what is not its own to whoever asked, by the number of the
 * message, and the next one takes its place when it has its own. A response that nobody waits for any more, since its
 * ask has given up, is dropped. */
#include "ring/ring.h"
#include <inttypes.h>

enum { PAUSE_US = 50 };

struct ring_ask { /* of a thread that waits; in its stack */
    u64 id;
    bool done;
    lk_ring_message response;
    u8 *data; /* its payload, from base_alloc; NULL: none */
    struct ring_ask *next;
};

static void ask_add(lk_ring *r, struct ring_ask *a)
{
    lock(&r->ask_lock);
    a->next = r->asks;
    r->asks = a;
    unlock(&r->ask_lock);
}

static void ask_remove(lk_ring *r, const struct ring_ask *a)
{
    lock(&r->ask_lock);
    struct ring_ask **at = &r->asks;
    while (*at && *at != a) at = &(*at)->next;
    if (*at) *at = a->next;
    unlock(&r->ask_lock);
}

/* Whether this thread becomes the receiver for all asks; *done: another one has received its response. */
static bool ask_turn(lk_ring *r, const struct ring_ask *a, bool *done)
{
    lock(&r->ask_lock);
    bool mine = !a->done && !r->ask_receives;
    if (mine) r->ask_receives = true;
    *done = a->done;
    unlock(&r->ask_lock);
    return mine;
}

/* Gives what was received to its ask. */
static void ask_give(lk_ring *r, const lk_ring_message *m)
{
    lock(&r->ask_lock);
    struct ring_ask *a = r->asks;
    while (a && a->id != m->id) a = a->next;
    if (a && !a->done) {
        a->response = *m;
        a->data = m->bytes ? base_alloc(m->bytes) : NULL;
        if (a->data) memcpy(a->data, m->data, m->bytes);
        a->done = true;
    }
    unlock(&r->ask_lock);
}

/* Receives for all until its own response is there. */
static lk_status ask_receive(lk_ring *r, const struct ring_ask *a, lk_ring_message *response, double seconds)
{
    u64 from = time_ns();
    lk_status s;
    do {
        double left = seconds < 0 ? seconds : MAX_OF(seconds - (double)(time_ns() - from) / 1e9, 0.0);
        s = lk_ring_receive(r, response, left);
        if (s == LK_OK && response->id != a->id) ask_give(r, response);
    } while (s == LK_OK && response->id != a->id);
    lock(&r->ask_lock);
    r->ask_receives = false;
    unlock(&r->ask_lock);
    return s;
}

/* The response that another thread has received, as if this one had. */
static lk_status ask_taken(lk_ring *r, struct ring_ask *a, lk_ring_message *response)
{
    u8 *to = a->data ? ring_received_room(a->response.bytes) : NULL;
    bool lacks = a->response.bytes && !to;
    *response = a->response;
    response->data = to;
    if (to) memcpy(to, a->data, a->response.bytes);
    base_free(a->data);
    return lacks ? ring_fail(r, LK_OUT_OF_MEMORY, "ask: no memory for a response of %u bytes", a->response.bytes)
                 : LK_OK;
}

lk_status lk_ring_ask(lk_ring *r, lk_ring_message *m, lk_ring_message *response, double seconds)
{
    u64 from = time_ns();
    bool done = false;
    if (!r || !m || !response || response->size != sizeof *response)
        return ring_fail(r, LK_BAD_INPUT,
                         "ask needs a ring, a message, and a place for the response with its size set");
    if (!m->id) m->id = __atomic_add_fetch(&r->next_id, 1, __ATOMIC_RELAXED);
    struct ring_ask a = { .id = m->id };
    ask_add(r, &a);
    lk_status s = lk_ring_send(r, m, seconds);
    while (s == LK_OK && !done) {
        double left = seconds < 0 ? seconds : MAX_OF(seconds - (double)(time_ns() - from) / 1e9, 0.0);
        if (ask_turn(r, &a, &done)) {
            s = ask_receive(r, &a, response, left);
            break;
        }
        if (!done && left == 0.0)
            s = ring_fail(r, LK_NOT_READY, "ask: no response to message %" PRIu64 " in time", a.id);
        else if (!done)
            thread_sleep_us(PAUSE_US);
    }
    ask_remove(r, &a);
    if (done && s == LK_OK) return ask_taken(r, &a, response);
    base_free(a.data);
    return s;
}
