/* An iterator like in.begin() - width, made by the host for a kernel that adds at least width to it, may point into
 * whatever lies below `in`. Its value says that it is the other's pointer; what the kernel does with it says whose it
 * is. Such a parameter points past the start of its object, every access through it lands in one other object, and
 * that one the launch was given as well. Whether this is so is known when the launch has ended: until then its reports
 * are held. A pointer through which its own object was accessed, or nothing at all, is that object's. */
#include "report/report.h"
#include "units/attachments.h"
#include "sim/access.h"
#include "sim/sim_run.h"

struct moved { /* a parameter that may be one */
    struct moved *next;
    u32 off;               /* of the parameter */
    struct mem_object *to; /* where all its accesses land */
    struct report *held;
};

enum { MARKS = sizeof(((struct launch *)NULL)->own_param) * 8 };

/* Two parameters far from each other may share a mark, and are then both taken for their objects' own. */
static u64 moved_mark(u32 off, u64 **word, struct launch *l)
{
    u32 n = off / 8 % MARKS;
    *word = &l->own_param[n / 64];
    return (u64)1 << n % 64;
}

static void set_own(struct launch *l, u32 off)
{
    u64 *word, bit = moved_mark(off, &word, l);
    if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & bit)) __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
}

static bool is_own(struct launch *l, u32 off)
{
    u64 *word, bit = moved_mark(off, &word, l);
    return __atomic_load_n(word, __ATOMIC_RELAXED) & bit;
}

void moved_pointer_own(const struct access *a)
{
    if (a->site->prov.kind == FROM_PARAM) set_own(a->warp->cta->launch, a->site->prov.off);
}

static u64 param_at(const struct launch *l, u32 off)
{
    u64 v;
    memcpy(&v, l->param.block + off, 8);
    return v;
}

/* Another parameter, or a member of one, points into the object. */
static bool is_given(const struct launch *l, const struct mem_object *o, u32 but)
{
    for (u32 off = 0; off + 8 <= l->in->kernel->param_bytes; off += 8)
        if (off != but && param_at(l, off) - o->base <= o->size) return true;
    return false;
}

/* The record of a parameter; NULL: there is none yet. */
static struct moved *record(const struct launch *l, u32 off)
{
    struct moved *m = l->attached[AT_moved];
    while (m && m->off != off) m = m->next;
    return m;
}

struct report *moved_pointer_held(const struct access *a, const struct lane_check *c)
{
    struct launch *l = a->warp->cta->launch;
    u32 off = a->site->prov.off;
    if (a->site->prov.kind != FROM_PARAM || is_own(l, off)) return NULL;
    bool plain = c->hit->kind != MEM_CONST && c->hit->kind != MEM_VIRTUAL &&
                 !__atomic_load_n(&c->hit->closed, __ATOMIC_RELAXED);
    if (!plain || param_at(l, off) == c->object->base || !is_given(l, c->hit, off)) return NULL;
    lock(&l->elock);
    struct moved *m = record(l, off);
    if (!m && (m = base_alloc(sizeof *m))) {
        *m = (struct moved){ l->attached[AT_moved], off, c->hit, report_new() };
        if (m->held) report_launch(m->held, report_launch_number(l->in->report));
        l->attached[AT_moved] = m;
    }
    struct report *held = m && m->to == c->hit ? m->held : NULL;
    unlock(&l->elock);
    if (!held) set_own(l, off); /* it leads to two other objects, so it is wrong for one of them */
    return held;
}

static void moved_pointer_end(struct launch *l)
{
    for (struct moved *m = l->attached[AT_moved], *next; m; m = next) {
        if (m->held && is_own(l, m->off)) report_take(l->in->report, m->held, F_bounds_neighbour);
        report_free(m->held);
        next = m->next;
        base_free(m);
    }
    l->attached[AT_moved] = NULL;
}

/* At the end of a launch: reports what was held of pointers that are their object's, and forgets the others. */
const struct attachment attach_moved = { .launch_over = moved_pointer_end };
