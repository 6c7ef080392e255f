/* A parameter list, found in C++ text by looking at words and brackets only. */
#include "cli/signature.h"
#include "base/c_text.h"
#include <ctype.h>

/* The parenthesis that closes the one before p. NULL: none. */
static const char *closing(const char *p, const char *end)
{
    for (int depth = 1; p < end; p++) {
        const char *q = past_quoted(p, end);
        if (q != p) {
            p = q - 1;
            continue;
        }
        depth += (*p == '(') - (*p == ')');
        if (!depth) return p;
    }
    return NULL;
}

/* One parameter: its text on one line, and the last word before a default or an array bracket. */
static void add_param(struct arena *a, struct str s, struct signature *out)
{
    char *text = arena_alloc(a, s.n + 1, 1);
    u32 n = 0;
    for (u32 i = 0; i < s.n; i++) {
        if (s.p[i] == '/') i = (u32)(past_quoted(s.p + i, s.p + s.n) - s.p);
        if (i >= s.n) break;
        bool space = isspace((unsigned char)s.p[i]);
        if (!space || (n && text[n - 1] != ' ')) text[n++] = space ? ' ' : s.p[i];
    }
    while (n && text[n - 1] == ' ') n--;
    text[n] = 0;
    u32 to = (u32)strcspn(text, "=[");
    while (to && !is_word_char(text[to - 1])) to--;
    u32 from = to;
    while (from && is_word_char(text[from - 1])) from--;
    out->text[out->params] = text;
    out->name[out->params++] = arena_str(a, (struct str){ text + from, to - from });
}

static void split(struct arena *a, const char *p, const char *end, struct signature *out)
{
    u32 most = 1;
    for (const char *q = p; q < end; q++) most += *q == ',';
    out->name = NEW_ARRAY(a, const char *, most);
    out->text = NEW_ARRAY(a, const char *, most);
    const char *from = p;
    int depth = 0;
    for (; p <= end; p++) {
        p = past_quoted(p, end);
        char c = p < end ? *p : ',';
        depth += (c == '(' || c == '[' || c == '{' || c == '<') - (c == ')' || c == ']' || c == '}' || c == '>');
        if (c == ',' && (depth <= 0 || p == end)) {
            struct str s = { from, (u32)(p - from) };
            while (s.n && isspace((unsigned char)*s.p)) s.p++, s.n--;
            if (s.n && !str_is(s, "void")) add_param(a, s, out);
            from = p + 1;
        }
    }
}

void signature_find(struct arena *a, struct str source, struct str name, struct signature *out)
{
    *out = (struct signature){ 0 };
    const char *args = memchr(name.p, '<', name.n);
    name.n = args && args > name.p ? (u32)(args - name.p) : name.n;
    for (u32 i = name.n; i > 1; i--)
        if (name.p[i - 1] == ':') {
            name = (struct str){ name.p + i, name.n - i };
            break;
        }
    const char *end = source.p + source.n;
    bool global = false; /* __global__ was seen and its declaration is still open */
    for (const char *p = source.p; p < end; p++) {
        const char *q = past_quoted(p, end);
        if (q != p) {
            p = q - 1;
            continue;
        }
        if (*p == '{' || *p == ';') global = false;
        if (!is_word_char(*p) || (p > source.p && is_word_char(p[-1]))) continue;
        for (q = p; q < end && is_word_char(*q); q++)
            ;
        struct str word = { p, (u32)(q - p) };
        if (str_is(word, "__global__")) global = true;
        while (q < end && isspace((unsigned char)*q)) q++;
        const char *close = global && str_eq(word, name) && q < end && *q == '(' ? closing(q + 1, end) : NULL;
        if (!close) continue;
        *out = (struct signature){ 0 };
        split(a, q + 1, close, out);
        const char *behind = close + 1;
        while (behind < end && isspace((unsigned char)*behind)) behind++;
        if (behind == end || *behind != ';') return; /* a declaration may leave the names out */
    }
}

bool signature_source(struct arena *a, const char *path, struct str *source)
{
    const char *dot = strrchr(path, '.');
    return dot && !strchr(dot, '/') && file_read_if(arena_printf(a, "%.*s.cu", (int)(dot - path), path), source);
}

/* In another file, which lies beside PATH or where its name says. */
static void read_other(struct arena *a, const char *path, const char *file, const char *name, struct signature *out)
{
    struct str source;
    const char *slash = strrchr(path, '/'), *own = strrchr(file, '/');
    const char *beside = arena_printf(a, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, own ? own + 1 : file);
    if (!file[0] || (!file_read_if(beside, &source) && !file_read_if(file, &source))) return;
    signature_find(a, source, str_of(name), out);
    base_free((void *)source.p);
}

void signature_read(struct arena *a, const char *path, const char *file, const char *name, struct signature *out)
{
    *out = (struct signature){ 0 };
    struct str source;
    if (signature_source(a, path, &source)) {
        signature_find(a, source, str_of(name), out);
        base_free((void *)source.p);
    }
    struct signature other = { 0 };
    read_other(a, path, file, name, &other);
    if (other.params) *out = other; /* the line information knows better than a name that looks the same */
}
