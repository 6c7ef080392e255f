/* Vector clocks over chains of operations, and the slots of chains.
 *
 * A clock is shared by all who have the same: the operations of one stream hold one clock until something joins
 * another chain. An operation's own chain is not in its clock but in its number (struct op: own), so an operation
 * after another one in a stream costs no new clock.
 *
 * The numbers of the first slots are in the clock. The others are in a tree that shares its nodes, that of vclock.h: a
 * clock that differs from another one in one slot has the nodes on the way to that slot for itself, and a join leaves
 * out what two trees have in common. So an operation costs a few nodes, however many chains there are.
 *
 * Knowing an operation means knowing all that is before it. So a join with an operation that a clock already has
 * changes nothing, and is left out; and so is one with a clock that is all that some operation knows (of), by whoever
 * knows this operation. That must stay true when a slot is used again: a chain may take slot s, whose last
 * operation was n, only when the clock of the chain's first operation has n at s. Everybody who then knows an operation
 * of the new chain knows the old ones, rightly. Where no slot qualifies, there is a new one. Only when the slots are
 * all given out one is taken without that; `inexact` then says that unordered operations may count as ordered, and
 * joins are no longer left out. */
#include "queue/op_in.h"

enum { SLOTS_MOST = 4096, TRIES = 64 };

static op_stamp stamp_make(u32 slot, u64 number) { return (u64)slot << OP_NUMBER_BITS | number; }

void clocks_open(struct op_clocks *c, u32 most)
{
    c->most = most ? most : SLOTS_MOST;
    c->nodes = (struct vclock_store){ .large = UINT64_MAX }; /* remembers no joins: `of` says which may be left out */
    c->host = base_need(sizeof *c->host);
    *c->host = (struct op_clock){ .refs = 1, .pure = true };
}

void clocks_close(struct op_clocks *c)
{
    opclock_release(c, c->host);
    opclock_release(c, c->gone);
    opclock_release(c, c->gone_blocking);
    vclock_store_free(&c->nodes);
    base_free(c->slot);
    base_free(c->idle);
}

/* ---- clocks ---- */

struct op_clock *opclock_hold(struct op_clock *c)
{
    if (c) c->refs++;
    return c;
}

void opclock_release(struct op_clocks *k, struct op_clock *c)
{
    if (!c || --c->refs) return;
    vclock_drop(&k->nodes, c->chains);
    base_free(c);
}

/* *c, or a copy of it, that nobody else sees, to be changed. */
static struct op_clock *own_clock(struct op_clocks *k, struct op_clock **c)
{
    struct op_clock *old = *c;
    if (!old || old->refs > 1) {
        *c = base_need(sizeof **c);
        if (old) **c = *old;
        if (old) vclock_hold((*c)->chains);
        (*c)->refs = 1;
        opclock_release(k, old);
    }
    (*c)->of = 0;
    (*c)->pure = false;
    return *c;
}

static void replace(struct op_clocks *k, struct op_clock **to, struct op_clock *by)
{
    struct op_clock *old = *to;
    *to = opclock_hold(by);
    opclock_release(k, old);
}

/* `to` is known to have all of `from`: it knows the host clock or the operation that `from` stands for. */
static bool has_all(const struct op_clocks *k, const struct op_clock *to, const struct op_clock *from)
{
    if (from->pure && from->host <= to->host) return true;
    return from->of && !k->inexact && opclock_at(to, stamp_slot(from->of)) >= stamp_number(from->of);
}

void opclock_join(struct op_clocks *k, struct op_clock **to, struct op_clock *from)
{
    struct op_clock *c = *to;
    if (!from || c == from || (c && has_all(k, c, from))) return;
    if (!c || has_all(k, from, c)) {
        replace(k, to, from);
        return;
    }
    bool less = c->host<from->host, more = c->host> from->host;
    for (u32 i = 0; i < CLOCK_LOW; i++) {
        less |= c->low[i] < from->low[i];
        more |= c->low[i] > from->low[i];
    }
    struct vclock *both = vclock_hold(c->chains);
    vclock_join_kept(&k->nodes, &both, from->chains);
    bool as_from = !more && both == from->chains, as_before = !less && both == c->chains;
    if (as_from || as_before) {
        vclock_drop(&k->nodes, both);
        if (as_from) replace(k, to, from);
        return;
    }
    c = own_clock(k, to);
    vclock_drop(&k->nodes, c->chains);
    c->chains = both;
    for (u32 i = 0; i < CLOCK_LOW; i++) c->low[i] = MAX_OF(c->low[i], from->low[i]);
    c->host = MAX_OF(c->host, from->host);
}

void opclock_join_op(struct op_clocks *k, struct op_clock **to, struct op_clock *from, u32 slot, u64 number)
{
    opclock_join(k, to, from);
    if (opclock_at(*to, slot) >= number) return;
    bool whole = *to == from; /* what the operation knows, and nothing else */
    struct op_clock *c = own_clock(k, to);
    if (slot < CLOCK_LOW)
        c->low[slot] = number;
    else
        vclock_add_number(&k->nodes, &c->chains, slot, number);
    if (whole) c->of = stamp_make(slot, number);
}

bool opclock_within(const struct op_clock *a, const struct op_clock *b)
{
    if (!a || a == b) return true;
    for (u32 i = 0; i < CLOCK_LOW; i++)
        if (a->low[i] > b->low[i]) return false;
    return vclock_covers_maybe(b->chains, a->chains);
}

void opclock_join_host(struct op_clocks *c, struct op_clock *from, u32 slot, u64 number)
{
    if (!c->inexact && opclock_at(c->host, slot) >= number) return;
    u64 version = c->host->host + 1;
    opclock_join_op(c, &c->host, from, slot, number);
    own_clock(c, &c->host);
    c->host->host = version;
    c->host->pure = true;
}

/* The streams that are gone: the host has waited for all. */
void opclock_join_gone(struct op_clocks *c, struct op_clock **gone)
{
    if (!*gone) return;
    u64 version = c->host->host + 1;
    opclock_join(c, &c->host, *gone);
    own_clock(c, &c->host);
    c->host->host = version;
    c->host->pure = true;
    opclock_release(c, *gone);
    *gone = NULL;
}

static bool covered(const struct op_clocks *c, u32 slot, const struct op_clock *after)
{
    return opclock_at(after, slot) >= c->slot[slot].number;
}

static u32 take_idle(struct op_clocks *c, u32 i)
{
    u32 *first = c->idle + c->idle_first++, slot = first[i];
    memmove(first + 1, first, i * sizeof *first); /* the older ones: few */
    c->idles--;
    c->slot[slot].used = true;
    return slot;
}

u32 slot_take(struct op_clocks *c, const struct op_clock *after)
{
    for (u32 i = 0; i < MIN_OF(c->idles, (u32)TRIES); i++)
        if (covered(c, c->idle[c->idle_first + i], after)) return take_idle(c, i);
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
    if (c->idle_first + c->idles == c->idle_cap) { /* room in front, or after */
        if (c->idle_first <= c->idles) {
            c->idle_cap = MAX_OF(c->idle_cap * 2, 16u);
            c->idle = base_need_more(c->idle, c->idle_cap * sizeof *c->idle);
        }
        memmove(c->idle, c->idle + c->idle_first, c->idles * sizeof *c->idle);
        c->idle_first = 0;
    }
    c->idle[c->idle_first + c->idles++] = slot;
}

op_stamp op_stamp_of(const struct op *op) { return stamp_make(op->slot, op->number); }
u64 op_age(const struct op *op) { return op->age; }

u64 streams_age(struct streams *s)
{
    lock(&s->lock);
    u64 age = s->live ? s->ages : 0;
    unlock(&s->lock);
    return age;
}

u64 streams_oldest(struct streams *s)
{
    u64 oldest = UINT64_MAX;
    lock(&s->lock);
    for (const struct op *op = s->live; op; op = op->older) oldest = MIN_OF(oldest, op->age);
    unlock(&s->lock);
    return oldest;
}

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
