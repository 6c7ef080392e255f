/* dev_between_in.h: what dev_between.c hands to dev_between_text.c. */
#ifndef LOCKSTEP_DEV_BETWEEN_IN_H
#define LOCKSTEP_DEV_BETWEEN_IN_H
#include "device/dev.h"
#include "device/dev_between.h"

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
    u64 begun, ended;    /* the times of struct between; the same, or 0 while it runs */
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
    u64 from, to;   /* the first bytes that both use, in one object, to behind the last ones */
    u64 bytes;      /* how many of them */
    u64 elements;   /* how many elements of the object they are in */
    u64 base;       /* of the object; 0: none */
    bool elsewhere; /* they have bytes of other objects in common, too */
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
void actor_release(struct actor *a); /* dev_between.c */

/* dev_between_text.c: completes the finding that a result depends on the order of these two, as between_unordered. */
struct arena;
void between_order_text(struct arena *mem, struct finding *f, const struct user *one, enum access_kind one_does,
                        const struct user *two, enum access_kind two_does);
/* dev_between_text.c: adds the finding. */
void between_report(struct device *d, const struct clash *c, const struct user *me, const struct user *other);
#endif
