/* Hands events to the observers of a launch. */
#include "sim/observe.h"
#include "sim/asked.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "sim/memory.h"
#include "sim/planes.h"

static bool several_bring_handlers(const struct sim_launch *in)
{
    u32 n = 0;
    for (const struct observer *o = in->observers; o; o = o->next) n += o->memory != NULL;
    return n > 1;
}

u32 observe_watch(const struct sim_launch *in)
{
    u32 watch = (in->checks & CHECK_INIT ? WATCH_INIT : 0) | (in->overflow ? WATCH_OVERFLOW : 0);
    for (const struct observer *o = in->observers; o; o = o->next)
        watch |= o->watch | (o->access && !o->memory ? o->writes ? WATCH_WRITES : WATCH_OBSERVE : 0);
    return several_bring_handlers(in) ? watch | WATCH_OBSERVE : watch;
}

bool observe_after(const struct sim_launch *in, const struct site *s)
{
    return observe_watch(in) & WATCH_WRITES && !(observe_watch(in) & WATCH_OBSERVE) && site_is_store(s) &&
           s->space == SP_GLOBAL;
}

void observe_wrote(const struct launch *l, const struct access *a)
{
    for (const struct observer *o = l->in->observers; o; o = o->next)
        if (o->access && o->writes) o->access(o->self, a);
}

handler *observe_handler(const struct sim_launch *in, u32 watch, const struct site *s, const struct insn *i, u32 group,
                         s32 stride)
{
    /* plain stores to global memory keep their own handlers and are seen after them (observe_after); what else may
     * write there is watched */
    bool global = s->space == SP_GLOBAL || s->space == SP_GENERIC;
    if (watch & WATCH_WRITES && !site_is_load(s) && global && !observe_after(in, s)) return memory_watched;
    watch &= ~(u32)(WATCH_WRITES | WATCH_OVERFLOW);
    if (!watch) return memory_handler(s, i, group, stride);
    for (const struct observer *o = in->observers; o && !(watch & WATCH_OBSERVE); o = o->next)
        if (o->memory) return o->memory(watch, s, i, group, stride);
    return watch == WATCH_INIT ? asked->init_handler(s, i, group, stride) : memory_watched;
}

void observe_before(const struct launch *l, const struct access *a)
{
    for (const struct observer *o = l->in->observers; o; o = o->next)
        if (o->before) o->before(o->self, a);
}

void observe_access(const struct launch *l, const struct access *a)
{
    for (const struct observer *o = l->in->observers; o; o = o->next)
        if (o->access && !(o->writes && a->warp->observed_after)) o->access(o->self, a);
}

void observe_sync(const struct launch *l, const struct sync_event *e)
{
    for (const struct observer *o = l->in->observers; o; o = o->next)
        if (o->sync) o->sync(o->self, e);
}

void observe_launch(const struct launch *l, bool begin)
{
    for (const struct observer *o = l->in->observers; o; o = o->next) {
        void (*f)(void *, const struct launch *) = begin ? o->begin : o->end;
        if (f) f(o->self, l);
    }
}

void observe_step(struct warp *w, const struct insn *i, bool done)
{
    for (const struct observer *o = w->cta->launch->in->observers; o; o = o->next)
        if (o->step) o->step(o->self, w, i, done);
}

bool observe_blocks_wanted(const struct sim_launch *in)
{
    for (const struct observer *o = in->observers; o; o = o->next)
        if (o->block) return true;
    return false;
}

void observe_block(struct warp *w, u32 b)
{
    const struct xblock *x = &w->code->block[b];
    u32 taken = x->term == TERM_BRA ? active_lanes(w, w->R, &w->code->insn[x->end]) : 0;
    for (const struct observer *o = w->cta->launch->in->observers; o; o = o->next)
        if (o->block) o->block(o->self, w, b, taken);
}

void observe_copied(const struct launch *l, const struct warp *w, u32 lane, const char *to, u32 bytes)
{
    for (const struct observer *o = l->in->observers; o; o = o->next)
        if (o->copied) o->copied(o->self, w, lane, to, bytes);
}

void observe_flight(const struct launch *l, struct flight *f, enum flight_moment m)
{
    for (const struct observer *o = l->in->observers; o; o = o->next)
        if (o->flight) o->flight(o->self, f, m);
}

static void selected(struct warp *w, const struct opnd *o, u32 lanes)
{
    if (o->kind != O_REG || !lanes) return;
    for (const struct observer *x = w->cta->launch->in->observers; x; x = x->next)
        if (x->selected) x->selected(x->self, w, o->reg, lanes);
}

int observe_selection(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct lop *o = &w->code->low->op[i->op];
    u32 first = *(const u32 *)(const void *)SLOT(R, i->c), lanes = active_lanes(w, R, i);
    selected(w, lop_src(o, 0), lanes & first);
    selected(w, lop_src(o, 1), lanes & ~first);
    return 0;
}

void observe_allocated(const struct warp *w, struct mem_object *object)
{
    for (const struct observer *o = w->cta->launch->in->observers; o; o = o->next)
        if (o->allocated) o->allocated(o->self, w, object);
}

void observe_texel(const struct access *a)
{
    for (const struct observer *o = a->warp->cta->launch->in->observers; o; o = o->next)
        if (o->texel) o->texel(o->self, a);
}

void observe_launched(const struct warp *w, u32 lane, u64 *handle)
{
    for (const struct observer *o = w->cta->launch->in->observers; o; o = o->next)
        if (o->launched) o->launched(o->self, w, lane, handle);
}

/* ---- around instructions ---- */

/* The k-th observer with `around`. */
static const struct observer *around(const struct warp *w, u32 k)
{
    const struct observer *o = w->cta->launch->in->observers;
    while (!o->around || k--) o = o->next;
    return o;
}

static bool is_around(const struct warp *w, u32 k, const struct insn *i)
{
    return w->code->under[LAYER_AROUND + k] && handler_under(w, i, (enum layer)(LAYER_AROUND + k));
}

static handler *const observe_around_probed[AROUND_MOST];

/* An access on the common path, for the observers from the k-th on. */
static int probed(char *restrict R, const struct insn *i, struct warp *w, u32 k)
{
    while (k < AROUND_MOST && !is_around(w, k, i)) k++;
    if (k < AROUND_MOST) return observe_around_probed[k](R, i, w);
    return (w->planes ? asked->init_watched : w->code->watch ? memory_watched : run_access)(R, i, w);
}

int observe_probed(char *restrict R, const struct insn *i, struct warp *w) { return probed(R, i, w, 0); }

#define AROUND(k)                                                                                                   \
    static int around_##k(char *restrict R, const struct insn *i, struct warp *w)                                   \
    {                                                                                                               \
        const struct observer *o = around(w, k);                                                                    \
        return o->around(o->self, R, i, w, handler_under(w, i, (enum layer)(LAYER_AROUND + k)));                    \
    }                                                                                                               \
    static int after_##k(char *restrict R, const struct insn *i, struct warp *w) { return probed(R, i, w, k + 1); } \
    static int probed_##k(char *restrict R, const struct insn *i, struct warp *w)                                   \
    {                                                                                                               \
        const struct observer *o = around(w, k);                                                                    \
        return o->around(o->self, R, i, w, after_##k);                                                              \
    }
AROUND(0)
AROUND(1)
AROUND(2)
handler *const observe_around[] = { around_0, around_1, around_2 };
static handler *const observe_around_probed[AROUND_MOST] = { probed_0, probed_1, probed_2 };
_Static_assert(COUNT_OF(observe_around) == AROUND_MOST, "a handler for each observer around instructions");
