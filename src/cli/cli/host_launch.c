/* Launches in the text of host code. */
#include "cli/host_launch.h"
#include "base/c_text.h"
#include "cli/signature.h"
#include <ctype.h>
#include <stdlib.h>

enum {
    LONGEST = 400, /* characters between <<< and >>>, or of the arguments */
    MOST = 64,     /* launches of a file that are looked at */
    DEEPEST = 3,   /* names that stand for names */
    TRIED = 2      /* places where a name may get its value */
};

static const char *past_blanks(const char *p, const char *end)
{
    while (p < end && isspace((unsigned char)*p)) p++;
    return p;
}

/* The text without line breaks and runs of blanks. */
static const char *one_line(struct arena *a, const char *p, const char *end)
{
    char *text = arena_alloc(a, (size_t)(end - p) + 1, 1);
    u32 n = 0;
    for (; p < end; p++) {
        bool blank = isspace((unsigned char)*p);
        if (!blank || (n && text[n - 1] != ' ')) text[n++] = blank ? ' ' : *p;
    }
    while (n && text[n - 1] == ' ') n--;
    text[n] = 0;
    return text;
}

/* The parts of a list, cut at commas outside of brackets. */
static const char *const *split(struct arena *a, const char *p, const char *end, u32 *count)
{
    VEC(const char *) list = { 0 };
    int depth = 0;
    const char *from = p;
    for (; p <= end; p++) {
        const char *q = past_quoted(p, end);
        if (q != p) {
            p = q - 1;
            continue;
        }
        char c = p < end ? *p : ',';
        depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
        if (c != ',' || (depth > 0 && p < end)) continue;
        const char *part = one_line(a, from, p);
        if (part[0]) VEC_PUSH(a, &list, part);
        from = p + 1;
    }
    *count = list.n;
    return list.p;
}

/* After a name: the end of its template arguments, p itself without any. */
static const char *past_template(const char *p, const char *end)
{
    const char *q = past_blanks(p, end);
    if (q == end || *q != '<' || (end - q > 2 && !strncmp(q, "<<<", 3))) return p;
    int depth = 0;
    for (; q < end && *q != ';' && *q != '{' && q - p < LONGEST; q++) {
        depth += (*q == '<') - (*q == '>');
        if (!depth) return q + 1;
    }
    return p;
}

/* ---- numbers ---- */

/* All of `text` as a number, with the suffixes of C. */
static bool whole(const char *text, u32 *out)
{
    char *end;
    unsigned long long v = strtoull(text, &end, 0);
    if (end == text || text[0] == '-') return false;
    while (*end && strchr("uUlL", *end)) end++;
    *out = (u32)v;
    return !*end && v && v <= UINT32_MAX;
}

/* X, or what the text gives X as a number: #define X 256, X = 256, dim3 X(16, 16). */
static bool shape_of(struct arena *a, struct str source, const char *text, int deep, u32 out[3])
{
    size_t n = strlen(text);
    out[1] = out[2] = 1;
    if (whole(text, &out[0])) return true;
    if (!strncmp(text, "dim3", 4) && n > 6 && text[n - 1] == ')' && strchr(text, '(')) {
        u32 parts;
        const char *const *part = split(a, strchr(text, '(') + 1, text + n - 1, &parts);
        u32 one[3];
        bool ok = parts && parts <= 3 && deep < DEEPEST;
        for (u32 i = 0; ok && i < parts; i++) {
            ok = shape_of(a, source, part[i], deep + 1, one) && one[1] == 1 && one[2] == 1;
            out[i] = one[0];
        }
        return ok;
    }
    for (const char *p = text; *p; p++)
        if (!is_word_char(*p)) return false;
    if (deep >= DEEPEST) return false;
    u32 tried = 0;
    const char *end = source.p + source.n;
    for (const char *p = source.p; end - p > (ptrdiff_t)n && tried < TRIED; p++) {
        if (memcmp(p, text, n) || is_word_char(p[n]) || (p > source.p && is_word_char(p[-1]))) continue;
        const char *q = past_blanks(p + n, end), *from;
        bool defined = p - source.p >= 8 && !strncmp(p - 8, "#define ", 8);
        if (q < end && *q == '(' && p - source.p >= 5 && !strncmp(p - 5, "dim3 ", 5)) { /* dim3 block(16, 16); */
            for (from = q; q < end && *q != ';' && *q != '\n'; q++) {}
            while (q > from && q[-1] != ')') q--;
            const char *value = arena_printf(a, "dim3%s", one_line(a, from, q));
            return shape_of(a, source, value, deep + 1, out);
        }
        if (!defined && (q == end || *q != '=' || q[1] == '=')) continue;
        from = past_blanks(q + !defined, end);
        int depth = 0;
        for (q = from; q < end && *q != ';' && (*q != ',' || depth) && *q != '\n'; q++)
            depth += (*q == '(') - (*q == ')');
        const char *value = one_line(a, from, q);
        tried++;
        if (strcmp(value, text) && shape_of(a, source, value, deep + 1, out)) return true;
    }
    return false;
}

/* A number of bytes: a product of numbers, of what shape_of knows, and of sizes of types; 0: not known. */
static u32 bytes_of(struct arena *a, struct str source, const char *text)
{
    static const struct {
        const char *type;
        u32 bytes;
    } sizes[] = { { "sizeof(float)", 4 }, { "sizeof(int)", 4 },    { "sizeof(unsigned)", 4 }, { "sizeof(double)", 8 },
                  { "sizeof(half)", 2 },  { "sizeof(__half)", 2 }, { "sizeof(char)", 1 } };
    u64 product = 1;
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, "*");
        const char *factor = one_line(a, p, p + n);
        u32 one[3] = { 0 };
        for (u32 i = 0; i < COUNT_OF(sizes); i++)
            if (!strcmp(factor, sizes[i].type)) one[0] = sizes[i].bytes;
        if (!one[0] && (!shape_of(a, source, factor, 0, one) || one[1] != 1)) return 0;
        product = MIN_OF(product * one[0], UINT32_MAX);
        p += n + (p[n] == '*');
    }
    return (u32)product;
}

/* ---- launches ---- */

/* A launch whose kernel's name is [p, q). false: this is not one. */
static bool read_launch(struct arena *a, struct str source, const char *p, const char *q, struct source_launch *l)
{
    const char *end = source.p + source.n, *named = past_template(q, end), *open = past_blanks(named, end);
    if (end - open < 4 || strncmp(open, "<<<", 3)) return false;
    const char *close = open + 3;
    while (end - close > 3 && strncmp(close, ">>>", 3) && close - open < LONGEST) close++;
    if (strncmp(close, ">>>", 3)) return false;
    u32 parts;
    const char *const *part = split(a, open + 3, close, &parts);
    *l = (struct source_launch){ .kernel = one_line(a, p, named), .head = one_line(a, p, close + 3) };
    if (parts > 0 && !shape_of(a, source, part[0], 0, l->grid)) l->grid[0] = 0;
    if (parts > 1 && !shape_of(a, source, part[1], 0, l->block)) l->block[0] = 0;
    if (parts > 2) l->shared = bytes_of(a, source, part[2]);
    const char *from = past_blanks(close + 3, end);
    if (from == end || *from != '(') return true;
    const char *to = ++from;
    for (int depth = 1; to < end && to - from < LONGEST; to++) {
        depth += (*to == '(') - (*to == ')');
        if (depth) continue;
        l->arg = split(a, from, to, &l->args);
        break;
    }
    return true;
}

void host_code_find(struct arena *a, struct str source, struct host_code *out)
{
    VEC(struct source_launch) list = { 0 };
    const char *end = source.p + source.n;
    u32 line = 1;
    *out = (struct host_code){ 0 };
    for (const char *p = source.p; p < end && list.n < MOST; p++) {
        const char *q = past_quoted(p, end);
        if (q != p) {
            for (; p < q; p++) line += *p == '\n';
            p--;
            continue;
        }
        line += *p == '\n';
        if (!is_word_char(*p) || (p > source.p && is_word_char(p[-1]))) continue;
        for (q = p; q < end && is_word_char(*q); q++) {}
        struct str word = { p, (u32)(q - p) };
        out->has_main |= str_is(word, "main") && q < end && *q == '(';
        struct source_launch l;
        if (!read_launch(a, source, p, q, &l)) continue;
        l.line = line;
        VEC_PUSH(a, &list, l);
    }
    out->launch = list.p;
    out->launches = list.n;
}

void host_code_read(struct arena *a, const char *path, struct host_code *out)
{
    struct str source;
    *out = (struct host_code){ 0 };
    if (!signature_source(a, path, &source)) return;
    host_code_find(a, source, out);
    base_free((void *)source.p);
}

const struct source_launch *host_launch_of(const struct host_code *h, const char *name)
{
    size_t n = strcspn(name, "<(");
    for (size_t k = n; k > 1; k--)
        if (name[k - 1] == ':') {
            name += k;
            n -= k;
            break;
        }
    for (u32 i = 0; i < h->launches; i++) {
        const char *kernel = h->launch[i].kernel;
        if (strcspn(kernel, "<") == n && !memcmp(kernel, name, n)) return &h->launch[i];
    }
    return NULL;
}
