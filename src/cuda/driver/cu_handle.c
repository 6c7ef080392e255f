/* The handles that callers hold, by address: a table with open addressing, under one lock; and who uses what they name.
 *
 * A handle that a call looks up is the call's until it returns: cu_handle_is counts it, and the gate gives back what
 * the call has (gate.c). Whoever destroys a handle removes it from the table, so that later calls are told that it is
 * not a handle, and what it names ends with the last call that uses it: at once, without any. Destroying does not wait:
 * the call that uses it may itself wait for the thread that destroys it.
 *
 * The count lies in front of what the handle points to. Handles whose memory is somebody else's, and contexts, which
 * are never freed, have none. Graphs and nodes have none either: a call that is given one has the lock of the graphs
 * until it returns (queue/graph.h), for a graph changes by more calls than that of its end. */
#include "driver/gate.h"
#include "queue/graph.h"
#include <sched.h>

#define INLINE static inline __attribute__((always_inline)) /* every launch uses it */

struct object {            /* in front of each handle of cu_handle_new */
    _Alignas(16) u32 refs; /* atomic: one of the table, one for each call that uses it; 0: it is ending */
    enum cu_kind kind;     /* that it will have, until cu_handle_open; then 0 */
    cu_ended *end;         /* how it ends; NULL: it is only freed. Set by who has removed it from the table */
    void *parent;          /* that is counted in its place, as a kernel's image, or NULL; under the lock of the table */
};

static struct {
    bool taken; /* atomic: its lock, which is held for some instructions, and twice in every launch */
    struct slot {
        const void *handle; /* NULL: free */
        enum cu_kind kind;  /* 0: it was removed */
    } * slot;
    u32 cap, used; /* slots, a power of two; those with a handle, removed ones too */
    u32 coming;    /* handles that are being made: there is room for them */
} all;

/* ---- the table ---- */

INLINE void table_lock(void)
{
    while (unlikely(__atomic_exchange_n(&all.taken, true, __ATOMIC_ACQUIRE))) sched_yield();
}
INLINE void table_unlock(void) { __atomic_store_n(&all.taken, false, __ATOMIC_RELEASE); }

static u32 home_of(const void *handle, u32 cap)
{
    return (u32)(((uintptr_t)handle >> 4) * 0x9e3779b97f4a7c15u >> 32) & (cap - 1);
}

/* Its slot, or the free one where it would be. */
INLINE struct slot *slot_of(struct slot *s, u32 cap, const void *handle)
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

/* With the lock: the slot of a handle of this kind, or NULL. */
INLINE struct slot *slot_if(const void *handle, enum cu_kind kind)
{
    struct slot *s = handle && all.cap ? slot_of(all.slot, all.cap, handle) : NULL;
    return s && s->handle && s->kind == kind ? s : NULL;
}

/* With the lock: makes room for one more. */
static bool room(void) { return all.used + all.coming < all.cap / 2 || grow(); }
static void put(void *handle, enum cu_kind kind)
{
    struct slot *s = slot_of(all.slot, all.cap, handle);
    all.used += !s->handle;
    *s = (struct slot){ handle, kind };
}

bool cu_handle_add(void *handle, enum cu_kind kind)
{
    table_lock();
    bool ok = room();
    if (ok) put(handle, kind);
    table_unlock();
    return ok;
}

/* ---- those that were destroyed ---- */

enum { GONE = 256 };
static struct gone {
    const void *handle;
    enum cu_kind kind;
    const char *site; /* of the call; NULL: not known */
} gone[GONE];         /* the last ones, under the lock of the table */
static u32 ngone;

static void gone_add(const void *handle, enum cu_kind kind, const char *site)
{
    if (kind) gone[ngone++ % GONE] = (struct gone){ handle, kind, site };
}

enum cu_kind cu_handle_kind(const void *handle)
{
    table_lock();
    struct slot *s = all.cap ? slot_of(all.slot, all.cap, handle) : NULL;
    enum cu_kind kind = s && s->handle ? s->kind : 0;
    table_unlock();
    return kind;
}

bool cu_handle_gone(const void *handle, enum cu_kind *kind, const char **site)
{
    bool found = false;
    table_lock();
    for (u32 i = 0; i < MIN_OF(ngone, (u32)GONE) && !found; i++) {
        const struct gone *g = &gone[(ngone - 1 - i) % GONE];
        if ((found = g->handle == handle)) *kind = g->kind, *site = g->site;
    }
    table_unlock();
    return found;
}

void cu_handle_remove(void *handle)
{
    const char *site = cu_call_held() ? host_site(NULL) : NULL;
    table_lock();
    struct slot *s = all.cap ? slot_of(all.slot, all.cap, handle) : NULL;
    if (s && s->handle) {
        gone_add(handle, s->kind, site);
        s->kind = 0;
    }
    table_unlock();
}

/* ---- who uses them ---- */

static struct object *object_of(void *handle) { return (struct object *)handle - 1; }

enum { /* kinds as bits */
       OF_GRAPHS = 1 << CU_GRAPH | 1 << CU_NODE,
       NOT_COUNTED = OF_GRAPHS | 1 << CU_CONTEXT | 1 << CU_FATBIN | 1 << CU_PHYSICAL
};
static bool is_counted(enum cu_kind kind) { return !(1u << kind & NOT_COUNTED); }

/* false: it is ending. */
INLINE bool ref(void *handle)
{
    u32 *refs = &object_of(handle)->refs, n = __atomic_load_n(refs, __ATOMIC_RELAXED);
    while (n && !__atomic_compare_exchange_n(refs, &n, n + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) continue;
    return n;
}

static cu_result finish(struct object *o)
{
    if (o->kind) { /* it never was a handle */
        table_lock();
        all.coming--;
        table_unlock();
    }
    cu_result r = o->end ? o->end(o + 1) : CU_OK;
    base_free(o);
    return r;
}

INLINE cu_result unref(void *handle)
{
    struct object *o = object_of(handle);
    return likely(__atomic_sub_fetch(&o->refs, 1, __ATOMIC_ACQ_REL)) ? CU_OK : finish(o);
}

/* With the lock, a handle of the table: what is counted for it, or NULL, when that is ending. A child lives as long as
 * its parent, and has none any more when it ends. */
INLINE void *use(void *handle)
{
    void *parent = object_of(handle)->parent, *root = parent ? parent : handle;
    return ref(root) ? root : NULL;
}

static void held_grow(struct cu_held *h)
{
    h->cap = h->cap ? 2 * h->cap : 16;
    h->at = base_need_more(h->at, h->cap * sizeof *h->at);
}

INLINE void held_add(struct cu_held *h, void *handle, void *root, enum cu_kind kind)
{
    if (unlikely(h->n == h->cap)) held_grow(h);
    h->at[h->n++] = (struct cu_hold){ handle, root, kind };
}

void cu_graphs_enter(void)
{
    struct cu_held *h = cu_call_held();
    if (!h || h->graphs) return;
    graphs_lock();
    h->graphs = true;
}

void cu_graphs_leave(void)
{
    struct cu_held *h = cu_call_held();
    if (!h || !h->graphs) return;
    h->graphs = false;
    graphs_unlock();
}

/* The graphs come first: what ends now may wait for work, or call the program. */
void cu_held_release(struct cu_held *h, u32 mark, bool graphs)
{
    if (h->graphs && !graphs) {
        h->graphs = false;
        graphs_unlock();
    }
    while (h->n > mark) unref(h->at[--h->n].root);
}

/* Without counting: outside of calls, and for kinds whose handles are not counted. */
static bool is_only(const void *handle, enum cu_kind kind)
{
    if (1u << kind & OF_GRAPHS) cu_graphs_enter();
    table_lock();
    bool is = slot_if(handle, kind);
    table_unlock();
    return is;
}

bool cu_handle_is(const void *given, enum cu_kind kind)
{
    enum { LOOKS = 8 }; /* a call asks several times for the same few */
    void *handle = (void *)(uintptr_t)given, *root = NULL;
    if (!handle) return false;
    struct cu_held *h = cu_call_held();
    if (!h || !is_counted(kind)) return is_only(handle, kind);
    for (u32 i = h->n, end = h->n > LOOKS ? h->n - LOOKS : 0; i-- > end;)
        if (h->at[i].handle == handle && h->at[i].kind == kind) return true;
    table_lock();
    if (slot_if(handle, kind)) root = use(handle);
    table_unlock();
    if (root) held_add(h, handle, root, kind);
    return root;
}

void *cu_handle_find(enum cu_kind kind, bool (*wanted)(void *handle, void *self), void *self)
{
    u32 n = 0;
    bool counts = is_counted(kind);
    void *found = NULL;
    if (1u << kind & OF_GRAPHS) cu_graphs_enter();
    table_lock();
    struct cu_hold *list = base_alloc((all.used + 1) * sizeof *list);
    for (u32 i = 0; list && i < all.cap; i++) {
        void *handle = (void *)(uintptr_t)all.slot[i].handle, *root = handle;
        if (all.slot[i].kind == kind && (!counts || (root = use(handle))))
            list[n++] = (struct cu_hold){ handle, root, kind };
    }
    table_unlock();
    for (u32 i = 0; i < n; i++) {
        struct cu_held *h = NULL;
        if (!found && wanted(list[i].handle, self)) {
            found = list[i].handle;
            h = cu_call_held();
        }
        if (counts && h)
            held_add(h, found, list[i].root, kind);
        else if (counts)
            unref(list[i].root);
    }
    base_free(list);
    return found;
}

bool cu_handle_is_alone(void *handle)
{
    table_lock(); /* who comes later takes it, too */
    u32 n = __atomic_load_n(&object_of(handle)->refs, __ATOMIC_ACQUIRE);
    table_unlock();
    return n <= 2; /* the table, and cu_handle_find */
}

/* ---- their life ---- */

void *cu_handle_new(enum cu_kind kind, size_t bytes) { return cu_handle_new_in(NULL, kind, bytes); }

void *cu_handle_new_in(void *parent, enum cu_kind kind, size_t bytes)
{
    struct object *o = base_alloc(sizeof *o + bytes);
    if (!o) return NULL;
    *o = (struct object){ .refs = 1, .kind = kind, .parent = parent };
    table_lock();
    bool ok = room();
    all.coming += ok;
    table_unlock();
    if (ok) return o + 1;
    base_free(o);
    return NULL;
}

void *cu_handle_open(void *handle)
{
    struct object *o = object_of(handle);
    table_lock();
    all.coming--;
    put(handle, o->kind);
    o->kind = 0;
    table_unlock();
    return handle;
}

void cu_handle_orphan(void *handle, enum cu_kind kind)
{
    table_lock();
    slot_of(all.slot, all.cap, handle)->kind = kind;
    object_of(handle)->parent = NULL;
    table_unlock();
}

/* The calling thread's calls have it no more as a handle, and still as memory. */
static void held_forget(const void *handle)
{
    struct cu_held *h = cu_call_held();
    for (u32 i = 0; h && i < h->n; i++)
        if (h->at[i].handle == handle) h->at[i].kind = 0;
}

bool cu_handle_take(void *handle, enum cu_kind kind)
{
    const char *site = cu_call_held() ? host_site(NULL) : NULL;
    table_lock();
    struct slot *s = slot_if(handle, kind);
    if (s) gone_add(handle, kind, site);
    if (s) s->kind = 0;
    table_unlock();
    if (s) held_forget(handle);
    return s;
}

cu_result cu_handle_drop(void *handle, cu_ended *end)
{
    struct cu_held *h = cu_call_held();
    object_of(handle)->end = end;
    for (u32 i = h ? h->n : 0; i-- > (h ? h->mark : 0);) /* the call that destroys it uses it no more */
        if (h->at[i].handle == handle) {
            void *root = h->at[i].root;
            h->at[i] = h->at[--h->n];
            unref(root);
        }
    return unref(handle);
}

void cu_handle_later(void *handle, cu_ended *end)
{
    struct cu_held *h = cu_call_held();
    object_of(handle)->end = end;
    if (h)
        held_add(h, handle, handle, 0);
    else
        unref(handle);
}

void cu_handle_end(void *handle)
{
    if (!handle) return;
    cu_handle_remove(handle);
    held_forget(handle);
    cu_handle_drop(handle, NULL);
}
