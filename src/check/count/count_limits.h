/* count_limits.h: what a launch cannot be faster than on its card: the roofline, with all its roofs.
 *
 * Each limit is a time in picoseconds: the work counted, divided by what the card does of it in a second. DRAM and the
 * arithmetic of a type are limits of the whole card; those of a multiprocessor count with the share of multiprocessor
 * slots that the grid fills, so that a small grid and a tail show. */
#ifndef LOCKSTEP_COUNT_LIMITS_H
#define LOCKSTEP_COUNT_LIMITS_H
#include "count/count_line.h"
#include "card/occupancy.h"

#define COUNT_LIMITS(X)                                                                      \
    X(DRAM, "dram", "memory", "bytes of the footprint, at the card's bandwidth")             \
    X(ISSUE, "issue", "instructions", "warp instructions, four a cycle and multiprocessor")  \
    X(L1, "l1", "L1", "sectors of global and local memory, four a cycle and multiprocessor") \
    X(SHARED, "shared", "shared memory", "wavefronts, one a cycle and multiprocessor")       \
    X(F64, "f64", "f64", "operations at the card's peak")                                    \
    X(F32, "f32", "f32", "operations at the card's peak")                                    \
    X(T_F64, "tensor_f64", "tensor f64", "operations at the card's peak")                    \
    X(T_TF32, "tensor_tf32", "tensor tf32", "operations at the card's peak")                 \
    X(T_F16, "tensor_f16", "tensor f16", "operations at the card's peak")                    \
    X(T_F8, "tensor_f8", "tensor f8", "operations at the card's peak")                       \
    X(T_F4, "tensor_f4", "tensor f4", "operations at the card's peak")                       \
    X(T_I8, "tensor_i8", "tensor i8", "operations at the card's peak")
enum count_limit {
#define X(id, name, plain, what) ROOF_##id,
    COUNT_LIMITS(X)
#undef X
        ROOFS
};
extern const char *const count_limit_name[ROOFS], *const count_limit_plain[ROOFS];

struct count_limits { /* of one launch of a shape, on average of its launches */
    struct occupancy occupancy;
    u32 warps;           /* of a CTA */
    u32 occupied;        /* warps of a multiprocessor that are resident, of 1000 that could be */
    u64 slots;           /* CTAs that the card holds at a time */
    u64 waves;           /* full ones and the last */
    u64 last;            /* CTAs of the last wave */
    u32 idle;            /* of 1000 slots in all waves, those that stay empty */
    u64 ps[ROOFS];       /* least times; 0: nothing of it is done, or the card's peak is not known */
    u64 least;           /* the longest of them */
    enum count_limit by; /* which that is */
    u64 operations;      /* floating point, of all types */
    u64 bytes;           /* of the footprint */
    u64 intensity_milli; /* operations for 1000 bytes; 0: there are none */
};
void count_limits(const struct card *card, const struct count_launch *l, struct count_limits *out);

/* What a launch takes at least however little it does, on an H200: from one kernel to the next in a stream. */
enum { LAUNCH_PS = 2500000 };
#endif
