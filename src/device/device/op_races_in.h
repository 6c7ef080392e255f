/* op_races_in.h: what the files behind op_races.h share: op_races.c, op_races_users.c, op_races_text.c
 * and dev_left.c. */
#ifndef LOCKSTEP_OP_RACES_IN_H
#define LOCKSTEP_OP_RACES_IN_H
#include "device/dev.h"
#include "device/op_races.h"

/* Launches that ran side by side, or one after another beside a third: of each chain of operations the first and the
 * last. Under the race check they are exact, unless there is one only. */
struct group {
    u32 refs;
    u32 n; /* entries of `in` */
    struct {
        op_stamp stamp;
        struct op *op; /* with a reference */
    } * in;
};
/* An operation, or a call in which the host itself accesses memory. */
struct actor {
    u32 refs;
    op_stamp stamp;
    u64 age; /* operations enqueued until then: who was to come first */
    bool host;
    bool node;          /* an operation of a graph */
    enum op_kind kind;  /* of an operation */
    const char *site;   /* how the call is named, in `text`; NULL: by its kind */
    u64 stream_id;      /* 0: the host */
    const char *stream; /* the name of its stream, as long as the device; NULL: it has none */
    /* launches */
    const char *kernel; /* as the PTX names it, in `text`; NULL: no launch */
    u32 number;         /* of several of one report; 0: not said */
    bool exact;         /* it may synchronise with other launches */
    u32 era;            /* an exact one: launches of the same are judged together by the race check */
    bool simple;        /* its kernel releases and acquires nothing */
    bool overlaps;      /* it may run beside launches in front, up to its griddepcontrol.wait */
    bool polls;
    bool publishes;      /* it wrote host-visible memory strongly */
    u64 begun, ended;    /* the times of struct op_races; the same, or 0 while it runs */
    struct op *op;       /* with a reference; NULL: the host */
    struct group *group; /* a launch that was not alone: with a reference */
    char text[];
};
/* What one instruction of an operation does, or the operation as a whole: the tag of its accesses. */
struct user {
    struct actor *actor;       /* NULL: not in use */
    const struct place *place; /* of the instruction; NULL: none */
    u32 next;                  /* not in use: the number of the next such */
    bool kept;                 /* while it is found out which are needed */
    bool system; /* an instruction whose strong accesses are of system scope: a host may use the same bytes at any time
                  */
};
/* The conflicts between two actors that came up in one operation. */
struct clash {
    enum access_verdict verdict;
    u64 tag, other_tag; /* of the user that was noted last; of the earlier one */
    enum access_kind my_kind, other_kind;
    u64 from, to;       /* the first bytes that both use, in one object, to after the last ones */
    u64 bytes;          /* how many of them */
    u64 elements;       /* how many elements of the object they are in */
    u64 base;           /* of the object; 0: none */
    bool other_objects; /* they have bytes of other objects in common, too */
};
/* The last launch that polled memory of the host, and has ended while no other one ran (dev_left.c). */
struct left_word { /* that it polled, and did not write */
    u64 address;
    u32 size;                  /* 4 or 8 bytes */
    u32 object;                /* the number of its object */
    u64 value;                 /* there, when the launch had ended */
    u64 rest;                  /* a hash of the other bytes of the object then */
    const struct place *place; /* of the load */
    const char *exits;         /* where threads leave the function of the load; NULL: not known */
};
struct left {
    struct actor *actor; /* with a reference; NULL: there is none */
    struct left_word word[8];
    u32 n;            /* words */
    struct arena mem; /* of places */
};
void left_note(struct left *l, struct device *d, struct actor *a, const struct footprint_run *run, u32 n);
void left_look(struct left *l, struct device *d); /* the host comes to wait, and does not know that it has ended */
void left_drop(struct left *l);

/* Two operations were reported: an event between them is missing. An edge from a to b orders everything before a with
 * everything after b. Where b is a free that nothing orders with what a stream does, the event comes after all of it.
 */
struct edge {
    op_stamp a, b; /* a is 0 where there is a stream */
    struct op *op; /* a, with a reference; NULL: there is a stream */
    u64 stream;    /* of the uses, or of the allocation, that the free b meets; 0: none */
};
enum { EDGES = 256, USERS_LEAST = 1024 };

/* The place of an instruction, once for all launches. */
struct seen_place {
    u64 key; /* function and operation; 0: empty */
    const struct place *place;
};

struct op_races_launch {
    struct op_races *of;
    struct actor *actor;
    struct op *op; /* with a reference */
    struct access_sink sink;
    struct footprint_run *run;
    u32 n, cap;                   /* how many; room for how many */
    u32 waited;                   /* atomic: a thread has executed griddepcontrol.wait */
    struct op_races_launch *next; /* in flight, or late */
};

struct op_races {
    lock_t lock;
    struct device *device;
    struct streams *streams;
    struct accesses *accesses;
    u64 now; /* counts begins, ends and notes */
    u64 met; /* when strong accesses of two launches that nothing orders met last; 0: never */
    struct user *user;
    u32 nuser, capuser; /* how many, in use or not; room for how many */
    u32 spare;          /* the first that is not in use, + 1 */
    u32 used, sweep_at; /* how many are in use; at how many the unused are swept */
    struct op_races_launch *running;
    /* launches that ended while an operation was not done that they overlap (a programmatic edge): they are compared
     * when it is */
    struct op_races_launch *late;
    struct clash *clash; /* of the operation that is being noted */
    u32 nclash, capclash;
    struct edge edge[EDGES];
    u32 nedge; /* how many there were; the last ones are kept */
    struct left left;
    struct arena mem; /* of places */
    struct seen_place *place;
    u32 nplace, capplace; /* a hash table; its size, a power of two */
};

/* op_races_users.c, all of it under the lock. */
struct actor *actor_new(struct op_races *b, struct op *op, const struct op_races_call *c,
                        const struct ptx_func *kernel);
void actor_release(struct actor *a);
u64 user_new(struct op_races *b, struct actor *a, const struct place *place);          /* the tag of a new user */
const struct place *op_races_place(struct op_races *b, const struct footprint_run *r); /* of the instruction */
void users_sweep(struct op_races *b); /* users that no access has go; none is being made */
/* The launch begins, and joins the group of those that run; where none runs, it needs none yet. */
void group_join(const struct op_races *b, struct op_races_launch *l);

/* op_races_text.c: completes the finding that a result depends on the order of these two, as op_races_unordered. */
struct arena;
void op_races_order_text(struct arena *mem, struct finding *f, const struct user *one, enum access_kind one_does,
                         const struct user *two, enum access_kind two_does);
/* op_races_text.c: adds the finding. */
void op_races_report(struct device *d, const struct clash *c, const struct user *me, const struct user *other);
#endif
