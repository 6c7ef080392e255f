/* lockstep_ring_layout.h: the memory that a ring kernel and its host share. One source for both sides: C17 and C++ on
 * the host, CUDA C++ by nvcc, NVRTC or clang on the device.
 *
 * Every size and offset is asserted here, so that neither compiler can lay it out differently; the kernel writes what
 * its compiler made of it into struct lk_ring_probe when it starts, and lk_ring_launch compares. docs/reference/ring.md
 * has the protocol.
 *
 * A line is 128 bytes and has one writer. Words that two sides use at the same time are 64 bits, and are loaded and
 * stored whole. */
#ifndef LOCKSTEP_RING_LAYOUT_H
#define LOCKSTEP_RING_LAYOUT_H

#if defined __cplusplus
#define LK_RING_ASSERT(c, text) static_assert(c, text)
#else
#define LK_RING_ASSERT(c, text) _Static_assert(c, text)
#endif
#if defined __CUDACC_RTC__ /* NVRTC has no offsetof; this is what its front end makes of it elsewhere */
#define LK_RING_OFFSET(s, field) ((lk_ring_u64)__INTADDR__(&(((s *)0)->field)))
#else
#define LK_RING_OFFSET(s, field) __builtin_offsetof(s, field)
#endif

typedef unsigned int lk_ring_u32;
typedef unsigned long long lk_ring_u64;

enum {
    LK_RING_LINE = 128,
    LK_RING_VERSION = 5,
    LK_RING_BUCKETS = 48, /* of a latency histogram: bucket b counts [2^b, 2^(b+1)) nanoseconds */
    LK_RING_MOST = 1024,  /* units of a ring */
    LK_RING_NAME = 24,    /* bytes of a name in a layout row, with its end */
    LK_RING_PROBE_WORDS = 40,
    LK_RING_PHASE_BITS = 4,
    LK_RING_WARPS = 4 /* units of a block, where a unit is a warp */
};
#define LK_RING_MAGIC 0x474e49524b434f4cULL /* "LOCKRING" */
#define LK_RING_HOST 0xffffffffu            /* as a sender or a route: the host */
#define LK_RING_NOBODY 0xfffffffeu          /* as a route: responses are not wanted */

/* What the host wants of all units: the low byte of the command word. The rest is the number of the last ping. */
enum lk_ring_command { LK_RING_PAUSE = 1, LK_RING_RUN = 2, LK_RING_STOP = 3 };

/* Where a unit stands; the unit writes it. */
enum lk_ring_phase {
    LK_RING_NOT_STARTED = 0, /* the block is not resident yet */
    LK_RING_PAUSED = 1,      /* started, takes no messages */
    LK_RING_IDLE = 2,        /* looks for messages */
    LK_RING_BUSY = 3,        /* in the actor's function */
    LK_RING_BARRIER = 4,     /* its first thread has left the function and waits for the others */
    LK_RING_NO_ROOM = 5,     /* waits for room in the queue that its response or message goes to */
    LK_RING_STOPPED = 6,     /* has ended, as it was told */
    LK_RING_LEFT = 7         /* has ended, as its own actor asked */
};

/* What became of a message, in the response. Numbers from LK_RING_USER on are the actor's own. */
enum lk_ring_result {
    LK_RING_DONE = 0,
    LK_RING_WRONG_TYPE = 1, /* the actor takes another type of message */
    LK_RING_TOO_LARGE = 2,  /* the response has no room: not inline, and not in what the sender set aside */
    LK_RING_TOO_SHORT = 3,  /* the message has fewer bytes than its type */
    LK_RING_DAMAGED = 4,    /* the check word of the header does not fit: somebody wrote over it */
    LK_RING_USER = 16
};

enum lk_ring_policy {
    LK_RING_WAIT = 0,  /* the sender waits for room */
    LK_RING_DROP = 1,  /* the new message is dropped, and counted */
    LK_RING_REFUSE = 2 /* host only: the call returns LK_NOT_READY, and nothing was sent */
};

/* Between host and unit a message is a row of 64-bit words, of which the upper half is the low half of its index plus 1
 * and the lower half these 32 bits of it. Each word is stored and loaded whole: who finds the number has the bits. A
 * payload of up to LK_RING_WORDY bytes that is inline is in the words, and only those that it needs are stored. A
 * message that is LK_RING_LONG has two addresses in front of that: of its payload, or 0, then that is in the words or,
 * if it is longer, after them; and of the room for its response. Its first word is stored last, and released. */
enum {
    LK_RING_IN_WORDS = 16,   /* host to unit: a line, which is always stored, and more where the payload needs them */
    LK_RING_OUT_WORDS = 32,  /* unit to host: two, and more; those that are not needed are not stored */
    LK_RING_WORDY = 256,     /* the most bytes of a payload in words */
    LK_RING_MOST_WORDS = 80, /* of a slot, in whole lines */
    /* of both */
    LK_RING_W_BYTES = 0,    /* of the payload, and LK_RING_LONG */
    LK_RING_W_TYPE = 1,     /* number of its type */
    LK_RING_W_ID = 2,       /* two words: chosen by the host; the response has the same */
    LK_RING_W_ENQUEUED = 4, /* two words: host's clock, ns */
    /* host to unit */
    LK_RING_W_CHECK = 6,      /* LK_RING_MIX of the others, by exclusive or */
    LK_RING_W_ROOM_BYTES = 7, /* of the memory for a response that is not inline */
    LK_RING_W_IN = 8, /* the payload; long: its address, and that of the room, two words each, then the payload */
    /* unit to host */
    LK_RING_W_RESULT = 6,   /* enum lk_ring_result */
    LK_RING_W_SEQUENCE = 7, /* low half of its number on the edge */
    LK_RING_W_SEEN = 8,     /* two words: device's clock, ns: the unit found the message */
    LK_RING_W_ACTOR = 10,   /* ns until the actor's function had returned */
    LK_RING_W_WRITTEN = 11, /* low half: ns until these words were stored, at most 65535; upper half: of the check */
    LK_RING_W_OUT = 12,     /* the payload; long: its address, or 0 for after the words, and that of the room */
    LK_RING_IN_SHORT = 4 * (LK_RING_IN_WORDS - LK_RING_W_IN),
    LK_RING_OUT_SHORT = 4 * (LK_RING_OUT_WORDS - LK_RING_W_OUT)
};
#define LK_RING_LONG 0x80000000u
/* What word k adds to the check, by exclusive or: a word that was written over does not fit. */
#define LK_RING_MIX(k, word) ((lk_ring_u32)(word) * (0x9e3779b1u + 2u * (lk_ring_u32)(k)))

/* Mail: this line, then the payload. The writer of the message writes all of it, `ready` last. */
struct lk_ring_slot {
    lk_ring_u64 ready;     /* index of the message in its queue, plus 1: the slot holds that message */
    lk_ring_u64 sequence;  /* its number on the edge from sender to receiver, from 1; dropped ones have numbers too */
    lk_ring_u64 id;        /* chosen by the host; the response has the same */
    lk_ring_u32 type;      /* number of its type */
    lk_ring_u32 bytes;     /* of the payload */
    lk_ring_u32 from;      /* unit that sent it, or LK_RING_HOST */
    lk_ring_u32 result;    /* of a response: enum lk_ring_result */
    lk_ring_u64 reference; /* address of the payload in device memory; 0: it is inline */
    lk_ring_u64 enqueued;  /* host's clock, ns, of the message that caused it */
    lk_ring_u32 check;     /* check_of this header */
    lk_ring_u32 spare[17];
};
LK_RING_ASSERT(sizeof(struct lk_ring_slot) == LK_RING_LINE, "the header of a slot is one line");
LK_RING_ASSERT(LK_RING_OFFSET(struct lk_ring_slot, type) == 24 &&
                   LK_RING_OFFSET(struct lk_ring_slot, reference) == 40 &&
                   LK_RING_OFFSET(struct lk_ring_slot, enqueued) == 48 &&
                   LK_RING_OFFSET(struct lk_ring_slot, check) == 56,
               "fields of a slot");

/* A word of which the line has nothing else. */
struct lk_ring_word {
    lk_ring_u64 value;
    lk_ring_u64 spare[15];
};
LK_RING_ASSERT(sizeof(struct lk_ring_word) == LK_RING_LINE, "a word has a line of its own");

/* What the host tells one unit. Each has a line of its own: a line that all units poll is slow. */
struct lk_ring_control {
    lk_ring_u64 command;      /* enum lk_ring_command, and the ping's number times 256 */
    lk_ring_u64 outbox_taken; /* responses that the host has done with */
    lk_ring_u64 spare[14];
};
LK_RING_ASSERT(sizeof(struct lk_ring_control) == LK_RING_LINE, "a unit's control is one line");

/* Constant from before the launch on: where the queues of a unit are. */
struct lk_ring_unit {
    lk_ring_u64 inbox, inbox_taken; /* slots from the host; word: messages that the unit has done with */
    lk_ring_u64 outbox, control;    /* slots to the host; struct lk_ring_control */
    /* slots from other units; two words: messages placed, written by all senders with compare-and-swap, and taken */
    lk_ring_u64 mail, mail_words;
    lk_ring_u64 status;  /* struct lk_ring_status */
    lk_ring_u64 local;   /* struct lk_ring_local */
    lk_ring_u32 actor;   /* which function of the kernel */
    lk_ring_u32 route;   /* who gets its responses: a unit, LK_RING_HOST, LK_RING_NOBODY */
    lk_ring_u64 scratch; /* a slot of the unit's own, for messages before they are sent */
    lk_ring_u32 spare[12];
};
LK_RING_ASSERT(sizeof(struct lk_ring_unit) == LK_RING_LINE, "a unit's row is one line");
LK_RING_ASSERT(LK_RING_OFFSET(struct lk_ring_unit, actor) == 64 && LK_RING_OFFSET(struct lk_ring_unit, scratch) == 72,
               "a unit");

/* In mapped memory, written by its unit only. Values only grow, but for current and waits_on. */
struct lk_ring_status {
    lk_ring_u64 beat;    /* the last command word that the unit has seen */
    lk_ring_u64 clock;   /* device's clock when it saw `beat` */
    lk_ring_u64 phase;   /* enum lk_ring_phase in the low LK_RING_PHASE_BITS; above: the device's clock when it began */
    lk_ring_u64 current; /* id of the message that it is in, or was in last; stored together with its phase */
    lk_ring_u64 failed;  /* messages with a result that is not LK_RING_DONE */
    lk_ring_u64 waits;   /* times that it had to wait for room */
    lk_ring_u64 waits_on; /* LK_RING_NO_ROOM: the unit whose mailbox is full, or LK_RING_HOST */
    lk_ring_u64 placed;   /* responses placed in the outbox */
    lk_ring_u64 dropped;  /* responses to the host that had no room */
    lk_ring_u64 left; /* 1: it has ended, as its actor asked; of a half line that is seldom written: sends look at it */
    lk_ring_u64 spare[6];
    lk_ring_u64 latency[LK_RING_BUCKETS]; /* from seen to visible */
};
LK_RING_ASSERT(sizeof(struct lk_ring_status) == 4 * LK_RING_LINE, "a status is four lines");
LK_RING_ASSERT(LK_RING_OFFSET(struct lk_ring_status, latency) == LK_RING_LINE, "a histogram begins a line");
LK_RING_ASSERT(LK_RING_OFFSET(struct lk_ring_status, phase) == 16 &&
                   LK_RING_OFFSET(struct lk_ring_status, current) == 24,
               "a phase and its message are one access of 16 bytes");

/* In device memory, used by its unit only: what the unit mirrors into its status and does not keep in registers. */
struct lk_ring_local {
    lk_ring_u64 latency[LK_RING_BUCKETS];
};
LK_RING_ASSERT(sizeof(struct lk_ring_local) == 3 * LK_RING_LINE, "a unit's own memory is three lines");

/* Counters of an edge between units, four tables of units x stride: sent and dropped have a row for each sender,
 * received and missing a row for each receiver. `missing` counts numbers that never came. */
enum lk_ring_table { LK_RING_SENT, LK_RING_DROPPED, LK_RING_RECEIVED, LK_RING_MISSING, LK_RING_TABLES };

/* What the device's compiler made of this file, word by word. The kernel writes it when it starts. */
struct lk_ring_probe {
    lk_ring_u64 magic; /* LK_RING_MAGIC, last and released */
    lk_ring_u32 count; /* words used */
    lk_ring_u32 word[LK_RING_PROBE_WORDS];
    lk_ring_u32 spare[128 - 3 - LK_RING_PROBE_WORDS];
};
LK_RING_ASSERT(sizeof(struct lk_ring_probe) == 4 * LK_RING_LINE, "a probe is four lines");

/* The first memory of a ring, mapped: the kernel's only parameter is its address. */
struct lk_ring_head {
    struct lk_ring_word command; /* the same as in the control of every unit */
    /* constant from before the launch on */
    lk_ring_u64 magic;
    lk_ring_u32 version, units;
    lk_ring_u32 slot_bytes;   /* of a mailbox: a line and the inline payload, in whole lines */
    lk_ring_u32 inline_bytes; /* the most that a payload may have to be inline */
    lk_ring_u32 inbox_slots, outbox_slots, mail_slots;
    lk_ring_u32 respond_policy, mail_policy; /* enum lk_ring_policy: when the outbox, a mailbox, is full */
    lk_ring_u32 idle_ns;                     /* the longest sleep between two looks at empty queues; 0: none */
    lk_ring_u64 unit;                        /* struct lk_ring_unit [units] */
    lk_ring_u64 probe;                       /* struct lk_ring_probe */
    lk_ring_u64 edge, edge_local;            /* tables in mapped memory; the units' own copy in device memory */
    lk_ring_u32 edge_stride;                 /* entries of a row */
    lk_ring_u32 topics;
    lk_ring_u64 topic;               /* rows of 1 + units u32: how many units hear it, and which */
    lk_ring_u32 in_bytes, out_bytes; /* of a slot of an inbox, an outbox: its words, and longer inline payloads */
    lk_ring_u32 in_words, out_words; /* of them: the words, in whole lines */
    lk_ring_u64 spare[2];
};
LK_RING_ASSERT(sizeof(struct lk_ring_head) == 2 * LK_RING_LINE, "the head is two lines");
LK_RING_ASSERT(LK_RING_OFFSET(struct lk_ring_head, magic) == LK_RING_LINE &&
                   LK_RING_OFFSET(struct lk_ring_head, unit) == LK_RING_LINE + 48 &&
                   LK_RING_OFFSET(struct lk_ring_head, topic) == LK_RING_LINE + 88,
               "the head");

/* The probe's words, in order: X(struct, field) is an offset, Y(struct) a size. */
/* clang-format off */
#define LK_RING_PROBES(X, Y)                                                                                          \
    Y(lk_ring_slot) X(lk_ring_slot, sequence) X(lk_ring_slot, id) X(lk_ring_slot, type) X(lk_ring_slot, bytes)        \
    X(lk_ring_slot, from) X(lk_ring_slot, result) X(lk_ring_slot, reference) X(lk_ring_slot, enqueued)                \
    X(lk_ring_slot, check) Y(lk_ring_word) Y(lk_ring_control) Y(lk_ring_unit) X(lk_ring_unit, outbox)                 \
    X(lk_ring_unit, control) X(lk_ring_unit, mail) X(lk_ring_unit, status) X(lk_ring_unit, actor)                     \
    X(lk_ring_unit, route) X(lk_ring_unit, scratch) Y(lk_ring_status) X(lk_ring_status, phase)                        \
    X(lk_ring_status, placed) X(lk_ring_status, dropped) X(lk_ring_status, latency) Y(lk_ring_local)                  \
    Y(lk_ring_head) X(lk_ring_head, units) X(lk_ring_head, slot_bytes) X(lk_ring_head, inbox_slots)                   \
    X(lk_ring_head, unit) X(lk_ring_head, edge) X(lk_ring_head, topic) X(lk_ring_head, in_bytes)                      \
    X(lk_ring_head, in_words) X(lk_ring_status, left)
/* clang-format on */

/* Types of messages. A user declares one once, in a header that both sides include; F is a field, A an array, S is
 * handed through:
 *
 *     #define POINT(F, A, S) F(S, float, x) F(S, unsigned, name) A(S, float, v, 6)
 *     LK_RING_MESSAGE(point, 7, POINT)
 *
 * On both sides that is `struct point`, point_number and the rows lk_ring_layout_point. In the kernel's module the rows
 * say what the device's compiler made of it; lk_ring_create holds them against those of the host. */
struct lk_ring_row { /* the first row is the struct itself, whose offset is the number of the type */
    char name[LK_RING_NAME];
    lk_ring_u32 offset, size, align;
    lk_ring_u32 last; /* non-zero: the row after the last field */
};
LK_RING_ASSERT(sizeof(struct lk_ring_row) == 40, "a row of a layout");

#if defined __cplusplus
#define LK_RING_ALIGN(t) ((lk_ring_u32)alignof(t))
#else
#define LK_RING_ALIGN(t) ((lk_ring_u32) _Alignof(t))
#endif
#if defined __CUDACC__
#define LK_RING_ROWS(name) \
    extern "C" {           \
    __device__ __attribute__((used)) struct lk_ring_row lk_ring_layout_##name[] =
#define LK_RING_ROWS_END \
    ;                    \
    }
#else
#define LK_RING_ROWS(name) __attribute__((unused)) static const struct lk_ring_row lk_ring_layout_##name[] =
#define LK_RING_ROWS_END ;
#endif
#define LK_RING_FIELD(S, t, f) t f;
#define LK_RING_ARRAY(S, t, f, n) t f[n];
#define LK_RING_FIELD_ROW(S, t, f) \
    { #f, (lk_ring_u32)LK_RING_OFFSET(struct S, f), (lk_ring_u32)sizeof(t), LK_RING_ALIGN(t), 0 },
#define LK_RING_ARRAY_ROW(S, t, f, n) \
    { #f, (lk_ring_u32)LK_RING_OFFSET(struct S, f), (lk_ring_u32)(sizeof(t) * (n)), LK_RING_ALIGN(t), 0 },
#define LK_RING_MESSAGE(name, number, FIELDS)                                               \
    struct name {                                                                           \
        FIELDS(LK_RING_FIELD, LK_RING_ARRAY, name)                                          \
    };                                                                                      \
    enum { name##_number = number };                                                        \
    LK_RING_ROWS(name)                                                                      \
    {                                                                                       \
        { #name, number, (lk_ring_u32)sizeof(struct name), LK_RING_ALIGN(struct name), 0 }, \
            FIELDS(LK_RING_FIELD_ROW, LK_RING_ARRAY_ROW, name)                              \
        {                                                                                   \
            "", 0, 0, 0, 1                                                                  \
        }                                                                                   \
    }                                                                                       \
    LK_RING_ROWS_END
#endif
