/* Does the result depend on the order of execution? (`lockstep launch --schedules N`)
 *
 * The memory a launch can see is kept before its first run. Then the launch runs again under other orders of CTAs and warps, backwards
 * first, from that same memory, and what it leaves is compared, byte for byte. These runs are not watched: whatever is wrong under every
 * order the first run has reported. What stops a kernel (a deadlock, a trap) is reported from any of them. The device heap is left
 * out: who gets which piece of it is chance by design. The search ends at the first order that differs, as one pair says it all. */
#include "dev/dev_order.h"
#include "base/scalar.h"
#include <inttypes.h>

struct kept {                   /* one object */
    struct mem_object *o;
    u8 *before, *first;         /* its bytes before the launch, and after the first run */
};
struct orders {
    struct mem *mem;
    struct kept *kept; u32 n, cap;
};

static bool matters(const struct mem_object *o) { return o->state == MEM_LIVE && o->kind != MEM_CONST && o->kind != MEM_HEAP && o->size; }

static bool keep(struct orders *x, struct mem_object *o)
{
    if (x->n == x->cap) {
        u32 cap = x->cap ? 2 * x->cap : 16;
        struct kept *k = base_realloc(x->kept, sizeof *k * cap);
        if (!k)
            return false;
        x->kept = k;
        x->cap = cap;
    }
    struct kept *k = &x->kept[x->n++];
    *k = (struct kept){ o, base_alloc(o->size), base_alloc(o->size) };
    if (!k->before || !k->first)
        return false;
    memcpy(k->before, mem_view(o, o->base), o->size);
    return true;
}

struct orders *orders_begin(struct mem *m, struct error *e)
{
    struct orders *x = base_alloc(sizeof *x);
    bool ok = x != NULL;
    if (ok)
        x->mem = m;
    for (u32 id = 1; ok; id++) {
        struct mem_object *o = mem_by_id(m, id);
        if (!o)
            return x;
        if (matters(o))
            ok = keep(x, o);
    }
    orders_free(x);
    error_set(e, ERR_MEMORY, "no memory to keep what the device holds, for running the launch in other orders");
    return NULL;
}

void orders_free(struct orders *x)
{
    for (u32 k = 0; x && k < x->n; k++) {
        base_free(x->kept[k].before);
        base_free(x->kept[k].first);
    }
    if (x)
        base_free(x->kept);
    base_free(x);
}

static void put_back(struct orders *x, bool first)
{
    for (u32 k = 0; k < x->n; k++)
        memcpy(mem_view(x->kept[k].o, x->kept[k].o->base), first ? x->kept[k].first : x->kept[k].before, x->kept[k].o->size);
}

/* Its type as in "f32[100]"; NULL: unknown, then it is bytes. */
static const struct scalar *type_of(const struct mem_object *o)
{
    const char *end = o->type ? strchr(o->type, '[') : NULL;
    const struct scalar *t = end ? scalar_find((struct str){ o->type, (u32)(end - o->type) }) : NULL;
    return t && o->size % t->bytes == 0 ? t : NULL;
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
    const struct scalar *t = type_of(o);
    const u8 *now = (const u8 *)mem_view(o, o->base);
    u64 size = t ? t->bytes : 1, differ = 0, first = 0;
    for (u64 i = 0; i < o->size / size; i++)
        if (memcmp(now + i * size, k->first + i * size, size) && !differ++)
            first = i;
    struct arena a = { 0 };
    struct finding f = { .kind = F_order_dependent, .kernel = arena_str(&a, run->kernel->name), .cause_key = o->id };
    f.cause = arena_printf(&a, "%s [%" PRIu64 "] of %s%s%s%s is %s in order 0 and %s in order %" PRIu64 "; %" PRIu64 " of %" PRIu64 " differ", t ? "element" : "byte", first, o->name,
                           o->type ? " (" : "", o->type ? o->type : "", o->type ? ")" : "", value_text(&a, t, k->first + first * size), value_text(&a, t, now + first * size),
                           run->order, differ, o->size / size);
    f.fix = arena_printf(&a, "Run it with --seed %" PRIu64 " --order %" PRIu64 ", and without --order, and compare; make the order explicit, or allow for rounding in the comparison.", run->seed, run->order);
    report_add(run->report, &f);
    arena_free(&a);
}

static void print_nothing(void *self, const char *p, size_t n) { (void)self, (void)p, (void)n; }

bool orders_search(struct orders *x, struct sim *s, const struct sim_launch *first, u32 n, struct error *e)
{
    struct sim_launch run = *first;
    struct sim_result r;
    bool ok = true, told = false;
    run.checks = 0;
    run.observers = NULL;
    run.trace = NULL;
    run.print = print_nothing;
    for (u32 k = 0; k < x->n; k++)
        memcpy(x->kept[k].first, mem_view(x->kept[k].o, x->kept[k].o->base), x->kept[k].o->size);
    for (run.order = 1; ok && !told && run.order <= n; run.order++) {
        put_back(x, false);
        ok = sim_run(s, &run, &r, e);
        if (!ok || r.end != SIM_DONE)
            break;
        for (u32 k = 0; k < x->n && !told; k++)
            if (matters(x->kept[k].o) && memcmp(mem_view(x->kept[k].o, x->kept[k].o->base), x->kept[k].first, x->kept[k].o->size)) {
                tell(&x->kept[k], &run);
                told = true;
            }
    }
    put_back(x, true);
    return ok;
}
