/* Races that volatile hides (rules.md R2b).
 *
 * PTX makes a volatile access strong, so two of them never race there; CUDA C++ knows no such thing, and code that
 * relies on it gets stale values. So volatile accesses are kept a second time, by location: the last write, and two of
 * the reads since. A conflicting access that is not ordered after them, by the clocks, is a race. That a read has seen
 * a write orders nothing here: the numbers of strong writes (race_clock.h) are left out of the question.
 *
 * Flags are left alone: locations that somebody polls (SITE_POLLED), or accesses atomically. Whether a location is one
 * may turn out after a race there was found. So races wait in a report of their own until the launch ends. A finding
 * has a bit for its two instructions, a location the bits of the findings about it, and a flag voids all of its bits.
 *
 * Global memory has a table of locations for the era, shared memory one for each CTA. With several workers, strong
 * accesses are under the lock race_era.strong, so the tables need none. */
#include "race/race_volatile.h"
#include "race/race_kernel.h"
#include "race/race_report.h"

struct kept_volatile { /* an access to a location */
    u64 a;             /* its access word; 0: none */
    u32 site;
};
struct volatile_at { /* a location */
    u64 at;          /* its address in its space */
    u64 pairs;       /* bits of the findings about it */
    struct kept_volatile write;
    struct kept_volatile first,
        latest; /* of the reads since that write: the first one that is not ordered, and the last */
    u8 size;    /* in bytes */
    bool flag;  /* somebody polls it, or accesses it atomically */
};
struct volatiles {
    struct volatile_at *l;
    u32 n, room;     /* how many; room for how many */
    u32 *index, cap; /* a hash table: number of the location + 1; its size, a power of two */
    u64 flagged; /* the address + 1 of the last location that volatile_flag was told of; 0: none since it was empty */
};

static u32 *slot_of(const struct volatiles *v, u64 at)
{
    u32 k = (u32)(at / 64 * 0x9e3779b97f4a7c15u >> 32) << 4 | (at / 4 & 15);
    for (k &= v->cap - 1; v->index[k] && v->l[v->index[k] - 1].at != at;) k = (k + 1) & (v->cap - 1);
    return &v->index[k];
}

static void grow(struct volatiles *v)
{
    v->room = v->room ? 2 * v->room : 64;
    v->l = base_need_more(v->l, sizeof *v->l * v->room);
    base_free(v->index);
    v->cap = 4 * v->room;
    v->index = base_need(sizeof *v->index * v->cap);
    for (u32 k = 0; k < v->n; k++) *slot_of(v, v->l[k].at) = k + 1;
}

/* The location of those bytes, as new if another size was accessed there. */
static struct volatile_at *location(struct volatiles **table, u64 at, u32 size)
{
    if (!*table) *table = base_need(sizeof **table);
    struct volatiles *v = *table;
    if (v->n == v->room) grow(v);
    u32 *slot = slot_of(v, at);
    if (!*slot) {
        v->l[v->n] = (struct volatile_at){ .at = at, .size = (u8)size };
        *slot = ++v->n;
    }
    struct volatile_at *l = &v->l[*slot - 1];
    if (l->size != size) *l = (struct volatile_at){ .at = at, .pairs = l->pairs, .size = (u8)size, .flag = l->flag };
    return l;
}

/* Bits of findings that a flag voids. */
static u64 void_bits(const struct volatiles *v)
{
    u64 bits = 0;
    for (u32 k = 0; v && k < v->n; k++) bits |= v->l[k].flag ? v->l[k].pairs : 0;
    return bits;
}

static void empty(struct volatiles *v)
{
    if (!v || !v->n) return;
    v->n = 0;
    v->flagged = 0;
    memset(v->index, 0, sizeof *v->index * v->cap);
}

void volatile_free(struct volatiles *v)
{
    if (!v) return;
    base_free(v->l);
    base_free(v->index);
    base_free(v);
}

/* ---- accesses ---- */

static struct volatiles **table_of(const struct touch *t)
{
    return t->space == SPACE_SHARED ? &t->w->c->volatiles : &t->w->c->era->volatiles;
}

static struct volatile_at *location_of_lane(struct touch *t, const struct access *a, u32 lane, u32 element)
{
    return location(table_of(t), a->addr[lane] + element * a->site->width, a->site->width);
}

static struct list_entry entry_of(const struct touch *t, struct kept_volatile k, u32 op, u32 size, u32 first)
{
    u32 bytes = (u32)(((1ull << size) - 1) << first);
    (void)t;
    return (struct list_entry){
        .a = k.a, .bytes = bytes, .whole = bytes, .site = k.site, .op = (u8)(OP_STRONG | op), .scope = SCOPE_SYS
    };
}

/* The bit of the finding about two instructions. */
static u64 pair_bit(u32 a, u32 b)
{
    u64 h = ((u64)MIN_OF(a, b) << 32 | MAX_OF(a, b)) * 0x9e3779b97f4a7c15u;
    return 1ull << (h >> 58);
}

/* Reports the race with `old`, if there is one. */
static void check(struct touch *t, struct volatile_at *l, struct kept_volatile old, u32 old_op, struct kept_volatile me,
                  u32 op)
{
    struct race_cta *c = t->w->c;
    if (!old.a || (!(old_op & OP_WRITE) && !(op & OP_WRITE))) return;
    if (hb_thread(t->w, word_lane(me.a), word_thread(old.a), word_time(old.a), t->space, 0, 0)) return;
    /* lanes of one store at one address (R6) */
    if (old.site == me.site && word_same_warp(old.a, me.a) && word_time(old.a) == word_time(me.a)) return;
    u32 first = (u32)(l->at % SECTOR);
    struct list_entry o = entry_of(t, old, old_op, l->size, first), m = entry_of(t, me, op, l->size, first);
    if (hb_byte_weak(t->w, &o, &m, first, t->space)) return;
    t->at = l->at & ~(u64)(SECTOR - 1);
    if (unlikely(c->race->hook != NULL)) {
        c->race->volatile_hook(c->race->hook_self, t, first);
        return;
    }
    u64 bit = pair_bit(old.site, me.site);
    l->pairs |= bit;
    if (!c->launch->held) c->launch->held = report_new();
    if (!c->launch->held) return;
    race_report_volatile(t, &o, &m, first, bit);
}

/* A read is kept beside the others: it takes the place of one that it is ordered after, or of the latest. */
static void keep_read(const struct touch *t, struct volatile_at *l, struct kept_volatile me)
{
    bool after = !l->first.a ||
                 hb_thread(t->w, word_lane(me.a), word_thread(l->first.a), word_time(l->first.a), t->space, 0, 0);
    *(after ? &l->first : &l->latest) = me;
}

void volatile_access(struct touch *t, const struct access *a, u32 lane, u32 element)
{
    struct volatile_at *l = location_of_lane(t, a, lane, element);
    struct kept_volatile me = { race_stamp(t->w, lane, ES_ONE, WHO_ONE), t->site };
    u32 op = t->op & OP_WRITE;
    if (a->site->flags & SITE_POLLED) l->flag = true;
    if (l->flag || (t->w->c->race->hook && !t->w->c->race->volatile_hook)) return;
    check(t, l, l->write, OP_WRITE, me, op);
    if (!op) {
        keep_read(t, l, me);
        return;
    }
    check(t, l, l->first, OP_READ, me, op);
    check(t, l, l->latest, OP_READ, me, op);
    l->write = me;
    l->first = l->latest = (struct kept_volatile){ 0, 0 };
}

void volatile_flag(struct touch *t, const struct access *a, u32 lane, u32 element)
{
    struct volatiles **table = table_of(t);
    u64 at = a->addr[lane] + element * a->site->width;
    if (*table && (*table)->flagged == at + 1) return; /* a flag is one for good */
    location(table, at, a->site->width)->flag = true;
    (*table)->flagged = at + 1;
}

/* ---- CTAs and launches ---- */

void volatile_cta_begin(struct race_cta *c)
{
    u64 bits = void_bits(c->volatiles);
    if (bits) __atomic_fetch_or(&c->launch->void_pairs, bits, __ATOMIC_RELAXED);
    empty(c->volatiles);
}

void volatile_era_begin(struct race_era *era) { empty(era->volatiles); }

void volatile_launch_end(struct race_launch *launch, const struct race_era *era)
{
    if (!launch->held) return;
    report_release(launch->of->in->report, launch->held, launch->void_pairs | void_bits(era->volatiles));
    report_free(launch->held);
    launch->held = NULL;
}
