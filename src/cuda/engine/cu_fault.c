/* Faults of the program, and what it was doing when it ended. */
#include "engine/cu_fault.h"
#include "engine/cu_clock.h"
#include "base/channel.h"
#include "base/fault.h"
#include "engine/cu_failed.h"
#include "engine/cu_interrupt.h"
#include "engine/cu_where.h"
#include "mem/mem_finding.h"
#include "sites/where.h"
#include <inttypes.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    LAUNCHES = 4,       /* the last ones, that are kept */
    REPORTED_MOST = 64, /* faults that a program survives and that are told */
    WAIT_MS = 2000,     /* for the thread that writes, */
    END_MS = 3000,      /* and for it at the end, where it waits for what is in flight (cu_report.c) */
    THREADS = 64        /* whose calls are named */
};

struct launched { /* fields are atomic */
    const struct cu_kernel_count *count;
    u64 nth;
    u32 grid[3], block[3];
    const char *site; /* or NULL */
};
static struct {
    struct channel_writer *to; /* NULL: nobody is told */
    u32 asked;                 /* atomic, enum cu_asked_for, also what the writer sleeps on */
    u32 busy;                  /* atomic: a thread has asked, or is about to */
    u32 reported;              /* atomic: faults that were told */
    /* what the handler saw; of whoever is busy */
    struct fault fault;
    struct where_stack stack;
    s32 tid;
    bool interrupts; /* somebody wants the process to end, and kernels run */
    /* launches */
    struct launched launch[LAUNCHES];
    u64 launches; /* atomic */
    /* calls in progress, of the writer's last look: thread and how-many-eth call */
    struct {
        s32 tid;
        u64 serial;
    } seen[THREADS];
    u32 nseen;
    u64 written; /* what CHANNEL_LAST says: a number of calls and launches */
} out;

#define SET(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define GET(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)

void cu_fault_launch(const struct cu_kernel_count *c, const lk_launch *launch)
{
    struct launched *l = &out.launch[__atomic_fetch_add(&out.launches, 1, __ATOMIC_RELAXED) % LAUNCHES];
    SET(l->count, c);
    SET(l->nth, launch->nth);
    for (u32 i = 0; i < 3; i++) {
        SET(l->grid[i], launch->grid[i]);
        SET(l->block[i], launch->block[i]);
    }
    SET(l->site, launch->site);
}

/* For lockstep.trace: how many launches there were, and the names of the last of them after `since`, a line each. */
__attribute__((visibility("default"))) u64 lkpy_launched(u64 since, char *out_names, u32 size);
u64 lkpy_launched(u64 since, char *out_names, u32 size)
{
    u64 n = GET(out.launches), first = MAX_OF(since, n > LAUNCHES ? n - LAUNCHES : 0);
    u32 used = 0;
    if (size) out_names[0] = 0;
    for (u64 k = first; k < n; k++) {
        const struct cu_kernel_count *c = GET(out.launch[k % LAUNCHES].count);
        int more = c ? snprintf(out_names + used, size - used, "%s\n", c->plain) : 0;
        if (more < 0 || used + (u32)more >= size) break;
        used += (u32)more;
    }
    return n;
}

/* ---- the handler ---- */

/* "site fffe signal ADDRESS ..." for the launcher, as where.h has sites; no other site has this number. */
static void numbers_write(const struct where_stack *s)
{
    char line[40 + WHERE_FRAMES * 17];
    static const char begin[] = "site fffe signal";
    size_t n = sizeof begin - 1;
    memcpy(line, begin, n);
    for (u32 i = 0; i < s->n; i++) {
        line[n++] = ' ';
        for (int shift = 60; shift >= 0; shift -= 4) line[n++] = "0123456789abcdef"[s->address[i] >> shift & 15];
    }
    line[n++] = '\n';
    channel_put(out.to, CHANNEL_FAULT, line, n);
}

static void wake(enum cu_asked_for what)
{
    __atomic_store_n(&out.asked, (u32)what, __ATOMIC_RELEASE);
    syscall(SYS_futex, &out.asked, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Asks the thread that writes, and waits for it. */
static void ask(enum cu_asked_for what)
{
    u32 most = what == CU_ASKED_FAULT ? WAIT_MS : END_MS;
    wake(what);
    for (u32 ms = 0; ms < most && __atomic_load_n(&out.asked, __ATOMIC_ACQUIRE) != CU_ASKED_NOTHING; ms++)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static bool is_mine(void) { return out.to && cu_process.pid == (s32)getpid(); }

/* Of several threads that fault at once the first is told of. */
static bool on_fault(const struct fault *f)
{
    if (!is_mine() || (!f->deadly && !(f->is_access && cu_is_of_device(f->address)))) return false;
    if (!f->deadly && GET(out.reported) >= REPORTED_MOST) return false;
    if (f->deadly && !f->is_access && cu_interrupt_goes_on()) return true;
    if (__atomic_exchange_n(&out.busy, 1, __ATOMIC_ACQ_REL)) {
        if (f->deadly) nanosleep(&(struct timespec){ .tv_sec = WAIT_MS / 1000 }, NULL);
        return false;
    }
    out.fault = *f;
    out.tid = (s32)syscall(SYS_gettid);
    SET(out.reported, GET(out.reported) + 1);
    struct where_call from = { .address = f->code + 1, .frame = f->frame, .stack = f->stack };
    where_walk_other(&from, &out.stack);
    if (f->deadly) numbers_write(&out.stack);
    struct where_stack unwound;
    if (where_unwind(f->code, &unwound) && unwound.n > out.stack.n) {
        out.stack = unwound;
        if (f->deadly) numbers_write(&out.stack);
    }
    out.interrupts = f->deadly && cu_interrupt_concerns(f->number);
    if (out.interrupts && cu_call_of_thread(out.tid)) { /* a launch may run on this thread */
        cu_interrupt_begin(f->number);
        wake(CU_ASKED_FAULT);
        return true;
    }
    ask(CU_ASKED_FAULT);
    if (!f->deadly) __atomic_store_n(&out.busy, 0, __ATOMIC_RELEASE);
    return false;
}

/* The program calls _exit, in a handler of a signal perhaps. */
static void leaving(void)
{
    if (!is_mine() || __atomic_exchange_n(&out.busy, 1, __ATOMIC_ACQ_REL)) return;
    ask(CU_ASKED_END);
}

/* The same, also of a thread that is in no handler: quick_exit runs no destructors. */
static void leaving_quickly(void) { leaving(); }

/* The program calls exec, which ends it without a word; back: exec has failed, and it goes on. */
static void replaced(bool back)
{
    if (!is_mine()) return;
    if (back) {
        channel_mark(out.to, CHANNEL_WHOLE, false);
        return;
    }
    if (__atomic_exchange_n(&out.busy, 1, __ATOMIC_ACQ_REL)) return;
    ask(CU_ASKED_REPLACED);
    __atomic_store_n(&out.busy, 0, __ATOMIC_RELEASE);
}

/* ---- the thread that writes ---- */

enum cu_asked_for cu_fault_wait(u32 us)
{
    struct timespec most = { .tv_nsec = (long)us * 1000 };
    if (!__atomic_load_n(&out.asked, __ATOMIC_ACQUIRE))
        syscall(SYS_futex, &out.asked, FUTEX_WAIT_PRIVATE, CU_ASKED_NOTHING, &most, NULL, 0);
    return (enum cu_asked_for)__atomic_load_n(&out.asked, __ATOMIC_ACQUIRE);
}

bool cu_fault_interrupts(void) { return out.interrupts; }

void cu_fault_done(void) { __atomic_store_n(&out.asked, CU_ASKED_NOTHING, __ATOMIC_RELEASE); }

/* The object at or near an address of a device, or memory of the host that is registered; NULL: the address is not one.
 */
static const struct mem_object *object_near(u64 address, bool *inside)
{
    for (u32 i = 0; i < cu_process.devices; i++) {
        const lk_gpu *gpu = cu_process.device[i].gpu;
        if (!gpu || !gpu->device->mem) continue;
        const struct mem_object *o = mem_find(gpu->device->mem, address);
        *inside = o && address - o->base < o->size;
        if (mem_covers(gpu->device->mem, address)) return o ? o : mem_near(gpu->device->mem, address);
        if (*inside) return o;
    }
    return NULL;
}

static bool is_code_of_ours(u64 code) { return where_same_file(code, (u64)(uintptr_t)cu_fault_last); }

/* An access of ours, or of the C library for us: what copies a few bytes may be a call of memcpy. */
static bool is_ours(const struct fault *f)
{
    bool copies = where_same_file(f->code, (u64)(uintptr_t)memcpy) && out.stack.n > 1;
    return f->is_access && (is_code_of_ours(f->code) || (copies && is_code_of_ours(out.stack.address[1])));
}

/* Memory of the host that the device uses as it lies there: a fault of ours in it is that of a kernel or a copy. */
static bool is_host_memory(const struct mem_object *o, bool inside) { return inside && o->kind == MEM_REGISTERED; }

/* "d_x, 128 bytes, was allocated at a.cu:9, freed at a.cu:12". */
static void memory_text(const struct mem_object *o, char *text, size_t size)
{
    int n = snprintf(text, size, "%s, %" PRIu64 " byte%s", o->name, o->size, plural(o->size));
    if (o->alloc_site) n += snprintf(text + n, size - (size_t)n, ", was allocated at %s", o->alloc_site);
    if (!mem_is_live(o) && o->free_site) snprintf(text + n, size - (size_t)n, ", freed at %s", o->free_site);
}

static const char *fault_site(const char *what)
{
    where_modules_look();
    return where_site(what, &out.stack);
}

/* The program has taken memory away that an operation of the device uses. */
static void gone_found(const struct fault *f, const struct mem_object *o)
{
    char cause[500], memory[300];
    struct mapping m;
    bool lent = o->lent, there = mapping_at(f->address, &m);
    const char *how = !there ? "no memory is mapped there: munmap, or free or delete of a large "
                               "block, took it away"
                      : !(f->write ? m.write : m.read) ? "mprotect took the right to do so away"
                                                       : "the file that is mapped there has become shorter";
    snprintf(cause, sizeof cause, "A kernel or a copy %s at %s+0x%" PRIx64 ", and %s.%s", f->write ? "writes" : "reads",
             o->name, f->address - o->base, how,
             lent ? "" : " A GPU would go on with the pages that were there when they were registered.");
    memory_text(o, memory, sizeof memory);
    struct finding x = {
        .kind = F_use_after_free,
        .cause_key = o->id,
        .cause = cause,
        .object_note = memory,
        .fix = lent ? "Free it after the last operation that uses it, once the host has waited for that."
                    : "Wait for the last operation that uses it, call cudaHostUnregister, then free it."
    };
    finding_object(&x, o);
    cu_found(&x);
}

void cu_fault_found(void)
{
    const struct fault *f = &out.fault;
    bool inside = false;
    const struct mem_object *o = f->is_access ? object_near(f->address, &inside) : NULL;
    char cause[500], memory[300];
    if (!o) return;
    if (is_host_memory(o, inside)) {
        if (is_ours(f)) gone_found(f, o);
        return;
    }
    s64 at = (s64)(f->address - o->base);
    const struct cu_call *c = cu_call_of_thread(out.tid);
    const char *does = f->write ? "writes" : "reads", *freed = mem_is_live(o) ? "" : ", which has been freed";
    if (inside)
        snprintf(cause, sizeof cause, "The host %s at %s+0x%" PRIx64 ". This is memory of the device%s: %s", does,
                 o->name, (u64)at, freed,
                 f->write ? "only kernels, copies and fills can change it." : "what it holds has to be copied first.");
    else
        snprintf(cause, sizeof cause,
                 "The host %s at an address of the device where no allocation is, %" PRIu64 " bytes %s %s.", does,
                 at < 0 ? (u64)-at : (u64)at - o->size, at < 0 ? "before" : "past the end of", o->name);
    memory_text(o, memory, sizeof memory);
    struct finding x = { .kind = F_host_dereference,
                         .cause_key = out.stack.address[0],
                         .cause = cause,
                         .object_note = memory,
                         .host = fault_site("access") };
    if (f->write)
        x.fix = "Write to memory of the host, and copy it: cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice); or "
                "allocate "
                "with cudaMallocManaged.";
    if (c) x.call = cu_call_name(c);
    finding_object(&x, o);
    cu_found(&x);
}

/* ---- what the program was doing ---- */

static void shape_add(struct text *t, const u32 *n)
{
    u32 x = GET(n[0]), y = GET(n[1]), z = GET(n[2]);
    if (z > 1)
        text_add(t, "(%u,%u,%u)", x, y, z);
    else if (y > 1)
        text_add(t, "(%u,%u)", x, y);
    else
        text_add(t, "%u", x);
}

/* The mark of a site as the functions behind it. */
static void from_add(struct text *t, const char *site)
{
    if (site && !strncmp(site, "{lk@s", 5)) text_add(t, ", from {lk@h%s", site + 5);
}

static void launches_add(struct text *t)
{
    u64 n = GET(out.launches);
    for (u64 k = 0; k < MIN_OF(n, (u64)LAUNCHES); k++) {
        const struct launched *l = &out.launch[(n - 1 - k) % LAUNCHES];
        const struct cu_kernel_count *c = GET(l->count);
        if (!c) continue;
        text_add(t, "  = %s %s, number %" PRIu64 " of this kernel, <<<", k ? "before:" : "last launch:", c->plain,
                 GET(l->nth));
        shape_add(t, l->grid);
        text_add(t, ", ");
        shape_add(t, l->block);
        text_add(t, ">>>");
        from_add(t, GET(l->site));
        text_add(t, "\n");
    }
}

/* A call of another thread: its record lies in that thread's stack, and may go at any moment. */
static bool call_copy(const struct cu_call *from, struct cu_call *to)
{
    return pages_copy(to, (uintptr_t)from, sizeof *to) && cu_call_is_live(to);
}

static void call_add(struct text *t, const struct cu_call *c, bool other)
{
    char words[600];
    struct where_stack s;
    struct where_call from = { .address = (uintptr_t)c->return_address,
                               .frame = (uintptr_t)c->frame,
                               .stack = (uintptr_t)c->stack };
    cu_call_text(c, words, sizeof words, false);
    where_walk_other(&from, &s);
    text_add(t, "  = %s %s", other ? "another thread is in:" : "in:", words);
    from_add(t, where_site(cu_call_name(c), &s));
    text_add(t, "\n");
}

/* Calls that were in progress at the last look, too. */
static u32 calls_add(struct text *t, s32 first, bool all)
{
    u32 n = 0, seen = 0;
    const struct gate_thread *thread = NULL;
    s32 tid;
    u64 serial;
    const struct cu_call *at;
    struct cu_call c;
    if (first && (at = cu_call_of_thread(first)) && call_copy(at, &c)) call_add(t, &c, false);
    while (n < THREADS && cu_call_next(&thread, &tid, &serial, &at)) {
        if (!at || tid == first) continue;
        bool old = all;
        for (u32 i = 0; i < out.nseen; i++) old |= out.seen[i].tid == tid && out.seen[i].serial == serial;
        if (old && call_copy(at, &c)) {
            call_add(t, &c, first || n);
            n++;
        }
    }
    for (thread = NULL; seen < THREADS && cu_call_next(&thread, &tid, &serial, &at);)
        if (at) {
            out.seen[seen].tid = tid;
            out.seen[seen++].serial = serial;
        }
    out.nseen = seen;
    return n;
}

/* Where the signal came: nothing in a call, which is named. An instruction of ours that faults is a mistake of ours, or
 * the program has damaged our memory. */
static void place_add(struct text *t)
{
    const char *site = fault_site("signal");
    struct cu_call c;
    const struct cu_call *at = cu_call_of_thread(out.tid);
    bool inside = false;
    const struct mem_object *o = out.fault.is_access ? object_near(out.fault.address, &inside) : NULL;
    if (is_ours(&out.fault) && o && is_host_memory(o, inside))
        text_add(t, "  = at: an access of a kernel or a copy to memory of the host that is gone\n");
    else if (is_ours(&out.fault))
        text_add(t, "  = at: an instruction of Lockstep itself\n");
    else if (site && !(at && call_copy(at, &c)))
        text_add(t, "  = at: {lk@h%s\n", site + 5);
}

void cu_fault_last(bool fault)
{
    struct text t = { 0 };
    u64 key = GET(out.launches) << 8;
    if (fault && out.fault.deadly) place_add(&t);
    key += calls_add(&t, fault ? out.tid : 0, fault);
    if (fault || key != out.written) {
        launches_add(&t);
        channel_put(out.to, CHANNEL_LAST, t.p, t.n);
    }
    out.written = key;
    text_free(&t);
}

/* ---- in front ---- */

/* What lockstep-front.so asks (front/front_signal.c); empty until cu_fault_open. */
struct front_hooks {
    int (*sigaction)(int number, const struct sigaction *act, struct sigaction *old);
    bool (*watches)(int number);
    void (*leaving)(void);
    void (*clock)(u32 clock, const void *address, const void *stack);
    void (*replaced)(bool back);
    int (*sigmask)(int how, const sigset_t *set, sigset_t *old);
};
__attribute__((visibility("default"))) struct front_hooks lkfront_hooks;

void cu_fault_open(struct channel_writer *to)
{
    out.to = to;
    at_quick_exit(leaving_quickly);
    __atomic_store_n(&lkfront_hooks.sigaction, fault_sigaction, __ATOMIC_RELEASE);
    __atomic_store_n(&lkfront_hooks.watches, fault_watches, __ATOMIC_RELEASE);
    __atomic_store_n(&lkfront_hooks.leaving, leaving, __ATOMIC_RELEASE);
    __atomic_store_n(&lkfront_hooks.clock, cu_clock_read, __ATOMIC_RELEASE);
    __atomic_store_n(&lkfront_hooks.replaced, replaced, __ATOMIC_RELEASE);
    fault_watch_blocked();
    __atomic_store_n(&lkfront_hooks.sigmask, fault_sigmask, __ATOMIC_RELEASE);
    if (fault_watch(FAULT_REPORT, on_fault)) fault_watch_ends();
}
