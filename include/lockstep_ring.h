/* lockstep_ring.h: the host side of ring kernels, GPU-resident actors that answer messages.
 *
 * A ring is a persistent kernel (lockstep_ring.cuh) with queues to and from it. Its actors have one or more units each,
 * a block or a warp that processes one message after the other. A unit has three queues: messages from the host,
 * responses to the host, and mail from other units. The same works on the software GPU and on a real one.
 *
 * Life: lk_ring_create checks and prepares, lk_ring_launch starts the kernel, lk_ring_activate lets it take messages,
 * lk_ring_deactivate lets it rest, lk_ring_drain waits until all that was sent is done with, lk_ring_terminate ends the
 * kernel, lk_ring_destroy frees all. Calls in another order are LK_BAD_INPUT and change nothing.
 *
 * Threads. Any number of threads may send, receive and inspect at once; the calls of life take one thread at a time.
 * While the kernel runs no call here waits for the whole gpu; those of the program must not either (lk_gpu_synchronise,
 * lk_memory_free: they wait for the kernel, which does not end).
 *
 * Seconds as a deadline: 0 does not wait, a negative number waits for ever. LK_NOT_READY is a deadline that was missed
 * or a queue that is full, and lk_ring_error says which message is where. docs/reference/ring.md is the manual. */
#ifndef LOCKSTEP_RING_H
#define LOCKSTEP_RING_H
#include <lockstep.h>
#include <lockstep_ring_layout.h>
#ifdef __cplusplus
extern "C" {
#endif
#if defined __GNUC__
#pragma GCC visibility push(default)
#endif

typedef struct lk_ring lk_ring;

typedef enum lk_ring_state {
    LK_RING_CREATED,
    LK_RING_LAUNCHED, /* the kernel runs, and has not been activated yet */
    LK_RING_ACTIVE,
    LK_RING_INACTIVE,
    LK_RING_DRAINING, /* takes no more messages of the host; lk_ring_drain was called */
    LK_RING_TERMINATED,
    LK_RING_DEAD /* the kernel ended by itself: an assertion, a trap, or all actors left */
} lk_ring_state;

typedef struct lk_ring_route { /* the responses of one actor become messages of another */
    const char *from;          /* actor */
    const char *to; /* actor: unit k of `from` sends to unit k modulo their number; NULL: responses are not wanted */
} lk_ring_route;
typedef struct lk_ring_topic { /* call::publish(k, ...) of the k-th topic reaches all units of these actors */
    const char *const *actor;
    uint32_t actors;
} lk_ring_topic;

typedef struct lk_ring_options { /* zero it, set size, then what you need */
    size_t size;
    lk_module *module;  /* that has the kernel */
    const char *kernel; /* of LK_RING_KERNEL; NULL: the only one */
    const char *name;   /* of the ring, in names of queues and messages; NULL: the kernel's */
    uint32_t instances; /* units of each actor; 0: 1 */
    uint32_t threads;   /* of a unit; 0: 32. Of units that are warps at most 32, and there are 4 in a block */
    uint32_t inbox_slots, outbox_slots, mail_slots; /* of each queue; 0: 256 */
    uint32_t inline_bytes;                          /* payloads up to this lie in their slots; 0: 256 */
    uint32_t inbox_policy;                          /* enum lk_ring_policy: a send finds the inbox full */
    uint32_t respond_policy;                        /* WAIT or DROP: a unit finds the outbox full */
    uint32_t mail_policy;                           /* WAIT or DROP: a unit finds the mailbox of another full */
    uint32_t idle_ns; /* the longest sleep of a unit without messages; 0: none, the least latency */
    const lk_ring_route *route;
    uint32_t routes;
    const lk_ring_topic *topic;
    uint32_t topics;
    /* layouts of the types that the host uses, lk_ring_layout_NAME: each is held against the device's */
    const struct lk_ring_row *const *type;
    uint32_t types;
    uint32_t letters;     /* dead letters that are kept; 0: 64 */
    uint32_t cooperative; /* non-zero: launched cooperatively, so that all units are resident or none */
    uint32_t probe;       /* non-zero: lk_ring_create first launches a minimal cooperative kernel of the ring's shape */
    /* launch parameters and changes of state, a line each; NULL: not wanted */
    void (*log)(void *self, const char *line);
    void *self;
} lk_ring_options;

/* Checks all that a launch needs: the kernel and its form, compute capability, residency, shared memory, mapped memory,
 * layouts. LK_BAD_INPUT: lk_ring_error(NULL) is one line that names the limit. */
lk_status lk_ring_create(lk_gpu *gpu, const lk_ring_options *options, lk_ring **ring);
lk_status lk_ring_launch(lk_ring *ring, double seconds); /* until all units have answered */
lk_status lk_ring_activate(lk_ring *ring, double seconds);
lk_status lk_ring_deactivate(lk_ring *ring, double seconds); /* messages in the queues stay there */
/* No more sends; waits until every message is done with, and checks on every edge that what was sent was received or
 * dropped. Responses that nobody has received stay. LK_FINDINGS: the counts do not agree, lk_ring_error says where. */
lk_status lk_ring_drain(lk_ring *ring, double seconds);
/* Ends the kernel after the messages that its units are in. LK_NOT_READY: a unit has not ended in time, and
 * lk_ring_error says where each one stands; the kernel goes on, and the call may be made again. */
lk_status lk_ring_terminate(lk_ring *ring, double seconds);
/* Frees all. LK_NOT_READY: the kernel still runs, nothing was freed. NULL is allowed. */
lk_status lk_ring_destroy(lk_ring *ring);

typedef struct lk_ring_message { /* zero it, set size, then what you need */
    size_t size;
    uint32_t unit;       /* sent: to which unit (lk_ring_unit_of); received: from which */
    uint32_t type;       /* number of its type */
    uint64_t id;         /* sent: 0 lets the call choose one, which it writes here; received: that of the message */
    const void *data;    /* sent: the payload. Received: valid until the thread's next call that receives */
    uint32_t bytes;      /* of the payload */
    uint32_t room_bytes; /* sent: the most that the response may have; 0: as much as the message */
    uint32_t result;     /* received: enum lk_ring_result */
    uint64_t sequence;   /* received: its number on the edge */
    /* received, nanoseconds: from the send to when the unit saw it, in the actor, until the response was written, until
     * it was received; the clock of the device is compared with the host's at launch. They add up to the time of the
     * round trip */
    uint64_t stage[4];
} lk_ring_message;
/* Any unit of an actor, in turn; UINT32_MAX: there is no such actor. */
uint32_t lk_ring_unit_of(lk_ring *ring, const char *actor);
/* LK_OK: it is in the queue, or was dropped as the policy says. */
lk_status lk_ring_send(lk_ring *ring, lk_ring_message *message, double seconds);
/* The first *sent of them were sent. Messages in a row to one unit are placed together, which costs least. */
lk_status lk_ring_send_batch(lk_ring *ring, lk_ring_message *message, uint32_t count, double seconds, uint32_t *sent);
/* The oldest response of any unit. */
lk_status lk_ring_receive(lk_ring *ring, lk_ring_message *message, double seconds);
/* Waits for the first one and takes up to `count` that are there, *got of them; their data is valid until the thread's
 * next call that receives. A response that lies in device memory comes alone. */
lk_status lk_ring_receive_batch(lk_ring *ring, lk_ring_message *message, uint32_t count, double seconds, uint32_t *got);
/* Sends one and waits for its response, in any number of threads at once: responses are told apart by the number of the
 * message, which no two asks in flight may have. Not while other threads call lk_ring_receive. */
lk_status lk_ring_ask(lk_ring *ring, lk_ring_message *message, lk_ring_message *response, double seconds);

typedef struct lk_ring_letter { /* a message that did not arrive, or did not end well */
    char why[64];               /* "inbox full", "result 16 of the actor", "not taken before the end" */
    char queue[96];             /* its name */
    uint64_t id;
    uint32_t unit, type, bytes, result;
    uint8_t head[16]; /* the first bytes of the payload; zeros where they are not known */
} lk_ring_letter;
/* Takes the oldest dead letter. LK_NOTHING: there is none. */
lk_status lk_ring_letter_take(lk_ring *ring, lk_ring_letter *letter);

typedef struct lk_ring_queue_info { /* set size */
    size_t size;
    char name[96]; /* "vectors.mirror.0.point.in": ring, actor, unit, type ("any" without one), direction */
    uint64_t capacity, placed, taken, depth, high; /* messages; high: the most that the host has seen in it */
    uint64_t sent, received, dropped, missing;     /* of the edge; sent = received + depth + dropped when it rests */
    double oldest;                                 /* seconds that its oldest message waits; 0: it is empty */
    uint64_t bytes;                                /* of its memory */
} lk_ring_queue_info;
typedef struct lk_ring_unit_info { /* set size */
    size_t size;
    char name[96]; /* "vectors.add.0" */
    enum lk_ring_phase phase;
    uint32_t answers; /* non-zero: it answered the last ping */
    uint64_t current; /* id of the message that it is in, or was in last */
    double since;     /* seconds in this phase, by the device's clock */
    uint64_t done, failed, waits;
    uint64_t latency[LK_RING_BUCKETS]; /* messages whose processing took [2^b, 2^(b+1)) ns */
} lk_ring_unit_info;
typedef struct lk_ring_info { /* set size */
    size_t size;
    lk_ring_state state;
    uint32_t units, queues;
    double uptime;                             /* seconds since the launch */
    uint64_t letters, letters_lost;            /* dead letters there are; those that there was no room to keep */
    uint64_t sent, received, dropped, refused; /* between host and units, both directions */
    uint64_t memory;                           /* bytes, pinned and device */
    char last_error[256];                      /* what the last call of any thread on this ring said that failed; "" */
} lk_ring_info;
/* While it runs, from any thread. Index i of queues and units; LK_NOTHING: there is no i-th one. */
lk_status lk_ring_inspect(lk_ring *ring, lk_ring_info *info);
lk_status lk_ring_queue(lk_ring *ring, uint32_t i, lk_ring_queue_info *info);
/* The queue of this name; LK_NOTHING: there is none. */
lk_status lk_ring_queue_find(lk_ring *ring, const char *name, lk_ring_queue_info *info);
lk_status lk_ring_unit(lk_ring *ring, uint32_t i, lk_ring_unit_info *info);
/* Asks all units for a sign of life, waits for at most so long, and tells how each one is: LK_OK, all answer or are in
 * a message; LK_NOT_READY, one is blocked: lk_ring_error says which and where. */
lk_status lk_ring_ping(lk_ring *ring, double seconds);
/* Everything of lk_ring_inspect as text or JSON; release with lk_text_free. */
char *lk_ring_text(lk_ring *ring);
char *lk_ring_json(lk_ring *ring);
/* Another process of the same user asks on an abstract socket with this name and USER/PROCESS/RING after it, from the
 * launch on until lk_ring_destroy: a byte, 't' or 'j', is answered with lk_ring_text or lk_ring_json. `lockstep ring
 * --status` does that. */
#define LK_RING_STATUS_NAME "lockstep-ring/"
const char *lk_ring_phase_name(enum lk_ring_phase phase);
const char *lk_ring_state_name(lk_ring_state state);
/* Of enum lk_ring_result, in words: "fewer bytes than the type has"; of LK_RING_USER and above, that it is the actor's.
 */
const char *lk_ring_result_name(uint32_t result);
/* The calling thread's last error of a call on this ring; NULL: of lk_ring_create. Lives until the thread's next one.
 */
const char *lk_ring_error(const lk_ring *ring);
#if defined __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
