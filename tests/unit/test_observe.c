/* Observers see every access and every synchronisation of a launch, and change nothing; those with fast paths can stand
 * beside each other. */
#include "device/dev_parts.h"
#include "race/racecheck.h"
#include "sim/lanes.h"
#include "sim/memory.h"
#include "sim/observe.h"
#include "unit.h"

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
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
    "st.global.u32 [%rd3], %r5;\nret;\n}\n"
    /* neighbours in shared memory without a barrier, so often that the loop is probed (wait.h); odd threads read */
    ".visible .entry r(.param .u64 p)\n{\n"
    ".reg .u64 %rd<4>; .reg .u32 %r<8>; .reg .pred %q<3>;\n.shared .align 4 .b8 s[512];\n"
    "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r7, 0;\n"
    "shl.b32 %r3, %r1, 2; mov.u32 %r4, s; add.u32 %r4, %r4, %r3;\n"
    "and.b32 %r2, %r1, 1; setp.eq.u32 %q1, %r2, 1;\n"
    "L: st.shared.u32 [%r4], %r1;\n"
    "@%q1 ld.shared.u32 %r5, [%r4+-4];\n"
    "add.u32 %r7, %r7, 1; setp.lt.u32 %q2, %r7, 400;\n@%q2 bra L;\n"
    "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;\n"
    "@%q1 st.global.u32 [%rd3], %r5;\nret;\n}\n";

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

/* ---- counters around instructions ---- */

enum { ROUNDS = 400 }; /* of the loop in kernel r */

struct counted {
    u32 loads, stores, atomics, lanes, additions;
};

static bool wants_accesses(const struct lowered *l, const struct lop *o)
{
    return o->flags & ISA_ACCESS && l->site[o->site].space != SP_PARAM;
}
static int count_access(void *self, char *R, const struct insn *i, struct warp *w, handler *beneath)
{
    struct counted *c = self;
    const struct site *s = &w->code->low->site[i->site];
    u32 lanes = active_lanes(w, R, i);
    int ev = beneath(R, i, w);
    if (ev || !lanes) return ev;
    if (site_is_load(s))
        c->loads++;
    else if (site_is_store(s))
        c->stores++;
    else
        c->atomics++;
    c->lanes += (u32)__builtin_popcount(lanes);
    return 0;
}
static bool wants_additions(const struct lowered *l, const struct lop *o)
{
    (void)l;
    return o->kind == K_LANE && o->shape == SHAPE_ADD;
}
static int count_addition(void *self, char *R, const struct insn *i, struct warp *w, handler *beneath)
{
    int ev = beneath(R, i, w);
    if (!ev) ((struct counted *)self)->additions += (u32)__builtin_popcount(active_lanes(w, R, i));
    return ev;
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

/* What the race check finds in kernel r, with these observers before it; how many accesses are checked changes with
 * them, what is found does not. */
static u64 races(struct mem *m, struct sim *sim, struct ptx_module *mod, struct mem_object *o, struct observer *before,
                 bool plain)
{
    struct race *race = race_new(m);
    struct report *rep = report_new();
    struct observer last;
    struct sim_launch in = { .kernel = ptx_kernel(mod, STR("r")),
                             .grid = { 2, 1, 1 },
                             .block = { 64, 1, 1 },
                             .params = &o->base,
                             .checks = CHECK_ALL,
                             .report = rep,
                             .plain = plain,
                             .seeded = true };
    struct sim_result r;
    struct error e = { 0 };
    last = *race_observer(race);
    in.observers = before ? before : &last;
    for (; before; before = before->next == &last ? NULL : (struct observer *)before->next)
        if (!before->next) before->next = &last;
    UNIT(sim_run(sim, &in, &r, &e));
    u64 n = report_errors(rep);
    race_delete(race);
    report_free(rep);
    return n;
}

/* A counter of accesses and one of additions around the race check: all three exact, in both versions of the code. */
static void test_around(struct mem *m, struct sim *sim, struct ptx_module *mod, struct mem_object *o)
{
    for (int plain = 0; plain < 2; plain++) {
        struct counted a = { 0 }, b = { 0 };
        struct observer add = { .self = &b, .around = count_addition, .wants = wants_additions },
                        access = { .self = &a, .around = count_access, .wants = wants_accesses, .next = &add };
        u64 alone = races(m, sim, mod, o, NULL, plain);
        UNIT(alone > 0);
        UNIT_EQ(races(m, sim, mod, o, &access, plain), alone);
        UNIT_EQ(a.stores, 4 * ROUNDS + 4); /* warps; to shared memory in each round, then to global memory */
        UNIT_EQ(a.loads, 4 * ROUNDS);
        UNIT_EQ(a.atomics, 0);
        UNIT_EQ(a.lanes, 2 * (ROUNDS * (64 + 32) + 32));
        UNIT_EQ(a.additions, 0);
        UNIT_EQ(b.additions, 2 * 64 * (1 + ROUNDS + 1));
        UNIT_EQ(races(m, sim, mod, o, NULL, plain), alone); /* the code of before, without counters */
        UNIT_EQ(a.stores, 4 * ROUNDS + 4);
    }
}

static handler *choose_watched(u32 watch, const struct site *s, const struct insn *i, u32 group, s32 stride)
{
    (void)watch;
    (void)s;
    (void)i;
    (void)group;
    (void)stride;
    return memory_watched;
}
static handler *choose_plain(u32 watch, const struct site *s, const struct insn *i, u32 group, s32 stride)
{
    (void)watch;
    return memory_handler(s, i, group, stride);
}

/* An observer with handlers of its own sees what they pass on; beside another one it sees every access. */
static void test_handlers(struct sim *sim, struct ptx_func *f, u64 address, struct report *rep)
{
    struct seen s = { 0 }, t = { 0 };
    struct observer second = { .self = &t, .access = on_access, .memory = choose_plain };
    struct observer first = { .self = &s, .watch = WATCH_RACE, .access = on_access, .memory = choose_watched };
    run(sim, f, address, rep, &first);
    UNIT_EQ(s.reads, 4);
    UNIT_EQ(s.writes, 8);
    first.next = &second;
    run(sim, f, address, rep, &first);
    UNIT_EQ(s.reads, 8);
    UNIT_EQ(t.reads, 4);
    UNIT_EQ(t.atomics, 4);
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
    struct sim *sim = sim_new(m, card_default(), 1, &dev_parts);
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
    test_handlers(sim, ptx_kernel(mod, STR("k")), a->base, rep);
    test_around(m, sim, mod, a);
    sim_forget(mod);
    sim_delete(sim);
    ptx_free(mod);
    report_free(rep);
    mem_delete(m);
    return unit_done();
}
