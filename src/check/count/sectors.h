/* sectors.h: what a warp's access asks of the caches: sectors, the pieces of 32 bytes that a request to global or local
 * memory moves.
 *
 * A lane's bytes lie in one sector, since an access is aligned to its size and no longer than a sector. What Nsight
 * Compute counts as l1tex__t_sectors_pipe_lsu_mem_{global,local}_op_* is the number of distinct sectors of each
 * request. The least possible is what the distinct bytes would fill. */
#ifndef LOCKSTEP_SECTORS_H
#define LOCKSTEP_SECTORS_H
#include "code/code.h"

enum { SECTOR_SHIFT = 5, SECTOR_BYTES = 1 << SECTOR_SHIFT };

struct sectors {
    u32 n;           /* distinct sectors */
    u32 bytes;       /* distinct bytes asked for in them */
    u64 id[LANES];   /* number of each: address >> SECTOR_SHIFT */
    u32 used[LANES]; /* its bytes that are asked for, as a bit set */
};
/* Of the lanes in `mask`, each of which accesses `bytes` bytes at its address. */
void sectors_of(const u64 addr[LANES], u32 mask, u32 bytes, struct sectors *out);
/* The least sectors that can hold so many bytes. */
static inline u32 sectors_least(u32 bytes) { return (bytes + SECTOR_BYTES - 1) >> SECTOR_SHIFT; }

/* Local memory lies interleaved: word w of the 32 threads of a warp is one line of 128 bytes, word * 32 + lane. `at` is
 * the offset in each thread's own memory. Only n and bytes of *out are set; each word of a wide access counts for
 * itself. */
void sectors_local(const u64 at[LANES], u32 mask, u32 bytes, struct sectors *out);
#endif
