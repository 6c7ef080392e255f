/* Messages: into an inbox, out of an outbox, and what becomes of those that do not arrive. */
#include "ring/ring.h"
#include <inttypes.h>

enum { HIGH_EVERY = 16 }; /* responses between two looks at how many the unit has placed */

lk_ring_letter ring_letter_of(const lk_ring *r, const u64 *line, u32 unit)
{
    lk_ring_letter l = { .id = ring_pair(line, LK_RING_W_ID), .unit = unit, .type = (u32)line[LK_RING_W_TYPE] };
    u32 bytes = (u32)line[LK_RING_W_BYTES], head[4];
    bool is_long = bytes & LK_RING_LONG;
    l.bytes = bytes & ~LK_RING_LONG;
    u64 reference = is_long ? ring_pair(line, LK_RING_W_IN) : 0;
    lock(&r->unit[unit].lock);
    for (const struct ring_block *b = r->unit[unit].used; reference && b; b = b->next)
        if (b->host && b->address == reference) memcpy(l.head, b->host, MIN_OF(sizeof l.head, l.bytes));
    unlock(&r->unit[unit].lock);
    if (reference) return l;
    for (u32 k = 0; k < 4; k++) head[k] = (u32)line[LK_RING_W_IN + (is_long ? 4 : 0) + k];
    memcpy(l.head, l.bytes > LK_RING_WORDY ? (const void *)(line + r->in_words) : head, MIN_OF(sizeof head, l.bytes));
    return l;
}

void ring_letter(lk_ring *r, lk_ring_letter l, enum ring_direction direction, const char *why)
{
    snprintf(l.why, sizeof l.why, "%s", why);
    snprintf(l.queue, sizeof l.queue, "%s", r->unit[l.unit].queue[direction]);
    lock(&r->lock);
    u32 most = r->options.letters;
    if (r->letter_count == most) {
        r->letter_first = (r->letter_first + 1) % most;
        r->letter_count--;
        r->letters_lost++;
    }
    r->letter[(r->letter_first + r->letter_count++) % most] = l;
    unlock(&r->lock);
}

lk_status lk_ring_letter_take(lk_ring *r, lk_ring_letter *letter)
{
    if (!r || !letter) return ring_fail(r, LK_BAD_INPUT, "lk_ring_letter_take needs a ring and a place for the letter");
    lock(&r->lock);
    bool has = r->letter_count;
    if (has) {
        *letter = r->letter[r->letter_first];
        r->letter_first = (r->letter_first + 1) % r->options.letters;
        r->letter_count--;
    }
    unlock(&r->lock);
    return has ? LK_OK : ring_fail(r, LK_NOTHING, "there are no dead letters");
}

/* ---- payloads that are not inline ---- */

static void give_block(lk_ring *r, struct ring_block *b)
{
    lock(&r->lock);
    b->next = r->free;
    r->free = b;
    unlock(&r->lock);
}

/* Under the unit's lock: the first block that `fits` says yes to leaves the list of those in use. */
static void release_blocks(lk_ring *r, struct ring_host_unit *u, u64 room, u64 below)
{
    for (struct ring_block **link = &u->used; *link;) {
        struct ring_block *b = *link;
        if (room ? b->address > room || room >= b->address + b->bytes : b->index >= below) {
            link = &b->next;
            continue;
        }
        *link = b->next;
        if (u->used_end == &b->next) u->used_end = link;
        give_block(r, b);
        if (room) return;
    }
}

/* Blocks whose messages are done with and whose responses, if any, have been received: all that was placed before the
 * unit's word is read is in `placed`, since the unit writes that first. */
static void reclaim(lk_ring *r, struct ring_host_unit *u)
{
    u64 taken = ring_load(&u->inbox_taken->value);
    if (ring_load(&u->status->placed) == u->taken) release_blocks(r, u, 0, taken);
}

/* A block of at least so many bytes, its size a power of two, so that later messages find one; exact: of so many. */
static struct ring_block *take_block(lk_ring *r, u64 bytes, bool exact)
{
    u64 size = exact ? bytes : 4096;
    while (size < bytes) size *= 2;
    lock(&r->lock);
    for (struct ring_block **link = &r->free; *link; link = &(*link)->next)
        if ((*link)->bytes == size && !(*link)->host == !exact) {
            struct ring_block *b = *link;
            *link = b->next;
            unlock(&r->lock);
            b->next = NULL;
            return b;
        }
    unlock(&r->lock);
    struct ring_block *b = base_alloc(sizeof *b);
    if (!b) return NULL;
    b->bytes = size;
    b->host = NULL;
    char name[64] = "ring payload";
    if (exact) snprintf(name, sizeof name, "the message's payload of %u bytes", (u32)size);
    if (lk_memory_alloc(r->gpu, size, exact ? LK_MEMORY_PINNED : LK_MEMORY_DEVICE, name, &b->address) != LK_OK ||
        (exact && lk_memory_host(r->gpu, b->address, &b->host) != LK_OK)) {
        base_free(b);
        return NULL;
    }
    __atomic_fetch_add(&r->block_bytes, size, __ATOMIC_RELAXED);
    return b;
}

static bool copy_done(lk_ring *r, lk_status s) { return s == LK_OK && lk_stream_synchronise(r->copies) == LK_OK; }

/* ---- sending ---- */

/* Under the unit's lock. */
static bool has_room(lk_ring *r, struct ring_host_unit *u)
{
    if (u->placed - u->taken_seen < r->options.inbox_slots) return true;
    u->taken_seen = ring_load(&u->inbox_taken->value);
    return u->placed - u->taken_seen < r->options.inbox_slots;
}

static lk_status check_payload(lk_ring *r, const lk_ring_message *m)
{
    if (m->size != sizeof *m)
        return ring_fail(r, LK_BAD_INPUT, "lk_ring_message.size is %zu, not %zu", m->size, sizeof *m);
    if (m->bytes && !m->data) return ring_fail(r, LK_BAD_INPUT, "send: %u bytes, and data is NULL", m->bytes);
    if (m->bytes && !bytes_readable(m->data, m->bytes))
        return ring_fail(r, LK_BAD_INPUT,
                         "send: message.bytes is %u, and only %" PRIu64 " bytes can be read at message.data", m->bytes,
                         pages_there(m->data, m->bytes, false));
    return LK_OK;
}

static lk_status check_message(lk_ring *r, const lk_ring_message *m)
{
    u32 state = ring_state(r);
    lk_status s = check_payload(r, m);
    if (s != LK_OK) return s;
    if (state == LK_RING_DEAD) return ring_fail(r, LK_FINDINGS, "send: %s", r->died);
    if (state != LK_RING_LAUNCHED && state != LK_RING_ACTIVE && state != LK_RING_INACTIVE)
        return ring_fail(r, LK_BAD_INPUT, "send: the ring is %s", lk_ring_state_name(state));
    if (m->unit >= r->units)
        return ring_fail(r, LK_BAD_INPUT, "send: there is no unit %u; the ring has %u", m->unit, r->units);
    if (ring_load(&r->unit[m->unit].status->left))
        return ring_fail(r, LK_BAD_INPUT,
                         "send: unit %s has left by itself after %" PRIu64 " messages; %" PRIu64 " wait in its inbox",
                         r->unit[m->unit].name, ring_done(r, m->unit),
                         ring_placed(&r->unit[m->unit]) - (u64)ring_load(&r->unit[m->unit].inbox_taken->value));
    return LK_OK;
}

/* On the software GPU the payload of an actor without types is memory of its own, as long as the message says, so that
 * a read past its end is found. Every eighth message goes the way of all on a real GPU, which is checked as well. */
static bool has_bounds(const lk_ring *r, const struct ring_host_unit *u, const lk_ring_message *m)
{
    enum { MOST = 1 << 26 }; /* bytes of blocks: one is used again for payloads of the same length only */
    return r->bounds && m->bytes && u->placed % 8 != 7 && !strcmp(r->actor[u->actor].type[0], "any") &&
           __atomic_load_n(&r->block_bytes, __ATOMIC_RELAXED) + m->bytes <= MOST;
}

static void use_block(struct ring_host_unit *u, struct ring_block *b)
{
    b->index = u->placed;
    *u->used_end = b;
    u->used_end = &b->next;
}

/* A block for the payload, where that is not inline, and for the response; both addresses into `w`. exact: the payload
 * has one of its own. */
static lk_status place_block(lk_ring *r, struct ring_host_unit *u, const lk_ring_message *m, u32 room, bool exact,
                             u32 *w)
{
    bool by_reference = m->bytes > r->options.inline_bytes && !exact;
    u64 at = by_reference ? ((u64)m->bytes + 255) / 256 * 256 : 0;
    reclaim(r, u);
    struct ring_block *own = exact ? take_block(r, m->bytes, true) : NULL;
    struct ring_block *b = (own || !exact) && at + room ? take_block(r, at + room, false) : NULL;
    if ((exact && !own) || (at + room && !b)) {
        if (own) give_block(r, own);
        return ring_fail(r, LK_OUT_OF_MEMORY, "send: no device memory for a payload of %u bytes: %s", m->bytes,
                         lk_gpu_error(r->gpu));
    }
    if (by_reference && !copy_done(r, lk_memory_write_async(r->copies, b->address, m->data, m->bytes))) {
        give_block(r, b);
        return ring_fail(r, LK_BAD_INPUT, "send: the copy of the payload: %s", lk_gpu_error(r->gpu));
    }
    if (own) {
        memcpy(own->host, m->data, m->bytes);
        use_block(u, own);
    }
    if (b) use_block(u, b);
    u64 reference = own ? own->address : by_reference ? b->address : 0, there = b ? b->address + at : 0;
    w[LK_RING_W_IN] = (u32)reference;
    w[LK_RING_W_IN + 1] = (u32)(reference >> 32);
    w[LK_RING_W_IN + 2] = (u32)there;
    w[LK_RING_W_IN + 3] = (u32)(there >> 32);
    w[LK_RING_W_ROOM_BYTES] = room;
    return LK_OK;
}

/* Under the unit's lock, with room in the inbox: the payload, then the words, the first one last. */
static lk_status place_message(lk_ring *r, struct ring_host_unit *u, lk_ring_message *m, u64 now)
{
    u64 *line = ring_in(r, u, u->placed), flag = (u->placed + 1) << 32;
    u32 w[LK_RING_MOST_WORDS] = { 0 }, room = m->room_bytes ? m->room_bytes : m->bytes, count = LK_RING_IN_WORDS;
    bool exact = has_bounds(r, u, m), is_inline = m->bytes <= r->options.inline_bytes && !exact,
         in_words = is_inline && m->bytes <= LK_RING_WORDY,
         roomy = m->bytes > r->options.inline_bytes ||
                 (room > r->options.inline_bytes && room > LK_RING_OUT_SHORT), /* the response may need the room */
        far = !is_inline || roomy;
    if (far) {
        lk_status s = place_block(r, u, m, roomy ? room : 0, exact, w);
        if (s != LK_OK) return s;
    }
    if (in_words && m->bytes) {
        u32 first = LK_RING_W_IN + (far ? 4 : 0);
        memcpy(w + first, m->data, m->bytes);
        count = MAX_OF(count, first + (m->bytes + 3) / 4);
    }
    if (is_inline && !in_words) memcpy(line + r->in_words, m->data, m->bytes);
    u->sent++;
    w[LK_RING_W_BYTES] = m->bytes | (far || !in_words ? LK_RING_LONG : 0);
    w[LK_RING_W_TYPE] = m->type;
    w[LK_RING_W_ID] = (u32)m->id;
    w[LK_RING_W_ID + 1] = (u32)(m->id >> 32);
    w[LK_RING_W_ENQUEUED] = (u32)now;
    w[LK_RING_W_ENQUEUED + 1] = (u32)(now >> 32);
    u32 check = 0;
    for (u32 k = 0; k < LK_RING_IN_WORDS; k++) check ^= LK_RING_MIX(k, w[k]);
    w[LK_RING_W_CHECK] = check;                          /* it was 0 above, and adds nothing */
    __builtin_prefetch(ring_in(r, u, u->placed + 4), 1); /* the unit has read them: they come from afar */
    __builtin_prefetch(ring_in(r, u, u->placed + 4) + 8, 1);
    for (u32 k = 1; k < count; k++) __atomic_store_n(line + k, flag | w[k], __ATOMIC_RELAXED);
    __atomic_store_n(&u->placed, u->placed + 1, __ATOMIC_RELAXED);
    __atomic_store_n(line, flag | w[0], __ATOMIC_RELEASE);
    return LK_OK;
}

/* Under the unit's lock: the high-water mark after a send. The unit's word is far away: it is read only where the
 * messages that may be in the inbox would be more than ever before. */
static void set_high(struct ring_host_unit *u)
{
    if (u->placed - u->taken_seen <= u->high_in) return;
    u->taken_seen = ring_load(&u->inbox_taken->value);
    u->high_in = MAX_OF(u->high_in, u->placed - u->taken_seen);
}

/* Under the unit's lock: the inbox is full, and the policy is not to wait. */
static lk_status drop_message(lk_ring *r, struct ring_host_unit *u, const lk_ring_message *m)
{
    if (r->options.inbox_policy == LK_RING_REFUSE) {
        u->refused++;
        return ring_fail(r, LK_NOT_READY, "send: %s is full (%u messages)", u->queue[RING_IN], r->options.inbox_slots);
    }
    lk_ring_letter l = { .id = m->id, .unit = m->unit, .type = m->type, .bytes = m->bytes };
    u->sent++;
    u->dropped++;
    if (m->bytes) memcpy(l.head, m->data, MIN_OF(sizeof l.head, m->bytes));
    ring_letter(r, l, RING_IN, "inbox full");
    return LK_OK;
}

/* Under the unit's lock: as many of the messages, all to this unit, as there is room for; *sent of them. */
static lk_status place_some(lk_ring *r, struct ring_host_unit *u, lk_ring_message *m, u32 count, u32 *sent)
{
    u64 now = time_ns();
    lk_status s = check_message(r, m); /* a drain that began meanwhile comes first */
    while (s == LK_OK && *sent < count && has_room(r, u)) {
        lk_ring_message *next = m + *sent;
        if (!next->id) next->id = __atomic_add_fetch(&r->next_id, 1, __ATOMIC_RELAXED);
        if (*sent && (s = check_payload(r, next)) != LK_OK) break;
        s = place_message(r, u, next, now);
        *sent += s == LK_OK;
        if (next->bytes > r->options.inline_bytes) now = time_ns(); /* a copy was waited for */
    }
    set_high(u);
    return s;
}

/* Messages to one unit, one after the other. */
static lk_status send_run(lk_ring *r, lk_ring_message *m, u32 count, double seconds, u32 *sent)
{
    lk_status status = check_message(r, m);
    if (status != LK_OK) return status;
    struct ring_host_unit *u = &r->unit[m->unit];
    struct ring_wait w = { 0 };
    for (bool first = true;; first = false) {
        lock(&u->lock);
        status = place_some(r, u, m, count, sent);
        if (status != LK_OK || *sent == count) {
            unlock(&u->lock);
            return status;
        }
        if (r->options.inbox_policy != LK_RING_WAIT) {
            lk_ring_message *next = m + *sent;
            if (!next->id) next->id = __atomic_add_fetch(&r->next_id, 1, __ATOMIC_RELAXED);
            status = drop_message(r, u, next);
            unlock(&u->lock);
            if (status != LK_OK || ++*sent == count) return status;
            continue;
        }
        if (first) w = ring_wait_for(seconds);
        unlock(&u->lock);
        if (ring_pause(r, &w)) continue;
        if (ring_is_dead(r)) return ring_fail(r, LK_FINDINGS, "send: %s", r->died);
        __atomic_add_fetch(&u->refused, 1, __ATOMIC_RELAXED);
        if (w.now) /* programs try in a loop: no words but these */
            return ring_fail(r, LK_NOT_READY, "send: %s is full (%u messages)", u->queue[RING_IN],
                             r->options.inbox_slots);
        struct text t = { 0 };
        ring_stands(r, m->unit, &t);
        status = ring_fail(r, LK_NOT_READY, "send: %s is full (%u messages), and stayed so: %s", u->queue[RING_IN],
                           r->options.inbox_slots, t.p);
        text_free(&t);
        return status;
    }
}

lk_status lk_ring_send(lk_ring *r, lk_ring_message *m, double seconds)
{
    u32 sent = 0;
    if (!r || !m) return ring_fail(r, LK_BAD_INPUT, "lk_ring_send needs a ring and a message");
    return send_run(r, m, 1, seconds, &sent);
}

lk_status lk_ring_send_batch(lk_ring *r, lk_ring_message *m, uint32_t count, double seconds, uint32_t *sent)
{
    u32 all = 0;
    if (sent) *sent = 0;
    if (!r || (count && !m)) return ring_fail(r, LK_BAD_INPUT, "lk_ring_send_batch needs a ring and messages");
    u64 end = seconds > 0 ? time_ns() + (u64)(seconds * 1e9) : 0;
    lk_status s = LK_OK;
    while (s == LK_OK && all < count) { /* messages in a row to one unit are placed together */
        u32 run = 1, done = 0;
        while (all + run < count && m[all + run].unit == m[all].unit) run++;
        u64 now = seconds > 0 && all ? time_ns() : 0;
        s = send_run(r, m + all, run, !now ? seconds : end > now ? (double)(end - now) / 1e9 : 0, &done);
        all += done;
    }
    if (sent) *sent = all;
    return s;
}

/* ---- receiving ---- */

/* What a thread has received last; goes with the thread. */
struct message_buffer {
    u8 *p;
    u64 bytes, used; /* there are; hold payloads of this call */
};
static pthread_key_t buffer_key;
static pthread_once_t buffer_once = PTHREAD_ONCE_INIT;
static void buffer_end(void *p)
{
    struct message_buffer *b = p;
    base_free(b->p);
    base_free(b);
}
static void buffer_begin(void) { pthread_key_create(&buffer_key, buffer_end); }
/* The thread's buffer, empty, with room for so many bytes; NULL: no memory. */
static struct message_buffer *buffer_of(u64 bytes)
{
    pthread_once(&buffer_once, buffer_begin);
    struct message_buffer *b = pthread_getspecific(buffer_key);
    if (!b) {
        b = base_alloc(sizeof *b);
        if (!b) return NULL;
        pthread_setspecific(buffer_key, b);
    }
    b->used = 0;
    if (b->bytes < bytes) {
        base_free(b->p);
        b->bytes = MAX_OF(bytes, (u64)4096);
        b->p = base_alloc(b->bytes);
        if (!b->p) b->bytes = 0;
    }
    return b->p ? b : NULL;
}

u8 *ring_received_room(u32 bytes)
{
    struct message_buffer *b = buffer_of(bytes);
    return b ? b->p : NULL;
}

/* The way of a message by stages that add up to its whole time, whatever the clocks say. */
static void set_stages(const lk_ring *r, const u64 *line, u64 now, u64 stage[4])
{
    u64 enqueued = ring_pair(line, LK_RING_W_ENQUEUED), left = now - enqueued;
    s64 seen = (s64)ring_pair(line, LK_RING_W_SEEN) - r->clock - (s64)enqueued;
    const u64 way[3] = { seen > 0 ? (u64)seen : 0, (u32)line[LK_RING_W_ACTOR], line[LK_RING_W_WRITTEN] & 0xffff };
    for (u32 i = 0; i < 3; i++) {
        stage[i] = MIN_OF(way[i], left);
        left -= stage[i];
    }
    stage[3] = left;
}

static const char *result_text(u32 result, char *out, size_t size)
{
    if (result <= LK_RING_DAMAGED) return lk_ring_result_name(result);
    snprintf(out, size, "result %u of the actor", result);
    return out;
}

/* All words of a response are there, and in `w`; `damaged`: they do not fit together. */
static bool read_response(const lk_ring *r, const u64 *line, u64 index, u64 *w, bool *damaged)
{
    if (!ring_holds(line, index)) return false;
    w[0] = __atomic_load_n(line, __ATOMIC_ACQUIRE);
    u32 bytes = (u32)w[0] & ~LK_RING_LONG, check = LK_RING_MIX(0, w[0]), need = LK_RING_W_OUT;
    bool is_long = (u32)w[0] & LK_RING_LONG;
    *damaged = !is_long && bytes > MAX_OF((u32)LK_RING_OUT_SHORT, MIN_OF(r->options.inline_bytes, (u32)LK_RING_WORDY));
    if (!*damaged) need += is_long ? 4 : (bytes + 3) / 4;
    for (u32 k = 1; k < need; k++) {
        w[k] = __atomic_load_n(line + k, __ATOMIC_RELAXED);
        if ((u32)(w[k] >> 32) != (u32)(index + 1)) return false; /* on its way */
        if (k < LK_RING_W_WRITTEN) check ^= LK_RING_MIX(k, w[k]);
    }
    *damaged |= (check ^ (u32)w[LK_RING_W_WRITTEN]) >> 16 ||
                (is_long && !ring_pair(w, LK_RING_W_OUT) && bytes > r->options.inline_bytes);
    return true;
}

/* Under the unit's lock: the response with these words. LK_NOTHING: it is large, and has to come alone. */
static lk_status take_response(lk_ring *r, u32 unit, const u64 *line, const u64 *w, bool damaged, lk_ring_message *m,
                               struct message_buffer *b, u64 now)
{
    struct ring_host_unit *u = &r->unit[unit];
    bool is_long = (u32)w[0] & LK_RING_LONG && !damaged;
    u32 bytes = damaged ? 0 : (u32)w[0] & ~LK_RING_LONG;
    u64 reference = is_long ? ring_pair(w, LK_RING_W_OUT) : 0, room = is_long ? ring_pair(w, LK_RING_W_OUT + 2) : 0;
    u8 *data = b->p + b->used;
    if (reference) {
        if (b->used) return LK_NOTHING;
        if (!buffer_of(bytes)) return ring_fail(r, LK_OUT_OF_MEMORY, "receive: no memory for %u bytes", bytes);
        data = b->p;
        if (!copy_done(r, lk_memory_read_async(r->copies, reference, data, bytes)))
            return ring_fail(r, LK_BAD_INPUT, "receive: the copy of the payload: %s", lk_gpu_error(r->gpu));
        b->used = b->bytes; /* nothing beside it */
    } else if (is_long) {
        memcpy(data, line + r->out_words, bytes);
    } else {
        for (u32 k = 0; k < (bytes + 3) / 4; k++) memcpy(data + 4 * k, w + LK_RING_W_OUT + k, 4);
    }
    if (!reference) b->used += (bytes + 15) / 16 * 16;
    u64 last = u->received + u->missing, sequence = last + 1 + ((u32)w[LK_RING_W_SEQUENCE] - (u32)(last + 1));
    *m = (lk_ring_message){ .size = sizeof *m,
                            .unit = unit,
                            .type = (u32)w[LK_RING_W_TYPE],
                            .id = ring_pair(w, LK_RING_W_ID),
                            .data = data,
                            .bytes = bytes,
                            .result = damaged ? LK_RING_DAMAGED : (u32)w[LK_RING_W_RESULT],
                            .sequence = damaged ? last + 1 : sequence };
    set_stages(r, w, now, m->stage);
    if (m->result) {
        char text[64];
        lk_ring_letter l = { .id = m->id, .unit = unit, .type = m->type, .bytes = bytes, .result = m->result };
        ring_letter(r, l, RING_OUT, result_text(m->result, text, sizeof text));
    }
    u->missing += m->sequence - last - 1;
    if (room) release_blocks(r, u, room, 0);
    u->received++;
    return LK_OK;
}

/* Under the unit's lock: the unit learns which responses have been taken. */
static void acknowledge(struct ring_host_unit *u)
{
    __atomic_store_n(&u->acknowledged, u->taken, __ATOMIC_RELAXED);
    ring_store(&u->control->outbox_taken, u->taken);
}

void ring_acknowledge_all(lk_ring *r)
{
    for (u32 i = 0; i < r->units; i++) {
        struct ring_host_unit *u = &r->unit[i];
        if (__atomic_load_n(&u->acknowledged, __ATOMIC_RELAXED) == __atomic_load_n(&u->taken, __ATOMIC_RELAXED))
            continue;
        lock(&u->lock);
        acknowledge(u);
        unlock(&u->lock);
    }
}

/* Under the unit's lock: what lies in its outbox, up to `count`. */
static lk_status take_some(lk_ring *r, u32 unit, lk_ring_message *m, u32 count, struct message_buffer *b, u32 *got)
{
    struct ring_host_unit *u = &r->unit[unit];
    u64 now = time_ns(), first = u->taken, w[LK_RING_MOST_WORDS];
    u32 most = *got + count;
    u64 room = MAX_OF((u64)r->options.inline_bytes, (u64)LK_RING_OUT_SHORT) + 16;
    lk_status status = LK_OK;
    while (*got < most && b->used + room <= b->bytes) {
        const u64 *line = ring_out(r, u, u->taken);
        bool damaged;
        if (!read_response(r, line, u->taken, w, &damaged)) break;
        if ((status = take_response(r, unit, line, w, damaged, &m[*got], b, now)) != LK_OK) break;
        __builtin_prefetch(ring_out(r, u, u->taken + 4)); /* the unit's writes are far from this processor */
        __builtin_prefetch(ring_out(r, u, u->taken + 4) + 8);
        __atomic_store_n(&u->taken, u->taken + 1, __ATOMIC_RELAXED);
        ++*got;
    }
    if (u->taken != first) {
        /* the unit's count is a line of its own: now and then is enough for the high-water mark */
        bool look = u->taken / HIGH_EVERY != first / HIGH_EVERY || !first;
        u64 placed = look ? MAX_OF((u64)ring_load(&u->status->placed), u->taken) : u->taken;
        u->high_out = MAX_OF(u->high_out, placed - first);
        /* The unit is told when half of its outbox is free, or when the host waits: its line is polled, and a store to
         * it takes long. One that drops what has no room is told at once. */
        if (u->taken - u->acknowledged >= (r->options.outbox_slots + 1) / 2 ||
            r->options.respond_policy == LK_RING_DROP)
            acknowledge(u);
    }
    return status == LK_NOTHING ? LK_OK : status;
}

/* What all units have, up to `count`; *got may stay 0. */
static lk_status look_once(lk_ring *r, lk_ring_message *m, u32 count, struct message_buffer *b, u32 *got)
{
    u32 from = __atomic_load_n(&r->next_unit, __ATOMIC_RELAXED);
    for (u32 k = 0; k < r->units && *got < count; k++) {
        u32 i = (from + k) % r->units;
        struct ring_host_unit *u = &r->unit[i];
        u64 index = __atomic_load_n(&u->taken, __ATOMIC_RELAXED);
        if (!ring_holds(ring_out(r, u, index), index)) continue;
        u32 before = *got;
        lock(&u->lock);
        lk_status status = take_some(r, i, m, count - *got, b, got);
        unlock(&u->lock);
        if (*got > before) __atomic_store_n(&r->next_unit, i + 1, __ATOMIC_RELAXED);
        if (status != LK_OK) return *got ? LK_OK : status;
    }
    return LK_OK;
}

/* Nothing came: where the messages are. */
static lk_status nothing_came(lk_ring *r)
{
    struct text t = { 0 };
    u32 shown = 0;
    if (ring_is_dead(r)) return ring_fail(r, LK_FINDINGS, "receive: %s", r->died);
    for (u32 i = 0; i < r->units && shown < 8; i++) {
        struct ring_host_unit *u = &r->unit[i];
        u64 taken = ring_load(&u->inbox_taken->value), waits = ring_placed(u) - taken, phase = ring_phase(u);
        bool inside = phase == LK_RING_BUSY || phase == LK_RING_BARRIER || phase == LK_RING_NO_ROOM;
        if (!waits && !inside) continue;
        text_add(&t, shown++ ? "; " : "");
        ring_stands(r, i, &t);
        if (waits > inside) text_add(&t, ", %" PRIu64 " not taken yet wait in %s", waits - inside, u->queue[RING_IN]);
    }
    ring_mail_text(r, &t);
    lk_status s = ring_fail(r, LK_NOT_READY, "receive: no response in time: %s", t.n ? t.p : "no message is under way");
    text_free(&t);
    return s;
}

lk_status lk_ring_receive_batch(lk_ring *r, lk_ring_message *m, uint32_t count, double seconds, uint32_t *got)
{
    u32 n = 0;
    if (got) *got = 0;
    if (!r || !m || !count) return ring_fail(r, LK_BAD_INPUT, "receive needs a ring and a place for the message");
    for (u32 i = 0; i < count; i++)
        if (m[i].size != sizeof *m)
            return ring_fail(r, LK_BAD_INPUT, "lk_ring_message.size is %zu, not %zu", m[i].size, sizeof *m);
    if (ring_state(r) == LK_RING_CREATED)
        return ring_fail(r, LK_BAD_INPUT, "receive: the ring is created; launch it first");
    u64 each = MAX_OF((u64)r->options.inline_bytes, (u64)LK_RING_OUT_SHORT) + 16;
    struct message_buffer *b = buffer_of(MIN_OF(count, (u32)(1 + RING_BUFFER / each)) * each);
    if (!b) return ring_fail(r, LK_OUT_OF_MEMORY, "receive: no memory for %u messages", count);
    struct ring_wait w = { 0 };
    for (bool first = true;; first = false) {
        lk_status s = look_once(r, m, count, b, &n);
        if (got) *got = n;
        if (s != LK_OK || n) return s;
        u32 state = ring_state(r);
        if (state == LK_RING_TERMINATED)
            return ring_fail(r, LK_NOTHING, "receive: the ring is terminated, and all responses have been received");
        if (first) w = ring_wait_for(seconds);
        if (state == LK_RING_DEAD || !ring_pause(r, &w)) return nothing_came(r);
    }
}

lk_status lk_ring_receive(lk_ring *r, lk_ring_message *m, double seconds)
{
    return lk_ring_receive_batch(r, m, 1, seconds, NULL);
}
