/* The conditions of all graphs of the process, by handle. There are few. */
#include "units/condition.h"

static struct {
    lock_t lock;
    struct condition *first;
    u64 handles;                                         /* given out so far */
    void (*on_set)(const void *op, struct condition *c); /* atomic */
} all = { .lock = LOCK_INIT };

struct condition *condition_new(u32 initial, bool assigns)
{
    struct condition *c = base_alloc(sizeof *c);
    if (!c) return NULL;
    lock(&all.lock);
    *c = (struct condition){ .handle = ++all.handles, .refs = 1, .initial = initial, .assigns = assigns };
    c->next = all.first;
    all.first = c;
    unlock(&all.lock);
    return c;
}

static struct condition *find(u64 handle)
{
    struct condition *c = all.first;
    while (c && c->handle != handle) c = c->next;
    return c;
}

struct condition *condition_hold(u64 handle)
{
    lock(&all.lock);
    struct condition *c = find(handle);
    if (c) c->refs++;
    unlock(&all.lock);
    return c;
}

void condition_release(struct condition *c)
{
    lock(&all.lock);
    bool last = !--c->refs;
    struct condition **p = &all.first;
    while (last && *p != c) p = &(*p)->next;
    if (last) *p = c->next;
    unlock(&all.lock);
    if (last) base_free(c);
}

bool condition_set(u64 handle, u32 value, const void *op)
{
    struct condition *c = condition_hold(handle);
    if (!c) return false;
    void (*on_set)(const void *, struct condition *) = __atomic_load_n(&all.on_set, __ATOMIC_ACQUIRE);
    if (on_set && op) on_set(op, c);
    __atomic_store_n(&c->value, value, __ATOMIC_RELEASE);
    condition_release(c);
    return true;
}

bool condition_at(u64 address)
{
    lock(&all.lock);
    struct condition *c = all.first;
    while (c && (u64)(uintptr_t)&c->value != address) c = c->next;
    unlock(&all.lock);
    return c;
}

void condition_on_set(void (*on_set)(const void *op, struct condition *c))
{
    __atomic_store_n(&all.on_set, on_set, __ATOMIC_RELEASE);
}
