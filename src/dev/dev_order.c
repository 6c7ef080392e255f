/* Does the result depend on the order of execution? (`lockstep launch --schedules N`)
 *
 * The memory a launch can see is kept before its first run. Then the launch runs again under other orders of CTAs and warps, backwards
 * first, from that same memory, and what it leaves is compared, byte for byte. These runs are not watched: whatever is wrong under every
 * order the first run has reported. What stops a kernel (a deadlock, a trap) is reported from any of them. The device heap is left
 * out: who gets which piece of it is chance by design. The search ends at the first order that differs, as one pair says it all. */
#include "dev/dev_order.h"
#include "dev/dev_again.h"
#include <inttypes.h>

struct orders {
    struct mem *mem;
    struct memory_copy before, first;   /* the launch; after the first run */
};

struct orders *orders_begin(struct mem *m, struct error *e)
{
    struct orders *x = base_alloc(sizeof *x);
    if (x)
        x->mem = m;
    if (x && copy_take(&x->before, m))
        return x;
    orders_free(x);
    error_set(e, ERR_MEMORY, "no memory to keep what the device holds, for running the launch in other orders");
    return NULL;
}

void orders_free(struct orders *x)
{
    if (!x)
        return;
    copy_free(&x->before);
    copy_free(&x->first);
    base_free(x);
}

static const char *value_text(struct arena *a, const struct scalar *t, const u8 *p)
{
    char text[64];
    if (!t)
        return arena_printf(a, "0x%02x", *p);
    scalar_print(t, p, text, sizeof text);
    u64 bits = 0;
    memcpy(&bits, p, MIN_OF(t->bytes, 8u));
    return t->class == SCALAR_FLOAT ? arena_printf(a, "%s (0x%0*" PRIx64 ")", text, (int)t->bytes * 2, bits) : arena_printf(a, "%s", text);
}

static void tell(const struct kept *k, const struct sim_launch *run)
{
    const struct mem_object *o = k->o;
    const struct scalar *t = mem_scalar(o);
    const u8 *now = (const u8 *)mem_view(o, o->base);
    u64 size = t ? t->bytes : 1, differ = 0, first = 0;
    for (u64 i = 0; i < o->size / size; i++)
        if (memcmp(now + i * size, k->bytes + i * size, size) && !differ++)
            first = i;
    struct arena a = { 0 };
    struct finding f = { .kind = F_order_dependent, .kernel = arena_str(&a, run->kernel->name), .cause_key = o->id };
    f.cause = arena_printf(&a, "%s [%" PRIu64 "] of %s%s%s%s is %s in order 0 and %s in order %" PRIu64 "; %" PRIu64 " of %" PRIu64 " differ", t ? "element" : "byte", first, o->name,
                           o->type ? " (" : "", o->type ? o->type : "", o->type ? ")" : "", value_text(&a, t, k->bytes + first * size), value_text(&a, t, now + first * size),
                           run->order, differ, o->size / size);
    f.fix = arena_printf(&a, "Run it with --seed %" PRIu64 " --order %" PRIu64 ", and without --order, and compare; make the order explicit, or allow for rounding in the comparison.", run->seed, run->order);
    report_add(run->report, &f);
    arena_free(&a);
}

bool orders_search(struct orders *x, struct sim *s, const struct sim_launch *first, u32 n, struct error *e)
{
    struct sim_launch run = launch_again(first, NULL);
    struct sim_result r;
    bool ok = copy_take(&x->first, x->mem), told = false;
    if (!ok)
        return error_set(e, ERR_MEMORY, "no memory to keep what the first run left, for running the launch in other orders");
    for (run.order = 1; ok && !told && run.order <= n; run.order++) {
        copy_put(&x->before);
        ok = sim_run(s, &run, &r, e);
        if (!ok || r.end != SIM_DONE)
            break;
        for (u32 k = 0; k < x->first.n && !told; k++) {
            const struct kept *o = &x->first.kept[k];
            if (copy_matters(o->o) && memcmp(mem_view(o->o, o->o->base), o->bytes, o->o->size)) {
                tell(o, &run);
                told = true;
            }
        }
    }
    copy_put(&x->first);
    return ok;
}
