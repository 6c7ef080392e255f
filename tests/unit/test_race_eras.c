/* Random programs of several launches, side by side and one after another with and without an order, against the naive
 * oracle of the race check: the bytes that either calls racy must be the same.
 *
 *     test_race_eras                 some hundred programs
 *     test_race_eras FIRST [COUNT [small]]   as a fuzzer: these seeds; prints the first programs on which they differ;
 *                                    small: of small programs, hundreds a second
 *
 * With one worker a program is run twice under one seed, once for each. With several it runs once, under both. */
#include "device/dev_parts.h"
#include "unit.h"
#include <stdlib.h>
#include "../fuzz/race_oracle.c"
#include "../fuzz/gen_race.c"

enum { LAUNCHES = 3 };
struct bed {    /* what is kept from program to program */
    bool small; /* the programs are */
    struct mem *mem;
    struct machine {
        struct sim *sim;
        struct race *race;
        struct mem_object *buffer[ORACLE_BUFFERS]; /* which no other race check knows */
    } one, many;                                   /* of one worker, of several */
    struct report *report;
    struct oracle *oracle;
    u8 ours[ORACLE_PLACES][ORACLE_BYTES]; /* racy, says the check */
    u8 volatiles[ORACLE_PLACES]
                [ORACLE_BYTES]; /* first bytes of elements whose volatile accesses race, says the check */
};

static void mark(struct bed *b, const struct touch *t, u32 byte, u8 (*racy)[ORACLE_BYTES])
{
    u64 at = t->at + byte;
    u32 k = t->space == SPACE_SHARED                 ? ORACLE_BUFFERS + oracle_cta(b->oracle, t->warp->cta)
            : at - b->oracle->base[0] < ORACLE_BYTES ? 0
                                                     : 1;
    racy[k][t->space == SPACE_SHARED ? at : at - b->oracle->base[k]] = 1;
}

static void on_race(void *self, const struct touch *t, u32 byte, bool weak)
{
    struct bed *b = self;
    (void)weak;
    mark(b, t, byte, b->ours);
}

static void on_volatile(void *self, const struct touch *t, u32 byte)
{
    struct bed *b = self;
    mark(b, t, byte, b->volatiles);
}

/* The order of operations: op points to the bits of the stamps that are before it. */
static bool before(void *self, u64 stamp, const void *op, bool waited)
{
    (void)self;
    (void)waited;
    return *(const u64 *)op >> stamp & 1;
}

static struct machine machine_new(struct bed *b, u32 workers)
{
    struct error e = { 0 };
    struct machine m = { sim_new(b->mem, card_default(), workers, &dev_parts), race_new(b->mem), { NULL, NULL } };
    for (u32 k = 0; k < ORACLE_BUFFERS; k++)
        m.buffer[k] = mem_alloc(b->mem, ORACLE_BYTES, 0, MEM_DEVICE, "buffer", NULL, &e);
    m.race->hook = on_race;
    m.race->hook_self = b;
    m.race->volatile_hook = on_volatile;
    m.race->era->vclocks.large = 1; /* these grids are small */
    m.race->eras_only = true;
    race_order(m.race, before, NULL);
    return m;
}

static void machine_free(const struct bed *b, struct machine *m)
{
    for (u32 k = 0; k < ORACLE_BUFFERS; k++) mem_free(b->mem, m->buffer[k]->base, NULL, NULL);
    race_delete(m->race);
    sim_delete(m->sim);
}

static bool bed_open(struct bed *b)
{
    struct error e = { 0 };
    *b = (struct bed){ .mem = mem_new(&e), .report = report_new(), .oracle = calloc(1, sizeof *b->oracle) };
    if (!b->mem || !b->oracle) return false;
    b->one = machine_new(b, 1);
    b->many = machine_new(b, 3);
    b->oracle->lock = (lock_t)LOCK_INIT;
    return true;
}

/* Which launches run side by side, and which are ordered. */
struct plan {
    u32 launches;
    bool waits[LAUNCHES]; /* all before it have ended when the launch begins */
    u64 after[LAUNCHES];  /* bits of the stamps that are before it; launch n has stamp n + 1 */
};

static struct plan plan_new(u64 seed)
{
    u64 rng = seed ^ 0x5851f42d4c957f2d;
    struct plan p = { .launches = 2 + (rand_next(&rng) >> 40) % 2 };
    u32 how = (rand_next(&rng) >> 40) % 3; /* all side by side; all one after another; as it comes */
    for (u32 n = 1; n < p.launches; n++) {
        p.waits[n] = how == 1 || (how == 2 && rand_next(&rng) >> 40 & 1);
        for (u32 k = 0; p.waits[n] && k < n; k++) /* what is before it is before, too */
            if (rand_next(&rng) >> 40 & 1) p.after[n] |= p.after[k] | 2u << k;
        if (!p.waits[n] && n > 1 && p.waits[n - 1] && rand_next(&rng) >> 40 & 1) p.after[n] = p.after[n - 1];
    }
    /* a launch that waits, and is after all others, begins an era: what was before it is compared by footprints
     * (test_dev_races) */
    for (u32 n = 1; n < p.launches; n++)
        for (u32 k = n + 1; k < p.launches && p.waits[n] && p.after[n] == (2u << n) - 2; k++) p.after[k] |= p.after[n];
    return p;
}

struct trial {
    struct bed *b;
    const struct program *p;
    struct plan plan;
    struct ptx_module *m;
    u64 seed;
};

/* Launch `later` begins, and is after all of launch `earlier`, which has ended. Both by their stamps. */
static void oracle_after(struct oracle *o, u32 later, u32 earlier)
{
    u32 n = o->grid * o->block, first = (later - 1) * n;
    for (u32 k = (earlier - 1) * n; k < earlier * n; k++) oracle_join(o, &o->t[first].now, &o->t[k].now);
    for (u32 t = first + 1; t < first + n; t++) oracle_join(o, &o->t[t].now, &o->t[first].now);
}

static bool end_all(struct launch **l, u32 *n)
{
    bool ok = true;
    for (u32 k = 0; k < *n; k++) {
        struct sim_result r = { 0 };
        struct error e = { 0 };
        ok &= sim_wait(l[k], &r, &e) && r.end == SIM_DONE;
        if (!ok) fprintf(stderr, "ended with %d %s\n", (int)r.end, e.text);
    }
    *n = 0;
    return ok;
}

static bool run(const struct trial *t, const struct machine *m, bool seeded, const struct observer *watch)
{
    struct bed *b = t->b;
    struct launch *l[LAUNCHES];
    u32 running = 0;
    bool ok = true;
    for (u32 k = 0; k < ORACLE_BUFFERS; k++) {
        memset(mem_view(m->buffer[k], m->buffer[k]->base), 0, ORACLE_BYTES);
        b->oracle->base[k] = m->buffer[k]->base;
    }
    u64 params[2] = { m->buffer[0]->base, m->buffer[1]->base };
    oracle_launch(b->oracle, t->plan.launches * t->p->grid, t->p->block);
    b->oracle->grid = t->p->grid;
    for (u32 n = 0; ok && n < t->plan.launches; n++) {
        struct error e = { 0 };
        struct sim_launch in = { .kernel = ptx_kernel(t->m, t->p->kernel[n % 2] ? STR("k1") : STR("k0")),
                                 .grid = { t->p->grid, 1, 1 },
                                 .block = { t->p->block, 1, 1 },
                                 .params = params,
                                 .seeded = seeded,
                                 .seed = t->seed + n,
                                 .order = seeded ? t->seed % 3 : 0,
                                 .budget = 10000000,
                                 .report = b->report,
                                 .observers = watch,
                                 .number = n + 1,
                                 .op = &t->plan.after[n] };
        if (t->plan.waits[n]) ok = end_all(l, &running);
        for (u32 k = 0; k < n; k++)
            if (t->plan.after[n] >> (k + 1) & 1) oracle_after(b->oracle, n + 1, k + 1);
        race_expect(m->race, &(struct race_operation){ .op = in.op, .stamp = n + 1, .shared = true });
        l[running] = sim_start(m->sim, &in, &e);
        ok &= l[running] != NULL;
        running += l[running] != NULL;
    }
    ok &= end_all(l, &running);
    if (!ok) fprintf(stderr, "seed %" PRIu64 " did not end well\n", t->seed);
    return ok;
}

/* Bytes on which they differ, and races of volatile accesses that the check has made up. */
static u32 differ(const struct bed *b, u32 *racy)
{
    u32 bad = 0;
    for (u32 p = 0; p < ORACLE_PLACES; p++)
        for (u32 k = 0; k < ORACLE_BYTES; k++) {
            *racy += b->oracle->racy[p][k];
            bad += b->oracle->racy[p][k] != b->ours[p][k];
            bad += b->volatiles[p][k] && !b->oracle->volatile_racy[p][k];
        }
    return bad;
}

/* The number of bytes on which they differ; 1 for a program that did not run. */
static u32 compare(struct bed *b, u64 seed, u32 *racy, struct text *ptx)
{
    struct program p = gen_program_sized(ptx, seed, b->small);
    struct error e = { 0 };
    struct trial t = { b, &p, plan_new(seed), ptx_parse("race.ptx", (struct str){ ptx->p, (u32)ptx->n }, &e), seed };
    if (!t.m) {
        error_print(stderr, &e);
        return 1;
    }
    bool many = seed % 4 == 3;
    u32 bad = 0;
    memset(b->ours, 0, sizeof b->ours);
    memset(b->oracle->racy, 0, sizeof b->oracle->racy);
    memset(b->volatiles, 0, sizeof b->volatiles);
    memset(b->oracle->volatile_racy, 0, sizeof b->oracle->volatile_racy);
    const struct observer *check = race_observer((many ? &b->many : &b->one)->race);
    struct observer oracle = {
        .self = b->oracle, .access = oracle_touch, .sync = oracle_sync, .copied = oracle_copied
    };
    struct observer both = oracle;
    both.next = check;
    race_forget((many ? &b->many : &b->one)->race);
    if (t.plan.launches * p.grid <= ORACLE_CTAS && t.plan.launches * p.grid * p.block <= ORACLE_THREADS) {
        bool ran = many ? run(&t, &b->many, false, &both)
                        : run(&t, &b->one, true, check) && run(&t, &b->one, true, &oracle);
        bad = ran ? differ(b, racy) : 1;
    }
    race_forget((many ? &b->many : &b->one)->race);
    sim_forget(t.m);
    ptx_free(t.m);
    return bad;
}

static void show(const struct bed *b, u64 seed, const struct text *ptx)
{
    struct plan p = plan_new(seed);
    u32 shown = 0;
    printf("seed %" PRIu64 "\n%s", seed, ptx->p);
    for (u32 n = 0; n < p.launches; n++)
        printf("launch %u: %s, after %" PRIx64 "\n", n + 1, p.waits[n] ? "waits" : "beside", p.after[n]);
    for (u32 k = 0; k < ORACLE_PLACES; k++)
        for (u32 j = 0; j < ORACLE_BYTES; j++)
            if (b->oracle->racy[k][j] != b->ours[k][j] && shown++ < 16)
                printf("place %u byte %u: oracle %u, check %u\n", k, j, b->oracle->racy[k][j], b->ours[k][j]);
}

/* The number of programs on which they differ, of `count` from `first` on. */
static u64 search(struct bed *b, u64 first, u64 count, bool small, u64 *clean, u64 *bytes)
{
    enum { SHOWN = 2, BATCH = 500 };
    u64 wrong = 0;
    b->small = small;
    for (u64 seed = first; seed < first + count; seed++) {
        struct text ptx = { 0 };
        u32 racy = 0, bad = compare(b, seed, &racy, &ptx);
        *bytes += racy;
        *clean += !racy;
        wrong += bad != 0;
        if (bad && wrong <= SHOWN) show(b, seed, &ptx);
        if (bad) printf("seed %" PRIu64 ": %u bytes differ\n", seed, bad);
        text_free(&ptx);
        if ((seed - first) % BATCH != BATCH - 1) continue;
        machine_free(b, &b->one); /* each remembers all kernels that it has seen */
        machine_free(b, &b->many);
        b->one = machine_new(b, 1);
        b->many = machine_new(b, 3);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    u64 first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    bool given = argc > 1, small = argc > 3 && !strcmp(argv[3], "small");
    struct bed b;
    u64 bytes = 0, clean = 0, wrong = 0;
    UNIT(bed_open(&b));
    if (given) {
        wrong = search(&b, first, count, small, &clean, &bytes);
        printf("%" PRIu64 " programs, %" PRIu64 " clean, %" PRIu64 " racy bytes, %" PRIu64 " wrong\n", count, clean,
               bytes, wrong);
    } else {
        wrong = search(&b, 1, 150, false, &clean, &bytes) + search(&b, 1, 850, true, &clean, &bytes);
    }
    UNIT_EQ(wrong, 0);
    UNIT((bytes > 0 && clean > 0) || given);
    return unit_done();
}
