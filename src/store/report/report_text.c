/* The report for people: what, where with the source line and a caret, who, why, and what to do.
 *
 * The place shown is the user's (source.c): where an access lies in a header of the toolkit, the line that called it.
 * Where there is no source, the PTX instruction stands in for it. */
#include "report/entry.h"
#include <inttypes.h>

struct ink { /* where the text goes, and whether in colour */
    struct text *out;
    bool color;
    int gutter; /* width of the line number column of this entry */
};
enum paint { P_ERROR, P_NOTE, P_BOLD, P_RULE, P_OFF };

static void paint(struct ink *k, enum paint p)
{
    static const char *const code[] = { "\x1b[1;31m", "\x1b[1;36m", "\x1b[1m", "\x1b[1;34m", "\x1b[0m" };
    if (k->color) text_add(k->out, "%s", code[p]);
}

/* How much to underline from `col`: in PTX the opcode; in source a name with the subscript or call that follows it,
 * else one character. */
static u32 extent(struct str line, u32 from, bool is_ptx)
{
    u32 i = from;
    while (is_ptx && i < line.n && line.p[i] != ' ' && line.p[i] != ';') i++;
    return is_ptx ? MAX_OF(i - from, 1u) : subscripted(line, from);
}

static void gutter(struct ink *k, u32 line, const char *rule)
{
    paint(k, P_RULE);
    if (line)
        text_add(k->out, "%*u %s", k->gutter, line, rule);
    else
        text_add(k->out, "%*s %s", k->gutter, "", rule);
    paint(k, P_OFF);
}

static void arrow(struct ink *k, const char *sign)
{
    paint(k, P_RULE);
    text_add(k->out, "%*s%s ", k->gutter, "", sign);
    paint(k, P_OFF);
}

/* Words of the user's, safe to show. */
static void put(struct ink *k, const char *z) { printable(str_of(z), k->out); }

/* What to mark at a column: a whole word, or the first one of the line when the column is 0. */
static struct mark mark_at(struct str line, u32 col, bool is_ptx)
{
    if (!col)
        for (col = 1; col < line.n && (line.p[col - 1] == ' ' || line.p[col - 1] == '\t');) col++;
    u32 at = MIN_OF(col - 1, line.n);
    return (struct mark){ at, at < line.n ? extent(line, at, is_ptx) : 0 };
}

/* The text of an indented line up to a comment of Python's, which holds no quote; n = 0: it begins at its column 1. */
static struct mark indented(struct str line)
{
    u32 at = 0, end = line.n;
    while (line.p && at < line.n && (line.p[at] == ' ' || line.p[at] == '\t')) at++;
    for (u32 i = at; at && i + 1 < end && line.p[i] != '"' && line.p[i] != '\''; i++)
        if (line.p[i] == ' ' && line.p[i + 1] == '#') end = i;
    while (end > at && (line.p[end - 1] == ' ' || line.p[end - 1] == '\t' || line.p[end - 1] == '\r')) end--;
    return (struct mark){ at, at ? end - at : 0 };
}

/* A line of text with a mark below, which stands right because the line is measured. */
static void quoted(struct ink *k, u32 number, struct str line, struct mark m, enum paint mark)
{
    gutter(k, 0, "|\n");
    gutter(k, number, "| ");
    u32 at = m.at, n = m.n;
    u32 before = printable((struct str){ line.p, at }, k->out),
        width = printable((struct str){ line.p + at, n }, k->out);
    printable((struct str){ line.p + at + n, line.n - at - n }, k->out);
    text_add(k->out, "\n");
    gutter(k, 0, "| ");
    text_add(k->out, "%*s", (int)before, "");
    paint(k, mark);
    for (u32 i = 0; i < MAX_OF(width, 1u); i++) text_add(k->out, "^");
    paint(k, P_OFF);
    text_add(k->out, "\n");
}

static void ptx_quoted(struct ink *k, const struct place *p, enum paint mark)
{
    if (!p->ptx_text) return;
    struct str line = str_of(p->ptx_text);
    while (line.n && (*line.p == ' ' || *line.p == '\t')) line.p++, line.n--;
    quoted(k, p->ptx_line, line, mark_at(line, 1, true), mark);
}

struct shown_finding {               /* a place of an entry with its source */
    const struct place *all, *place; /* the innermost; the one that is shown. NULL: there is none */
    struct source source;
    const char *sign;
    const char *access, *object; /* what was done there, and to which array; NULL: not known */
};

static void place_text(struct ink *k, const struct shown_finding *x, enum paint mark)
{
    const struct place *p = x->place;
    const struct source *s = &x->source;
    struct mark m = { 0 };
    struct mark whole = p->col == 1 ? indented(s->line) : m; /* a column that stands for none: Numba's stores */
    u32 col = whole.n ? whole.at + 1 : p->col;
    const char *scope = x->object ? strrchr(x->object, ':') : NULL; /* ns::table is called table in ns */
    bool found = s->line.p && access_mark(s->line, col, x->access, scope ? scope + 1 : x->object, &m);
    if (s->line.p && !found) m = whole.n ? whole : mark_at(s->line, p->col, false);
    if (s->shown[0]) {
        arrow(k, x->sign);
        put(k, s->shown);
        text_add(k->out, ":%u", p->line);
        text_add(k->out, p->col ? ":%u\n" : "\n", found ? m.at + 1 : col);
    }
    if (s->line.p) {
        quoted(k, p->line, s->line, m, mark);
    } else if (!s->shown[0] || p->ptx_text) {
        arrow(k, x->sign);
        put(k, p->ptx_file ? p->ptx_file : "PTX");
        text_add(k->out, ":%u%s\n", p->ptx_line, s->shown[0] ? " (the source is not on this machine)" : "");
        ptx_quoted(k, p, mark);
    }
}

/* The chain around the place shown: the toolkit's functions inside it, and the callers outside. */
static void inlined_text(struct ink *k, const struct place *p, const struct place *shown)
{
    char name[256];
    const struct place *inside = NULL;
    for (; p != shown; p = p->inlined_at) inside = p;
    if (inside && inside->function && inside->file) {
        arrow(k, " =");
        name_plain(str_of(inside->function), name, sizeof name);
        text_add(k->out, "in ");
        put(k, name);
        text_add(k->out, " (");
        put(k, path_name(inside->file));
        text_add(k->out, ":%u)\n", inside->line);
    }
    for (; p->inlined_at; p = p->inlined_at) {
        const struct place *up = p->inlined_at;
        arrow(k, " =");
        name[0] = 0;
        if (p->function) name_plain(str_of(p->function), name, sizeof name);
        text_add(k->out, "%s", p->called ? "" : p->function ? "inlined from " : "inlined");
        put(k, p->called && !p->function ? "function" : name);
        text_add(k->out, p->called ? " called at " : " at ");
        put(k, up->file ? path_name(up->file) : up->ptx_file ? path_name(up->ptx_file) : "PTX");
        text_add(k->out, ":%u", up->file ? up->line : up->ptx_line);
        text_add(k->out, up->col ? ":%u\n" : "\n", up->col);
    }
}

/* One "= label: text" line; text with line breaks continues below the text. */
static void fact(struct ink *k, const char *label, const char *text)
{
    if (!text || !*text) return;
    gutter(k, 0, "= ");
    paint(k, P_BOLD);
    text_add(k->out, "%s:", label);
    paint(k, P_OFF);
    text_add(k->out, " ");
    size_t pad = strlen(label) + 2;
    for (const char *p = text; *p;) {
        const char *nl = strchr(p, '\n');
        size_t n = nl ? (size_t)(nl - p) : strlen(p);
        printable((struct str){ p, (u32)n }, k->out);
        text_add(k->out, "\n");
        p += n + (nl != NULL);
        if (*p) text_add(k->out, "%*s", k->gutter + 3 + (int)pad, "");
    }
}

/* What stands after the cause: after it, since it may be long. */
static void detail_text(struct ink *k, const char *detail)
{
    if (detail && *detail) gutter(k, 0, "|\n");
    for (const char *p = detail; p && *p;) {
        size_t n = strcspn(p, "\n");
        gutter(k, 0, "| ");
        printable((struct str){ p, (u32)n }, k->out);
        text_add(k->out, "\n");
        p += n + (p[n] == '\n');
    }
}

static int digits(u32 n)
{
    int d = 1;
    while (n >= 10) {
        n /= 10;
        d++;
    }
    return d;
}

static u32 line_shown(const struct place *p, const struct source *s)
{
    return !p ? 0 : s->line.p ? p->line : p->ptx_line;
}

static void count_text(const struct entry *e, struct text *out)
{
    struct text t = { 0 };
    who_text(e, &t);
    if (t.n) text_add(out, "%s", t.p);
    struct crowd c;
    bool once_each = t.n && !e->who.partial && who_sum(&e->who, &c) && c.total == e->occurrences;
    if (e->occurrences > 1 && !once_each) text_add(out, "%s%" PRIu64 " occurrences", t.n ? ", " : "", e->occurrences);
    text_free(&t);
}

/* "= label: text" with what `write` makes of the entry. */
static void fact_of(struct ink *k, const char *label, const struct entry *e,
                    void (*write)(const struct entry *, struct text *))
{
    struct text t = { 0 };
    write(e, &t);
    python_words(e, &t);
    fact(k, label, t.p);
    text_free(&t);
}

/* Of a crowd of readers one is recorded. If the recorded reader is the writer itself, another one of the crowd
 * raced. */
static bool nameless(const struct finding *f, const char *access)
{
    /* a thread can meet its own */
    bool copy = f->kind == F_async_early || f->kind == F_async_overwrite || f->kind == F_async_wait;
    return !copy && f->thread[0] == f->rival->thread && !memcmp(f->cta, f->rival->cta, sizeof f->cta) && access &&
           strcmp(access, "write") != 0;
}

/* Which of the others it was is not kept. */
static void another_text(const struct entry *e, struct text *out)
{
    text_add(out, "some other thread of %s", e->f.rival->crowd == CROWD_GRID ? "the grid" : "the same block");
}

static void first_text(const struct entry *e, struct text *out)
{
    if (nameless(&e->f, e->f.access))
        another_text(e, out);
    else
        one_text(&e->f, e->f.cta, e->f.thread[0], out);
    text_add(out, ": ");
    what_text(e, out);
}

static void second_text(const struct entry *e, struct text *out)
{
    if (nameless(&e->f, e->f.rival->access) && !nameless(&e->f, e->f.access))
        another_text(e, out);
    else
        one_text(&e->f, e->f.rival->cta, e->f.rival->thread, out);
    text_add(out, ": ");
    rival_text(e, out);
}

static void kernel_text(const struct entry *e, struct text *out)
{
    char name[256];
    if (e->f.kernel) name_plain(str_of(e->f.kernel), name, sizeof name);
    if (e->f.kernel && e->launch && e->again_launches)
        text_add(out, "%s (launch %u, and %" PRIu64 " more)", name, e->launch, e->again_launches);
    else if (e->f.kernel && e->launch)
        text_add(out, "%s (launch %u)", name, e->launch);
    else if (e->f.kernel)
        text_add(out, "%s", name);
    else if (e->launch)
        text_add(out, "that of launch %u", e->launch);
}

/* "8", "(8,2)", "(8,2,4)": a size as in a launch. */
static void shape_text(const u32 n[3], struct text *out)
{
    if (n[2] > 1)
        text_add(out, "(%u,%u,%u)", n[0], n[1], n[2]);
    else if (n[1] > 1)
        text_add(out, "(%u,%u)", n[0], n[1]);
    else
        text_add(out, "%u", n[0]);
}

/* A mark of where.h for a site becomes the one for the functions behind it. */
static void caller_text(const char *site, struct text *out)
{
    if (!strncmp(site, "{lk@s", 5))
        text_add(out, "from {lk@h%s", site + 5);
    else
        text_add(out, "at %s", site);
}

void origin_text(const struct entry *e, struct text *out)
{
    const struct launch_origin *o = &e->origin;
    const u32 *g = e->grid, *b = e->block;
    if (!o->nth && !o->by) return;
    if (o->by)
        text_add(out, "by %s", o->by);
    else
        text_add(out, "number %" PRIu64 " of this kernel", o->nth);
    if (b[0]) {
        text_add(out, ", <<<");
        shape_text(g, out);
        text_add(out, ", ");
        shape_text(b, out);
        text_add(out, ">>>");
    }
    if (o->stream > 1) text_add(out, " in stream %" PRIu64, o->stream - 1);
    if (o->site) {
        text_add(out, ", ");
        caller_text(o->site, out);
    }
    u64 n = entry_launches(e);
    if (n > 1)
        text_add(out, "; %" PRIu64 " more launch%s of it %s this, too", n - 1, n == 2 ? "" : "es",
                 n == 2 ? "has" : "have");
}

static void call_text(const struct entry *e, struct text *out)
{
    if (!e->f.call) return;
    if (strncmp(e->f.call, "{lk@s", 5) != 0) {
        text_add(out, "%s", e->f.call);
        return;
    }
    text_add(out, "{lk@f%s, ", e->f.call + 5);
    caller_text(e->f.call, out);
}

static void host_text(const struct entry *e, struct text *out)
{
    const char *site = e->f.host;
    if (site) text_add(out, !strncmp(site, "{lk@s", 5) ? "{lk@h%s" : "%s", site + (strncmp(site, "{lk@s", 5) ? 0 : 5));
}

static void memory_text(const struct entry *e, struct text *out)
{
    text_add(out, "%s", e->f.object_note ? e->f.object_note : "");
}

static void facts(struct ink *k, const struct entry *e)
{
    const struct finding *f = &e->f;
    fact_of(k, "kernel", e, kernel_text);
    fact_of(k, "launch", e, origin_text);
    fact_of(k, "call", e, call_text);
    fact_of(k, "host", e, host_text);
    if (f->rival) {
        fact_of(k, "first", e, first_text);
        fact_of(k, "second", e, second_text);
    } else {
        fact_of(k, "access", e, what_text);
    }
    fact_of(k, "range", e, elements_text);
    fact_of(k, "who", e, count_text);
    fact_of(k, "against", e, against_text);
    fact_of(k, "others", e, others_text);
    fact_of(k, "memory", e, memory_text);
    fact(k, "origin", f->origin_text);
    fact_of(k, "cause", e, cause_text);
    fact_of(k, "order", e, order_text);
    fact_of(k, "also", e, also_text);
    fact_of(k, "fix", e, fix_text);
}

static void heading(struct ink *k, const struct finding *f, enum paint mark)
{
    paint(k, mark);
    text_add(k->out, "%s[%s]", finding_severity(f->kind) == SEV_ERROR ? "error" : "note", finding_id(f->kind));
    paint(k, P_BOLD);
    text_add(k->out, ": %s", finding_title(f->kind));
    paint(k, P_OFF);
    text_add(k->out, "\n");
}

static void entry_text(struct ink *k, const struct entry *e)
{
    const struct finding *f = &e->f;
    enum paint mark = finding_severity(f->kind) == SEV_ERROR ? P_ERROR : P_NOTE;
    struct shown_finding s[3] = {
        { .all = f->place, .sign = "-->", .access = f->access ? f->access : f->does, .object = f->object },
        { .all = f->other, .sign = ":::", .access = f->rival ? f->rival->access : f->other_does, .object = f->object },
        { .all = f->origin, .sign = "<--" }
    };
    u32 widest = 0;
    for (u32 i = 0; i < COUNT_OF(s); i++) {
        s[i].place = place_shown(s[i].all);
        source_open(s[i].place, &s[i].source);
        widest = MAX_OF(widest, line_shown(s[i].place, &s[i].source));
    }
    k->gutter = digits(widest);
    heading(k, f, mark);
    for (u32 i = 0; i < COUNT_OF(s); i++)
        if (s[i].all) {
            place_text(k, &s[i], i ? P_NOTE : mark);
            inlined_text(k, s[i].all, s[i].place);
        }
    if (f->place) gutter(k, 0, "|\n");
    facts(k, e);
    detail_text(k, f->detail);
    text_add(k->out, "\n");
}

void entry_text_styled(const struct entry *e, bool color, struct text *out)
{
    struct ink k = { out, color, 1 };
    entry_text(&k, e);
}

void report_entry_text(const struct entry *e, struct text *out) { entry_text_styled(e, false, out); }

void closing_text(const struct report *r, struct text *out)
{
    u32 n = r->errors + r->notes;
    if (!n)
        text_add(out, "no findings\n");
    else {
        text_add(out, "%u finding%s: ", n, plural(n));
        if (r->errors) text_add(out, "%u error%s", r->errors, plural(r->errors));
        if (r->notes) text_add(out, "%s%u note%s", r->errors ? ", " : "", r->notes, plural(r->notes));
        text_add(out, " (%" PRIu64 " occurrence%s)%s\n", r->occurrences, plural(r->occurrences),
                 r->fail_on_notes && r->notes && !r->errors ? "; notes fail here (--fail-on note)" : "");
    }
    if (r->dropped) text_add(out, "%" PRIu64 " occurrences of further causes were counted but not kept\n", r->dropped);
    if (r->suppressed) text_add(out, "%u finding%s suppressed\n", r->suppressed, plural(r->suppressed));
}

void report_text(struct report *r, struct report_style style, struct text *out)
{
    lock(&r->lock);
    struct ink k = { out, style.color, 1 };
    struct entry **v = report_sorted(r);
    u32 all = r->errors + r->notes, most = style.max ? MIN_OF(style.max, all) : all, shown = 0;
    for (u32 i = 0; v && i < r->entries && shown < most; i++)
        if (!v[i]->suppressed) {
            entry_text(&k, v[i]);
            shown++;
        }
    if (shown < all) text_add(out, "%u more not shown\n", all - shown);
    closing_text(r, out);
    base_free(v);
    sources_drop();
    unlock(&r->lock);
}
