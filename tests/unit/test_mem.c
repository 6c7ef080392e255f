/* Unit tests of mem: addresses, red zones, quarantine and reuse, two views of host memory, readers without locks. */
#include "mem/mem.h"
#include "unit.h"
#include <stdlib.h>
#include <sys/resource.h>

static u8 *at(u64 addr) { return (u8 *)(uintptr_t)addr; }

static void basics(void)
{
    struct error e = { 0 };
    struct mem *m = mem_new(&e);
    if (!UNIT(m)) return;
    u32 g = mem_generation(m);
    struct mem_object *x = mem_alloc(m, 1000, 0, MEM_DEVICE, "x", "main.c:3", &e),
                      *y = mem_alloc(m, 1, 0, MEM_DEVICE, NULL, NULL, &e);
    UNIT(x && y && x->id == 1 && y->id == 2);
    UNIT(mem_generation(m) != g);
    UNIT(x->base % 256 == 0 && y->base % 256 == 0);
    UNIT_EQ_STR(x->name, "x");
    UNIT_EQ_STR(y->name, "buffer 1");
    UNIT_EQ_STR(x->alloc_site, "main.c:3");
    memset(mem_view(x, x->base), 7, x->size);
    UNIT_EQ(((u8 *)mem_view(x, x->base))[999], 7);
    UNIT_EQ(mem_address(m, (u64)(uintptr_t)mem_view(x, x->base + 3)), x->base + 3);
    UNIT(!pages_usable(x->base, 1)); /* the host faults there */
    UNIT(mem_find(m, x->base) == x && mem_find(m, x->base + 1000) == x);
    UNIT(!mem_find(m, x->base + 1001) && !mem_find(m, x->base - 1) && !mem_find(m, 0) && !mem_find(m, ~0ull));
    UNIT(y->base - (x->base + x->size) >= 256);
    UNIT(mem_near(m, x->base - 8) == x && mem_near(m, x->base + 1010) == x && mem_near(m, y->base - 1) == y);
    UNIT(!mem_near(m, 16));
    UNIT_EQ(mem_bytes_live(m), 1001);
    mem_describe(m, y, "flag", "u8[1]", 1);
    UNIT_EQ_STR(y->name, "flag");
    UNIT_EQ_STR(y->type, "u8[1]");
    UNIT(mem_by_id(m, 1) == x && !mem_by_id(m, 0) && !mem_by_id(m, 3));

    struct mem_object *o;
    UNIT_EQ(mem_free(m, x->base + 8, NULL, &o), MEM_FREE_BAD);
    UNIT(o == x);
    UNIT_EQ(mem_free(m, 4096, NULL, &o), MEM_FREE_BAD);
    UNIT(!o);
    UNIT_EQ(mem_free(m, x->base, "main.c:9", &o), MEM_FREE_OK);
    UNIT_EQ(mem_free(m, x->base, NULL, &o), MEM_FREE_TWICE);
    UNIT(o == x && x->state == MEM_FREED);
    UNIT_EQ_STR(x->free_site, "main.c:9");
    UNIT(mem_find(m, x->base + 4) == x);
    UNIT_EQ(mem_bytes_live(m), 1);
    UNIT(mem_alloc(m, 1000, 0, MEM_DEVICE, NULL, NULL, &e)->base != x->base);

    struct mem_object *page = mem_alloc(m, 5000, 1 << 16, MEM_CONST, "c", NULL, &e),
                      *none = mem_alloc(m, 0, 0, MEM_HEAP, NULL, NULL, &e);
    UNIT(page && page->base % (1 << 16) == 0);
    UNIT(none && none->size == 0 && mem_find(m, none->base) == none);
    UNIT(mem_shared_window(m) % (MEM_WINDOW_CTA * MEM_WINDOW_CTAS) == 0);
    u64 l = mem_local_window(m), s = mem_shared_window(m);
    UNIT(l >= s + MEM_WINDOW_CTA * MEM_WINDOW_CTAS || s >= l + MEM_LOCAL_BYTES);
    UNIT(!mem_find(m, l) && !mem_find(m, s));

    UNIT(!mem_alloc(m, 1ull << 60, 0, MEM_DEVICE, NULL, NULL, &e) && e.code == ERR_MEMORY);
    e = (struct error){ 0 };
    UNIT(!mem_alloc(m, ~0ull, 0, MEM_PINNED, NULL, NULL, &e) && e.code == ERR_MEMORY);
    e = (struct error){ 0 };
    base_alloc_fail_at(1);
    UNIT(!mem_alloc(m, 10, 0, MEM_DEVICE, NULL, NULL, &e) && e.code == ERR_MEMORY);
    base_alloc_fail_at(0);
    mem_delete(m);
}

static void two_views(void)
{
    struct error e = { 0 };
    struct mem *m = mem_new(&e);
    for (int k = 0; k < 2; k++) {
        enum mem_kind kind = k ? MEM_MANAGED : MEM_PINNED;
        struct mem_object *a = mem_alloc(m, 100, 0, kind, NULL, NULL, &e),
                          *b = mem_alloc(m, 3 << 20, 0, kind, NULL, NULL, &e);
        if (!UNIT(a && b && a->engine)) continue;
        at(a->base)[99] = 3;
        UNIT_EQ(*(u8 *)mem_view(a, a->base + 99), 3);
        memset(mem_view(b, b->base), 0x5a, b->size);
        UNIT_EQ(at(b->base)[(3 << 20) - 1], 0x5a);
        UNIT(mem_find(m, b->base + 77) == b);
        mem_zero(m, b);
        bool zero = true;
        for (u64 i = 0; i < b->size; i++) zero &= !at(b->base)[i];
        UNIT(zero);
        memset(mem_view(b, b->base), 0x5a, b->size);
        UNIT_EQ(mem_free(m, b->base, NULL, NULL), MEM_FREE_OK);
        UNIT_EQ(at(b->base)[1 << 20], 0);
    }
    mem_delete(m);
}

/* Addresses are the same in every arena that gets the same base, and come back only after a rest. */
static void repeat_and_reuse(void)
{
    u64 first[50];
    struct error e = { 0 };
    for (int round = 0; round < 2; round++) {
        struct mem *m = mem_new(&e);
        u64 seed = 3, window = mem_shared_window(m);
        bool same = true;
        for (int i = 0; i < 50; i++) {
            u64 base = mem_alloc(m, rand_next(&seed) % 100000, 0, MEM_DEVICE, NULL, NULL, &e)->base - window;
            same &= !round || first[i] == base;
            first[i] = base;
        }
        UNIT(same);
        mem_delete(m);
    }
    struct mem *m = mem_new(&e);
    u64 one = 0;
    int back = -1;
    for (int i = 0; i < 4000; i++) {
        struct mem_object *o = mem_alloc(m, 64 << 20, 0, MEM_DEVICE, NULL, NULL, &e);
        if (!o) break;
        if (i && o->base == one && back < 0) back = i;
        one = one ? one : o->base;
        mem_free(m, o->base, NULL, NULL);
    }
    UNIT(back >= 16);
    UNIT_EQ(mem_bytes_live(m), 0);
    mem_delete(m);
}

static void many_small(void)
{
    enum { N = 100000 };
    struct error e = { 0 };
    struct mem *m = mem_new(&e);
    u64 *base = calloc(N, sizeof *base), t0 = time_ns();
    for (u32 i = 0; i < N; i++) base[i] = mem_alloc(m, 1 + i % 500, 0, MEM_DEVICE, NULL, NULL, &e)->base;
    bool found = true, apart = true;
    for (u32 i = 0; i < N; i++) {
        struct mem_object *o = mem_find(m, base[i] + i % 500 / 2);
        found &= o && o->id == i + 1;
        apart &= !i || base[i] >= base[i - 1] + 256;
    }
    UNIT(found);
    UNIT(apart);
    u64 each = (time_ns() - t0) / N;
    UNIT(each < 20000);
    for (u32 i = 0; i < N; i += 2) mem_free(m, base[i], NULL, NULL);
    UNIT_EQ(mem_find(m, base[2])->state, MEM_FREED);
    UNIT_EQ(mem_find(m, base[3])->state, MEM_LIVE);
    free(base);
    mem_delete(m);
}

struct crowd {
    struct mem *m;
    struct mem_object *fixed;
    int failures;
}; /* shared by the threads below */

static void *churn(void *arg)
{
    struct crowd *c = arg;
    struct error e = { 0 };
    for (u32 i = 0; i < 3000; i++) {
        struct mem_object *o = mem_alloc(c->m, 1 + i * 37 % 70000, 0, i % 5 ? MEM_DEVICE : MEM_PINNED, NULL, "churn",
                                         &e);
        if (!o || mem_find(c->m, o->base) != o) __atomic_fetch_add(&c->failures, 1, __ATOMIC_RELAXED);
        if (i % 7 && o) mem_free(c->m, o->base, "churn", NULL);
    }
    return NULL;
}

static void *look(void *arg)
{
    struct crowd *c = arg;
    u64 seed = 9;
    for (u32 i = 0; i < 100000; i++) {
        if (mem_find(c->m, c->fixed->base + 5) != c->fixed) __atomic_fetch_add(&c->failures, 1, __ATOMIC_RELAXED);
        struct mem_object *o = mem_find(c->m, c->fixed->base + rand_next(&seed) % (8 << 20));
        if (o && __atomic_load_n(&o->state, __ATOMIC_ACQUIRE) == MEM_FREED &&
            !__atomic_load_n(&o->free_site, __ATOMIC_ACQUIRE))
            __atomic_fetch_add(&c->failures, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void threads(void)
{
    struct error e = { 0 };
    struct crowd c = { mem_new(&e), NULL, 0 };
    c.fixed = mem_alloc(c.m, 100, 0, MEM_DEVICE, "fixed", NULL, &e);
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, i & 1 ? look : churn, &c);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    UNIT_EQ(c.failures, 0);
    mem_delete(c.m);
}

/* With little address space the arena shrinks, still works, and refuses what does not fit. */
static void limited(void)
{
#ifndef UNIT_SANITIZED
    struct rlimit old, small = { 1 << 30, 1 << 30 };
    getrlimit(RLIMIT_AS, &old);
    small.rlim_max = old.rlim_max;
    setrlimit(RLIMIT_AS, &small);
    struct error e = { 0 };
    struct mem *m = mem_new(&e);
    if (UNIT(m)) {
        struct mem_object *a = mem_alloc(m, 40 << 20, 0, MEM_DEVICE, NULL, NULL, &e),
                          *p = mem_alloc(m, 1 << 20, 0, MEM_PINNED, NULL, NULL, &e);
        UNIT(a && p);
        UNIT(!mem_alloc(m, 1 << 30, 0, MEM_DEVICE, NULL, NULL, &e) ||
             getenv("EMULATED"));            /* qemu knows no such limit */
        for (int i = 0; i < 100 && a; i++) { /* the zone is used up and must be used again */
            mem_free(m, a->base, NULL, NULL);
            a = mem_alloc(m, (40 << 20) - i * 4096, 0, MEM_DEVICE, NULL, NULL, &e);
        }
        UNIT(a);
        mem_delete(m);
    }
    setrlimit(RLIMIT_AS, &old);
#endif
}

static void several(void)
{
    struct error e = { 0 };
    struct mem *a = mem_new(&e), *b = mem_new(&e);
    UNIT(a && b);
    struct mem_object *x = mem_alloc(a, 10, 0, MEM_DEVICE, NULL, NULL, &e),
                      *y = mem_alloc(b, 10, 0, MEM_DEVICE, NULL, NULL, &e);
    UNIT(x->base != y->base && !mem_find(a, y->base) && !mem_find(b, x->base));
    *(u8 *)mem_view(x, x->base) = *(u8 *)mem_view(y, y->base) = 1;
    mem_delete(a);
    mem_delete(b);
}

int main(void)
{
    basics();
    two_views();
    repeat_and_reuse();
    many_small();
    threads();
    several();
    limited();
    return unit_done();
}
