/* Which launches lie between two reads of a clock, and which kernels were launched there for the first time. */
#include "engine/cu_clock.h"
#include "engine/cu_failed.h"
#include "driver/cu_launch.h"
#include "engine/cu_where.h"
#include "sites/where.h"
#include <dlfcn.h>

enum { FIRST = 64, FEW = 10, SAID = 64 }; /* FEW: of so many launches the first one does not count */

static const char *const clock_name[] = { "clock_gettime",
                                          "gettimeofday",
                                          "clock",
                                          "time",
                                          "timespec_get",
                                          "std::chrono::steady_clock::now",
                                          "std::chrono::system_clock::now",
                                          "omp_get_wtime" };

struct reading {        /* of a clock */
    u64 address, stack; /* address 0: none; of a script: the line, and the activation of its function */
    u64 code, at;       /* of a script: the function, and the instruction in it */
    u32 clock;          /* its number, and above it which of several */
};
struct span {                           /* from the thread's last reading on */
    const char *launched;               /* first kernel or operator of it that nobody has waited for; NULL: none */
    const struct cu_kernel_count *cold; /* first launch of a kernel; NULL: none */
    const char *launched_site, *cold_site;
    u64 code;    /* where the launches return to; of operators, their name: not 0 */
    bool others; /* calls that are neither launches nor waits */
    bool loaded; /* a module */
};
struct pending {      /* a launch between two readings, and nobody has waited for it */
    const char *what; /* its kernel, or an operator of a library (cu_operator.c) */
    const char *site;
    struct reading from, to;
    bool waited; /* since then */
};
struct track { /* what one of the two kinds of code has read */
    struct reading last;
    struct span span;
    struct pending pending; /* what NULL: none */
};
enum { COMPILED, SCRIPT, TRACKS };
struct timing { /* of a thread, in its own memory: a clock may be read where nothing can be allocated */
    struct timing *next, **link; /* of those that have launched; link NULL: the thread has not */
    struct track track[TRACKS];
};
static struct {
    lock_t lock;
    struct timing *first; /* of all threads that have launched */
    u64 launches;         /* atomic */
    bool read;            /* atomic: some thread has read a clock */
    struct first {
        u64 number; /* of the launch */
        const struct cu_kernel_count *kernel;
        const void *stream;
        const char *site;
    } cold[FIRST]; /* the last first launches, by turns */
    u32 colds;
    const void *said[SAID]; /* places that the report has */
    u32 nsaid;
} all = { .lock = LOCK_INIT };
static _Thread_local struct timing mine;

/* ---- findings ---- */

static bool is_new(const void *place)
{
    lock(&all.lock);
    u32 k = 0;
    while (k < all.nsaid && all.said[k] != place) k++;
    bool is = k == all.nsaid && k < SAID;
    if (is) all.said[all.nsaid++] = place;
    unlock(&all.lock);
    return is;
}

/* "at main.cu:41", or nothing. */
static void place_text(struct text *t, const struct reading *r)
{
    struct where_stack s = { .n = 1, .address = { r->address } };
    const char *mark = where_site("clock", &s);
    if (mark) text_add(t, " at %s", mark);
}

static void unsynced_found(const struct pending *p)
{
    if (!is_new(p->site ? p->site : p->what)) return;
    struct text cause = { 0 };
    bool script = p->from.at;
    text_add(&cause, "%s is read", script ? "The clock" : clock_name[p->from.clock & 0xff]);
    if (script && p->from.address == p->to.address) {
        text_add(&cause, " twice");
    } else {
        place_text(&cause, &p->from);
        text_add(&cause, " and again");
    }
    place_text(&cause, &p->to);
    text_add(&cause, ", with the launch of %s between and nothing that waits for it: this measures the launch.",
             p->what);
    struct finding f = { .kind = F_timing_unsynced, .cause = cause.p, .call = p->site, .kernel = p->what };
    if (script)
        f.fix = "Wait before the second read: cuda.synchronize() (Numba), cupy.cuda.Device().synchronize(), "
                "torch.cuda.synchronize(); or measure with events, as cupyx.profiler.benchmark and cuda.event() do.";
    f.cause_key = all.nsaid;
    cu_found(&f);
    text_free(&cause);
}

static void cold_found(const struct cu_kernel_count *kernel, const char *site, const char *how, bool compiled)
{
    if (!is_new(kernel)) return;
    u64 made = __atomic_load_n(&kernel->issued, __ATOMIC_RELAXED);
    char cause[400], of[60] = "";
    if (made > 1) snprintf(of, sizeof of, ", one of %llu until now", (unsigned long long)made);
    snprintf(cause, sizeof cause, "The first launch of %s%s, lies between %s: what is measured includes %s the kernel.",
             kernel->plain, made > 1 ? of : ", the only one until now", how, compiled ? "compiling" : "loading");
    struct finding f = { .kind = F_timing_cold, .cause = cause, .call = site, .kernel = kernel->plain };
    f.cause_key = all.nsaid;
    cu_found(&f);
}

/* ---- a thread ---- */

static void thread_add(void)
{
    lock(&all.lock);
    mine.next = all.first;
    mine.link = &all.first;
    if (mine.next) mine.next->link = &mine.next;
    all.first = &mine;
    unlock(&all.lock);
}

static void confirm(struct track *t)
{
    if (t->pending.what) unsynced_found(&t->pending);
    t->pending.what = NULL;
}

static void track_launch(struct track *t, const struct cu_kernel_count *kernel, u64 nth, const char *site)
{
    struct span *s = &t->span;
    const struct cu_call *c = cu_call_now();
    if (t->pending.waited) confirm(t);
    if (c) s->code = (uintptr_t)c->return_address;
    if (!s->launched && !cu_launch_blocks()) {
        s->launched = kernel->plain;
        s->launched_site = site;
    }
    if (nth == 1 && !s->cold) {
        s->cold = kernel;
        s->cold_site = site;
    }
}

void cu_clock_launch(const struct cu_kernel_count *kernel, u64 nth, const void *stream, const char *site)
{
    u64 number = __atomic_add_fetch(&all.launches, 1, __ATOMIC_RELAXED);
    if (unlikely(nth == 1)) {
        lock(&all.lock);
        all.cold[all.colds++ % FIRST] = (struct first){ number, kernel, stream, site };
        unlock(&all.lock);
    }
    for (u32 k = 0; k < TRACKS; k++) {
        if (!mine.track[k].last.address) continue; /* the thread reads no clock */
        if (!mine.link) thread_add();
        track_launch(&mine.track[k], kernel, nth, site);
    }
}

/* A script's clocks alone: what is compiled calls no operators here. */
void cu_clock_operator(const char *name, const char *site)
{
    struct track *t = &mine.track[SCRIPT];
    struct span *s = &t->span;
    if (!t->last.address) return;
    if (!mine.link) thread_add();
    if (t->pending.waited) confirm(t);
    if (!s->code) s->code = (uintptr_t)name;
    if (s->launched || cu_launch_blocks()) return;
    s->launched = name;
    s->launched_site = site;
}

/* Whether both are in one file. */
static bool same_file(u64 a, u64 b)
{
    Dl_info x, y;
    return dladdr((const void *)(uintptr_t)a, &x) && dladdr((const void *)(uintptr_t)b, &y) &&
           x.dli_fbase == y.dli_fbase;
}

/* Whether the two readings are a measurement, of which the span has a launch. */
static bool is_pair(const struct track *t, const struct reading *now)
{
    const struct reading *last = &t->last;
    const struct span *s = &t->span;
    if (!last->address || last->clock != now->clock || last->stack != now->stack || !s->code) return false;
    if (now->at) /* a loop that reads a clock once a turn measures nothing; nor do two calls of one function */
        return last->code == now->code && last->at != now->at;
    return (!s->launched && !s->cold) || same_file(now->address, s->code);
}

/* A script's kernel is compiled where it is launched for the first time, whoever waits for it afterwards. */
static bool is_cold(const struct span *s, const struct reading *now)
{
    return s->cold && !s->others && (!s->launched || (now->at && s->loaded)) &&
           __atomic_load_n(&s->cold->issued, __ATOMIC_RELAXED) < FEW;
}

static void track_read(struct track *t, const struct reading *now)
{
    struct span *s = &t->span;
    bool pair = is_pair(t, now);
    /* t0, launch, t1, wait, t2: the program may well know what t1 is; in a script t0, launch, t1, t2 is another start
     */
    if (now->at && t->pending.what && !t->pending.waited && !s->code) confirm(t);
    if (t->pending.waited) t->pending.what = NULL;
    t->pending.waited = false;
    if (pair && s->launched && !t->pending.what)
        t->pending = (struct pending){ s->launched, s->launched_site, t->last, *now, false };
    if (pair && is_cold(s, now)) cold_found(s->cold, s->cold_site, "two reads of the clock", now->at && s->loaded);
    t->last = *now;
    *s = (struct span){ .code = 0 };
}

void cu_clock_read(u32 clock, const void *address, const void *stack)
{
    struct reading now = { .address = (uintptr_t)address, .stack = (uintptr_t)stack, .clock = clock };
    struct where_statement at;
    /* in a call it is not the program that reads; before the thread's first one there is nothing to measure */
    if ((clock & 0xff) >= COUNT_OF(clock_name) || !cu_call_serial() || cu_call_now()) return;
    __atomic_store_n(&all.read, true, __ATOMIC_RELAXED);
    if (cu_where_scripts() && where_python_clock(now.address, &at)) {
        now = (struct reading){ at.place, at.frame, at.code, at.at, clock };
        track_read(&mine.track[SCRIPT], &now);
    } else
        track_read(&mine.track[COMPILED], &now);
}

/* ---- calls ---- */

bool cu_clock_watches(void)
{
    if (likely(!__atomic_load_n(&all.read, __ATOMIC_RELAXED))) return false; /* so is the thread's own */
    return mine.track[COMPILED].span.code || mine.track[COMPILED].pending.what || mine.track[SCRIPT].last.address;
}

/* LOADS, QUIET: what compiled programs do not call for a launch, and packages of scripts do: no wait, and nothing that
 * the script asked for. Where a pool is switched off for a package (docs/inside/python.md), so is memory of its own. */
enum { UNKNOWN, LAUNCHES, WAITS, LOADS, QUIET, OTHER };

/* What a call is to a span. What is not known to return before the kernels have run counts as a wait, too. */
static u8 call_kind(const char *name)
{
    static const char *const launches[] = { "cudaLaunchKernel", "__cudaLaunchKernel", "cuLaunchKernel",
                                            "__cuda",           "cudaGetLastError",   "cudaPeekAtLastError",
                                            "cudaGetError",     "cuGetError",         "cudaEventRecord",
                                            "cuEventRecord",    "cudaEventCreate",    "cuEventCreate",
                                            "cudaGetDevice",    "cudaSetDevice" };
    static const char *const waits[] = { "cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize",
                                         "cuCtxSynchronize",      "cuStreamSynchronize",   "cuEventSynchronize",
                                         "cudaThreadSynchronize" };
    static const char *const loads[] = { "cuModuleLoad", "cuLibraryLoad", "cuLink", "cudaLibraryLoad" };
    static const char *const quiet[] = {
        "cuCtxGet",       "cuCtxSet",      "cuCtxPush",     "cuCtxPop",      "cuDeviceGet", "cuDevicePri",
        "cuFuncGet",      "cuFuncSet",     "cuFuncIs",      "cuFuncLoad",    "cuModuleGet", "cuLibraryGet",
        "cuKernelGet",    "cuKernelSet",   "cuPointerGet",  "cuStreamIsCap", "cuStreamGet", "cuMemAlloc",
        "cuMemFree",      "cuMemGetInfo",  "cuDriverGet",   "cuGetExport",   "cuOccupancy", "cuGetProc",
        "cuInit",         "cudaMalloc",    "cudaFree",      "cudaFuncGet",   "cudaFuncSet", "cudaPointer",
        "cudaStreamIs",   "cudaDeviceGet", "cudaStreamGet", "cudaDriverGet", "cudaRuntime", "cudaOccupancy",
        "cudaLibraryGet", "cudaKernelGet"
    };
    if (begins_with(name, launches, COUNT_OF(launches))) return LAUNCHES;
    if (begins_with(name, waits, COUNT_OF(waits))) return WAITS;
    if (begins_with(name, loads, COUNT_OF(loads))) return LOADS;
    return begins_with(name, quiet, COUNT_OF(quiet)) ? QUIET : OTHER;
}

static void track_call(struct track *t, u8 kind)
{
    t->span.launched = NULL;
    t->span.others |= kind != WAITS;
    t->pending.waited = t->pending.what != NULL;
}

void cu_clock_call(const struct cu_call *c)
{
    static u8 known[4096];                      /* by number, atomic */
    if (c->function >= COUNT_OF(known)) return; /* of a library: what it enqueues is noted there */
    u8 *k = &known[c->function], kind = __atomic_load_n(k, __ATOMIC_RELAXED);
    if (kind == UNKNOWN) __atomic_store_n(k, kind = call_kind(cu_call_name(c)), __ATOMIC_RELAXED);
    if (kind == LAUNCHES) return;
    if (mine.track[COMPILED].span.code || mine.track[COMPILED].pending.what) track_call(&mine.track[COMPILED], kind);
    mine.track[SCRIPT].span.loaded |= kind == LOADS;
    if (kind == WAITS || kind == OTHER) track_call(&mine.track[SCRIPT], kind);
}

void cu_clock_thread_end(void)
{
    if (!mine.link) return;
    for (u32 k = 0; k < TRACKS; k++) confirm(&mine.track[k]);
    lock(&all.lock);
    *mine.link = mine.next;
    if (mine.next) mine.next->link = mine.link;
    mine.link = NULL;
    unlock(&all.lock);
}

void cu_clock_cell(void) { confirm(&mine.track[SCRIPT]); }

void cu_clock_end(void)
{
    struct pending left[FIRST];
    u32 n = 0;
    lock(&all.lock);
    for (struct timing *t = all.first; t; t = t->next)
        for (u32 k = 0; k < TRACKS; k++) {
            if (t->track[k].pending.what && n < FIRST) left[n++] = t->track[k].pending;
            t->track[k].pending.what = NULL;
        }
    unlock(&all.lock);
    for (u32 i = 0; i < n; i++) unsynced_found(&left[i]);
}

/* ---- events ---- */

void cu_clock_record(struct cu_clock_mark *m, const void *stream)
{
    __atomic_store_n(&m->launches, __atomic_load_n(&all.launches, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    __atomic_store_n(&m->stream, stream, __ATOMIC_RELAXED);
    __atomic_store_n(&m->recorded, true, __ATOMIC_RELAXED);
}

/* Another thread may record the event meanwhile. */
static struct cu_clock_mark mark_of(const struct cu_clock_mark *m)
{
    return (struct cu_clock_mark){ __atomic_load_n(&m->launches, __ATOMIC_RELAXED),
                                   __atomic_load_n(&m->stream, __ATOMIC_RELAXED),
                                   __atomic_load_n(&m->recorded, __ATOMIC_RELAXED) };
}

void cu_clock_elapsed(const struct cu_clock_mark *first, const struct cu_clock_mark *last)
{
    const struct cu_clock_mark from = mark_of(first), to = mark_of(last);
    struct first found = { .number = 0 };
    if (from.stream != to.stream || from.launches >= to.launches) return;
    lock(&all.lock);
    for (u32 i = 0; i < MIN_OF(all.colds, (u32)FIRST); i++) {
        const struct first *f = &all.cold[i];
        if (f->stream == from.stream && f->number > from.launches && f->number <= to.launches &&
            __atomic_load_n(&f->kernel->issued, __ATOMIC_RELAXED) < FEW && (!found.number || f->number < found.number))
            found = *f;
    }
    unlock(&all.lock);
    if (found.number) cold_found(found.kernel, found.site, "two events whose difference is asked for", false);
}
