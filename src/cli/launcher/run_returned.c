/* The variable of a caller that gets a buffer: in
 *
 *     float *make(int n) { float *p; cudaMalloc(&p, 4 * n); return p; }
 *     float *a = make(n), *b = make(n);
 *
 * both are put into a variable p, which make returns, and a reader knows them as a and b. Debug information says which
 * function has the variable, that it returns a pointer, and which line called it; that it returns this variable, and
 * what the line assigns, stands in the source. Where the source does not say so plainly, the variable is p. */
#include "launcher/run_where.h"
#include <ctype.h>

static bool is_name(char c) { return isalnum((u8)c) || c == '_'; }

/* The text from a line on; NULL: the file is shorter. */
static const char *line_at(const char *text, u32 line)
{
    for (; text && line > 1; line--) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return line ? text : NULL;
}

/* Whether the word stands there, and is all of a name. */
static bool word_at(const char *text, const char *p, const char *word)
{
    size_t n = strlen(word);
    return !strncmp(p, word, n) && !is_name(p[n]) && (p == text || !is_name(p[-1]));
}

/* What follows a comment or a literal that begins at p; p: there is none. */
static const char *skipped(const char *p)
{
    if (p[0] == '/' && p[1] == '/') return p + strcspn(p, "\n");
    if (p[0] == '/' && p[1] == '*') {
        const char *end = strstr(p + 2, "*/");
        return end ? end + 2 : p + strlen(p);
    }
    if (*p != '"' && *p != '\'') return p;
    const char *q = p + 1;
    while (*q && *q != *p && *q != '\n') q += *q == '\\' && q[1] ? 2 : 1;
    return *q == *p ? q + 1 : p;
}

/* The expression of a return names the variable as it is, after a cast perhaps: no element or member of it. */
static bool gives(const char *text, const char *p, const char *name)
{
    for (; *p && *p != ';'; p++) {
        if (!word_at(text, p, name)) continue;
        const char *behind = p + strlen(name);
        behind += strspn(behind, " \t\n");
        if (*behind == ';' || *behind == ')') return true;
    }
    return false;
}

/* The function whose declaration is at that line returns the variable. */
static bool returns(const char *text, u32 line, const char *name)
{
    const char *p = line_at(text, line);
    for (u32 depth = 0; p && *p;) {
        const char *behind = skipped(p);
        if (behind != p) {
            p = behind;
            continue;
        }
        if (*p == ';' && !depth) return false; /* it is declared there, no more */
        if (*p == '}' && depth == 1) return false;
        if (word_at(text, p, "return") && gives(text, p + 6, name)) return true;
        depth += *p == '{';
        depth -= *p++ == '}' && depth;
    }
    return false;
}

/* Where a line calls the function: the place of its name; the only one, or that of the column. NULL: not known. */
static const char *call_in(const char *line, const char *end, const char *function, u32 column)
{
    const char *only = NULL;
    size_t n = strcspn(function, "<("), calls = 0;
    for (const char *p = line; n && p + n < end; p++) {
        if (strncmp(p, function, n) != 0 || is_name(p[n]) || (p > line && is_name(p[-1]))) continue;
        const char *q = p + n;
        if (*q == '<') { /* template arguments, which may not end here */
            q += strcspn(q, ">\n");
            q += *q == '>';
        }
        q += strspn(q, " ");
        if (q >= end || *q != '(') continue;
        if (column && column > p - line && column <= q - line + 1) return p;
        only = p;
        calls++;
    }
    return calls == 1 ? only : NULL;
}

/* From `p` back over what stands between an assignment and a call: spaces, what the name is qualified by, a cast. */
static const char *before_call(const char *line, const char *p)
{
    while (p > line && (is_name(p[-1]) || strchr(".:>-", p[-1]))) p--;
    while (p > line && p[-1] == ' ') p--;
    if (p == line || (p[-1] != ')' && p[-1] != '(')) return p;
    const char *q = p - 1;
    char open = *q == ')' ? '(' : '<', close = *q == ')' ? ')' : '>';
    if (close == '>' && (q == line || *--q != '>')) return p;
    for (u32 depth = 0; q >= line; q--) {
        depth += *q == close;
        depth -= *q == open;
        if (!depth) break;
    }
    if (q < line) return p;
    while (open == '<' && q > line && is_name(q[-1])) q--;
    while (q > line && q[-1] == ' ') q--;
    return q;
}

enum assigned { ASSIGNED_NOT, ASSIGNED, ASSIGNED_RETURNED };

/* What the statement assigns that calls the function at p: into name. */
static enum assigned assigned(const char *line, const char *p, char *name, size_t size)
{
    p = before_call(line, p);
    if (p - line >= 6 && word_at(line, p - 6, "return")) return ASSIGNED_RETURNED;
    if (p - line < 2 || p[-1] != '=' || strchr("=!<>+-*/|&^%", p[-2])) return ASSIGNED_NOT;
    for (p--; p > line && p[-1] == ' ';) p--;
    const char *end = p;
    for (u32 depth = 0; p > line; p--) {
        bool arrow = p[-1] == '>' && p - line > 1 && p[-2] == '-';
        if (!depth && !is_name(p[-1]) && !strchr(".]", p[-1]) && !arrow) break;
        depth += p[-1] == ']';
        depth -= p[-1] == '[';
        p -= arrow;
    }
    if (!strncmp(p, "this->", 6)) p += 6;
    if (p >= end || !(isalpha((u8)*p) || *p == '_')) return ASSIGNED_NOT;
    snprintf(name, size, "%.*s", (int)MIN_OF((size_t)(end - p), size - 1), p);
    return ASSIGNED;
}

static bool is_plain(const char *name)
{
    while (is_name(*name)) name++;
    return !*name;
}

/* One step up: what the caller of f[0] does with what it returns. */
static enum assigned step(const struct host_frame *f, const char *local, char *name, size_t size)
{
    struct str text;
    enum assigned how = ASSIGNED_NOT;
    if (!f[0].is_pointer || !f[1].file[0] || !f[1].line) return how;
    if (local) {
        if (!f[0].declared || !is_plain(local) || !file_read_if(f[0].file, &text)) return how;
        bool gives_it = returns(text.p, f[0].declared, local);
        base_free((void *)(uintptr_t)text.p);
        if (!gives_it) return how;
    }
    if (!file_read_if(f[1].file, &text)) return how;
    const char *line = line_at(text.p, f[1].line);
    const char *call = line ? call_in(line, line + strcspn(line, "\n"), f[0].function, f[1].column) : NULL;
    if (call) how = assigned(line, call, name, size);
    base_free((void *)(uintptr_t)text.p);
    return how;
}

void returned_name(const struct host_frame *f, u32 n, char *name, size_t size)
{
    char local[128], up[128];
    snprintf(local, sizeof local, "%s", name);
    bool named = true; /* otherwise f[k] returns at once what it has got */
    for (u32 k = 0; k + 1 < n; k++) {
        enum assigned how = step(&f[k], named ? local : NULL, up, sizeof up);
        if (how == ASSIGNED_NOT) return;
        named = how == ASSIGNED;
        if (!named) continue;
        snprintf(local, sizeof local, "%s", up);
        snprintf(name, size, "%s", up);
    }
}

/* After the word at p, with what it is qualified by and its template arguments. */
static const char *behind_word(const char *p, const char *end)
{
    while (p < end && (is_name(*p) || (p[0] == ':' && p[1] == ':'))) p += *p == ':' ? 2 : 1;
    if (p == end || *p != '<') return p;
    for (u32 depth = 0; p < end; p++) {
        depth += *p == '<';
        depth -= *p == '>';
        if (!depth) return p + 1;
    }
    return p;
}

/* A comma that is in no brackets: the statement declares several variables. */
static bool has_several(const char *p, const char *end)
{
    u32 depth = 0;
    for (; p < end; p++) {
        depth += strchr("([{", *p) != NULL;
        depth -= depth && strchr(")]}", *p) != NULL;
        if (*p == ',' && !depth) return true;
    }
    return false;
}

void declared_name(const struct host_frame *f, char *name, size_t size)
{
    static const char *const not_types[] = { "return", "delete", "throw", "else", "new", "using" };
    struct str text;
    name[0] = 0;
    if (!f->line || !file_read_if(f->file, &text)) return;
    const char *line = line_at(text.p, f->line), *end = line ? line + strcspn(line, "\n") : NULL;
    const char *p = line ? line + strspn(line, " \t") : NULL, *word = p, *last = p;
    u32 words = 0;
    for (; p && p < end && (isalpha((u8)*p) || *p == '_'); words++) {
        word = p;
        p = last = behind_word(p, end);
        p += strspn(p, " *&");
    }
    bool acts = words == 1 && p < end && (*p == '=' || *p == '.' || (p[0] == '-' && p[1] == '>'));
    bool declares = words > 1 && p < end && strchr("({=;", *p);
    if ((acts || declares) && !has_several(p, end) && memchr(line, ';', (size_t)(end - line)) &&
        !begins_with(line + strspn(line, " \t"), not_types, COUNT_OF(not_types)))
        snprintf(name, size, "%.*s", (int)MIN_OF((size_t)(last - word), size - 1), word);
    if (!is_plain(name)) name[0] = 0;
    base_free((void *)(uintptr_t)text.p);
}
