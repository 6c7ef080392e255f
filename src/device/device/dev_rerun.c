/* Running a launch again from the same memory: for results that depend on the order (dev_order.c), and for where an
 * odd value began.
 *
 * Memory is copied before the first run only where that is cheap or was asked for; after it, when there is something
 * to look for, whole. */
#include "device/dev_rerun.h"
#include "check/outputs.h"
#include "check/value_origin.h"

bool copy_matters(const struct mem_object *o)
{
    return o->state == MEM_LIVE && o->kind != MEM_CONST && o->kind != MEM_HEAP && o->size;
}

/* Copies every mapped run of bytes of an object to or from a buffer. */
static void copy_runs(struct mem_object *o, u8 *copy, bool back)
{
    u64 lo, n;
    for (u64 next = o->base; mem_run_next(o, next, false, &lo, &n); next = lo + n, copy += n)
        memcpy(back ? mem_view(o, lo) : copy, back ? copy : mem_view(o, lo), n);
}

bool copy_add(struct memory_copy *c, struct mem_object *o)
{
    if (c->n == c->cap) {
        u32 cap = c->cap ? 2 * c->cap : 16;
        struct kept *k = base_realloc(c->kept, sizeof *k * cap);
        if (!k) return false;
        c->kept = k;
        c->cap = cap;
    }
    u64 total = 0, lo, n;
    for (u64 next = o->base; mem_run_next(o, next, false, &lo, &n); next = lo + n) total += n;
    u8 *bytes = base_alloc(MAX_OF(total, 1u));
    if (!bytes) return false;
    copy_runs(o, bytes, false);
    c->kept[c->n++] = (struct kept){ o, bytes };
    return true;
}

bool copy_take(struct memory_copy *c, struct mem *m)
{
    struct mem_object *o;
    for (u32 id = 1; (o = mem_by_id(m, id)); id++)
        if (copy_matters(o) && !copy_add(c, o)) return false;
    return true;
}

void copy_put(const struct memory_copy *c)
{
    for (u32 k = 0; k < c->n; k++)
        if (copy_matters(c->kept[k].o)) copy_runs(c->kept[k].o, c->kept[k].bytes, true);
}

void copy_free(struct memory_copy *c)
{
    for (u32 k = 0; k < c->n; k++) base_free(c->kept[k].bytes);
    base_free(c->kept);
    *c = (struct memory_copy){ 0 };
}

u32 heap_mark(struct mem *m) { return mem_generation(m); }

void heap_back(struct mem *m, u32 from)
{
    struct mem_object *o;
    for (u32 id = 1; (o = mem_by_id(m, id)); id++)
        if (o->kind == MEM_HEAP && o->state == MEM_LIVE && (s32)(o->born - from) > 0) mem_free(m, o->base, NULL, &o);
}

static void print_nothing(void *self, const char *p, size_t n) { (void)self, (void)p, (void)n; }

struct sim_launch launch_rerun(const struct sim_launch *first, const struct observer *observers)
{
    struct sim_launch run = *first;
    run.checks = 0;
    run.observers = observers;
    run.trace = NULL;
    run.print = print_nothing;
    return run;
}

/* ---- values ---- */

static bool keep_inout(struct memory_copy *c, struct device *d, const struct dev_launch *l)
{
    for (u32 i = 0; i < l->contract->kernel->args.n && i < l->kernel->nparam; i++) {
        const struct contract_arg *g = l->contract->arg[i].arg;
        u64 at;
        if (g->kind != CONTRACT_BUFFER || g->flow != FLOW_INOUT) continue;
        memcpy(&at, (const u8 *)l->params + l->kernel->param[i]->offset, 8);
        struct mem_object *o = at ? mem_find(d->mem, at) : NULL;
        if (o && copy_matters(o) && !copy_add(c, o)) return false;
    }
    return true;
}

bool values_keep(struct memory_copy *before, struct device *d, const struct dev_launch *l, struct error *e)
{
    bool ok = true;
    struct mem_object *o;
    if (d->options.all_values)
        ok = copy_take(before, d->mem);
    else {
        ok = keep_inout(before, d, l);
        for (u32 id = 1; ok && (o = mem_by_id(d->mem, id)); id++)
            if (o->kind == MEM_GLOBAL && copy_matters(o)) ok = copy_add(before, o);
    }
    return ok || error_set(e, ERR_MEMORY,
                           "no memory to keep what the kernel changes, for finding where NaN begins; --no-check values "
                           "does without");
}

bool values_rerun(struct outputs *o, struct memory_copy *before, struct device *d, const struct sim_launch *first,
                  const struct sim_result *r, struct error *e)
{
    bool worth = o->odd && (r->end == SIM_DONE || r->end == SIM_TRAP || r->end == SIM_DEADLOCK), ok = true;
    struct value_origins *origins = worth ? value_origins_new() : NULL;
    struct report *unread = origins ? report_new() : NULL;
    struct memory_copy after = { 0 };
    if (unread && copy_take(&after, d->mem)) {
        struct sim_result result;
        u32 objects = heap_mark(d->mem);
        outputs_rerun(o, origins);
        o->observer.writes = false; /* with the places that were written, which lead to the origins */
        o->observer.watch = 0;
        struct sim_launch run = launch_rerun(first, value_origins_observer(origins, &o->observer));
        run.follow = true;
        run.report = unread;
        copy_put(before);
        ok = sim_run(d->sim, &run, &result, e);
        copy_put(&after);
        heap_back(d->mem, objects);
    } else if (worth) {
        ok = error_set(
            e, ERR_MEMORY,
            "no memory to run the kernel again, for finding where NaN begins; --no-check values does without");
    }
    outputs_settle(o);
    copy_free(&after);
    report_free(unread);
    value_origins_free(origins);
    return ok;
}
