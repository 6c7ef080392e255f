/* Several devices in one process: two software GPUs of different cards, each with its own memory; copies between
 * them; a pointer of the wrong one is refused with the name of its device. */
#include "device/dev_memory.h"
#include "mem/shadow.h"
#include "unit.h"
#include <stdlib.h>

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry add(.param .u64 x, .param .f64 f, .param .u64 n)\n{\n.reg .u64 %rd<3>; .reg .u32 %r<4>;\n"
    "ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;\n"
    "ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, 1; st.global.u32 [%rd1], %r2;\nret;\n}\n";

static struct device *open_device(const char *card, struct dev_module **m)
{
    struct error e = { 0 };
    struct device *d = dev_new(&(struct dev_options){ .checks = CHECK_ALL, .workers = 1, .card = card_find(card) }, &e);
    struct dev_part part = { "devices.ptx", { text, sizeof text - 1 } };
    *m = d ? dev_load(d, &part, 1, &e) : NULL;
    if (!UNIT(d && *m)) fprintf(stderr, "%s: %s\n", card, e.text);
    return d;
}

static struct dev_launch launch_of(struct dev_module *m, const void *params)
{
    return (struct dev_launch){ .kernel = ptx_kernel(m->ptx, (struct str){ "add", 3 }),
                                .grid = { 1, 1, 1 },
                                .block = { 64, 1, 1 },
                                .params = params };
}

static void run(struct device *d, struct dev_module *m, u64 x)
{
    u64 params[3] = { x };
    struct dev_launch l = launch_of(m, params);
    struct sim_result r;
    struct error e = { 0 };
    UNIT(dev_pointers_own(d, &l, &e));
    UNIT_EQ(dev_launch(d, &l, &r, &e), DEV_RAN);
}

static void copy(struct device *d, struct dev_copy c)
{
    struct dev_copy_plan p;
    struct error e = { 0 };
    if (!UNIT_EQ(dev_copy_plan(d, &c, &p, &e), 0)) fprintf(stderr, "%s\n", e.text);
    dev_copy_run(&p);
}

static void two(void)
{
    struct dev_module *ma, *mb;
    struct error e = { 0 };
    struct device *a = open_device("h200", &ma), *b = open_device("l4", &mb);
    if (!ma || !mb) return;
    UNIT(a->number == 0 && b->number == 1);
    struct mem_object *xa = dev_alloc(a, 1024, MEM_DEVICE, "xa", NULL, &e),
                      *xb = dev_alloc(b, 1024, MEM_DEVICE, "xb", NULL, &e);
    UNIT(xa && xb && xa->base != xb->base);
    UNIT(!mem_find(a->mem, xb->base) && !mem_find(b->mem, xa->base));
    u32 ones[256];
    for (u32 i = 0; i < 256; i++) ones[i] = i;
    UNIT(dev_write(a, xa->base, ones, 256, &e)); /* the rest stays undefined */
    run(a, ma, xa->base);

    /* a to b, with what is undefined */
    copy(a, (struct dev_copy){ { .device = b, .address = xb->base }, { .address = xa->base }, 1024, 1, 1 });
    u32 *vb = mem_view(xb, xb->base);
    UNIT(vb[0] == 1 && vb[63] == 64);
    UNIT(shadow_defined(mem_shadow(b->mem), xb->base, 8) && !shadow_defined(mem_shadow(b->mem), xb->base + 256, 1));
    run(b, mb, xb->base);
    UNIT(vb[63] == 65);
    UNIT_EQ(report_errors(a->report) + report_errors(b->report), 0);
    /* back, with a pitch */
    copy(b, (struct dev_copy){
                { .device = a, .address = xa->base, .pitch = 32 }, { .address = xb->base, .pitch = 64 }, 16, 4, 1 });
    UNIT_EQ(((u32 *)mem_view(xa, xa->base))[8], 18);

    /* the wrong one */
    struct dev_copy_plan p;
    u8 host[16];
    struct dev_copy c = { { .address = xb->base + 16 }, { .host = host }, 16, 1, 1 };
    UNIT_EQ(dev_copy_plan(a, &c, &p, &e), 1);
    UNIT_HAS(e.text, "is xb+0x10, device memory of device 1 (NVIDIA L4), and not of device 0 (NVIDIA H200 SXM)");
    e = (struct error){ 0 };
    u64 params[3] = { xb->base, xb->base, xa->base };
    struct dev_launch l = launch_of(ma, params);
    UNIT(!dev_pointers_own(a, &l, &e));
    UNIT_HAS(e.text,
             "argument 0 is a pointer to xb+0x0, device memory of device 1 (NVIDIA L4); the kernel runs on device 0");
    params[0] = xa->base; /* the second is a floating-point number, the third its own */
    e = (struct error){ 0 };
    UNIT(dev_pointers_own(a, &l, &e));
    UNIT(!dev_write(b, xa->base, host, 4, &e));
    UNIT_HAS(e.text, "is xa+0x0, device memory of device 0");
    e = (struct error){ 0 };
    struct mem_object *o;
    UNIT_EQ(sim_pool_free(a, xb->base, 1, NULL, &o, &e), 1);
    UNIT_HAS(e.text, "of device 1");
    e = (struct error){ 0 };
    UNIT(!dev_free(b, xa->base, NULL));
    UNIT_EQ(xa->state, MEM_LIVE);
    struct dev_pool *pool;
    UNIT_EQ(sim_pool_new(b, 0, MEM_POOL, &pool, &e), 0);
    UNIT_EQ(sim_pool_alloc(a, pool, 100, 1, NULL, NULL, &o, NULL, &e), 1);
    UNIT_HAS(e.text, "the pool belongs to device 1, and the stream to device 0");
    e = (struct error){ 0 };
    UNIT_EQ(sim_pool_current(a, pool, &e), 1);
    e = (struct error){ 0 };

    /* registered with both; pinned memory of one is known to the other's copies */
    static u32 own[64];
    UNIT_EQ(dev_register(a, own, sizeof own, "own", NULL, &o, &e), 0);
    UNIT_EQ(dev_register(b, own, sizeof own, "own", NULL, &o, &e), 0);
    run(a, ma, (u64)(uintptr_t)own);
    run(b, mb, (u64)(uintptr_t)own);
    UNIT_EQ(own[63], 2);
    struct mem_object *pin = dev_alloc(b, 64, MEM_PINNED, "pin", NULL, &e);
    struct dev_copy d = { { .address = xa->base }, { .host = (void *)(uintptr_t)pin->base }, 65, 1, 1 };
    UNIT_EQ(dev_copy_plan(a, &d, &p, &e), 1);
    UNIT_HAS(e.text, "the source does not fit: 65 bytes at pin+0x0, and pin has 64");
    e = (struct error){ 0 };
    d.width = 64;
    UNIT_EQ(dev_copy_plan(a, &d, &p, &e), 0);
    UNIT(p.from.object == pin && p.from.device == b && p.to.device == a);

    /* memory that is nobody's */
    int local;
    char where[300];
    dev_address_text(a, (u64)(uintptr_t)&local, where, sizeof where);
    UNIT_HAS(where, "memory of the host that the device cannot reach");
    dev_address_text(a, 64, where, sizeof where);
    UNIT_HAS(where, "no allocation");
    u64 gone = xb->base;
    dev_delete(b);
    UNIT(!dev_write(a, gone, host, 4, &e));
    UNIT_HAS(e.text, "belongs to no allocation of this device");
    struct device *third = open_device("a100", &mb);
    UNIT_EQ(third->number, 1);
    dev_delete(third);
    dev_delete(a);
}

/* As many as the address space has room for; each works, and the error is a sentence. */
static void many(void)
{
    enum { MOST = 16 };
    struct device *d[MOST];
    struct dev_module *m;
    u32 n = 0;
    for (; n < MOST; n++) {
        struct error e = { 0 };
        d[n] = open_device("h200", &m);
        if (!d[n]) break;
        struct mem_object *x = dev_alloc(d[n], 256, MEM_DEVICE, "x", NULL, &e);
        UNIT(dev_fill(d[n], x->base, 0, 256, &e));
        run(d[n], m, x->base);
        UNIT_EQ(((u32 *)mem_view(x, x->base))[5], 1);
        UNIT_EQ(d[n]->number, n);
    }
    while (n) dev_delete(d[--n]);
}

/* Devices come and go while others look for the owner of an address. */
static void *look(void *self)
{
    struct device *d = self;
    for (u32 k = 0; k < 2000; k++) {
        struct dev_address a;
        dev_address(d, 0x123456789000 + k * 4096ull, &a);
    }
    return NULL;
}

static void come_and_go(void)
{
    struct dev_module *m;
    struct error e = { 0 };
    struct device *d = open_device("h200", &m);
    pthread_t t;
    UNIT(!pthread_create(&t, NULL, look, d));
    for (u32 k = 0; k < 20; k++) {
        struct device *x = dev_new(&(struct dev_options){ .workers = 1 }, &e);
        if (!UNIT(x)) break;
        dev_delete(x);
    }
    pthread_join(t, NULL);
    dev_delete(d);
}

int main(void)
{
    two();
    many();
    come_and_go();
    return unit_done();
}
