/* race_pool.h: pools of numbered objects that never move.
 *
 * An object is named by a number of 32 bits, half of what a pointer takes; number 0 is no object. Objects lie in chunks
 * of POOL_CHUNK. A number that is given back is taken again later. When a pool has no number left, the command ends
 * with a message. `locked` says in each call whether other workers use the pool at the same time. */
#ifndef LOCKSTEP_RACE_POOL_H
#define LOCKSTEP_RACE_POOL_H
#include "base/base.h"

enum { POOL_CHUNK = 1024 }; /* objects in a chunk */
struct pool {
    char **chunk;         /* by number / POOL_CHUNK; NULL: not allocated yet */
    u32 chunks;           /* how many there may be */
    u32 n;                /* the greatest number taken so far */
    u32 size;             /* bytes of an object */
    u32 most;             /* numbers end here */
    u32 *spare;           /* numbers that were given back */
    u32 nspare, capspare; /* how many; room for how many */
    /* not 0: numbers taken are to be near the last ones. A spare number further away than this is taken only when there
     * are many of them. */
    u32 reach;
    lock_t lock; /* taken when `locked` */
};

bool pool_open(struct pool *p, u32 size, u32 chunks); /* false: no memory */
void pool_empty(struct pool *p);                      /* no number is taken; the chunks stay */
void pool_clear(struct pool *p);                      /* gives the chunks back */
void pool_free(struct pool *p);
u32 pool_more(struct pool *p, bool locked);         /* pool_take, in general */
void pool_give(struct pool *p, u32 n, bool locked); /* n is not used any more */

static inline void *pool_at(const struct pool *p, u32 n)
{
    return p->chunk[n / POOL_CHUNK] + (size_t)(n % POOL_CHUNK) * p->size;
}
/* The same where the compiler knows the type. */
#define POOL_AT(p, T, n) ((T *)(void *)(p)->chunk[(n) / POOL_CHUNK] + (n) % POOL_CHUNK)

/* A number that is not in use. The object has any content. */
static inline u32 pool_take(struct pool *p, bool locked)
{
    if (unlikely(locked || p->reach)) return pool_more(p, locked);
    if (p->nspare) return p->spare[--p->nspare];
    u32 n = p->n + 1;
    if (likely(n % POOL_CHUNK && n / POOL_CHUNK < p->chunks && p->chunk[n / POOL_CHUNK])) return p->n = n;
    return pool_more(p, false);
}
#endif
