/* Bytes that are no element of what was passed. A view is a part of an allocation: a slice, a column, every second
 * element. The bounds that are checked are those of the allocation, so that a kernel which leaves the view, and stays
 * in the memory behind it, would not be seen. An address that was made from the pointer of a view is looked at here.
 *
 * Most views are whole allocations; only for the others an observer lies around the accesses through a parameter. */
#include "check/view_check.h"
#include "sim/finding_place.h"
#include "sim/lanes.h"
#include "check/views.h"
#include <inttypes.h>

struct part { /* a view that is not all of its object */
    const struct launch_view *view;
    const struct mem_object *object;
    u64 first, end; /* its bytes, from the first to after the last */
    bool ranged;    /* its elements lie one after the other, or over each other: the range says it all */
    u32 dims;       /* with more than one element, and a distance */
    u64 extent[VIEW_DIMS], step[VIEW_DIMS]; /* of these, the largest step first */
};
struct view_check {
    struct observer observer;
    u32 n;
    struct part part[];
};

/* The dimensions that count, in the order of their steps, and where the elements lie; false: there are none. */
static bool part_of(const struct launch_view *v, u64 address, struct part *p)
{
    u64 last = 0, packed = v->element;
    *p = (struct part){ .view = v, .first = address, .ranged = true };
    for (u32 i = 0; i < v->dims; i++) {
        if (!v->extent[i]) return false;
        u64 step = v->stride[i] < 0 ? 0 - (u64)v->stride[i] : (u64)v->stride[i], n = v->extent[i];
        if (n == 1 || !step) continue;
        if (v->stride[i] < 0) p->first -= step * (n - 1);
        last += step * (n - 1);
        u32 k = p->dims++;
        for (; k && p->step[k - 1] < step; k--) {
            p->step[k] = p->step[k - 1];
            p->extent[k] = p->extent[k - 1];
        }
        p->step[k] = step;
        p->extent[k] = n;
    }
    p->end = p->first + last + v->element;
    bool apart = true;
    for (u32 k = p->dims; k-- > 0; packed = p->step[k] * (p->extent[k] - 1) + packed) {
        apart &= p->step[k] >= packed;
        p->ranged &= p->step[k] == packed;
    }
    p->ranged |= !apart; /* elements overlap, as those of a sliding window: which byte is of one is not asked */
    return true;
}

/* Whether the bytes are of elements. */
static bool is_inside(const struct part *p, u64 address, u32 bytes)
{
    if (address < p->first || address + bytes > p->end) return false;
    for (u64 at = address - p->first, end = at + bytes; !p->ranged && at < end;) {
        u64 rest = at;
        for (u32 k = 0; k < p->dims; k++) {
            u64 n = rest / p->step[k];
            if (n >= p->extent[k]) return false;
            rest -= n * p->step[k];
        }
        if (rest >= p->view->element) return false;
        at += p->view->element - rest;
    }
    return true;
}

static void report_stride(const struct part *p, const struct access *a, u32 mask)
{
    struct warp *w = a->warp;
    struct arena mem = { 0 };
    struct text t = { 0 };
    const struct mem_object *o = p->object;
    u32 first = (u32)__builtin_ctz(mask);
    u64 at = a->addr[first], from = p->first - o->base;
    struct finding f = { .kind = F_bounds_view,
                         .access = site_is_load(a->site)    ? "read"
                                   : site_is_store(a->site) ? "write"
                                                            : "atomic",
                         .space = "global",
                         .width = a->bytes,
                         .cause_key = o->id + p->view->at };
    for (u32 l = 0; l < LANES; l++) f.addr[l] = a->addr[l];
    f.object = o->name;
    f.object_base = o->base;
    f.object_size = o->size;
    f.object_type = o->type;
    f.element_size = o->element_size;
    view_describe(w->cta->launch, o, &mem, &f);
    view_text(p->view, &t);
    f.cause = arena_printf(&mem, "%s%sis %s, bytes %" PRIu64 " to %" PRIu64 " of %" PRIu64 ", and byte %" PRIu64 " %s",
                           p->view->name[0] ? p->view->name : "what was passed", " ", t.p, from, p->end - o->base - 1,
                           o->size, at - o->base,
                           at < p->first            ? "lies before it"
                           : at + a->bytes > p->end ? "lies after it"
                                                    : "lies between its elements");
    finding_add(w, a->insn->op, &f, mask);
    text_free(&t);
    arena_free(&mem);
}

/* The lanes whose bytes are of no element. */
static u32 strays(const struct part *p, const struct access *a)
{
    u32 bad = 0;
    for (u32 m = a->mask; m; m &= m - 1) {
        u64 at = a->addr[__builtin_ctz(m)];
        if (at - p->object->base < p->object->size && !is_inside(p, at, a->bytes)) bad |= m & -m;
    }
    return bad;
}

/* Looks before the access, which may overwrite the register of its address, and tells after it. */
static int look(void *self, char *R, const struct insn *i, struct warp *w, handler *beneath)
{
    const struct view_check *c = self;
    const struct site *s = &w->code->low->site[i->site];
    const struct part *p = w->code->low == w->cta->launch->kernel ? c->part : c->part + c->n;
    while (p < c->part + c->n && p->view->at != s->prov.off) p++;
    if (p == c->part + c->n) return beneath(R, i, w);
    struct access a = {
        .site = s, .insn = i, .warp = w, .mask = active_lanes(w, R, i), .bytes = (u32)s->width * s->vec
    };
    access_addresses(&a, R);
    u32 bad = strays(p, &a);
    int ev = beneath(R, i, w);
    if (bad && !ev) report_stride(p, &a, bad);
    return ev;
}

static bool wants(const struct lowered *l, const struct lop *o)
{
    const struct site *s = o->flags & ISA_ACCESS ? &l->site[o->site] : NULL;
    return s && (s->space == SP_GLOBAL || s->space == SP_GENERIC) && s->prov.kind == FROM_PARAM;
}

struct view_check *view_check_begin(const struct sim_launch *in, const struct mem *m, const struct observer *next,
                                    view_judge *judge)
{
    if (!in->views || !(in->checks & CHECK_BOUNDS)) return NULL;
    struct view_check *c = NULL;
    for (u32 i = 0; i < in->views->n; i++) {
        struct part p = { 0 };
        const struct launch_view *v = &in->views->view[i];
        u64 address = view_address(in->params, v);
        const struct mem_object *o = mem_find(m, address);
        bool judged = v->alone && !view_is_dense(v), /* how it lies is a matter of its own */
            part = !judged && o && address - o->base < o->size && part_of(v, address, &p) && p.first >= o->base &&
                   p.end <= o->base + o->size && (!p.ranged || p.first != o->base || p.end != o->base + o->size);
        if (!judged && !part) continue;
        if (!c && !(c = base_alloc(sizeof *c + in->views->n * sizeof *c->part))) return NULL;
        c->observer.self = c;
        c->observer.next = next;
        if (judged) c->observer.begin = judge;
        if (!part) continue;
        c->observer.around = look;
        c->observer.wants = wants;
        p.object = o;
        c->part[c->n++] = p;
    }
    return c;
}

const struct observer *view_check_observer(const struct view_check *c) { return &c->observer; }

void view_check_free(struct view_check *c) { base_free(c); }
