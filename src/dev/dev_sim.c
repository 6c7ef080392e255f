/* The software GPU: its memory is the arena of mem, its launches run on sim. Modules are placed in module.c. */
#include "check/outputs.h"
#include "check/value_scan.h"
#include "dev/dev_memory.h"
#include "mem/shadow.h"
#include "dev/dev_again.h"
#include "dev/dev_order.h"
#include <stdlib.h>
#include <inttypes.h>

static bool open_sim(struct device *d, struct error *e)
{
    const struct dev_options *o = &d->options;
    d->mem = mem_new(e);
    u32 workers = o->seeded ? 1 : o->workers ? o->workers : (u32)cpu_count();
    if (d->mem) d->sim = sim_new(d->mem, d->profile, workers);
    if (d->sim && o->checks & (CHECK_RACE | CHECK_ASYNC) && !(d->race = race_new(d->mem)))
        return error_set(e, ERR_MEMORY, "no memory for the race check");
    return d->sim != NULL;
}

static void close_sim(struct device *d)
{
    race_delete(d->race);
    if (d->sim) sim_delete(d->sim);
    dev_managed_forget(d, NULL);
    sim_pools_close(d);
    mem_delete(d->mem);
}

/* Bytes of the card in use: pools count with what they hold, and memory of the host does not. */
static u64 card_used(struct device *d)
{
    static const enum mem_kind on_card[] = { MEM_DEVICE, MEM_MANAGED, MEM_GLOBAL, MEM_CONST, MEM_HEAP };
    u64 used = sim_pools_reserved(d);
    for (u32 k = 0; k < COUNT_OF(on_card); k++) used += mem_bytes_of(d->mem, on_card[k]);
    return used;
}

bool sim_has_room(struct device *d, u64 bytes, struct error *e)
{
    u64 used = card_used(d), left = used < d->profile->memory ? d->profile->memory - used : 0;
    if (bytes <= left) return true;
    char pools[100] = "";
    if (sim_pools_reserved(d)) snprintf(pools, sizeof pools, "; pools hold %" PRIu64, sim_pools_reserved(d));
    return error_set(e, ERR_MEMORY,
                     "device memory exhausted: %" PRIu64 " bytes asked, %" PRIu64 " of the %" PRIu64
                     " of %s are free%s",
                     bytes, left, d->profile->memory, d->profile->title, pools);
}

static struct mem_object *alloc(struct device *d, u64 bytes, enum mem_kind kind, const char *name, const char *site,
                                struct error *e)
{
    if (kind != MEM_PINNED && !sim_has_room(d, bytes, e)) return NULL;
    return mem_alloc(d->mem, bytes, 0, kind, name, site, e);
}

static enum mem_free_result release(struct device *d, u64 addr, const char *site, struct mem_object **object)
{
    struct mem_object *o = mem_find(d->mem, addr);
    if (o && o->kind == MEM_MANAGED && o->base == addr) dev_managed_forget(d, o);
    if (!o || !o->pool || o->base != addr || o->state == MEM_FREED) return mem_free(d->mem, addr, site, object);
    if (object) *object = o;
    if (sim_pool_freed(o)) return MEM_FREE_TWICE;
    sim_pool_end(d, o, site);
    return MEM_FREE_OK;
}

static struct mem_object *find(struct device *d, u64 addr) { return mem_find(d->mem, addr); }

static void describe(struct device *d, struct mem_object *o, const char *name, const char *type, u32 element_size)
{
    mem_describe(d->mem, o, name, type, element_size);
}

static u64 live(const struct device *d) { return mem_bytes_live(d->mem); }

/* The host has written these bytes. */
static void defined(struct device *d, u64 addr, u64 bytes)
{
    struct mem_object *o = mem_find(d->mem, addr);
    shadow_define(mem_shadow(d->mem), addr, bytes);
    if (o) o->given = true;
}

static bool copy_in(struct device *d, const struct mem_object *o, u64 addr, const void *from, u64 bytes,
                    struct error *e)
{
    (void)e;
    struct mem_object *own = mem_find(d->mem, addr);
    memcpy(mem_view(o, addr), from, bytes);
    defined(d, addr, bytes);
    if (own && !own->odd && d->options.checks & CHECK_VALUES) own->odd = value_is_odd(own, from, bytes);
    return true;
}

static bool copy_out(struct device *d, const struct mem_object *o, u64 addr, void *to, u64 bytes, struct error *e)
{
    (void)d, (void)e;
    memcpy(to, mem_view(o, addr), bytes);
    return true;
}

static void output(struct device *d, const struct mem_object *o, u64 addr, u64 bytes)
{
    if (d->options.checks & CHECK_INIT) sim_check_output(d->sim, d->report, o, addr, bytes);
}

static bool fill(struct device *d, const struct mem_object *o, u64 addr, int byte, u64 bytes, struct error *e)
{
    (void)e;
    memset(mem_view(o, addr), byte, bytes);
    defined(d, addr, bytes);
    return true;
}

static enum dev_result launch(struct device *d, const struct dev_launch *l, struct sim_result *r, struct error *e)
{
    struct sim_launch s = {
        .kernel = l->kernel,
        .grid = { l->grid[0], l->grid[1], l->grid[2] },
        .block = { l->block[0], l->block[1], l->block[2] },
        .shared_bytes = l->shared_bytes,
        .cooperative = l->cooperative,
        .params = l->params,
        .checks = d->options.checks,
        .seeded = d->options.seeded || l->orders || l->order,
        .seed = d->options.seed,
        .order = l->order,
        .budget = d->options.budget,
        .time_limit = d->options.time_limit,
        .observers = d->race ? race_observer(d->race) : NULL,
        .report = d->report,
        .trace = l->trace,
        .interrupt = &d->interrupt,
        .plain = getenv("LOCKSTEP_PLAIN") != NULL, /* for tests: the two versions of the code must agree */
    };
    char kernel_text[1024];
    snprintf(kernel_text, sizeof kernel_text, "%.*s", (int)MIN_OF(l->kernel->name.n, 1000u), l->kernel->name.p);
    struct outputs *outputs = NULL;
    struct outputs_launch watched = { .bound = l->contract,
                                      .kernel = l->kernel,
                                      .params = l->params,
                                      .grid = s.grid,
                                      .block = s.block,
                                      .mem = d->mem,
                                      .checks = d->options.checks,
                                      .all_values = d->options.all_values,
                                      .report = d->report,
                                      .next = s.observers };
    if ((l->contract || d->options.all_values) && !outputs_begin(&watched, &outputs, e)) return DEV_FAILED;
    if (outputs) s.observers = &outputs->observer;
    struct orders *orders = NULL;
    struct memory_copy before = { 0 };
    bool ok = (!l->orders || (orders = orders_begin(d->mem, e))) &&
              (!outputs || !outputs->held || values_keep(&before, d, l, e));
    ok = ok && sim_run(d->sim, &s, r, e);
    if (outputs) {
        outputs_end(outputs, ok && r->end == SIM_DONE);
        if (ok && outputs->held)
            ok = values_again(outputs, &before, d, &s, r, e);
        else if (outputs->held)
            outputs_settle(outputs);
    }
    copy_free(&before);
    outputs_free(outputs);
    u32 needed = CHECK_VALUES | CHECK_INIT; /* init knows which elements were written */
    if (ok && r->end == SIM_DONE && !d->options.all_values && (d->options.checks & needed) == needed)
        value_scan(&(struct value_scan){ .mem = d->mem,
                                         .launch = r->serial,
                                         .kernel = kernel_text,
                                         .params = l->params,
                                         .param_bytes = l->kernel->param_bytes,
                                         .infinite = r->infinite,
                                         .report = d->report });
    if (orders && ok && r->end == SIM_DONE)
        ok = orders_search(orders, d->sim, &s, watched.next, l->orders, &r->orders, e);
    orders_free(orders);
    return ok ? DEV_RAN : DEV_FAILED;
}

const struct dev_ops dev_sim = { open_sim, close_sim, alloc,  release, find,      describe,     live,
                                 copy_in,  copy_out,  output, fill,    sim_place, sim_displace, launch };
