/* Findings of one root: several places that one mistake shows itself at become one entry, which names them all.
 *
 * Dynamic shared memory that is too small is one mistake, wherever the kernel reaches beyond it. A value that nobody
 * wrote is one, wherever it is used. A free that came too early is one, whoever uses the memory then. Variables that
 * nobody set are one note for a kernel. The entry that stays is the first of the report's order; the others are listed
 * in its `also` and add their threads, offsets and counts to it. */
#include "report/entry.h"

enum { ALSO_MOST = 8 }; /* places that are listed by name */

static bool is_undefined(const struct finding *f)
{
    return finding_check(f->kind) == CHECK_INIT && finding_severity(f->kind) == SEV_ERROR && f->origin_text;
}

static bool starts_with(const char *text, const char *with) { return !strncmp(text, with, strlen(with)); }

/* The origin of an output says more of what was read, after the same sentence. */
static bool same_origin(const struct finding *a, const struct finding *b)
{
    /* registers of one line: elements of an array that the compiler has taken apart */
    if (!a->origin && !b->origin && a->place && a->kind == b->kind && same_place(a->place, b->place)) return true;
    return same_place(a->origin, b->origin) &&
           (starts_with(a->origin_text, b->origin_text) || starts_with(b->origin_text, a->origin_text));
}

static bool same_root(const struct entry *x, const struct entry *y)
{
    const struct finding *a = &x->f, *b = &y->f;
    if (!x->suppressed != !y->suppressed || !same_text(a->kernel, b->kernel)) return false;
    /* all such arrays of a kernel begin at one address, under whatever name */
    if (a->kind == F_variable_unset) return b->kind == F_variable_unset;
    if (a->launch_sized) return b->launch_sized && a->kind == b->kind && a->object_base == b->object_base;
    return is_undefined(a) && is_undefined(b) && same_origin(a, b);
}

static bool may_have_others(const struct finding *f)
{
    return f->launch_sized || f->kind == F_variable_unset || is_undefined(f);
}

/* Where the program uses the value says more than where the host takes it. */
static bool is_better(const struct entry *a, const struct entry *b)
{
    return a->f.kind != F_uninit_output && b->f.kind == F_uninit_output;
}

/* Whether a list "a, b, c" has an item. */
static bool lists(const char *list, const char *item)
{
    size_t n = strlen(item);
    for (const char *p = list; (p = strstr(p, item)); p++)
        if ((p == list || p[-1] == ' ') && (!p[n] || p[n] == ',')) return true;
    return false;
}

/* Lists an item, once. */
static void also_item(struct entry *to, const char *item)
{
    if (to->also.n && lists(to->also.p, item)) return;
    if (to->nalso++ < ALSO_MOST) text_add(&to->also, "%s%s", to->also.n ? ", " : "", item);
}

/* Lists the place of an entry, and what another one had listed, in the entry that stays. */
static void also_add(struct entry *to, const struct entry *from)
{
    struct text t = { 0 };
    if (from->f.kind == F_variable_unset)
        text_add(&t, "%s", from->f.object);
    else if (from->f.place)
        place_brief(from->f.place, &t);
    if (t.n && from->f.kind != to->f.kind) text_add(&t, " (%s)", finding_title(from->f.kind));
    struct text own = { 0 };
    if (to->f.place) place_brief(to->f.place, &own);
    if (t.n && !(own.n && !strcmp(own.p, t.p))) also_item(to, t.p);
    if (from->also.n) {
        text_add(&to->also, "%s%s", to->also.n ? ", " : "", from->also.p);
        to->nalso += from->nalso;
    }
    text_free(&own);
    text_free(&t);
}

void also_text(const struct entry *e, struct text *out)
{
    if (!e->also.n && e->streams_vary) text_add(out, "the same calls meet in other streams, too");
    if (!e->also.n) return;
    const char *words = e->f.kind == F_race                    ? e->nalso == 1 ? "the same barrier is missing at line"
                                                                               : "the same barrier is missing at lines"
                        : e->f.kind == F_variable_unset        ? "the same holds for"
                        : e->f.kind == F_bounds                ? "the same guard is missing for"
                        : e->f.launch_sized                    ? "the same at"
                        : e->f.kind == F_use_after_free_stream ? "the freed memory is used by"
                                                               : "the same value is used at";
    text_add(out, "%s %s", words, e->also.p);
    if (e->nalso > ALSO_MOST) text_add(out, " and %u more", e->nalso - ALSO_MOST);
}

/* ---- which entries may be of one root ---- */

/* Entries of one root have equal root keys; or equal spot keys, where neither has an origin. */
struct groups {
    struct chains root, spot; /* of the numbers in the report's order */
};
struct walk { /* along two chains at once, in that order */
    u32 root, spot;
};

/* The sentence of an origin, without what that of an output says more. */
static u64 hash_sentence(u64 h, const char *text)
{
    enum { ENOUGH = 64 }; /* characters to tell sentences apart by */
    u32 n = 0;
    while (n < ENOUGH && text[n] && text[n] != ';') n++;
    return hash_mix(h, str_hash((struct str){ text, n }));
}

static u64 root_key(const struct entry *e)
{
    const struct finding *f = &e->f;
    u64 h = hash_text(e->suppressed ? 1 : 2, f->kernel);
    if (f->kind == F_variable_unset) return hash_mix(h, F_variable_unset);
    if (f->launch_sized) return hash_mix(hash_mix(h, f->kind), f->object_base);
    return hash_sentence(hash_place(h, f->origin), f->origin_text);
}

static bool has_spot(const struct finding *f) { return is_undefined(f) && !f->origin; }

static u64 spot_key(const struct entry *e)
{
    return hash_place(hash_mix(hash_text(e->suppressed ? 1 : 2, e->f.kernel), e->f.kind), e->f.place);
}

static struct walk walk_start(const struct groups *g, const struct entry *e)
{
    return (struct walk){ .root = chains_first(&g->root, root_key(e)),
                          .spot = has_spot(&e->f) ? chains_first(&g->spot, spot_key(e)) : NO_NUMBER };
}

static u32 walk_next(const struct groups *g, struct walk *w)
{
    u32 k = MIN_OF(w->root, w->spot);
    if (k == NO_NUMBER) return k;
    if (w->root == k) w->root = g->root.next[k];
    if (w->spot == k) w->spot = g->spot.next[k];
    return k;
}

static void groups_open(struct groups *g, struct entry **v, u32 n)
{
    chains_open(&g->root, n);
    chains_open(&g->spot, n);
    for (u32 i = n; i-- > 0;) { /* the last one added is the first of its chain */
        if (!may_have_others(&v[i]->f)) continue;
        chains_add(&g->root, root_key(v[i]), i);
        if (has_spot(&v[i]->f)) chains_add(&g->spot, spot_key(v[i]), i);
    }
}

/* Adds the entries of the root of v[i] to the one of them that says most. */
static void group_at(struct report *r, const struct groups *g, struct entry **v, u32 i)
{
    u32 best = i;
    struct walk w = walk_start(g, v[i]);
    for (u32 k; (k = walk_next(g, &w)) != NO_NUMBER;)
        if (k > i && v[k] && is_better(v[k], v[best]) && same_root(v[i], v[k])) best = k;
    struct entry *whole = v[best];
    w = walk_start(g, whole);
    for (u32 k; (k = walk_next(g, &w)) != NO_NUMBER;) {
        if (k < i || k == best || !v[k] || !same_root(whole, v[k])) continue;
        also_add(whole, v[k]);
        report_absorb(r, whole, v[k]);
        v[k] = NULL;
    }
}

/* Both are of one launch, and reported alike. */
static bool same_launch(const struct entry *a, const struct entry *b)
{
    return a->launch == b->launch && !a->suppressed == !b->suppressed && same_text(a->f.kernel, b->f.kernel);
}

/* ---- one statement ---- */

/* Kinds that say all of the address, whoever uses it. */
static bool is_of_address(u32 kind)
{
    return kind == F_bounds || kind == F_bounds_shared || kind == F_misaligned || kind == F_host_pointer ||
           kind == F_null_pointer || kind == F_invalid_address;
}

static bool same_words(const struct entry *a, const struct entry *b, void (*write)(const struct entry *, struct text *))
{
    struct text t[2] = { { 0 }, { 0 } };
    write(a, &t[0]);
    write(b, &t[1]);
    bool same = t[0].n == t[1].n && (!t[0].n || !memcmp(t[0].p, t[1].p, t[0].n));
    text_free(&t[0]);
    text_free(&t[1]);
    return same;
}

static bool same_sentences(const struct entry *a, const struct entry *b) { return same_words(a, b, cause_text); }

/* All addresses of x are those of e; or all that are new of it, where a report was asked for while the kernel ran. */
static bool same_addresses(const struct entry *x, const struct entry *e)
{
    return (x->low == e->low && x->high == e->high) || (e->update == x->hash && x->low >= e->low && x->high <= e->high);
}

/* The load and the store of one line (x[i] *= 2), at the same addresses, with the same cause: one mistake. The first
 * one stays. */
static void group_update(struct report *r, struct entry **v, u32 n, u32 whole)
{
    struct entry *e = v[whole];
    for (u32 k = whole + 1; k < n; k++) {
        const struct entry *x = v[k];
        if (!x || x->f.kind != e->f.kind || same_text(x->f.access, e->f.access) || !same_launch(x, e) ||
            !same_addresses(x, e) || x->f.object_base != e->f.object_base || x->f.width != e->f.width || !x->f.place ||
            !e->f.place || !e->f.place->line || x->f.place->line != e->f.place->line ||
            !same_text(x->f.place->file, e->f.place->file) || !same_sentences(x, e))
            continue;
        e->update = x->hash;
        report_drop(r, v[k]);
        v[k] = NULL;
    }
}

/* ---- one pointer ---- */

static bool same_kernel(const char *a, const char *b)
{
    char name[2][256];
    if (!a || !b) return false;
    name_plain(str_of(a), name[0], sizeof name[0]);
    name_plain(str_of(b), name[1], sizeof name[1]);
    return !strcmp(name[0], name[1]);
}

/* What is said of a pointer that leads nowhere when it is passed, of one that was followed: "argument 0 is a pointer of
 * the host", "argument 0 is 0x10: no allocation of this device is there", and of freed memory only the end of it. */
static bool same_pointer(const struct finding *passed, const struct finding *followed)
{
    if (!passed->cause) return false;
    if (followed->kind != F_use_after_free)
        return followed->cause && !strncmp(passed->cause, followed->cause, strcspn(followed->cause, ","));
    char end[400];
    snprintf(end, sizeof end, " points into %s, which was freed", followed->object ? followed->object : "");
    size_t n = strlen(end), all = strlen(passed->cause);
    return all > n && !strcmp(passed->cause + all - n, end);
}

/* A pointer was told of when it was passed, and then it was followed. */
static void group_passed(struct report *r, struct entry **v, u32 n, u32 followed)
{
    const struct entry *e = v[followed];
    for (u32 k = 0; k < n; k++) {
        if (!v[k] || v[k]->f.kind != F_launch_pointer || !v[k]->suppressed != !e->suppressed ||
            !same_pointer(&v[k]->f, &e->f) || !same_kernel(v[k]->f.kernel, e->f.kernel))
            continue;
        report_drop(r, v[k]);
        v[k] = NULL;
    }
}

/* Pointers themselves were put where the addresses of their variables belong: what the launch then follows is what the
 * memory there holds, whatever comes of it. */
static void group_by_value(struct report *r, struct entry **v, u32 n, u32 passed)
{
    const struct entry *e = v[passed];
    for (u32 k = 0; k < n; k++) {
        u32 kind = v[k] ? v[k]->f.kind : F_args_by_value;
        bool follows = kind == F_invalid_address || kind == F_null_pointer || kind == F_host_pointer ||
                       kind == F_launch_pointer || kind == F_misaligned;
        if (!follows || !e->f.call || !same_text(v[k]->origin.site, e->f.call) || !v[k]->suppressed != !e->suppressed)
            continue;
        report_drop(r, v[k]);
        v[k] = NULL;
    }
}

/* ---- one value ---- */

/* What is left out beside the entry e: an infinity in the memory that came of a sum whose operands are told, or that
 * sum where the way from there to the output is. */
static bool covers_value(const struct entry *e, u32 kind)
{
    if (kind == F_value_nonfinite) return e->f.kind == F_half_overflow;
    return kind == F_half_overflow && (e->f.kind == F_value_inf || e->f.kind == F_value_nan);
}

static void group_value(struct report *r, struct entry **v, u32 n, u32 whole)
{
    for (u32 k = 0; k < n; k++) {
        if (!v[k] || !covers_value(v[whole], v[k]->f.kind) || !same_launch(v[k], v[whole])) continue;
        report_drop(r, v[k]);
        v[k] = NULL;
    }
}

/* ---- one guard ---- */

/* Whether all threads of an entry are among those that a guard along these axes would stop. */
static bool is_beyond(const struct entry *e, u32 axes, const u64 extent[3])
{
    struct crowd c;
    if (e->who.partial || !who_sum(&e->who, &c)) return false;
    for (u32 i = 0; i < 3; i++)
        if (axes >> i & 1 && c.grid.min[i] >= extent[i]) return true;
    return false;
}

/* The same guard is missing for it. */
static bool lacks_guard(const struct entry *e, u32 axes, const u64 extent[3])
{
    u64 its[3] = { 0 };
    if (index_unguarded(e, its) != axes) return false;
    for (u32 i = 0; i < 3; i++)
        if (axes >> i & 1 && its[i] != extent[i]) return false;
    return true;
}

/* "a at gemm.cu:12" */
static void also_access(const struct entry *e, struct text *out)
{
    text_add(out, "%s at ", e->f.object);
    if (e->f.place)
        place_brief(e->f.place, out);
    else
        text_add(out, "?");
}

/* The guard of an index in two dimensions is missing: other arrays that the same threads run out of, into the next one
 * or not, are no mistakes of their own. */
static void group_guard(struct report *r, struct entry **v, u32 n, u32 whole)
{
    u64 extent[3];
    u32 axes = index_unguarded(v[whole], extent);
    for (u32 k = 0; axes && k < n; k++) {
        u32 kind = v[k] ? v[k]->f.kind : UINT32_MAX;
        if (k == whole || (kind != F_bounds && kind != F_bounds_neighbour) || !same_launch(v[k], v[whole]) ||
            !(is_beyond(v[k], axes, extent) || (kind == F_bounds && lacks_guard(v[k], axes, extent))))
            continue;
        struct text t = { 0 }, own = { 0 };
        also_access(v[k], &t);
        also_access(v[whole], &own);
        if (strcmp(t.p, own.p)) also_item(v[whole], t.p);
        text_free(&t);
        text_free(&own);
        if (same_family(v[whole], v[k]))
            report_fold_one(r, v[whole], v[k]);
        else
            report_drop(r, v[k]);
        v[k] = NULL;
    }
}

/* ---- one warp that does not run in step ---- */

enum { TAIL_GAP = 3 }; /* lines between two steps of a tail: a condition or a barrier of another kind may stand there */

/* A race of two lanes of a warp in shared memory that a barrier of the warp would order: of a reduction that was
 * written for warps in step. */
static bool is_of_tail(const struct entry *e)
{
    const struct finding *f = &e->f;
    if (f->kind != F_race || !f->rival || !f->place || !f->place->line || !f->other || !f->other->line ||
        !same_text(f->space, "shared") || !same_text(f->place->file, f->other->file))
        return false;
    struct text t = { 0 };
    order_text(e, &t);
    bool warp = t.n && strstr(t.p, "__syncwarp() between");
    text_free(&t);
    return warp;
}

static bool same_instance(const struct entry *a, const struct entry *b)
{
    return same_launch(a, b) && a->origin.nth == b->origin.nth && same_text(a->f.object, b->f.object) &&
           a->f.object_base == b->f.object_base && a->f.cause_key == b->f.cause_key &&
           same_text(a->f.place->file, b->f.place->file) &&
           same_place(a->f.place->inlined_at, b->f.place->inlined_at) && same_sentences(a, b) &&
           same_words(a, b, fix_text);
}

static void also_line(struct entry *e, u32 line)
{
    char text[16];
    if (line == e->f.place->line || line == e->f.other->line) return;
    snprintf(text, sizeof text, "%u", line);
    also_item(e, text);
}

/* Consecutive steps of one tail lack one kind of barrier: the first race stands for them, and lists the lines. The
 * entries are in the order of lines. */
static void group_tail(struct report *r, struct entry **v, u32 n, u32 whole)
{
    struct entry *e = v[whole];
    u32 low = MIN_OF(e->f.place->line, e->f.other->line), high = MAX_OF(e->f.place->line, e->f.other->line);
    for (u32 k = whole + 1; k < n; k++) {
        const struct entry *x = v[k];
        if (!x || x->f.kind != F_race || !x->f.place || !x->f.other) continue;
        u32 from = MIN_OF(x->f.place->line, x->f.other->line), to = MAX_OF(x->f.place->line, x->f.other->line);
        if (from > high + TAIL_GAP || to + TAIL_GAP < low || !is_of_tail(x) || !same_instance(e, x)) continue;
        low = MIN_OF(low, from);
        high = MAX_OF(high, to);
        also_line(e, from);
        also_line(e, to);
        report_count_with(r, e, v[k]);
        v[k] = NULL;
    }
}

/* ---- one free ---- */

/* "stage1 at pool.cu:3" */
static void user_text(const struct finding *f, struct text *out)
{
    char name[256] = "a kernel";
    if (f->kernel) name_plain(str_of(f->kernel), name, sizeof name);
    text_add(out, "%s at ", name);
    if (f->place)
        place_brief(f->place, out);
    else
        text_add(out, "?");
}

/* What nothing orders a free after is told of the two operations, where both were seen: what kernels then do with the
 * memory follows from it, and is listed. Else it is told of the first access. */
static void group_free(struct report *r, struct entry **v, u32 n, u32 whole)
{
    const struct finding *f = &v[whole]->f;
    struct text own = { 0 };
    user_text(f, &own);
    for (u32 k = 0; k < n; k++) {
        const struct finding *x = v[k] ? &v[k]->f : NULL;
        if (k == whole || !x || x->kind != f->kind || !x->access || !x->object_base ||
            x->object_base != f->object_base || !v[k]->suppressed != !v[whole]->suppressed)
            continue;
        struct text t = { 0 };
        user_text(x, &t);
        if (!f->access || strcmp(t.p, own.p)) also_item(v[whole], t.p);
        text_free(&t);
        report_drop(r, v[k]);
        v[k] = NULL;
    }
    text_free(&own);
}

void report_group(struct report *r, struct entry **v, u32 n)
{
    struct groups g;
    for (u32 i = 0; i < n; i++)
        if (v[i] && v[i]->f.kind == F_bounds) group_guard(r, v, n, i);
    for (u32 i = 0; i < n; i++)
        if (v[i] && v[i]->f.kind == F_use_after_free_stream && !v[i]->f.access) group_free(r, v, n, i);
    for (u32 i = 0; i < n; i++) {
        u32 kind = v[i] ? v[i]->f.kind : UINT32_MAX;
        if (kind == F_args_by_value) group_by_value(r, v, n, i);
        if (kind == F_use_after_free_stream) group_free(r, v, n, i);
        if (kind == F_host_pointer || kind == F_invalid_address || kind == F_use_after_free) group_passed(r, v, n, i);
        if (v[i] && finding_check(v[i]->f.kind) == CHECK_VALUES) group_value(r, v, n, i);
        if (v[i] && is_of_address(v[i]->f.kind)) group_update(r, v, n, i);
        if (v[i] && is_of_tail(v[i])) group_tail(r, v, n, i);
    }
    for (u32 i = 0, to = 0, all = n; i < all; i++) {
        if (v[i]) v[to++] = v[i];
        n = to;
    }
    groups_open(&g, v, n);
    for (u32 i = 0; i < n; i++)
        if (v[i] && may_have_others(&v[i]->f)) group_at(r, &g, v, i);
    chains_close(&g.root);
    chains_close(&g.spot);
    report_fold(r, v, n);
}

/* ---- several reports ---- */

void reports_begin(struct reports *all, struct report *const *r, u32 n)
{
    *all = (struct reports){ .r = r, .n = n };
    for (u32 i = 0; i < n; i++) {
        lock(&r[i]->lock);
        struct entry **v = report_sorted(r[i]);
        if (v && r[i]->entries) {
            all->v = base_need_more(all->v, (all->entries + r[i]->entries) * sizeof *v);
            memcpy(all->v + all->entries, v, r[i]->entries * sizeof *v);
            all->entries += r[i]->entries;
        }
        base_free(v);
        all->errors += r[i]->errors;
        all->notes += r[i]->notes;
        all->suppressed += r[i]->suppressed;
        all->occurrences += r[i]->occurrences;
        all->dropped += r[i]->dropped;
        all->checks_ran |= r[i]->checks_ran;
    }
}

void reports_end(struct reports *all)
{
    base_free(all->v);
    sources_drop();
    for (u32 i = all->n; i-- > 0;) unlock(&all->r[i]->lock);
}
