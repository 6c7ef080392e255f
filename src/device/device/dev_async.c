/* What both devices check of a task before it is enqueued: the ranges of copies and fills against objects, launches
 * against the limits of the card and their contract. */
#include "device/dev_memory.h"

const char *dev_status_text(u32 status)
{
    switch (status) {
    case OP_OK: return "success";
    case OP_INVALID_VALUE: return "an argument is not valid";
    case OP_OUT_OF_MEMORY: return "out of memory";
    case DEV_REFUSED_LAUNCH: return "the launch is refused: the report says why";
    case OP_INVALID_HANDLE: return "the handle is not valid here: it belongs to another device, or has no such use";
    case OP_ILLEGAL_STATE: return "not possible in this state: the stream is captured already, or is not captured";
    case OP_NOT_READY: return "not ready: work is still in flight";
    case DEV_LAUNCH_FAILED: return "a launch ended early: the report says why";
    case OP_NOT_PERMITTED: return "not permitted in a host function";
    case OP_NOT_SUPPORTED: return "not supported";
    case OP_CAPTURE_UNSUPPORTED: return "not possible while the stream is captured; the capture is invalid now";
    case OP_CAPTURE_INVALIDATED: return "the capture was made invalid by an earlier call";
    case OP_CAPTURE_MERGE: return "the event belongs to another capture; both are invalid now";
    case OP_CAPTURE_UNMATCHED: return "the capture was begun on another stream";
    case OP_CAPTURE_UNJOINED:
        return "a stream that joined the capture was not joined back: let the first stream wait "
               "for an event that is recorded in it";
    case OP_CAPTURE_ISOLATION: return "the event was recorded outside of the capture; the capture is invalid now";
    case OP_CAPTURE_IMPLICIT:
        return "the legacy default stream would wait for a captured stream; the capture is invalid now";
    case OP_CAPTURED_EVENT: return "the event was last recorded in a capture; the capture is invalid now";
    case OP_CAPTURE_WRONG_THREAD: return "the capture was begun by another thread";
    case OP_GRAPH_UPDATE_FAILURE: return "the graphs differ in more than arguments";
    default: return "the device reports an error";
    }
}

enum error_code dev_status_code(u32 cuda)
{
    switch (cuda) {
    case 2: return ERR_MEMORY;
    case 801: return ERR_UNSUPPORTED;
    case 1:
    case 400:
    case 401:
    case 712: /* registered already */
    case 713: /* not registered */
    case 800: return ERR_INPUT;
    default: return cuda >= 900 && cuda < 999 ? ERR_INPUT : ERR_SYSTEM; /* 900..: captures and graphs */
    }
}

/* ---- tasks ---- */

u32 dev_task_plan(struct device *d, struct dev_task *t, union dev_plan *plan, struct error *e)
{
    t->plan = t->kind == OP_COPY || t->kind == OP_FILL ? plan : NULL;
    switch (t->kind) {
    case OP_EMPTY: return OP_OK;
    case OP_LAUNCH:
        dev_checks_ran(d, &t->launch, false);
        if (!dev_pointers_own(d, &t->launch, e)) return OP_INVALID_VALUE;
        return launch_allowed(d, &t->launch) && dev_contract_kept(d, &t->launch) ? OP_OK : DEV_REFUSED_LAUNCH;
    case OP_COPY: return dev_copy_plan(d, &t->copy, &plan->copy, e);
    case OP_FILL: return dev_fill_plan(d, &t->fill, &plan->fill, e);
    case OP_ALLOC: return OP_OK; /* the pool knows */
    case OP_FREE: return OP_OK;  /* what is wrong with it is a finding, when it runs */
    case OP_HOST:
        return t->host.call || t->host.operate || error_set(e, ERR_INPUT, "no host function is given")
                   ? OP_OK
                   : OP_INVALID_VALUE;
    case OP_LIBRARY: return OP_OK;
    default:
        error_set(e, ERR_INPUT, "an operation of the kind %d is not a task", (int)t->kind);
        return OP_INVALID_VALUE;
    }
}

u32 dev_enqueue(struct dev_stream *st, struct device *d, struct dev_task *task, struct error *e)
{
    bool again = task->kind == OP_LAUNCH && launch_was_allowed(&task->launch) && !task->launch.contract && dev_alone();
    union dev_plan plan;
    u32 status = again ? OP_OK : dev_task_plan(d, task, &plan, e);
    if (!status) status = d->async->enqueue(st, task, e);
    task->plan = NULL;
    return status;
}

u32 dev_perform(struct device *d, struct dev_task *task, struct error *e)
{
    union dev_plan plan;
    struct dev_stream *legacy = d->async->perform ? NULL : d->async->stream_legacy(d);
    u32 status = dev_task_plan(d, task, &plan, e);
    if (!status) status = legacy ? d->async->enqueue(legacy, task, e) : d->async->perform(d, task, e);
    task->plan = NULL;
    return status || !legacy ? status : d->async->stream_synchronise(legacy, e);
}

u32 dev_graph_add(struct dev_graph *g, struct device *d, struct dev_node *const *dep, u32 deps, struct dev_task *task,
                  struct dev_node **out, struct error *e)
{
    union dev_plan plan;
    u32 status = dev_task_plan(d, task, &plan, e);
    if (!status) status = d->async->graph_add(g, dep, deps, task, out, e);
    task->plan = NULL;
    return status;
}

u32 dev_exec_set(struct dev_exec *x, struct device *d, struct dev_node *n, struct dev_task *task, struct error *e)
{
    union dev_plan plan;
    u32 status = dev_task_plan(d, task, &plan, e);
    if (!status) status = d->async->exec_set(x, n, task, e);
    task->plan = NULL;
    return status;
}
