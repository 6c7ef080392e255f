/* Counters by the name of the kernel, found by its handle. A program that launches for an hour has as many of them as
 * it has kernels. */
#include "driver/cu_count.h"

enum { RECENT = 256 };
static struct {
    lock_t lock; /* of the map and the list */
    struct map by_name;
    struct arena mem;
    struct cu_kernel_count *first; /* atomic */
    struct recent {
        const lk_kernel *kernel; /* its handle may be used again for another one: the name is compared */
        struct cu_kernel_count *count;
    } recent[RECENT]; /* lossy, by the handle; guarded by the lock */
} all = { .lock = LOCK_INIT };

static _Thread_local struct recent last; /* of this thread */

static bool is_of(const struct recent *r, const lk_kernel *kernel, const char *name)
{
    return r->kernel == kernel && !strcmp(r->count->name, name);
}

struct cu_kernel_count *cu_count_of(const lk_kernel *kernel)
{
    const char *name = lk_kernel_name(kernel);
    if (likely(is_of(&last, kernel, name))) return last.count;
    struct recent *r = &all.recent[(uintptr_t)kernel / 64 % RECENT];
    lock(&all.lock);
    struct cu_kernel_count *c = is_of(r, kernel, name) ? r->count : NULL;
    if (!c) c = map_get(&all.by_name, str_of(name));
    if (!c) {
        c = NEW(&all.mem, struct cu_kernel_count);
        c->name = arena_str(&all.mem, str_of(name));
        c->plain = arena_str(&all.mem, str_of(lk_kernel_plain(kernel)));
        c->next = all.first;
        map_put(&all.mem, &all.by_name, str_of(c->name), c);
        __atomic_store_n(&all.first, c, __ATOMIC_RELEASE);
    }
    *r = last = (struct recent){ kernel, c };
    unlock(&all.lock);
    return c;
}

struct cu_kernel_count *cu_count_first(void) { return __atomic_load_n(&all.first, __ATOMIC_ACQUIRE); }

static u64 now(const u64 *x) { return __atomic_load_n(x, __ATOMIC_RELAXED); }

u64 cu_count_launches(const struct cu_kernel_count *c)
{
    u64 recorded = now(&c->recorded); /* first: a call counts there after it has counted as one */
    return now(&c->issued) - recorded + now(&c->nodes.launches);
}

u64 cu_count_nanoseconds(const struct cu_kernel_count *c)
{
    return now(&c->ran.nanoseconds) + now(&c->nodes.nanoseconds);
}

u64 cu_count_ended(const struct cu_kernel_count *c) { return now(&c->ran.launches) + now(&c->nodes.launches); }
