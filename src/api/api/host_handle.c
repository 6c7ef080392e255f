/* Handles: where their memory comes from, and who uses them.
 *
 * A handle is the address of what it names. Addresses of handles are never used twice in a process, which makes them
 * their own generation: one that was destroyed stays known as that. They are taken one after the other from regions of
 * reserved addresses; a byte for each 64 bytes of a region has the kind of the handle that begins there. Memory goes
 * back to the system in chunks, when all handles of one have ended: it then reads as zero, which is a handle that was
 * destroyed, so that a thread may look at a handle, and try to count itself, at any time. */
#include "api/host.h"
#include "sites/where.h"
#include <inttypes.h>
#include <sched.h>
#include <time.h>

enum {
    CHUNK = HANDLE_ALIGN * 4096, /* bytes that are given back together: a page of kinds */
    REGION_FIRST = 256 * CHUNK,  /* 64 MiB of addresses; each next region has twice as many */
    REGION_LEAST = 8 * CHUNK,    /* where there are not so many */
    REGION_DOUBLED_MOST = 10
};

struct handle_region {
    const struct handle_region *older;
    u64 base, end, top; /* its addresses; the next handle's, under the lock */
    u64 committed;      /* up to here there is memory, under the lock */
    u8 *kind;           /* atomic, for each HANDLE_ALIGN bytes: 1 + enum handle_kind where one begins, else 0 */
    u32 *live;          /* of each chunk: handles in it that have not ended, under the lock */
};

static lock_t room_lock = LOCK_INIT;
static struct handle_region *newest; /* atomic */
static u32 regions;

/* ---- memory ---- */

/* LeakSanitizer looks for pointers in memory that it knows. */
extern void __lsan_register_root_region(const void *p, size_t bytes) __attribute__((weak));

static struct handle_region *region_reserve(u64 bytes)
{
    u64 kinds = bytes / HANDLE_ALIGN, base = pages_reserve(0, bytes + kinds);
    if (!base) return NULL;
    struct handle_region *r = pages_commit(base + bytes, kinds) ? base_alloc(sizeof *r) : NULL;
    u32 *live = r ? base_alloc(bytes / CHUNK * sizeof *live) : NULL;
    if (!live) {
        base_free(r);
        pages_release(base, bytes + kinds);
        return NULL;
    }
    *r = (struct handle_region){ .base = base, .end = base + bytes, .top = base, .committed = base, .live = live };
    r->kind = (u8 *)(uintptr_t)(base + bytes);
    return r;
}

/* Under the lock: a region with room for so many bytes; NULL: there is none. */
static struct handle_region *region_with(u64 bytes)
{
    struct handle_region *r = newest;
    if (r && r->end - r->top >= bytes) return r;
    u64 size = (u64)REGION_FIRST << MIN_OF(regions, (u32)REGION_DOUBLED_MOST);
    while (size < bytes) size *= 2;
    for (r = NULL; !r && size >= REGION_LEAST && size >= bytes; size /= 2) r = region_reserve(size);
    if (!r) return NULL;
    regions++;
    r->older = newest;
    __atomic_store_n(&newest, r, __ATOMIC_RELEASE);
    return r;
}

/* Under the lock: memory for all up to `to`. */
static bool region_commit(struct handle_region *r, u64 to)
{
    u64 end = r->base + (to - r->base + CHUNK - 1) / CHUNK * CHUNK;
    if (end <= r->committed) return true;
    if (!pages_commit(r->committed, end - r->committed)) return false;
    if (__lsan_register_root_region) __lsan_register_root_region((void *)(uintptr_t)r->committed, end - r->committed);
    r->committed = end;
    return true;
}

static u64 rounded(size_t bytes) { return (bytes + HANDLE_ALIGN - 1) / HANDLE_ALIGN * HANDLE_ALIGN; }

/* Under the lock: the handle from `at` on has begun (+1) or ended (-1), in each chunk that it is in. */
static void handle_live_add(struct handle_region *r, u64 at, u64 bytes, int n)
{
    for (u64 c = (at - r->base) / CHUNK; c <= (at + bytes - 1 - r->base) / CHUNK; c++) {
        r->live[c] += (u32)n;
        u64 from = r->base + c * CHUNK;
        if (r->live[c] || from + CHUNK > r->top) continue;
        pages_discard(from, CHUNK);
        pages_discard((u64)(uintptr_t)r->kind + c * (CHUNK / HANDLE_ALIGN), CHUNK / HANDLE_ALIGN);
    }
}

void *handles_new(size_t bytes, u32 n)
{
    u64 all = rounded(bytes) * MAX_OF(n, 1u);
    if (base_alloc_refused()) return NULL;
    lock(&room_lock);
    struct handle_region *r = region_with(all);
    u64 at = r && region_commit(r, r->top + all) ? r->top : 0;
    if (at) {
        r->top += all;
        for (u32 i = 0; i < MAX_OF(n, 1u); i++) handle_live_add(r, at + i * rounded(bytes), rounded(bytes), 1);
    }
    unlock(&room_lock);
    return (void *)(uintptr_t)at;
}

void *handle_new(size_t bytes) { return handles_new(bytes, 1); }

static const struct handle_region *region_of(u64 at)
{
    const struct handle_region *r = __atomic_load_n(&newest, __ATOMIC_ACQUIRE);
    while (r && (at < r->base || at >= r->end)) r = r->older;
    return r;
}

static u8 *kind_at(const struct handle_region *r, u64 at) { return &r->kind[(at - r->base) / HANDLE_ALIGN]; }

void handles_free(void *handle, size_t bytes, u32 n)
{
    if (!handle) return;
    u64 at = (u64)(uintptr_t)handle;
    struct handle_region *r = (struct handle_region *)region_of(at);
    lock(&room_lock);
    for (u32 i = 0; i < MAX_OF(n, 1u); i++) handle_live_add(r, at + i * rounded(bytes), rounded(bytes), -1);
    unlock(&room_lock);
}

void handle_free(void *handle, size_t bytes) { handles_free(handle, bytes, 1); }

/* ---- lists ---- */

void handle_open(struct handle *h, lk_gpu *gpu, enum handle_kind kind)
{
    const char *site = kind < HANDLE_LEAKS ? host_site(NULL) : NULL;
    u64 at = (u64)(uintptr_t)h;
    h->gpu = gpu;
    h->kind = kind;
    h->site = site && where_kept(site) ? site : NULL;
    __atomic_store_n(&h->state, HANDLE_ALIVE, __ATOMIC_RELAXED);
    __atomic_store_n(kind_at(region_of(at), at), 1 + (u8)kind, __ATOMIC_RELEASE);
}

/* With the lock: a handle is told what leads to it. It asks without the lock whether anything does, which a neighbour
 * does not change. */
static void link_set(struct handle *h, struct handle **link) { __atomic_store_n(&h->link, link, __ATOMIC_RELAXED); }

void handle_list(struct handle *h)
{
    lk_gpu *gpu = h->gpu;
    lock(&gpu->lock);
    h->next = gpu->handle[h->kind];
    link_set(h, &gpu->handle[h->kind]);
    if (h->next) link_set(h->next, &h->next);
    gpu->handle[h->kind] = h;
    unlock(&gpu->lock);
}

void handle_add(struct handle *h, lk_gpu *gpu, enum handle_kind kind)
{
    handle_open(h, gpu, kind);
    handle_list(h);
}

void handle_remove(struct handle *h)
{
    if (!__atomic_load_n(&h->link, __ATOMIC_RELAXED)) return;
    lock(&h->gpu->lock);
    *h->link = h->next;
    if (h->next) link_set(h->next, h->link);
    link_set(h, NULL);
    unlock(&h->gpu->lock);
}

/* ---- what is no handle ---- */

static const struct {
    const char *name, *article, *made, *ended; /* the calls that make one and end it */
} words[HANDLE_KINDS] = {
    [HANDLE_EXEC] = { "executable graph", "an", "lk_graph_instantiate", "lk_exec_destroy" },
    [HANDLE_GRAPH] = { "graph", "a", "lk_graph_create", "lk_graph_destroy" },
    [HANDLE_EVENT] = { "event", "an", "lk_event_create", "lk_event_destroy" },
    [HANDLE_STREAM] = { "stream", "a", "lk_stream_create", "lk_stream_destroy" },
    [HANDLE_POOL] = { "pool", "a", "lk_pool_create", "lk_pool_destroy" },
    [HANDLE_PHYSICAL] = { "memory", "a", "lk_physical_create", "lk_physical_release" },
    [HANDLE_MODULE] = { "module", "a", "lk_module_load", "lk_module_unload" },
    [HANDLE_ARRAY] = { "array", "an", "lk_array_create", "lk_array_destroy" },
    [HANDLE_CONTRACT] = { "contract", "a", "lk_contract_read", "lk_contract_free" },
    [HANDLE_KERNEL] = { "kernel", "a", "lk_module_kernel", "lk_module_unload of its module" },
    [HANDLE_NODE] = { "node", "a", "a call that adds one to a graph", "lk_graph_destroy of its graph" },
    [HANDLE_IMAGES] = { "images", "a list of", "lk_images_open", "lk_images_close" },
    [HANDLE_ORACLE] = { "oracle", "an", "lk_oracle_new", "lk_oracle_free" },
    [HANDLE_RECORDING] = { "recording", "a", "lk_recording_open", "lk_recording_close" },
    [HANDLE_TEST] = { "test", "a", "lk_test_file", "lk_test_free" },
    [HANDLE_GPU] = { "gpu", "a", "lk_gpu_create", "lk_gpu_destroy" },
};

/* What a pointer of a caller is. */
enum given { GIVEN_NULL, GIVEN_OTHER, GIVEN_OTHER_KIND, GIVEN_ENDED, GIVEN_HANDLE };

static enum given given_is(const void *p, enum handle_kind kind, enum handle_kind *is)
{
    u64 at = (u64)(uintptr_t)p;
    if (!p) return GIVEN_NULL;
    const struct handle_region *r = region_of(at);
    if (!r || at % HANDLE_ALIGN) return GIVEN_OTHER;
    u8 k = __atomic_load_n(kind_at(r, at), __ATOMIC_ACQUIRE);
    if (!k) { /* of a chunk that was given back: they all have ended */
        lock(&room_lock);
        bool ended = r->base + ((at - r->base) / CHUNK + 1) * CHUNK <= r->top && !r->live[(at - r->base) / CHUNK];
        unlock(&room_lock);
        return ended ? GIVEN_ENDED : GIVEN_OTHER;
    }
    *is = (enum handle_kind)(k - 1);
    return *is == kind ? GIVEN_HANDLE : GIVEN_OTHER_KIND;
}

/* One more call uses it; false: it was destroyed. */
static bool count_in(struct handle *h)
{
    u32 s = __atomic_load_n(&h->state, __ATOMIC_RELAXED);
    while (s & HANDLE_ALIVE)
        if (__atomic_compare_exchange_n(&h->state, &s, s + HANDLE_USE, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return true;
    return false;
}

/* One call less, or it is destroyed; it ends where nothing is left. */
static u32 state_less(struct handle *h, u32 by)
{
    static handle_ended *const end[HANDLE_KINDS] = {
        [HANDLE_EXEC] = host_exec_ended,     [HANDLE_GRAPH] = host_graph_ended,
        [HANDLE_EVENT] = host_event_ended,   [HANDLE_STREAM] = host_stream_ended,
        [HANDLE_POOL] = host_pool_ended,     [HANDLE_PHYSICAL] = host_physical_ended,
        [HANDLE_MODULE] = host_module_ended, [HANDLE_CONTRACT] = host_contract_ended,
        [HANDLE_ARRAY] = host_array_ended,
    }; /* a gpu ends in lk_gpu_destroy; images and the handles of lab bring their own end */
    if (likely(__atomic_sub_fetch(&h->state, by, __ATOMIC_ACQ_REL))) return 0;
    handle_ended *ends = h->end ? h->end : end[h->kind];
    return ends ? ends(h) : 0;
}

void handle_destroy(struct handle *h) { state_less(h, HANDLE_ALIVE); }

/* ---- calls ---- */

static _Thread_local u32 depth;
static _Thread_local const char *called; /* the outermost function that the thread is in, or was in last */

u32 host_depth(void) { return depth; }

const char *host_called(void) { return called; }
void host_call_is(const char *function) { called = function; }

/* The call ends here, with an error of the gpu of its first handle, if that is one; or of what was given for a gpu. */
static void refuse(const struct host_call *c, const char *function, struct host_use use, enum given given,
                   enum handle_kind is)
{
    const lk_gpu *gpu = c->n ? c->used[0]->gpu : NULL;
    const char *name = use.name ? use.name : words[use.kind].name;
    if (given == GIVEN_NULL) {
        host_missing_in(gpu, function, name);
        return;
    }
    struct error *e = host_begin(gpu);
    if (given == GIVEN_ENDED)
        error_set(e, ERR_INPUT,
                  "%s: the %s that is given has ended, by %s%s: no call may be given it any more; set the variable to "
                  "NULL where it ends",
                  function, name, words[use.kind].ended, use.kind >= HANDLE_IMAGES ? "" : " or with its gpu");
    else if (given == GIVEN_OTHER_KIND)
        error_set(e, ERR_INPUT, "%s: what is given as the %s is %s %s; give what comes from %s", function, name,
                  words[is].article, words[is].name, words[use.kind].made);
    else
        error_set(e, ERR_INPUT, "%s: 0x%" PRIx64 " is no %s; give what comes from %s", function,
                  (u64)(uintptr_t)use.handle, name, words[use.kind].made);
    e->cuda = given == GIVEN_ENDED && use.kind == HANDLE_GPU ? 709 : 400; /* CONTEXT_IS_DESTROYED, INVALID_HANDLE */
    host_failed(gpu);
    if (use.kind == HANDLE_GPU) host_failed_at(gpu, use.handle);
}

bool host_enter_also(struct host_call *c, const char *function, struct host_use use)
{
    enum handle_kind is = use.kind;
    enum given given = given_is(use.handle, use.kind, &is);
    if (given == GIVEN_NULL && use.may_be_null) return true;
    if (likely(given == GIVEN_HANDLE)) {
        struct handle *h = (struct handle *)(uintptr_t)use.handle, *root = h->parent ? h->parent : h;
        if (likely(count_in(root))) {
            c->used[c->n++] = root;
            return true;
        }
        given = GIVEN_ENDED;
    }
    refuse(c, function, use, given, is);
    return false;
}

bool host_enter(struct host_call *c, const char *function, const struct host_use *use, u32 n)
{
    c->n = 0;
    if (!depth++) called = function;
    for (u32 i = 0; i < n; i++)
        if (!host_enter_also(c, function, use[i])) return false;
    return true;
}

void host_leave(struct host_call *c)
{
    while (c->n) state_less(c->used[--c->n], HANDLE_USE);
    depth--;
}

bool host_destroy(struct host_call *c, struct handle *h, const char *function, u32 *status)
{
    u32 was = __atomic_fetch_and(&h->state, ~(u32)HANDLE_ALIVE, __ATOMIC_ACQ_REL);
    *status = 0;
    if (!(was & HANDLE_ALIVE)) {
        refuse(c, function, (struct host_use){ .handle = h, .kind = h->kind }, GIVEN_ENDED, h->kind);
        return false;
    }
    for (u32 i = 0; i < c->n; i++)
        if (c->used[i] == h) {
            c->used[i] = c->used[--c->n];
            *status = state_less(h, HANDLE_USE);
            break;
        }
    return true;
}

/* Under the lock of the gpu: whether somebody else ends this handle, a call that uses it. If not, nobody does any more
 * but who asks. */
static bool is_left_to_others(struct handle *h)
{
    u32 was = HANDLE_ALIVE;
    if (__atomic_compare_exchange_n(&h->state, &was, HANDLE_WITH_GPU, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
        was & HANDLE_WITH_GPU)
        return false;
    was = __atomic_fetch_and(&h->state, ~(u32)HANDLE_ALIVE, __ATOMIC_ACQ_REL);
    if (was != HANDLE_ALIVE) return true;
    __atomic_store_n(&h->state, HANDLE_WITH_GPU, __ATOMIC_RELEASE);
    return false;
}

void handles_still(lk_gpu *gpu)
{
    for (bool used = true; used;) {
        lock(&gpu->lock);
        used = __atomic_load_n(&gpu->base.state, __ATOMIC_ACQUIRE) != 0;
        for (u32 kind = 0; kind < HANDLE_LISTS; kind++)
            for (struct handle *h = gpu->handle[kind]; h; h = h->next) used |= is_left_to_others(h);
        unlock(&gpu->lock);
        if (used) nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
    }
}
