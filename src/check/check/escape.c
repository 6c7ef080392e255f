/* Addresses of local memory that get to other threads (rules.md B10).
 *
 * Local memory of all threads has the same addresses: a pointer into it means another place in each thread. Which
 * stores hand one out is known from the text (SITE_LOCAL_ADDRESS, provenance.c). They are remembered, by the place that
 * they write; a thread that loads such a value from a place that another thread has stored it to gets a tag with its
 * register, and an access by that tag is reported. Like on a GPU, it reaches the thread's own memory. */
#include "check/escape.h"
#include "units/attachments.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "sim/sim_run.h"

struct escape {
    const char *at; /* where it was stored; NULL: an empty place */
    u64 value;
    u64 cta;    /* of the thread that stored it */
    u32 thread; /* in the CTA */
};
enum { FIRST = 256, MOST = 1 << 20 };
struct escapes { /* of a launch; guarded by its elock */
    struct escape *of;
    u32 n, size; /* size: a power of two */
};

static struct escape *place(const struct escapes *e, const char *at)
{
    u64 h = (u64)(uintptr_t)at * 0x9e3779b97f4a7c15u;
    for (u32 k = (u32)(h >> 32);; k++) {
        struct escape *x = &e->of[k & (e->size - 1)];
        if (!x->at || x->at == at) return x;
    }
}

static bool grow(struct escapes *e)
{
    struct escapes more = { .size = e->size ? 2 * e->size : FIRST };
    if (more.size > MOST || !(more.of = base_alloc(sizeof *more.of * more.size))) return false;
    memset(more.of, 0, sizeof *more.of * more.size);
    for (u32 k = 0; k < e->size; k++)
        if (e->of[k].at) *place(&more, e->of[k].at) = e->of[k];
    base_free(e->of);
    e->of = more.of;
    e->size = more.size;
    return true;
}

static void note(struct launch *l, struct escape x)
{
    lock(&l->elock);
    struct escapes *e = l->attached[AT_escapes];
    if (!e && (e = base_alloc(sizeof *e))) {
        *e = (struct escapes){ 0 };
        __atomic_store_n(&l->attached[AT_escapes], e, __ATOMIC_RELAXED);
    }
    if (e && (2 * e->n < e->size || grow(e) || e->n + 1 < e->size)) {
        struct escape *to = place(e, x.at);
        e->n += !to->at;
        *to = x;
    }
    unlock(&l->elock);
}

int escape_store(char *restrict R, const struct insn *i, struct warp *w)
{
    int ev = handler_under(w, i, LAYER_ESCAPE)(R, i, w);
    struct access a = { .site = &w->code->low->site[i->site], .insn = i, .warp = w, .mask = active_lanes(w, R, i) };
    u64 window = mem_local_window(w->cta->launch->sim->mem), v[LANES];
    if (ev || !a.mask) return ev;
    a.bytes = (u32)a.site->width * a.site->vec;
    access_addresses(&a, R);
    w->faults_reported = true; /* by the store */
    access_check(&a);
    for (u32 k = 0; k < a.site->vec; k++) {
        const struct insn_opnd *d = insn_data(w->code, i, k);
        lane_values(w->code, R, d->slot, d->cls, 8, v);
        EACH_SET (l, a.ok) {
            bool own = a.space[l] == SP_LOCAL || a.space[l] == SP_CALL;
            if (!own && v[l] - window < MEM_LOCAL_BYTES)
                note(w->cta->launch,
                     (struct escape){
                         .at = a.ptr[l] + 8 * k, .value = v[l], .cta = w->cta->linear, .thread = w->id * LANES + l });
        }
    }
    return 0;
}

u32 escape_loaded(const struct warp *w, u32 lane, const char *p, u64 value)
{
    struct launch *l = w->cta->launch;
    u64 cta = w->cta->linear, thread = w->id * LANES + lane;
    u32 tag = 0;
    if (!__atomic_load_n(&l->attached[AT_escapes], __ATOMIC_RELAXED) ||
        value - mem_local_window(l->sim->mem) >= MEM_LOCAL_BYTES)
        return 0;
    lock(&l->elock);
    const struct escapes *e = l->attached[AT_escapes];
    const struct escape *x = e->size ? place(e, p) : NULL;
    bool shared = p >= w->cta->shared && p < w->cta->shared + l->shared_total;
    if (x && x->at && x->value == value && (x->cta != cta || x->thread != thread) && !(shared && x->cta != cta)) {
        u64 number = x->cta * l->threads + x->thread;
        if (number < TAG_MIXED - TAG_LOCAL) tag = TAG_LOCAL | (u32)number;
    }
    unlock(&l->elock);
    return tag;
}

static void escapes_end(struct launch *l)
{
    struct escapes *e = l->attached[AT_escapes];
    if (e) base_free(e->of);
    base_free(e);
    l->attached[AT_escapes] = NULL;
}

const struct attachment attach_escapes = { .launch_free = escapes_end };
