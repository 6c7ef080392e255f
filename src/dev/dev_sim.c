/* The software GPU: making it, its memory, and its launches. Modules are in module.c, limits in launch.c. */
#include "dev/dev.h"
#include <stdlib.h>
#include <inttypes.h>

struct device *dev_new(const struct dev_options *o, struct error *e)
{
    struct device *d = base_alloc(sizeof *d);
    if (!d) {
        error_set(e, ERR_MEMORY, "out of memory");
        return NULL;
    }
    d->options = *o;
    d->any_target = !o->profile;
    d->profile = o->profile ? o->profile : profile_default();
    d->report = report_new();
    d->mem = mem_new(e);
    u32 workers = o->seeded ? 1 : o->workers ? o->workers : (u32)cpu_count();
    if (d->mem && d->report)
        d->sim = sim_new(d->mem, d->profile, workers);
    if (!d->sim) {
        error_set(e, ERR_MEMORY, "out of memory");
        dev_delete(d);
        return NULL;
    }
    return d;
}

void dev_delete(struct device *d)
{
    if (!d)
        return;
    while (d->modules)
        dev_unload(d, d->modules);
    if (d->sim)
        sim_delete(d->sim);
    mem_delete(d->mem);
    report_free(d->report);
    base_free(d);
}

bool dev_has_room(struct device *d, u64 bytes, struct error *e)
{
    u64 used = mem_bytes_live(d->mem), left = used < d->profile->memory ? d->profile->memory - used : 0;
    return bytes <= left || error_set(e, ERR_MEMORY, "device memory exhausted: %" PRIu64 " bytes asked, %" PRIu64 " of the %" PRIu64 " of %s are free",
                                      bytes, left, d->profile->memory, d->profile->title);
}

struct mem_object *dev_alloc(struct device *d, u64 bytes, enum mem_kind kind, const char *name, const char *site, struct error *e)
{
    if (kind != MEM_PINNED && !dev_has_room(d, bytes, e))
        return NULL;
    return mem_alloc(d->mem, bytes, 0, kind, name, site, e);
}

static void free_finding(struct device *d, bool twice, u64 addr, const struct mem_object *o)
{
    char cause[300], note[300];
    struct finding f = { .kind = twice ? F_double_free : F_bad_free, .cause_key = addr, .cause = cause };
    if (o) {
        f.object = o->name;
        f.object_type = o->type;
        f.object_base = o->base;
        f.object_size = o->size;
        f.element_size = o->element_size;
        snprintf(note, sizeof note, "%s: %" PRIu64 " bytes%s%s%s%s", o->name, o->size, o->alloc_site ? ", allocated at " : "",
                 o->alloc_site ? o->alloc_site : "", o->free_site ? ", first freed at " : "", o->free_site ? o->free_site : "");
        f.object_note = note;
    }
    if (twice)
        snprintf(cause, sizeof cause, "%s was freed before, and is freed again.", o->name);
    else if (o)
        snprintf(cause, sizeof cause, "0x%" PRIx64 " is %s+0x%" PRIx64 ", not the start of an allocation.", addr, o->name, addr - o->base);
    else
        snprintf(cause, sizeof cause, "0x%" PRIx64 " belongs to no allocation of this device.", addr);
    report_add(d->report, &f);
}

bool dev_free(struct device *d, u64 addr, const char *site)
{
    struct mem_object *o = mem_find(d->mem, addr);
    bool variable = o && (o->kind == MEM_GLOBAL || o->kind == MEM_CONST);
    enum mem_free_result r = variable ? MEM_FREE_BAD : mem_free(d->mem, addr, site, &o);
    if (r == MEM_FREE_OK)
        return true;
    free_finding(d, r == MEM_FREE_TWICE, addr, o);
    return false;
}

void *dev_bytes(struct device *d, u64 addr, u64 bytes, struct error *e)
{
    const struct mem_object *o = mem_find(d->mem, addr);
    if (!o)
        error_set(e, ERR_INPUT, "0x%" PRIx64 " belongs to no allocation of this device", addr);
    else if (__atomic_load_n(&o->state, __ATOMIC_ACQUIRE) == MEM_FREED)
        error_set(e, ERR_INPUT, "%s (%" PRIu64 " bytes) has been freed", o->name, o->size);
    else if (bytes > o->size - (addr - o->base))
        error_set(e, ERR_INPUT, "%" PRIu64 " bytes at %s+0x%" PRIx64 " do not fit: %s has %" PRIu64 " bytes", bytes, o->name, addr - o->base,
                  o->name, o->size);
    else
        return mem_view(o, addr);
    return NULL;
}

enum dev_result dev_launch(struct device *d, const struct dev_launch *l, struct sim_result *r, struct error *e)
{
    *r = (struct sim_result){ 0 };
    if (!launch_allowed(d, l))
        return DEV_REFUSED;
    struct sim_launch s = {
        .kernel = l->kernel, .grid = { l->grid[0], l->grid[1], l->grid[2] }, .block = { l->block[0], l->block[1], l->block[2] },
        .shared_bytes = l->shared_bytes, .cooperative = l->cooperative, .params = l->params, .checks = d->options.checks,
        .seeded = d->options.seeded, .seed = d->options.seed, .budget = d->options.budget, .report = d->report, .interrupt = &d->interrupt,
        .plain = getenv("LOCKSTEP_PLAIN") != NULL,        /* for tests: the two versions of the code must agree */
    };
    bool ok = sim_run(d->sim, &s, r, e);
    __atomic_store_n(&d->interrupt, 0, __ATOMIC_RELAXED);
    return ok ? DEV_RAN : DEV_FAILED;
}
