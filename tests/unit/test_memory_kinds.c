/* Kinds of memory of the software GPU: what the host and a kernel see of each, registered memory, pitched allocations,
 * stream-ordered memory before and after its time, managed memory that the host touches, peak bytes and leaks. */
#include "device/dev_memory.h"
#include "unit.h"
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* add: adds one to element tid of x. */
static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry add(.param .u64 x)\n{\n.reg .u64 %rd<3>; .reg .u32 %r<4>;\n"
    "ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;\n"
    "ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, 1; st.global.u32 [%rd1], %r2;\nret;\n}\n";

static struct device *open_device(enum dev_managed_policy managed, struct dev_module **module)
{
    struct error e = { 0 };
    struct device *d = dev_new(&(struct dev_options){ .checks = CHECK_ALL, .workers = 1, .managed = managed }, &e);
    struct dev_part part = { "kinds.ptx", { text, sizeof text - 1 } };
    *module = d ? dev_load(d, &part, 1, &e) : NULL;
    if (!UNIT(d && *module)) fprintf(stderr, "%s\n", e.text);
    return d;
}

static struct dev_launch launch_of(struct dev_module *m, const u64 *params, u32 threads)
{
    return (struct dev_launch){ .kernel = ptx_kernel(m->ptx, (struct str){ "add", 3 }),
                                .grid = { 1, 1, 1 },
                                .block = { threads, 1, 1 },
                                .params = params };
}

static void run(struct device *d, struct dev_module *m, u64 x, u32 threads)
{
    struct dev_launch l = launch_of(m, &x, threads);
    struct sim_result r;
    struct error e = { 0 };
    if (!UNIT_EQ(dev_launch(d, &l, &r, &e), DEV_RAN)) fprintf(stderr, "%s\n", e.text);
}

static char *report_of(struct device *d)
{
    struct text t = { 0 };
    report_text(d->report, (struct report_style){ 0 }, &t);
    return t.p;
}

static u32 *host(u64 at) { return (u32 *)(uintptr_t)at; }

static void registered(void)
{
    struct dev_module *m;
    struct device *d = open_device(DEV_MANAGED_FREE, &m);
    if (!m) return;
    struct error e = { 0 };
    struct mem_object *o, *other;
    u32 *own = malloc(4096 * 4);
    for (u32 i = 0; i < 4096; i++) own[i] = i;
    UNIT_EQ(dev_register(d, own, 64 * 4, "own", "main.c:7", &o, &e), 0);
    UNIT(o && o->kind == MEM_REGISTERED && o->base == (u64)(uintptr_t)own && o->size == 256);
    run(d, m, o->base, 64);
    UNIT(own[0] == 1 && own[63] == 64 && own[64] == 64);
    UNIT_EQ(report_errors(d->report), 0);
    struct dev_address a;
    UNIT(dev_address(d, o->base + 8, &a) && a.object == o && a.offset == 8 && a.host == own + 2 && a.device == d);

    /* behind its end is the host's memory all the same: found, and not touched */
    run(d, m, o->base, 65);
    UNIT_EQ(own[64], 64);
    UNIT_EQ(report_errors(d->report), 2); /* the load and the store */
    char *z = report_of(d);
    UNIT_HAS(z, "own");
    base_free(z);

    /* twice, a part of it, what touches it, memory of the device, nothing, what is not there or cannot be written */
    UNIT_EQ(dev_register(d, own + 63, 4, NULL, NULL, &other, &e), 712);
    UNIT_HAS(e.text, "is registered already");
    UNIT(!other);
    e = (struct error){ 0 };
    UNIT_EQ(dev_register(d, own + 64, 64, "next", NULL, &other, &e), 0);
    UNIT(dev_address(d, (u64)(uintptr_t)(own + 64), &a) && a.object == other);
    UNIT_EQ(dev_register(d, own, 0, NULL, NULL, &other, &e), 1);
    UNIT_HAS(e.text, "there is nothing to register");
    e = (struct error){ 0 };
    UNIT_EQ(dev_register(d, (void *)(uintptr_t)~15ull, 32, NULL, NULL, &other, &e), 1);
    e = (struct error){ 0 };
    char *pages = mmap(NULL, 3 * page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(pages + page_size(), page_size(), PROT_READ);
    UNIT_EQ(dev_register(d, pages, page_size() + 1, NULL, NULL, &other, &e), 1);
    UNIT_HAS(e.text, "no memory there that it can read and write");
    e = (struct error){ 0 };
    munmap(pages, 3 * page_size());
    UNIT_EQ(dev_register(d, pages, 16, NULL, NULL, &other, &e), 1);
    e = (struct error){ 0 };
    struct mem_object *plain = dev_alloc(d, 100, MEM_DEVICE, "plain", NULL, &e);
    UNIT_EQ(dev_register(d, host(plain->base), 100, NULL, NULL, &other, &e), 1);
    UNIT_HAS(e.text, "is memory of the device already");

    /* unregistered */
    e = (struct error){ 0 };
    UNIT_EQ(dev_unregister(d, own + 1, NULL, &e), 1);
    UNIT_HAS(e.text, "is own+0x4, not the start of what was registered");
    e = (struct error){ 0 };
    UNIT(!dev_free(d, o->base, NULL));
    UNIT_EQ(dev_unregister(d, own, "main.c:9", &e), 0);
    UNIT_EQ(dev_unregister(d, own, NULL, &e), 713);
    UNIT_HAS(e.text, "own was unregistered before, at main.c:9");
    e = (struct error){ 0 };
    UNIT_EQ(dev_unregister(d, own + 2000, NULL, &e), 713);
    UNIT_HAS(e.text, "was not registered");
    u32 before = report_errors(d->report);
    run(d, m, o->base, 8);
    UNIT_EQ(own[0], 2);
    UNIT_EQ(report_errors(d->report), before + 2);
    UNIT_EQ(dev_register(d, own, 4096 * 4, "all", NULL, &other, &e), 712);
    UNIT_EQ(dev_unregister(d, own + 64, NULL, &e), 0);
    e = (struct error){ 0 };
    UNIT_EQ(dev_register(d, own, 4096 * 4, "all", NULL, &other, &e), 0);
    UNIT(dev_address(d, (u64)(uintptr_t)own, &a) && a.object == other);
    run(d, m, other->base, 8);
    UNIT_EQ(own[0], 3);

    /* many of them come and go: a thousand freed ones are kept, and the search stays right */
    u32 wrong = 0;
    UNIT_EQ(dev_unregister(d, own, NULL, &e), 0);
    for (u32 n = 0; n < 5000; n++) {
        u32 k = n * 37 % 1000;
        wrong += dev_register(d, own + 4 * k, 16, NULL, NULL, &other, &e) != 0;
        wrong += !dev_address(d, (u64)(uintptr_t)(own + 4 * k + 3), &a) || a.object != other;
        wrong += dev_unregister(d, own + 4 * k, NULL, &e) != 0;
    }
    UNIT_EQ(wrong, 0);
    UNIT_EQ(dev_usage(d, MEM_REGISTERED).live, 0);
    dev_delete(d);
    free(own);
}

static void pitched(void)
{
    struct dev_module *m;
    struct device *d = open_device(DEV_MANAGED_FREE, &m);
    struct error e = { 0 };
    u64 pitch;
    struct mem_object *o = dev_alloc_pitched(d, 100, 7, 3, "p", NULL, &pitch, &e);
    UNIT(o && pitch == 512 && o->size == 512 * 7 * 3 && o->base % 512 == 0);
    o = dev_alloc_pitched(d, 513, 2, 1, "q", NULL, &pitch, &e);
    UNIT(o && pitch == 1024 && o->base % 512 == 0);
    UNIT(!dev_alloc_pitched(d, 512, 1ull << 40, 1ull << 40, "r", NULL, &pitch, &e));
    UNIT_HAS(e.text, "are more than an address space");
    UNIT_EQ(pitch, 0);
    e = (struct error){ 0 };
    UNIT(!dev_alloc_pitched(d, 1ull << 31, 1, 1, "r", NULL, &pitch, &e));
    UNIT_HAS(e.text, "wider than the largest pitch");
    e = (struct error){ 0 };
    UNIT(!dev_alloc_pitched(d, 1 << 20, 1 << 20, 1, "r", NULL, &pitch, &e));
    UNIT_HAS(e.text, "device memory exhausted");
    dev_delete(d);
}

/* Memory of a stream-ordered allocation, used by a kernel before it is there, in time, and after its end. */
static void in_time(void)
{
    struct dev_module *m;
    struct device *d = open_device(DEV_MANAGED_FREE, &m);
    struct error e = { 0 };
    struct mem_object *o;
    UNIT_EQ(sim_pool_alloc(d, NULL, 256, 5, "late", "main.c:3", &o, NULL, &e), 0);
    UNIT_EQ(o->state, MEM_RESERVED);
    run(d, m, o->base, 64);
    UNIT_EQ(report_errors(d->report), 2);
    char *z = report_of(d);
    UNIT_HAS(z, "the operation that allocates late has not run");
    base_free(z);
    sim_pool_start(d, o);
    dev_fill(d, o->base, 0, 256, &e);
    run(d, m, o->base, 64);
    UNIT_EQ(report_errors(d->report), 2);
    struct mem_object *freed;
    UNIT_EQ(sim_pool_free(d, o->base, 5, "main.c:9", &freed, &e), 0);
    UNIT(freed == o && o->state == MEM_LIVE);
    sim_pool_end(d, o, "main.c:9");
    run(d, m, o->base, 64);
    UNIT_EQ(report_errors(d->report), 3); /* one for the free, whoever uses the memory */
    dev_delete(d);
}

/* ---- managed memory ---- */

struct seen {
    u32 n;
    struct dev_touch last;
};
static void see(void *self, const struct dev_touch *t)
{
    struct seen *s = self;
    s->n++;
    s->last = *t;
}

struct later {
    struct device *d;
    u32 token;
    u32 ended; /* atomic */
};
static void *end_later(void *self)
{
    struct later *l = self;
    usleep(20000);
    __atomic_store_n(&l->ended, 1, __ATOMIC_RELEASE);
    dev_managed_end(l->d, l->token);
    return NULL;
}

static void managed(void)
{
    struct dev_module *m;
    struct device *d = open_device(DEV_MANAGED_REPORT, &m);
    struct error e = { 0 };
    struct mem_object *x = dev_alloc(d, 40000, MEM_MANAGED, "x", NULL, &e),
                      *y = dev_alloc(d, 16, MEM_MANAGED, "y", NULL, &e);
    u64 page = page_size();
    UNIT(x && y && x->base / page != y->base / page && (x->base + x->size - 1) / page != y->base / page);
    memset(host(x->base), 0, 40000);
    struct dev_launch l = launch_of(m, &x->base, 64);
    struct seen s = { 0 };

    /* nothing in flight: nothing is seen; in flight: the first access to each page, and other objects are not concerned
     */
    u32 token = dev_managed_begin(d, &l, false, 1);
    UNIT(token);
    *(volatile u32 *)host(y->base) = 3;
    dev_managed_drain(d, see, &s);
    UNIT_EQ(s.n, 0);
    UNIT_EQ(*(volatile u32 *)host(x->base + 400), 0);
    dev_managed_drain(d, see, &s);
    UNIT(s.n == 1 && s.last.object == x && s.last.address == x->base + 400 && !s.last.write);
    *(volatile u32 *)host(x->base + 404) = 1; /* the same page */
    *(volatile u32 *)host(x->base + 3 * page) = 9;
    dev_managed_drain(d, see, &s);
    UNIT(s.n == 2 && s.last.address == x->base + 3 * page && s.last.write);
    u32 again = dev_managed_begin(d, &l, false, 1);
    *(u32 *)mem_view(x, x->base + 8) = 77; /* the engine is never stopped */
    dev_managed_end(d, token);
    UNIT_EQ(*(volatile u32 *)host(x->base + 8), 77);
    dev_managed_drain(d, see, &s);
    UNIT_EQ(s.n, 3);
    dev_managed_end(d, again);
    UNIT_EQ(*(volatile u32 *)host(x->base + 5 * page), 0);
    dev_managed_drain(d, see, &s);
    UNIT_EQ(s.n, 3);

    /* many launches over one object: the host's touch between two of them is seen, and they end in any order */
    enum { MANY = 3000 };
    static u32 tokens[MANY];
    s.n = 0;
    for (u32 k = 0; k < MANY; k++) {
        tokens[k] = dev_managed_begin(d, &l, false, 1);
        if (k == 1000 || k == 2000) UNIT_EQ(*(volatile u32 *)host(x->base + page), 0);
    }
    for (u32 k = 0; k < MANY; k++) dev_managed_end(d, tokens[(k * 7 + 3) % MANY]);
    dev_managed_drain(d, see, &s);
    UNIT_EQ(s.n, 2);

    /* memory that another object had before */
    for (u32 k = 0; k < 40; k++) {
        struct mem_object *o = dev_alloc(d, 400 << 20, MEM_MANAGED, "again", NULL, &e);
        if (!UNIT(o)) break;
        struct dev_launch lo = launch_of(m, &o->base, 64);
        s.n = 0;
        token = dev_managed_begin(d, &lo, false, 1);
        *(volatile u32 *)host(o->base + 4) = k;
        dev_managed_drain(d, see, &s);
        UNIT(s.n == 1 && s.last.object == o);
        dev_managed_end(d, token);
        UNIT(dev_free(d, o->base, NULL));
    }

    /* many pages: some are noted, all are read */
    struct mem_object *big = dev_alloc(d, 4 << 20, MEM_MANAGED, "big", NULL, &e);
    struct dev_launch lb = launch_of(m, &big->base, 64);
    token = dev_managed_begin(d, &lb, false, 1);
    u64 sum = 0;
    for (u64 at = 0; at < big->size; at += 512) sum += *(volatile u32 *)host(big->base + at); /* 1,024 pages of 4 KB */
    UNIT_EQ(sum, 0);
    s.n = 0;
    dev_managed_drain(d, see, &s);
    UNIT(s.n >= 1 && s.n <= 256);
    /* freed while it is in flight: the memory is the next one's */
    UNIT(dev_free(d, big->base, NULL));
    dev_managed_end(d, token);

    /* a kernel that polls may wait for the host */
    UNIT_EQ(dev_managed_begin(d, &l, true, 1), 0);
    /* pinned memory is watched where it is small; other kinds and policies are not concerned */
    struct mem_object *pinned = dev_alloc(d, 4096, MEM_PINNED, "p", NULL, &e),
                      *pool = dev_alloc(d, 4 << 20, MEM_PINNED, "q", NULL, &e);
    struct dev_launch lp = launch_of(m, &pinned->base, 64), lq = launch_of(m, &pool->base, 64);
    token = dev_managed_begin(d, &lp, false, 1);
    UNIT(token);
    *(volatile u32 *)host(pinned->base + 8) = 1;
    s.n = 0;
    dev_managed_drain(d, see, &s);
    UNIT_EQ(s.n, 1);
    dev_managed_end(d, token);
    UNIT_EQ(dev_managed_begin(d, &lp, true, 1), 0);
    UNIT_EQ(dev_managed_begin(d, &lq, false, 1), 0);
    dev_delete(d);

    d = open_device(DEV_MANAGED_WAIT, &m);
    x = dev_alloc(d, 64, MEM_MANAGED, "x", NULL, &e);
    struct dev_launch lw = launch_of(m, &x->base, 16);
    struct later later = { .d = d, .token = dev_managed_begin(d, &lw, false, 1) };
    UNIT(later.token);
    pthread_t t;
    UNIT(!pthread_create(&t, NULL, end_later, &later));
    *(volatile u32 *)host(x->base) = 5;
    UNIT(__atomic_load_n(&later.ended, __ATOMIC_ACQUIRE));
    pthread_join(t, NULL);
    s.n = 0;
    dev_managed_drain(d, see, &s);
    UNIT_EQ(s.n, 0);
    dev_delete(d);
    /* nobody has asked: the start of it */
    d = open_device(DEV_MANAGED_DEFAULT, &m);
    x = dev_alloc(d, 4 << 20, MEM_MANAGED, "x", NULL, &e);
    struct dev_launch ld = launch_of(m, &x->base, 16);
    token = dev_managed_begin(d, &ld, false, 1);
    *(volatile u32 *)host(x->base + (3 << 20)) = 5;
    dev_managed_drain(d, see, &s);
    UNIT_EQ(s.n, 0);
    *(volatile u32 *)host(x->base + 40) = 5;
    dev_managed_drain(d, see, &s);
    UNIT_EQ(s.n, 1);
    dev_managed_end(d, token);
    dev_delete(d);
    d = open_device(DEV_MANAGED_FREE, &m);
    x = dev_alloc(d, 64, MEM_MANAGED, "x", NULL, &e);
    struct dev_launch lf = launch_of(m, &x->base, 16);
    UNIT_EQ(dev_managed_begin(d, &lf, false, 1), 0);
    dev_delete(d);
}

/* A fault that is not ours goes to the handler that the program has set, also after ours. */
static sigjmp_buf back;
static void jump(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

static void chained(void)
{
    struct dev_module *m;
    struct error e = { 0 };
    struct device *d = open_device(DEV_MANAGED_REPORT, &m);
    struct mem_object *x = dev_alloc(d, 64, MEM_MANAGED, "x", NULL, &e);
    struct dev_launch l = launch_of(m, &x->base, 16);
    volatile char *none = mmap(NULL, page_size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    volatile u32 jumps = 0;
    signal(SIGSEGV, jump);
    for (u32 turn = 0; turn < 2; turn++) {
        u32 token = dev_managed_begin(d, &l, false, 1);
        if (!sigsetjmp(back, 1))
            *none = 1;
        else
            jumps++;
        *(volatile u32 *)host(x->base) = 5;
        struct seen s = { 0 };
        dev_managed_drain(d, see, &s);
        UNIT_EQ(s.n, 1);
        dev_managed_end(d, token);
        if (!turn) signal(SIGSEGV, jump);
    }
    UNIT_EQ(jumps, 2);
    signal(SIGSEGV, SIG_DFL);
    dev_delete(d);
}

/* ---- figures and leaks ---- */

static void usage_and_leaks(void)
{
    struct dev_module *m;
    struct device *d = open_device(DEV_MANAGED_FREE, &m);
    struct error e = { 0 };
    u64 before = dev_usage(d, MEM_KINDS).live;
    struct mem_object *a = dev_alloc(d, 1000, MEM_DEVICE, "a", "main.cu:12", &e);
    UNIT(dev_free(d, a->base, NULL));
    dev_leaks_host(d);
    dev_leaks_handles(d, "stream", NULL, 0);
    UNIT_EQ(report_notes(d->report), 0);
    for (u32 i = 0; i < 3; i++) dev_alloc(d, 500, MEM_DEVICE, "b", "main.cu:12", &e);
    dev_alloc(d, 100, MEM_PINNED, "c", NULL, &e);
    UNIT_EQ(dev_usage(d, MEM_DEVICE).live, 1500);
    UNIT_EQ(dev_usage(d, MEM_DEVICE).peak, 1500);
    UNIT_EQ(dev_usage(d, MEM_PINNED).peak, 100);
    UNIT_EQ(dev_usage(d, MEM_KINDS).live, before + 1600);
    static char own[64];
    struct mem_object *o;
    UNIT_EQ(dev_register(d, own, sizeof own, "own", "main.cu:20", &o, &e), 0);
    dev_leaks_host(d);
    dev_leaks_handles(d, "stream", NULL, 2);
    dev_leaks_handles(d, "graph", "cuGraphCreate at main.cu:30", 1);
    UNIT_EQ(report_notes(d->report), 5);
    UNIT_EQ(report_errors(d->report), 0);
    char *z = report_of(d);
    UNIT_HAS(z, "3 times device memory from main.cu:12, 1500 bytes together, was never freed; the first is b");
    UNIT_HAS(z, "c, 100 bytes of pinned memory, was never freed");
    UNIT_HAS(z, "own, 64 bytes of registered memory from main.cu:20, was never unregistered");
    UNIT_HAS(z, "2 streams were never destroyed");
    UNIT_HAS(z, "1 graph was never destroyed");
    base_free(z);
    dev_delete(d);
}

int main(void)
{
    registered();
    pitched();
    in_time();
    managed();
    chained();
    usage_and_leaks();
    return unit_done();
}
