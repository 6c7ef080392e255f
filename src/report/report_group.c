/* Findings of one root: several places that one mistake shows itself at become one entry, which names them all.
 *
 * Dynamic shared memory that is too small is one mistake, wherever the kernel reaches beyond it. A value that nobody
 * wrote is one, wherever it is used. Variables that nobody set are one note for a kernel. The entry that stays is the
 * first of the report's order; the others are listed in its `also` and add their threads, offsets and counts to it. */
#include "report/entry.h"

enum { ALSO_MOST = 8 }; /* places that are listed by name */

static bool is_undefined(const struct finding *f)
{
    return finding_check(f->kind) == CHECK_INIT && finding_severity(f->kind) == SEV_ERROR && f->origin_text;
}

static bool starts_with(const char *text, const char *with) { return !strncmp(text, with, strlen(with)); }

/* The origin of an output says more of what was read, behind the same sentence. */
static bool same_origin(const struct finding *a, const struct finding *b)
{
    /* registers of one line: elements of an array that the compiler has taken apart */
    if (!a->origin && !b->origin && a->kind == b->kind && same_place(a->place, b->place)) return true;
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
    bool listed = !t.n || (own.n && !strcmp(own.p, t.p)) || (to->also.n && lists(to->also.p, t.p));
    if (!listed && to->nalso++ < ALSO_MOST) text_add(&to->also, "%s%s", to->also.n ? ", " : "", t.p);
    if (from->also.n) {
        text_add(&to->also, "%s%s", to->also.n ? ", " : "", from->also.p);
        to->nalso += from->nalso;
    }
    text_free(&own);
    text_free(&t);
}

void also_text(const struct entry *e, struct text *out)
{
    if (!e->also.n) return;
    const char *words = e->f.kind == F_variable_unset ? "the same holds for"
                        : e->f.launch_sized           ? "the same at"
                                                      : "the same value is used at";
    text_add(out, "%s %s", words, e->also.p);
    if (e->nalso > ALSO_MOST) text_add(out, " and %u more", e->nalso - ALSO_MOST);
}

void report_group(struct report *r, struct entry **v, u32 n)
{
    for (u32 i = 0; i < n; i++) {
        if (!v[i] || !may_have_others(&v[i]->f)) continue;
        u32 best = i;
        for (u32 k = i + 1; k < n; k++)
            if (v[k] && is_better(v[k], v[best]) && same_root(v[i], v[k])) best = k;
        struct entry *whole = v[best];
        for (u32 k = i; k < n; k++) {
            if (k == best || !v[k] || !same_root(whole, v[k])) continue;
            also_add(whole, v[k]);
            report_absorb(r, whole, v[k]);
            v[k] = NULL;
        }
    }
}
