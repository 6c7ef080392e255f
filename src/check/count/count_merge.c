/* Counters of several workers become one: sums, extremes, and sets. */
#include "count/counting.h"

static void conflict_add(struct conflict *to, const struct conflict *from)
{
    bool earlier = from->cta < to->cta || (from->cta == to->cta && from->warp < to->warp);
    if (from->ways > to->ways || (from->ways && from->ways == to->ways && earlier)) *to = *from;
}

#define COUNTER_ADD(field, key, text) to->field += from->field;

void space_counts_add(struct space_counts *to, const struct space_counts *from)
{
#define SPACE_COUNTER COUNTER_ADD
#include "count/counter_rows.h"
}

void bulk_add(struct bulk *to, const struct bulk *from)
{
#define BULK_COUNTER COUNTER_ADD
#include "count/counter_rows.h"
}

void access_counts_add(struct access_counts *to, const struct access_counts *from)
{
    for (u32 s = 0; s < COUNT_SPACES; s++) space_counts_add(&to->in[s], &from->in[s]);
#define ACCESS_COUNTER COUNTER_ADD
#include "count/counter_rows.h"
    if (from->strided) {
        to->stride_min = to->strided ? MIN_OF(to->stride_min, from->stride_min) : from->stride_min;
        to->stride_max = to->strided ? MAX_OF(to->stride_max, from->stride_max) : from->stride_max;
        to->strided += from->strided;
    }
    conflict_add(&to->worst, &from->worst);
    bulk_add(&to->bulk, &from->bulk);
}

static void block_add(struct block_counts *to, const struct block_counts *from)
{
#define BLOCK_COUNTER COUNTER_ADD
#include "count/counter_rows.h"
}

void barrier_counts_add(struct barrier_counts *to, const struct barrier_counts *from)
{
#define BARRIER_COUNTER COUNTER_ADD
#include "count/counter_rows.h"
}

static void func_add(struct arena *mem, struct func_counts *to, const struct func_counts *from)
{
    const struct lowered *l = from->low;
    for (u32 b = 0; b < l->nblock; b++) block_add(&to->block[b], &from->block[b]);
    for (u32 s = 0; s < l->nsite; s++) access_counts_add(&to->access[s], &from->access[s]);
    if (from->barrier && !to->barrier) to->barrier = NEW_ARRAY(mem, struct barrier_counts, l->nop);
    for (u32 k = 0; from->barrier && k < l->nop; k++) barrier_counts_add(&to->barrier[k], &from->barrier[k]);
    if (from->products && !to->products) to->products = NEW_ARRAY(mem, struct products, l->nop);
    for (u32 k = 0; from->products && k < l->nop; k++) {
        if (from->products[k].operations) to->products[k].type = from->products[k].type;
        to->products[k].operations += from->products[k].operations;
    }
    if (from->on && !to->on) to->on = NEW_ARRAY(mem, u64, l->nop);
    for (u32 k = 0; from->on && k < l->nop; k++) to->on[k] += from->on[k];
}

static void take(struct worker_counts *first, struct worker_counts *other)
{
    for (struct func_counts *f = other->func; f; f = f->next) {
        struct func_counts *to = first->func;
        while (to && to->low != f->low) to = to->next;
        if (!to) {
            to = NEW(&first->mem, struct func_counts);
            to->low = f->low;
            to->block = NEW_ARRAY(&first->mem, struct block_counts, f->low->nblock + 1);
            to->access = NEW_ARRAY(&first->mem, struct access_counts, f->low->nsite + 1);
            to->next = first->func;
            first->func = to;
        }
        func_add(&first->mem, to, f);
    }
    touched_join(&first->touched, &other->touched);
    first->idle += other->idle;
}

void counting_merge(struct counting *c)
{
    for (u32 k = 0; k < c->workers; k++)
        for (struct func_counts *f = c->worker[k].func; f; f = f->next)
            for (u32 s = 0; s < f->low->nsite; s++) count_settle(&f->access[s]);
    for (u32 k = 1; k < c->workers; k++) take(&c->worker[0], &c->worker[k]);
}
