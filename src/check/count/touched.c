/* Sets of sectors, page by page. */
#include "count/touched.h"

enum { PAGE_SECTORS = 2048, PAGE_WORDS = PAGE_SECTORS / 64 };

struct touched_page {
    u64 number;           /* sector / PAGE_SECTORS */
    u64 read[PAGE_WORDS]; /* a bit for each sector */
    u64 written[PAGE_WORDS];
};

static u32 slot_of(const struct touched *t, u64 number)
{
    u32 h = (u32)(number * 0x9e3779b97f4a7c15u >> 32) & (t->cap - 1);
    while (t->slot[h] && t->slot[h]->number != number) h = (h + 1) & (t->cap - 1);
    return h;
}

static void grow(struct touched *t)
{
    struct touched old = *t;
    t->cap = old.cap ? 2 * old.cap : 64;
    t->slot = base_need(sizeof *t->slot * t->cap);
    for (u32 k = 0; k < old.cap; k++)
        if (old.slot[k]) t->slot[slot_of(t, old.slot[k]->number)] = old.slot[k];
    base_free(old.slot);
}

static struct touched_page *page_of(struct touched *t, u64 number)
{
    if (likely(t->last && t->last->number == number)) return t->last;
    if (2 * t->n >= t->cap) grow(t);
    u32 h = slot_of(t, number);
    if (!t->slot[h]) {
        t->slot[h] = base_need(sizeof **t->slot);
        t->slot[h]->number = number;
        t->n++;
    }
    return t->last = t->slot[h];
}

void touched_add(struct touched *t, u64 sector, bool write)
{
    struct touched_page *p = page_of(t, sector / PAGE_SECTORS);
    u64 *bits = write ? p->written : p->read;
    bits[sector % PAGE_SECTORS / 64] |= (u64)1 << sector % 64;
}

void touched_range(struct touched *t, u64 first, u64 count, bool write)
{
    while (count) {
        struct touched_page *p = page_of(t, first / PAGE_SECTORS);
        u64 *bits = write ? p->written : p->read;
        u32 n = (u32)MIN_OF(count, 64 - first % 64);
        bits[first % PAGE_SECTORS / 64] |= (n == 64 ? ~(u64)0 : ((u64)1 << n) - 1) << first % 64;
        first += n;
        count -= n;
    }
}

void touched_join(struct touched *into, const struct touched *from)
{
    for (u32 k = 0; k < from->cap; k++) {
        const struct touched_page *p = from->slot[k];
        struct touched_page *q = p ? page_of(into, p->number) : NULL;
        for (u32 w = 0; q && w < PAGE_WORDS; w++) {
            q->read[w] |= p->read[w];
            q->written[w] |= p->written[w];
        }
    }
}

struct touched_count touched_count(const struct touched *t)
{
    struct touched_count c = { 0 };
    for (u32 k = 0; k < t->cap; k++)
        for (u32 w = 0; t->slot[k] && w < PAGE_WORDS; w++) {
            const struct touched_page *p = t->slot[k];
            c.read += (u32)__builtin_popcountll(p->read[w]);
            c.written += (u32)__builtin_popcountll(p->written[w]);
            c.any += (u32)__builtin_popcountll(p->read[w] | p->written[w]);
        }
    return c;
}

void touched_free(struct touched *t)
{
    for (u32 k = 0; k < t->cap; k++) base_free(t->slot[k]);
    base_free(t->slot);
    *t = (struct touched){ 0 };
}
