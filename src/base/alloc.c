/* Memory whose size the user decides: it may be refused, and a test can make any one of these calls refuse. */
#include "base/base.h"
#include <stdatomic.h>
#include <stdlib.h>

/* Calls left until one fails; at or below zero nothing is armed. The one piece of mutable state in base, for tests only. */
static atomic_long fail_in;

void base_alloc_fail_at(long n)
{
    atomic_store(&fail_in, n);
}

bool base_alloc_refused(void)
{
    if (likely(atomic_load_explicit(&fail_in, memory_order_relaxed) <= 0))
        return false;
    return atomic_fetch_sub(&fail_in, 1) == 1;
}

void *base_alloc(size_t bytes)
{
    return base_alloc_refused() ? NULL : calloc(1, bytes ? bytes : 1);
}

void *base_aligned(size_t bytes)
{
    size_t n = (bytes + 127) / 128 * 128;
    void *p = base_alloc_refused() ? NULL : aligned_alloc(128, n ? n : 128);
    if (p) memset(p, 0, n);
    return p;
}

void *base_realloc(void *p, size_t bytes)
{
    return base_alloc_refused() ? NULL : realloc(p, bytes ? bytes : 1);
}

void base_free(void *p)
{
    free(p);
}
