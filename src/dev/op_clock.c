/* Vector clocks over chains of operations, and the slots of chains.
 *
 * A clock is shared by all who have the same: the operations of one stream hold one clock until something joins
 * another chain. An operation's own chain is not in its clock but in its number (struct op: own), so an operation
 * behind another one in a stream costs no new clock.
 *
 * Knowing an operation means knowing all that is before it. So a join with an operation that a clock already has
 * changes nothing, and is left out. That must stay true when a slot is used again: a chain may take slot s, whose last
 * operation was n, only when the clock of the chain's first operation has n at s. Everybody who then knows an operation
 * of the new chain knows the old ones, rightly. Where no slot qualifies, there is a new one. Only when the slots are
 * all given out one is taken without that; `inexact` then says that unordered operations may count as ordered, and
 * joins are no longer left out. */
#include "dev/op_in.h"

enum { SLOTS_MOST = 4096, TRIES = 64 };

void clocks_open(struct op_clocks *c, u32 most)
{
    c->most = most ? most : SLOTS_MOST;
    c->host = base_need(sizeof *c->host);
    *c->host = (struct op_clock){ .refs = 1, .pure = true };
}

void clocks_close(struct op_clocks *c)
{
    opclock_release(c->host);
    opclock_release(c->gone);
    opclock_release(c->gone_blocking);
    base_free(c->slot);
    base_free(c->idle);
}

struct op_clock *opclock_hold(struct op_clock *c)
{
    if (c) c->refs++;
    return c;
}

void opclock_release(struct op_clock *c)
{
    if (c && !--c->refs) base_free(c);
}

/* Room for n slots and some more, so that a clock which joins chain after chain is not copied each time. The result for
 * a result is itself: clocks that join each other do not grow. */
static u32 rounded(u32 n)
{
    u32 step = 8;
    while (step * 8 < n) step *= 2;
    return (n + step - 1) / step * step;
}

/* *c with room for n slots and nobody else who sees it. */
static struct op_clock *own_clock(struct op_clock **c, u32 n)
{
    struct op_clock *old = *c;
    if (old && old->refs == 1 && old->n >= n) return old;
    u32 had = old ? old->n : 0;
    n = n > had ? rounded(n) : had;
    struct op_clock *fresh = base_need(sizeof *fresh + n * sizeof fresh->at[0]);
    fresh->refs = 1;
    fresh->n = n;
    fresh->host = old ? old->host : 0;
    if (old) memcpy(fresh->at, old->at, had * sizeof fresh->at[0]);
    opclock_release(old);
    return *c = fresh;
}

void opclock_join(struct op_clock **to, struct op_clock *from)
{
    struct op_clock *c = *to;
    if (!from || c == from || (c && from->pure && from->host <= c->host)) return;
    if (!c || (c->pure && c->host <= from->host)) {
        *to = opclock_hold(from);
        opclock_release(c);
        return;
    }
    c = own_clock(to, from->n);
    for (u32 i = 0; i < from->n; i++) c->at[i] = MAX_OF(c->at[i], from->at[i]);
    c->host = MAX_OF(c->host, from->host);
    c->pure = false;
}

void opclock_join_op(struct op_clock **to, struct op_clock *from, u32 slot, u64 number)
{
    opclock_join(to, from);
    if (opclock_at(*to, slot) >= number) return;
    struct op_clock *c = own_clock(to, slot + 1);
    c->at[slot] = number;
    c->pure = false;
}

void opclock_join_host(struct op_clocks *c, struct op_clock *from, u32 slot, u64 number)
{
    if (!c->inexact && opclock_at(c->host, slot) >= number) return;
    u64 version = c->host->host + 1;
    opclock_join_op(&c->host, from, slot, number);
    own_clock(&c->host, 0);
    c->host->host = version;
    c->host->pure = true;
}

/* The streams that are gone: the host has waited for all. */
void opclock_join_gone(struct op_clocks *c, struct op_clock **gone)
{
    if (!*gone) return;
    u64 version = c->host->host + 1;
    opclock_join(&c->host, *gone);
    own_clock(&c->host, 0);
    c->host->host = version;
    c->host->pure = true;
    opclock_release(*gone);
    *gone = NULL;
}

static bool covered(const struct op_clocks *c, u32 slot, const struct op_clock *after)
{
    return opclock_at(after, slot) >= c->slot[slot].number;
}

static u32 take_idle(struct op_clocks *c, u32 i)
{
    u32 slot = c->idle[i];
    memmove(c->idle + i, c->idle + i + 1, (--c->idles - i) * sizeof *c->idle);
    c->slot[slot].used = true;
    return slot;
}

u32 slot_take(struct op_clocks *c, const struct op_clock *after)
{
    for (u32 i = 0; i < MIN_OF(c->idles, (u32)TRIES); i++)
        if (covered(c, c->idle[i], after)) return take_idle(c, i);
    if (c->slots >= c->most && c->idles) {
        c->inexact = true;
        return take_idle(c, 0);
    }
    CHECK(c->slots < OP_SLOTS_MAX);
    if (c->slots == c->cap) {
        c->cap = MAX_OF(c->cap * 2, 16u);
        c->slot = base_need_more(c->slot, c->cap * sizeof *c->slot);
    }
    c->slot[c->slots] = (struct op_slot){ .used = true };
    return c->slots++;
}

void slot_leave(struct op_clocks *c, u32 slot)
{
    c->slot[slot].used = false;
    if (c->idles == c->idle_cap) {
        c->idle_cap = MAX_OF(c->idle_cap * 2, 16u);
        c->idle = base_need_more(c->idle, c->idle_cap * sizeof *c->idle);
    }
    c->idle[c->idles++] = slot;
}

static op_stamp stamp_make(u32 slot, u64 number) { return (u64)slot << OP_NUMBER_BITS | number; }

op_stamp op_stamp_of(const struct op *op) { return stamp_make(op->slot, op->number); }
u64 op_age(const struct op *op) { return op->age; }

op_stamp host_stamp(struct streams *s)
{
    lock(&s->lock);
    op_stamp now = stamp_make(OP_SLOT_HOST, s->ages);
    unlock(&s->lock);
    return now;
}

bool op_before(op_stamp a, const struct op *b)
{
    u32 slot = stamp_slot(a);
    u64 number = stamp_number(a);
    if (slot == OP_SLOT_HOST) return number < b->age;
    return slot == b->slot ? number <= b->own : opclock_at(b->clock, slot) >= number;
}

bool op_before_full(op_stamp a, const struct op *b)
{
    u32 slot = stamp_slot(a);
    if (slot == OP_SLOT_HOST || __atomic_load_n(&b->pending_full, __ATOMIC_ACQUIRE)) return op_before(a, b);
    u64 number = stamp_number(a);
    return slot == b->slot ? number < b->number : opclock_at(b->full ? b->full : b->clock, slot) >= number;
}

bool host_after(struct streams *s, op_stamp a)
{
    if (stamp_slot(a) == OP_SLOT_HOST) return true;
    lock(&s->lock);
    bool known = opclock_at(s->clocks.host, stamp_slot(a)) >= stamp_number(a);
    unlock(&s->lock);
    return known;
}

void host_join(struct op *op)
{
    opclock_join_host(&op->all->clocks, op->full ? op->full : op->clock, op->slot, op->number);
}
