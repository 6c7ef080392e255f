/* One mistake, many launches. A kernel that is launched in a loop shows the same mistake each time, in other memory and
 * perhaps with another grid: the first of these entries stands for all. It keeps its own facts, which would be of no
 * use if they were mixed with those of memory of another size; of the others it has a list, and extremes.
 *
 * Two entries are of one family when kind, kernel, both places, kind and width of the access, and the kernel's own name
 * for the array agree, and the sentences that say why. Names of memory, numbers and plurals in these do not count: "the
 * guard lets 24 too many through" is one mistake with 24 and with 12, and another one than "guard missing". Of one
 * launch only one entry of a family is taken: there, another object is another array. */
#include "report/entry.h"
#include "sites/where.h"
#include <inttypes.h>

enum { NAMES_MOST = 4, GROWN_MOST = 50, WALK_MOST = 64 };

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_in_word(char c) { return is_letter(c) || is_digit(c); }

/* The length of a name where it begins as a word of its own; 0: it does not. */
static u32 name_at(const char *p, const char *name)
{
    size_t n = name ? strlen(name) : 0;
    return n && !strncmp(p, name, n) && !is_in_word(p[n]) ? (u32)n : 0;
}

/* The length of the part of a text, at the beginning of a word, that names an object and not the cause. */
static u32 passing(const struct finding *f, const char *text, const char *p)
{
    static const char argument[] = "argument ";
    const size_t before = sizeof argument - 1;
    u32 n = 0;
    if (!strncmp(p, "{lk@", 4) && strchr(p, '}')) return (u32)strcspn(p, "}") + 1; /* a name or place of the host */
    if (is_digit(*p)) {
        bool counts = (size_t)(p - text) >= before && !memcmp(p - before, argument, before);
        while (!counts && (is_in_word(p[n]) || (p[n] == '.' && is_digit(p[n + 1])))) n++;
        return n;
    }
    if ((n = name_at(p, f->object)) || (n = name_at(p, f->neighbour)) || (n = name_at(p, "a"))) return n;
    return name_at(p, "an");
}

static u64 hash_words(u64 h, const struct finding *f, const char *text)
{
    bool inside = false; /* of a word */
    for (const char *p = text; p && *p;) {
        u32 n = inside ? 0 : passing(f, text, p);
        bool plural = inside && *p == 's' && !is_in_word(p[1]);
        inside = !n && is_in_word(*p);
        if (!n && !plural && *p != ' ') h = hash_mix(h, (u8)*p);
        p += MAX_OF(n, 1u);
    }
    return hash_mix(h, 7);
}

/* Found in a launch that has ended, at a place in its kernel. */
static bool may_fold(const struct entry *e)
{
    return e->f.kernel && e->f.place && e->f.nlanes && !e->running && !e->origin.by && (e->launch || e->origin.nth);
}

/* The instruction, where it is not known which array it is. */
static u64 hash_array(u64 h, const struct finding *f)
{
    if (f->array) return hash_mix(h, f->array);
    h = hash_mix(hash_text(h, f->place->ptx_file), f->place->ptx_line);
    return f->other ? hash_mix(h, f->other->ptx_line) : h;
}

static u64 family_of(struct entry *e)
{
    const struct finding *f = &e->f;
    if (e->family_of == e->occurrences + 1) return e->family;
    struct text t = { 0 };
    bool address = f->access && !f->rival, value = finding_check(f->kind) == CHECK_INIT; /* their keys name objects */
    u64 h = hash_mix(hash_mix((u64)f->kind + 1, f->width), address ? e->low < 0 : value ? 0 : f->cause_key);
    h = hash_place(hash_place(hash_place(h, f->place), f->other), f->origin);
    h = hash_text(hash_text(hash_text(hash_text(h, f->kernel), f->access), f->space), f->does);
    if (f->rival) h = hash_mix(hash_text(h, f->rival->access), f->rival->width);
    h = hash_mix(hash_array(h, f), (u64)!f->neighbour << 1 | !e->suppressed);
    cause_text(e, &t);
    text_add(&t, "\n");
    order_text(e, &t);
    text_add(&t, "\n%s", f->origin_text ? f->origin_text : "");
    h = hash_words(h, f, t.p);
    text_free(&t);
    e->family = h;
    e->family_of = e->occurrences + 1;
    return h;
}

static bool same_launch(const struct entry *a, const struct entry *b)
{
    return a->launch == b->launch && a->origin.nth == b->origin.nth;
}

/* b is the same finding as a, from a launch in which a did not occur. */
static bool is_again(struct entry *a, struct entry *b)
{
    return family_of(a) == family_of(b) && a->f.kind == b->f.kind && same_place(a->f.place, b->f.place) &&
           same_place(a->f.other, b->f.other) && same_text(a->f.kernel, b->f.kernel) && !same_launch(a, b) &&
           !(a->again_launches && a->again_launch == b->launch && a->again_nth == b->origin.nth);
}

bool same_family(struct entry *a, struct entry *b) { return may_fold(a) && may_fold(b) && is_again(a, b); }

static char *kept(const char *z)
{
    char *copy = z ? base_alloc(strlen(z) + 1) : NULL;
    if (copy) memcpy(copy, z, strlen(z) + 1);
    return copy;
}

void again_of(const struct entry *e, struct again *out)
{
    *out = (struct again){ .nth = e->origin.nth,
                           .launch = e->launch,
                           .occurrences = e->occurrences,
                           .low = e->low,
                           .high = e->high,
                           .has_range = e->has_range && e->f.object,
                           .object = (char *)(uintptr_t)e->f.object,
                           .site = (char *)(uintptr_t)e->origin.site };
    memcpy(out->grid, e->grid, sizeof out->grid);
    memcpy(out->block, e->block, sizeof out->block);
}

void again_free(struct entry *e)
{
    for (u32 i = 0; i < e->nagain; i++) {
        base_free(e->again[i].object);
        base_free(e->again[i].site);
    }
    base_free(e->again);
}

/* Doubles when it is full; there may be no memory for it: the entry is then counted, and not listed. */
static void list(struct entry *whole, const struct again *a)
{
    u32 n = whole->nagain;
    if (n == AGAIN_MOST) return;
    if (!(n & (n - 1))) whole->again = base_need_more(whole->again, sizeof *a * MAX_OF(2 * n, 1u));
    whole->again[n] = *a;
    whole->again[n].object = kept(a->object);
    whole->again[n].site = kept(a->site);
    whole->again[n].statement = where_statement(a->object);
    whole->nagain++;
}

static void extend(struct entry *whole, const struct again *a)
{
    if (!a->has_range) return;
    bool first = !whole->again_ranges;
    whole->again_low = first ? a->low : MIN_OF(whole->again_low, a->low);
    whole->again_high = first ? a->high : MAX_OF(whole->again_high, a->high);
    whole->again_ranges = true;
}

void report_count_with(struct report *r, struct entry *whole, struct entry *e)
{
    whole->again_occurrences += entry_occurrences(e);
    u64 all = whole->suppressed ? 0 : entry_occurrences(e); /* report_drop takes them away */
    r->occurrences += all;
    r->error_occurrences += finding_severity(e->f.kind) == SEV_ERROR ? all : 0;
    report_drop(r, e);
}

void report_fold_one(struct report *r, struct entry *whole, struct entry *e)
{
    struct again a;
    again_of(e, &a);
    list(whole, &a);
    extend(whole, &a);
    for (u32 i = 0; i < e->nagain; i++) {
        list(whole, &e->again[i]);
        extend(whole, &e->again[i]);
    }
    whole->again_launches += MAX_OF(e->launches, 1u) + e->again_launches;
    whole->again_launch = e->launch;
    whole->again_nth = e->origin.nth;
    report_count_with(r, whole, e);
}

/* What was given out stands for what comes later, and an earlier launch for later ones. */
static int by_launch(const struct entry *a, const struct entry *b)
{
    if (a->said != b->said) return a->said ? -1 : 1;
    if (a->launch != b->launch) return a->launch < b->launch ? -1 : 1;
    return (a->origin.nth > b->origin.nth) - (a->origin.nth < b->origin.nth);
}

void report_fold(struct report *r, struct entry **v, u32 n)
{
    struct entry **c = n ? base_need(sizeof *c * 2 * n) : NULL;
    struct chains families;
    u32 many = 0;
    for (u32 i = 0; i < n; i++)
        if (v[i] && may_fold(v[i])) c[many++] = v[i];
    if (many > 1) {
        entries_sort(c, c + n, many, by_launch);
        chains_open(&families, many);
        for (u32 i = 0; i < many; i++) {
            u32 k = chains_first(&families, family_of(c[i]));
            for (u32 steps = 0; k != NO_NUMBER && !is_again(c[k], c[i]); steps++)
                k = steps < WALK_MOST ? families.next[k] : NO_NUMBER;
            if (k != NO_NUMBER)
                report_fold_one(r, c[k], c[i]);
            else
                chains_add(&families, family_of(c[i]), i);
        }
        chains_close(&families);
    }
    base_free(c);
}

/* ---- in words ---- */

/* The names of other memory, each once, the first few of them; how many launches had other memory. */
static u64 names_text(const struct entry *e, struct text *out)
{
    u64 others = 0, names = 0;
    for (u32 i = 0; i < e->nagain; i++) {
        const char *name = e->again[i].object;
        if (!name || same_text(name, e->f.object)) continue;
        others++;
        u32 k = 0;
        while (k < i && e->again[k].statement != e->again[i].statement) k++;
        if (k == i && names++ < NAMES_MOST) text_add(out, "%s%s", names > 1 ? ", " : "", name);
    }
    if (names > NAMES_MOST) text_add(out, " and %" PRIu64 " more", names - NAMES_MOST);
    return others;
}

/* The ways of the host to the launches. */
static u64 places_of(const struct entry *e)
{
    u64 n = e->origin.site != NULL;
    for (u32 i = 0; n && i < e->nagain; i++) {
        const char *site = e->again[i].site;
        if (!site || same_text(site, e->origin.site)) continue;
        u32 k = 0;
        while (k < i && !same_text(e->again[k].site, site)) k++;
        n += k == i;
    }
    return n;
}

void others_text(const struct entry *e, struct text *out)
{
    struct text names = { 0 };
    u64 n = names_text(e, &names);
    if (n) text_add(out, "other memory in %" PRIu64 " of them: %s", n, names.p);
    s64 low = MIN_OF(e->low, e->again_low), high = MAX_OF(e->high, e->again_high);
    if (e->again_ranges && e->has_range && e->f.object && (low != e->low || high != e->high))
        text_add(out, "%soffsets %" PRId64 "..%" PRId64 " in all", n ? "; " : "", low, high);
    u64 places = places_of(e);
    if (places > 1) text_add(out, "%slaunched from %" PRIu64 " places", out->n ? "; " : "", places);
    text_free(&names);
}

static void grown_line(const struct entry *e, struct text *out)
{
    const struct finding *f = &e->f;
    struct text t = { 0 };
    char name[256] = "";
    if (f->kernel) name_plain(str_of(f->kernel), name, sizeof name);
    text_add(&t, "%s[%s]", finding_severity(f->kind) == SEV_ERROR ? "error" : "note", finding_id(f->kind));
    if (f->place) text_add(&t, " at ");
    if (f->place) place_brief(place_shown(f->place), &t);
    if (name[0]) text_add(&t, ", kernel %s", name);
    text_add(&t, ": in %" PRIu64 " launches", entry_launches(e));
    struct text others = { 0 };
    others_text(e, &others);
    if (others.n) text_add(&t, "; %s", others.p);
    python_words(e, &t);
    printable((struct str){ t.p, (u32)t.n }, out);
    text_add(out, "\n");
    text_free(&others);
    text_free(&t);
}

void grown_text(struct entry *const *v, u32 n, struct text *out)
{
    u32 lines = 0, more = 0;
    for (u32 i = 0; v && i < n; i++) {
        if (!v[i]->said || v[i]->suppressed || entry_launches(v[i]) <= v[i]->said_launches) continue;
        if (lines < GROWN_MOST)
            grown_line(v[i], out);
        else
            more++;
        lines++;
    }
    if (more) text_add(out, "%u more findings came again\n", more);
}
