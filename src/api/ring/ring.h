/* ring: the host side of ring kernels (docs/reference/ring.md), over the public interface of the gpu.
 *
 *   ring_create.c    what a launch needs, checked; the memory of a ring
 *   ring_life.c      launch, activate, deactivate, drain, terminate, destroy; signs of life
 *   ring_message.c   send, receive, dead letters
 *   ring_inspect.c   how it stands, as values, text and JSON
 *   ring_serve.c     the same for other processes
 *
 * The host writes the slots of the inboxes, the command words and those of responses taken; units write the rest.
 * Every word that both use is loaded and stored whole, with acquire and release. */
#ifndef LOCKSTEP_RING_INSIDE_H
#define LOCKSTEP_RING_INSIDE_H
#include "base/base.h"
#include <lockstep_ring.h>

enum { RING_SLOTS = 256, RING_INLINE = 256, RING_THREADS = 32, RING_WARPS = LK_RING_WARPS, RING_LETTERS = 64 };
enum { RING_BUFFER = 1 << 20 }; /* bytes of payloads that one call receives, beyond its first message */

/* Device memory for payloads that are not inline, and for their responses. */
struct ring_block {
    u64 address, bytes;
    u64 index;  /* of its message in the inbox */
    void *host; /* of one that is as long as its payload, in pinned memory; NULL: in device memory */
    struct ring_block *next;
};

enum ring_direction { RING_IN, RING_OUT, RING_MAIL };

struct ring_host_unit { /* one unit as the host sees it */
    char name[96];      /* "vectors.add.0" */
    char *queue[3];     /* names by enum ring_direction: "vectors.mirror.0.point.in" */
    u32 actor;
    lock_t lock; /* of all below */
    /* the host's sides of its queues */
    u64 *inbox, *outbox;              /* words of slot 0 of each */
    struct lk_ring_word *inbox_taken; /* written by the unit */
    struct lk_ring_control *control;  /* written by the host */
    struct lk_ring_status *status;
    u64 placed;                          /* atomic: messages placed in the inbox */
    u64 taken_seen;                      /* what the unit had taken, when the host last looked */
    u64 taken;                           /* responses taken from the outbox; atomic */
    u64 acknowledged;                    /* of which the unit has been told */
    u64 sent, dropped, refused;          /* to the unit: numbers given; of these dropped; sends that were refused */
    u64 received, missing;               /* from the unit; numbers that never came */
    u64 high_in, high_out;               /* the most messages seen in a queue */
    struct ring_block *used, **used_end; /* in the order of their messages */
};

struct ring_actor {
    char *name;
    const char *type[2]; /* names of what it takes and answers; "any" for an actor without types */
    u32 first, units;    /* its units are numbered in a row */
    u32 turn;            /* atomic: which one lk_ring_unit_of names next */
};

struct lk_ring {
    lk_gpu *gpu;
    lk_module *module;
    lk_kernel *kernel;
    struct arena mem; /* names, tables */
    const char *name;
    lk_stream *stream;       /* of the kernel */
    lk_stream *copies;       /* of payloads */
    lk_ring_options options; /* with what was left out filled in; pointers of the caller's are not used later */
    bool warps;              /* a unit is a warp */
    u32 units, actors;
    struct ring_host_unit *unit;
    struct ring_actor *actor;
    u32 state;                      /* atomic: lk_ring_state */
    u64 pinned, device;             /* addresses of the two memories */
    u64 pinned_bytes, device_bytes; /* and their sizes */
    u64 block_bytes;                /* atomic: of all ring_blocks */
    bool bounds;                    /* the software GPU checks bounds: payloads are memory of their own */
    struct lk_ring_head *head;      /* the host's pointer to the first */
    struct lk_ring_probe *probe;
    u64 *edge; /* LK_RING_TABLES tables of units rows */
    u32 edge_stride;
    u32 slot_bytes, in_bytes, out_bytes; /* of a slot of a mailbox, an inbox, an outbox */
    u32 in_words, out_words;             /* words of the last two; longer payloads that are inline lie after them */
    u32 grid, block, shared;             /* of the launch */
    lock_t lock;                         /* of the command word, the pool, the letters */
    u64 ping;                            /* number of the last one */
    struct ring_block *free;             /* blocks that no message uses */
    lk_ring_letter *letter;              /* a ring of them, the oldest at letter_first */
    u32 letter_first, letter_count;
    u64 letters_lost;
    u64 next_id;           /* atomic */
    lock_t ask_lock;       /* of the next two (ring_ask.c) */
    struct ring_ask *asks; /* threads that wait for a response */
    bool ask_receives;     /* one of them receives for all */
    u32 next_unit;         /* atomic: where the next receive begins to look */
    u64 launched;          /* time_ns */
    s64 clock;             /* the device's clock minus the host's */
    bool owned;            /* dead letters of what was left have been written */
    char died[1200];       /* why the kernel ended by itself; "" */
    lock_t error_lock;
    char last_error[256]; /* of any thread, under that lock; "" */
    /* other processes ask how it stands */
    bool has_status;
    int status_socket;
    pthread_t status_thread;
};

/* Room for what the thread receives, until its next call that does; NULL: no memory. */
u8 *ring_received_room(u32 bytes);
/* The thread's error: returns `status`. */
lk_status ring_fail(lk_ring *r, lk_status status, const char *fmt, ...) PRINTF_LIKE(3, 4);
#define RING_LOG(r, ...)                                \
    do {                                                \
        if ((r)->options.log) ring_log(r, __VA_ARGS__); \
    } while (0)
void ring_log(lk_ring *r, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* A wait of the host: spins at first, then sleeps longer and longer. */
struct ring_wait {
    u64 end; /* time_ns; UINT64_MAX: for ever */
    u32 turns;
    bool now; /* does not wait at all */
};
struct ring_wait ring_wait_for(double seconds);
/* false: the time is over, or the kernel has ended (ring_is_dead). */
bool ring_pause(lk_ring *r, struct ring_wait *w);
bool ring_is_dead(lk_ring *r); /* asks the stream */

static inline u64 ring_load(const lk_ring_u64 *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
static inline void ring_store(lk_ring_u64 *p, u64 v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
static inline u32 ring_state(const lk_ring *r) { return __atomic_load_n(&r->state, __ATOMIC_ACQUIRE); }
/* The words of a slot. */
static inline u64 *ring_in(const lk_ring *r, const struct ring_host_unit *u, u64 index)
{
    return (u64 *)(void *)((u8 *)u->inbox + index % r->options.inbox_slots * r->in_bytes);
}
static inline u64 *ring_out(const lk_ring *r, const struct ring_host_unit *u, u64 index)
{
    return (u64 *)(void *)((u8 *)u->outbox + index % r->options.outbox_slots * r->out_bytes);
}
/* The words hold the message of this index. */
static inline bool ring_holds(const u64 *line, u64 index)
{
    return (u32)(__atomic_load_n(line, __ATOMIC_ACQUIRE) >> 32) == (u32)(index + 1);
}
static inline u64 ring_pair(const u64 *line, u32 k) { return (u32)line[k] | line[k + 1] << 32; }
/* Messages placed in its inbox: from any thread; written under its lock. */
static inline u64 ring_placed(const struct ring_host_unit *u) { return __atomic_load_n(&u->placed, __ATOMIC_RELAXED); }
/* The word of a unit's phase, apart. */
static inline u64 ring_phase(const struct ring_host_unit *u)
{
    return ring_load(&u->status->phase) & ((1 << LK_RING_PHASE_BITS) - 1);
}
u64 ring_done(const lk_ring *r, u32 unit); /* messages that it has done with */
u64 ring_edge(const lk_ring *r, enum lk_ring_table table, u32 row, u32 column);

/* Where a unit stands, in words: "vectors.add.0 is in message 17 (number 3 from the host) for 1.2 s". */
void ring_stands(lk_ring *r, u32 unit, struct text *t);
/* Mail that its receiver has not done with, queue by queue: "3 messages of zoo.relay.0 are not done with in
 * zoo.twice.0.number.mail"; how many in all. */
u64 ring_mail_text(const lk_ring *r, struct text *t);
bool ring_has_ended(const struct ring_host_unit *u);
/* A dead letter: of `l` the message is filled in, and the first bytes of its payload. */
void ring_letter(lk_ring *r, lk_ring_letter l, enum ring_direction direction, const char *why);
/* What is known of the message in a slot of the inbox of a unit. */
lk_ring_letter ring_letter_of(const lk_ring *r, const u64 *line, u32 unit);
/* Before a wait: all units know which responses have been taken. */
void ring_acknowledge_all(lk_ring *r);
/* Other processes may ask from here on, until there. */
void ring_serve_begin(lk_ring *r);
void ring_serve_end(lk_ring *r);
/* A new command with a new number; who answers has seen it. Returns the word. */
u64 ring_command(lk_ring *r, u32 command);
#endif
