/* The textures and surfaces of the process, by number: the upper half says how often the entry was used before, the
 * lower half which entry. */
#include "mem/texels.h"
#include "mem/zone.h"

struct texel_entry {
    struct texture texture;
    atomic_uint use;     /* the upper half of its number */
    atomic_bool live;    /* not destroyed */
    u32 next;            /* of those that rest, or of those that are kept; REGION_NONE: last */
    atomic_ullong until; /* once it is destroyed: the age of the last operation that it stays for; 0: none */
};

static struct {
    lock_t lock;          /* of who adds and removes */
    struct stable entry;  /* struct texel_entry */
    atomic_uint n;        /* of them */
    u32 number;           /* textures so far */
    u32 rest, head, tail; /* destroyed entries, the oldest first */
    u32 kept;             /* the first of those that operations in flight may still use, the newest first */
    atomic_uint nkept;    /* how many */
} all = { .lock = LOCK_INIT, .head = REGION_NONE, .tail = REGION_NONE, .kept = REGION_NONE };

/* FIRST: 0 is no texture, and small integers are more likely something else. REST: so many others are destroyed before
 * an entry is used again. */
enum { FIRST = 1 << 20, REST = 1024 };

static struct texel_entry *entry_at(u64 handle)
{
    u32 i = (u32)handle - FIRST;
    return i < atomic_load_explicit(&all.n, memory_order_acquire) ? stable_at(&all.entry, i, sizeof(struct texel_entry))
                                                                  : NULL;
}

/* With the lock: one that has rested, or a new one; NULL: no memory. */
static struct texel_entry *entry_take(u32 *index)
{
    u32 n = atomic_load_explicit(&all.n, memory_order_relaxed);
    struct texel_entry *e;
    *index = n;
    if (all.rest < REST) return stable_reach(&all.entry, n, sizeof *e) ? stable_at(&all.entry, n, sizeof *e) : NULL;
    *index = all.head;
    e = stable_at(&all.entry, *index, sizeof *e);
    all.head = e->next;
    all.rest--;
    base_free(e->texture.level);
    atomic_fetch_add_explicit(&e->use, 1, memory_order_relaxed);
    return e;
}

u64 texture_add(const struct texture *t)
{
    u32 i;
    u64 handle = 0;
    struct texels *level = t->levels > 1 ? base_alloc(sizeof *level * (t->levels - 1)) : NULL;
    if (t->levels > 1 && !level) return 0;
    if (level) memcpy(level, t->level, sizeof *level * (t->levels - 1));
    lock(&all.lock);
    struct texel_entry *e = entry_take(&i);
    if (e) {
        e->texture = *t;
        e->texture.level = level;
        e->texture.number = ++all.number;
        handle = (u64)atomic_load_explicit(&e->use, memory_order_relaxed) << 32 | (FIRST + i);
        atomic_store_explicit(&e->live, true, memory_order_release);
        if (i == atomic_load_explicit(&all.n, memory_order_relaxed))
            atomic_store_explicit(&all.n, i + 1, memory_order_release);
    }
    unlock(&all.lock);
    if (!handle) base_free(level);
    return handle;
}

/* With the lock. */
static void rest(struct texel_entry *e, u32 i)
{
    e->next = REGION_NONE;
    if (all.rest++)
        ((struct texel_entry *)stable_at(&all.entry, all.tail, sizeof *e))->next = i;
    else
        all.head = i;
    all.tail = i;
}

bool texture_remove(u64 handle, bool surface, u64 until)
{
    struct texel_entry *e = entry_at(handle);
    if (!e) return false;
    lock(&all.lock);
    bool is = atomic_load(&e->use) == handle >> 32 && e->texture.surface == surface && atomic_load(&e->live);
    if (is) {
        u32 i = (u32)handle - FIRST;
        atomic_store_explicit(&e->until, until, memory_order_relaxed);
        atomic_store_explicit(&e->live, false, memory_order_release);
        if (until) {
            e->next = all.kept;
            all.kept = i;
            atomic_fetch_add_explicit(&all.nkept, 1, memory_order_relaxed);
        } else {
            rest(e, i);
        }
    }
    unlock(&all.lock);
    return is;
}

void texture_settle(const struct mem *mem, u64 oldest)
{
    lock(&all.lock);
    for (u32 *at = &all.kept; *at != REGION_NONE;) {
        u32 i = *at;
        struct texel_entry *e = stable_at(&all.entry, i, sizeof *e);
        if (e->texture.mem != mem || atomic_load_explicit(&e->until, memory_order_relaxed) >= oldest) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        atomic_fetch_sub_explicit(&all.nkept, 1, memory_order_relaxed);
        rest(e, i);
    }
    unlock(&all.lock);
}

bool texture_is_late(u64 handle)
{
    struct texel_entry *e = entry_at(handle);
    return e && !atomic_load_explicit(&e->live, memory_order_relaxed);
}

u32 texture_kept(void) { return atomic_load_explicit(&all.nkept, memory_order_relaxed); }

const struct texture *texture_at(u64 handle, u64 age, bool *gone)
{
    struct texel_entry *e = entry_at(handle);
    u32 use = e ? atomic_load_explicit(&e->use, memory_order_acquire) : 0;
    *gone = e && (use != handle >> 32 || (!atomic_load_explicit(&e->live, memory_order_acquire) &&
                                          age > atomic_load_explicit(&e->until, memory_order_relaxed)));
    return e && handle >> 32 <= use ? &e->texture : NULL;
}
