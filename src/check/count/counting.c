/* The observer that counts: blocks, barriers, threads that leave, and where to put the rest. */
#include "count/counting.h"

u32 block_insns(const struct lowered *l, u32 b)
{
    const struct ptx_insn *last = NULL;
    u32 n = 0;
    for (u32 k = l->block[b].first; k < l->block[b].end; k++) {
        const struct lop *o = &l->op[k];
        if (o->dead || !o->src || o->src == last) continue;
        last = o->src;
        n++;
    }
    return n;
}

struct func_counts *counting_func(struct counting *c, const struct warp *w, struct lowered *low)
{
    struct worker_counts *k = counting_worker(c, w->cta);
    struct func_counts *f = k->func;
    if (likely(f && f->low == low)) return f;
    while (f && f->low != low) f = f->next;
    if (f) return f;
    f = NEW(&k->mem, struct func_counts);
    f->low = low;
    f->of = w->cta->worker;
    f->worker = k;
    f->block = NEW_ARRAY(&k->mem, struct block_counts, low->nblock + 1);
    f->access = NEW_ARRAY(&k->mem, struct access_counts, low->nsite + 1);
    f->insns = NEW_ARRAY(&k->mem, u32, low->nblock + 1);
    for (u32 b = 0; b < low->nblock; b++) f->insns[b] = block_insns(low, b);
    f->next = k->func;
    return k->func = f;
}

static void saw_block(void *self, struct warp *w, u32 b, u32 taken)
{
    struct func_counts *f = counting_here(self, w);
    struct block_counts *k = &f->block[b];
    u32 lanes = w->mask;
    w->count.since += f->insns[b];
    k->times++;
    k->lanes += likely(lanes == ALL_LANES) ? LANES : (u32)__builtin_popcount(lanes);
    if (!taken || taken == lanes) return;
    k->divergent++;
    k->jumped += (u32)__builtin_popcount(taken);
    k->followed += (u32)__builtin_popcount(lanes & ~taken);
}

static void cta_begins(const struct cta *c)
{
    for (u32 n = 0; n < c->nwarps; n++) {
        struct warp *w = c->warp[n];
        w->count.since = 0;
        w->count.did = 0;
        w->count.func = NULL;
        w->count.bar = NONE;
    }
}

/* The phase of a barrier is complete: how far its warps have come since the last one. It belongs to the instruction at
 * which the first of them arrived. */
static void barrier_passed(struct counting *c, const struct cta *cta, u32 bar)
{
    const struct warp *first = NULL;
    u64 sum = 0, most = 0;
    u32 warps = 0;
    for (u32 n = 0; n < cta->nwarps; n++) {
        struct warp *w = cta->warp[n];
        if (w->count.bar != bar) continue;
        u64 did = w->count.since;
        if (!first) first = w;
        warps++;
        sum += did;
        most = MAX_OF(most, did);
        w->count.since = 0;
        w->count.bar = NONE;
    }
    if (!first) return;
    struct func_counts *f = counting_func(c, first, (struct lowered *)first->count.bar_low);
    if (!f->barrier) f->barrier = NEW_ARRAY(&counting_worker(c, cta)->mem, struct barrier_counts, f->low->nop);
    struct barrier_counts *b = &f->barrier[first->count.bar_op];
    b->phases++;
    b->warps += warps;
    b->slowest += most;
    b->waiting += most * warps - sum;
}

static void saw_sync(void *self, const struct sync_event *e)
{
    struct counting *c = self;
    struct warp *w = (struct warp *)e->warp;
    switch (e->kind) {
    case SYNC_CTA_BEGIN: cta_begins(e->cta); break;
    case SYNC_BARRIER_ARRIVE:
        w->count.bar = e->id;
        w->count.bar_op = e->op;
        w->count.bar_low = w->code->low;
        break;
    case SYNC_BARRIER: barrier_passed(c, e->cta, e->id); break;
    case SYNC_EXIT: counting_worker(c, e->cta)->idle += (u32)__builtin_popcount(e->mask & ~w->count.did); break;
    default: break;
    }
}

static void begin(void *self, const struct launch *l)
{
    struct counting *c = self;
    c->workers = l->nworkers;
    c->worker = base_need(sizeof *c->worker * l->nworkers);
}

static void end(void *self, const struct launch *l)
{
    struct counting *c = self;
    counting_merge(c);
    counts_take(c->into, c, l);
    for (u32 k = 0; k < c->workers; k++) {
        touched_free(&c->worker[k].touched);
        arena_free(&c->worker[k].mem);
    }
    base_free(c->worker);
    c->worker = NULL;
    c->workers = 0;
}

struct counting *counting_new(struct counts *into, const struct count_shape *shape)
{
    struct counting *c = base_need(sizeof *c);
    c->into = into;
    c->shape = *shape;
    c->observer = (struct observer){ .self = c,
                                     .around = count_around,
                                     .wants = count_wants,
                                     .begin = begin,
                                     .end = end,
                                     .sync = saw_sync,
                                     .block = saw_block,
                                     .flight = count_flight,
                                     .texel = count_texel };
    return c;
}

const struct observer *counting_observer(struct counting *c, const struct observer *next)
{
    c->observer.next = next;
    return &c->observer;
}

void counting_free(struct counting *c) { base_free(c); }
