/* Registered memory: objects over memory of the host's own, at its own addresses. It is in no zone: an address is
 * searched here when it is in none of the arena, so memory of the arena pays nothing for it.
 *
 * The objects are in a list sorted by their start. Live ones do not overlap, and touch at most: then the later one has
 * the address that both could claim. Unregistered ones stay, so that a later access is recognised, until something is
 * registered over them or there are too many of them. A thread that searches takes no lock (struct registry). */
#include "mem/zone.h"
#include <inttypes.h>

enum { FREED_MOST = 1024 };

void registry_free(struct registry *r)
{
    for (u32 i = 0; i < r->olds; i++) base_free(r->old[i]);
    base_free(r->list);
}

/* How many objects of the list start at or before the address. */
static u32 starts_before(struct mem_object *const *list, u32 n, u64 addr)
{
    u32 low = 0;
    while (low < n) {
        u32 mid = low + (n - low) / 2;
        const struct mem_object *o = __atomic_load_n(&list[mid], __ATOMIC_ACQUIRE);
        if (o->base <= addr)
            low = mid + 1;
        else
            n = mid;
    }
    return low;
}

/* The object that starts at or before an address, and the one after it; NULL: none. */
static void around(const struct mem *m, u64 addr, struct mem_object *out[2])
{
    const struct registry *r = &m->registry;
    for (;;) {
        u32 version = atomic_load_explicit(&r->version, memory_order_acquire);
        u32 n = atomic_load_explicit(&r->count, memory_order_acquire);
        struct mem_object **list = atomic_load_explicit(&r->list, memory_order_acquire);
        u32 k = n && !(version & 1) ? starts_before(list, n, addr) : 0;
        out[0] = k ? __atomic_load_n(&list[k - 1], __ATOMIC_ACQUIRE) : NULL;
        out[1] = k < n && !(version & 1) ? __atomic_load_n(&list[k], __ATOMIC_ACQUIRE) : NULL;
        atomic_thread_fence(memory_order_acquire);
        if (!(version & 1) && atomic_load_explicit(&r->version, memory_order_relaxed) == version) return;
        cpu_relax();
    }
}

struct mem_object *registered_find(const struct mem *m, u64 addr)
{
    if (likely(!atomic_load_explicit(&m->registry.count, memory_order_acquire))) return NULL;
    struct mem_object *o[2];
    around(m, addr, o);
    return o[0] && addr - o[0]->base <= o[0]->size ? o[0] : NULL;
}

struct mem_object *registered_near(const struct mem *m, u64 addr)
{
    if (!atomic_load_explicit(&m->registry.count, memory_order_acquire)) return NULL;
    struct mem_object *o[2];
    around(m, addr, o);
    if (!o[0] || !o[1]) return o[0] ? o[0] : o[1];
    return object_distance(o[0], addr) <= object_distance(o[1], addr) ? o[0] : o[1];
}

/* Room for one more; false: no memory. */
static bool registry_reach(struct registry *r)
{
    u32 n = atomic_load_explicit(&r->count, memory_order_relaxed);
    if (n < r->capacity) return true;
    if (r->olds == COUNT_OF(r->old)) return false;
    u32 cap = r->capacity ? 2 * r->capacity : 16;
    struct mem_object **more = base_alloc(sizeof *more * cap), **list = r->list;
    if (!more) return false;
    if (n) memcpy(more, list, sizeof *more * n);
    if (list) r->old[r->olds++] = list;
    atomic_store_explicit(&r->list, more, memory_order_release);
    r->capacity = cap;
    return true;
}

static void change(struct registry *r) { atomic_fetch_add_explicit(&r->version, 1, memory_order_acq_rel); }

/* Takes freed objects out: those that overlap [from, to), or all. No two objects of the list overlap: those that do so
 * with the range lie side by side, and what is after them moves only where some were taken out. */
static void forget_freed(struct registry *r, u64 from, u64 to, bool all)
{
    u32 n = atomic_load_explicit(&r->count, memory_order_relaxed), kept = 0, i;
    struct mem_object **list = r->list;
    if (!all && n) kept = starts_before(list, n, from);
    if (kept) kept--;
    for (i = kept; i < n && (all || list[i]->base < to || kept < i); i++) {
        struct mem_object *o = list[i];
        if (o->state == MEM_FREED && (all || (o->base < to && o->base + o->size > from)))
            r->freed--;
        else
            __atomic_store_n(&list[kept++], o, __ATOMIC_RELEASE);
    }
    if (kept < i) atomic_store_explicit(&r->count, kept, memory_order_release);
}

/* The end of a registration, with the lock. */
static void end(struct mem *m, struct mem_object *o, const char *site)
{
    __atomic_store_n(&o->free_site, text_keep(m, site), __ATOMIC_RELEASE);
    __atomic_store_n(&o->state, MEM_FREED, __ATOMIC_RELEASE);
    m->registry.freed++;
    live_remove(m, o);
    atomic_fetch_add_explicit(&m->generation, 1, memory_order_release);
}

void registered_end(struct mem *m, struct mem_object *o)
{
    lock(&m->lock);
    if (o->state == MEM_LIVE) end(m, o, NULL);
    unlock(&m->lock);
}

/* A live object that overlaps, of those that the program has registered; what is lent there ends. NULL: none. */
static struct mem_object *overlaps(struct mem *m, u64 addr, u64 bytes)
{
    struct registry *r = &m->registry;
    u32 n = atomic_load_explicit(&r->count, memory_order_relaxed);
    struct mem_object **list = r->list;
    u32 first = n ? starts_before(list, n, addr) : 0;
    for (u32 i = first ? first - 1 : 0; i < n && list[i]->base < addr + bytes; i++) {
        if (list[i]->state != MEM_LIVE || list[i]->base + list[i]->size <= addr) continue;
        if (!list[i]->lent) return list[i];
        end(m, list[i], NULL);
    }
    return NULL;
}

struct mem_object *registered_enter(struct mem *m, u64 addr, u64 bytes, const char *name, const char *site, u8 lent,
                                    struct mem_object **other, struct error *e)
{
    struct registry *r = &m->registry;
    struct mem_object *o = NULL;
    *other = NULL;
    lock(&m->lock);
    *other = overlaps(m, addr, bytes);
    u32 id = atomic_load_explicit(&m->objects, memory_order_relaxed) + 1;
    if (*other) {
        error_set(e, ERR_INPUT,
                  "0x%" PRIx64 " to 0x%" PRIx64 " cannot be registered: %s, 0x%" PRIx64 " to 0x%" PRIx64
                  ", is registered already",
                  addr, addr + bytes, (*other)->name, (*other)->base, (*other)->base + (*other)->size);
    } else if (addr < m->base + m->bytes && addr + bytes > m->base) {
        error_set(e, ERR_INPUT, "0x%" PRIx64 " is memory of the device already: there is nothing to register", addr);
    } else if (!registry_reach(r) || !stable_reach(&m->object, id - 1, sizeof *o)) {
        error_set(e, ERR_MEMORY, "out of memory");
    } else {
        o = object_at(m, id);
        *o = (struct mem_object){
            .base = addr,
            .size = bytes,
            .id = id,
            .born = atomic_load_explicit(&m->generation, memory_order_relaxed) + 1,
            .kind = MEM_REGISTERED,
            .state = MEM_LIVE,
            .given = true,
            .lent = lent,
            .name = name_make(m, name, NULL),
            .alloc_site = text_keep(m, site),
        };
        atomic_store_explicit(&m->objects, id, memory_order_release);
        change(r);
        forget_freed(r, addr, addr + bytes, r->freed >= FREED_MOST);
        u32 n = atomic_load_explicit(&r->count, memory_order_relaxed);
        struct mem_object **list = r->list;
        u32 at = starts_before(list, n, addr);
        for (u32 i = n; i > at; i--) __atomic_store_n(&list[i], list[i - 1], __ATOMIC_RELEASE);
        __atomic_store_n(&list[at], o, __ATOMIC_RELEASE);
        atomic_store_explicit(&r->count, n + 1, memory_order_release);
        change(r);
        live_add(m, o);
        atomic_fetch_add_explicit(&m->generation, 1, memory_order_release);
    }
    unlock(&m->lock);
    return o;
}

struct mem_object *mem_register(struct mem *m, u64 addr, u64 bytes, const char *name, const char *site,
                                struct mem_object **other, struct error *e)
{
    return registered_enter(m, addr, bytes, name, site, 0, other, e);
}

enum mem_free_result mem_unregister(struct mem *m, u64 addr, const char *site, struct mem_object **object)
{
    lock(&m->lock);
    struct mem_object *o = registered_find(m, addr);
    if (o && o->lent) o = NULL; /* the program has not registered it */
    if (object) *object = o;
    bool start = o && o->base == addr;
    enum mem_free_result result = !start ? MEM_FREE_BAD : o->state == MEM_FREED ? MEM_FREE_TWICE : MEM_FREE_OK;
    if (result == MEM_FREE_OK) end(m, o, site);
    unlock(&m->lock);
    return result;
}
