/* Objects: allocating, freeing, naming and finding them. zone.h has the idea; here is who gets which region and when.
 *
 * A freed region rests in quarantine until the zone's budget is spent by younger ones (but never among the last
 * sixteen), or until there are RESTING_MOST of them, then waits on a free list. The object stays findable as freed
 * until the region is used again. The pages of a large freed object go back to the system at once, so resting costs
 * address space, not memory. A kernel may call malloc for ever, and a program
 * allocate in a stream for ever: there the object is used again with its region. */
#include "mem/zone.h"
#include "sites/where.h"

enum { RED_SMALLEST = 256, RED_LARGEST = 1 << 20, RESTING_LEAST = 16, RESTING_MOST = 1 << 16, EMPTY_FROM = 64 << 10 };
#define QUARANTINE_BYTES (1ull << 30)

bool stable_reach(struct stable *t, u32 i, size_t size)
{
    if (i > UINT32_MAX - STABLE_FIRST) return false;
    u32 k = 31 - (u32)__builtin_clz(i + STABLE_FIRST) - 10;
    if (k >= STABLE_CHUNKS) return false;
    if (atomic_load_explicit(&t->chunk[k], memory_order_relaxed)) return true;
    void *p = base_alloc(((size_t)STABLE_FIRST << k) * size);
    atomic_store_explicit(&t->chunk[k], p, memory_order_release);
    return p;
}

void stable_free(struct stable *t)
{
    for (u32 k = 0; k < STABLE_CHUNKS; k++) base_free(t->chunk[k]);
}

struct mem *mem_new(struct error *e)
{
    struct mem *m = base_alloc(sizeof *m);
    if (!m) {
        error_set(e, ERR_MEMORY, "out of memory");
        return NULL;
    }
    pthread_mutex_init(&m->lock, NULL);
    m->physical.file = -1;
    if (!space_reserve(m, e)) {
        mem_delete(m);
        return NULL;
    }
    m->quarantine_budget = MIN_OF(QUARANTINE_BYTES, m->bytes / 32);
    for (u32 i = 0; i < ZONES; i++) {
        memset(m->zone[i].free, 0xff, sizeof m->zone[i].free);
        m->zone[i].quarantine = (struct region_list){ REGION_NONE, REGION_NONE };
    }
    return m;
}

void mem_delete(struct mem *m)
{
    if (!m) return;
    space_release(m);
    physical_close(m);
    for (u32 i = 0; i < ZONES; i++) stable_free(&m->zone[i].region);
    stable_free(&m->object);
    registry_free(&m->registry);
    shadow_close(&m->init);
    arena_free(&m->text);
    sites_close(&m->sites);
    pthread_mutex_destroy(&m->lock);
    base_free(m);
}

static struct region *region_at(const struct zone *z, u32 i) { return stable_at(&z->region, i, sizeof(struct region)); }

/* Region sizes: multiples of 256 up to 4 KiB, then eight steps to each doubling, so that at most an eighth is lost. */
static u64 size_round(u64 bytes, u32 *class)
{
    if (bytes <= 4096) {
        bytes = (bytes + 255) & ~255ull;
        *class = (u32)(bytes / 256);
        return bytes;
    }
    u32 top = 63 - (u32)__builtin_clzll(bytes - 1);
    u64 step = 1ull << (top - 3);
    u64 steps = (bytes + step - 1) / step; /* 9 to 16 */
    *class = 17 + (top - 12) * 8 + (u32)(steps - 9);
    return steps * step;
}

static void list_add(struct zone *z, struct region_list *l, u32 i)
{
    region_at(z, i)->next = REGION_NONE;
    if (l->head == REGION_NONE)
        l->head = i;
    else
        region_at(z, l->tail)->next = i;
    l->tail = i;
}

static u32 list_take(struct zone *z, struct region_list *l)
{
    u32 i = l->head;
    if (i != REGION_NONE && (l->head = region_at(z, i)->next) == REGION_NONE) l->tail = REGION_NONE;
    return i;
}

static void quarantine_drop(struct zone *z)
{
    u32 i = list_take(z, &z->quarantine), class;
    struct region *r = region_at(z, i);
    z->quarantined -= r->bytes;
    z->quarantine_count--;
    size_round(r->bytes, &class);
    list_add(z, &z->free[class], i);
}

static u32 region_reuse(struct zone *z, u32 class, u32 last_class)
{
    for (u32 c = class; c <= last_class; c++) {
        u32 i = list_take(z, &z->free[c]);
        if (i != REGION_NONE) return i;
    }
    return REGION_NONE;
}

/* A region of this size: one that rested, a new one, or, when the zone is full, anything large enough that was freed.
 */
static u32 region_get(struct zone *z, u64 bytes, u32 class)
{
    u32 i = region_reuse(z, class, class);
    if (i != REGION_NONE) return i;
    u32 n = atomic_load_explicit(&z->regions, memory_order_relaxed);
    if (bytes <= z->to - z->next && stable_reach(&z->region, n, sizeof(struct region)) &&
        zone_reach(z, z->next + bytes)) {
        *region_at(z, n) = (struct region){ .start = z->next, .bytes = bytes, .next = REGION_NONE };
        z->next += bytes;
        return n;
    }
    while (z->quarantine.head != REGION_NONE) quarantine_drop(z);
    return region_reuse(z, class, SIZE_CLASSES - 1);
}

static u64 red_zone(u64 bytes)
{
    u64 red = (bytes / 16 + 255) & ~255ull;
    return MIN_OF(MAX_OF(red, (u64)RED_SMALLEST), (u64)RED_LARGEST);
}

static u32 zone_of(enum mem_kind kind)
{
    return kind == MEM_PINNED ? ZONE_PINNED : kind == MEM_MANAGED ? ZONE_MANAGED : ZONE_PLAIN;
}

struct mem_object *object_at(const struct mem *m, u32 id)
{
    return stable_at(&m->object, id - 1, sizeof(struct mem_object));
}

const char *text_keep(struct mem *m, const char *z)
{
    if (!z || where_kept(z)) return z;
    for (u32 k = 0; k < COUNT_OF(m->recent); k++)
        if (m->recent[k] && !strcmp(m->recent[k], z)) return m->recent[k];
    char *kept = map_get(&m->texts, str_of(z));
    if (!kept) {
        kept = arena_str(&m->text, str_of(z));
        map_put(&m->text, &m->texts, str_of(kept), kept);
    }
    return m->recent[m->nrecent++ % COUNT_OF(m->recent)] = kept;
}

/* The name of an object. Without a name it has a number, and a mark of where.h takes that number along: whoever reads
 * the mark may find no variable, and then names the object by it. before: an object that is used again, or NULL. */
const char *name_make(struct mem *m, const char *name, const struct mem_object *before)
{
    enum { MARK = 10 }; /* {lk@n0001f, without its brace */
    bool mark = name && where_kept(name);
    if (name && !mark) return text_keep(m, name);
    if (before && before->numbered && (mark ? !strncmp(before->name, name, MARK) : before->name[0] != '{'))
        return before->name;
    return mark ? arena_printf(&m->text, "%.*s#%u}", MARK, name, ++m->unnamed)
                : arena_printf(&m->text, "buffer %u", ++m->unnamed);
}

/* What an object's bytes are when it appears; a region that was used before has to forget. */
static void birth(struct mem *m, struct mem_object *o, bool used_before)
{
    bool raw = o->kind == MEM_DEVICE;
    for (u32 k = 0; k < MEM_SEEN; k++) __atomic_store_n(&o->finite[k], raw ? mem_unseen(k) : 0, __ATOMIC_RELEASE);
    if (zone_of(o->kind) != ZONE_PLAIN || o->kind == MEM_VIRTUAL) return; /* that is told of when it is mapped */
    if (o->kind == MEM_GLOBAL || o->kind == MEM_CONST)
        shadow_define(&m->init, o->base, o->size);
    else if (used_before)
        shadow_forget(&m->init, o->base, o->size);
}

struct shadow *mem_shadow(struct mem *m) { return &m->init; }

/* One for all memories: a launch may store into those of other devices. */
static u64 unseen[MEM_SEEN] = { 1, 1 };

u64 mem_unseen(u32 k) { return __atomic_load_n(&unseen[k], __ATOMIC_ACQUIRE); }

void mem_unseen_add(u8 as)
{
    if (as & MEM_AS_F32) __atomic_fetch_add(&unseen[0], 1, __ATOMIC_ACQ_REL);
    if (as & MEM_AS_F64) __atomic_fetch_add(&unseen[1], 1, __ATOMIC_ACQ_REL);
}

void mem_unseen_in(struct mem_object *o)
{
    for (u32 k = 0; k < MEM_SEEN; k++) __atomic_store_n(&o->finite[k], 0, __ATOMIC_RELEASE);
}

void mem_define(struct mem *m, struct mem_object *o)
{
    u64 epoch = __atomic_load_n(&m->init.epoch, __ATOMIC_ACQUIRE);
    if (zone_of(o->kind) != ZONE_PLAIN || __atomic_load_n(&o->defined, __ATOMIC_ACQUIRE) == epoch) return;
    mem_unseen_in(o);
    shadow_define(&m->init, o->base, o->size);
    __atomic_store_n(&o->defined, epoch, __ATOMIC_RELEASE);
}

void mem_define_all(struct mem *m)
{
    struct mem_object *o;
    for (u32 id = 1; (o = mem_by_id(m, id)); id++)
        if (mem_is_live(o)) mem_define(m, o);
}

void live_add(struct mem *m, const struct mem_object *o)
{
    if (o->kind == MEM_VIRTUAL || o->lent) return; /* addresses are no memory; what is lent is the host's */
    u32 at[] = { o->kind, MEM_KINDS };
    for (u32 k = 0; k < COUNT_OF(at); k++) {
        struct usage *u = &m->usage[at[k]];
        u64 live = atomic_load_explicit(&u->live, memory_order_relaxed) + o->size;
        atomic_store_explicit(&u->live, live, memory_order_relaxed);
        if (at[k] == MEM_KINDS) sites_add(&m->sites, o->alloc_site, o->size);
        if (at[k] == MEM_KINDS && live > u->peak) sites_peak(&m->sites);
        u->peak = MAX_OF(u->peak, live);
    }
}

void live_remove(struct mem *m, const struct mem_object *o)
{
    if (o->kind == MEM_VIRTUAL || o->lent) return;
    atomic_fetch_sub_explicit(&m->usage[o->kind].live, o->size, memory_order_relaxed);
    atomic_fetch_sub_explicit(&m->usage[MEM_KINDS].live, o->size, memory_order_relaxed);
    sites_remove(&m->sites, o->alloc_site, o->size);
}

u32 mem_sites(struct mem *m, struct site_usage *out, u32 most)
{
    lock(&m->lock);
    u32 n = sites_most(&m->sites, out, most);
    unlock(&m->lock);
    return n;
}

/* The object for a region: a new one with this number, or the one that was there before, which is used again: else a
 * program that allocates for hours would grow. */
static struct mem_object *object_for(struct mem *m, struct mem_object *before, enum mem_kind kind, u32 id)
{
    return kind != MEM_VIRTUAL && before && before->kind == kind ? before : object_at(m, id);
}

static struct mem_object *allocate(struct mem *m, u64 bytes, u64 align, enum mem_kind kind, enum mem_state state,
                                   const char *name, const char *site, struct error *e)
{
    CHECK(kind != MEM_REGISTERED);
    struct zone *z = &m->zone[zone_of(kind)];
    /* objects that the host uses share no page: its view of each can be protected alone */
    align = MAX_OF(align, kind == MEM_MANAGED || kind == MEM_PINNED ? page_size() : 256ull);
    CHECK(!(align & (align - 1)));
    u64 span = z->to - z->from;
    if (bytes > span || align > span || base_alloc_refused()) {
        error_set(e, ERR_MEMORY, "%llu bytes of device memory cannot be had: the arena holds %llu",
                  (unsigned long long)bytes, (unsigned long long)span);
        return NULL;
    }
    u32 class;
    u64 need = size_round(bytes + red_zone(bytes) + (align - 256), &class);

    lock(&m->lock);
    u32 id = atomic_load_explicit(&m->objects, memory_order_relaxed) + 1, i = REGION_NONE;
    if (stable_reach(&m->object, id - 1, sizeof(struct mem_object))) i = region_get(z, need, class);
    if (i == REGION_NONE) {
        unlock(&m->lock);
        error_set(
            e, ERR_MEMORY,
            "%llu bytes of device memory cannot be had: the system refuses more, or %llu bytes in use leave no room",
            (unsigned long long)bytes, (unsigned long long)mem_bytes_live(m));
        return NULL;
    }
    struct region *r = region_at(z, i);
    struct mem_object *before = atomic_load_explicit(&r->object, memory_order_relaxed),
                      *o = object_for(m, before, kind, id);
    if (o == before) id = o->id;
    const char *given = name_make(m, name, o == before ? o : NULL);
    *o = (struct mem_object){
        .base = (r->start + align - 1) & ~(align - 1),
        .size = bytes,
        .engine = z->engine,
        .id = id,
        .born = atomic_load_explicit(&m->generation, memory_order_relaxed) + 1,
        .kind = kind,
        .state = MEM_FREED, /* until all is set: another thread may look at an object that is used again */
        .numbered = !name || where_kept(name),
        .name = given,
        .alloc_site = text_keep(m, site),
    };
    __atomic_store_n(&o->state, state, __ATOMIC_RELEASE);
    if (o != before) atomic_store_explicit(&m->objects, id, memory_order_release);
    atomic_store_explicit(&r->object, o, memory_order_release);
    birth(m, o, i != atomic_load_explicit(&z->regions, memory_order_relaxed));
    if (i == atomic_load_explicit(&z->regions, memory_order_relaxed))
        atomic_store_explicit(&z->regions, i + 1, memory_order_release);
    if (state == MEM_LIVE) live_add(m, o);
    atomic_fetch_add_explicit(&m->generation, 1, memory_order_release);
    unlock(&m->lock);
    return o;
}

struct mem_object *mem_alloc(struct mem *m, u64 bytes, u64 align, enum mem_kind kind, const char *name,
                             const char *site, struct error *e)
{
    return allocate(m, bytes, align, kind, MEM_LIVE, name, site, e);
}

struct mem_object *mem_reserve(struct mem *m, u64 bytes, u64 align, enum mem_kind kind, const char *name,
                               const char *site, struct error *e)
{
    return allocate(m, bytes, align, kind, MEM_RESERVED, name, site, e);
}

void mem_start(struct mem *m, struct mem_object *o)
{
    lock(&m->lock);
    if (o->state == MEM_FREED && !o->kept) { /* its free has run first: nothing ordered the two */
        unlock(&m->lock);
        return;
    }
    CHECK(o->state == MEM_RESERVED || o->kept);
    if (o->kept) birth(m, o, true);
    o->kept = false;
    __atomic_store_n(&o->free_site, NULL, __ATOMIC_RELEASE);
    __atomic_store_n(&o->state, MEM_LIVE, __ATOMIC_RELEASE);
    live_add(m, o);
    atomic_fetch_add_explicit(&m->generation, 1, memory_order_release);
    unlock(&m->lock);
}

void mem_rest(struct mem *m, struct mem_object *o, const char *site)
{
    lock(&m->lock);
    CHECK(o->state == MEM_LIVE);
    o->kept = true;
    __atomic_store_n(&o->free_site, text_keep(m, site), __ATOMIC_RELEASE);
    __atomic_store_n(&o->state, MEM_FREED, __ATOMIC_RELEASE);
    live_remove(m, o);
    atomic_fetch_add_explicit(&m->generation, 1, memory_order_release);
    if (o->size >= EMPTY_FROM) zone_empty(&m->zone[zone_of(o->kind)], o->base, o->base + o->size);
    unlock(&m->lock);
}

/* Number of the region with start <= addr < start of the next; REGION_NONE: addr lies before the first, or in no
 * zone. */
static u32 region_of(const struct mem *m, u64 addr, const struct zone **zone)
{
    for (u32 k = 0; k < ZONES; k++) {
        const struct zone *z = *zone = &m->zone[k];
        if (addr - z->from >= z->to - z->from) continue;
        u32 low = 0, high = atomic_load_explicit(&z->regions, memory_order_acquire);
        while (low < high) {
            u32 mid = low + (high - low) / 2;
            if (region_at(z, mid)->start <= addr)
                low = mid + 1;
            else
                high = mid;
        }
        return low ? low - 1 : REGION_NONE;
    }
    *zone = NULL;
    return REGION_NONE;
}

struct mem_object *mem_find(const struct mem *m, u64 addr)
{
    const struct zone *z;
    u32 i = region_of(m, addr, &z);
    if (unlikely(!z)) return registered_find(m, addr);
    if (i == REGION_NONE) return NULL;
    struct mem_object *o = atomic_load_explicit(&region_at(z, i)->object, memory_order_acquire);
    return o && addr >= o->base && addr - o->base <= o->size ? o : NULL;
}

enum mem_free_result mem_free(struct mem *m, u64 addr, const char *site, struct mem_object **object)
{
    lock(&m->lock);
    const struct zone *found;
    u32 i = region_of(m, addr, &found);
    struct mem_object *o = i == REGION_NONE ? NULL
                                            : atomic_load_explicit(&region_at(found, i)->object, memory_order_relaxed);
    bool start = o && o->base == addr, inside = o && addr >= o->base && addr - o->base <= o->size;
    if (object) *object = inside ? o : NULL;
    if (!start || (o->state == MEM_FREED && !o->kept)) {
        unlock(&m->lock);
        return start ? MEM_FREE_TWICE : MEM_FREE_BAD;
    }
    struct zone *z = &m->zone[found - m->zone];
    struct region *r = region_at(z, i);
    if (o->state == MEM_LIVE) live_remove(m, o);
    if (!o->kept) __atomic_store_n(&o->free_site, text_keep(m, site), __ATOMIC_RELEASE);
    o->kept = false;
    __atomic_store_n(&o->state, MEM_FREED, __ATOMIC_RELEASE);
    atomic_fetch_add_explicit(&m->generation, 1, memory_order_release);
    if (r->bytes >= EMPTY_FROM) zone_empty(z, r->start, r->start + r->bytes);
    list_add(z, &z->quarantine, i);
    z->quarantined += r->bytes;
    z->quarantine_count++;
    while ((z->quarantined > m->quarantine_budget && z->quarantine_count > RESTING_LEAST) ||
           z->quarantine_count > RESTING_MOST)
        quarantine_drop(z);
    unlock(&m->lock);
    return MEM_FREE_OK;
}

void mem_describe(struct mem *m, struct mem_object *o, const char *name, const char *type, u32 element_size)
{
    lock(&m->lock);
    if (name) __atomic_store_n(&o->name, text_keep(m, name), __ATOMIC_RELEASE);
    __atomic_store_n(&o->type, text_keep(m, type), __ATOMIC_RELEASE);
    __atomic_store_n(&o->element_size, element_size, __ATOMIC_RELEASE);
    unlock(&m->lock);
}

void mem_call(struct mem *m, struct mem_object *o, const char *name)
{
    lock(&m->lock);
    size_t n = strlen(o->name);
    if (o->numbered && o->name[0] == '{' && !strchr(o->name, '=')) /* a mark of where.h */
        __atomic_store_n(&o->name, arena_printf(&m->text, "%.*s=%s}", (int)n - 1, o->name, name), __ATOMIC_RELEASE);
    unlock(&m->lock);
}

u64 mem_address(const struct mem *m, u64 view)
{
    for (u32 i = 0; i < ZONES; i++) {
        const struct zone *z = &m->zone[i];
        if (view - z->engine >= z->from && view - z->engine < z->to) return view - z->engine;
    }
    return view; /* registered memory */
}

void mem_zero(struct mem *m, const struct mem_object *o)
{
    u64 page = page_size(), end = o->base + o->size, from = (o->base + page - 1) & ~(page - 1), to = end & ~(page - 1);
    if (o->size < EMPTY_FROM || from >= to) {
        memset(mem_view(o, o->base), 0, o->size);
        return;
    }
    memset(mem_view(o, o->base), 0, from - o->base);
    zone_empty(&m->zone[zone_of(o->kind)], from, to);
    memset(mem_view(o, to), 0, end - to);
}

u64 object_distance(const struct mem_object *o, u64 addr)
{
    return addr < o->base ? o->base - addr : addr - o->base <= o->size ? 0 : addr - o->base - o->size;
}

bool mem_covers(const struct mem *m, u64 addr) { return addr - m->base < m->bytes; }

struct mem_object *mem_near(const struct mem *m, u64 addr)
{
    const struct zone *z;
    u32 i = region_of(m, addr, &z);
    if (!z) return registered_near(m, addr);
    u32 n = atomic_load_explicit(&z->regions, memory_order_acquire), first = i == REGION_NONE ? 0 : i;
    struct mem_object *best = NULL;
    for (u32 k = first; k < n && k <= first + 1; k++) {
        struct mem_object *o = atomic_load_explicit(&region_at(z, k)->object, memory_order_acquire);
        if (o && (!best || object_distance(o, addr) < object_distance(best, addr))) best = o;
    }
    return best;
}

struct mem_object *mem_by_id(const struct mem *m, u32 id)
{
    return id && id <= atomic_load_explicit(&m->objects, memory_order_acquire) ? object_at(m, id) : NULL;
}

u64 mem_bytes_live(const struct mem *m)
{
    return atomic_load_explicit(&m->usage[MEM_KINDS].live, memory_order_relaxed);
}

u64 mem_bytes_of(const struct mem *m, enum mem_kind kind)
{
    return atomic_load_explicit(&m->usage[kind].live, memory_order_relaxed);
}

struct mem_usage mem_usage(struct mem *m, enum mem_kind kind)
{
    lock(&m->lock);
    struct mem_usage u = { atomic_load_explicit(&m->usage[kind].live, memory_order_relaxed), m->usage[kind].peak };
    unlock(&m->lock);
    return u;
}

u32 mem_generation(const struct mem *m) { return atomic_load_explicit(&m->generation, memory_order_acquire); }

u64 mem_shared_window(const struct mem *m) { return m->shared_window; }

u64 mem_local_window(const struct mem *m) { return m->local_window; }

const struct scalar *mem_scalar(const struct mem_object *o)
{
    const char *end = o->type ? strchr(o->type, '[') : NULL;
    const struct scalar *t = end ? scalar_find((struct str){ o->type, (u32)(end - o->type) }) : NULL;
    return t && o->size % t->bytes == 0 ? t : NULL;
}
