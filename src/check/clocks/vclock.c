/* Vector clocks as trees that share their common parts: vclock.h has the idea. */
#include "clocks/vclock.h"

enum { VCLOCK_LANES = 32, TOGETHER = 16 }; /* TOGETHER: CTAs, or locations, of one leaf */
enum kind { BRANCH, MAP, LANES_OF, WARPS_OF, CTAS, LOCATIONS, CHAINS, KINDS };
_Static_assert((int)KINDS == (int)VCLOCK_KINDS, "each kind has its spare nodes");

struct vclock {
    u32 refs;
    u8 kind;
    u64 key; /* of a leaf; of a branch: the bits above `bit`, which all its keys have */
    union {
        struct {
            u64 bit;
            struct vclock *side[2];
        } branch; /* side[0]: keys without that bit, side[1]: keys with it */
        struct vclock *map;
        /* Times, or counts of LOCATIONS; 0: none. LANES_OF: by lane. WARPS_OF: by warp. CTAS: by CTA, first those of
         * all threads, then those of the first thread. LOCATIONS: by location, half as many. */
        u32 value[2 * TOGETHER];
        u64 number[TOGETHER]; /* CHAINS: by chain */
    };
};
#define ROOM(member) (offsetof(struct vclock, member) + sizeof((struct vclock *)NULL)->member)
_Static_assert(VCLOCK_LANES == 2 * TOGETHER, "lanes of a warp, and warps of a block, are values of a leaf, too");

static u64 key_of_ctas(u32 cta) { return (u64)(cta / TOGETHER * TOGETHER) << 6 | 63; }
static u64 key_of_warps(u32 cta) { return (u64)cta << 6 | 62; }
static u64 key_of_warp(u32 cta, u32 warp) { return (u64)cta << 6 | warp; }
static u64 key_of_locations(u32 id) { return (u64)1 << 63 | id / TOGETHER; }
static u64 key_of_chains(u32 chain) { return (u64)1 << 62 | chain / TOGETHER; }
static u32 values_of(enum kind kind) { return kind == LOCATIONS ? TOGETHER : 2 * TOGETHER; }
static size_t leaf_room(enum kind kind) { return offsetof(struct vclock, value) + values_of(kind) * sizeof(u32); }

static size_t room_of(enum kind kind)
{
    return kind == BRANCH ? ROOM(branch) : kind == MAP ? ROOM(map) : leaf_room(kind);
}

/* A new node; its values are not set. */
static struct vclock *make(struct vclock_store *vs, enum kind kind, u64 key)
{
    struct vclock *k = vs->spare[kind];
    if (k)
        vs->spare[kind] = k->map;
    else
        k = base_need(room_of(kind));
    k->refs = 1;
    k->kind = (u8)kind;
    k->key = key;
    return k;
}

struct vclock *vclock_hold(struct vclock *k)
{
    if (k) k->refs++;
    return k;
}

void vclock_unref(struct vclock_store *vs, struct vclock *k)
{
    if (--k->refs) return;
    if (k->kind == BRANCH) {
        vclock_drop(vs, k->branch.side[0]);
        vclock_drop(vs, k->branch.side[1]);
    }
    if (k->kind == MAP) vclock_drop(vs, k->map);
    k->map = vs->spare[k->kind];
    vs->spare[k->kind] = k;
}

static bool may_hold(const struct vclock *k, u64 key) { return !((k->key ^ key) & ~(2 * k->branch.bit - 1)); }

/* ---- joining: each function returns a reference, to one of its arguments where that is the join ---- */

static struct vclock *join(struct vclock_store *vs, struct vclock *a, struct vclock *b);

static struct vclock *find(const struct vclock *k, u64 key)
{
    while (k && k->kind == BRANCH && may_hold(k, key)) k = k->branch.side[key & k->branch.bit ? 1 : 0];
    return k && k->kind != BRANCH && k->key == key ? (struct vclock *)k : NULL;
}

static u64 bit_of(const struct vclock *k) { return k->kind == BRANCH ? k->branch.bit : 0; }
static struct vclock *branch_of(struct vclock_store *vs, struct vclock *a, struct vclock *b)
{
    u64 bit = (u64)1 << (63 - __builtin_clzll(a->key ^ b->key));
    struct vclock *k = make(vs, BRANCH, a->key & ~(2 * bit - 1));
    k->branch.bit = bit;
    k->branch.side[a->key & bit ? 1 : 0] = vclock_hold(a);
    k->branch.side[a->key & bit ? 0 : 1] = vclock_hold(b);
    return k;
}

static u32 any_less(const u32 a[TOGETHER], const u32 b[TOGETHER])
{
    u32 less = 0;
    for (u32 v = 0; v < TOGETHER; v++) less |= a[v] < b[v];
    return less;
}

static struct vclock *join_chains(struct vclock_store *vs, struct vclock *a, struct vclock *b)
{
    bool less = false, more = false;
    for (u32 v = 0; v < TOGETHER; v++) {
        less |= a->number[v] < b->number[v];
        more |= a->number[v] > b->number[v];
    }
    if (!less) return vclock_hold(a);
    if (!more) return vclock_hold(b);
    struct vclock *k = make(vs, CHAINS, a->key);
    for (u32 v = 0; v < TOGETHER; v++) k->number[v] = MAX_OF(a->number[v], b->number[v]);
    return k;
}

static struct vclock *join_leaves(struct vclock_store *vs, struct vclock *a, struct vclock *b)
{
    u32 n = values_of(a->kind), less = 0, more = 0;
    for (u32 v = 0; v < n; v += TOGETHER) {
        less |= any_less(&a->value[v], &b->value[v]);
        more |= any_less(&b->value[v], &a->value[v]);
    }
    if (!less) return vclock_hold(a);
    if (!more) return vclock_hold(b);
    struct vclock *k = make(vs, a->kind, a->key);
    for (u32 v = 0; v < n; v++) k->value[v] = MAX_OF(a->value[v], b->value[v]);
    return k;
}

static struct vclock *join_maps(struct vclock_store *vs, struct vclock *a, struct vclock *b)
{
    struct vclock *both = join(vs, a->map, b->map);
    if (both == a->map || both == b->map) {
        vclock_drop(vs, both);
        return vclock_hold(both == a->map ? a : b);
    }
    struct vclock *k = make(vs, MAP, a->key);
    k->map = both;
    return k;
}

static struct vclock *with_sides(struct vclock_store *vs, struct vclock *a, struct vclock *low, struct vclock *high)
{
    struct vclock *k = make(vs, BRANCH, a->key);
    k->branch.bit = a->branch.bit;
    k->branch.side[0] = low;
    k->branch.side[1] = high;
    return k;
}

static struct vclock *join_branches(struct vclock_store *vs, struct vclock *a, struct vclock *b)
{
    struct vclock *low = join(vs, a->branch.side[0], b->branch.side[0]),
                  *high = join(vs, a->branch.side[1], b->branch.side[1]), *one = NULL;
    if (low == a->branch.side[0] && high == a->branch.side[1])
        one = a;
    else if (low == b->branch.side[0] && high == b->branch.side[1])
        one = b;
    if (!one) return with_sides(vs, a, low, high);
    vclock_drop(vs, low);
    vclock_drop(vs, high);
    return vclock_hold(one);
}

enum { MEMO = 1024 };

static void forget(struct vclock_store *vs, struct vclock_memo *m)
{
    vclock_drop(vs, m->a);
    vclock_drop(vs, m->b);
    vclock_drop(vs, m->result);
    *m = (struct vclock_memo){ 0 };
}

static u32 hash_of(const struct vclock *a, const struct vclock *b)
{
    return (u32)(((uintptr_t)a / 16 * 0x9e3779b97f4a7c15u ^ (uintptr_t)b / 16 * 0xc2b2ae3d27d4eb4fu) >> 40);
}

static struct vclock *join_large(struct vclock_store *vs, struct vclock *a, struct vclock *b)
{
    if (a->branch.bit < vs->large) return join_branches(vs, a, b);
    if (!vs->memo) vs->memo = base_need(sizeof *vs->memo * MEMO);
    struct vclock_memo *m = &vs->memo[hash_of(a, b) % MEMO];
    if (m->a == a && m->b == b) return vclock_hold(m->result);
    struct vclock *is = join_branches(vs, a, b);
    forget(vs, m);
    vs->remembers = true;
    *m = (struct vclock_memo){ vclock_hold(a), vclock_hold(b), vclock_hold(is) };
    return is;
}

void vclock_store_forget(struct vclock_store *vs)
{
    for (u32 k = 0; vs->remembers && vs->memo && k < MEMO; k++) forget(vs, &vs->memo[k]);
    for (u32 k = 0; vs->remembers && k < VCLOCK_RECENT; k++) forget(vs, &vs->recent_join[k]);
    vs->remembers = false;
    vclock_drop(vs, vs->added.from);
    vclock_drop(vs, vs->added.to);
    vs->added = (struct vclock_added){ 0 };
}

void vclock_store_free(struct vclock_store *vs)
{
    vclock_store_forget(vs);
    for (u32 kind = 0; kind < COUNT_OF(vs->spare); kind++)
        while (vs->spare[kind]) {
            struct vclock *k = vs->spare[kind];
            vs->spare[kind] = k->map;
            base_free(k);
        }
    base_free(vs->memo);
    vs->memo = NULL;
}

/* All keys of b belong under one side of the branch a. */
static struct vclock *join_below(struct vclock_store *vs, struct vclock *a, struct vclock *b)
{
    u32 s = b->key & a->branch.bit ? 1 : 0;
    struct vclock *x = join(vs, a->branch.side[s], b), *other = a->branch.side[!s];
    if (x == a->branch.side[s]) {
        vclock_drop(vs, x);
        return vclock_hold(a);
    }
    vclock_hold(other);
    return s ? with_sides(vs, a, other, x) : with_sides(vs, a, x, other);
}

static struct vclock *join(struct vclock_store *vs, struct vclock *a, struct vclock *b)
{
    if (a == b || !b) return vclock_hold(a);
    if (!a) return vclock_hold(b);
    if (a->key == b->key && bit_of(a) == bit_of(b))
        return a->kind == BRANCH   ? join_large(vs, a, b)
               : a->kind == MAP    ? join_maps(vs, a, b)
               : a->kind == CHAINS ? join_chains(vs, a, b)
                                   : join_leaves(vs, a, b);
    if (bit_of(a) > bit_of(b) && may_hold(a, b->key)) return join_below(vs, a, b);
    if (bit_of(b) > bit_of(a) && may_hold(b, a->key)) return join_below(vs, b, a);
    return branch_of(vs, a, b);
}

/* The same as join, but takes the reference to a, and changes nodes of it that nobody else has. */
static struct vclock *absorb(struct vclock_store *vs, struct vclock *a, struct vclock *b)
{
    if (a == b || !b) return a;
    if (!a) return vclock_hold(b);
    bool same = a->key == b->key && bit_of(a) == bit_of(b);
    if (a->refs == 1 && same && a->kind == BRANCH) {
        a->branch.side[0] = absorb(vs, a->branch.side[0], b->branch.side[0]);
        a->branch.side[1] = absorb(vs, a->branch.side[1], b->branch.side[1]);
        return a;
    }
    if (a->refs == 1 && same && a->kind == MAP) {
        a->map = absorb(vs, a->map, b->map);
        return a;
    }
    if (a->refs == 1 && same && a->kind != CHAINS) {
        for (u32 v = 0, n = values_of(a->kind); v < n; v++) a->value[v] = MAX_OF(a->value[v], b->value[v]);
        return a;
    }
    if (a->refs == 1 && bit_of(a) > bit_of(b) && may_hold(a, b->key)) {
        struct vclock **side = &a->branch.side[b->key & a->branch.bit ? 1 : 0];
        *side = absorb(vs, *side, b);
        return a;
    }
    struct vclock *both = join(vs, a, b);
    vclock_drop(vs, a);
    return both;
}

void vclock_accumulate(struct vclock_store *vs, struct vclock **k, const struct vclock *more)
{
    *k = absorb(vs, *k, (struct vclock *)more);
}

void vclock_join_other(struct vclock_store *vs, struct vclock **k, const struct vclock *more)
{
    if (!*k) {
        *k = vclock_hold((struct vclock *)more);
        return;
    }
    if ((*k)->refs == 1) {
        *k = absorb(vs, *k, (struct vclock *)more);
        return;
    } /* nobody else has this clock: the join was not done before */
    struct vclock_memo *m = &vs->recent_join[hash_of(*k, more) % VCLOCK_RECENT];
    if (m->a != *k || m->b != more) {
        forget(vs, m);
        vs->remembers = true;
        *m = (struct vclock_memo){ vclock_hold(*k), vclock_hold((struct vclock *)more),
                                   join(vs, *k, (struct vclock *)more) };
    }
    vclock_drop(vs, *k);
    *k = vclock_hold(m->result);
}

void vclock_join_kept(struct vclock_store *vs, struct vclock **k, const struct vclock *more)
{
    struct vclock *both = join(vs, *k, (struct vclock *)more);
    vclock_drop(vs, *k);
    *k = both;
}

/* Joins a new leaf, and takes the reference to it. */
static void add(struct vclock_store *vs, struct vclock **k, struct vclock *leaf)
{
    *k = absorb(vs, *k, leaf);
    vclock_drop(vs, leaf);
}

/* No other clock has this leaf of k, nor a branch above it: it may be changed. */
static bool is_own(const struct vclock *k, const struct vclock *part)
{
    for (; k != part; k = k->branch.side[part->key & k->branch.bit ? 1 : 0])
        if (k->refs > 1) return false;
    return k->refs == 1;
}

/* Raises one value of a leaf. */
static void add_value(struct vclock_store *vs, struct vclock **k, enum kind kind, u64 key, u32 index, u32 value)
{
    struct vclock_added *m = &vs->added;
    if (m->to && m->from == *k && m->key == key && m->index == index && m->value == value) {
        vclock_drop(vs, *k);
        *k = vclock_hold(m->to);
        return;
    }
    const struct vclock *old = find(*k, key);
    if (old && old->value[index] >= value) return;
    if (old && is_own(*k, old)) {
        ((struct vclock *)old)->value[index] = value;
        return;
    }
    vclock_drop(vs, m->from);
    vclock_drop(vs, m->to);
    *m = (struct vclock_added){ vclock_hold(*k), NULL, key, index, value };
    struct vclock *leaf = make(vs, kind, key);
    if (old)
        memcpy(leaf->value, old->value, values_of(kind) * sizeof(u32));
    else
        memset(leaf->value, 0, values_of(kind) * sizeof(u32));
    leaf->value[index] = value;
    add(vs, k, leaf);
    m->to = vclock_hold(*k);
}

void vclock_add_cta(struct vclock_store *vs, struct vclock **k, u32 cta, u32 time)
{
    add_value(vs, k, CTAS, key_of_ctas(cta), cta % TOGETHER, time);
}
void vclock_add_leader(struct vclock_store *vs, struct vclock **k, u32 cta, u32 time)
{
    add_value(vs, k, CTAS, key_of_ctas(cta), TOGETHER + cta % TOGETHER, time);
}
void vclock_add_warp(struct vclock_store *vs, struct vclock **k, u32 cta, u32 warp, u32 time)
{
    add_value(vs, k, WARPS_OF, key_of_warps(cta), warp, time);
}
void vclock_add_writes(struct vclock_store *vs, struct vclock **k, u32 location, u32 count)
{
    add_value(vs, k, LOCATIONS, key_of_locations(location), location % TOGETHER, count);
}

void vclock_add_number(struct vclock_store *vs, struct vclock **k, u32 chain, u64 number)
{
    struct vclock *old = find(*k, key_of_chains(chain));
    if (old && old->number[chain % TOGETHER] >= number) return;
    if (old && is_own(*k, old)) {
        old->number[chain % TOGETHER] = number;
        return;
    }
    struct vclock *leaf = make(vs, CHAINS, key_of_chains(chain));
    if (old)
        memcpy(leaf->number, old->number, sizeof leaf->number);
    else
        memset(leaf->number, 0, sizeof leaf->number);
    leaf->number[chain % TOGETHER] = number;
    add(vs, k, leaf);
}

void vclock_add_lanes(struct vclock_store *vs, struct vclock **k, u32 cta, u32 warp, u32 all, u32 lanes, u32 time)
{
    struct vclock *leaf = make(vs, LANES_OF, key_of_warp(cta, warp));
    for (u32 l = 0; l < VCLOCK_LANES; l++) leaf->value[l] = lanes >> l & 1 ? MAX_OF(all, time) : all;
    add(vs, k, leaf);
}

/* ---- questions ---- */

static bool is_same(const struct vclock *a, const struct vclock *b)
{
    if (a == b) return true;
    if (!a || !b || a->kind != b->kind || a->key != b->key) return false;
    if (a->kind == MAP) return is_same(a->map, b->map);
    if (a->kind != BRANCH) return !memcmp(a->value, b->value, values_of(a->kind) * sizeof(u32));
    return a->branch.bit == b->branch.bit && is_same(a->branch.side[0], b->branch.side[0]) &&
           is_same(a->branch.side[1], b->branch.side[1]);
}

/* `all` has what the leaf has: by a leaf of the same key, which would be in `near`, or by the time of its whole CTA. */
static bool has_leaf(const struct vclock *all, const struct vclock *near, const struct vclock *leaf)
{
    const struct vclock *own = find(near, leaf->key);
    for (u32 v = 0; leaf->kind == CHAINS && v < TOGETHER; v++)
        if (leaf->number[v] > (own ? own->number[v] : 0)) return false;
    if (leaf->kind == CHAINS) return true;
    u32 n = values_of(leaf->kind),
        whole = leaf->kind == LANES_OF || leaf->kind == WARPS_OF ? vclock_cta_time(all, (u32)(leaf->key >> 6)) : 0;
    for (u32 v = 0; v < n; v++) {
        u32 here = own ? own->value[v] : 0;
        if (leaf->kind == CTAS && v >= TOGETHER && own) here = MAX_OF(here, own->value[v - TOGETHER]);
        if (leaf->value[v] > MAX_OF(here, whole)) return false;
    }
    return true;
}

/* `all` has what `part` has. `near` is the subtree of `all` that has all keys of the part. */
static bool has(const struct vclock *all, const struct vclock *near, const struct vclock *part)
{
    if (!part || part == near) return true;
    if (part->kind == MAP) return false;
    if (part->kind != BRANCH) return has_leaf(all, near, part);
    while (near && bit_of(near) > part->branch.bit && may_hold(near, part->key))
        near = near->branch.side[part->key & near->branch.bit ? 1 : 0];
    bool same = near && near->key == part->key && bit_of(near) == part->branch.bit;
    return has(all, same ? near->branch.side[0] : near, part->branch.side[0]) &&
           has(all, same ? near->branch.side[1] : near, part->branch.side[1]);
}

bool vclock_covers_maybe(const struct vclock *k, const struct vclock *part) { return has(k, k, part); }

void vclock_share(struct vclock_store *vs, struct vclock **k, const struct vclock *like)
{
    if (*k == like || !is_same(*k, like)) return;
    vclock_drop(vs, *k);
    *k = vclock_hold((struct vclock *)like);
}

/* The time of all lanes of the warp, by its leaf WARPS_OF alone. */
static u32 warp_time(const struct vclock *k, u32 cta, u32 warp)
{
    const struct vclock *all = find(k, key_of_warps(cta));
    return all ? all->value[warp] : 0;
}

bool vclock_has_thread(const struct vclock *k, u32 cta, u32 warp, u32 lane, u32 time)
{
    const struct vclock *all = find(k, key_of_ctas(cta));
    if (all && (time < all->value[cta % TOGETHER] || (!warp && !lane && time < all->value[TOGETHER + cta % TOGETHER])))
        return true;
    if (time < warp_time(k, cta, warp)) return true;
    const struct vclock *w = find(k, key_of_warp(cta, warp));
    return w && time < w->value[lane];
}

bool vclock_has_lanes_maybe(const struct vclock *k, u32 cta, u32 warp, u32 lanes, u32 time)
{
    if (time < vclock_cta_time(k, cta) || time < warp_time(k, cta, warp)) return true;
    const struct vclock *w = find(k, key_of_warp(cta, warp));
    u32 below = 0;
    for (u32 l = 0; w && l < VCLOCK_LANES; l++) below |= (u32)(time < w->value[l]) << l;
    return w && !(lanes & ~below);
}

u32 vclock_warp_time(const struct vclock *k, u32 cta, u32 warp)
{
    const struct vclock *w = find(k, key_of_warp(cta, warp));
    u32 all = MAX_OF(vclock_cta_time(k, cta), warp_time(k, cta, warp)), least = w ? ~0u : 0;
    for (u32 l = 0; w && l < VCLOCK_LANES; l++) least = MIN_OF(least, w->value[l]);
    return MAX_OF(all, least);
}

u32 vclock_warps_time(const struct vclock *k, u32 cta, u32 warps)
{
    const struct vclock *all = find(k, key_of_warps(cta));
    u32 least = all ? ~0u : 0;
    for (u32 n = 0; all && n < warps; n++) least = MIN_OF(least, all->value[n]);
    return least;
}

u32 vclock_cta_time(const struct vclock *k, u32 cta)
{
    const struct vclock *all = find(k, key_of_ctas(cta));
    return all ? all->value[cta % TOGETHER] : 0;
}

/* Counts the CTAs that have a time; lowers *least to the smallest such CTA. */
static u32 count_ctas(const struct vclock *k, u32 *least)
{
    if (!k || k->key >> 63) return 0; /* locations: there may be many of them */
    if (k->kind == BRANCH) return count_ctas(k->branch.side[0], least) + count_ctas(k->branch.side[1], least);
    u32 n = 0;
    for (u32 v = 0; v < TOGETHER && k->kind == CTAS; v++)
        if (k->value[v]) {
            *least = MIN_OF(*least, k->value[v]);
            n++;
        }
    return n;
}

u32 vclock_min_cta_time(const struct vclock *k, u32 ctas)
{
    u32 least = ~0u;
    return ctas && count_ctas(k, &least) == ctas ? least : 0;
}

u32 vclock_writes(const struct vclock *k, u32 location)
{
    const struct vclock *w = find(k, key_of_locations(location));
    return w ? w->value[location % TOGETHER] : 0;
}

u64 vclock_number(const struct vclock *k, u32 chain)
{
    const struct vclock *w = find(k, key_of_chains(chain));
    return w ? w->number[chain % TOGETHER] : 0;
}

bool vclock_has_write(const struct vclock *k, u32 location, u32 number) { return number < vclock_writes(k, location); }

/* ---- clocks by scope ---- */

static void add_map(struct vclock_store *vs, struct vclock **k, u32 cta, const struct vclock *what)
{
    struct vclock *leaf = make(vs, MAP, cta);
    leaf->map = vclock_hold((struct vclock *)what);
    add(vs, k, leaf);
}

void scoped_clock_release(struct vclock_store *vs, struct scoped_clock *r, u32 cta, bool wide,
                          const struct vclock *what)
{
    if (!what) return;
    if (!wide || vs->scoped) add_map(vs, &r->by_cta, cta, what);
    if (wide)
        vclock_join(vs, &r->gpu, what);
    else
        add_map(vs, &r->by_cta_narrow, cta, what);
}

void scoped_clock_join(struct vclock_store *vs, struct scoped_clock *r, const struct scoped_clock *more)
{
    vclock_join(vs, &r->gpu, more->gpu);
    vclock_join(vs, &r->by_cta, more->by_cta);
    vclock_join(vs, &r->by_cta_narrow, more->by_cta_narrow);
}

void scoped_clock_acquire_some(struct vclock_store *vs, const struct scoped_clock *r, u32 cta, bool wide,
                               struct vclock **k)
{
    /* a wide acquire has the rest of by_cta from gpu, and joining that again would take long */
    const struct vclock *own = find(wide ? r->by_cta_narrow : r->by_cta, cta);
    if (wide) vclock_join(vs, k, r->gpu);
    if (own) vclock_join(vs, k, own->map);
}

void scoped_clock_clear(struct vclock_store *vs, struct scoped_clock *r)
{
    vclock_drop(vs, r->gpu);
    vclock_drop(vs, r->by_cta);
    vclock_drop(vs, r->by_cta_narrow);
    *r = (struct scoped_clock){ 0 };
}
