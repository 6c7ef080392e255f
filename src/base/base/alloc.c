/* Memory whose size the user decides: it may be refused, and a test can make any one of these calls refuse. */
#include "base/base.h"
#include <stdatomic.h>
#include <stdlib.h>

/* Calls left until one fails; at or below zero nothing is armed. The one piece of mutable state in base, for tests
 * only. */
static atomic_long fail_in;
static atomic_bool small_too; /* arenas and text count as well */

long base_alloc_fail_at(long n)
{
    atomic_store(&small_too, false);
    long left = atomic_exchange(&fail_in, n);
    return MAX_OF(left, 0);
}

void base_small_fail_at(long n)
{
    base_alloc_fail_at(n);
    atomic_store(&small_too, n > 0);
}

bool base_alloc_refused(void)
{
    if (likely(atomic_load_explicit(&fail_in, memory_order_relaxed) <= 0)) return false;
    return atomic_fetch_sub(&fail_in, 1) == 1;
}

bool base_small_refused(void)
{
    return unlikely(atomic_load_explicit(&small_too, memory_order_relaxed)) && base_alloc_refused();
}

_Noreturn void base_exhausted(size_t bytes, const char *what)
{
    char many[40] = "what is needed";
    if (bytes) snprintf(many, sizeof many, "%zu bytes", bytes);
    fprintf(stderr, "lockstep: out of memory: %s%s%s could not be had\n", many, what[0] ? " for " : "", what);
    /* as the command ends when memory is refused where that can be undone */
    exit(2);
}

void *base_alloc(size_t bytes) { return base_alloc_refused() ? NULL : calloc(1, bytes ? bytes : 1); }

void *base_aligned(size_t bytes)
{
    size_t n = (bytes + 127) / 128 * 128;
    void *p = base_alloc_refused() ? NULL : aligned_alloc(128, n ? n : 128);
    if (p) memset(p, 0, n);
    return p;
}

void *base_realloc(void *p, size_t bytes) { return base_alloc_refused() ? NULL : realloc(p, bytes ? bytes : 1); }

void *base_need(size_t bytes)
{
    void *p = base_alloc(bytes);
    if (!p) base_exhausted(bytes, "");
    return p;
}

void *base_need_more(void *p, size_t bytes)
{
    void *q = base_realloc(p, bytes);
    if (!q) base_exhausted(bytes, "");
    return q;
}

void base_free(void *p) { free(p); }

void bytes_clear(void *p, size_t bytes) { memset(p, 0, bytes); }
