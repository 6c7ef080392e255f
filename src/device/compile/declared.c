/* What kernels a source text declares, by looking at words and brackets: enough to say which name was meant, and that
 * it is a template. */
#include "compile/compile.h"
#include "base/c_text.h"
#include <ctype.h>

struct declared_reader {
    const char *p, *end;         /* what is still to be read */
    bool is_global, is_template; /* those words were seen since the last ; { or } */
    struct str word;             /* the last one outside brackets */
    struct str params;           /* what stood between < and > after the last `template` */
    u32 line;                    /* of p */
};

/* A parameter list opens: the word before it is the kernel, unless that is part of an attribute. */
static void open_list(struct arena *a, struct declared_reader *r, struct declared **list, u32 *n, u32 *cap)
{
    static const char *const not_names[] = { "__launch_bounds__", "__attribute__", "__cluster_dims__", "__block_size__",
                                             "__maxnreg__",       "alignas",       "__align__",        "void" };
    if (!r->is_global || !r->word.n) return;
    for (u32 i = 0; i < COUNT_OF(not_names); i++)
        if (str_is(r->word, not_names[i])) return;
    if (*n == *cap) *list = vec_grow(a, *list, cap, sizeof **list, _Alignof(struct declared));
    (*list)[(*n)++] = (struct declared){ r->word, r->is_template, r->is_template ? r->params : (struct str){ NULL, 0 },
                                         r->line };
    r->is_global = r->is_template = false;
}

/* The end of the parameters that open at p, after the >; what is between is kept. p itself: none open there. */
static const char *template_list(struct declared_reader *r, const char *p)
{
    const char *q = p;
    while (q < r->end && isspace((unsigned char)*q)) q++;
    if (q == r->end || *q != '<') return p;
    const char *from = q + 1;
    int angle = 0, round = 0;
    for (; q < r->end && *q != ';' && *q != '{'; q++) {
        round += (*q == '(') - (*q == ')');
        if (!round) angle += (*q == '<') - (*q == '>');
        if (!angle) {
            r->params = (struct str){ from, (u32)(q - from) };
            return q + 1;
        }
    }
    return p;
}

/* Its parameters without line breaks and runs of blanks. */
static char *one_line(struct arena *a, struct str s)
{
    char *text = arena_alloc(a, s.n + 1, 1);
    u32 n = 0;
    for (u32 i = 0; i < s.n; i++) {
        bool blank = isspace((unsigned char)s.p[i]);
        if (!blank || (n && text[n - 1] != ' ')) text[n++] = blank ? ' ' : s.p[i];
    }
    while (n && text[n - 1] == ' ') n--;
    text[n] = 0;
    return text;
}

const char *declared_template(struct arena *a, const struct declared *d)
{
    const char *params = one_line(a, d->params);
    return arena_printf(a, "%.*s<%s>", (int)d->name.n, d->name.p, params[0] ? params : "...");
}

const char *declared_instance(struct arena *a, const struct declared *d)
{
    struct text t = { 0 };
    text_add(&t, "%.*s<", (int)d->name.n, d->name.p);
    const char *p = one_line(a, d->params);
    for (bool first = true; *p; first = false) {
        int depth = 0;
        const char *q = p;
        for (; *q && (depth || *q != ','); q++) depth += (*q == '<' || *q == '(') - (*q == '>' || *q == ')');
        struct str one = { p, (u32)(q - p) };
        bool is_default = memchr(one.p, '=', one.n) != NULL;
        bool is_type = !strncmp(p, "class", 5) || !strncmp(p, "typename", 8);
        if (!is_default && !strstr(arena_str(a, one), "..."))
            text_add(&t, "%s%s", first ? "" : ", ", is_type ? "float" : !strncmp(p, "bool", 4) ? "true" : "32");
        p = q + (*q == ',');
        p += *p == ' ';
    }
    text_add(&t, ">");
    const char *text = arena_str(a, (struct str){ t.p, (u32)t.n });
    text_free(&t);
    return text;
}

u32 declared_kernels(struct arena *a, struct str source, struct declared **out)
{
    struct declared_reader r = { .p = source.p, .end = source.p + source.n, .line = 1 };
    u32 n = 0, cap = 0;
    int depth = 0; /* of brackets inside which no name is declared */
    *out = NULL;
    while (r.p < r.end) {
        const char *q = past_quoted(r.p, r.end);
        if (q == r.p && is_word_char(*q)) {
            while (q < r.end && is_word_char(*q)) q++;
            struct str word = { r.p, (u32)(q - r.p) };
            r.is_global |= str_is(word, "__global__");
            r.is_template |= str_is(word, "template");
            if (str_is(word, "template")) q = template_list(&r, q);
            r.word = depth ? r.word : word;
        } else if (q == r.p) {
            if (*q == '(' && !depth) open_list(a, &r, out, &n, &cap);
            depth += *q == '(';
            depth -= *q == ')' && depth;
            if (*q == '>' && !depth) /* what ends here are template parameters, or an instance that is no declaration */
                r.word.n = 0;
            if (*q == ';' || *q == '{' || *q == '}') r.is_global = r.is_template = false, depth = 0;
            q++;
        }
        for (; r.p < q; r.p++) r.line += *r.p == '\n';
    }
    return n;
}

struct gathering { /* the kernels of several texts */
    struct arena *a;
    VEC(struct declared) all;
};

static void gather(void *self, const char *file, struct str text)
{
    struct gathering *g = self;
    struct declared *list;
    u32 n = declared_kernels(g->a, text, &list);
    (void)file;
    for (u32 i = 0; i < n; i++) VEC_PUSH(g->a, &g->all, list[i]);
}

u32 declared_with_headers(struct arena *a, const char *path, struct str source, const word_list *folders,
                          struct declared **out)
{
    struct gathering g = { .a = a };
    gather(&g, path, source);
    headers_users(a, path, source, folders, gather, &g);
    *out = g.all.p;
    return g.all.n;
}
