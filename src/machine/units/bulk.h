/* What bulk copies (bulk.c) and tensor copies (bulk_tensor.c) share. */
#ifndef LOCKSTEP_BULK_H
#define LOCKSTEP_BULK_H
#include "sim/access.h"
#include "units/attachments.h"
#include "units/flight.h"

enum { BULK_UNIT = 16 }; /* bytes of a bulk copy are a multiple of this */
/* The value of source k in a lane. */
u64 bulk_source(const struct warp *w, const char *R, const struct insn *i, u32 k, u32 width, u32 lane);
/* The address of site number `which` of the instruction in one lane, checked for so many bytes. */
bool bulk_check(struct access *a, struct warp *w, const char *R, const struct insn *i, u32 which, u32 lane, u32 bytes);
/* The same of an address that was made from that of an own variable by changing the rank: it is held against the
 * variable. */
bool bulk_check_peer(struct access *a, struct warp *w, const char *R, const struct insn *i, u32 which, u32 lane,
                     u32 bytes);
/* The CTAs of the cluster that a copy goes to, by rank: those of a multicast, or the one that the address names. */
u32 bulk_ranks(const struct warp *w, const char *R, const struct insn *i, const struct access *to, u32 lane);
/* The same place in the shared memory of a CTA of the cluster. */
void bulk_place(struct access *a, u32 rank, u32 lane);
/* The same; false: all threads of that CTA have left, which is reported. */
bool bulk_place_live(struct access *a, u32 rank, u32 lane);
/* Bit set: swizzles of tensor copies into the shared memory of the CTA. */
static inline u32 bulk_swizzles(const struct cta *c)
{
    return c->attached[AT_swizzles] ? *(const u8 *)c->attached[AT_swizzles] : 0;
}
/* How a tensor copy lays a box, or pixels, into the shared memory of a CTA. */
struct tile {
    u32 at;        /* where it begins, an offset */
    u32 rows;      /* how many */
    u32 row_bytes; /* of each */
    u32 pitch;     /* from one to the next */
    u32 swizzle;   /* enum swizzle of mem/tensor_map.h: units of 16 bytes that change places */
};
/* The flight combines elements of that type of a tensor map (mem/tensor_map.h) with the destination. */
void bulk_reduction(struct flight *f, enum atom_op op, u32 type);
#endif
