/* Managed and pinned memory that operations use: noticing that the host touches it before it has waited for them.
 *
 * Host and engine have a view each of the same bytes (mem/zone.h), so neither ever sees stale values. What can be wrong
 * is that the host did not wait. From when a launch is enqueued that may use a managed object or a small pinned one, or
 * a copy of pinned memory, until the host has waited for it (dev_sim_note.c), the pages of the host's view are
 * without access; the engine's view is not concerned. The first access of the host to a page is a SIGSEGV, whose
 * handler notes the address and makes the page accessible, or waits for the launches, and the host's instruction runs
 * again. Managed objects start at a page and share none (mem.c), so a page says which object it is.
 *
 * A *guard* is the range of such an object with the launches in flight that may use it. The handler cannot take locks:
 * the guards are a table with atomic fields, and an entry stays, with no launch, when its last launch ends, so that a
 * fault that is on its way at that moment is still known to be ours. Touches go into a ring that the handler only adds
 * to. A fault that is not ours goes to the program's handler (base/fault.h).
 *
 * A host function of a stream is an operation: what its thread touches is handed out as an access of it. While it runs,
 * memory that is guarded only for operations of its own stream is open: they wait for it, and it may let the system
 * write there.
 *
 * What cannot be seen: accesses of the system on behalf of the host. read(2) into a page without access fails with
 * EFAULT. Hence kernels that poll are left alone, and the policy can be switched off. */
#include "base/fault.h"
#include "device/dev_memory.h"
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* DEVICES_MOST: devices with a higher number are left alone */
enum { GUARDS = 256, RING = 512, FLIGHT_GUARDS = 16, TOUCHES_MOST = 256, DEVICES_MOST = 64 };

/* Where nobody has asked for it, only so much of an object is protected: a host that does not wait reads it from the
 * start, and taking access from 64 MB and giving it back takes 1.5 ms (1 MB: 20 us, a page: 4 us). */
#define UNASKED_MOST (1ull << 20)

struct guard {
    u64 from, to; /* pages, in the host's view; 0: free entry */
    struct mem_object *object;
    struct device *device;
    u32 number;  /* of the device */
    u32 flights; /* launches in flight that may use it */
    u32 touches; /* pages that the host touched while they were */
    u32 waits;   /* the policy is to wait */
    u32 opened;  /* the host has touched a page since the last protection */
    u32 reads;   /* the host may read it */
    u32 lent;    /* open for a host function */
};
struct managed_flight {    /* a launch */
    struct device *device; /* NULL: free entry */
    u32 guards;            /* that it holds */
    u64 stream;            /* the number of its stream */
    u32 next;              /* of the free entries: token of the next one, 0: none */
    struct held {
        u32 guard;
        const struct mem_object *object; /* the guard may have gone to another one since */
    } held[FLIGHT_GUARDS];
};

static lock_t managed_lock = PTHREAD_MUTEX_INITIALIZER; /* of whoever changes something here, never of the handler */
static struct guard guards[GUARDS];                     /* fields are atomic: the handler reads them */
static u32 nguards;                                     /* atomic: entries in use, with or without launches */
static struct managed_flight *flights;                  /* by token - 1 */
static u32 nflights, capflights, free_flight;           /* free_flight: token of the first free entry, 0: none */
static struct ring {
    struct managed_touch { /* what the handler saw */
        u64 address;
        u64 pc; /* of the host's instruction */
        const struct mem_object *object;
        const struct op *op; /* the host function; NULL: none */
        u32 write;
        u32 ready; /* atomic: 1 + turn of the ring in which it was written */
    } touch[RING];
    u64 in, out;              /* atomic: touches that were noted, and handed out */
    u32 host_thread;          /* atomic: the thread that runs a host function of the device; 0: none does */
    const struct op *host_op; /* atomic: that function */
} rings[DEVICES_MOST];        /* by number of the device */

#define READ(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define WRITE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELEASE)

/* ---- the handler ---- */

/* Whether the thread runs a host function, and which one, if it is one of the device of this ring. */
static bool is_hosting(const struct ring *r, const struct op **op)
{
    u32 me = (u32)syscall(SYS_gettid);
    *op = NULL;
    for (u32 k = 0; k < DEVICES_MOST; k++) {
        if (READ(rings[k].host_thread) != me) continue;
        if (r == &rings[k]) *op = READ(rings[k].host_op);
        return true;
    }
    return false;
}

static void note(const struct guard *g, u64 address, bool write, u64 pc)
{
    struct ring *r = &rings[READ(g->number)];
    u64 n = READ(r->in);
    const struct op *op;
    if (is_hosting(r, &op) && !op) return; /* of another device: the order between the two is not known here */
    do
        if (n - READ(r->out) >= RING) return; /* nobody asks: the oldest ones are enough */
    while (!__atomic_compare_exchange_n(&r->in, &n, n + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    struct managed_touch *t = &r->touch[n % RING];
    t->address = address;
    t->pc = pc;
    t->object = READ(g->object);
    t->op = op;
    t->write = write;
    WRITE(t->ready, 1 + (u32)(n / RING));
}

/* True: the fault was ours, and the instruction may run again. */
static bool touched(u64 address, bool write, u64 pc)
{
    /* an object that is gone may have left a guard without launches where another one is now */
    struct guard *g = NULL;
    for (u32 k = 0, n = READ(nguards); k < n && !(g && READ(g->flights)); k++)
        if (address >= READ(guards[k].from) && address < READ(guards[k].to)) g = &guards[k];
    if (!g) return false;
    u64 from = READ(g->from), to = READ(g->to);
    if (READ(g->waits))
        while (READ(g->flights)) nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
    u64 page = address & ~(page_size() - 1), bytes = page_size();
    const struct mem_object *o = READ(g->object);
    bool inside = address - o->base < o->size;
    WRITE(g->opened, 1);
    if (READ(g->flights) && inside && __atomic_add_fetch(&g->touches, 1, __ATOMIC_ACQ_REL) <= TOUCHES_MOST)
        note(g, address, write, pc);
    if (to > from && (READ(g->touches) >= TOUCHES_MOST || READ(g->waits))) { /* enough is known of it */
        page = from;
        bytes = to - from;
    }
    return !mprotect((void *)(uintptr_t)page, bytes, PROT_READ | PROT_WRITE);
}

static bool on_fault(const struct fault *f) { return f->is_access && touched(f->address, f->write, f->code); }

/* ---- guards ---- */

/* The guard of bytes [from, to) of an object, made if need be; GUARDS: there is no room. Pages that hold other bytes of
 * the object, too, are left out: the host may use those. The object shares no page with others. */
static u32 guard_of(struct device *d, struct mem_object *o, u64 from, u64 to)
{
    u32 spare = GUARDS;
    u64 page = page_size();
    if (d->options.managed == DEV_MANAGED_DEFAULT) to = MIN_OF(to, from + UNASKED_MOST);
    from = (from == o->base ? from : from + page - 1) & ~(page - 1);
    to = (to < o->base + o->size ? to : to + page - 1) & ~(page - 1);
    to = MAX_OF(to, from);
    for (u32 k = 0; k < nguards; k++) {
        const struct guard *g = &guards[k];
        if (g->object == o && g->device == d && g->from == from && g->to == to) return k;
        if (!g->flights && (spare == GUARDS || !g->from)) spare = k;
    }
    u32 k = nguards < GUARDS ? nguards : spare;
    if (k == GUARDS) return k;
    struct guard *g = &guards[k];
    WRITE(g->to, 0); /* no address is in it while it changes */
    WRITE(g->object, o);
    g->device = d;
    WRITE(g->number, d->number);
    WRITE(g->from, from);
    WRITE(g->to, to);
    if (k == nguards) WRITE(nguards, k + 1);
    return k;
}

static void guard_close(struct guard *g)
{
    g->lent = 0;
    WRITE(g->opened, 0);
    mprotect((void *)(uintptr_t)g->from, g->to - g->from, g->reads ? PROT_READ : PROT_NONE);
}

/* For bytes [from, to) of an object. reads: the host may read them meanwhile. */
static void guard_add(struct device *d, struct managed_flight *f, struct mem_object *o, u64 from, u64 to, bool wait,
                      bool reads)
{
    if (!mem_is_live(o) || from >= to || f->guards == FLIGHT_GUARDS) return;
    u32 k = fault_watch(FAULT_PAGES, on_fault) ? guard_of(d, o, from, to) : GUARDS;
    if (k == GUARDS) return;
    for (u32 n = 0; n < f->guards; n++)
        if (f->held[n].guard == k) return;
    struct guard *g = &guards[k];
    WRITE(g->waits, wait);
    if (!g->flights) WRITE(g->touches, 0);
    WRITE(g->flights, g->flights + 1);
    f->held[f->guards++] = (struct held){ k, o };
    bool first = g->flights == 1, closed = !first && !READ(g->opened) && !g->lent && (reads || !g->reads);
    if (closed || g->to <= g->from) return;
    g->reads = reads && (first || g->reads); /* one that must not be read stays so */
    guard_close(g);
}

static void guard_managed(struct device *d, struct managed_flight *f, struct mem_object *o, bool wait)
{
    if (o && o->kind == MEM_MANAGED) guard_add(d, f, o, o->base, o->base + o->size, wait, false);
}

/* Pinned memory that a kernel gets, where the host asked to be watched: small objects whole, large ones not at all. A
 * pool of staging buffers has parts that belong to the host, and read(2) into a page without access fails. */
static void guard_mapped(struct device *d, struct managed_flight *f, struct mem_object *o)
{
    if (o && o->kind == MEM_PINNED && o->engine && o->size <= UNASKED_MOST)
        guard_add(d, f, o, o->base, o->base + o->size, false, false);
}

static enum dev_managed_policy policy_of(const struct device *d)
{
    if (d->options.managed != DEV_MANAGED_DEFAULT) return d->options.managed;
    return d->options.checks & CHECK_RACE ? DEV_MANAGED_REPORT : DEV_MANAGED_FREE;
}

/* Keeps a launch or copy that holds guards; its token. */
static u32 flight_keep(const struct managed_flight *f)
{
    u32 token = free_flight;
    if (!f->guards) return 0;
    if (token) {
        free_flight = flights[token - 1].next;
    } else {
        NEED_ROOM(flights, nflights, capflights, 16);
        token = ++nflights;
    }
    flights[token - 1] = *f;
    return token;
}

/* The managed variables of the module that the kernel is in. */
static void guard_variables(struct device *d, struct managed_flight *f, const struct ptx_func *kernel, bool wait)
{
    lock(&d->modules_lock);
    for (const struct dev_module *m = d->modules; m; m = m->next) {
        bool here = false;
        for (const struct ptx_module *p = m->ptx; p; p = p->next)
            for (u32 k = 0; k < p->nfunc; k++) here |= p->func[k] == kernel;
        for (u32 k = 0; here && k < m->objects; k++) guard_managed(d, f, m->object[k], wait);
    }
    unlock(&d->modules_lock);
}

/* Managed objects that pointers in those lead to which the flight holds: a list, a struct of arrays. Of each the first
 * bytes are looked through, in the engine's view. */
static void guard_reached(struct device *d, struct managed_flight *f, bool wait)
{
    enum { SEEN_MOST = 1 << 12 };
    for (u32 n = 0; n < f->guards; n++) {
        const struct mem_object *o = f->held[n].object;
        if (!o->engine || o->kind != MEM_MANAGED) continue;
        for (u64 at = 0; at + 8 <= MIN_OF(o->size, (u64)SEEN_MOST) && f->guards < FLIGHT_GUARDS; at += 8) {
            u64 value = __atomic_load_n((const u64 *)mem_view(o, o->base + at), __ATOMIC_RELAXED);
            if (value) guard_managed(d, f, mem_find(d->mem, value), wait);
        }
    }
}

u32 dev_managed_begin(struct device *d, const struct dev_launch *l, bool polls, u64 stream)
{
    enum dev_managed_policy policy = policy_of(d);
    if (policy == DEV_MANAGED_FREE || polls || !d->mem || d->number >= DEVICES_MOST) return 0;
    /* a kernel that can tell the host something may hand it pinned memory while it runs */
    bool mapped = d->options.managed == DEV_MANAGED_REPORT && mem_bytes_of(d->mem, MEM_PINNED) &&
                  !ptx_signals(l->kernel);
    if (!mapped && !mem_bytes_of(d->mem, MEM_MANAGED)) return 0;
    lock(&managed_lock);
    struct managed_flight f = { .device = d, .stream = stream };
    for (u32 at = 0; at + 8 <= l->kernel->param_bytes; at += 8) {
        u64 value;
        memcpy(&value, (const u8 *)l->params + at, 8);
        struct mem_object *o = value ? mem_find(d->mem, value) : NULL;
        guard_managed(d, &f, o, policy == DEV_MANAGED_WAIT);
        if (mapped) guard_mapped(d, &f, o);
    }
    guard_variables(d, &f, l->kernel, policy == DEV_MANAGED_WAIT);
    guard_reached(d, &f, policy == DEV_MANAGED_WAIT);
    u32 token = flight_keep(&f);
    unlock(&managed_lock);
    return token;
}

u32 dev_managed_copy(struct device *d, const struct dev_copy_plan *p, u64 stream)
{
    const struct dev_side *side[] = { &p->to, &p->from };
    if (d->options.managed != DEV_MANAGED_REPORT || !d->mem || d->number >= DEVICES_MOST || !p->width) return 0;
    lock(&managed_lock);
    struct managed_flight f = { .device = d, .stream = stream };
    for (u32 k = 0; k < 2; k++) {
        struct mem_object *o = side[k]->device == d ? side[k]->object : NULL;
        if (!o || !o->engine || (o->kind != MEM_PINNED && o->kind != MEM_MANAGED)) continue;
        /* of rows with gaps between them the host may use the gaps: they are not protected, but for the first row */
        u64 from = side[k]->address,
            whole = p->rows <= 1 && p->slices <= 1 ? p->width : MIN_OF(p->width, side[k]->pitch);
        if (p->slices <= 1 && side[k]->pitch == p->width) whole = p->width * MAX_OF(p->rows, 1);
        guard_add(d, &f, o, from, MIN_OF(from + whole, o->base + o->size), false, k == 1);
    }
    u32 token = flight_keep(&f);
    unlock(&managed_lock);
    return token;
}

void dev_managed_end(struct device *d, u32 token)
{
    if (!token) return;
    lock(&managed_lock);
    struct managed_flight *f = &flights[token - 1];
    CHECK(f->device == d);
    for (u32 n = 0; n < f->guards; n++) {
        struct guard *g = &guards[f->held[n].guard];
        if (g->object != f->held[n].object || g->device != d) continue;
        if (g->flights == 1 && g->to > g->from)
            mprotect((void *)(uintptr_t)g->from, g->to - g->from, PROT_READ | PROT_WRITE);
        WRITE(g->flights, g->flights - 1);
    }
    *f = (struct managed_flight){ .next = free_flight };
    free_flight = token;
    unlock(&managed_lock);
}

/* Guards that operations of this stream alone hold. */
static bool is_of_stream(const struct device *d, u32 guard, u64 stream)
{
    bool mine = false;
    for (u32 k = 0; k < nflights; k++) {
        const struct managed_flight *f = &flights[k];
        for (u32 n = 0; f->device == d && n < f->guards; n++) {
            if (f->held[n].guard != guard) continue;
            if (f->stream != stream) return false;
            mine = true;
        }
    }
    return mine;
}

void dev_managed_host_begin(struct device *d, const struct op *op, u64 stream)
{
    if (d->number >= DEVICES_MOST) return;
    struct ring *r = &rings[d->number];
    lock(&managed_lock);
    WRITE(r->host_op, op);
    WRITE(r->host_thread, (u32)syscall(SYS_gettid));
    for (u32 k = 0; k < nguards; k++) {
        struct guard *g = &guards[k];
        if (g->device != d || !g->flights || g->to <= g->from || !is_of_stream(d, k, stream)) continue;
        g->lent = 1;
        mprotect((void *)(uintptr_t)g->from, g->to - g->from, PROT_READ | PROT_WRITE);
    }
    unlock(&managed_lock);
}

void dev_managed_host_end(struct device *d)
{
    if (d->number >= DEVICES_MOST) return;
    struct ring *r = &rings[d->number];
    lock(&managed_lock);
    WRITE(r->host_thread, 0);
    WRITE(r->host_op, NULL);
    for (u32 k = 0; k < nguards; k++) {
        struct guard *g = &guards[k];
        if (g->device != d || !g->lent) continue;
        g->lent = 0;
        if (g->flights && !READ(g->opened)) guard_close(g);
    }
    unlock(&managed_lock);
}

void dev_managed_drain(struct device *d, void (*touch)(void *self, const struct dev_touch *t), void *self)
{
    struct ring *r = &rings[MIN_OF(d->number, DEVICES_MOST - 1u)];
    while (unlikely(READ(r->in) != READ(r->out))) {
        lock(&managed_lock);
        u64 n = r->out;
        struct managed_touch *t = &r->touch[n % RING];
        bool ready = n != READ(r->in) && READ(t->ready) == 1 + (u32)(n / RING);
        struct dev_touch out = { t->address, t->write, t->object, t->pc, t->op };
        if (ready) WRITE(r->out, n + 1);
        unlock(&managed_lock);
        if (!ready) return;
        touch(self, &out);
    }
}

void dev_managed_forget(struct device *d, const struct mem_object *o)
{
    lock(&managed_lock);
    for (u32 k = 0; k < nguards; k++) {
        struct guard *g = &guards[k];
        if (g->device != d || (o && g->object != o)) continue;
        if (g->from && g->flights) mprotect((void *)(uintptr_t)g->from, g->to - g->from, PROT_READ | PROT_WRITE);
        WRITE(g->from, 0);
        WRITE(g->to, 0);
        WRITE(g->flights, 0);
        g->device = NULL;
    }
    struct ring *r = &rings[MIN_OF(d->number, DEVICES_MOST - 1u)];
    while (!o && r->out != READ(r->in)) WRITE(r->out, r->out + 1); /* the number gets another device */
    unlock(&managed_lock);
}
