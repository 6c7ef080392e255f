/* op_access.h: which bytes operations use, and whether two of them that nothing orders use the same ones.
 *
 * Copies, fills, stream-ordered allocations and frees, host functions, the host itself, and launches by their
 * footprints (race_footprint.h). An access is noted when its operation runs; it is compared with those noted before it.
 * Two accesses conflict when they have bytes in common, one of them writes, they are not both strong, and the earlier
 * one is not before the later one by op_before, whatever happened to run first. Accesses of the threads of kernels to
 * each other are the business of the race check; what it asks of the order of operations is op_before, too.
 *
 * Kept for each byte: the last weak write, and the accesses since then. An access is dropped when a later one stands
 * for it: one that is ordered after it, and conflicts with everything that it conflicts with. So the first conflict of
 * a program is always found, and only true conflicts are; after the first conflict of a byte others may be hidden by
 * it. An access ordered before all future operations is dropped, too. */
#ifndef LOCKSTEP_OP_ACCESS_H
#define LOCKSTEP_OP_ACCESS_H
#include "queue/op.h"

enum access_kind {
    ACCESS_READ,
    ACCESS_WRITE,
    ACCESS_ALLOC, /* the operation allocates these bytes */
    ACCESS_FREE,  /* it frees them */
};
enum access_verdict {
    ACCESS_FINE,
    ACCESS_RACE,         /* nothing orders two operations, one of which writes */
    ACCESS_BEFORE_ALLOC, /* a use that is not after the allocation */
    ACCESS_AFTER_FREE,   /* a use that is not before the free */
};
enum { ACCESS_SECTOR = 32 };
/* What an operation does to some bytes of each of the sectors in a range. */
struct access_use {
    u64 from, to; /* multiples of ACCESS_SECTOR */
    u32 bytes;    /* of each sector: bit k is byte k */
    enum access_kind kind;
    bool strong; /* of a scope that includes other launches: no conflict with another strong access */
    bool syncs;  /* strong, and the launch may release or acquire by it */
    bool early;  /* the launch does not wait for launches that it overlaps: op_before in place of op_before_full */
    u64 tag;     /* the caller's: whose access it is, for reports */
};
struct access_conflict {
    enum access_verdict verdict;
    enum access_kind me;       /* the access that was noted last */
    enum access_kind other;    /* the earlier one */
    bool strong, other_strong; /* the access; the earlier one */
    op_stamp stamp;            /* of the earlier operation; its slot is OP_SLOT_HOST: the host itself */
    u64 tag, other_tag;        /* of the access; of the earlier one */
    u64 from, to;              /* from the first byte that both use to after the last one, or a part of that */
    u32 bytes;                 /* that both use, of each sector there */
};

struct accesses;
struct accesses *accesses_new(struct streams *s); /* NULL: no memory */
void accesses_delete(struct accesses *a);         /* before the streams */
/* Who is asked whether something that the order of operations does not show orders the two sides of a conflict. `op` is
 * the later operation, NULL: the host. It must not call this. */
void accesses_excuse(struct accesses *a,
                     bool (*excused)(void *self, const struct access_conflict *c, const struct op *op), void *self);
/* `op` runs and uses these bytes; NULL: the host does, in a call that does not wait. Any thread. `found` (may be NULL)
 * is called for each conflict in a range of sectors; it must not call this. Returns the first verdict that is not
 * fine. */
enum access_verdict access_note(struct accesses *a, const struct op *op, const struct access_use *u,
                                void (*found)(void *self, const struct access_conflict *c), void *self);
/* The same for any bytes, with op_tag of the operation, or the tag that is given. *out (may be NULL) is the first
 * conflict, unless it is fine. */
enum access_verdict access_op(struct accesses *a, const struct op *op, u64 from, u64 bytes, enum access_kind kind,
                              struct access_conflict *out);
enum access_verdict access_host(struct accesses *a, u64 from, u64 bytes, enum access_kind kind, u64 tag,
                                struct access_conflict *out);
/* Bytes as sectors: at most three uses, which are like `u` but for their bytes. Returns how many. */
u32 access_split(u64 from, u64 bytes, struct access_use u, struct access_use out[3]);
/* The memory is gone, or was made without a stream: nothing is known of it. */
void access_forget(struct accesses *a, u64 from, u64 bytes);
/* Drops what is before everything that can still come; access_note does that from time to time. */
void access_trim(struct accesses *a);
/* Calls `each` for the tag of every access that is kept, often several times. */
void access_tags(struct accesses *a, void (*each)(void *self, u64 tag), void *self);
/* Calls `each` for every access to this byte that is kept; it must not call this. */
void access_at(struct accesses *a, u64 address, void (*each)(void *self, enum access_kind kind, u64 tag), void *self);
/* How often accesses by which launches may release or acquire have met, of two that nothing orders, one of them
 * writing: what the one has released the other may have acquired. */
u64 access_meetings(struct accesses *a);
u32 access_ranges(struct accesses *a); /* that are kept, for tests */
#endif
