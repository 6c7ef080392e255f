/* What a compiler said, as a list of diagnostics in one form.
 *
 * nvcc and NVRTC write "file(12): error #20: what", then the line as the preprocessor left it and a caret below;
 * clang and gcc write "file:12:5: error: what". Both become "file:12:5: error: what", the line as its author wrote
 * it, and a caret. The column of the first kind is found again by counting: the caret stands at the n-th `foo` of the
 * printed line, so it belongs at the n-th `foo` of the source's. Lines that say where a template was instantiated
 * stay with their diagnostic; all else is left out. */
#include "compile/compile.h"
#include "base/c_text.h"
#include <ctype.h>
#include <stdlib.h>

struct diagnostic {
    struct str file;     /* n = 0: none */
    u32 line, column;    /* 0: not known */
    struct str severity; /* "error", "warning", "note" */
    struct str what;
    struct str echo, caret; /* the line as the compiler printed it, and the line below */
    u32 more;               /* lines of context that follow */
    struct str context[8];
};

static struct str line_of(const char **p, const char *end)
{
    const char *from = *p, *nl = memchr(from, '\n', (size_t)(end - from));
    *p = nl ? nl + 1 : end;
    struct str s = { from, (u32)((nl ? nl : end) - from) };
    while (s.n && s.p[s.n - 1] == '\r') s.n--;
    return s;
}

static struct str trimmed(struct str s)
{
    while (s.n && isspace((unsigned char)s.p[0])) s.p++, s.n--;
    while (s.n && isspace((unsigned char)s.p[s.n - 1])) s.n--;
    return s;
}

static bool starts(struct str s, const char *with)
{
    size_t n = strlen(with);
    return s.n >= n && !memcmp(s.p, with, n);
}

/* "error", "catastrophic error", "warning #177-D" ... and what stands after its colon. */
static bool severity(struct str s, struct diagnostic *d)
{
    static const struct {
        const char *word, *as;
    } words[] = {
        { "error", "error" },       { "catastrophic error", "error" },
        { "fatal error", "error" }, { "internal error", "error" },
        { "fatal", "error" },       { "warning", "warning" },
        { "note", "note" },         { "remark", "note" },
    };
    s = trimmed(s);
    for (u32 i = 0; i < COUNT_OF(words); i++) {
        if (!starts(s, words[i].word)) continue;
        const char *end = s.p + s.n, *p = s.p + strlen(words[i].word), *colon = memchr(p, ':', (size_t)(end - p));
        if (!colon) return false;
        /* between word and colon only a number may stand: " #177-D" */
        for (const char *q = p; q < colon; q++)
            if (!isspace((unsigned char)*q) && *q != '#' && *q != '-' && !isdigit((unsigned char)*q) && *q != 'D')
                return false;
        d->severity = str_of(words[i].as);
        d->what = trimmed((struct str){ colon + 1, (u32)(end - colon - 1) });
        return true;
    }
    return false;
}

static u32 number(const char **p, const char *end)
{
    u32 n = 0;
    while (*p < end && isdigit((unsigned char)**p) && n < 100000000) n = n * 10 + (u32)(*(*p)++ - '0');
    return n;
}

/* file(12): severity ... */
static bool edg_head(struct str s, struct diagnostic *d)
{
    const char *end = s.p + s.n;
    for (const char *p = s.p + 1; p < end; p++) {
        if (*p != '(' || end - p < 2 || !isdigit((unsigned char)p[1])) continue;
        const char *q = p + 1;
        u32 line = number(&q, end);
        if (end - q > 2 && q[0] == ')' && q[1] == ':' && severity((struct str){ q + 2, (u32)(end - q - 2) }, d)) {
            d->file = (struct str){ s.p, (u32)(p - s.p) };
            d->line = line;
            return true;
        }
    }
    return false;
}

/* file:12:5: severity ... */
static bool gnu_head(struct str s, struct diagnostic *d)
{
    const char *end = s.p + s.n;
    for (const char *p = s.p + 1; p < end; p++) {
        if (*p != ':') continue;
        const char *q = p + 1;
        u32 line = number(&q, end), column = 0;
        if (!line || q >= end || *q != ':') continue;
        q++;
        const char *behind = q;
        column = number(&behind, end);
        if (column && behind < end && *behind == ':')
            q = behind + 1;
        else
            column = 0;
        if (severity((struct str){ q, (u32)(end - q) }, d)) {
            d->file = (struct str){ s.p, (u32)(p - s.p) };
            d->line = line;
            d->column = column;
            return true;
        }
    }
    return false;
}

/* "nvcc fatal   : what", "clang: error: what", "nvrtc: error: what", "ptxas error : what". */
static bool tool_head(struct str s, struct diagnostic *d)
{
    static const char *const tools[] = { "nvcc",     "nvrtc", "clang", "ptxas", "cicc",
                                         "cudafe++", "gcc",   "g++",   "c++",   "cc1plus" };
    for (u32 i = 0; i < COUNT_OF(tools); i++) {
        if (!starts(s, tools[i])) continue;
        size_t n = strlen(tools[i]);
        struct str rest = trimmed((struct str){ s.p + n, (u32)(s.n - n) });
        if (starts(rest, ":")) rest = (struct str){ rest.p + 1, rest.n - 1 };
        return severity(rest, d);
    }
    return false;
}

static bool is_caret(struct str s)
{
    s = trimmed(s);
    for (u32 i = 0; i < s.n; i++)
        if (s.p[i] != '^' && s.p[i] != '~' && s.p[i] != ' ') return false;
    return s.n && memchr(s.p, '^', s.n);
}

static bool head(struct str s, struct diagnostic *d)
{
    *d = (struct diagnostic){ 0 };
    return s.n > 4 && s.n < 20000 && s.p[0] != ' ' && (edg_head(s, d) || gnu_head(s, d) || tool_head(s, d));
}

/* What follows a head: the line and its caret, then context. */
static void tail(const char **p, const char *end, struct diagnostic *d)
{
    while (*p < end) {
        const char *at = *p;
        struct diagnostic next;
        struct str s = line_of(p, end);
        const char *peek = *p;
        struct str below = peek < end ? line_of(&peek, end) : (struct str){ peek, 0 };
        if (head(s, &next)) {
            *p = at;
            return;
        }
        if (!d->caret.n && !d->more && is_caret(below)) {
            d->echo = s;
            d->caret = below;
            *p = peek;
        } else if (d->caret.n && !d->column && s.n > 6 && starts(s, "      ") && d->more < COUNT_OF(d->context)) {
            d->context[d->more++] = trimmed(s);
        } else if (!trimmed(s).n && d->caret.n) {
            return;
        }
    }
}

/* ---- finding the place in the source ---- */

static struct str word_at(struct str line, u32 at)
{
    u32 n = 1;
    if (at >= line.n) return (struct str){ line.p, 0 };
    if (is_word_char(line.p[at]))
        while (at + n < line.n && is_word_char(line.p[at + n])) n++;
    return (struct str){ line.p + at, n };
}

static bool is_here(struct str line, u32 at, struct str word)
{
    if (at + word.n > line.n || memcmp(line.p + at, word.p, word.n)) return false;
    return !is_word_char(word.p[0]) ||
           ((!at || !is_word_char(line.p[at - 1])) && (at + word.n == line.n || !is_word_char(line.p[at + word.n])));
}

/* The column, from 1, in `line` of what the caret marks in the echo; 0: not found. */
static u32 find_column(const struct diagnostic *d, struct str line)
{
    const char *mark = d->caret.n ? memchr(d->caret.p, '^', d->caret.n) : NULL;
    u32 at = mark ? (u32)(mark - d->caret.p) : 0, count = 0;
    struct str word = word_at(d->echo, at);
    if (!mark || !word.n) return 0;
    for (u32 i = 0; i < at; i++) count += is_here(d->echo, i, word);
    for (u32 i = 0; i < line.n; i++)
        if (is_here(line, i, word) && !count--) return i + 1;
    return 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool ends_with(struct str s, const char *name)
{
    size_t n = strlen(name);
    return str_ends(s, name) && (s.n == n || s.p[s.n - n - 1] == '/');
}

static const char *line_start(struct str text, u32 line)
{
    const char *p = text.p, *end = text.p + text.n;
    for (u32 i = 1; i < line && p; i++) {
        p = memchr(p, '\n', (size_t)(end - p));
        p = p ? p + 1 : NULL;
    }
    return p;
}

/* One diagnostic as an error with place, line and caret. */
static void locate(const struct compile_job *job, const struct diagnostic *d, struct error *e)
{
    struct str text = { NULL, 0 };
    bool ours = ends_with(d->file, base_name(job->path));
    const char *file = ours ? job->path : arena_str(job->mem, d->file);
    if (ours)
        text = job->source;
    else if (d->file.n && d->line)
        file_read_if(file, &text);
    const char *at = text.p && d->line ? line_start(text, d->line) : NULL;
    if (at) {
        const char *p = at;
        struct str line = line_of(&p, text.p + text.n);
        u32 column = d->column ? d->column : find_column(d, line);
        u32 indent = (u32)(trimmed(line).p - line.p);
        at += MIN_OF(column ? column - 1 : indent, line.n);
        error_at(e, ERR_INPUT, file, text, at, "%.*s", (int)MIN_OF(d->what.n, 420u), d->what.p);
    } else {
        error_set(e, ERR_INPUT, "%.*s", (int)MIN_OF(d->what.n, 420u), d->what.p);
        if (d->line) snprintf(e->where, sizeof e->where, "%.200s:%u", file, d->line);
    }
    if (!ours && text.p) base_free((void *)text.p);
}

static void write_out(const struct diagnostic *d, const struct error *e, const struct compile_log *log,
                      struct text *out)
{
    const char *nl = e->excerpt[0] ? strchr(e->excerpt, '\n') : NULL;
    text_add(out, "%s: %.*s: %s\n", e->where[0] ? e->where : log->by, (int)d->severity.n, d->severity.p, e->text);
    if (nl) text_add(out, "    %.*s\n    %s\n", (int)(nl - e->excerpt), e->excerpt, nl + 1);
    for (u32 i = 0; i < d->more; i++) text_add(out, "    %.*s\n", (int)MIN_OF(d->context[i].n, 400u), d->context[i].p);
}

void diagnose(const struct compile_job *job, const struct compile_log *log, struct diagnosis *out)
{
    *out = (struct diagnosis){ 0 };
    const char *p = log->messages.p ? log->messages.p : "", *end = p + log->messages.n;
    while (p < end) {
        struct diagnostic d;
        if (!head(line_of(&p, end), &d)) continue;
        tail(&p, end, &d);
        struct error e = { 0 };
        locate(job, &d, &e);
        write_out(&d, &e, log, &out->report);
        out->warnings += str_is(d.severity, "warning");
        if (!str_is(d.severity, "error")) continue;
        if (!out->errors++) {
            out->first = e;
            out->names = ends_with(d.file, "__nv_name_map") || ends_with(d.file, NAMES_FILE);
        }
    }
    if (!out->report.p) text_put(&out->report, "", 0);
}
