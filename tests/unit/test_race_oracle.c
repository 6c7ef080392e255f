/* The race check against a naive oracle, on random kernels: the bytes that either calls racy must be the same. Without arguments
 * some hundred kernels; as a fuzzer: test_race_oracle FIRST COUNT, which prints the first kernels on which they differ. */
#include "unit.h"
#include <stdlib.h>
#include "../fuzz/race_oracle.c"
#include "../fuzz/gen_race.c"

static struct oracle oracle;
static u8 ours[ORACLE_PLACES][ORACLE_BYTES];

static void on_race(void *self, const struct touch *t, u32 byte)
{
    u64 at = t->at + byte;
    (void)self;
    ours[t->space == SPACE_SHARED ? t->warp->cta->linear + 1 : 0][t->space == SPACE_SHARED ? at : at - oracle.base] = 1;
}

struct bed { struct mem *mem; struct sim *sim; struct race *race; struct report *report; struct mem_object *buffer; };

static bool bed_open(struct bed *b)
{
    struct error e = { 0 };
    *b = (struct bed){ .mem = mem_new(&e), .report = report_new() };
    if (!b->mem) return false;
    b->sim = sim_new(b->mem, profile_default(), 1);
    b->race = race_new(b->mem);
    b->race->hook = on_race;
    b->buffer = mem_alloc(b->mem, ORACLE_BYTES, 0, MEM_DEVICE, "buffer", NULL, &e);
    return b->buffer != NULL;
}

/* One kernel, once under the check and once under the oracle; the number of bytes on which they differ. */
static u32 compare(struct bed *b, u64 seed, u32 *racy, struct text *ptx)
{
    static const u32 blocks[] = { 32, 64, 64, 96, 40, 72 };
    u64 r = seed * 77;
    u32 block = blocks[rand_next(&r) % 6], grid = 1 + (u32)rand_next(&r) % ORACLE_CTAS, launches = 1 + (u32)rand_next(&r) % 2;
    gen_race(ptx, seed, block);
    struct error e = { 0 };
    struct ptx_module *m = ptx_parse("race.ptx", (struct str){ ptx->p, (u32)ptx->n }, &e);
    if (!m) { error_print(stderr, &e); return 1; }
    memset(ours, 0, sizeof ours);
    memset(oracle.racy, 0, sizeof oracle.racy);
    oracle.base = b->buffer->base; oracle.block = block;
    struct observer watch = { .self = &oracle, .access = oracle_touch, .sync = oracle_sync };
    for (u32 pass = 0; pass < 2; pass++) {
        memset(mem_view(b->buffer, b->buffer->base), 0, ORACLE_BYTES);
        for (u32 n = 0; n < launches; n++) {
            oracle_launch(&oracle);
            struct sim_result res;
            struct sim_launch in = { .kernel = ptx_kernel(m, STR("k")), .grid = { grid, 1, 1 }, .block = { block, 1, 1 }, .params = &b->buffer->base, .seeded = true, .seed = seed + n,
                                     .budget = 1000000, .report = b->report, .observers = pass ? &watch : race_observer(b->race) };
            if (!sim_run(b->sim, &in, &res, &e) || res.end != SIM_DONE) { fprintf(stderr, "seed %" PRIu64 " did not end well: %d %s\n", seed, res.end, e.text); return 1; }
        }
    }
    u32 bad = 0;
    *racy = 0;
    for (u32 p = 0; p < ORACLE_PLACES; p++) for (u32 k = 0; k < ORACLE_BYTES; k++) { *racy += oracle.racy[p][k]; bad += oracle.racy[p][k] != ours[p][k]; }
    sim_forget(m);
    ptx_free(m);
    return bad;
}

static void show(u64 seed, const struct text *ptx)
{
    printf("seed %" PRIu64 "\n%s", seed, ptx->p);
    for (u32 p = 0; p < ORACLE_PLACES; p++) for (u32 k = 0; k < ORACLE_BYTES; k++)
        if (oracle.racy[p][k] != ours[p][k]) printf("place %u byte %u: oracle %u, check %u\n", p, k, oracle.racy[p][k], ours[p][k]);
}

int main(int argc, char **argv)
{
    u64 first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : argc > 1 ? 1 : 400, wrong = 0, clean = 0, bytes = 0;
    struct bed b;
    UNIT(bed_open(&b));
    for (u64 seed = first; seed < first + count && wrong < 20; seed++) {
        struct text ptx = { 0 };
        u32 racy = 0, bad = compare(&b, seed, &racy, &ptx);
        clean += !racy; bytes += racy;
        if (bad) { wrong++; if (wrong <= 3 && argc > 1) show(seed, &ptx); else printf("seed %" PRIu64 ": %u bytes differ\n", seed, bad); }
        text_free(&ptx);
    }
    if (argc > 1) printf("%" PRIu64 " kernels, %" PRIu64 " clean, %" PRIu64 " racy bytes, %" PRIu64 " kernels wrong\n", count, clean, bytes, wrong);
    UNIT_EQ(wrong, 0);
    UNIT(bytes > 0 || argc > 1); UNIT(clean > 0 || argc > 1);
    return unit_done();
}
