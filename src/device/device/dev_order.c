/* Does the result depend on the order of execution? (`lockstep launch --schedules N`)
 *
 * Of a program over streams whole runs under several seeds are compared (order_compare), each on a device of its own.
 * Of one launch:
 *
 * The memory a launch can see is kept before its first run. Then the launch runs again under other orders of CTAs and
 * warps, backwards first, from that same memory, and what it leaves is compared, byte for byte. The device heap is
 * left out: who gets which piece of it is chance by design. Races, copies in flight and barriers are watched in these
 * runs too: an order may let a reader in before the writer where the first run had, by luck, put something between
 * the two. What a run finds that the first had not is reported with its order. Of orders that leave other bytes the
 * first is reported, as one pair says it all; the search goes on from there only for what would explain it. */
#include "device/dev_order.h"
#include "device/dev_rerun.h"
#include "device/op_races.h"
#include "device/dev_work.h"
#include "mem/mem_finding.h"
#include <inttypes.h>

struct orders {
    struct mem *mem;
    struct memory_copy before, first; /* the launch; after the first run */
    bool differs;                     /* an order that left other bytes */
};

struct orders *orders_begin(struct mem *m, struct error *e)
{
    struct orders *x = base_alloc(sizeof *x);
    if (x) x->mem = m;
    if (x && copy_take(&x->before, m)) return x;
    orders_free(x);
    error_set(e, ERR_MEMORY, "no memory to keep what the device holds, for running the launch in other orders");
    return NULL;
}

void orders_free(struct orders *x)
{
    if (!x) return;
    copy_free(&x->before);
    copy_free(&x->first);
    base_free(x);
}

static const char *value_text(struct arena *a, const struct scalar *t, const u8 *p)
{
    char text[64];
    if (!t) return arena_printf(a, "0x%02x", *p);
    scalar_print(t, p, text, sizeof text);
    u64 bits = 0;
    memcpy(&bits, p, MIN_OF(t->bytes, 8u));
    return t->class == SCALAR_FLOAT ? arena_printf(a, "%s (0x%0*" PRIx64 ")", text, (int)t->bytes * 2, bits)
                                    : arena_printf(a, "%s", text);
}

/* Two contents of an object, or of the first bytes of one, and how they differ. */
struct difference {
    u64 first;   /* the first element that differs, or the first byte */
    u64 differ;  /* how many do */
    u64 size;    /* bytes of an element */
    char *cause; /* "element [3] of x (f32[8]) is 1 ONE and 2 TWO; 5 of 8 differ" */
};

static struct difference difference_of(struct arena *a, const struct mem_object *o, const u8 *x, const u8 *y, u64 bytes,
                                       const char *one, const char *two)
{
    const struct scalar *t = mem_scalar(o);
    struct difference d = { .size = t ? t->bytes : 1 };
    u64 n = bytes / d.size;
    for (u64 i = 0; i < n; i++)
        if (memcmp(x + i * d.size, y + i * d.size, d.size) && !d.differ++) d.first = i;
    d.cause = arena_printf(a, "%s [%" PRIu64 "] of %s%s%s%s is %s %s and %s %s; %" PRIu64 " of %" PRIu64 " differ",
                           t ? "element" : "byte", d.first, o->name, o->type ? " (" : "", o->type ? o->type : "",
                           o->type ? ")" : "", value_text(a, t, x + d.first * d.size), one,
                           value_text(a, t, y + d.first * d.size), two, d.differ, n);
    return d;
}

static void report_order(const struct kept *k, const struct sim_launch *run)
{
    const struct mem_object *o = k->o;
    struct arena a = { 0 };
    struct finding f = { .kind = F_order_dependent, .kernel = arena_str(&a, run->kernel->name), .cause_key = o->id };
    f.cause = difference_of(&a, o, k->bytes, (const u8 *)mem_view(o, o->base), o->size, "in order 0",
                            arena_printf(&a, "in order %" PRIu64, run->order))
                  .cause;
    f.fix = arena_printf(
        &a,
        "Run it with --seed %" PRIu64 " --order %" PRIu64
        ", and without --order, and compare; make the order explicit, or allow for rounding in the comparison.",
        run->seed, run->order);
    report_add(run->report, &f);
    arena_free(&a);
}

/* ---- over streams ---- */

static void report_program(struct device *d, const struct device *other, const struct order_range *at, const u8 *x,
                           const u8 *y)
{
    const struct mem_object *o = d->mem ? mem_find(d->mem, at->address) : NULL;
    if (!o || at->address != o->base) return; /* memory of a real GPU */
    struct arena a = { 0 };
    struct finding f = { .kind = F_order_dependent, .cause_key = o->id };
    struct difference is = difference_of(&a, o, x, y, at->bytes,
                                         arena_printf(&a, "under --seed %" PRIu64, d->options.seed),
                                         arena_printf(&a, "under --seed %" PRIu64, other->options.seed));
    f.cause = is.cause;
    f.fix = arena_printf(&a,
                         "Run it with --seed %" PRIu64 " and with --seed %" PRIu64
                         ", and compare; make the order explicit, or allow for rounding in the comparison.",
                         d->options.seed, other->options.seed);
    if (work_races(d)) op_races_unordered(work_races(d), o->base + is.first * is.size, &f, &a);
    finding_object(&f, o);
    report_add(d->report, &f);
    arena_free(&a);
}

bool order_compare(struct device *d, struct device *other, const struct order_range *at, bool known, bool *same,
                   struct error *e)
{
    u8 *x = base_alloc(at->bytes), *y = base_alloc(at->bytes);
    bool ok = (x && y) || error_set(e, ERR_MEMORY, "no memory to compare two runs (%" PRIu64 " bytes)", at->bytes);
    ok = ok && dev_read(d, at->address, x, at->bytes, e) && dev_read(other, at->other_address, y, at->bytes, e);
    *same = ok && !memcmp(x, y, at->bytes);
    if (ok && !*same && !known) report_program(d, other, at, x, y);
    base_free(x);
    base_free(y);
    return ok;
}

/* ---- one launch ---- */

/* The first object that this run left otherwise than the first one did; NULL: none. */
static const struct kept *other_bytes(const struct memory_copy *first)
{
    for (u32 k = 0; k < first->n; k++) {
        const struct kept *o = &first->kept[k];
        if (copy_matters(o->o) && !o->o->maps && memcmp(mem_view(o->o, o->o->base), o->bytes, o->o->size)) return o;
    }
    return NULL;
}

/* One more run, from the memory before the first. false: the search is over, with e set where something failed. */
static bool run_under(struct orders *x, struct sim *s, const struct sim_launch *run, struct report *found,
                      struct error *e)
{
    /* what lies in memory is not as it was before the first run for the others */
    enum { WATCHED = CHECK_RACE | CHECK_ASYNC | CHECK_BARRIER };
    struct sim_result r;
    struct sim_launch watched = *run;
    u32 heap = heap_mark(x->mem);
    char remark[96];
    watched.report = found;
    copy_put(&x->before);
    bool done = sim_run(s, &watched, &r, e) && r.end == SIM_DONE;
    heap_back(x->mem, heap);
    snprintf(remark, sizeof remark, "  not in the first run: under --seed %" PRIu64 " --order %" PRIu64, run->seed,
             run->order);
    report_take_new(run->report, found, WATCHED, remark);
    const struct kept *other = done ? other_bytes(&x->first) : NULL;
    if (other && !x->differs) {
        report_order(other, run);
        x->differs = true;
    }
    return done && !(x->differs && report_errors(run->report) > 1); /* that, and what explains it */
}

bool orders_search(struct orders *x, struct sim *s, const struct sim_launch *first, const struct observer *watch, u32 n,
                   u32 *alike, struct error *e)
{
    struct sim_launch run = launch_rerun(first, watch);
    run.checks = first->checks & ~(u32)CHECK_INIT;
    if (!copy_take(&x->first, x->mem))
        return error_set(e, ERR_MEMORY,
                         "no memory to keep what the first run left, for running the launch in other orders");
    for (run.order = 1; run.order <= n; run.order++) {
        struct report *found = report_new();
        bool go_on = found && run_under(x, s, &run, found, e);
        if (!found) error_set(e, ERR_MEMORY, "no memory for what another order of the launch finds");
        report_free(found);
        if (!go_on) break;
        *alike += !x->differs;
    }
    copy_put(&x->first);
    return !e->code;
}
