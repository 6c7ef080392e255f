/* The handles that callers hold, by address: a table with open addressing, under one lock. */
#include "cuda/cu.h"

static struct {
    lock_t lock;
    struct slot {
        const void *handle; /* NULL: free */
        enum cu_kind kind;  /* 0: it was removed */
    } * slot;
    u32 cap, used; /* slots, a power of two; those with a handle, removed ones too */
} all = { .lock = LOCK_INIT };

static u32 home_of(const void *handle, u32 cap)
{
    return (u32)(((uintptr_t)handle >> 4) * 0x9e3779b97f4a7c15u >> 32) & (cap - 1);
}

/* Its slot, or the free one where it would be. */
static struct slot *slot_of(struct slot *s, u32 cap, const void *handle)
{
    u32 i = home_of(handle, cap);
    while (s[i].handle && s[i].handle != handle) i = (i + 1) & (cap - 1);
    return &s[i];
}

static bool grow(void)
{
    u32 cap = all.cap ? 2 * all.cap : 64, used = 0;
    struct slot *more = base_alloc(sizeof *more * cap);
    if (!more) return false;
    for (u32 i = 0; i < all.cap; i++)
        if (all.slot[i].kind) {
            *slot_of(more, cap, all.slot[i].handle) = all.slot[i];
            used++;
        }
    base_free(all.slot);
    all.slot = more;
    all.cap = cap;
    all.used = used;
    return true;
}

bool cu_handle_add(void *handle, enum cu_kind kind)
{
    lock(&all.lock);
    bool ok = all.used < all.cap / 2 || grow();
    if (ok) {
        struct slot *s = slot_of(all.slot, all.cap, handle);
        all.used += !s->handle;
        *s = (struct slot){ handle, kind };
    }
    unlock(&all.lock);
    return ok;
}

void cu_handle_remove(void *handle)
{
    lock(&all.lock);
    struct slot *s = all.cap ? slot_of(all.slot, all.cap, handle) : NULL;
    if (s && s->handle) s->kind = 0;
    unlock(&all.lock);
}

void *cu_handle_new(enum cu_kind kind, size_t bytes)
{
    void *handle = base_alloc(bytes);
    if (!handle || cu_handle_add(handle, kind)) return handle;
    base_free(handle);
    return NULL;
}

bool cu_handle_take(void *handle, enum cu_kind kind)
{
    lock(&all.lock);
    struct slot *s = handle && all.cap ? slot_of(all.slot, all.cap, handle) : NULL;
    bool is = s && s->handle && s->kind == kind;
    if (is) s->kind = 0;
    unlock(&all.lock);
    return is;
}

void cu_handle_end(void *handle)
{
    if (!handle) return;
    cu_handle_remove(handle);
    base_free(handle);
}

bool cu_handle_is(const void *handle, enum cu_kind kind)
{
    if (!handle) return false;
    lock(&all.lock);
    bool is = all.cap && slot_of(all.slot, all.cap, handle)->handle && slot_of(all.slot, all.cap, handle)->kind == kind;
    unlock(&all.lock);
    return is;
}

void *cu_handle_find(enum cu_kind kind, bool (*wanted)(void *handle, void *self), void *self)
{
    u32 n = 0;
    lock(&all.lock);
    void **list = base_alloc((all.used + 1) * sizeof *list), *found = NULL;
    for (u32 i = 0; list && i < all.cap; i++)
        if (all.slot[i].kind == kind) list[n++] = (void *)(uintptr_t)all.slot[i].handle;
    unlock(&all.lock);
    for (u32 i = 0; i < n && !found; i++)
        if (wanted(list[i], self)) found = list[i];
    base_free(list);
    return found;
}
