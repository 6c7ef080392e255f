/* op_races.h: findings between operations (docs/reference/rules.md X): races of launches, copies, fills, host
 * functions, allocations and frees that nothing orders, and of the host with them.
 *
 * The device notes what each operation uses, when it runs: before op_done of it. op_access.c compares it with what ran
 * before, by the order of operations and not by time. What is found becomes one finding for each pair of host calls, in
 * the report of the device (op_races_text.c).
 *
 * What is left out, because something invisible may order it:
 *   - two launches that both may synchronise while they run (exact ones) and are in one era: the race check judges
 *     them, as blocks of one grid; those of different eras, where strong accesses of launches have met since the
 *     earlier one began, which may be a flag; and what is before one of them, or after it, may be so for another one
 *     that ran beside it, which it may have handed over to;
 *   - a launch that polls memory, and copies, fills, written values and accesses of the host while it ran or before:
 *     these are its signals, or come after one;
 *   - a launch that writes host-visible memory strongly, and what came after its begin: the host may have read there
 *     that its data is ready.
 *
 * Any thread may call. */
#ifndef LOCKSTEP_OP_RACES_H
#define LOCKSTEP_OP_RACES_H
#include "queue/op_access.h"
#include "race/race_footprint.h"

struct device;
struct mem_object;
struct ptx_func;
struct op_races;
struct op_races *op_races_new(struct device *d, struct streams *s); /* NULL: no memory */
void op_races_delete(struct op_races *b);                           /* before the streams */

/* Bytes that an operation uses: rows of `width` bytes, `pitch` apart, in slices that are `slice` apart. */
struct op_races_part {
    u64 from;   /* an address of the device or of the host: they are addresses of one process */
    u64 width;  /* in bytes */
    u64 rows;   /* 0: one */
    u64 pitch;  /* in bytes; 0: the width */
    u64 slices; /* 0: one */
    u64 slice;  /* in bytes; 0: pitch times rows */
    enum access_kind kind;
    /* of a library's operator: what is undefined of it goes on. A read is not judged, a write leaves it undefined. */
    bool carried;
};
struct op_races_use { /* all that an operation uses */
    const struct op_races_part *part;
    u32 parts;
};
/* How an operation is named: "copy 2", "cudaMemcpyAsync at main.cu:41". The texts are copied. */
struct op_races_call {
    const char *site; /* NULL: by its kind; "at main.cu:41": a load or store of the host, no call */
    bool overlaps;    /* a launch: by a programmatic edge, it may run beside the one in front */
    bool simple;      /* a launch: its kernel releases and acquires nothing (race_kernel_alone) */
};
/* `op` runs and uses these parts: a copy, a fill, an allocation, a free, a written value, a host function with what is
 * known of it. c (may be NULL): its name. */
void op_races_add(struct op_races *b, const struct op *op, const struct op_races_call *c,
                  const struct op_races_part *part, u32 parts);
/* A library's tensors are allocated in streams: by its rules such memory may be used at once in every stream, and its
 * operators (OP_LIBRARY) know how a tensor is kept while another stream uses it. */
void op_races_tensors(void);
bool op_races_has_tensors(void);
/* A launch in flight uses a part that its footprint does not have. */
void op_races_launch_uses(struct op_races *b, const struct op *op, const struct op_races_part *part);
/* The host itself uses them, in a call that does not wait. */
void op_races_host(struct op_races *b, const struct op_races_call *c, const struct op_races_part *part, u32 parts);
/* The host is about to wait for operations. */
void op_races_host_waits(struct op_races *b);
/* The memory is gone, or was made without a stream: nothing is known of it from now on. */
void op_races_forget(struct op_races *b, u64 from, u64 bytes);

/* Two runs differ in this byte: completes the finding by two operations that nothing orders, one of which writes it, if
 * there are such. Texts are in `mem`. */
struct finding;
struct arena;
void op_races_unordered(struct op_races *b, u64 address, struct finding *f, struct arena *mem);

/* A launch is about to start; number: of several of one report, 0: not said; polls: some loop of the kernel polls
 * memory (race_kernel_polls). Its sink goes into race_operation.sink. */
struct op_races_launch;
struct op_races_launch *op_races_launch_begin(struct op_races *b, struct op *op, const struct op_races_call *c,
                                              const struct ptx_func *kernel, u32 number, bool polls);
const struct access_sink *op_races_sink(const struct op_races_launch *l);
u32 *op_races_waited(struct op_races_launch *l); /* for sim_launch.waited */
/* The launch has ended, its sink was called, op_done was not: its footprint is compared. Frees it. */
void op_races_launch_end(struct op_races_launch *l);

/* Launches that were reported for an access to memory that was not allocated yet, or was freed. */
struct misuses {
    lock_t lock; /* guards the rest */
    struct misuse {
        u32 id, born;   /* of the object (mem_object) */
        const void *op; /* the last operation that did so; NULL: a synchronous launch */
    } * of;
    u32 n, cap; /* how many; room for how many */
};
void misuse_note(void *misuses, const void *op, const struct mem_object *o); /* a sim_misuse */
const void *misuse_by(struct misuses *m, const struct mem_object *o);        /* its operation; NULL: none */
#endif
