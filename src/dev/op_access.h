/* op_access.h: which bytes operations use, and whether two of them that nothing orders use the same ones.
 *
 * Copies, fills, stream-ordered allocations and frees, host functions, the host itself, and launches for whole objects:
 * each access is a range of addresses. An access is noted when its operation runs; it is compared with those noted
 * before it. Two accesses conflict when their bytes overlap, one of them writes, and the earlier one is not before the
 * later one by op_before, whatever happened to run first. Accesses of the threads of kernels to each other are the
 * business of the race check; what it asks of the order of operations is op_before, too.
 *
 * Kept for each range of bytes: the last write, the reads since then that are not before each other, the allocation and
 * the free. Less is not enough, and more is not needed: an access that is before another kept one conflicts with
 * nothing that the kept one does not conflict with. So the first conflict of a program is always found, and none that
 * is none; behind the first conflict of a byte others may be hidden by it. */
#ifndef LOCKSTEP_OP_ACCESS_H
#define LOCKSTEP_OP_ACCESS_H
#include "dev/op.h"

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
struct access_conflict {
    enum access_kind me;    /* the access that was noted last */
    enum access_kind other; /* the earlier one */
    op_stamp stamp;         /* of the earlier operation; its slot is OP_SLOT_HOST: the host itself */
    u64 tag;                /* op_tag of it, or what access_host was given */
    u64 from, to;           /* bytes that both use, or a part of them */
};

struct accesses;
struct accesses *accesses_new(struct streams *s); /* NULL: no memory */
void accesses_delete(struct accesses *a);         /* before the streams */
/* `op` runs and uses these bytes. Any thread. *out (may be NULL) is set unless it is fine. */
enum access_verdict access_op(struct accesses *a, const struct op *op, u64 from, u64 bytes, enum access_kind kind,
                              struct access_conflict *out);
/* The host itself uses them, in a call that does not wait: a race is then a copy that is still pending. */
enum access_verdict access_host(struct accesses *a, u64 from, u64 bytes, enum access_kind kind, u64 tag,
                                struct access_conflict *out);
/* The memory is gone, or was made without a stream: nothing is known of it. */
void access_forget(struct accesses *a, u64 from, u64 bytes);
u32 access_ranges(struct accesses *a); /* that are kept, for tests */
#endif
