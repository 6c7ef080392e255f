/* The footprint of a launch against a record of every access: the bytes that it wrote and read, weakly or strongly.
 * Kernels of every shape, written here, and the random ones that the race check is held to.
 *
 *     test_footprint [FIRST COUNT]     random programs FIRST .. FIRST + COUNT - 1 */
#include "device/dev_parts.h"
#include "unit.h"
#include <stdlib.h>
#include "race/race.h"
#include "race/race_footprint.h"
#include "../fuzz/gen_race.c"

enum { BUFFERS = 3, BYTES = 4096 + 12 }; /* the last sector is a part of one */
enum { READ = 1, WRITE = 2, STRONGLY_READ = 4, STRONGLY_WRITTEN = 8 };
typedef u8 picture[BUFFERS][BYTES + 32]; /* what was done to each byte; some room behind the end, which stays empty */

static struct mem *mem;
static struct sim *sim[2]; /* of one worker, of three */
static struct race *race[2];
static struct report *report;
static struct mem_object *buffer[BUFFERS];
static picture ours, truth;
static u32 runs, begun, exact;

/* ---- the two pictures ---- */

static void mark(picture p, u64 at, u8 what)
{
    for (u32 k = 0; k < BUFFERS; k++)
        if (at - buffer[k]->base < sizeof p[k]) p[k][at - buffer[k]->base] |= what;
}

static void on_begin(void *self, bool is_exact, u32 era)
{
    (void)era;
    UNIT(self == &runs);
    begun++;
    exact += is_exact;
}

static void on_run(void *self, const struct footprint_run *r)
{
    UNIT(self == &runs && r->from < r->to && !(r->from % 32) && !(r->to % 32) && r->bytes && r->low &&
         r->op < r->low->nop);
    runs++;
    /* the instruction can do what is said of it */
    const struct lop *o = &r->low->op[r->op];
    UNIT(r->write ? !lop_is_load(o) : !lop_is_store(o));
    for (u64 at = r->from; at < r->to; at++)
        if (r->bytes >> at % 32 & 1)
            mark(ours, at, r->write ? r->strong ? STRONGLY_WRITTEN : WRITE : r->strong ? STRONGLY_READ : READ);
}
static const struct access_sink sink = { &runs, on_begin, on_run };

static void on_access(void *self, const struct access *a)
{
    const struct site *s = a->site;
    const struct lop *o = &a->warp->code->low->op[a->insn->op];
    (void)self;
    bool strong = o->flags & ISA_ACCESS && (site_is_atomic(s) || s->sem != SEM_WEAK) && s->scope >= SCOPE_GPU;
    for (u32 m = a->ok; m; m &= m - 1) {
        u32 l = (u32)__builtin_ctz(m);
        if (a->space[l] != SP_GLOBAL && a->space[l] != SP_GENERIC) continue;
        bool write = site_is_atomic(s) ? a->wrote >> l & 1 : site_is_store(s);
        for (u32 k = 0; k < a->bytes; k++)
            mark(truth, a->addr[l] + k, write ? strong ? STRONGLY_WRITTEN : WRITE : strong ? STRONGLY_READ : READ);
    }
}

/* What is left of the accesses to a byte when others say more. */
static u8 said(u8 b)
{
    if (b & WRITE) return WRITE;
    if (b & (READ | STRONGLY_WRITTEN)) b &= (u8)~STRONGLY_READ;
    return b;
}

static u32 differing(const char *name)
{
    u32 bad = 0;
    for (u32 k = 0; k < BUFFERS; k++)
        for (u32 i = 0; i < sizeof ours[k]; i++) {
            if (said(truth[k][i]) == ours[k][i]) continue;
            if (!bad++)
                fprintf(stderr, "%s: byte %u of buffer %u is %x, the footprint says %x\n", name, i, k,
                        said(truth[k][i]), ours[k][i]);
        }
    return bad;
}

/* ---- launches ---- */

struct shape {
    u32 grid, block;
    u64 seed, order;
    bool many; /* several workers */
};

static bool launch(struct ptx_func *kernel, const struct shape *s, bool with_sink)
{
    u64 params[BUFFERS];
    struct observer seen = { .access = on_access };
    struct sim_result r = { 0 };
    struct error e = { 0 };
    for (u32 k = 0; k < BUFFERS; k++) params[k] = buffer[k]->base;
    struct sim_launch in = { .kernel = kernel,
                             .grid = { s->grid, 1, 1 },
                             .block = { s->block, 1, 1 },
                             .params = params,
                             .seeded = !s->many,
                             .seed = s->seed,
                             .order = s->order,
                             .budget = 10000000,
                             .report = report,
                             .op = &sink,
                             .observers = with_sink ? race_observer(race[s->many]) : &seen };
    if (with_sink) race_expect(race[s->many], &(struct race_operation){ .op = &sink, .sink = &sink });
    bool ok = sim_run(sim[s->many], &in, &r, &e) && r.end == SIM_DONE;
    if (!ok) fprintf(stderr, "%s\n", e.text);
    return ok;
}

static void fill(void)
{
    for (u32 k = 0; k < BUFFERS; k++)
        for (u32 i = 0; i < BYTES / 4; i++) {
            u32 v = i * 7 % 64;
            memcpy((char *)mem_view(buffer[k], buffer[k]->base) + 4 * i, &v, 4);
        }
}

static u32 both(struct ptx_func *kernel, const char *name, const struct shape *s)
{
    memset(ours, 0, sizeof ours);
    memset(truth, 0, sizeof truth);
    fill();
    if (!launch(kernel, s, true)) return 1;
    fill();
    if (!launch(kernel, s, false)) return 1;
    return differing(name);
}

/* ---- kernels ---- */

#define HEAD                                                                                                   \
    "(.param .u64 a, .param .u64 b, .param .u64 c)\n{\n.reg .u64 %rd<12>; .reg .u32 %r<16>; .reg .u16 %h<4>; " \
    ".reg .f32 %f<8>; .reg .pred %p<4>; .shared .align 16 .b8 s[1024];\n"                                      \
    "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c];\n"                                \
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;\n"       \
    "mul.wide.u32 %rd4, %r4, 4; add.u64 %rd5, %rd1, %rd4; add.u64 %rd6, %rd2, %rd4;\n"
#define KERNEL(name, body) ".visible .entry " #name HEAD body "ret;\n}\n"

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".extern .func (.param .b64 r) malloc (.param .b64 n);\n.extern .func free (.param .b64 p);\n"
    ".global .align 4 .b8 table[256];\n" KERNEL(copy, "ld.global.u32 %r5, [%rd5]; st.global.u32 [%rd6], %r5;") KERNEL(
        input, "ld.global.nc.u32 %r5, [%rd5]; ld.global.u8 %r6, [%rd3+5]; add.u32 %r5, %r5, %r6;"
               "st.global.u32 [%rd6], %r5;")
        KERNEL(strided, "mul.wide.u32 %rd7, %r4, 12; add.u64 %rd7, %rd1, %rd7; ld.global.u32 %r5, [%rd7];"
                        "mul.wide.u32 %rd8, %r4, 8; add.u64 %rd8, %rd2, %rd8; st.global.u32 [%rd8+4], %r5;")
            KERNEL(bytes, "cvt.u64.u32 %rd7, %r4; add.u64 %rd8, %rd1, %rd7; ld.global.u8 %r5, [%rd8];"
                          "mul.wide.u32 %rd9, %r4, 3; add.u64 %rd9, %rd2, %rd9; st.global.u8 [%rd9+1], %r5;")
                KERNEL(halves, "mul.wide.u32 %rd7, %r4, 6; add.u64 %rd8, %rd1, %rd7; ld.global.u16 %h1, [%rd8];"
                               "add.u64 %rd9, %rd2, %rd7; st.global.u16 [%rd9+2], %h1;")
                    KERNEL(vectors, "mul.wide.u32 %rd7, %r4, 16; add.u64 %rd8, %rd1, %rd7; ld.global.v4.f32 "
                                    "{%f1,%f2,%f3,%f4}, [%rd8];"
                                    "add.u64 %rd9, %rd2, %rd7; st.global.v2.f32 [%rd9+8], {%f1,%f2};")
                        KERNEL(update, "ld.global.u32 %r5, [%rd5]; add.u32 %r5, %r5, 1; st.global.u32 [%rd5], %r5;"
                                       "bar.sync 0; ld.global.u32 %r6, [%rd5]; st.global.u32 [%rd6], %r6;")
                            KERNEL(partly, "setp.lt.u32 %p1, %r4, 37; @%p1 ld.global.u32 %r5, [%rd5+8]; @%p1 "
                                           "st.global.u32 [%rd6+4], %r5;")
                                KERNEL(histogram,
                                       "ld.global.u32 %r5, [%rd5]; and.b32 %r5, %r5, 63; mul.wide.u32 %rd7, %r5, 4;"
                                       "add.u64 %rd8, %rd2, %rd7; red.global.add.u32 [%rd8], 1;")
                                    KERNEL(
                                        counted,
                                        "red.global.add.u32 [%rd2], 1; bar.sync 0; setp.eq.u32 %p1, %r4, 0;"
                                        "@%p1 ld.global.u32 %r5, [%rd2]; @%p1 st.global.u32 [%rd3], %r5;") /* a plain
                                                                                                              read of an
                                                                                                              atomic */
    KERNEL(reset, "setp.eq.u32 %p1, %r1, 0; mul.wide.u32 %rd7, %r2, 4; add.u64 %rd8, %rd2, %rd7; mov.u32 %r7, 0;"
                  "@%p1 st.global.u32 [%rd8], %r7; bar.sync 0; red.global.add.u32 [%rd8], 1;")
        KERNEL(peek,
               "mul.wide.u32 %rd7, %r2, 4; add.u64 %rd8, %rd2, %rd7; ld.global.u32 %r5, [%rd8];" /* then an atomic */
               "bar.sync 0; red.global.add.u32 [%rd8], %r5;") KERNEL(narrow,
                                                                     "red.cta.global.add.u32 [%rd2], 1; mul.wide.u32 "
                                                                     "%rd7, %r2, 4; add.u64 %rd8, %rd2, %rd7;"
                                                                     "red.gpu.global.add.u32 [%rd8+64], 1;")
            KERNEL(fetch, "atom.global.add.u32 %r5, [%rd2], 1; st.global.u32 [%rd5], %r5; atom.global.cas.b32 %r6, "
                          "[%rd3+8], 99, %r5;"
                          "st.global.u32 [%rd6+64], %r6;")
                KERNEL(flags, "ld.volatile.global.u32 %r5, [%rd2]; st.volatile.global.u32 [%rd3], %r1;"
                              "ld.relaxed.gpu.global.u32 %r6, [%rd1]; st.relaxed.cta.global.u32 [%rd1+128], %r1;")
                    KERNEL(published, "st.global.u32 [%rd5], %r4; membar.gl; atom.global.inc.u32 %r5, [%rd2], 255; "
                                      "mul.wide.u32 %rd7, %r5, 4;"
                                      "membar.gl; bar.sync 0; ld.global.u32 %r6, [%rd1]; ld.global.u32 %r7, [%rd5];")
                        KERNEL(readers,
                               "ld.global.u32 %r5, [%rd1]; ld.global.u32 %r6, [%rd5]; bar.warp.sync -1; membar.gl;"
                               "ld.global.u32 %r7, [%rd1]; bar.arrive 1, 64; bar.sync 1, 64;")
                            KERNEL(shared_only, "mov.u32 %r5, s; shl.b32 %r6, %r1, 2; add.u32 %r5, %r5, %r6; "
                                                "st.shared.u32 [%r5], %r1; bar.sync 0;"
                                                "ld.shared.u32 %r7, [%r5];")
                                KERNEL(async_copy, "mov.u32 %r5, s; shl.b32 %r6, %r1, 4; and.b32 %r6, %r6, 1008; "
                                                   "add.u32 %r5, %r5, %r6;"
                                                   "mul.wide.u32 %rd7, %r1, 16; add.u64 %rd7, %rd1, %rd7; "
                                                   "cp.async.ca.shared.global [%r5], [%rd7], 16;"
                                                   "cp.async.wait_all; bar.sync 0;")
                                    KERNEL(any, "setp.lt.u32 %p1, %r1, 16; selp.b64 %rd7, %rd5, %rd6, %p1; ld.u32 "
                                                "%r5, [%rd7]; st.u32 [%rd7+2048], %r5;")
                                        KERNEL(through,
                                               "ld.global.u64 %rd7, [%rd3]; and.b64 %rd7, %rd7, 0; add.u64 %rd7, "
                                               "%rd7, %rd5; ld.global.u32 %r5, [%rd7];")
                                            KERNEL(
                                                heap,
                                                "{ .param .b64 n; st.param.b64 [n], 64; .param .b64 r; call (r), "
                                                "malloc, (n); ld.param.b64 %rd7, [r]; }"
                                                "st.u32 [%rd7+4], %r1; ld.u32 %r5, [%rd7+4]; st.global.u32 [%rd5], %r5;"
                                                "{ .param .b64 p; st.param.b64 [p], %rd7; call free, (p); }")
                                                KERNEL(heap_kept, "{ .param .b64 n; st.param.b64 [n], 64; .param .b64 "
                                                                  "r; call (r), malloc, (n); ld.param.b64 %rd7, [r]; }"
                                                                  "st.u32 [%rd7+4], %r1; st.global.u32 [%rd5], %r1;")
                                                    KERNEL(over,
                                                           "mov.u32 %r5, 0;\nL1: ld.global.u32 %r6, [%rd5]; add.u32 "
                                                           "%r6, %r6, 1; st.global.u32 [%rd6], %r6; bar.sync 0;"
                                                           "ld.global.u32 %r7, [%rd6]; st.global.u32 [%rd5], %r7; "
                                                           "bar.sync 0; add.u32 %r5, %r5, 1;"
                                                           "setp.lt.u32 %p1, %r5, 5; @%p1 bra L1;")
                                                        KERNEL(
                                                            racing,
                                                            "ld.global.u32 %r5, [%rd5+4]; st.global.u32 [%rd5], %r5; "
                                                            "ld.global.u8 %r6, [%rd2+3]; st.global.u32 [%rd2], %r6;")
                                                            KERNEL(nothing, "");

static struct ptx_module *parsed(void)
{
    struct error e = { 0 };
    struct ptx_module *m = ptx_parse("footprint.ptx", (struct str){ text, sizeof text - 1 }, &e);
    if (!m) error_print(stderr, &e);
    CHECK(m);
    return m;
}

static void written_here(void)
{
    static const char *const names[] = { "copy",       "input",  "strided",   "bytes",     "halves",    "vectors",
                                         "update",     "partly", "histogram", "counted",   "reset",     "peek",
                                         "narrow",     "fetch",  "flags",     "published", "readers",   "shared_only",
                                         "async_copy", "any",    "through",   "heap",      "heap_kept", "over",
                                         "racing",     "nothing" };
    struct ptx_module *module[2] = { parsed(), parsed() }; /* a function belongs to one machine */
    u32 exact_before = exact, begun_before = begun;
    for (u32 n = 0; n < COUNT_OF(names); n++)
        for (u32 k = 0; k < 12; k++) {
            static const u32 grids[] = { 1, 2, 3, 4 };
            struct shape s = { grids[k % 4], k < 4 ? 64 : k < 8 ? 32 : 40, k, k % 3, .many = k % 4 == 3 };
            if (s.block == 40 && !strcmp(names[n], "readers")) continue; /* its barrier counts two warps */
            struct ptx_func *f = ptx_kernel(module[s.many], (struct str){ names[n], (u32)strlen(names[n]) });
            UNIT_EQ(both(f, names[n], &s), 0);
        }
    UNIT(exact > exact_before && exact - exact_before < begun - begun_before); /* both kinds of kernels */
    for (u32 k = 0; k < 2; k++) {
        sim_forget(module[k]);
        ptx_free(module[k]);
    }
}

/* Runs of sectors that are used alike are told as one. */
static void told_in_runs(void)
{
    struct ptx_module *m = parsed();
    struct shape s = { 8, 64, 1, 0, false };
    runs = 0;
    UNIT_EQ(both(ptx_kernel(m, STR("copy")), "copy", &s), 0);
    UNIT_EQ(runs, 2);
    runs = 0;
    UNIT_EQ(both(ptx_kernel(m, STR("nothing")), "nothing", &s), 0);
    UNIT_EQ(runs, 0);
    sim_forget(m);
    ptx_free(m);
}

/* ---- large objects ---- */

enum { LARGE_BYTES = 8 << 20, SPANS = 8 };
static struct {
    u64 from, to;
    bool write;
} span[SPANS];
static u32 spans;

static void on_span(void *self, const struct footprint_run *r)
{
    UNIT(self == &spans && r->bytes == ~0u && !r->strong);
    if (spans < SPANS) span[spans].from = r->from, span[spans].to = r->to, span[spans].write = r->write;
    spans++;
}
static void on_first(void *self, bool is_exact, u32 era)
{
    (void)era;
    UNIT(self == &spans && !is_exact);
}

/* From a to b, 4 bytes a thread: the footprint is those two ranges. */
static void copied(struct ptx_func *copy, u32 ctas, u64 a, u64 b)
{
    static const struct access_sink tell = { &spans, on_first, on_span };
    u64 params[BUFFERS] = { a, b, buffer[2]->base }, bytes = (u64)ctas * 64 * 4;
    struct sim_result r = { 0 };
    struct error e = { 0 };
    struct sim_launch in = { .kernel = copy,
                             .grid = { ctas, 1, 1 },
                             .block = { 64, 1, 1 },
                             .params = params,
                             .report = report,
                             .op = &tell,
                             .observers = race_observer(race[0]) };
    race_expect(race[0], &(struct race_operation){ .op = &tell, .sink = &tell });
    spans = 0;
    UNIT(sim_run(sim[0], &in, &r, &e) && r.end == SIM_DONE);
    UNIT_EQ(spans, 2);
    u32 w = span[1].write;
    UNIT(span[w].write && span[w].from == b && span[w].to == b + bytes);
    UNIT(!span[!w].write && span[!w].from == a && span[!w].to == a + bytes);
}

static bool pages_unknown; /* the system does not say which pages have memory */

/* How many pages of the object's cells have memory. */
static u32 pages_of_cells(const struct mem_object *o)
{
    static u8 used[LARGE_BYTES];
    const struct tracked *t = &race[0]->tracked[o->tracked - 1];
    u32 n = 0;
    UNIT(o->tracked && t->o == o);
    pages_unknown |= !pages_used(t->cells, t->bytes, used);
    for (u64 k = 0; k < t->bytes / page_size(); k++) n += used[k];
    return n;
}

/* A small launch looks at few cells of a large object, and its footprint is right wherever it was; pages of cells that
 * launches leave alone are given back. */
static void large_objects(void)
{
    struct error e = { 0 };
    struct ptx_module *m = parsed();
    struct ptx_func *copy = ptx_kernel(m, STR("copy"));
    struct mem_object *o = mem_alloc(mem, LARGE_BYTES, 0, MEM_DEVICE, "large", NULL, &e);
    u64 half = LARGE_BYTES / 2, page = page_size() / sizeof(struct cell) * 32; /* of which a page has the cells */
    for (u64 at = 0; at + 256 <= half; at += page * 37 + 32) copied(copy, 1, o->base + at, o->base + half + at);
    copied(copy, 1, o->base + half - 256, o->base + LARGE_BYTES - 256);
    u32 few = pages_of_cells(o);
    copied(copy, (u32)(half / 256), o->base, o->base + half);
    u32 all = pages_of_cells(o);
    UNIT(pages_unknown || (few && few < all / 4 && all >= LARGE_BYTES / page - 16));
    for (u32 k = 0; k < 3; k++) copied(copy, 1, o->base + 64, o->base + half);
    UNIT(pages_of_cells(o) == all || pages_unknown); /* not at once: the next launch may be large again */
    for (u32 k = 0; k < 5; k++) copied(copy, 1, o->base + 64, o->base + half);
    UNIT(pages_of_cells(o) < 16 || pages_unknown);
    for (u32 k = 0; k < 6; k++) copied(copy, (u32)(half / 256), o->base, o->base + half);
    UNIT(pages_of_cells(o) == all || pages_unknown);
    if (pages_unknown) unit_skip("pages given back: the system does not say which have memory (swap is in use)");
    mem_free(mem, o->base, NULL, NULL);
    sim_forget(m);
    ptx_free(m);
}

/* ---- random programs ---- */

static u32 random_program(u64 seed)
{
    struct text t = { 0 };
    struct error e = { 0 };
    struct program p = gen_program(&t, seed);
    struct ptx_module *m = ptx_parse("race.ptx", (struct str){ t.p, (u32)t.n }, &e);
    u32 bad = 0;
    char name[40];
    UNIT(m != NULL);
    for (u32 n = 0; m && n < p.launches; n++) {
        struct shape s = { p.grid, p.block, seed + n, seed % 3, false };
        snprintf(name, sizeof name, "program %" PRIu64, seed);
        bad += both(ptx_kernel(m, p.kernel[n] ? STR("k1") : STR("k0")), name, &s);
    }
    if (m) sim_forget(m);
    if (m) ptx_free(m);
    text_free(&t);
    return bad;
}

static void machines_new(void)
{
    for (u32 k = 0; k < 2; k++) {
        sim[k] = sim_new(mem, card_default(), k ? 3 : 1, &dev_parts);
        race[k] = race_new(mem);
    }
}

static void machines_free(void)
{
    for (u32 k = 0; k < 2; k++) {
        race_delete(race[k]);
        sim_delete(sim[k]);
    }
}

int main(int argc, char **argv)
{
    u64 first = argc > 2 ? strtoull(argv[1], NULL, 0) : 1, n = argc > 2 ? strtoull(argv[2], NULL, 0) : 300;
    struct error e = { 0 };
    mem = mem_new(&e);
    report = report_new();
    for (u32 k = 0; k < BUFFERS; k++) buffer[k] = mem_alloc(mem, BYTES, 0, MEM_DEVICE, "buffer", NULL, &e);
    machines_new();
    written_here();
    told_in_runs();
    large_objects();
    for (u64 i = first; i < first + n; i++) {
        UNIT_EQ(random_program(i), 0);
        if (i % 200) continue; /* the machines remember all kernels */
        machines_free();
        machines_new();
    }
    machines_free();
    report_free(report);
    mem_delete(mem);
    return unit_done();
}
