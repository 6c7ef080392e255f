/* The software GPU: its memory is the arena of mem, its launches run on sim. Modules are placed in module.c. */
#include "device/dev_work.h"
#include "device/dev_parts.h"
#include "queue/graph.h"
#include <inttypes.h>
#include <stdlib.h>

static bool open_sim(struct device *d, struct error *e)
{
    const struct dev_options *o = &d->options;
    d->mem = mem_new(e);
    d->plain = getenv("LOCKSTEP_PLAIN") != NULL; /* for tests: the two versions of the code must agree */
    u32 workers = o->seeded ? 1 : o->workers ? o->workers : (u32)cpu_count();
    if (d->mem) d->sim = sim_new(d->mem, d->card, workers, &dev_parts);
    if (d->sim && o->checks & (CHECK_RACE | CHECK_ASYNC) && !(d->race = race_new(d->mem)))
        return error_set(e, ERR_MEMORY, "no memory for the race check");
    if (o->count) d->counts = counts_new(d->card);
    return d->sim && work_open(d, e);
}

static void close_sim(struct device *d)
{
    work_close(d);
    race_delete(d->race);
    counts_delete(d->counts);
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
    u64 used = card_used(d), left = used < d->card->memory ? d->card->memory - used : 0;
    if (bytes <= left) return true;
    char pools[100] = "";
    if (sim_pools_reserved(d)) snprintf(pools, sizeof pools, "; pools hold %" PRIu64, sim_pools_reserved(d));
    return error_set(e, ERR_MEMORY,
                     "device memory exhausted: %" PRIu64 " bytes asked, %" PRIu64 " of the %" PRIu64
                     " of %s are free%s",
                     bytes, left, d->card->memory, d->card->title, pools);
}

static struct mem_object *alloc(struct device *d, u64 bytes, enum mem_kind kind, const char *name, const char *site,
                                struct error *e)
{
    if (kind != MEM_PINNED && !sim_has_room(d, bytes, e)) return NULL;
    note_host_uses(d, kind);
    return mem_alloc(d->mem, bytes, kind == MEM_PINNED ? 0 : dev_align(bytes), kind, name, site, e);
}

/* The host frees memory of a pool, which waits for nothing: launches in flight may use it still. */
static bool let_go(struct device *d, struct mem_object *o, const char *site)
{
    bool later;
    if (!sim_pool_let_go(o, site, &later)) return false;
    if (later) return true;
    note_freed_now(d, o->base, o->size, site ? site : "lk_memory_free");
    sim_pool_end(d, o, site);
    return true;
}

static enum mem_free_result release(struct device *d, u64 addr, const char *site, struct mem_object **object)
{
    struct mem_object *o = mem_find(d->mem, addr);
    if (o && (o->kind == MEM_MANAGED || o->kind == MEM_PINNED) && o->base == addr) dev_managed_forget(d, o);
    if (o && o->base == addr && mem_is_live(o)) dev_unseen(d, o);
    if (o && o->base == addr && let_go(d, o, site)) {
        if (object) *object = o;
        return MEM_FREE_OK;
    }
    if (o && o->base == addr) note_gone(d, o->base, o->size);
    if (!o || !o->pool || o->base != addr || __atomic_load_n(&o->state, __ATOMIC_ACQUIRE) == MEM_FREED)
        return mem_free(d->mem, addr, site, object);
    if (object) *object = o;
    if (sim_pool_is_graph(o)) { /* the address stays the node's */
        graph_freed(work_streams(d), (void *)(uintptr_t)addr);
        return sim_pool_graph_rest(d, o, site) ? MEM_FREE_OK : MEM_FREE_BAD;
    }
    if (sim_pool_freed(o)) return MEM_FREE_TWICE;
    sim_pool_end(d, o, site);
    return MEM_FREE_OK;
}

static struct mem_object *find(struct device *d, u64 addr) { return mem_find(d->mem, addr); }

static void describe(struct device *d, struct mem_object *o, const char *name, const char *type, u32 element_size)
{
    mem_describe(d->mem, o, name, type, element_size);
}

/* What the engine keeps for itself between launches is no memory of the program. */
static u64 live(const struct device *d) { return mem_bytes_live(d->mem) - sim_spare_bytes(d->sim); }
static struct mem_usage usage(const struct device *d, enum mem_kind kind) { return mem_usage(d->mem, kind); }
static const struct mem_object *sim_object(const struct device *d, u32 i) { return mem_by_id(d->mem, i + 1); }

/* Whether a synchronous call may act now, until acted: with work in flight it is an operation of the legacy stream. */
static bool acts_now(struct device *d)
{
    struct streams *s = work_used(d);
    return !s || streams_act(s);
}

static void acted(struct device *d)
{
    struct streams *s = work_used(d);
    if (s) streams_acted(s);
}

static bool copy_now(struct device *d, const struct dev_copy *c, struct error *e)
{
    struct dev_copy_plan p;
    if (dev_copy_plan(d, c, &p, e)) return false;
    dev_copy_run(&p);
    return true;
}

/* Pinned memory is the host's own: no stream comes into it. */
static bool copy_either(struct device *d, const struct mem_object *o, const struct dev_copy *c, struct error *e)
{
    if (o->kind == MEM_PINNED) return copy_now(d, c, e);
    if (!acts_now(d)) return !work_wait_task(d, &(struct dev_task){ .kind = OP_COPY, .copy = *c }, e);
    bool ok = copy_now(d, c, e);
    acted(d);
    return ok;
}

static bool copy_in(struct device *d, const struct mem_object *o, u64 addr, const void *from, u64 bytes,
                    struct error *e)
{
    struct dev_copy c = { .to = { .address = addr }, .from = { .host = (void *)(uintptr_t)from }, bytes, 1, 1 };
    if (o->kind == MEM_PINNED) note_host(d, addr, bytes, true);
    return copy_either(d, o, &c, e);
}

static bool copy_out(struct device *d, const struct mem_object *o, u64 addr, void *to, u64 bytes, struct error *e)
{
    struct dev_copy c = { .to = { .host = to }, .from = { .address = addr }, bytes, 1, 1 };
    if (o->kind == MEM_PINNED) note_host(d, addr, bytes, false);
    return copy_either(d, o, &c, e);
}

static void output(struct device *d, const struct mem_object *o, u64 addr, u64 bytes)
{
    if (d->options.checks & CHECK_INIT) sim_check_output(d->sim, d->report, o, addr, bytes);
}

static bool fill(struct device *d, const struct mem_object *o, u64 addr, int byte, u64 bytes, struct error *e)
{
    (void)o;
    struct dev_fill f = { .address = addr, .value = (u32)byte & 0xff, .bytes = 1, .width = bytes, .rows = 1 };
    struct dev_fill_plan p;
    if (!acts_now(d)) return !work_wait_task(d, &(struct dev_task){ .kind = OP_FILL, .fill = f }, e);
    bool ok = !dev_fill_plan(d, &f, &p, e);
    if (ok) dev_fill_run(&p);
    acted(d);
    return ok;
}

static bool outside(struct device *d, bool wait, struct error *e)
{
    struct streams *s = work_used(d);
    if (!s) return true;
    u32 status = capture_unsafe_call(s);
    if (wait) {
        note_waits(d);
        streams_settle(s);
        note_waited(d);
    }
    return !work_status(d, status, e);
}

static enum dev_result launch(struct device *d, const struct dev_launch *l, struct sim_result *r, struct error *e)
{
    if (!work_sync_begin(d)) return work_wait_launch(d, l, r, e);
    report_tickets_end(d->report);
    struct dev_run run;
    enum dev_way way = run_way(d, l);
    enum dev_result came = way == DEV_LEFT_OUT ? DEV_RAN : DEV_FAILED;
    if (way != DEV_LEFT_OUT && run_begin(&run, d, l, way, NULL, e)) {
        run.alone = run.raced && !run.unchecked && work_used(d) && work_kernel_alone(d, l->kernel);
        run.asleep = NULL;
        run.in.sleeps = work_sync_sleeps;
        run.in.done_self = &run;
        work_run_here(&run);
        came = run_end(&run, sim_run(d->sim, &run.in, r, e), r, e);
        work_run_left(&run);
    }
    work_sync_end(d);
    return came;
}

const struct dev_ops dev_sim = { open_sim, close_sim,  alloc,        release,   find,    describe, live,
                                 usage,    sim_object, sim_pin,      sim_unpin, copy_in, copy_out, output,
                                 fill,     sim_place,  sim_displace, launch,    outside };
