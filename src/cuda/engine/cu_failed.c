/* Calls that failed, and whether anybody looked. */
#include "driver/cu_launch.h"
#include "engine/cu_failed.h"
#include "engine/cu_run.h"
#include "engine/gate_log.h"
#include "runtime/rt.h"
#include <inttypes.h>

enum { MADE = 8, SITES = 512, ENOUGH = 1000, TEXT = 600 };

struct made {           /* what a failed call was to make */
    const u64 *out;     /* where; NULL: free entry */
    char name[48];      /* of the function */
    const char *result; /* CUDA's name of the error */
    const char *site;   /* or NULL */
    u32 function;       /* its number */
    bool memory;        /* the pointer of an allocation */
};
struct state {                  /* of a thread whose calls have failed */
    struct state *next, **link; /* of all, and where it is linked */
    struct unasked {
        s64 code; /* 0: there is none */
        u64 key;
        char call[TEXT];
        const char *result, *site;
        char cause[400], fix[300];
        u32 later; /* calls since */
        char first[48];
    } launch;
    struct made made[MADE];
    u32 nmade; /* entries that were ever used */
};
static struct {
    lock_t lock;      /* of the list of states */
    lock_t site_lock; /* of the sites */
    struct state *first;
    struct failed_site {
        u64 key;
        u32 number, count; /* count 0: free entry */
    } site[SITES];         /* by hash */
    u32 sites;             /* numbers given */
    bool used;            /* atomic: some thread has a state. Each call asks, and this costs less than a thread's own */
    struct report *alone; /* what was found where there is no gpu; NULL: nothing */
} all = { .lock = LOCK_INIT, .site_lock = LOCK_INIT };
static _Thread_local struct state *mine;
static _Thread_local u64 chevron; /* serial of the thread's last call that took the configuration of <<<>>> */

static struct state *state_of_thread(void)
{
    if (mine) return mine;
    struct state *s = base_need(sizeof *s);
    *s = (struct state){ .next = NULL };
    lock(&all.lock);
    s->next = all.first;
    s->link = &all.first;
    if (s->next) s->next->link = &s->next;
    all.first = s;
    unlock(&all.lock);
    __atomic_store_n(&all.used, true, __ATOMIC_RELAXED);
    return mine = s;
}

/* ---- findings ---- */

static struct report *report_now(void)
{
    bool child = cu_process.pid != process_id();
    for (u32 i = 0; !child && i < cu_process.devices; i++)
        if (cu_process.device[i].gpu) return cu_process.device[i].gpu->device->report;
    if (!child && cu_process.devices && !cu_device_open(&cu_process.device[0]))
        return cu_process.device[0].gpu->device->report;
    if (!all.alone) all.alone = cu_run_alone();
    return all.alone;
}

void cu_found(const struct finding *f)
{
    struct report *r = report_now();
    report_add(r, f);
}

/* ---- a child of fork ---- */

void cu_forked(void)
{
    static s32 reported; /* the process that has its finding */
    s32 me = process_id();
    if (reported != me) {
        reported = me;
        all.alone = NULL;
        all.lock = all.site_lock = (lock_t)LOCK_INIT; /* whoever had them is not here */
        all.alone = cu_run_alone();
        cu_found(&(struct finding){ .kind = F_fork_child, .cause_key = 1, .call = host_site(NULL) });
    }
    cu_reported();
}

/* ---- notes ---- */

/* A question to which the error is an answer. */
static bool is_question(const char *f, s64 r)
{
    static const struct {
        const char *begin; /* of the function's name */
        s64 code;          /* 0: any */
    } row[] = {
        { "cuGetProcAddress", 0 },         { "cudaGetDriverEntryPoint", 0 },
        { "cudaGetLastError", 0 },         { "cudaPeekAtLastError", 0 },
        { "cuPointerGetAttribute", 1 },    { "cudaPointerGetAttributes", 1 },
        { "cuCtxEnablePeerAccess", 704 },  { "cudaDeviceEnablePeerAccess", 704 },
        { "cuCtxDisablePeerAccess", 705 }, { "cudaDeviceDisablePeerAccess", 705 },
        { "cuModuleGetGlobal", 500 },      { "cuLibraryGetGlobal", 500 },
        { "cuLibraryGetManaged", 500 },    { "cuCtxGetDevice", 201 },
        { "cudaGetDeviceCount", 100 },     { "cuInit", 100 },
        { "cuGetErrorName", 0 },           { "cuGetErrorString", 0 },
        { "cuGetExportTable", 0 },         { "cuFuncGetParamInfo", 1 },
        { "cuKernelGetParamInfo", 1 }, /* how parameters are counted */
    };
    if (r == CU_NOT_READY) return !strstr(f, "ElapsedTime"); /* the answer of a query; who asks for a time gets none */
    if (!strncmp(f, "__cudaGet", 9)) return true;            /* what the compiler's code asks */
    for (u32 i = 0; i < COUNT_OF(row); i++)
        if (!strncmp(f, row[i].begin, strlen(row[i].begin)) && (!row[i].code || row[i].code == r)) return true;
    return false;
}

/* A wish of a newer driver's, which programs for several releases try: attributes past those of CUDA 13.0. */
static bool is_trial(const char *f, const struct cu_call *c)
{
    return c->result == CU_INVALID_VALUE && (u32)c->word[1] > CU_FUNC_CLUSTER_POLICY &&
           !strcmp(f, "cuFuncSetAttribute");
}

/* What the report has a finding of already: a free that was wrong. */
static bool is_reported(const char *f, s64 r)
{
    return r == 1 && (!strncmp(f, "cudaFree", 8) || !strncmp(f, "cuMemFree", 9));
}

/* The number of this cause, by when it came first, so that reports do not depend on addresses; `count`: how often it
 * was asked for. */
static u32 number_of(u64 key, u32 *count)
{
    lock(&all.site_lock);
    u32 at = (u32)(key * 0x9e3779b97f4a7c15u >> 55);
    for (u32 i = 0; i < SITES && all.site[at].count && all.site[at].key != key; i++) at = (at + 1) % SITES;
    struct failed_site *s = &all.site[at];
    if (!s->count || s->key != key) *s = (struct failed_site){ .key = key, .number = ++all.sites };
    *count = ++s->count;
    u32 number = s->number;
    unlock(&all.site_lock);
    return number;
}

static u64 key_of(const struct cu_call *c, const struct cu_why *why)
{
    u64 h = (u64)(uintptr_t)c->return_address ^ (u64)c->result << 48;
    for (const char *p = why ? why->cause : ""; *p; p++) h = (h ^ (u8)*p) * 0x100000001b3u;
    return h;
}

static void note(u64 key, const char *call, const char *result, s64 code, const char *cause, const char *fix,
                 const char *site)
{
    char text[TEXT + 600];
    u32 count, number = number_of(key, &count);
    if (count > ENOUGH) return;
    snprintf(text, sizeof text, "%s returned %s (%d).%s%s", call, result, (int)code, cause[0] ? " " : "", cause);
    struct finding f = {
        .kind = F_api_error, .cause_key = number, .cause = text, .fix = fix[0] ? fix : NULL, .call = site
    };
    cu_found(&f);
}

static void note_add(const struct cu_call *c, const struct cu_why *why)
{
    char call[TEXT];
    cu_call_text(c, call, sizeof call, false);
    note(key_of(c, why), call, cu_result_name(c), c->result, why ? why->cause : "", why ? why->fix : "",
         host_site(NULL));
}

/* ---- a launch whose error nobody asked for ---- */

static void unasked_report(struct unasked *u)
{
    char cause[TEXT + 1000], after[200];
    if (!u->code) return;
    snprintf(after, sizeof after, u->later ? ", and made %u further call%s, %s first" : "%.0u%.0s%.0s", u->later,
             plural(u->later), u->first);
    snprintf(cause, sizeof cause,
             "%s failed with %s (%d).%s%s The program called neither cudaGetLastError nor cudaPeekAtLastError after "
             "it%s.",
             u->call, u->result, (int)u->code, u->cause[0] ? " " : "", u->cause, after);
    u32 count;
    struct finding f = {
        .kind = F_api_unchecked, .cause_key = number_of(u->key, &count), .cause = cause, .call = u->site
    };
    if (u->fix[0]) f.fix = u->fix;
    cu_found(&f);
    u->code = 0;
}

/* "fill<<<(1, 1, 1), (2048, 1, 1)>>>": what stands in the source. The first argument stands for the kernel. */
static void chevron_text(const struct cu_call *c, char *out, size_t size)
{
    char call[TEXT], name[200] = "a kernel";
    const char *kernel = rt_name_of((const void *)(uintptr_t)c->word[0]);
    cu_call_text(c, call, sizeof call, false);
    const char *grid = strstr(call, "=("), *block = grid ? strstr(grid + 2, "=(") : NULL;
    if (kernel) name_plain(str_of(kernel), name, sizeof name);
    if (block)
        snprintf(out, size, "%s<<<%.*s, %.*s>>>", name, (int)strcspn(grid + 1, ")") + 1, grid + 1,
                 (int)strcspn(block + 1, ")") + 1, block + 1);
    else
        snprintf(out, size, "%s", call);
}

static void unasked_set(struct state *s, const struct cu_call *c, const struct cu_why *why)
{
    struct unasked *u = &s->launch;
    chevron_text(c, u->call, sizeof u->call);
    u->code = c->result;
    u->key = key_of(c, why);
    u->result = cu_result_name(c);
    u->site = host_site(NULL);
    u->later = 0;
    u->first[0] = 0;
    snprintf(u->cause, sizeof u->cause, "%s", why ? why->cause : "");
    snprintf(u->fix, sizeof u->fix, "%s", why ? why->fix : "");
}

/* Somebody was told: it is as any other error. */
static void unasked_end(struct state *s)
{
    struct unasked *u = &s->launch;
    if (u->code) note(u->key, u->call, u->result, u->code, u->cause, u->fix, u->site);
    u->code = 0;
}

void cu_chevron(void) { chevron = cu_call_serial(); }

void cu_asked(s64 code)
{
    if (likely(!__atomic_load_n(&all.used, __ATOMIC_RELAXED)) || !mine) return;
    if (code == CU_LAST_ERROR || code == mine->launch.code) unasked_end(mine);
    for (u32 i = 0; i < MADE; i++) mine->made[i].out = NULL;
}

/* ---- what a failed call was to make ---- */

static bool makes(const struct cu_call *c) { return cu_call_parameters(c)[0] == 'o' && c->word[0]; }

static void made_add(struct state *s, const struct cu_call *c)
{
    struct made *m = &s->made[s->nmade++ % MADE];
    *m = (struct made){ .out = (const u64 *)(uintptr_t)c->word[0],
                        .result = cu_result_name(c),
                        .site = host_site(NULL),
                        .function = c->function };
    snprintf(m->name, sizeof m->name, "%s", cu_call_name(c));
    m->memory = strstr(m->name, "Alloc") || strstr(m->name, "alloc");
}

static void made_used(struct made *m, const char *user)
{
    char cause[TEXT];
    snprintf(cause, sizeof cause, "%s returned %s and made nothing, and %s was given what it was to make.", m->name,
             m->result, user);
    struct finding f = { .kind = F_api_unchecked, .cause_key = m->function, .cause = cause, .call = m->site };
    cu_found(&f);
    m->out = NULL;
}

/* Whether there is, or was, memory of a device, or memory of the host that can be read. */
static bool is_memory(u64 value)
{
    for (u32 i = 0; i < cu_process.devices; i++) {
        const lk_gpu *gpu = cu_process.device[i].gpu;
        if (gpu && gpu->device->mem && mem_find(gpu->device->mem, value)) return true;
    }
    return bytes_readable((const void *)(uintptr_t)value, 1);
}

/* A null pointer may be meant; of a call that failed it is taken for the result of the other one. The variable may have
 * held a valid value before; only of memory that was never written the opposite is known. */
static struct made *made_find(struct state *s, u64 value)
{
    if (value && is_memory(value)) return NULL;
    for (u32 i = 0; i < MADE; i++) {
        struct made *m = &s->made[i];
        if (m->out && m->memory && bytes_readable(m->out, sizeof *m->out) && *m->out == value) return m;
    }
    return NULL;
}

/* Only copies and fills are asked: elsewhere a null pointer often means that there is nothing to pass. */
static void made_look(struct state *s, const struct cu_call *c)
{
    u64 value;
    char kind;
    if (!strstr(cu_call_name(c), "Memcpy") && !strstr(cu_call_name(c), "Memset")) return;
    for (u32 i = 0; cu_call_pointer(c, i, &kind, &value); i++) {
        if (kind != 'p' && kind != 'd') continue;
        struct made *m = made_find(s, value);
        if (m && m->out != (const u64 *)(uintptr_t)c->word[0]) made_used(m, cu_call_name(c));
    }
}

void cu_launch_given(const lk_kernel *k, const void *const *arg, u32 n)
{
    lk_param p;
    char user[300];
    if (unlikely(cu_log_wanted())) cu_log_launch(k, arg, n);
    if (!mine || !mine->nmade) return;
    for (u32 i = 0; i < n; i++) {
        u64 value;
        if (lk_kernel_param(k, i, &p) || p.bytes != sizeof value) continue;
        if (!p.is_pointer && !strchr(p.source_type, '*')) continue;
        memcpy(&value, arg[i], sizeof value);
        struct made *m = value ? made_find(mine, value) : NULL; /* a kernel may be told that there is no buffer */
        snprintf(user, sizeof user, "argument %u of %s", i, lk_kernel_plain(k));
        if (m) made_used(m, user);
    }
}

/* ---- the gate ---- */

bool cu_failed_watches(void)
{
    return unlikely(__atomic_load_n(&all.used, __ATOMIC_RELAXED)) && mine && (mine->launch.code || mine->nmade);
}

static bool is_launch(const char *f) { return strstr(f, "Launch") && strstr(f, "Kernel"); }

static u64 launches_failed;

u64 cu_failed_launches(void) { return __atomic_load_n(&launches_failed, __ATOMIC_RELAXED); }

bool cu_failed_is_error(const struct cu_call *c)
{
    const char *f = cu_call_name(c);
    return (s32)c->result && cu_call_returns_code(c) && !is_question(f, (s32)c->result) && !is_trial(f, c);
}

void cu_failed_done(const struct cu_call *c)
{
    const char *f = cu_call_name(c);
    s64 r = cu_call_returns_code(c) ? (s32)c->result : 0;
    struct state *s = r ? state_of_thread() : mine;
    if (!s) return;
    bool chevrons = is_launch(f) && chevron && chevron + 1 == cu_call_serial();
    if (s->launch.code && r == s->launch.code && !chevrons) unasked_end(s);
    if (s->launch.code && !s->launch.later++) snprintf(s->launch.first, sizeof s->launch.first, "%s", f);
    if (!r) {
        for (u32 i = 0; i < MADE; i++)
            if (s->made[i].out == (const u64 *)(uintptr_t)c->word[0]) s->made[i].out = NULL; /* now it is made */
        return;
    }
    if (!cu_failed_is_error(c)) return;
    if (is_launch(f)) __atomic_add_fetch(&launches_failed, 1, __ATOMIC_RELAXED);
    const struct cu_why *why = cu_reason_now();
    if (s->nmade) made_look(s, c);
    if (chevrons && !s->launch.code && !(why && why->reported)) {
        unasked_set(s, c, why);
        return;
    }
    if (makes(c)) made_add(s, c);
    if (!is_reported(f, r) && !(why && why->reported)) note_add(c, why);
}

void cu_failed_thread_end(void)
{
    struct state *s = mine;
    if (!s) return;
    unasked_report(&s->launch);
    lock(&all.lock);
    *s->link = s->next;
    if (s->next) s->next->link = s->link;
    unlock(&all.lock);
    base_free(s);
    mine = NULL;
}

void cu_failed_end(void)
{
    lock(&all.lock);
    for (struct state *s = all.first; s; s = s->next) unasked_report(&s->launch);
    unlock(&all.lock);
}
