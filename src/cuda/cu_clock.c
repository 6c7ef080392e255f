/* Which launches lie between two reads of a clock, and which kernels were launched there for the first time. */
#include "cuda/cu_clock.h"
#include "cuda/cu_failed.h"
#include "cuda/cu_launch.h"
#include "cuda/cu_where.h"
#include "where/where.h"
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
    u64 address, stack; /* address 0: none */
    u32 clock;
};
struct span {                               /* from the thread's last reading on */
    const struct cu_kernel_count *launched; /* first of it that nobody has waited for; NULL: none */
    const struct cu_kernel_count *cold;     /* first launch of a kernel; NULL: none */
    const char *launched_site, *cold_site;
    u64 code;    /* where the launches return to */
    bool others; /* calls that are neither launches nor waits */
};
struct pending { /* a launch between two readings, and nobody has waited for it */
    const struct cu_kernel_count *kernel;
    const char *site;
    struct reading from, to;
    bool waited; /* since then */
};
struct timing { /* of a thread, in its own memory: a clock may be read where nothing can be allocated */
    struct timing *next, **link; /* of those that have launched; link NULL: the thread has not */
    struct reading last;
    struct span span;
    struct pending pending; /* kernel NULL: none */
};
static struct {
    lock_t lock;
    struct timing *first; /* of all threads that have launched */
    u64 launches;         /* atomic */
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
    if (!is_new(p->site ? p->site : (const void *)p->kernel)) return;
    struct text cause = { 0 };
    text_add(&cause, "%s is read", clock_name[p->from.clock]);
    place_text(&cause, &p->from);
    text_add(&cause, " and again");
    place_text(&cause, &p->to);
    text_add(&cause, ", with the launch of %s between and nothing that waits for it: this measures the launch.",
             p->kernel->plain);
    struct finding f = { .kind = F_timing_unsynced, .cause = cause.p, .call = p->site, .kernel = p->kernel->plain };
    f.cause_key = all.nsaid;
    cu_found(&f);
    text_free(&cause);
}

static void cold_found(const struct cu_kernel_count *kernel, const char *site, const char *how)
{
    if (!is_new(kernel)) return;
    u64 made = __atomic_load_n(&kernel->issued, __ATOMIC_RELAXED);
    char cause[400], of[60] = "";
    if (made > 1) snprintf(of, sizeof of, ", one of %llu until now", (unsigned long long)made);
    snprintf(cause, sizeof cause,
             "The first launch of %s%s, lies between %s: what is measured includes loading the kernel.", kernel->plain,
             made > 1 ? of : ", the only one until now", how);
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

static void confirm(struct timing *t)
{
    if (t->pending.kernel) unsynced_found(&t->pending);
    t->pending.kernel = NULL;
}

void cu_clock_launch(const struct cu_kernel_count *kernel, u64 nth, const void *stream, const char *site)
{
    u64 number = __atomic_add_fetch(&all.launches, 1, __ATOMIC_RELAXED);
    if (unlikely(nth == 1)) {
        lock(&all.lock);
        all.cold[all.colds++ % FIRST] = (struct first){ number, kernel, stream, site };
        unlock(&all.lock);
    }
    if (!mine.last.address) return; /* the thread reads no clock */
    struct span *s = &mine.span;
    const struct cu_call *c = cu_call_now();
    if (!mine.link) thread_add();
    if (mine.pending.waited) confirm(&mine);
    if (c) s->code = (uintptr_t)c->return_address;
    if (!s->launched && !cu_launch_blocks()) {
        s->launched = kernel;
        s->launched_site = site;
    }
    if (nth == 1 && !s->cold) {
        s->cold = kernel;
        s->cold_site = site;
    }
}

/* Whether both are in one file. */
static bool same_file(u64 a, u64 b)
{
    Dl_info x, y;
    return dladdr((const void *)(uintptr_t)a, &x) && dladdr((const void *)(uintptr_t)b, &y) &&
           x.dli_fbase == y.dli_fbase;
}

void cu_clock_read(u32 clock, const void *address, const void *stack)
{
    struct reading now = { (uintptr_t)address, (uintptr_t)stack, clock };
    /* in a call it is not the program that reads; before the thread's first one there is nothing to measure */
    if (clock >= COUNT_OF(clock_name) || !cu_call_serial() || cu_call_now()) return;
    struct timing *t = &mine;
    struct span *s = &t->span;
    bool pair = t->last.address && t->last.clock == clock && t->last.stack == now.stack && s->code;
    if (pair && (s->launched || s->cold)) pair = same_file(now.address, s->code);
    /* t0, launch, t1, wait, t2: the program may well know what t1 is */
    if (t->pending.waited) t->pending.kernel = NULL;
    t->pending.waited = false;
    if (pair && s->launched && !t->pending.kernel)
        t->pending = (struct pending){ s->launched, s->launched_site, t->last, now, false };
    if (pair && s->cold && !s->launched && !s->others && __atomic_load_n(&s->cold->issued, __ATOMIC_RELAXED) < FEW)
        cold_found(s->cold, s->cold_site, "two reads of the clock");
    t->last = now;
    *s = (struct span){ .code = 0 };
}

/* ---- calls ---- */

bool cu_clock_watches(void) { return mine.span.code || mine.pending.kernel; }

enum { UNKNOWN, LAUNCHES, WAITS, OTHER };

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
    for (u32 i = 0; i < COUNT_OF(launches); i++)
        if (!strncmp(name, launches[i], strlen(launches[i]))) return LAUNCHES;
    for (u32 i = 0; i < COUNT_OF(waits); i++)
        if (!strncmp(name, waits[i], strlen(waits[i]))) return WAITS;
    return OTHER;
}

void cu_clock_call(const struct cu_call *c)
{
    static u8 known[4096]; /* by number, atomic */
    u8 *k = &known[c->function % COUNT_OF(known)], kind = __atomic_load_n(k, __ATOMIC_RELAXED);
    if (kind == UNKNOWN) __atomic_store_n(k, kind = call_kind(cu_call_name(c)), __ATOMIC_RELAXED);
    if (kind == LAUNCHES) return;
    mine.span.launched = NULL;
    mine.span.others |= kind == OTHER;
    mine.pending.waited = mine.pending.kernel != NULL;
}

void cu_clock_thread_end(void)
{
    if (!mine.link) return;
    confirm(&mine);
    lock(&all.lock);
    *mine.link = mine.next;
    if (mine.next) mine.next->link = mine.link;
    mine.link = NULL;
    unlock(&all.lock);
}

void cu_clock_end(void)
{
    struct pending left[FIRST];
    u32 n = 0;
    lock(&all.lock);
    for (struct timing *t = all.first; t && n < FIRST; t = t->next) {
        if (t->pending.kernel) left[n++] = t->pending;
        t->pending.kernel = NULL;
    }
    unlock(&all.lock);
    for (u32 i = 0; i < n; i++) unsynced_found(&left[i]);
}

/* ---- events ---- */

void cu_clock_record(struct cu_clock_mark *m, const void *stream)
{
    __atomic_store_n(&m->launches, __atomic_load_n(&all.launches, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    __atomic_store_n(&m->stream, stream, __ATOMIC_RELAXED);
}

/* Another thread may record the event meanwhile. */
static struct cu_clock_mark mark_of(const struct cu_clock_mark *m)
{
    return (struct cu_clock_mark){ __atomic_load_n(&m->launches, __ATOMIC_RELAXED),
                                   __atomic_load_n(&m->stream, __ATOMIC_RELAXED) };
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
    if (found.number) cold_found(found.kernel, found.site, "two events whose difference is asked for");
}
