/* Pools of stream-ordered allocation: room in the order of streams, thresholds and trims, limits of a pool and of the
 * card, addresses that rest, allocation nodes of graphs; random programs against a naive model; several threads. */
#include "device/dev_memory.h"
#include "mem/shadow.h"
#include "unit.h"
#include <stdlib.h>

#define HALF(n) ((u64)(n) << 24) /* halves of what a pool reserves at a time */
enum { S1 = 11, S2 = 12 };       /* streams */
static struct device *d;

static struct mem_object *take(struct dev_pool *p, u64 bytes, u64 stream)
{
    struct error e = { 0 };
    struct mem_object *o;
    if (sim_pool_alloc(d, p, bytes, stream, NULL, NULL, &o, NULL, &e)) fprintf(stderr, "%s\n", e.text);
    UNIT(o != NULL);
    return o;
}

static void give(struct mem_object *o, u64 stream)
{
    struct error e = { 0 };
    struct mem_object *same;
    UNIT_EQ(sim_pool_free(d, o->base, stream, NULL, &same, &e), 0);
    UNIT(same == o);
}

static struct dev_pool_usage usage(struct dev_pool *p)
{
    struct dev_pool_usage u;
    sim_pool_usage(p, &u);
    return u;
}

static void room(void)
{
    struct error e = { 0 };
    struct dev_pool *p;
    UNIT_EQ(sim_pool_new(d, 0, MEM_POOL, &p, &e), 0);
    struct mem_object *a = take(p, HALF(3), S1), *b;
    UNIT(a->state == MEM_RESERVED && a->kind == MEM_POOL && a->size == HALF(3));
    UNIT(usage(p).used == HALF(3) && usage(p).reserved == HALF(4));
    UNIT_EQ(sim_pools_reserved(d), HALF(4));
    sim_pool_start(d, a);
    give(a, S1);
    UNIT_EQ(usage(p).used, 0);
    /* the free has not run: its room is for the same stream only */
    b = take(p, HALF(3), S2);
    UNIT_EQ(usage(p).reserved, HALF(6));
    struct mem_object *c = take(p, HALF(2), S1);
    UNIT_EQ(usage(p).reserved, HALF(6));
    UNIT(c->base != a->base && b->base != a->base); /* addresses rest */
    sim_pool_end(d, a, NULL);
    UNIT(a->state == MEM_FREED);
    UNIT_EQ(usage(p).used, HALF(5));
    sim_pools_synchronised(d);
    UNIT_EQ(usage(p).reserved, HALF(6));
    sim_pool_start(d, b);
    give(b, S2);
    sim_pool_end(d, b, NULL);
    UNIT_EQ(sim_pool_threshold(p, HALF(4), &e), 0);
    sim_pools_synchronised(d);
    UNIT_EQ(usage(p).reserved, HALF(4));
    UNIT_EQ(sim_pool_trim(p, HALF(100), &e), 0);
    UNIT_EQ(usage(p).reserved, HALF(4));
    UNIT_EQ(sim_pool_trim(p, 0, &e), 0);
    UNIT(usage(p).reserved == HALF(2) && usage(p).used_high == HALF(5) && usage(p).reserved_high == HALF(6));
    sim_pool_usage_reset(p, true, true);
    UNIT(usage(p).used_high == HALF(2) && usage(p).reserved_high == HALF(2));
    /* a pool that is destroyed lives as long as its allocations */
    UNIT_EQ(sim_pool_delete(p, &e), 0);
    UNIT_EQ(sim_pools_reserved(d), HALF(2));
    sim_pool_start(d, c);
    give(c, S1);
    sim_pool_end(d, c, NULL);
    UNIT_EQ(sim_pools_reserved(d), 0);
}

/* A loop far ahead of the device needs the room of one turn. */
static void ahead(void)
{
    struct error e = { 0 };
    struct dev_pool *p;
    enum { TURNS = 200 };
    UNIT_EQ(sim_pool_new(d, HALF(16), MEM_POOL, &p, &e), 0);
    struct mem_object *o[TURNS];
    for (u32 k = 0; k < TURNS; k++) {
        o[k] = take(p, HALF(15), S1);
        give(o[k], S1);
    }
    for (u32 k = 0; k < TURNS; k++) { /* now the operations run */
        sim_pool_start(d, o[k]);
        sim_pool_end(d, o[k], NULL);
    }
    UNIT(usage(p).used == 0 && usage(p).reserved_high <= HALF(16));
    UNIT_EQ(sim_pool_delete(p, &e), 0);
}

static void limits(void)
{
    struct error e = { 0 };
    struct dev_pool *p, *q;
    struct mem_object *o, *a;
    bool wait;
    UNIT_EQ(sim_pool_new(d, 3000000, MEM_POOL, &p, &e), 0);
    a = take(p, 2000000, S1);
    UNIT_EQ(sim_pool_alloc(d, p, 1500000, S2, NULL, NULL, &o, &wait, &e), 2);
    UNIT(!o && !wait);
    UNIT_HAS(e.text, "the pool is full: 1500000 bytes asked, 2000384 in use, and its limit is 3000000");
    e = (struct error){ 0 };
    /* it would fit if the free in the other stream had run */
    sim_pool_start(d, a);
    give(a, S1);
    UNIT_EQ(sim_pool_alloc(d, p, 1500000, S2, NULL, NULL, &o, &wait, &e), 2);
    UNIT(wait);
    UNIT_EQ(usage(p).used, 0);
    sim_pool_end(d, a, NULL);
    UNIT_EQ(sim_pool_alloc(d, p, 1500000, S2, NULL, NULL, &o, &wait, &e), 0);
    UNIT(o && !wait);
    sim_pool_start(d, o);
    UNIT(dev_free(d, o->base, NULL)); /* cudaFree of memory of a pool */
    UNIT_EQ(usage(p).used, 0);
    e = (struct error){ 0 };
    UNIT_EQ(sim_pool_alloc(d, p, 0, S1, NULL, NULL, &o, &wait, &e), 1);
    UNIT_HAS(e.text, "there is nothing to allocate");
    e = (struct error){ 0 };
    UNIT_EQ(sim_pool_alloc(d, NULL, ~0ull, S1, NULL, NULL, &o, &wait, &e), 2);
    UNIT_HAS(e.text, "more than any card has");
    /* the card: pools and other memory share it */
    e = (struct error){ 0 };
    u64 all = d->card->memory;
    UNIT_EQ(sim_pool_alloc(d, NULL, all + 1, S1, NULL, NULL, &o, &wait, &e), 2);
    UNIT_HAS(e.text, "device memory exhausted");
#ifndef UNIT_SANITIZED /* the arena may be smaller than a card there */
    a = take(NULL, all / 2, S1);
    e = (struct error){ 0 };
    UNIT(!dev_alloc(d, all / 2 + HALF(16), MEM_DEVICE, NULL, NULL, &e));
    UNIT_HAS(e.text, "; pools hold ");
    e = (struct error){ 0 };
    UNIT(dev_alloc(d, all / 2 + HALF(16), MEM_PINNED, NULL, NULL, &e) != NULL); /* not on the card */
    struct mem_object *big = dev_alloc(d, all / 4, MEM_DEVICE, NULL, NULL, &e);
    UNIT(big != NULL);
    UNIT_EQ(sim_pool_alloc(d, NULL, all / 2, S1, NULL, NULL, &o, &wait, &e), 2);
    UNIT(dev_free(d, big->base, NULL));
    give(a, S1);
    sim_pool_start(d, a);
    sim_pool_end(d, a, NULL);
    sim_pools_synchronised(d);
#endif
    UNIT_EQ(sim_pools_reserved(d), usage(p).reserved);
    UNIT_EQ(sim_pool_delete(p, &e), 0);

    /* the default pool stays; the current one is what NULL means */
    e = (struct error){ 0 };
    UNIT_EQ(sim_pool_delete(sim_pool_default(d), &e), 1);
    UNIT_HAS(e.text, "cannot be destroyed");
    UNIT_EQ(sim_pool_new(d, 0, MEM_POOL, &q, &e), 0);
    UNIT_EQ(sim_pool_current(d, q, &e), 0);
    a = take(NULL, 100, S1);
    UNIT(usage(q).used == 512 && usage(sim_pool_default(d)).used == 0);
    UNIT_EQ(sim_pool_delete(q, &e), 0);
    o = take(NULL, 100, S1);
    UNIT_EQ(usage(sim_pool_default(d)).used, 512);
    sim_pool_start(d, a);
    sim_pool_start(d, o);
    UNIT(dev_free(d, a->base, NULL) && dev_free(d, o->base, NULL));
}

static void wrong_frees(void)
{
    struct error e = { 0 };
    struct mem_object *a = take(NULL, 100, S1), *o, *plain = dev_alloc(d, 64, MEM_DEVICE, "plain", NULL, &e);
    sim_pool_start(d, a);
    dev_describe(d, a->base, "a", NULL, 0, &e);
    u32 before = report_errors(d->report);
    UNIT_EQ(sim_pool_free(d, a->base + 8, S1, NULL, &o, &e), 1);
    UNIT_HAS(e.text, "is a+0x8, memory of a pool, and not the start of an allocation");
    e = (struct error){ 0 };
    UNIT_EQ(sim_pool_free(d, 4096, S1, NULL, &o, &e), 1);
    UNIT_HAS(e.text, "0x1000 belongs to no allocation of this device");
    e = (struct error){ 0 };
    UNIT_EQ(sim_pool_free(d, a->base, S1, "main.cu:5", &o, &e), 0);
    UNIT_EQ(sim_pool_free(d, a->base, S2, "main.cu:6", &o, &e), 1);
    UNIT_HAS(e.text, "a was freed before, at main.cu:5, and is freed again");
    UNIT(!dev_free(d, a->base, NULL));
    sim_pool_end(d, a, "main.cu:5");
    e = (struct error){ 0 };
    UNIT_EQ(sim_pool_free(d, a->base, S1, NULL, &o, &e), 1);
    UNIT_HAS(e.text, "a was freed before, at main.cu:5");
    UNIT_EQ(report_errors(d->report), before + 3);
    /* memory of cudaMalloc may be freed in a stream */
    e = (struct error){ 0 };
    UNIT_EQ(sim_pool_free(d, plain->base, S1, NULL, &o, &e), 0);
    UNIT(!dev_free(d, plain->base, NULL));
    sim_pool_end(d, plain, NULL);
    UNIT(plain->state == MEM_FREED && !plain->pool);
}

/* An allocation node has its address for ever, and new bytes each time. */
static void graphs(void)
{
    struct error e = { 0 };
    struct mem_object *o;
    UNIT_EQ(sim_pool_graph_new(d, NULL, 4096, "node", "main.cu:3", &o, &e), 0);
    u64 base = o->base;
    for (u32 turn = 0; turn < 3; turn++) {
        UNIT_EQ(o->state, turn ? MEM_FREED : MEM_RESERVED);
        UNIT(mem_find(d->mem, base) == o);
        UNIT(dev_range(d, base, 4096, &e) == o); /* operations may name it also between launches */
        sim_pool_start(d, o);
        UNIT(o->state == MEM_LIVE && o->base == base);
        UNIT(!shadow_defined(mem_shadow(d->mem), base, 8));
        UNIT(dev_fill(d, base, 7, 4096, &e));
        UNIT(shadow_defined(mem_shadow(d->mem), base, 8));
        sim_pool_graph_rest(d, o, "main.cu:4");
        UNIT(mem_reserve(d->mem, 4096, 0, MEM_POOL, NULL, NULL, &e)->base != base);
    }
    sim_pool_graph_delete(d, o);
    UNIT(!dev_range(d, base, 1, &e));
    UNIT_HAS(e.text, "node (4096 bytes) has been freed");
    /* deleted before it ever ran */
    e = (struct error){ 0 };
    UNIT_EQ(sim_pool_graph_new(d, NULL, 4096, "node", NULL, &o, &e), 0);
    sim_pool_graph_delete(d, o);
    UNIT_EQ(usage(sim_pool_default(d)).used, 0);
}

/* Random programs of two streams against a model that keeps the room of each. */
static void random_programs(void)
{
    struct error e = { 0 };
    struct dev_pool *p;
    u64 seed = 7;
    UNIT_EQ(sim_pool_new(d, HALF(64), MEM_POOL, &p, &e), 0);
    enum { MOST = 64 };
    struct {
        struct mem_object *o;
        u64 bytes, stream;
        bool freed;
    } live[MOST];
    u32 n = 0, refused = 0, wrong = 0;
    u64 used = 0, waiting[2] = { 0 };
    for (u32 turn = 0; turn < 20000; turn++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        u32 r = (u32)(seed >> 33), what = r % 3, s = r / 3 % 2;
        if (what == 0 && n < MOST) {
            u64 bytes = 1 + r / 6 % HALF(6), takes = (bytes + 511) & ~511ull;
            u64 credit = waiting[s] < takes ? waiting[s] : takes,
                total = used + waiting[0] + waiting[1] - credit + takes;
            struct mem_object *o;
            bool ok = !sim_pool_alloc(d, p, bytes, S1 + s, NULL, NULL, &o, NULL, &e);
            wrong += ok != (total <= HALF(64));
            if (ok) {
                used += takes;
                waiting[s] -= credit;
                live[n].o = o;
                live[n].bytes = takes;
                live[n++].freed = false;
                sim_pool_start(d, o);
            }
            refused += !ok;
        } else if (n) {
            u32 k = r / 6 % n;
            if (!live[k].freed) {
                give(live[k].o, S1 + s);
                live[k].freed = true;
                live[k].stream = s;
                used -= live[k].bytes;
                waiting[s] += live[k].bytes;
            } else {
                u64 *w = &waiting[live[k].stream];
                *w -= *w < live[k].bytes ? *w : live[k].bytes;
                sim_pool_end(d, live[k].o, NULL);
                live[k] = live[--n];
            }
        }
        if (turn % 1000 == 999) sim_pools_synchronised(d);
        struct dev_pool_usage u = usage(p);
        wrong += u.used != used || u.reserved > HALF(64) || u.reserved < used + waiting[0] + waiting[1];
    }
    UNIT_EQ(wrong, 0);
    UNIT(refused > 10);
    UNIT_EQ(sim_pool_delete(p, &e), 0);
}

/* A program that allocates for ever takes no more memory for it. */
static void for_ever(void)
{
    u32 most = 0, least = ~0u;
    for (u32 k = 0; k < 300000; k++) {
        struct mem_object *o = NULL;
        struct error e = { 0 };
        if (sim_pool_alloc(d, NULL, 1000, S1, NULL, k & 1 ? "main.cu:1" : "main.cu:2", &o, NULL, &e)) break;
        sim_pool_start(d, o);
        sim_pool_end(d, o, NULL);
        if (k >= 100000) {
            most = most > o->id ? most : o->id;
            least = least < o->id ? least : o->id;
        }
    }
    UNIT(most && most - least <= 1 << 16);
}

static void *thread(void *self)
{
    struct error e = { 0 };
    u64 stream = (u64)(uintptr_t)self;
    for (u32 k = 0; k < 2000; k++) {
        struct mem_object *o, *same;
        if (sim_pool_alloc(d, NULL, 1 + k % 5000, stream, NULL, NULL, &o, NULL, &e)) return "refused";
        sim_pool_start(d, o);
        if (sim_pool_free(d, o->base, stream, NULL, &same, &e)) return "not freed";
        sim_pool_end(d, o, NULL);
        if (k % 100 == 0) sim_pools_synchronised(d);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t t[4];
    for (u64 k = 0; k < 4; k++) UNIT(!pthread_create(&t[k], NULL, thread, (void *)(uintptr_t)(k + 1)));
    for (u32 k = 0; k < 4; k++) {
        void *trouble = "";
        pthread_join(t[k], &trouble);
        UNIT(!trouble);
    }
    UNIT_EQ(usage(sim_pool_default(d)).used, 0);
}

int main(void)
{
    struct error e = { 0 };
    d = dev_new(&(struct dev_options){ .checks = CHECK_MEMORY, .workers = 1, .card = card_find("l4") }, &e);
    if (!UNIT(d)) return unit_done();
    room();
    ahead();
    limits();
    wrong_frees();
    graphs();
    random_programs();
    for_ever();
    threads();
    dev_delete(d);
    return unit_done();
}
