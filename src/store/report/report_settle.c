/* One cause, one finding: entries that follow from others are taken out before a report is counted or written.
 *
 * A consequence never hides its cause (rules.md R9b). An undefined value is explained by a race only if the bytes that
 * it was read from are in that race; a race at an address that was computed from an undefined value is explained by
 * that value. */
#include "report/entry.h"
#include "report/suppress.h"

struct settling {
    struct report *r;
    struct place_index cause; /* entries that others may follow from, or be a part of */
    struct entry *gone;       /* entries that were taken out; the index may still name them */
};

static bool is_cause(const struct finding *f)
{
    return f->kind == F_host_pointer || f->kind == F_race || f->kind == F_race_stream || f->kind == F_bounds ||
           f->kind == F_uninit_address || f->kind == F_barrier_divergent || f->kind == F_async_early ||
           f->kind == F_async_wait;
}

/* Of two entries the one that comes first in the buckets; a may be NULL. The index names the later ones first. */
static struct entry *lower(struct entry *a, struct entry *b)
{
    return a && a->hash % BUCKETS < b->hash % BUCKETS ? a : b;
}

/* Of one access, some threads land beside the object and others in the next one: that is one mistake. */
static struct entry *beside(const struct settling *s, const struct entry *e)
{
    const struct finding *f = &e->f;
    struct entry *found = NULL;
    struct place_walk w;
    if (f->kind != F_bounds_neighbour) return NULL;
    for (struct entry *x = place_index_first(&s->cause, F_bounds, f->place, &w); x; x = place_index_next(&s->cause, &w))
        if (x->launch == e->launch && !x->suppressed == !e->suppressed && x->f.width == f->width &&
            same_place(x->f.place, f->place) && same_text(x->f.kernel, f->kernel) &&
            same_text(x->f.access, f->access) && same_text(x->f.object, f->object))
            found = lower(found, x);
    return found;
}

/* ---- races and undefined values ---- */

static bool is_race(const struct finding *f)
{
    return f->rival &&
           (f->kind == F_race || f->kind == F_race_volatile || f->kind == F_race_lanes || f->kind == F_race_same_value);
}

/* Every thread of the first set is in the second one. False where a set is not known in full. */
static bool is_subset(const struct thread_set *a, const struct thread_set *b)
{
    if (a->partial || b->partial || !a->piece || !b->piece || memcmp(a->nctaid, b->nctaid, sizeof a->nctaid) ||
        memcmp(a->ntid, b->ntid, sizeof a->ntid))
        return false;
    for (u32 k = 0; k < SET_PIECES; k++)
        for (u32 j = 0; a->piece[k] && j < SET_PIECE / 64; j++)
            if (a->piece[k][j] & ~(b->piece[k] ? b->piece[k][j] : 0)) return false;
    return true;
}

static bool same_instruction(const struct place *a, const struct place *b)
{
    return a && b && a->ptx_line == b->ptx_line && same_text(a->ptx_file, b->ptx_file) && same_place(a, b);
}

/* One side of the race is an access whose address is undefined in all threads of that side. */
static bool is_effect_of(const struct entry *race, const struct entry *address)
{
    const struct finding *f = &race->f, *u = &address->f;
    if (u->kind != F_uninit_address || address->suppressed || !same_text(f->kernel, u->kernel)) return false;
    return (same_instruction(f->place, u->place) && is_subset(&race->who, &address->who)) ||
           (same_instruction(f->other, u->place) && is_subset(&race->against, &address->who));
}

static bool is_effect_at(const struct settling *s, const struct entry *race, const struct place *p)
{
    struct place_walk w;
    struct entry *e = place_index_first(&s->cause, F_uninit_address, p, &w);
    while (e && !is_effect_of(race, e)) e = place_index_next(&s->cause, &w);
    return e != NULL;
}

static bool is_effect(const struct settling *s, const struct entry *race)
{
    return is_race(&race->f) && (is_effect_at(s, race, race->f.place) || is_effect_at(s, race, race->f.other));
}

static bool reads(const char *access) { return same_text(access, "read") || same_text(access, "atomic"); }

/* The same for a race of two operations. */
static bool stream_explains(const struct finding *f, const struct entry *value)
{
    bool loads = (reads(f->does) && same_place(f->place, value->f.origin)) ||
                 (reads(f->other_does) && same_place(f->other, value->f.origin));
    return loads && f->common_low < value->origin_high && value->origin_low < f->common_high;
}

/* The race has the load that the undefined value came from, and bytes that were undefined there. */
static bool explains_value(const struct entry *race, const struct entry *value)
{
    const struct finding *f = &race->f, *u = &value->f;
    if (f->kind == F_race_stream) return stream_explains(f, value);
    if (f->kind != F_race || race->is_effect || !f->rival || !race->has_range || !same_text(f->space, u->origin_space))
        return false;
    bool loads = (reads(f->access) && same_place(f->place, u->origin)) ||
                 (reads(f->rival->access) && same_place(f->other, u->origin));
    u64 base = f->object ? f->object_base : 0, from = base + (u64)race->low, to = base + (u64)race->high + f->width;
    return loads && from < value->origin_high && value->origin_low < to;
}

/* ---- what leads to what ---- */

static bool is_at(const struct finding *f, const struct place *p)
{
    return same_place(f->place, p) || same_place(f->other, p);
}

/* The race of two stores that end updates is part of the race a: a has the load of that update, the same store, and all
 * its elements. The load may not run where a condition spares it; then a is no race of those elements. */
static bool has_update(const struct entry *a, const struct entry *b)
{
    const struct finding *f = &a->f;
    if (f->kind != F_race || !f->rival || !same_text(f->object, b->f.object)) return false;
    bool load_first = same_text(f->access, "read") && same_place(f->place, b->f.update) &&
                      same_place(f->other, b->f.place),
         store_first = same_text(f->rival->access, "read") && same_place(f->other, b->f.update) &&
                       same_place(f->place, b->f.place);
    return (load_first || store_first) && a->low <= b->low && b->high <= a->high;
}

/* Whether b is what a leads to. An undefined value whose bytes are in a race: the store that the load ran ahead of, or
 * after, is in that race. Lanes of one store that lose to each other, where threads of several warps do so, too.
 * Copies that nobody waits for, which were read too early before. A barrier that some threads left before, where it is
 * found divergent. A race of threads that go beyond the end of their row into the next one, where those of the last row
 * lead out of the array. A call of what could not be loaded. */
static bool leads_to(const struct entry *cause, const struct entry *effect)
{
    const struct finding *a = &cause->f, *b = &effect->f;
    if (b->update && a->kind == F_race) return has_update(cause, effect);
    if (finding_check(b->kind) == CHECK_INIT) return explains_value(cause, effect);
    if (b->kind == F_call_target) return a->kind == F_host_pointer && same_place(a->place, b->place);
    if (is_race(b) && b->kind != F_race_lanes)
        return a->kind == F_bounds && is_at(b, a->place) && same_text(a->object, b->object) &&
               a->object_base == b->object_base && cause->launch == effect->launch && index_rows_overlap(cause);
    if (b->kind == F_barrier_exited) return a->kind == F_barrier_divergent && same_place(a->place, b->place);
    if (b->kind == F_race_lanes) return a->kind == F_race && is_at(a, b->place) && is_at(a, b->other);
    return b->kind == F_async_unfinished && (a->kind == F_async_early || a->kind == F_async_wait) && is_at(a, b->place);
}

/* Whether an entry of this kind at this place leads to x. */
static bool follows_one(const struct settling *s, const struct entry *x, enum finding_kind kind, const struct place *p)
{
    struct place_walk w;
    for (struct entry *e = place_index_first(&s->cause, kind, p, &w); e; e = place_index_next(&s->cause, &w))
        if (!e->suppressed && (kind == F_race_stream || same_text(e->f.kernel, x->f.kernel)) && leads_to(e, x))
            return true;
    return false;
}

/* Asks only those that leads_to can say yes to: it compares a place of theirs with one of x. */
static bool follows(const struct settling *s, const struct entry *x)
{
    const struct finding *f = &x->f;
    bool may = (finding_check(f->kind) == CHECK_INIT && f->origin) || f->kind == F_race_lanes ||
               f->kind == F_async_unfinished || f->kind == F_barrier_exited || f->kind == F_call_target || is_race(f);
    if (!may) return false;
    if (f->kind == F_call_target) return follows_one(s, x, F_host_pointer, f->place);
    if (f->update && follows_one(s, x, F_race, f->update)) return true;
    if (is_race(f) && f->kind != F_race_lanes)
        return follows_one(s, x, F_bounds, f->place) || follows_one(s, x, F_bounds, f->other);
    if (finding_check(f->kind) == CHECK_INIT)
        return follows_one(s, x, F_race, f->origin) || follows_one(s, x, F_race_stream, f->origin);
    if (f->kind == F_barrier_exited) return follows_one(s, x, F_barrier_divergent, f->place);
    if (f->kind == F_race_lanes) return follows_one(s, x, F_race, f->place);
    return follows_one(s, x, F_async_early, f->place) || follows_one(s, x, F_async_wait, f->place);
}

/* ---- without a place in common ---- */

/* Uninitialised bytes, since the access that was to write them failed its check. */
static bool failed_to_write(const struct entry *a, const struct entry *value)
{
    const struct finding *f = &a->f;
    bool writes = f->kind == F_misaligned && (same_text(f->access, "write") || same_text(f->access, "atomic"));
    u64 base = f->object ? f->object_base : 0;
    return writes && a->has_range && same_text(f->space, value->f.origin_space) &&
           base + (u64)a->low < value->origin_high && value->origin_low < base + (u64)a->high + f->width;
}

static bool is_of_copy(const struct finding *f)
{
    return f->kind == F_async_early || f->kind == F_async_wait || f->kind == F_async_overwrite;
}

static bool same_pair(const struct finding *a, const struct finding *b)
{
    return (same_place(a->place, b->place) && same_place(a->other, b->other)) ||
           (same_place(a->place, b->other) && same_place(a->other, b->place));
}

/* Of a copy and an access beside it: that nobody has waited for it explains the race of the two where it was complete
 * by chance; where somebody had waited, and nothing keeps the next copy from coming too early, it is the race that
 * explains why it was seen. */
static bool pair_explains(const struct finding *a, const struct finding *b)
{
    if (b->kind == F_async_early && b->cause_key == ASYNC_WAITED_BY_ANOTHER)
        return (a->kind == F_race || (is_of_copy(a) && a->cause_key != ASYNC_WAITED_BY_ANOTHER)) && same_pair(a, b);
    return b->kind == F_race && b->cause_key == COPY_BY_CHANCE && a->kind == F_async_early &&
           a->cause_key != ASYNC_WAITED_BY_ANOTHER && same_pair(a, b);
}

/* Bytes that an mbarrier counts never come, since the copy was refused; its phases are out of step, since a buffer was
 * filled again while it was still being filled. */
static bool explains_wait(const struct finding *a, const struct finding *b)
{
    if (b->waits_for == WAITS_FOR_BYTES && (a->kind == F_bulk_size || a->kind == F_tensor_map)) return true;
    return b->waits_for != WAITS_FOR_OTHERS && a->kind == F_async_overwrite && same_place(a->place, a->other);
}

static bool leads_from_afar(const struct entry *cause, const struct entry *effect)
{
    const struct finding *a = &cause->f, *b = &effect->f;
    if (b->kind == F_uninit_never) /* the copy came before the launch that was to write */
        return !cause->suppressed && a->kind == F_race_stream && a->object && a->object_base == b->object_base;
    if (cause->suppressed || cause->launch != effect->launch || !same_text(a->kernel, b->kernel)) return false;
    if (a->cause_key == MBARRIER_UNPUBLISHED && a->kind == F_race) /* then nothing is known of its phases */
        return b->kind == F_mbarrier_misuse || b->waits_for;
    if (b->kind == F_deadlock) return explains_wait(a, b);
    if (pair_explains(a, b)) return true;
    if (b->kind == F_race) return false;
    if (b->kind == F_async_early || b->kind == F_async_overwrite || b->kind == F_async_unfinished)
        return a->kind == F_mbarrier_misuse && a->cause_key == MBARRIER_LATE_BYTES && is_at(b, a->place);
    if (b->kind == F_mbarrier_misuse)
        return b->cause_key == MBARRIER_EARLY_ARRIVAL &&
               (a->kind == F_async_early || a->kind == F_async_overwrite || a->kind == F_deadlock);
    return failed_to_write(cause, effect);
}

static bool follows_from_afar(const struct settling *s, const struct entry *e)
{
    const struct finding *f = &e->f;
    bool early = f->kind == F_mbarrier_misuse, value = finding_check(f->kind) == CHECK_INIT && f->origin_space,
         copy = f->kind == F_async_early || f->kind == F_async_overwrite || f->kind == F_async_unfinished,
         race = f->kind == F_race && f->space && !strcmp(f->space, "shared");
    if (!early && !value && !copy && !race && !f->waits_for && f->kind != F_uninit_never) return false;
    for (u32 b = 0; b < BUCKETS; b++)
        for (const struct entry *x = s->r->bucket[b]; x; x = x->next)
            if (x != e && leads_from_afar(x, e)) return true;
    return false;
}

/* ---- taking out ---- */

/* Takes the entry out of the counts. */
static void count_out(struct report *r, const struct entry *e)
{
    bool error = finding_severity(e->f.kind) == SEV_ERROR;
    __atomic_store_n(&r->entries, r->entries - 1, __ATOMIC_RELAXED);
    if (e->suppressed)
        r->suppressed--;
    else {
        --*(error ? &r->errors : &r->notes);
        r->occurrences -= entry_occurrences(e);
        r->error_occurrences -= error ? entry_occurrences(e) : 0;
    }
}

/* Takes out an entry that is in no bucket any longer. */
static void entry_drop(struct settling *s, struct entry *e)
{
    count_out(s->r, e);
    e->gone = true;
    e->next = s->gone;
    s->gone = e;
}

/* Adds e to the entry that it is a part of. */
static void entry_absorb(struct report *r, struct entry *whole, const struct entry *e)
{
    entry_join(whole, e);
    whole->form_varies |= e->form_varies || !same_form(&whole->f.form, &e->f.form);
    whole->start_varies |= e->start_varies || whole->f.form.start != e->f.form.start;
    whole->again_occurrences += e->again_occurrences;
    whole->again_launches += e->again_launches;
    r->occurrences += whole->suppressed ? 0 : entry_occurrences(e); /* count_out takes them away */
    bool error = finding_severity(e->f.kind) == SEV_ERROR;
    r->error_occurrences += whole->suppressed || !error ? 0 : entry_occurrences(e);
}

static void unlink_entry(struct report *r, const struct entry *e)
{
    struct entry **p = &r->bucket[e->hash % BUCKETS];
    while (*p != e) p = &(*p)->next;
    *p = e->next;
}

void report_drop(struct report *r, struct entry *e)
{
    unlink_entry(r, e);
    count_out(r, e);
    entry_free(e);
}

void report_absorb(struct report *r, struct entry *whole, struct entry *e)
{
    entry_absorb(r, whole, e);
    report_drop(r, e);
}

/* ---- equal values ---- */

/* The race of the same two places in which the values differ; NULL: there is none. A rule that keeps that race out
 * keeps out what is a part of it. */
static struct entry *differing(const struct settling *s, const struct entry *e)
{
    struct entry *found = NULL;
    struct place_walk w;
    for (struct entry *x = place_index_first(&s->cause, F_race, e->f.place, &w); x; x = place_index_next(&s->cause, &w))
        if (x->f.rival && x->launch == e->launch && (x->suppressed || !e->suppressed) &&
            same_place(x->f.place, e->f.place) && same_place(x->f.other, e->f.other) &&
            same_text(x->f.access, e->f.access) && same_text(x->f.rival->access, e->f.rival->access) &&
            same_text(x->f.kernel, e->f.kernel) && same_text(x->f.object, e->f.object))
            found = lower(found, x);
    return found;
}

/* What was counted as a note is an error after all, and other rules may keep it out: those that name its kind now. */
static void judge_again(struct report *r, struct entry *e)
{
    struct suppression *was = e->suppressed;
    --*(was ? &r->suppressed : &r->notes);
    r->occurrences -= was ? 0 : entry_occurrences(e);
    if (was) was->used--;
    entry_count(r, e);
    if (e->suppressed) return;
    r->occurrences += entry_occurrences(e);
    r->error_occurrences += entry_occurrences(e);
}

/* Stores of equal values are a note only where the elements have different values: otherwise it may be chance (R7).
 * true: e is no entry of its own any longer. */
static bool judge_equal(struct settling *s, struct entry *e)
{
    struct report *r = s->r;
    struct entry *other = differing(s, e);
    if (other) {
        entry_absorb(r, other, e);
        return true;
    }
    if (e->values_vary) return false;
    e->f.kind = F_race;
    e->hash = finding_hash(&e->f);
    place_index_add(&s->cause, e);
    judge_again(r, e);
    return false;
}

/* All entries whose stores have equal values, before anything else is asked of them. */
static void settle_equal(struct settling *s)
{
    struct report *r = s->r;
    for (u32 b = 0; b < BUCKETS; b++)
        for (struct entry **p = &r->bucket[b]; *p;) {
            struct entry *e = *p;
            if (e->f.kind != F_race_same_value || !e->f.equal) {
                p = &e->next;
            } else if (judge_equal(s, e)) {
                *p = e->next;
                entry_drop(s, e);
            } else if (e->hash % BUCKETS != b) {
                *p = e->next;
                e->next = r->bucket[e->hash % BUCKETS];
                r->bucket[e->hash % BUCKETS] = e;
            } else
                p = &e->next;
        }
}

void report_settle(struct report *r)
{
    if (r->settled == r->entries) return;
    struct settling s = { .r = r };
    place_index_open(&s.cause, r, is_cause);
    settle_equal(&s);
    for (u32 b = 0; b < BUCKETS; b++)
        for (struct entry *e = r->bucket[b]; e; e = e->next) e->is_effect = is_effect(&s, e);
    for (u32 b = 0; b < BUCKETS; b++)
        for (struct entry **p = &r->bucket[b]; *p;) {
            struct entry *e = *p, *whole = beside(&s, e);
            if (whole) entry_absorb(r, whole, e);
            if (whole || e->is_effect || follows(&s, e) || follows_from_afar(&s, e)) {
                *p = e->next;
                entry_drop(&s, e);
            } else
                p = &e->next;
        }
    place_index_close(&s.cause);
    for (struct entry *next; s.gone; s.gone = next) {
        next = s.gone->next;
        entry_free(s.gone);
    }
    struct entry **v = entries_sorted(r);
    report_group(r, v, r->entries);
    base_free(v);
    r->last = NULL;
    memset(r->ticket, 0, sizeof r->ticket);
    r->settled = r->kept = r->entries;
}
