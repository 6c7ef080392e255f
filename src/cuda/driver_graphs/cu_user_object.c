/* User objects: a pointer of the program and a function that ends it, called when the last reference is gone. Graphs,
 * and the executable graphs made from them, hold references. */
#include "driver/cu_check.h"
#include "driver_graphs/cu_graph.h"

struct cu_user_object {
    void *pointer;
    void (*destroy)(void *pointer);
    u64 callers, graphs; /* references of the program, and of graphs */
};
static lock_t guard = LOCK_INIT; /* of these, and of the lists of graphs */

static cu_result object_end(void *handle)
{
    struct cu_user_object *o = handle;
    o->destroy(o->pointer);
    return CU_OK;
}

/* With the guard: gives up so many references of one of the two; false: there are not so many. */
static bool give_up(u64 *of, u64 count)
{
    if (!count || count > *of) return false;
    *of -= count;
    return true;
}

/* Without it. The object's function may do what it likes: it is called when the call is over. */
static void end_if_unused(struct cu_user_object *o, bool used)
{
    if (!used && cu_handle_take(o, CU_USER_OBJECT)) cu_handle_later(o, object_end);
}
static bool is_used(const struct cu_user_object *o) { return o->callers || o->graphs; }

CU_API(cuUserObjectCreate)
(struct cu_user_object **out, void *pointer, void (*destroy)(void *), unsigned refs, unsigned flags)
{
    enum { NO_DESTRUCTOR_SYNC = 1 };
    cu_result r = cu_begin();
    if (r) return r;
    bool calls = bytes_readable((const void *)(uintptr_t)destroy, 1);
    if (!cu_ok(out) || !calls || !refs || refs > INT32_MAX || flags != NO_DESTRUCTOR_SYNC) return CU_INVALID_VALUE;
    struct cu_user_object *o = cu_handle_new(CU_USER_OBJECT, sizeof *o);
    if (!o) return CU_OUT_OF_MEMORY;
    *o = (struct cu_user_object){ .pointer = pointer, .destroy = destroy, .callers = refs };
    *out = cu_handle_open(o);
    return CU_OK;
}

CU_DEFINE(cuUserObjectRetain, struct cu_user_object *, o, unsigned, count)
{
    if (count > INT32_MAX) return CU_INVALID_VALUE;
    lock(&guard);
    bool used = is_used(o);
    if (used) o->callers += count;
    unlock(&guard);
    return used ? CU_OK : CU_INVALID_VALUE;
}
CU_DEFINE(cuUserObjectRelease, struct cu_user_object *, o, unsigned, count)
{
    lock(&guard);
    bool had = give_up(&o->callers, count), used = is_used(o);
    unlock(&guard);
    if (had) end_if_unused(o, used);
    return had ? CU_OK : CU_INVALID_VALUE;
}

/* ---- held by graphs ---- */

static struct cu_owned *owned_find(struct cu_owned *list, const struct cu_user_object *o)
{
    while (list && list->object != o) list = list->next;
    return list;
}

static void owned_add(struct cu_owned **list, struct cu_user_object *o, u64 count)
{
    struct cu_owned *x = owned_find(*list, o);
    if (!x) {
        x = base_need(sizeof *x);
        *x = (struct cu_owned){ o, 0, *list };
        *list = x;
    }
    x->count += count;
}

void cu_owned_copy(struct cu_owned *const from, struct cu_owned **to)
{
    lock(&guard);
    for (const struct cu_owned *x = from; x; x = x->next) {
        x->object->graphs++;
        owned_add(to, x->object, 1);
    }
    unlock(&guard);
}

void cu_owned_release(struct cu_owned **list)
{
    lock(&guard);
    struct cu_owned *x = *list;
    *list = NULL;
    unlock(&guard);
    while (x) {
        struct cu_owned *next = x->next;
        lock(&guard);
        give_up(&x->object->graphs, x->count);
        bool used = is_used(x->object);
        unlock(&guard);
        end_if_unused(x->object, used);
        base_free(x);
        x = next;
    }
}

CU_DEFINE(cuGraphRetainUserObject, struct cu_graph *, g, struct cu_user_object *, o, unsigned, count, unsigned, flags)
{
    enum { MOVE = 1 };
    if (count > INT32_MAX || flags > MOVE) return CU_INVALID_VALUE;
    lock(&guard);
    bool had = flags == MOVE ? give_up(&o->callers, count) : is_used(o);
    if (had) {
        o->graphs += count;
        owned_add(&g->owned, o, count);
    }
    unlock(&guard);
    return had ? CU_OK : CU_INVALID_VALUE;
}

CU_DEFINE(cuGraphReleaseUserObject, struct cu_graph *, g, struct cu_user_object *, o, unsigned, count)
{
    lock(&guard);
    struct cu_owned *x = owned_find(g->owned, o);
    bool held = x && x->count >= count;
    if (held && !(x->count -= count)) {
        struct cu_owned **p = &g->owned;
        while (*p != x) p = &(*p)->next;
        *p = x->next;
        base_free(x);
    }
    if (held) give_up(&o->graphs, count);
    bool used = is_used(o);
    unlock(&guard);
    if (!held) return CU_INVALID_VALUE;
    end_if_unused(o, used);
    return CU_OK;
}
