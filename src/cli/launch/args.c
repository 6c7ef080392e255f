/* The grammar of args.h: one pass over the text, every refusal with a caret under the place and a way out. */
#include "launch/args.h"
#include "base/c_text.h"
#include "cli/source_type.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { DEEPEST = 16 };
#define COUNT_MOST ((u64)1 << 40) /* elements: keeps every product of count and size far from 64 bits */

const char *const arg_forms = "TYPE:NUMBER, TYPE[N]=FILL, {STRUCT}, bytes:HEX, same:K or null, with TYPE one of";

bool arg_error(struct error *e, u32 index, const char *text, const char *at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    error_at_list(e, ERR_INPUT, "argument", str_of(text), at, fmt, ap);
    va_end(ap);
    snprintf(e->where, sizeof e->where, "argument %u", index); /* a line number means nothing here */
    return false;
}

/* Reads a decimal number below COUNT_MOST; NULL: none here. */
static const char *read_count(const char *p, u64 *out)
{
    u64 v = 0;
    const char *from = p;
    for (; *p >= '0' && *p <= '9'; p++) v = MIN_OF(v * 10 + (u64)(*p - '0'), COUNT_MOST);
    *out = v;
    return p == from ? NULL : p;
}

static const char *read_dims(u32 index, const char *text, const char *p, struct arg *g, struct error *e)
{
    u64 count = 1;
    while (*p == '[') {
        const char *from = ++p;
        if (*p == ']' && !g->dims && p[1] != '[') {
            g->count = 0; /* and no dims: a file tells */
            return p + 1;
        }
        for (;;) {
            u64 d;
            from = p;
            p = read_count(p, &d);
            if (!p || d > UINT32_MAX) {
                arg_error(e, index, text, from,
                          p ? "a dimension is a number up to 4294967295"
                            : "a dimension is missing here, as in f32[64,32]");
                return NULL;
            }
            if (g->dims == ARG_DIMS || (d && count > COUNT_MOST / d)) {
                arg_error(e, index, text, from,
                          g->dims == ARG_DIMS ? "more than 8 dimensions"
                                              : "the buffer would have more than 2^40 elements");
                return NULL;
            }
            g->dim[g->dims++] = (u32)d;
            count *= d;
            if (*p != ',') break;
            p++;
        }
        if (*p != ']') {
            arg_error(e, index, text, p, "here a ] is missing, as in f32[64,32]");
            return NULL;
        }
        p++;
    }
    g->count = count;
    return p;
}

static bool parse_range(u32 index, const char *text, const char *at, struct arg *g, struct error *e)
{
    u8 lo[8], hi[8];
    char why[160];
    const char *colon = strchr(at, ':');
    if (!colon) return arg_error(e, index, text, at, "rand takes both ends: rand:LO:HI");
    if (!scalar_parse(g->type, (struct str){ at, (u32)(colon - at) }, lo, why, sizeof why))
        return arg_error(e, index, text, at, "%s", why);
    if (!scalar_parse(g->type, str_of(colon + 1), hi, why, sizeof why))
        return arg_error(e, index, text, colon + 1, "%s", why);
    g->fill.lo = scalar_load(g->type, lo);
    g->fill.hi = scalar_load(g->type, hi);
    if (!(g->fill.lo <= g->fill.hi) || isinf(g->fill.lo) || isinf(g->fill.hi))
        return arg_error(e, index, text, at,
                         "the range goes from its low end to its high end, both finite: rand:LO:HI");
    g->fill.bounded = true;
    return true;
}

bool arg_parse_fill(struct arena *a, u32 index, const char *text, const char *at, struct arg *g, struct error *e)
{
    static const struct {
        const char *word;
        enum fill_kind fill;
    } words[] = {
        { "zeros", FILL_ZEROS },
        { "ones", FILL_ONES },
        { "iota", FILL_IOTA },
        { "uninit", FILL_UNINIT },
        { "rand", FILL_RAND },
        { "normal", FILL_NORMAL },
        { "permutation", FILL_PERMUTATION },
    };
    char why[160];
    for (u32 i = 0; i < COUNT_OF(words); i++)
        if (!strcmp(at, words[i].word)) {
            g->fill.kind = words[i].fill;
            return g->fill.kind != FILL_NORMAL || g->type->class == SCALAR_FLOAT ||
                   arg_error(e, index, text, at, "normal is for floats; integers take rand:LO:HI");
        }
    if (!strncmp(at, "rand:", 5)) {
        g->fill.kind = FILL_RAND;
        return parse_range(index, text, at + 5, g, e);
    }
    if (!strncmp(at, "const:", 6)) {
        g->fill.kind = FILL_CONST;
        return scalar_parse(g->type, str_of(at + 6), g->fill.value, why, sizeof why) ||
               arg_error(e, index, text, at + 6, "%s", why);
    }
    if (at[0] == '@' && at[1]) {
        g->fill.kind = FILL_FILE;
        g->fill.file = arena_str(a, str_of(at + 1));
        return true;
    }
    return arg_error(e, index, text, at,
                     "a buffer is filled with zeros, ones, iota, uninit, const:NUMBER, rand, rand:LO:HI, normal, "
                     "permutation or @FILE");
}

static bool parse_bytes(struct arena *a, u32 index, const char *text, const char *at, struct arg *g, struct error *e)
{
    size_t n = strlen(at);
    g->kind = ARG_BYTES;
    g->bytes = arena_alloc(a, n / 2 + 1, 1);
    for (const char *p = at; *p; p++) {
        if (*p == '_' || *p == ' ') /* people group digits */
            continue;
        if (!isxdigit((unsigned char)p[0]) || !isxdigit((unsigned char)p[1]))
            return arg_error(e, index, text, p, "bytes are pairs of hexadecimal digits, as in bytes:0000803f");
        char pair[3] = { p[0], p[1], 0 };
        g->bytes[g->nbytes++] = (u8)strtoul(pair, NULL, 16);
        p++;
    }
    return g->nbytes || arg_error(e, index, text, at, "bytes are missing here, as in bytes:0000803f");
}

/* The end of a name, which may lead into a struct: params.x. */
static const char *name_end(const char *p)
{
    if (isdigit((unsigned char)*p)) return p;
    while (is_word_char(*p) || (*p == '.' && is_word_char(p[1]))) p++;
    return p;
}

static bool parse_same(struct arena *a, u32 index, const char *text, const char *at, struct arg *g, struct error *e)
{
    u64 k = 0;
    const char *end = name_end(at), *p = end > at ? end : read_count(at, &k);
    g->kind = ARG_SAME;
    if (!p || k > 511 || (p != end && k >= index && !g->name))
        return arg_error(e, index, text, at,
                         "same: names an earlier argument by its number, as in same:0 or same:0+16");
    if (p == end) g->of = arena_str(a, (struct str){ at, (u32)(end - at) });
    g->same = (u32)k;
    if (*p == '+' && !(p = read_count(at = p + 1, &g->offset)))
        return arg_error(e, index, text, at, "a number of bytes is missing here, as in same:0+16");
    return !*p || arg_error(e, index, text, p, "nothing may follow here");
}

/* The end of a member: the next comma or brace outside of brackets. */
static const char *member_end(const char *p)
{
    for (int depth = 0; *p && (depth || (*p != ',' && *p != '}')); p++)
        depth += (*p == '{' || *p == '[') - ((*p == '}' || *p == ']') && depth);
    return p;
}

static bool parse_struct(struct arena *a, u32 index, const char *text, const char *at, struct arg *g, struct error *e)
{
    VEC(struct arg) list = { 0 };
    u32 deep = 0;
    g->kind = ARG_STRUCT;
    for (const char *p = at; *p; p++) {
        deep += (*p == '{') - (*p == '}' && deep);
        if (deep > DEEPEST)
            return arg_error(e, index, text, p, "structs inside of each other more than %d deep", DEEPEST);
    }
    for (const char *p = at + 1;; p++) {
        p += strspn(p, " ");
        const char *end = member_end(p), *last = end;
        while (last > p && last[-1] == ' ') last--;
        struct arg m;
        struct error inside = { 0 };
        if (last == p) return arg_error(e, index, text, p, "a member is missing here, as in {i32:32, f32:2}");
        if (!arg_parse(a, index, arena_str(a, (struct str){ p, (u32)(last - p) }), &m, &inside))
            return arg_error(e, index, text, p, "%s", inside.text);
        if (m.kind == ARG_NUMBER)
            return arg_error(e, index, text, p, "a member needs its type, as in i32:%s or f32:%s", m.text, m.text);
        VEC_PUSH(a, &list, m);
        if (*end == '}' && !end[1]) break;
        if (*end != ',')
            return arg_error(e, index, text, end, *end ? "nothing may follow the }" : "here a } is missing");
        p = end;
    }
    g->member = list.p;
    g->members = list.n;
    return true;
}

u32 arg_layout(struct arg *g, u32 at, u32 *align)
{
    u32 size = g->kind == ARG_SCALAR ? g->type->bytes : g->kind == ARG_BYTES ? g->nbytes : 8;
    g->at = at;
    *align = g->kind == ARG_BYTES ? 1 : size;
    if (g->kind != ARG_STRUCT) return size;
    size = 0;
    *align = 1;
    for (u32 k = 0; k < g->members; k++) {
        u32 own;
        arg_layout(&g->member[k], 0, &own); /* its alignment comes first */
        size = (size + own - 1) / own * own;
        size += arg_layout(&g->member[k], at + size, &own);
        *align = MAX_OF(*align, own);
    }
    return (size + *align - 1) / *align * *align;
}

/* `float` is C's word for what is f32 here. */
static bool type_unknown(u32 index, const char *text, struct str word, struct error *e)
{
    char name[40];
    snprintf(name, sizeof name, "%.*s", (int)MIN_OF(word.n, 39u), word.p);
    struct source_type t = source_type(name);
    if (t.scalar && t.lanes == 1 && !t.pointer)
        return arg_error(e, index, text, word.p, "%s is %s here: %.*s%s%s", name, t.scalar->name, (int)(word.p - text),
                         text, t.scalar->name, word.p + word.n);
    return arg_error(e, index, text, word.p, "an argument is %s %s", arg_forms, scalar_names);
}

static const char *past_name(const char *p)
{
    while (is_word_char(*p)) p++;
    return p;
}

/* After the type of a buffer: its shape, and what it is filled with. */
static bool parse_buffer(struct arena *a, u32 index, const char *text, const char *p, struct arg *g, struct error *e)
{
    g->kind = ARG_BUFFER;
    p = read_dims(index, text, p, g, e);
    if (!p) return false;
    if (*p == '=' && !arg_parse_fill(a, index, text, p + 1, g, e)) return false;
    if (*p && *p != '=')
        return arg_error(e, index, text, p,
                         "after the shape comes =FILL: zeros, ones, iota, uninit, const:NUMBER, rand or @FILE");
    if (!g->dims && g->fill.kind != FILL_FILE)
        return arg_error(e, index, text, strchr(text, '[') + 1,
                         "the number of elements is missing; only a buffer from a file, %s[]=@FILE, may leave it out",
                         g->type->name);
    return true;
}

bool arg_parse(struct arena *a, u32 index, const char *text, struct arg *g, struct error *e)
{
    *g = (struct arg){ .text = text };
    char why[160];
    const char *p = past_name(text), *word = text;
    if (*p == '=' && p > text) {
        if (isdigit((unsigned char)text[0]))
            return arg_error(e, index, text, text, "a name begins with a letter: NAME=TYPE...");
        g->name = arena_str(a, (struct str){ text, (u32)(p - text) });
        g->named = true;
        word = ++p;
        p = past_name(p);
    }
    struct str type = { word, (u32)(p - word) };
    if (*p == ':' && (str_is(type, "pinned") || str_is(type, "managed"))) {
        g->memory = str_is(type, "pinned") ? ARG_PINNED : ARG_MANAGED;
        word = ++p;
        p = past_name(p);
        type = (struct str){ word, (u32)(p - word) };
        if (!scalar_find(type) || *p != '[')
            return arg_error(e, index, text, word, "after %s: comes a buffer, as in %s:f32[100]=zeros",
                             g->memory == ARG_PINNED ? "pinned" : "managed",
                             g->memory == ARG_PINNED ? "pinned" : "managed");
    }
    if (*word == '{') return parse_struct(a, index, text, word, g, e);
    char *end;
    if ((void)double_read(word, &end), end != word && !*end) {
        g->kind = ARG_NUMBER;
        return true;
    }
    if (!strcmp(word, "null")) {
        g->kind = ARG_NULL;
        return true;
    }
    if (str_is(type, "bytes") && *p == ':') return parse_bytes(a, index, text, p + 1, g, e);
    if (str_is(type, "same") && *p == ':') return parse_same(a, index, text, p + 1, g, e);
    g->type = scalar_find(type);
    const char *name = name_end(word);
    if (!g->type && name > word && (!*name || *name == '+')) return parse_same(a, index, text, word, g, e);
    if (!g->type) return type_unknown(index, text, type, e);
    if (*p == ':') {
        g->kind = ARG_SCALAR;
        return scalar_parse(g->type, str_of(p + 1), g->value, why, sizeof why) ||
               arg_error(e, index, text, p + 1, "%s", why);
    }
    if (*p != '[')
        return arg_error(e, index, text, p, "after %s comes :NUMBER for a value, or [N]=FILL for a buffer",
                         g->type->name);
    return parse_buffer(a, index, text, p, g, e);
}

bool arg_measure(struct arg *g, u32 index, struct error *e)
{
    struct stat st;
    if (g->kind != ARG_BUFFER || g->fill.kind != FILL_FILE) return true;
    bool there = !stat(g->fill.file, &st);
    if (!there || !S_ISREG(st.st_mode))
        return arg_error(e, index, g->text, strchr(g->text, '@') + 1,
                         there ? "%s is not a regular file, whose size is known" : "there is no file %s", g->fill.file);
    u64 bytes = (u64)st.st_size, need = g->count * g->type->bytes;
    if (!g->dims) {
        if (!bytes || bytes % g->type->bytes)
            return arg_error(e, index, g->text, strchr(g->text, '@') + 1,
                             "%s has %llu bytes, which is not a whole number of %s", g->fill.file,
                             (unsigned long long)bytes, g->type->name);
        g->count = bytes / g->type->bytes;
        g->dims = 1;
        g->dim[0] = (u32)MIN_OF(g->count, UINT32_MAX);
        return true;
    }
    return bytes == need ||
           arg_error(e, index, g->text, strchr(g->text, '@') + 1, "%s has %llu bytes, and the buffer needs %llu",
                     g->fill.file, (unsigned long long)bytes, (unsigned long long)need);
}

bool arg_fill(const struct arg *g, u32 index, u64 seed, void *to, struct error *e)
{
    return fill_make(&g->fill, g->type, g->count, seed, index, to) ||
           arg_error(e, index, g->text, strchr(g->text, '@') + 1, "cannot read %s", g->fill.file);
}

void arg_type_text(const struct arg *g, char *out, size_t size)
{
    int n = snprintf(out, size, "%s[", g->type->name);
    for (u32 i = 0; i < g->dims && n > 0 && (size_t)n < size; i++)
        n += snprintf(out + n, size - (size_t)n, "%s%u", i ? "," : "", g->dim[i]);
    if (n > 0 && (size_t)n + 1 < size) snprintf(out + n, size - (size_t)n, "]");
}
