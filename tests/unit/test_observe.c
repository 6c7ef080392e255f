/* Observers see every access and every synchronisation of a launch, and change nothing. */
#include "sim/observe.h"
#include "unit.h"

static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                           ".visible .entry k(.param .u64 p)\n{\n"
                           ".reg .u64 %rd<4>; .reg .u32 %r<8>; .reg .pred %q;\n.shared .align 4 .b8 s[256];\n"
                           "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x;\n"
                           "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;\n"
                           "ld.global.u32 %r2, [%rd3];\n"
                           "shl.b32 %r3, %r1, 2; mov.u32 %r4, s; add.u32 %r4, %r4, %r3;\n"
                           "st.shared.u32 [%r4], %r2;\n"
                           "bar.sync 0;\n"
                           "membar.gl;\n"
                           "shfl.sync.bfly.b32 %r5, %r2, 1, 31, -1;\n"
                           "setp.ge.u32 %q, %r1, 40;\n@%q exit;\n"
                           "atom.global.add.u32 %r6, [%rd1], 1;\n"
                           "st.global.u32 [%rd3], %r5;\nret;\n}\n";

struct seen {
    u32 reads, writes, atomics, lanes, shared, begins, ends, sync[8], exited;
};

static void on_access(void *self, const struct access *a)
{
    struct seen *s = self;
    if (site_is_load(a->site))
        s->reads++;
    else if (site_is_store(a->site))
        s->writes++;
    else
        s->atomics++;
    s->lanes += (u32)__builtin_popcount(a->ok);
    if (a->space[__builtin_ctz(a->mask)] == SP_SHARED) s->shared++;
    for (u32 l = 0; l < LANES; l++)
        if (a->ok >> l & 1) UNIT(a->ptr[l] != NULL);
}
static void on_sync(void *self, const struct sync_event *e)
{
    struct seen *s = self;
    s->sync[e->kind]++;
    if (e->kind == SYNC_EXIT) s->exited += (u32)__builtin_popcount(e->mask);
    if (e->kind == SYNC_FENCE) UNIT_EQ((e->id & 3), SCOPE_GPU);
}
static void on_begin(void *self, const struct launch *l)
{
    (void)l;
    ((struct seen *)self)->begins++;
}
static void on_end(void *self, const struct launch *l)
{
    (void)l;
    ((struct seen *)self)->ends++;
}

static void run(struct sim *sim, struct ptx_func *f, u64 address, struct report *rep, const struct observer *o)
{
    struct sim_launch in = { .kernel = f,
                             .grid = { 2, 1, 1 },
                             .block = { 64, 1, 1 },
                             .params = &address,
                             .checks = CHECK_ALL,
                             .report = rep,
                             .observers = o,
                             .seeded = true };
    struct sim_result r;
    struct error e = { 0 };
    UNIT(sim_run(sim, &in, &r, &e));
    UNIT_EQ(r.ctas, 2);
}

int main(void)
{
    struct error e = { 0 };
    struct mem *m = mem_new(&e);
    struct ptx_module *mod = ptx_parse("observe.ptx", (struct str){ text, sizeof text - 1 }, &e);
    UNIT(m && mod);
    if (!m || !mod) {
        error_print(stderr, &e);
        return unit_done();
    }
    struct mem_object *a = mem_alloc(m, 256, 0, MEM_DEVICE, "a", NULL, &e),
                      *b = mem_alloc(m, 256, 0, MEM_DEVICE, "b", NULL, &e);
    struct report *rep = report_new();
    struct sim *sim = sim_new(m, profile_default(), 1);
    u32 *pa = mem_view(a, a->base), *pb = mem_view(b, b->base);
    for (u32 k = 0; k < 64; k++) pa[k] = pb[k] = 100 + k;
    struct seen s = { 0 }, t = { 0 };
    const struct observer second = { .self = &t, .access = on_access };
    const struct observer first = {
        .self = &s, .begin = on_begin, .end = on_end, .access = on_access, .sync = on_sync, .next = &second
    };
    run(sim, ptx_kernel(mod, STR("k")), a->base, rep, &first);
    run(sim, ptx_kernel(mod, STR("k")), b->base, rep, NULL);
    UNIT(!memcmp(pa, pb, 256)); /* watched or not, the same bytes */
    UNIT_EQ(s.begins, 1);
    UNIT_EQ(s.ends, 1);
    UNIT_EQ(s.reads, 4);
    UNIT_EQ(s.writes, 8);
    UNIT_EQ(s.atomics, 4);
    UNIT_EQ(s.shared, 4);
    UNIT_EQ(s.lanes, 2 * (64 + 64 + 40 + 40));
    UNIT_EQ(s.sync[SYNC_CTA_BEGIN], 2);
    UNIT_EQ(s.sync[SYNC_CTA_END], 2);
    UNIT_EQ(s.sync[SYNC_BARRIER], 2);
    UNIT_EQ(s.sync[SYNC_BARRIER_ARRIVE], 4);
    UNIT_EQ(s.sync[SYNC_WARP], 4);
    UNIT_EQ(s.sync[SYNC_FENCE], 4);
    UNIT_EQ(s.exited, 128);
    UNIT_EQ(t.reads, s.reads);
    UNIT_EQ(t.lanes, s.lanes);
    UNIT_EQ(report_errors(rep), 0);
    sim_forget(mod);
    sim_delete(sim);
    ptx_free(mod);
    report_free(rep);
    mem_delete(m);
    return unit_done();
}
