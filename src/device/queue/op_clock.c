/* Vector clocks over chains of operations, and the slots of chains.
 *
 * A clock is shared by all who have the same: the operations of one stream hold one clock until something joins
 * another chain. An operation's own chain is not in its clock but in its number (struct op: own), so an operation
 * after another one in a stream costs no new clock.
 *
 * The numbers of the first slots are in the clock. The others are in a tree whose nodes are shared, too: a clock that
 * differs from another one in one slot has the nodes on the way to that slot for itself and all others in common. A
 * join leaves out what two trees have in common, and gives one of the two, not a copy, where that one has it all. So
 * an operation costs a few nodes, however many chains there are.
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

/* ---- trees ---- */

/* Nothing in a node changes once a second clock or node refers to it. A node is changed only after copies of all nodes
 * above it were made: then the path is not shared. */
struct clock_node {
    u32 refs;
    union {
        u64 at[CLOCK_FAN];                   /* of a leaf, level 1 */
        struct clock_node *child[CLOCK_FAN]; /* NULL: all 0 */
    };
};

static struct clock_node *node_hold(struct clock_node *n)
{
    if (n) n->refs++;
    return n;
}

static void node_release(struct clock_node *n, u32 level)
{
    if (!n || --n->refs) return;
    for (u32 i = 0; level > 1 && i < CLOCK_FAN; i++) node_release(n->child[i], level - 1);
    base_free(n);
}

/* *n, or a copy of it, that nobody else sees. */
static struct clock_node *node_own(struct clock_node **n, u32 level)
{
    struct clock_node *old = *n;
    if (old && old->refs == 1) return old;
    struct clock_node *fresh = base_need(sizeof *fresh);
    if (old) *fresh = *old;
    fresh->refs = 1;
    for (u32 i = 0; level > 1 && i < CLOCK_FAN; i++) node_hold(fresh->child[i]);
    node_release(old, level);
    return *n = fresh;
}

static void node_replace(struct clock_node **n, struct clock_node *by, u32 level)
{
    struct clock_node *old = *n;
    *n = node_hold(by);
    node_release(old, level);
}

static void leaf_join(struct clock_node **to, struct clock_node *from)
{
    bool less = false, more = false;
    for (u32 i = 0; i < CLOCK_FAN; i++) {
        less |= (*to)->at[i] < from->at[i];
        more |= (*to)->at[i] > from->at[i];
    }
    if (less && !more) node_replace(to, from, 1);
    if (!less || !more) return;
    struct clock_node *n = node_own(to, 1);
    for (u32 i = 0; i < CLOCK_FAN; i++) n->at[i] = MAX_OF(n->at[i], from->at[i]);
}

/* *to then includes `from`. If one of the two clocks covers the other, its node is used again. */
static void node_join(struct clock_node **to, struct clock_node *from, u32 level)
{
    struct clock_node *n = *to;
    if (n == from || !from) return;
    if (!n) {
        *to = node_hold(from);
        return;
    }
    if (level == 1) {
        leaf_join(to, from);
        return;
    }
    struct clock_node now = *n; /* shared: the children have a second holder, and are not changed */
    struct clock_node *work = n->refs == 1 ? n : &now;
    bool as_before = true, as_from = true;
    for (u32 i = 0; i < CLOCK_FAN; i++) {
        if (work == &now) node_hold(now.child[i]);
        struct clock_node *had = now.child[i];
        node_join(&work->child[i], from->child[i], level - 1);
        as_before &= work->child[i] == had;
        as_from &= work->child[i] == from->child[i];
    }
    if (as_from) node_replace(to, from, level);
    if (!as_from && !as_before && work == &now) {
        struct clock_node *fresh = base_need(sizeof *fresh);
        *fresh = now;
        fresh->refs = 1;
        *to = fresh;
        node_release(n, level);
        return;
    }
    for (u32 i = 0; work == &now && i < CLOCK_FAN; i++) node_release(now.child[i], level - 1);
}

/* Whether every number of `a` is at most that of `b`. */
static bool node_within(const struct clock_node *a, const struct clock_node *b, u32 level)
{
    if (a == b || !a) return true;
    for (u32 i = 0; i < CLOCK_FAN; i++)
        if (level == 1 ? a->at[i] > (b ? b->at[i] : 0) : !node_within(a->child[i], b ? b->child[i] : NULL, level - 1))
            return false;
    return true;
}

/* A tree of `levels` levels: those of a clock, apart from it. */
struct tree {
    struct clock_node *root;
    u32 levels;
};

static void tree_raise(struct tree *t, u32 levels)
{
    for (; t->root && t->levels < levels; t->levels++) {
        struct clock_node *above = base_need(sizeof *above);
        above->refs = 1;
        above->child[0] = t->root;
        t->root = above;
    }
    if (!t->root) t->levels = MAX_OF(t->levels, levels);
}

static void tree_join(struct tree *t, const struct op_clock *from)
{
    if (!from->tree) return;
    tree_raise(t, from->levels);
    struct clock_node **n = &t->root;
    for (u32 level = t->levels; level > from->levels; level--) n = &node_own(n, level)->child[0];
    node_join(n, from->tree, from->levels);
}

static void tree_set(struct tree *t, u32 slot, u64 number)
{
    u32 levels = 1;
    while (slot >> CLOCK_BITS * levels) levels++;
    tree_raise(t, levels);
    struct clock_node **n = &t->root;
    for (u32 level = t->levels; level > 1; level--)
        n = &node_own(n, level)->child[slot >> CLOCK_BITS * (level - 1) & (CLOCK_FAN - 1)];
    node_own(n, 1)->at[slot & (CLOCK_FAN - 1)] = number;
}

u64 opclock_at_tree(const struct op_clock *c, u32 slot)
{
    const struct clock_node *n = slot >> CLOCK_BITS * c->levels ? NULL : c->tree;
    for (u32 level = c->levels; n && level > 1; level--)
        n = n->child[slot >> CLOCK_BITS * (level - 1) & (CLOCK_FAN - 1)];
    return n ? n->at[slot & (CLOCK_FAN - 1)] : 0;
}

/* ---- clocks ---- */

struct op_clock *opclock_hold(struct op_clock *c)
{
    if (c) c->refs++;
    return c;
}

void opclock_release(struct op_clock *c)
{
    if (!c || --c->refs) return;
    node_release(c->tree, c->levels);
    base_free(c);
}

/* *c, or a copy of it, that nobody else sees, to be changed. */
static struct op_clock *own_clock(struct op_clock **c)
{
    struct op_clock *old = *c;
    if (!old || old->refs > 1) {
        *c = base_need(sizeof **c);
        if (old) **c = *old;
        if (old) node_hold((*c)->tree);
        (*c)->refs = 1;
        opclock_release(old);
    }
    (*c)->of = 0;
    (*c)->pure = false;
    return *c;
}

static void replace(struct op_clock **to, struct op_clock *by)
{
    struct op_clock *old = *to;
    *to = opclock_hold(by);
    opclock_release(old);
}

/* `to` is known to have all of `from`: it knows the host clock or the operation that `from` stands for. */
static bool has_all(const struct op_clocks *k, const struct op_clock *to, const struct op_clock *from)
{
    if (from->pure && from->host <= to->host) return true;
    return from->of && !k->inexact && opclock_at(to, stamp_slot(from->of)) >= stamp_number(from->of);
}

void opclock_join(const struct op_clocks *k, struct op_clock **to, struct op_clock *from)
{
    struct op_clock *c = *to;
    if (!from || c == from || (c && has_all(k, c, from))) return;
    if (!c || has_all(k, from, c)) {
        replace(to, from);
        return;
    }
    bool less = c->host<from->host, more = c->host> from->host;
    for (u32 i = 0; i < CLOCK_LOW; i++) {
        less |= c->low[i] < from->low[i];
        more |= c->low[i] > from->low[i];
    }
    bool shared = c->refs > 1;
    struct tree t = { shared ? node_hold(c->tree) : c->tree, c->levels };
    tree_join(&t, from);
    bool as_from = !more && t.root == from->tree && t.levels == from->levels;
    bool as_before = !less && t.root == c->tree && t.levels == c->levels;
    if (as_from || (shared && as_before)) {
        if (!shared) *c = (struct op_clock){ .refs = 1 }; /* t has its tree */
        node_release(t.root, t.levels);
        if (as_from) replace(to, from);
        return;
    }
    if (!shared) c->tree = NULL;
    c = own_clock(to);
    node_release(c->tree, c->levels); /* where it was shared: of the clock that it was copied from */
    c->tree = t.root;
    c->levels = t.levels;
    for (u32 i = 0; i < CLOCK_LOW; i++) c->low[i] = MAX_OF(c->low[i], from->low[i]);
    c->host = MAX_OF(c->host, from->host);
}

void opclock_join_op(const struct op_clocks *k, struct op_clock **to, struct op_clock *from, u32 slot, u64 number)
{
    opclock_join(k, to, from);
    if (opclock_at(*to, slot) >= number) return;
    bool whole = *to == from; /* what the operation knows, and nothing else */
    struct op_clock *c = own_clock(to);
    if (slot < CLOCK_LOW) {
        c->low[slot] = number;
    } else {
        struct tree t = { c->tree, c->levels };
        tree_set(&t, slot, number);
        c->tree = t.root;
        c->levels = t.levels;
    }
    if (whole) c->of = stamp_make(slot, number);
}

bool opclock_within(const struct op_clock *a, const struct op_clock *b)
{
    if (!a || a == b) return true;
    for (u32 i = 0; i < CLOCK_LOW; i++)
        if (a->low[i] > b->low[i]) return false;
    struct tree t = { node_hold(b->tree), b->levels };
    tree_raise(&t, a->levels);
    const struct clock_node *n = t.root;
    for (u32 level = t.levels; n && level > a->levels; level--) n = n->child[0];
    bool is = node_within(a->tree, n, a->levels);
    node_release(t.root, t.levels);
    return is;
}

void opclock_join_host(struct op_clocks *c, struct op_clock *from, u32 slot, u64 number)
{
    if (!c->inexact && opclock_at(c->host, slot) >= number) return;
    u64 version = c->host->host + 1;
    opclock_join_op(c, &c->host, from, slot, number);
    own_clock(&c->host);
    c->host->host = version;
    c->host->pure = true;
}

/* The streams that are gone: the host has waited for all. */
void opclock_join_gone(struct op_clocks *c, struct op_clock **gone)
{
    if (!*gone) return;
    u64 version = c->host->host + 1;
    opclock_join(c, &c->host, *gone);
    own_clock(&c->host);
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
