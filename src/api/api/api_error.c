/* Errors of the public interface. They belong to calls, and so to threads: each thread keeps its last message for each
 * of the gpus that it used last, in storage of its own, which is why nothing here is freed and no gpu needs to be alive
 * to be asked for. A gpu is known by its address and its serial number: a later one at the same address is another. */
#include "api/host.h"
#include "report/cuda_error.h"
#include <inttypes.h>

enum { SLOTS = 9 }; /* eight gpus, and the calls that had none */

struct slot {
    const lk_gpu *gpu; /* NULL: calls without a gpu */
    u64 serial;        /* of that gpu; 0: the slot is free, or has no gpu */
    u64 used;          /* count of the thread's calls when it was used last */
    u32 cuda;          /* CUresult of the call */
    lk_status status;  /* of the call */
    const char *call;  /* the function */
    char launch[128];  /* the kernel, if the call is its launch, or a later one is told of it; else "" */
    u64 nth;           /* which of its launches; 0: not known */
    char message[1300];
};

static _Thread_local struct {
    struct error error; /* of the call that runs */
    struct slot slot[SLOTS];
    u64 calls;
    char site[256];        /* lk_thread_site; "": not set */
    char suspects[2048];   /* of the error that was asked for last */
    const char *launching; /* the kernel that is launched now; NULL: none */
    u64 nth;               /* which of its launches that is; 0: not counted */
    char record[200];      /* of the error that was asked for last */
} mine;

static lock_t live_lock = LOCK_INIT;
static lk_gpu *live; /* all gpus, the newest first */
static u64 serials;

void host_add(lk_gpu *gpu)
{
    lock(&live_lock);
    gpu->serial = ++serials;
    gpu->next = live;
    live = gpu;
    unlock(&live_lock);
}

void host_remove(lk_gpu *gpu)
{
    lock(&live_lock);
    lk_gpu **link = &live;
    while (*link && *link != gpu) link = &(*link)->next;
    if (*link) *link = gpu->next;
    unlock(&live_lock);
}

lk_gpu *host_each(bool (*wanted)(lk_gpu *gpu, void *self), void *self)
{
    lock(&live_lock);
    lk_gpu *g = live;
    while (g && !wanted(g, self)) g = g->next;
    unlock(&live_lock);
    return g;
}

static bool is_this(lk_gpu *gpu, void *self) { return gpu == self; }

/* The serial number of the gpu at this address, 0: none is there. */
static u64 serial_of(const lk_gpu *gpu)
{
    const lk_gpu *g = host_each(is_this, (void *)gpu);
    return g ? g->serial : 0;
}

/* The thread's slot for a gpu that is alive, or for none; the one that was not used for longest becomes it. */
static struct slot *slot_of(const lk_gpu *gpu)
{
    u64 serial = gpu ? gpu->serial : 0;
    struct slot *oldest = &mine.slot[1];
    if (!gpu) return &mine.slot[0];
    for (u32 i = 1; i < SLOTS; i++) {
        struct slot *s = &mine.slot[i];
        if (s->gpu == gpu && s->serial == serial) return s;
        if (s->used < oldest->used) oldest = s;
    }
    *oldest = (struct slot){ .gpu = gpu, .serial = serial };
    return oldest;
}

struct error *host_begin(const lk_gpu *gpu)
{
    (void)gpu;
    struct error *e = &mine.error;
    if (e->code == ERR_NONE) return e; /* its texts are empty */
    error_none(e);
    return e;
}

struct error *host_error(void) { return &mine.error; }

static u32 cuda_of(enum error_code code)
{
    switch (code) {
    case ERR_NONE: return 0;
    case ERR_INPUT: return 1;         /* CUDA_ERROR_INVALID_VALUE */
    case ERR_MEMORY: return 2;        /* CUDA_ERROR_OUT_OF_MEMORY */
    case ERR_NOTHING: return 500;     /* CUDA_ERROR_NOT_FOUND */
    case ERR_UNSUPPORTED: return 801; /* CUDA_ERROR_NOT_SUPPORTED */
    default: return 999;              /* CUDA_ERROR_UNKNOWN */
    }
}

/* Errors that a kernel causes while it runs. */
static bool is_fault(u32 cuda) { return cuda == 700 || cuda == 702 || cuda == 710 || (cuda >= 714 && cuda <= 719); }

/* A fault of a launch before: the software GPU knows which, of a real one it is the newest of those that are kept. */
static void fault_launch(lk_gpu *gpu, struct slot *s)
{
    if (!gpu) return;
    const struct dev_fault *f = &gpu->device->fault;
    if (gpu->device->mem && __atomic_load_n(&f->code, __ATOMIC_ACQUIRE)) {
        snprintf(s->launch, sizeof s->launch, "%.120s", f->kernel);
        s->nth = f->nth;
    } else if (!gpu->device->mem && gpu->keep) {
        host_kept_launch(gpu, s->launch, &s->nth);
    }
}

/* What to do next, after what the driver said: it does not say which launch it was. */
static void fault_advice(struct slot *s)
{
    size_t n = strlen(s->message);
    if (s->launch[0] && s->nth)
        snprintf(s->message + n, sizeof s->message - n,
                 "\nto record launch %" PRIu64 " of %.100s before it runs: LOCKSTEP_RECORD=%.100s:%" PRIu64
                 " in the environment; lockstep replay says then where and why",
                 s->nth, s->launch, s->launch, s->nth);
    else
        snprintf(
            s->message + n, sizeof s->message - n,
            "\na second run with lk_options.keep = 8 names the launches that may be to blame, and how to record them");
}

static lk_status fail(const lk_gpu *gpu, u32 cuda)
{
    const struct error *e = &mine.error;
    struct slot *s = slot_of(gpu);
    CHECK(e->code != ERR_NONE);
    s->used = ++mine.calls;
    s->cuda = cuda;
    s->status = (lk_status)e->code;
    s->call = host_called();
    snprintf(s->launch, sizeof s->launch, "%s", mine.launching ? mine.launching : "");
    s->nth = mine.nth;
    if (!mine.launching && is_fault(cuda)) fault_launch((lk_gpu *)(uintptr_t)gpu, s);
    snprintf(s->message, sizeof s->message, "%s%s%s%s%s", e->where, e->where[0] ? ": " : "", e->text,
             e->excerpt[0] ? "\n" : "", e->excerpt);
    if (is_fault(cuda) && gpu && !gpu->device->mem) fault_advice(s);
    return (lk_status)e->code;
}

lk_status host_failed(const lk_gpu *gpu)
{
    return fail(gpu, mine.error.cuda ? mine.error.cuda : cuda_of(mine.error.code));
}

void host_failed_at(const lk_gpu *gpu, const void *not_a_gpu)
{
    const struct slot from = *slot_of(gpu);
    struct slot *s = &mine.slot[1];
    for (u32 i = 1; i < SLOTS; i++) {
        struct slot *x = &mine.slot[i];
        bool is = x->gpu == not_a_gpu, was = s->gpu == not_a_gpu;
        if (is != was ? is : is ? x->serial > s->serial : x->used < s->used) s = x;
    }
    u64 serial = s->gpu == not_a_gpu ? s->serial : 0;
    *s = from;
    s->gpu = not_a_gpu;
    s->serial = serial;
    s->used = ++mine.calls;
}

lk_status host_missing_in(const lk_gpu *gpu, const char *function, const char *what)
{
    error_set(host_begin(gpu), ERR_INPUT, "%s: no %s is given", function, what);
    return host_failed(gpu);
}

lk_status host_refuse(const lk_gpu *gpu, const char *fmt, ...)
{
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    error_set(host_begin(gpu), ERR_INPUT, "%s", text);
    return host_failed(gpu);
}

static const struct cuda_error *cuda_find(u32 number)
{
    const struct cuda_error *x;
    for (u32 i = 0; (x = cuda_error_at(i)); i++)
        if (x->number == number) return x;
    return NULL;
}

/* A launch of the software GPU that was refused or ended early: the report has the finding. */
static bool is_finding(const lk_gpu *gpu, u32 cuda)
{
    return cuda == DEV_REFUSED_LAUNCH || (cuda == DEV_LAUNCH_FAILED && gpu && !gpu->device->options.gpu);
}

/* With lk_options.faults: the error of a launch that a GPU would have ended, which every call returns from then on. */
static lk_status faulted(const lk_gpu *gpu)
{
    const struct dev_fault *f = &gpu->device->fault;
    u32 code = __atomic_load_n(&f->code, __ATOMIC_ACQUIRE);
    if (likely(!code)) return LK_OK;
    const struct cuda_error *x = cuda_find(code);
    error_set(host_begin(gpu), dev_status_code(code),
              "CUDA error %u, %s: %.200s It is the error of %.100s%s%.100s; lk_report_text has the finding", code,
              x ? x->driver : "?", x ? x->meaning : "", f->kernel, f->site ? ", from " : "", f->site ? f->site : "");
    return fail(gpu, code);
}

lk_status host_done(const lk_gpu *gpu, u32 cuda)
{
    if (unlikely(gpu && gpu->faults) && (!cuda || cuda == DEV_LAUNCH_FAILED)) {
        lk_status s = faulted(gpu);
        if (s) return s;
    }
    if (!cuda) return LK_OK;
    if (cuda == OP_NOT_READY) return LK_NOT_READY;
    struct error *e = &mine.error;
    const struct cuda_error *x = cuda >= 100 && cuda < 800 ? cuda_find(cuda) : NULL;
    if (cuda == DEV_LAUNCH_FAILED && e->code && e->cuda) return host_failed(gpu); /* an instruction that is not there */
    if (is_finding(gpu, cuda)) {
        error_set(e, ERR_INPUT, "%s", dev_status_text(cuda));
        fail(gpu, cuda == DEV_REFUSED_LAUNCH ? OP_INVALID_VALUE : cuda);
        slot_of(gpu)->status = LK_FINDINGS;
        return LK_FINDINGS;
    }
    if (x)
        error_set(e, dev_status_code(cuda), "CUDA error %u, %s: %.400s", cuda, x->driver, x->meaning);
    else
        error_set(e, dev_status_code(cuda), "%s (CUDA error %u)", dev_status_text(cuda), cuda);
    return fail(gpu, cuda);
}

lk_status host_found(const lk_gpu *gpu)
{
    struct report_brief first;
    struct error *e = host_begin(gpu);
    const char *kernel = mine.launching, *name = kernel ? kernel : "", *behind = kernel ? ": " : "";
    u32 errors = report_errors(gpu->device->report);
    bool one = errors == 1 && report_first(gpu->device->report, &first) && (!kernel || !strcmp(first.kernel, kernel));
    if (one) {
        size_t n = strlen(first.cause);
        if (n && first.cause[n - 1] == '.') first.cause[n - 1] = 0;
        error_set(e, ERR_INPUT, "%.100s%s%.100s: %.300s; lk_report_text has all of it", name, behind,
                  finding_title(first.kind), first.cause);
    } else {
        error_set(e, ERR_INPUT, "%.100s%sthere are findings: lk_report_text has them, %u errors so far", name, behind,
                  errors);
    }
    if (one && first.file[0]) snprintf(e->where, sizeof e->where, "%.200s:%u", first.file, first.line);
    const struct dev_fault *f = &gpu->device->fault;
    u32 code = __atomic_load_n(&f->code, __ATOMIC_ACQUIRE);
    fail(gpu, code && kernel && !strcmp(f->kernel, kernel) ? code : 0);
    slot_of(gpu)->status = LK_FINDINGS;
    return LK_FINDINGS;
}

/* The slot of a gpu that may be gone; NULL: the thread has no error of it. */
static const struct slot *asked(const lk_gpu *gpu)
{
    if (!gpu) return &mine.slot[0];
    u64 serial = serial_of(gpu);
    const struct slot *found = NULL;
    for (u32 i = 1; i < SLOTS; i++) {
        const struct slot *s = &mine.slot[i];
        if (s->gpu == gpu && (s->serial == serial || !serial) && (!found || s->serial > found->serial)) found = s;
    }
    return found;
}

const char *lk_gpu_error(const lk_gpu *gpu)
{
    const struct slot *s = asked(gpu);
    return s ? s->message : "";
}

uint32_t lk_gpu_cuda_error(const lk_gpu *gpu)
{
    const struct slot *s = asked(gpu);
    return s ? s->cuda : 0;
}

void host_launching(const char *kernel, u64 nth)
{
    mine.launching = kernel;
    mine.nth = nth;
}

u64 host_launching_nth(void) { return mine.nth; }

/* What the streams were given last, for a fault that names no launch. */
static const char *suspects_of(lk_gpu *gpu)
{
    struct host_call c;
    struct text t = { 0 };
    mine.suspects[0] = 0;
    if (gpu && host_each(is_this, gpu) && host_enter(&c, "lk_gpu_last_error", &(struct host_use)USE(GPU, gpu), 1)) {
        host_kept_text(gpu, &t);
        host_leave(&c);
    }
    if (t.p) snprintf(mine.suspects, sizeof mine.suspects, "%s", t.p);
    text_free(&t);
    return mine.suspects;
}

int lk_gpu_last_error(const lk_gpu *gpu, lk_error *error)
{
    const struct slot *s = asked(gpu);
    if (!s || !s->message[0] || !error) return 0;
    const struct cuda_error *x = cuda_find(s->cuda);
    lk_error out = { .size = error->size,
                     .status = s->status,
                     .cuda = s->cuda,
                     .name = "",
                     .call = s->call ? s->call : "",
                     .message = s->message,
                     .launch = s->launch,
                     .suspects = "",
                     .record = "",
                     .causes = x ? x->causes : "",
                     .fix = x ? x->fix : "",
                     .lasting = x ? (u32)x->lasting : LK_CUDA_PASSING };
    static _Thread_local char name[80];
    if (x && *x->driver) {
        snprintf(name, sizeof name, "CUDA_ERROR_%s", x->driver);
        out.name = name;
    }
    if (x && x->lasting != CUDA_PASSING) out.suspects = suspects_of((lk_gpu *)(uintptr_t)gpu);
    if (is_fault(s->cuda) && s->launch[0] && s->nth) {
        snprintf(mine.record, sizeof mine.record, "LOCKSTEP_RECORD=%s:%" PRIu64, s->launch, s->nth);
        out.record = mine.record;
    }
    memcpy(error, &out, MIN_OF(error->size, sizeof out));
    return 1;
}

void lk_thread_site(const char *site) { snprintf(mine.site, sizeof mine.site, "%s", site ? site : ""); }

static const char *(*site_maker)(void); /* of host_site_from */

void host_site_from(const char *(*maker)(void)) { __atomic_store_n(&site_maker, maker, __ATOMIC_RELEASE); }

static const char *(*name_maker)(void); /* of host_name_from */

void host_name_from(const char *(*maker)(void)) { __atomic_store_n(&name_maker, maker, __ATOMIC_RELEASE); }

static host_views_maker *views_maker; /* of host_views_from */

void host_views_from(host_views_maker *maker) { __atomic_store_n(&views_maker, maker, __ATOMIC_RELEASE); }

const struct launch_views *host_views(const struct ptx_func *kernel, const void *params)
{
    host_views_maker *maker = __atomic_load_n(&views_maker, __ATOMIC_ACQUIRE);
    return maker && params ? maker(kernel, params) : NULL;
}

const char *host_name(const char *given)
{
    const char *(*maker)(void) = given ? NULL : __atomic_load_n(&name_maker, __ATOMIC_ACQUIRE);
    return maker ? maker() : given;
}

const char *host_site(const char *given)
{
    if (given) return given;
    if (mine.site[0]) return mine.site;
    const char *(*maker)(void) = __atomic_load_n(&site_maker, __ATOMIC_ACQUIRE);
    return maker ? maker() : NULL;
}
