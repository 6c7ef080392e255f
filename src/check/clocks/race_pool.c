/* Pools of numbered objects that never move (race_pool.h). */
#include "clocks/race_pool.h"

bool pool_open(struct pool *p, u32 size, u32 chunks)
{
    *p = (struct pool){ .chunk = base_alloc(sizeof *p->chunk * chunks),
                        .chunks = chunks,
                        .size = size,
                        .most = chunks * POOL_CHUNK,
                        .lock = LOCK_INIT };
    return p->chunk != NULL;
}

static u32 pool_next(struct pool *p)
{
    if (p->nspare && (!p->reach || p->spare[p->nspare - 1] + p->reach > p->n || p->nspare > p->n / 4))
        return p->spare[--p->nspare];
    u32 n = p->n + 1;
    if (n >= p->most)
        base_exhausted((size_t)p->most * p->size,
                       "the race check, more than it can number (--no-check race does without)");
    char **c = &p->chunk[n / POOL_CHUNK];
    if (!*c) __atomic_store_n(c, base_need((size_t)POOL_CHUNK * p->size), __ATOMIC_RELEASE);
    return p->n = n;
}

u32 pool_more(struct pool *p, bool locked)
{
    if (locked) lock(&p->lock);
    u32 n = pool_next(p);
    if (locked) unlock(&p->lock);
    return n;
}

void pool_give(struct pool *p, u32 n, bool locked)
{
    if (locked) lock(&p->lock);
    NEED_ROOM(p->spare, p->nspare, p->capspare, 64);
    p->spare[p->nspare++] = n;
    if (locked) unlock(&p->lock);
}

void pool_empty(struct pool *p) { p->n = p->nspare = 0; }

void pool_clear(struct pool *p)
{
    for (u32 k = 0; p->chunk && k < p->chunks && p->chunk[k]; k++) {
        base_free(p->chunk[k]);
        p->chunk[k] = NULL;
    }
}

void pool_free(struct pool *p)
{
    pool_clear(p);
    base_free(p->chunk);
    base_free(p->spare);
}
