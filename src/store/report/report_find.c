/* Entries by what they have in common, so that a report of thousands is settled without holding each against each.
 *
 * Chains are a hash table of numbers: those that were added under equal keys are in one chain, the one added last in
 * front. A chain may hold others, too, so whoever walks along it still asks what it is looking for. */
#include "report/entry.h"

void chains_open(struct chains *c, u32 most)
{
    u32 slots = 16;
    while (slots < most) slots *= 2;
    *c = (struct chains){ .first = base_need(sizeof *c->first * slots),
                          .next = base_need(sizeof *c->next * MAX_OF(most, 1u)),
                          .mask = slots - 1 };
    memset(c->first, 0xff, sizeof *c->first * slots); /* NO_NUMBER */
}

void chains_close(struct chains *c)
{
    base_free(c->first);
    base_free(c->next);
    *c = (struct chains){ 0 };
}

void chains_add(struct chains *c, u64 key, u32 number)
{
    u32 *first = &c->first[key & c->mask];
    c->next[number] = *first;
    *first = number;
}

u32 chains_first(const struct chains *c, u64 key) { return c->first[key & c->mask]; }

/* ---- by kind and place ---- */

static u64 key_at(enum finding_kind kind, const struct place *p) { return hash_place((u64)kind + 1, p); }

static void add_under(struct place_index *x, u64 key, struct entry *e)
{
    CHECK(x->n < x->most);
    x->entry[x->n] = e;
    chains_add(&x->by, key, x->n++);
}

void place_index_add(struct place_index *x, struct entry *e)
{
    u64 first = key_at(e->f.kind, e->f.place), second = key_at(e->f.kind, e->f.other);
    add_under(x, first, e);
    if (second != first) add_under(x, second, e);
}

void place_index_open(struct place_index *x, const struct report *r, bool (*wanted)(const struct finding *f))
{
    *x = (struct place_index){ .most = 2 * r->entries };
    x->entry = base_need(sizeof(struct entry *) * MAX_OF(x->most, 1u));
    chains_open(&x->by, x->most);
    for (u32 b = 0; b < BUCKETS; b++)
        for (struct entry *e = r->bucket[b]; e; e = e->next)
            if (!wanted || wanted(&e->f)) place_index_add(x, e);
}

void place_index_close(struct place_index *x)
{
    base_free(x->entry);
    chains_close(&x->by);
    *x = (struct place_index){ 0 };
}

/* The next entry of the chain that is of the kind and still in the report. */
static struct entry *from_number(const struct place_index *x, struct place_walk *w)
{
    while (w->number != NO_NUMBER) {
        struct entry *e = x->entry[w->number];
        w->number = x->by.next[w->number];
        if (!e->gone && e->f.kind == w->kind) return e;
    }
    return NULL;
}

struct entry *place_index_first(const struct place_index *x, enum finding_kind kind, const struct place *p,
                                struct place_walk *w)
{
    *w = (struct place_walk){ .kind = kind, .number = chains_first(&x->by, key_at(kind, p)) };
    return from_number(x, w);
}

struct entry *place_index_next(const struct place_index *x, struct place_walk *w) { return from_number(x, w); }
