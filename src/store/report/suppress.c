/* Reading and applying suppressions. compute-sanitizer's XML has its own reader below: its words are mapped to ours
 * where they mean the same, and a record that demands what we cannot know matches nothing rather than everything. */
#include "report/entry.h"
#include "report/suppress.h"
#include "base/xml.h"
#include <stdlib.h>

/* ---- patterns ---- */

/* `*` any characters, `?` one. Linear: a star is tried again only from the last one on. */
static bool matches(const char *pattern, const char *text)
{
    const char *star = NULL, *back = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            back = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++back;
        } else {
            return false;
        }
    }
    while (*pattern == '*') pattern++;
    return !*pattern;
}

/* A pattern for the plain name or the mangled one; or what a function may be called, with template arguments or as a
 * whole signature (names.c). */
static bool name_matches(const char *pattern, const char *name)
{
    char plain[256];
    if (!name) return false;
    name_plain(str_of(name), plain, sizeof plain);
    return matches(pattern, plain) || matches(pattern, name) || name_fits(str_of(name), pattern) != NAME_OTHER;
}

/* A pattern for the path, or for its end from some folder on. */
static bool path_matches(const char *pattern, const char *path)
{
    for (const char *p = path; p; p = strchr(p, '/') ? strchr(p, '/') + 1 : NULL)
        if (matches(pattern, p)) return true;
    return false;
}

static bool file_matches(const struct suppression *s, const char *file, u32 line)
{
    return file && (path_matches(s->file, file) || (s->foreign && path_matches(file, s->file))) &&
           (!s->line || s->line == line);
}

static bool at_place(const struct suppression *s, const struct place *p)
{
    for (; p; p = p->inlined_at)
        if (file_matches(s, p->file, p->line) || file_matches(s, p->ptx_file, p->ptx_line)) return true;
    return false;
}

/* Of a function whose name is not mangled nobody knows the parameters. */
static bool function_matches(const struct suppression *s, const char *name)
{
    return name &&
           (name_matches(s->function, name) || (s->bare && strncmp(name, "_Z", 2) && name_matches(s->bare, name)));
}

static bool in_function(const struct suppression *s, const struct place *p)
{
    for (; p; p = p->inlined_at)
        if (function_matches(s, p->function)) return true;
    return false;
}

/* ---- the rules of a file ---- */

/* A file may have thousands of rules, and a report thousands of findings. Most rules name a line, as those do that
 * lockstep prints, and are found by it. Of the others the names are the costly part, and findings that follow each
 * other mostly have the same. */
struct suppress_index {
    struct chains by_line;        /* the numbers of the rules that name a line */
    struct suppression **rule;    /* by number */
    struct suppression *anywhere; /* the first one that names no line */
    struct text names;            /* the kernel and the functions that were asked about last */
    u32 asked;                    /* how often these have changed */
};

static void index_open(struct suppressions *all)
{
    struct suppress_index *x = all->index = base_need(sizeof *x);
    u32 n = 0;
    for (struct suppression *s = all->first; s; s = s->next) s->number = n++;
    chains_open(&x->by_line, n);
    x->rule = base_need(sizeof(struct suppression *) * MAX_OF(n, 1u));
    struct suppression **tail = &x->anywhere;
    for (struct suppression *s = all->first; s; s = s->next) {
        x->rule[s->number] = s;
        if (s->file && s->line)
            chains_add(&x->by_line, s->line, s->number);
        else {
            *tail = s;
            tail = &s->next_anywhere;
        }
    }
}

static void index_close(struct suppress_index *x)
{
    if (!x) return;
    chains_close(&x->by_line);
    base_free(x->rule);
    text_free(&x->names);
    base_free(x);
}

static void add_name(struct text *out, const char *name)
{
    if (name) text_put(out, name, strlen(name) + 1); /* with the 0 that no name has */
    text_put(out, name ? "+" : "-", 1);
}

static void add_functions(struct text *out, const struct place *p)
{
    for (; p; p = p->inlined_at) add_name(out, p->function);
}

/* Notes whether the names of the finding are those that were asked about last. */
static void names_note(struct suppress_index *x, const struct finding *f)
{
    struct text t = { 0 };
    add_name(&t, f->kernel);
    add_functions(&t, f->place);
    add_functions(&t, f->other);
    if (x->asked && t.n == x->names.n && !memcmp(t.p, x->names.p, t.n)) {
        text_free(&t);
        return;
    }
    text_free(&x->names);
    x->names = t;
    x->asked++;
}

static bool names_hold(const struct suppress_index *x, struct suppression *s, const struct finding *f)
{
    if (s->names_asked != x->asked) {
        s->names_asked = x->asked;
        s->names_hold = (!s->kernel || name_matches(s->kernel, f->kernel)) &&
                        (!s->function || function_matches(s, f->kernel) || in_function(s, f->place) ||
                         in_function(s, f->other));
    }
    return s->names_hold;
}

static bool holds(const struct suppress_index *x, struct suppression *s, const struct finding *f)
{
    return !s->never && (!s->checks || s->checks & finding_check(f->kind)) && (!s->width || s->width == f->width) &&
           (!s->kind || matches(s->kind, finding_id(f->kind))) &&
           (!s->variable || (f->object && matches(s->variable, f->object))) &&
           (!s->space || (f->space && !strcmp(s->space, f->space))) &&
           (!s->access || (f->access && !strcmp(s->access, f->access))) &&
           ((!s->kernel && !s->function) || names_hold(x, s, f)) &&
           (!s->file || at_place(s, f->place) || at_place(s, f->other));
}

/* The earlier one of `best` (NULL: none) and the rules that name this line and hold. */
static struct suppression *at_line(const struct suppress_index *x, u32 line, const struct finding *f,
                                   struct suppression *best)
{
    u32 k = line ? chains_first(&x->by_line, line) : NO_NUMBER;
    for (; k != NO_NUMBER; k = x->by_line.next[k]) {
        struct suppression *s = x->rule[k];
        if (s->line == line && (!best || k < best->number) && holds(x, s, f)) best = s;
    }
    return best;
}

static struct suppression *at_lines(const struct suppress_index *x, const struct place *p, const struct finding *f,
                                    struct suppression *best)
{
    for (; p; p = p->inlined_at) {
        best = at_line(x, p->line, f, best);
        if (p->ptx_line != p->line) best = at_line(x, p->ptx_line, f, best);
    }
    return best;
}

struct suppression *suppress_find(struct suppressions *all, const struct finding *f)
{
    for (; all; all = all->next) {
        struct suppress_index *x = all->index;
        names_note(x, f);
        struct suppression *best = at_lines(x, f->other, f, at_lines(x, f->place, f, NULL));
        for (struct suppression *s = x->anywhere; s && (!best || s->number < best->number); s = s->next_anywhere)
            if (holds(x, s, f)) best = s;
        if (best) return best;
    }
    return NULL;
}

void suppress_free(struct suppressions *s)
{
    for (struct suppressions *next; s; s = next) {
        next = s->next;
        index_close(s->index);
        struct arena mem = s->mem;
        arena_free(&mem);
    }
}

/* ---- our own lines ---- */

struct rule_reader {
    struct suppressions *all;
    struct suppression **tail; /* where the next rule goes */
    const char *counted;       /* the lines of the text up to here have been counted; NULL: none has */
    u32 lines;                 /* how many these are */
    struct str text;           /* the whole file, for messages */
    struct error *e;
};

static bool wrong(struct rule_reader *r, const char *at, const char *why)
{
    return error_at(r->e, ERR_INPUT, r->all->name, r->text, at, "%s", why);
}

static struct suppression *rule_new(struct rule_reader *r, const char *at)
{
    struct suppression *s = NEW(&r->all->mem, struct suppression);
    if (!r->counted) r->counted = r->text.p;
    for (; r->counted < at; r->counted++) r->lines += *r->counted == '\n';
    s->at = 1 + r->lines;
    *r->tail = s;
    r->tail = &s->next;
    return s;
}

/* A word up to the next blank; quotes keep blanks in it and are dropped. NULL: the line is at its end. */
static const char *word_read(struct rule_reader *r, const char **p, const char *end)
{
    while (*p < end && (**p == ' ' || **p == '\t' || **p == '\r')) (*p)++;
    if (*p == end || **p == '#') return NULL;
    char *out = arena_alloc(&r->all->mem, (size_t)(end - *p) + 1, 1);
    u32 n = 0;
    for (bool quoted = false; *p < end; (*p)++) {
        if (**p == '"')
            quoted = !quoted;
        else if (!quoted && (**p == ' ' || **p == '\t' || **p == '\r'))
            break;
        else
            out[n++] = **p;
    }
    return out;
}

/* "smooth.cu:8": the line is what follows the last colon, when that is a number. */
static void at_read(struct arena *a, const char *text, struct suppression *s)
{
    const char *colon = strrchr(text, ':');
    char *end = NULL;
    unsigned long line = colon && colon[1] ? strtoul(colon + 1, &end, 10) : 0;
    bool numbered = colon && colon != text && end && !*end && line && line <= UINT32_MAX;
    s->line = numbered ? (u32)line : 0;
    s->file = numbered ? arena_str(a, (struct str){ text, (u32)(colon - text) }) : text;
}

static bool condition_read(struct rule_reader *r, const char *word, const char *at, struct suppression *s)
{
    static const char *const keys[] = { "kernel", "at", "function", "variable" };
    const char *equals = strchr(word, '=');
    u32 i = 0;
    while (equals && i < COUNT_OF(keys) &&
           (strlen(keys[i]) != (size_t)(equals - word) || memcmp(keys[i], word, strlen(keys[i]))))
        i++;
    if (!equals || i == COUNT_OF(keys) || !equals[1])
        return wrong(r, at, "a rule is KIND [kernel=PATTERN] [at=FILE[:LINE]] [function=PATTERN] [variable=PATTERN]");
    if (i == 1)
        at_read(&r->all->mem, equals + 1, s);
    else
        *(i == 0 ? &s->kernel : i == 2 ? &s->function : &s->variable) = equals + 1;
    return true;
}

static bool kind_exists(const char *pattern)
{
    for (u32 k = 0; k < F_COUNT; k++)
        if (matches(pattern, finding_id(k))) return true;
    return false;
}

static bool line_read(struct rule_reader *r, const char *p, const char *end)
{
    const char *at = p, *kind = word_read(r, &p, end);
    if (!kind) return true;
    if (!kind_exists(kind))
        return wrong(r, at,
                     "a rule begins with a kind of finding, as in bounds or uninit_*; lockstep explain lists them");
    struct suppression *s = rule_new(r, at);
    s->kind = kind;
    for (;;) {
        while (p < end && (*p == ' ' || *p == '\t')) p++;
        at = p;
        const char *word = word_read(r, &p, end);
        if (!word) return true;
        if (!condition_read(r, word, at, s)) return false;
    }
}

static bool lines_read(struct rule_reader *r)
{
    const char *p = r->text.p, *end = p + r->text.n;
    while (p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        const char *stop = nl ? nl : end;
        if (!line_read(r, p, stop)) return false;
        p = nl ? nl + 1 : end;
    }
    return true;
}

/* ---- compute-sanitizer's records ---- */

/* Its kinds, as far as they say what we say. */
static const struct {
    const char *word;
    u32 checks;
} sanitizer_kinds[] = {
    { "Precise", CHECK_BOUNDS | CHECK_ALIGN },
    { "Imprecise", CHECK_BOUNDS | CHECK_ALIGN },
    { "Memcheck", CHECK_BOUNDS | CHECK_ALIGN },
    { "Memory", CHECK_BOUNDS | CHECK_ALIGN },
    { "Initcheck", CHECK_INIT },
    { "Racecheck", CHECK_RACE },
    { "Race", CHECK_RACE },
    { "Hazard", CHECK_RACE },
    { "Analysis", CHECK_RACE },
    { "Synccheck", CHECK_BARRIER },
    { "Barrier", CHECK_BARRIER },
    { "Leak", CHECK_MEMORY },
    { "Leakcheck", CHECK_MEMORY },
    { "DeviceLeak", CHECK_MEMORY },
};
/* Phrases of its messages that mean one of our kinds. */
static const struct {
    const char *phrase, *kind;
} sanitizer_texts[] = {
    { "misaligned", "misaligned" },
    { "out of bounds", "*bounds*" },
    { "freed", "use_after_free" },
    { "Uninitialized", "uninit_*" },
    { "Divergent thread", "barrier_divergent" },
};

/* "*", ".*" and "..." stand for anything: no condition. */
static bool is_any(const char *text) { return !strcmp(text, "*") || !strcmp(text, ".*") || !strcmp(text, "..."); }

static void kind_word(struct suppression *s, const char *word)
{
    if (is_any(word)) {
        s->checks = CHECK_ALL;
        return;
    }
    for (u32 i = 0; i < COUNT_OF(sanitizer_kinds); i++)
        if (!strcmp(word, sanitizer_kinds[i].word)) {
            s->checks = sanitizer_kinds[i].checks;
            return;
        }
    s->never = true; /* an API error, or a kind of a newer tool */
}

static void what_words(struct suppression *s, const char *text)
{
    for (u32 i = 0; !s->kind && i < COUNT_OF(sanitizer_texts); i++)
        if (strstr(text, sanitizer_texts[i].phrase)) s->kind = sanitizer_texts[i].kind;
    if (!s->access) s->access = strstr(text, " write ") ? "write" : strstr(text, " read ") ? "read" : NULL;
}

/* The ".*" of a regular expression is our "*", and "\\." its plain dot. */
static const char *pattern_of(struct arena *a, const char *text)
{
    char *out = arena_str(a, str_of(text)), *o = out;
    for (const char *p = text; *p; p++) {
        p += (p[0] == '.' && p[1] == '*') || (p[0] == '\\' && p[1]);
        *o++ = *p;
    }
    *o = 0;
    return out;
}

/* Where the parameters of "void a::scale<(int)2>(float *, int)" begin: the last bracket on the outermost level. NULL:
 * there are none. */
static const char *parameters_of(const char *text)
{
    const char *at = NULL;
    int depth = 0;
    for (const char *p = text; *p; p++) {
        if (*p == '(' && !depth) at = p;
        depth += (*p == '(' || *p == '<') - (*p == ')' || *p == '>');
    }
    return at;
}

/* What the tool calls a function, as we do: without the result, "void scale<float>(float *, int)", and without a
 * namespace that has no name. */
static void function_word(struct arena *a, const char *text, struct suppression *s)
{
    static const char *const hidden[] = { "(anonymous namespace)::", "<unnamed>::" };
    char *name = arena_str(a, str_of(pattern_of(a, text)));
    for (u32 i = 0; i < COUNT_OF(hidden); i++)
        for (char *at; (at = strstr(name, hidden[i]));)
            memmove(at, at + strlen(hidden[i]), strlen(at + strlen(hidden[i])) + 1);
    const char *end = parameters_of(name), *from = name;
    int depth = 0;
    for (const char *p = name; *p && p != end; p++) {
        depth += (*p == '(' || *p == '<') - (*p == ')' || *p == '>');
        if (*p == ' ' && !depth) from = p + 1;
    }
    s->bare = end && end > from ? arena_str(a, (struct str){ from, (u32)(end - from) }) : from;
    s->function = end && (!strcmp(end, "(*)") || !strcmp(end, "(...)")) ? s->bare : from;
}

/* "__global__", "Global" */
static const char *space_word(const char *text)
{
    static const char *const spaces[] = { "global", "shared", "local" };
    for (u32 i = 0; i < COUNT_OF(spaces); i++)
        if (strstr(text, spaces[i] + 1)) return spaces[i];
    return NULL;
}

/* A text of <where>, or of a frame of <deviceStack>: the innermost one counts, which comes first. */
static void device_text(struct rule_reader *r, struct str leaf, const char *text, struct suppression *s)
{
    struct arena *a = &r->all->mem;
    if (is_any(text)) return;
    if (str_is(leaf, "func") && !s->function)
        function_word(a, text, s);
    else if (str_is(leaf, "path") && !s->file)
        s->file = pattern_of(a, text);
    else if (str_is(leaf, "line") && !s->line)
        s->line = (u32)strtoul(text, NULL, 10);
}

static void what_text_of(struct str leaf, const char *text, struct suppression *s)
{
    if (is_any(text)) return;
    if (str_is(leaf, "text"))
        what_words(s, text);
    else if (str_is(leaf, "size"))
        s->width = (u32)strtoul(text, NULL, 10);
    else if (str_is(leaf, "space"))
        s->space = space_word(text);
    else if (str_is(leaf, "direction") && (!strcmp(text, "read") || !strcmp(text, "write")))
        s->access = text;
}

static void record_text(struct rule_reader *r, const struct xml *x, struct suppression *s, bool *host)
{
    const char *text = xml_plain(&r->all->mem, x->text);
    const struct str *o = x->open;
    u32 d = x->depth;
    struct str leaf = o[d - 1], outer = o[d - 2];
    bool device = false;
    if (!*text) return;
    for (u32 i = 0; i < d; i++) {
        *host |= str_is(o[i], "hostStack");
        device |= str_is(o[i], "deviceStack") || str_is(o[i], "where");
    }
    if (str_is(leaf, "kind") && str_is(outer, "record"))
        kind_word(s, text);
    else if (str_is(outer, "what"))
        what_text_of(leaf, text, s);
    else if (device)
        device_text(r, leaf, text, s);
}

static bool records_read(struct rule_reader *r)
{
    struct xml x = { .p = r->text.p, .end = r->text.p + r->text.n };
    struct suppression *s = NULL;
    bool host = false; /* the record has a host stack, which is not known here */
    for (;;) {
        const char *at = x.p;
        switch (xml_next(&x)) {
        case XML_OPEN:
            if (str_is(x.name, "record")) {
                s = rule_new(r, at);
                s->foreign = true;
                host = false;
            }
            break;
        case XML_TEXT:
            if (s && x.depth >= 2) record_text(r, &x, s, &host);
            break;
        case XML_CLOSE:
            if (s && str_is(x.name, "record")) {
                bool placed = s->function || s->file;
                s->never |= !placed && (host || (!s->kind && !s->checks));
                s = NULL;
            }
            break;
        case XML_END: return true;
        case XML_BAD: return wrong(r, MIN_OF(x.at, r->text.p + r->text.n), x.why);
        }
    }
}

struct suppressions *suppress_read(const char *name, struct str text, struct error *e)
{
    struct arena mem = { 0 };
    struct suppressions *all = NEW(&mem, struct suppressions);
    all->mem = mem;
    all->name = arena_str(&all->mem, str_of(name));
    struct rule_reader r = { .all = all, .tail = &all->first, .text = text, .e = e };
    /* the mark that some editors begin UTF-8 with */
    u32 first = text.n >= 3 && !memcmp(text.p, "\xef\xbb\xbf", 3) ? 3 : 0;
    r.text.p += first;
    r.text.n -= first;
    while (first < text.n &&
           (text.p[first] == ' ' || text.p[first] == '\n' || text.p[first] == '\r' || text.p[first] == '\t'))
        first++;
    if (!(first < text.n && text.p[first] == '<' ? records_read(&r) : lines_read(&r))) {
        suppress_free(all);
        return NULL;
    }
    index_open(all);
    return all;
}

/* ---- writing rules ---- */

/* ` key=value`, quoted where it has blanks; what a line cannot hold becomes the pattern of one character. */
static void word_text(struct text *out, const char *key, const char *value)
{
    if (!value || !value[0]) return;
    const char *quote = strpbrk(value, " \t\r") ? "\"" : "";
    text_add(out, " %s=%s", key, quote);
    for (; *value; value++) text_put(out, *value == '"' || *value == '\n' ? "?" : value, 1);
    text_add(out, "%s", quote);
}

void suppress_line(const struct finding *f, struct text *out)
{
    char kernel[256];
    text_add(out, "%s", finding_id(f->kind));
    if (f->kernel) {
        name_plain(str_of(f->kernel), kernel, sizeof kernel);
        word_text(out, "kernel", kernel);
    }
    const struct place *p = place_shown(f->place);
    if (p) {
        char at[600];
        snprintf(at, sizeof at, "%s:%u",
                 p->file       ? path_name(p->file)
                 : p->ptx_file ? path_name(p->ptx_file)
                               : "*",
                 p->file ? p->line : p->ptx_line);
        word_text(out, "at", at);
    }
    /* a mark of where.h is not what the variable is called in the next run */
    bool mark = f->object && !strncmp(f->object, "{lk@", 4);
    word_text(out, "variable", mark ? NULL : f->object);
    text_add(out, "\n");
}
