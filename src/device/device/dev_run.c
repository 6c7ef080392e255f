/* One launch of the software GPU: what the machine is given, what is kept before it runs, what is looked at
 * afterwards. */
#include "check/outputs.h"
#include "check/value_scan.h"
#include "check/view_check.h"
#include "device/dev_order.h"
#include "device/dev_work.h"
#include "explain/view_strides.h"

void (*dev_launch_checked)(void);

enum dev_way run_way(struct device *d, const struct dev_launch *l)
{
    enum dev_way way = d->choose ? d->choose(d->choose_self, l) : DEV_CHECKED;
    if (way == DEV_CHECKED) dev_checks_ran(d, l, true);
    if (way == DEV_CHECKED && unlikely(dev_launch_checked != NULL) && !d->options.driver && d->options.checks)
        dev_launch_checked();
    if (way == DEV_LEFT_OUT) mem_define_all(d->mem);
    return way;
}

/* Whether the race check follows launches of this kernel. For asynchronous copies alone it has nothing to look for
 * where the program has none, unless the launch may run beside one of another program, or is one of those whose
 * footprints are compared. */
static bool follows(const struct device *d, struct ptx_func *kernel, const struct op *op)
{
    if (!d->race || d->options.checks & CHECK_RACE || work_races(d)) return d->race != NULL;
    return ptx_asynchronous(kernel->module) || ptx_triggers(kernel) || (op && op_may_overlap(op));
}

/* A kernel that waits for others may pass on what orders two launches that are checked. It is followed like them, and
 * nobody reads what is found. Others need not be followed: false. */
static bool follow_unread(struct device *d, struct sim_launch *in)
{
    if (!in->observers || !work_kernel_polls(d, in->kernel)) return false;
    lock(&d->work->lock);
    if (!d->unread && (d->unread = report_new())) report_checks(d->unread, d->options.checks, d->options.kinds_off);
    struct report *to = d->unread;
    unlock(&d->work->lock);
    if (to) in->report = to;
    return to != NULL;
}

/* What the machine is given; r->in is all zero. */
static void machine_launch(struct dev_run *r, enum dev_way way)
{
    struct sim_launch *in = &r->in;
    struct device *d = r->device;
    const struct dev_launch *l = r->launch;
    in->kernel = l->kernel;
    memcpy(in->grid, l->grid, sizeof in->grid);
    memcpy(in->block, l->block, sizeof in->block);
    in->shared_bytes = l->shared_bytes;
    memcpy(in->cluster, l->cluster, sizeof in->cluster);
    in->cooperative = l->cooperative;
    in->params = l->params;
    in->views = l->views;
    in->checks = d->options.checks;
    in->seeded = d->options.seeded || (r->may_rerun && (l->orders || l->order));
    in->seed = d->options.seed;
    in->order = r->may_rerun ? l->order : 0;
    in->budget = d->options.budget;
    in->time_limit = d->options.time_limit;
    in->observers = r->raced ? race_observer(d->race) : NULL;
    in->report = d->report;
    in->trace = l->trace;
    in->origin = l->origin.nth ? &l->origin : NULL;
    in->interrupt = &d->interrupt;
    in->plain = d->plain;
    if (way == DEV_CHECKED || follow_unread(d, in)) return;
    in->checks = 0;
    in->observers = NULL;
    in->defines = d->options.checks & CHECK_INIT;
}

static void run_drop(struct dev_run *r)
{
    copy_free(&r->before);
    outputs_free(r->outputs);
    orders_free(r->orders);
    view_check_free(r->views);
    counting_free(r->counting);
    r->counting = NULL;
    r->outputs = NULL;
    r->views = NULL;
    r->orders = NULL;
}

/* Its outputs are looked at as its contract says, or those of all launches. */
static bool watch_outputs(struct dev_run *r, struct error *e)
{
    const struct device *d = r->device;
    const struct dev_launch *l = r->launch;
    struct outputs_launch watched = { .bound = l->contract,
                                      .kernel = l->kernel,
                                      .params = l->params,
                                      .grid = l->grid,
                                      .block = l->block,
                                      .mem = d->mem,
                                      .checks = d->options.checks,
                                      .all_values = d->options.all_values,
                                      .once = !r->may_rerun,
                                      .report = d->report,
                                      .next = r->in.observers };
    return outputs_begin(&watched, &r->outputs, e);
}

/* What it does is counted, in front of the other observers: around all that they do. */
static void count_it(struct dev_run *r)
{
    const struct dev_launch *l = r->launch;
    struct count_shape shape = { l->registers ? l->registers : l->kernel->maxnreg, l->registers != 0, l->stack,
                                 l->spill_stores, l->spill_loads };
    r->counting = counting_new(r->device->counts, &shape);
    r->in.observers = counting_observer(r->counting, r->in.observers);
}

bool run_begin(struct dev_run *r, struct device *d, const struct dev_launch *l, enum dev_way way, struct op *op,
               struct error *e)
{
    bytes_clear(r, sizeof *r);
    r->device = d;
    r->launch = l;
    r->op = op;
    r->may_rerun = !op;
    r->unchecked = way != DEV_CHECKED;
    r->raced = follows(d, l->kernel, op);
    if (d->race && !r->raced && !r->unchecked) report_ran(d->report, CHECK_ASYNC); /* there is nothing to look at */
    machine_launch(r, way);
    if (l->count) r->began = time_ns();
    if (r->unchecked) return true;
    bool ok = !(l->contract || d->options.all_values) || watch_outputs(r, e);
    if (r->outputs) r->in.observers = &r->outputs->observer;
    r->views = view_check_begin(&r->in, d->mem, r->in.observers, view_strides_judge);
    if (r->views) r->in.observers = view_check_observer(r->views);
    ok = ok && (!r->may_rerun || !l->orders || (r->orders = orders_begin(d->mem, e))) &&
         (!r->may_rerun || !r->outputs || !r->outputs->held || values_keep(&r->before, d, l, e));
    if (ok && d->counts) count_it(r);
    if (ok && d->watch) {
        d->watch->next = r->in.observers;
        r->in.observers = d->watch;
    }
    if (!ok) run_drop(r);
    return ok;
}

/* What a launch is run again for, and was not: others see the memory that it would be run from. */
static void report_not_rerun(const struct dev_run *r, const char *what)
{
    struct arena a = { 0 };
    struct finding f = { .kind = F_not_run_again, .once = true };
    f.kernel = arena_str(&a, r->launch->kernel->name);
    f.launch = r->in.number;
    f.cause = arena_printf(&a, "%s, and the launch is in a stream, or others were in flight beside it", what);
    report_add(r->device->report, &f);
    arena_free(&a);
}

static void fault_note(struct device *d, const struct dev_launch *l, u32 code)
{
    static lock_t guard = LOCK_INIT;
    lock(&guard);
    if (!d->fault.code) {
        name_plain(l->kernel->name, d->fault.kernel, sizeof d->fault.kernel);
        d->fault.nth = l->origin.nth;
        d->fault.site = l->origin.site;
        __atomic_store_n(&d->fault.code, code, __ATOMIC_RELEASE);
    }
    unlock(&guard);
}

enum dev_result run_end(struct dev_run *r, bool ok, struct sim_result *result, struct error *e)
{
    struct device *d = r->device;
    const struct dev_launch *l = r->launch;
    if (__atomic_load_n(&d->work->overdue, __ATOMIC_RELAXED) == l->kernel)
        __atomic_store_n(&d->work->overdue, NULL, __ATOMIC_RELAXED);
    report_origin_here(r->in.origin);
    if (r->outputs) {
        outputs_end(r->outputs, ok && result->end == SIM_DONE);
        if (ok && r->outputs->held && r->may_rerun)
            ok = values_rerun(r->outputs, &r->before, d, &r->in, result, e);
        else if (r->outputs->held) {
            if (ok && r->outputs->odd)
                report_not_rerun(r, "it stored a NaN or an infinity, whose origin is looked for "
                                    "by running the launch again");
            outputs_settle(r->outputs);
        }
    }
    if (ok && l->orders && !r->may_rerun) report_not_rerun(r, "it was to run again in other orders");
    u32 needed = CHECK_VALUES | CHECK_INIT; /* init knows which elements were written */
    if (ok && result->end == SIM_DONE && !r->unchecked && !d->options.all_values &&
        (d->options.checks & needed) == needed)
        value_scan(&(struct value_scan){ .mem = d->mem,
                                         .launch = result->serial,
                                         .kernel = l->kernel->name,
                                         .params = l->params,
                                         .param_bytes = l->kernel->param_bytes,
                                         .warp_insns = result->warp_insns,
                                         .infinite = result->infinite,
                                         .nan = result->nan,
                                         .report = d->report });
    const struct observer *race = r->raced ? race_observer(d->race) : NULL;
    if (r->orders && ok && result->end == SIM_DONE)
        ok = orders_search(r->orders, d->sim, &r->in, race, l->orders, &result->orders, e);
    run_drop(r);
    report_origin_here(NULL);
    report_origin_ended(d->report, r->in.origin);
    if (unlikely(ok && result->fault)) fault_note(d, l, result->fault);
    if (l->count) {
        __atomic_fetch_add(&l->count->launches, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&l->count->ns, time_ns() - r->began, __ATOMIC_RELAXED);
        __atomic_fetch_add(&l->count->warp_insns, result->warp_insns, __ATOMIC_RELAXED);
    }
    return ok ? DEV_RAN : DEV_FAILED;
}
