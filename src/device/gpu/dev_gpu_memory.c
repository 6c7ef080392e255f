/* The objects of a real GPU: allocations of all kinds and the variables of modules.
 *
 * They are kept in a list of our own, sorted by address, so that copies and frees are checked alike and named alike on
 * both devices. A freed object stays, so that a use of it is recognised, until its addresses are used again; its struct
 * is then used again, too. Objects do not overlap but for those of allocation nodes, of which the newest counts. */
#include "gpu/dev_gpu.h"
#include <inttypes.h>

static void drop(struct gpu *g, const struct mem_object *o)
{
    if (o->kind == MEM_PINNED)
        g->cu.free_host((void *)(uintptr_t)o->base);
    else if (o->kind == MEM_REGISTERED)
        ask_driver(&g->cu, host_unregister, (void *)(uintptr_t)o->base);
    else if (o->kind == MEM_DEVICE || o->kind == MEM_POOL || o->kind == MEM_MANAGED)
        g->cu.free(o->base);
}

void gpu_drop_all(struct gpu *g)
{
    for (u32 i = 0; i < g->objects; i++)
        if (g->object[i]->o.state == MEM_LIVE && g->retained) drop(g, &g->object[i]->o);
    base_free(g->object);
    g->object = NULL;
    g->objects = g->capacity = 0;
}

/* Entries below `addr` or at it. */
static u32 above(const struct gpu *g, u64 addr)
{
    u32 low = 0, high = g->objects;
    while (low < high) {
        u32 mid = low + (high - low) / 2;
        if (g->object[mid]->o.base <= addr)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static struct mem_object *find_locked(const struct gpu *g, u64 addr)
{
    u32 i = above(g, addr);
    struct mem_object *o = i ? &g->object[i - 1]->o : NULL;
    /* the driver leaves no gap between allocations: the end of one may be the start of the next */
    return o && addr - o->base <= o->size ? o : NULL;
}

struct mem_object *gpu_find(struct device *d, u64 addr)
{
    struct gpu *g = d->gpu;
    lock(&g->lock);
    struct mem_object *o = find_locked(g, addr);
    unlock(&g->lock);
    return o;
}

bool gpu_knows(struct device *d, u64 addr)
{
    int type = 0;
    if (!gpu_current(d->gpu, &(struct error){ 0 })) return true;
    return ask_driver(&d->gpu->cu, pointer, &type, CU_POINTER_MEMORY_TYPE, addr) != 1;
}

/* So many bytes more of a kind, or less. */
static void count(struct gpu *g, enum mem_kind kind, u64 more, u64 less)
{
    for (u32 i = kind;; i = MEM_KINDS) {
        g->usage[i].live += more - less;
        g->usage[i].peak = MAX_OF(g->usage[i].peak, g->usage[i].live);
        if (i == MEM_KINDS) break;
    }
}

/* Takes the objects out whose addresses [base, base + size) are in use again: freed ones, and those of graphs. */
static void forget_old(struct gpu *g, u64 base, u64 size)
{
    u32 first = above(g, base), end = above(g, base + size - 1);
    if (first && g->object[first - 1]->o.base + MAX_OF(g->object[first - 1]->o.size, 1u) > base) first--;
    u32 kept = first;
    for (u32 i = first; i < end; i++) {
        struct gpu_object *x = g->object[i];
        if (x->o.state == MEM_LIVE && !x->graph) {
            g->object[kept++] = x;
        } else {
            if (x->o.state == MEM_LIVE) count(g, x->o.kind, 0, x->o.size);
            x->next = g->spare;
            g->spare = x;
        }
    }
    if (g->objects > end) memmove(g->object + kept, g->object + end, (g->objects - end) * sizeof *g->object);
    g->objects -= end - kept;
}

/* A copy that lives as long as the GPU; the same text is kept once. */
static const char *keep(struct gpu *g, const char *text)
{
    char *kept = text ? map_get(&g->kept, str_of(text)) : NULL;
    if (kept || !text) return kept;
    kept = arena_str(&g->text, str_of(text));
    map_put(&g->text, &g->kept, str_of(kept), kept);
    return kept;
}

static struct gpu_object *object_new(struct gpu *g)
{
    struct gpu_object *x = g->spare;
    if (x)
        g->spare = x->next;
    else
        x = NEW(&g->text, struct gpu_object);
    *x = (struct gpu_object){ .o.id = ++g->numbered, .o.born = g->numbered, .o.state = MEM_LIVE };
    return x;
}

static struct mem_object *enter_locked(struct gpu *g, const struct mem_object *as, bool graph)
{
    forget_old(g, as->base, MAX_OF(as->size, 1u));
    if (g->objects == g->capacity) {
        u32 capacity = MAX_OF(64u, g->capacity * 2);
        void *p = base_realloc(g->object, capacity * sizeof *g->object);
        if (!p) return NULL;
        g->object = p;
        g->capacity = capacity;
    }
    struct gpu_object *x = object_new(g);
    x->graph = graph;
    x->o.base = as->base;
    x->o.size = as->size;
    x->o.kind = as->kind;
    x->o.alloc_site = keep(g, as->alloc_site);
    x->o.name = keep(g, as->name);
    if (!x->o.name) {
        snprintf(x->unnamed, sizeof x->unnamed, "buffer %u", ++g->unnamed);
        x->o.name = x->unnamed;
    }
    u32 i = above(g, as->base);
    memmove(g->object + i + 1, g->object + i, (g->objects - i) * sizeof *g->object);
    g->object[i] = x;
    g->objects++;
    count(g, as->kind, as->size, 0);
    return &x->o;
}

struct mem_object *gpu_enter(struct gpu *g, u64 base, u64 size, enum mem_kind kind, bool graph, const char *name,
                             const char *site)
{
    struct mem_object as = { .base = base, .size = size, .kind = kind, .name = name, .alloc_site = site };
    lock(&g->lock);
    struct mem_object *o = enter_locked(g, &as, graph);
    unlock(&g->lock);
    return o;
}

void gpu_leave(struct gpu *g, struct mem_object *o, const char *site)
{
    lock(&g->lock);
    if (o->state == MEM_LIVE) {
        o->free_site = keep(g, site);
        __atomic_store_n(&o->state, MEM_FREED, __ATOMIC_RELEASE);
        count(g, o->kind, 0, o->size);
    }
    unlock(&g->lock);
}

struct mem_object *gpu_alloc(struct device *d, u64 bytes, enum mem_kind kind, const char *name, const char *site,
                             struct error *e)
{
    struct gpu *g = d->gpu;
    u64 addr = 0;
    size_t n = MAX_OF(bytes, 1u);
    void *p = NULL;
    bool ok = gpu_current(g, e);
    if (ok && kind == MEM_PINNED)
        ok = CALL(g, e, "cuMemHostAlloc", alloc_host, &p, n, CU_HOST_PORTABLE | CU_HOST_MAPPED);
    else if (ok && kind == MEM_MANAGED)
        ok = CALL(g, e, "cuMemAllocManaged", alloc_managed, &addr, n, CU_MANAGED_GLOBAL);
    else if (ok)
        ok = CALL(g, e, "cuMemAlloc", alloc, &addr, n);
    if (!ok) return NULL;
    struct mem_object *o = gpu_enter(g, p ? (u64)(uintptr_t)p : addr, bytes, kind, false, name, site);
    if (!o) {
        error_set(e, ERR_MEMORY, "out of memory");
        drop(g, &(struct mem_object){ .base = p ? (u64)(uintptr_t)p : addr, .kind = kind });
    }
    return o;
}

enum mem_free_result gpu_free(struct device *d, u64 addr, const char *site, struct mem_object **object)
{
    struct gpu *g = d->gpu;
    struct mem_object *o = gpu_find(d, addr);
    if (object) *object = o;
    if (!o || o->base != addr) return MEM_FREE_BAD;
    if (o->state == MEM_FREED) return MEM_FREE_TWICE;
    g->cu.set_current(g->context);
    /* out of the list first: another thread may be given the same addresses as soon as the driver has them back */
    gpu_leave(g, o, site);
    drop(g, &(struct mem_object){ .base = addr, .kind = o->kind });
    return MEM_FREE_OK;
}

u32 gpu_register(struct device *d, void *host, u64 bytes, const char *name, const char *site, struct mem_object **out,
                 struct error *e)
{
    u64 address = 0, base = (u64)(uintptr_t)host;
    *out = NULL;
    u32 code = gpu_ready(d, e);
    if (!code)
        code = ASK(d, NULL, e, "cuMemHostRegister", host_register, host, bytes, CU_HOST_PORTABLE | CU_HOST_MAPPED);
    if (code) return code;
    code = ASK(d, NULL, e, "cuMemHostGetDevicePointer", host_address, &address, host, 0);
    if (!code && address != base) {
        error_set(e, ERR_UNSUPPORTED, "%s has another address for this memory than the host", d->gpu->title);
        code = CU_NOT_SUPPORTED;
    }
    if (!code && !(*out = gpu_enter(d->gpu, base, bytes, MEM_REGISTERED, false, name, site))) code = gpu_no_memory(e);
    if (code) ask_driver(&d->gpu->cu, host_unregister, host);
    return code;
}

u32 gpu_unregister(struct device *d, void *host, const char *site, struct error *e)
{
    u64 base = (u64)(uintptr_t)host;
    struct mem_object *o = gpu_find(d, base);
    u32 code = gpu_ready(d, e);
    if (!code) code = ASK(d, NULL, e, "cuMemHostUnregister", host_unregister, host);
    if (!code && o && o->base == base && o->kind == MEM_REGISTERED) gpu_leave(d->gpu, o, site);
    return code;
}

void gpu_describe(struct device *d, struct mem_object *o, const char *name, const char *type, u32 element_size)
{
    struct gpu *g = d->gpu;
    lock(&g->lock);
    o->name = name ? keep(g, name) : o->name;
    o->type = keep(g, type);
    o->element_size = element_size;
    unlock(&g->lock);
}

struct mem_usage gpu_usage(const struct device *d, enum mem_kind kind)
{
    struct gpu *g = d->gpu;
    lock(&g->lock);
    struct mem_usage usage = g->usage[kind];
    unlock(&g->lock);
    return usage;
}

u64 gpu_live(const struct device *d) { return gpu_usage(d, MEM_KINDS).live; }

const struct mem_object *gpu_object_at(const struct device *d, u32 i)
{
    return i < d->gpu->objects ? &d->gpu->object[i]->o : NULL;
}
