/* The site of a call, and the variable of the host that an allocation goes to. */
#include "engine/cu_where.h"
#include "base/channel.h"
#include "driver/cu_engine.h"
#include "driver/gate.h"
#include "device/dev_work.h"
#include "mem/host_pointer.h"
#include "engine/cu_python.h"
#include "sites/where.h"
#include <dlfcn.h>

/* ---- scripts ---- */

static bool scripts; /* the process has an interpreter */
static _Thread_local struct {
    u64 serial; /* of the call whose lines these are */
    struct where_stack lines;
} scripted;

bool cu_where_scripts(void) { return __atomic_load_n(&scripts, __ATOMIC_SEQ_CST); }
bool cu_where_holds(void) { return scripts && where_python_look(); }

/* Calls whose place is told: to take the interpreter's lock for each of the others would cost more than they do. */
static bool is_placed(const char *function)
{
    static const char *const begin[] = {
        "cuLaunch",        "cuMemAlloc",      "cuMemFree",     "cuMemcpy",       "cuMemset",        "cuMemHost",
        "cuMemPrefetch",   "cuStreamSync",    "cuStreamWait",  "cuStreamCreate", "cuEventRecord",   "cuEventCreate",
        "cuEventSync",     "cuCtxSync",       "cuGraphLaunch", "cuModuleLoad",   "cuModuleUnload",  "cuLibraryLoad",
        "cuArray",         "cuMipmapped",     "cudaLaunch",    "__cudaLaunch",   "cudaMalloc",      "cudaFree",
        "cudaHost",        "cudaMemcpy",      "cudaMemset",    "cudaStreamSync", "cudaStreamWait",  "cudaStreamCreate",
        "cudaEventRecord", "cudaEventCreate", "cudaEventSync", "cudaDeviceSync", "cudaGraphLaunch", "cublas",
        "cufft",           "curand"
    };
    return begins_with(function, begin, COUNT_OF(begin));
}

void cu_where_begin(const struct cu_call *c)
{
    if (!is_placed(cu_call_name(c))) return;
    scripted.serial = where_script(&scripted.lines) ? cu_call_serial() : 0;
}

static struct where_call call_from(const struct cu_call *c)
{
    return (struct where_call){ .address = (uintptr_t)c->return_address,
                                .frame = (uintptr_t)c->frame,
                                .stack = (uintptr_t)c->stack };
}

static bool frames_walk(const struct cu_call *c, struct where_stack *s)
{
    if (!c) return false;
    struct where_call from = call_from(c);
    if (!where_is_code(from.address)) where_modules_look(); /* a library that was loaded since */
    where_walk(&from, s);
    return true;
}

bool cu_where_stack(struct where_stack *s) { return frames_walk(cu_call_now(), s); }

/* Its place is a line of a script. */
static bool is_scripted(void) { return cu_where_scripts() && scripted.serial && scripted.serial == cu_call_serial(); }

static bool call_walk(const struct cu_call *c, struct where_stack *s)
{
    if (!c || !is_scripted()) return frames_walk(c, s);
    *s = scripted.lines;
    return true;
}

const char *cu_site(void)
{
    const struct cu_call *c = cu_call_now();
    if (!c) return NULL;
    if (is_scripted()) return where_site(cu_call_name(c), &scripted.lines);
    struct where_call from = call_from(c);
    return where_site_of(cu_call_name(c), &from);
}

/* The calls that threads are in, for a report that another thread makes: of their stacks nothing is read. */
static u32 calls_now(const char **site, u32 most)
{
    const struct cu_call *call;
    u32 made = 0;
    s32 tid;
    u64 serial;
    for (const struct gate_thread *at = NULL; made < most && cu_call_next(&at, &tid, &serial, &call);) {
        if (!call) continue;
        struct where_stack s = { .n = 1, .address = { (uintptr_t)call->return_address } };
        if ((site[made] = where_site(cu_call_name(call), &s))) made++;
    }
    return made;
}

static bool is_in_call(s32 task) { return cu_call_of_thread(task) != NULL; }

/* Functions that put the address of new memory where their first argument says. */
static bool allocates(const char *function)
{
    static const char *const begin[] = { "cudaMalloc",     "cudaHostAlloc", "cuMemAlloc",
                                         "cuMemHostAlloc", "cuArrayCreate", "cuArray3DCreate" };
    return begins_with(function, begin, COUNT_OF(begin));
}

/* Whether compiled code of a package of Python made the call, and not ctypes for the script. */
static bool is_packages(const struct cu_call *c)
{
    Dl_info at;
    return dladdr(c->return_address, &at) && at.dli_fname && file_of_package(at.dli_fname);
}

static const char *buffer_name(void)
{
    struct where_stack s;
    const struct cu_call *c = cu_call_now();
    const char *function = c ? cu_call_name(c) : "";
    if (!allocates(function) || !call_walk(c, &s)) return NULL;
    if (s.n && (s.address[0] & WHERE_SCRIPT) == WHERE_SCRIPT)
        return where_name_script(where_site(function, &s), is_packages(c));
    const char *site = where_site(function, &s);
    where_frames(&s);
    return where_name(site, &s, c->word[0]);
}

/* The variable that holds a pointer which a launch is given. */
static const char *pointer_name(u64 pointer, bool *stack)
{
    struct where_stack s;
    const struct cu_call *c = cu_call_now();
    if (!call_walk(c, &s) || (s.address[0] & WHERE_SCRIPT) == WHERE_SCRIPT) return NULL;
    *stack = s.n && pointer >= s.stack[0] && pointer < where_stack_end();
    const char *site = where_site(cu_call_name(c), &s);
    where_frames(&s);
    return where_held(site, &s, pointer);
}

const char *cu_where_variable(u64 pointer)
{
    bool stack;
    return pointer_name(pointer, &stack);
}

static struct channel_writer *lines_to; /* the sender of the lines */
static s32 lines_from;                  /* its process */
static lock_t lines_lock = LOCK_INIT;   /* of adding lines */
static void send_lines(const char *text, size_t n)
{
    if (lines_from != process_id()) return; /* a child of fork, which tells all again once it has a report */
    lock(&lines_lock);
    channel_add(lines_to, CHANNEL_SITES, text, n);
    unlock(&lines_lock);
}

void cu_where_forked(struct channel_writer *to)
{
    lines_to = NULL; /* that of the parent */
    lines_lock = (lock_t)LOCK_INIT;
    cu_where_open(to);
}

void cu_where_open(struct channel_writer *to)
{
    where_modules_look();
    __atomic_store_n(&scripts, where_scripts_look(), __ATOMIC_SEQ_CST);
    if (scripts) __atomic_store_n(&cu_engine_asks, true, __ATOMIC_SEQ_CST);
    if (to && !lines_to) {
        lines_to = to;
        lines_from = process_id();
    }
    if (lines_to) where_listen(send_lines);
    host_site_from(cu_site);
    host_name_from(buffer_name);
    host_pointer_from(pointer_name);
    blocked_calls_from(calls_now, is_in_call);
    cu_python_open();
}
