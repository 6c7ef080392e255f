/* Virtual memory management: reserved addresses are an object of the plain zone; physical memory is a piece of one file
 * in memory, and is mapped over the pages of the object in the engine's view. So runs of several mappings are one
 * memory, and the same memory appears at several addresses.
 *
 * Each granule of an object has a byte with its rights, which kernels read without a lock. What is known of undefined
 * bytes belongs to addresses: memory that was mapped before, or is mapped twice, counts as defined. */
#include "mem/zone.h"
#include "mem/mapped.h"
#include <inttypes.h>

enum { EVER = 8 };   /* of a granule: something was mapped there */
enum { REACH = 64 }; /* granules that mem_run looks at on either side */

struct gap {
    u64 offset, bytes;
};
struct mem_maps {
    struct mem_mapping *list; /* in order of addresses */
    u32 n, cap;
    u64 granules;
    u8 right[]; /* of each granule */
};

struct mem_object *mem_virtual_new(struct mem *m, u64 bytes, u64 align, const char *name, const char *site,
                                   struct error *e)
{
    struct mem_object *o = mem_reserve(m, bytes, MAX_OF(align, MEM_GRANULE), MEM_VIRTUAL, name, site, e);
    if (!o) return NULL;
    lock(&m->lock); /* the object stays, freed, and so does this */
    struct mem_maps *maps = arena_alloc(&m->text, sizeof *maps + bytes / MEM_GRANULE, _Alignof(struct mem_maps));
    *maps = (struct mem_maps){ .granules = bytes / MEM_GRANULE };
    memset(maps->right, 0, maps->granules);
    o->maps = maps;
    unlock(&m->lock);
    mem_start(m, o);
    return o;
}

/* ---- physical memory ---- */

void physical_close(struct mem *m)
{
    if (m->physical.file >= 0) pages_file_close(m->physical.file);
    base_free(m->physical.gap);
    for (u32 id = 1; id <= atomic_load(&m->objects); id++) {
        struct mem_object *o = object_at(m, id);
        if (o->maps) base_free(o->maps->list);
    }
}

/* With the lock: a piece that was given back, the first that is large enough; false: none is. */
static bool gap_take(struct physical *p, u64 bytes, u64 *offset)
{
    for (u32 i = 0; i < p->gaps; i++) {
        struct gap *g = &p->gap[i];
        if (g->bytes < bytes) continue;
        *offset = g->offset;
        g->offset += bytes;
        g->bytes -= bytes;
        if (!g->bytes) *g = p->gap[--p->gaps];
        return true;
    }
    return false;
}

struct mem_physical *mem_physical_new(struct mem *m, u64 bytes, struct error *e)
{
    struct physical *f = &m->physical;
    struct mem_physical *p = base_alloc(sizeof *p);
    bool ok = p != NULL;
    lock(&m->lock);
    if (ok && f->file < 0) ok = (f->file = pages_file(0)) >= 0;
    if (ok && !gap_take(f, bytes, &p->offset)) {
        ok = !base_alloc_refused() && pages_file_grow(f->file, f->bytes + bytes);
        if (ok) {
            p->offset = f->bytes;
            f->bytes += bytes;
        }
    }
    if (ok) {
        p->bytes = bytes;
        struct mem_object counted = { .kind = MEM_DEVICE, .size = bytes };
        live_add(m, &counted);
        f->live += bytes;
    }
    unlock(&m->lock);
    if (ok) return p;
    base_free(p);
    error_set(e, ERR_MEMORY, "%" PRIu64 " bytes of device memory cannot be had: the system refuses more", bytes);
    return NULL;
}

void mem_physical_delete(struct mem *m, struct mem_physical *p)
{
    struct physical *f = &m->physical;
    CHECK(!p->mappings);
    lock(&m->lock);
    pages_file_punch(f->file, p->offset, p->bytes);
    NEED_ROOM(f->gap, f->gaps, f->capgap, 16);
    f->gap[f->gaps++] = (struct gap){ p->offset, p->bytes };
    for (u32 i = 0; i < f->gaps - 1; i++) { /* one piece with what is before or after it */
        struct gap *g = &f->gap[i], *mine = &f->gap[f->gaps - 1];
        if (g->offset + g->bytes != mine->offset && mine->offset + mine->bytes != g->offset) continue;
        *g = (struct gap){ MIN_OF(g->offset, mine->offset), g->bytes + mine->bytes };
        f->gaps--;
        break;
    }
    struct mem_object counted = { .kind = MEM_DEVICE, .size = p->bytes };
    live_remove(m, &counted);
    f->live -= p->bytes;
    unlock(&m->lock);
    base_free(p);
}

/* ---- mappings ---- */

static u64 granule_of(const struct mem_object *o, u64 addr) { return (addr - o->base) / MEM_GRANULE; }

static void rights_put(struct mem_object *o, u64 at, u64 bytes, u8 right, u8 keep)
{
    u8 *g = o->maps->right;
    for (u64 i = granule_of(o, at), end = granule_of(o, at + bytes); i < end; i++)
        __atomic_store_n(&g[i], right | (g[i] & keep), __ATOMIC_RELEASE);
}

bool mem_map(struct mem *m, struct mem_object *o, u64 at, u64 bytes, struct mem_physical *p, struct error *e)
{
    struct mem_maps *x = o->maps;
    struct mem_mapping *list = x->list;
    if (x->n == x->cap && !(list = base_realloc(list, sizeof *list * (x->cap ? 2 * x->cap : 16))))
        return error_set(e, ERR_MEMORY, "out of memory");
    if (x->n == x->cap) x->cap = x->cap ? 2 * x->cap : 16;
    x->list = list;
    if (!pages_map(m->physical.file, p->offset, at + o->engine, bytes))
        return error_set(e, ERR_MEMORY, "%" PRIu64 " bytes cannot be mapped: the system refuses more", bytes);
    u32 k = x->n;
    for (; k && list[k - 1].at > at; k--) list[k] = list[k - 1];
    list[k] = (struct mem_mapping){ at, bytes, p };
    x->n++;
    if (p->used)
        shadow_define(&m->init, at, bytes);
    else
        shadow_forget(&m->init, at, bytes);
    if (p->mappings == 1) shadow_define(&m->init, p->first, MIN_OF(bytes, p->bytes));
    if (!p->mappings++) p->first = at;
    p->used = true;
    rights_put(o, at, bytes, MEM_MAPPED | EVER, 0);
    atomic_fetch_add_explicit(&m->generation, 1, memory_order_release);
    return true;
}

void mem_unmap(struct mem *m, struct mem_object *o, const struct mem_mapping *which)
{
    struct mem_maps *x = o->maps;
    struct mem_mapping gone = *which;
    u32 k = (u32)(which - x->list);
    rights_put(o, gone.at, gone.bytes, 0, EVER);
    atomic_fetch_add_explicit(&m->generation, 1, memory_order_release);
    memmove(x->list + k, x->list + k + 1, sizeof *x->list * (x->n - k - 1));
    x->n--;
    gone.physical->mappings--;
    /* pages of their own again, so that who still comes here by mistake finds some */
    pages_withdraw(gone.at + o->engine, gone.bytes);
    pages_commit(gone.at + o->engine, gone.bytes);
    shadow_forget(&m->init, gone.at, gone.bytes);
}

void mem_protect(struct mem *m, struct mem_object *o, u64 at, u64 bytes, u32 rights)
{
    rights_put(o, at, bytes, (u8)(MEM_MAPPED | rights), EVER);
    atomic_fetch_add_explicit(&m->generation, 1, memory_order_release);
}

const struct mem_mapping *mem_mappings(const struct mem_object *o, u32 *n)
{
    *n = o->maps ? o->maps->n : 0;
    return o->maps ? o->maps->list : NULL;
}

const struct mem_mapping *mem_mapping_at(const struct mem_object *o, u64 addr)
{
    const struct mem_maps *x = o->maps;
    for (u32 low = 0, high = x ? x->n : 0; low < high;) {
        u32 mid = low + (high - low) / 2;
        const struct mem_mapping *k = &x->list[mid];
        if (addr - k->at < k->bytes) return k;
        if (k->at < addr)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

/* ---- runs ---- */

static u32 right_at(const struct mem_maps *x, u64 i) { return __atomic_load_n(&x->right[i], __ATOMIC_ACQUIRE); }

u32 mem_rights(const struct mem_object *o, u64 addr)
{
    const struct mem_maps *x = o->maps;
    u64 i = granule_of(o, addr);
    return x && addr >= o->base && i < x->granules ? right_at(x, i) & ~(u32)EVER : 0;
}

bool mem_run(const struct mem_object *o, u64 addr, u32 rights, u64 *lo, u64 *bytes)
{
    const struct mem_maps *x = o->maps;
    *lo = o->base;
    *bytes = o->size;
    if (likely(!x)) return true;
    u64 i = granule_of(o, addr), first = i, end = i + 1;
    if (addr < o->base || i >= x->granules || (right_at(x, i) & rights) != rights) return false;
    while (first && i - first < REACH && (right_at(x, first - 1) & rights) == rights) first--;
    while (end < x->granules && end - i < REACH && (right_at(x, end) & rights) == rights) end++;
    *lo = o->base + first * MEM_GRANULE;
    *bytes = (end - first) * MEM_GRANULE;
    return true;
}

u64 mem_run_bytes(const struct mem_object *o, u64 addr, u64 bytes, u32 rights)
{
    u64 at = addr, lo, n;
    while (at - addr < bytes && at - o->base < o->size && mem_run(o, at, rights, &lo, &n)) at = lo + n;
    return MIN_OF(at - addr, bytes);
}

bool mem_run_next(const struct mem_object *o, u64 from, bool ever, u64 *lo, u64 *bytes)
{
    const struct mem_maps *x = o->maps;
    u32 wanted = ever ? EVER : MEM_MAPPED;
    *lo = MAX_OF(from, o->base);
    *bytes = o->base + o->size - *lo;
    if (!x) return from < o->base + o->size;
    u64 i = granule_of(o, *lo), end;
    while (i < x->granules && !(right_at(x, i) & wanted)) i++;
    for (end = i; end < x->granules && right_at(x, end) & wanted; end++) continue;
    *lo = MAX_OF(*lo, o->base + i * MEM_GRANULE);
    *bytes = o->base + end * MEM_GRANULE - *lo;
    return i < x->granules;
}
