/* The writer and the reader of JSON (json.h). The reader makes one pass over the text, down into arrays and objects by
 * calls, JSON_DEEPEST of them at most. Memory is a constant times the length of the text, and the number of values has
 * a bound. */
#include "base/json.h"
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

void json_key(struct json *j, const char *key)
{
    if (j->more) text_add(j->out, ",");
    j->more = true;
    if (!key) return;
    text_json(j->out, key);
    text_add(j->out, ":");
}

void json_text(struct json *j, const char *key, const char *z)
{
    if (!z) {
        json_null(j, key);
        return;
    }
    json_key(j, key);
    text_json(j->out, z);
}

void json_number(struct json *j, const char *key, u64 n)
{
    json_key(j, key);
    text_add(j->out, "%" PRIu64, n);
}

void json_signed(struct json *j, const char *key, s64 n)
{
    json_key(j, key);
    text_add(j->out, "%" PRId64, n);
}

void json_double(struct json *j, const char *key, double x)
{
    char number[32];
    if (!isfinite(x)) {
        json_null(j, key);
        return;
    }
    double_print(x, number, sizeof number);
    json_key(j, key);
    text_add(j->out, "%s", number);
}

void json_bool(struct json *j, const char *key, bool b)
{
    json_key(j, key);
    text_add(j->out, b ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
    json_key(j, key);
    text_add(j->out, "null");
}

void json_triple(struct json *j, const char *key, const u32 v[3])
{
    json_key(j, key);
    text_add(j->out, "[%u,%u,%u]", v[0], v[1], v[2]);
}

struct json json_open(struct json *j, const char *key, char bracket)
{
    json_key(j, key);
    text_put(j->out, &bracket, 1);
    return (struct json){ j->out, false };
}

void json_end(struct json *j, char bracket) { text_put(j->out, &bracket, 1); }

/* ---- the reader ---- */

enum { JSON_DEEPEST = 64, JSON_MOST = 4000000, KEYS_BY_MAP = 16 };

struct json_reader {
    struct arena *mem;
    struct str all;        /* the text */
    const char *at, *end;  /* what is not read yet */
    const char *line_from; /* the first byte of the line that `at` is in */
    u32 line;              /* its number */
    const char *name;      /* of the text, for errors */
    struct error *e;
    u32 deep;   /* arrays and objects around `at` */
    u32 values; /* that were read */
};

static bool value(struct json_reader *r, struct json_value *v);

static bool refuse(struct json_reader *r, const char *at, const char *what)
{
    return error_at(r->e, ERR_INPUT, r->name, r->all, at, "%s", what);
}

static void skip_blanks(struct json_reader *r)
{
    for (; r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'); r->at++)
        if (*r->at == '\n') {
            r->line++;
            r->line_from = r->at + 1;
        }
}

/* The next character that is no blank; 0: the text ends, or has a 0. */
static char next(struct json_reader *r)
{
    skip_blanks(r);
    return r->at < r->end ? *r->at : 0;
}

/* ---- texts ---- */

static bool hex4(struct json_reader *r, const char *p, u32 *out)
{
    *out = 0;
    for (u32 i = 0; i < 4; i++) {
        char c = p + i < r->end ? p[i] : 0;
        u32 d = c >= '0' && c <= '9'   ? (u32)(c - '0')
                : c >= 'a' && c <= 'f' ? (u32)(c - 'a' + 10)
                : c >= 'A' && c <= 'F' ? (u32)(c - 'A' + 10)
                                       : 16;
        if (d == 16) return refuse(r, p - 2, "\\u wants four hexadecimal digits");
        *out = *out << 4 | d;
    }
    return true;
}

static u32 utf8_write(u32 code, char *to)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    u32 n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (u32 i = n - 1; i > 0; i--, code >>= 6) to[i] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)((0xf00u >> n & 0xffu) | code);
    return n;
}

/* An escape: `at` is after the backslash, and then after the escape. Its bytes go to *to. */
static bool escape(struct json_reader *r, char **to)
{
    static const char names[] = "\"\\/bfnrt", codes[] = "\"\\/\b\f\n\r\t";
    const char *from = r->at - 1, *known = r->at < r->end && *r->at ? strchr(names, *r->at) : NULL;
    if (known) {
        *(*to)++ = codes[known - names];
        r->at++;
        return true;
    }
    if (r->at == r->end || *r->at != 'u')
        return refuse(r, from, "no escape of JSON: it has \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
    u32 code, low;
    if (!hex4(r, r->at + 1, &code)) return false;
    r->at += 5;
    if (code >= 0xd800 && code < 0xe000) {
        bool pair = code < 0xdc00 && r->end - r->at >= 6 && r->at[0] == '\\' && r->at[1] == 'u';
        if (pair && !hex4(r, r->at + 2, &low)) return false;
        if (!pair || low < 0xdc00 || low > 0xdfff) return refuse(r, from, "half a surrogate pair");
        code = 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00));
        r->at += 6;
    }
    *to += utf8_write(code, *to);
    return true;
}

/* The text at the quote that `at` is at. No escape is shorter than what it stands for. */
static bool text(struct json_reader *r, struct str *out)
{
    const char *from = r->at++, *close = r->at;
    while (close < r->end && *close != '"') close += *close == '\\' && close + 1 < r->end ? 2 : 1;
    if (close == r->end) return refuse(r, from, "a text without its end");
    char *p = arena_alloc(r->mem, (size_t)(close - r->at) + 1, 1), *to = p;
    while (*r->at != '"') {
        u32 code, n = utf8_read(r->at, (size_t)(r->end - r->at), &code);
        if (!n) return refuse(r, r->at, "these bytes are no UTF-8");
        if (code < 0x20)
            return refuse(r, r->at, "a control character in a text: it is written as an escape, \\n or \\u000a");
        if (code == '\\') {
            r->at++;
            if (!escape(r, &to)) return false;
            continue;
        }
        memcpy(to, r->at, n);
        to += n;
        r->at += n;
    }
    r->at++;
    *out = (struct str){ p, (u32)(to - p) };
    return true;
}

/* ---- numbers ---- */

static const char *digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9') p++;
    return p;
}

/* The end of the number that begins at p; NULL: there is none. *whole: it has neither fraction nor exponent. */
static const char *number_end(const char *p, const char *end, bool *whole)
{
    *whole = true;
    if (p < end && *p == '-') p++;
    const char *first = p;
    p = digits(p, end);
    if (p == first || (*first == '0' && p > first + 1)) return NULL;
    if (p < end && *p == '.') {
        *whole = false;
        first = ++p;
        if ((p = digits(p, end)) == first) return NULL;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        *whole = false;
        p++;
        if (p < end && (*p == '+' || *p == '-')) p++;
        first = p;
        if ((p = digits(p, end)) == first) return NULL;
    }
    return p;
}

static bool whole_of(const char *p, const char *end, s64 *out)
{
    bool minus = *p == '-';
    u64 n = 0, most = (u64)INT64_MAX + minus;
    for (p += minus; p < end; p++) {
        u64 d = (u64)(*p - '0');
        if (n > (most - d) / 10) return false;
        n = n * 10 + d;
    }
    *out = minus ? (s64)(0 - n) : (s64)n;
    return true;
}

static bool number(struct json_reader *r, struct json_value *v)
{
    bool whole;
    const char *from = r->at, *to = number_end(from, r->end, &whole);
    if (!to) return refuse(r, from, "no number of JSON: 0, -12, 1.5 and 2e-3 are some");
    if (!double_parse((struct str){ from, (u32)(to - from) }, &v->number) || fabs(v->number) > DBL_MAX)
        return refuse(r, from, "a number that no double holds");
    v->is_whole = whole && whole_of(from, to, &v->whole) && (v->whole || *from != '-'); /* -0 is no whole number */
    v->kind = JSON_NUMBER;
    r->at = to;
    return true;
}

/* ---- arrays and objects ---- */

typedef VEC(struct json_value) value_list;
typedef VEC(struct str) key_list;

/* Whether a key stands in the object already: small objects are looked through, others have a map. */
static bool key_is_new(struct json_reader *r, const key_list *keys, struct map *known, struct str key)
{
    if (keys->n < KEYS_BY_MAP) {
        for (u32 i = 0; i < keys->n; i++)
            if (str_eq(keys->p[i], key)) return false;
        return true;
    }
    for (u32 i = 0; keys->n == KEYS_BY_MAP && i < keys->n; i++) map_put(r->mem, known, keys->p[i], known);
    if (map_get(known, key)) return false;
    map_put(r->mem, known, key, known);
    return true;
}

static bool key(struct json_reader *r, key_list *keys, struct map *known)
{
    const char *from = r->at;
    struct str k;
    if (next(r) != '"') return refuse(r, r->at, "a key in quotes belongs here");
    from = r->at;
    if (!text(r, &k)) return false;
    if (!key_is_new(r, keys, known, k)) return refuse(r, from, "this key stands in the object already");
    VEC_PUSH(r->mem, keys, k);
    if (next(r) != ':') return refuse(r, r->at, "a colon belongs after a key");
    r->at++;
    return true;
}

static bool json_inside(struct json_reader *r, struct json_value *v, char close)
{
    value_list list = { 0 };
    key_list keys = { 0 };
    struct map known = { 0 };
    if (++r->deep > JSON_DEEPEST) return refuse(r, r->at, "more than 64 arrays and objects inside each other");
    r->at++;
    for (bool first = true; next(r) != close || !first; first = false) {
        if (!first) {
            if (next(r) == close) break;
            if (next(r) != ',')
                return refuse(r, r->at, close == ']' ? "a comma or ] belongs here" : "a comma or } belongs here");
            r->at++;
        }
        struct json_value item;
        if ((close == '}' && !key(r, &keys, &known)) || !value(r, &item)) return false;
        VEC_PUSH(r->mem, &list, item);
    }
    r->at++;
    r->deep--;
    v->kind = close == ']' ? JSON_ARRAY : JSON_OBJECT;
    v->n = list.n;
    v->item = list.p;
    v->key = keys.p;
    return true;
}

static bool word(struct json_reader *r, const char *z)
{
    size_t n = strlen(z);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, z, n)) return false;
    r->at += n;
    return true;
}

static bool value(struct json_reader *r, struct json_value *v)
{
    char c = next(r);
    if (++r->values > JSON_MOST) return refuse(r, r->at, "more than four million values");
    *v = (struct json_value){ .line = r->line, .column = (u32)(r->at - r->line_from) + 1 };
    if (c == '[') return json_inside(r, v, ']');
    if (c == '{') return json_inside(r, v, '}');
    if (c == '"') {
        v->kind = JSON_TEXT;
        return text(r, &v->text);
    }
    if (c == '-' || (c >= '0' && c <= '9')) return number(r, v);
    if (word(r, "null")) return true;
    v->kind = JSON_BOOL;
    v->yes = c == 't';
    if (word(r, "true") || word(r, "false")) return true;
    return refuse(r, r->at, r->at == r->end ? "the text ends where a value belongs" : "no value of JSON");
}

const struct json_value *json_read(struct arena *a, struct str all, const char *name, struct error *e)
{
    if (!all.p) all = STR("");
    struct json_reader r = { .mem = a, .all = all, .at = all.p, .end = all.p + all.n, .name = name, .e = e };
    r.line = 1;
    r.line_from = all.p;
    struct json_value *v = NEW(a, struct json_value);
    if (!value(&r, v)) return NULL;
    skip_blanks(&r);
    if (r.at < r.end) {
        refuse(&r, r.at, "the value ended before this");
        return NULL;
    }
    return v;
}

const struct json_value *json_get(const struct json_value *v, const char *name)
{
    for (u32 i = 0; v && v->kind == JSON_OBJECT && i < v->n; i++)
        if (str_is(v->key[i], name)) return &v->item[i];
    return NULL;
}

const char *json_string(const struct json_value *v, const char *key)
{
    const struct json_value *x = json_get(v, key);
    return x && x->kind == JSON_TEXT ? x->text.p : "";
}

u64 json_whole(const struct json_value *v, const char *key)
{
    const struct json_value *x = json_get(v, key);
    return x && x->kind == JSON_NUMBER && x->is_whole && x->whole > 0 ? (u64)x->whole : 0;
}

double json_real(const struct json_value *v, const char *key)
{
    const struct json_value *x = json_get(v, key);
    return x && x->kind == JSON_NUMBER ? x->number : 0;
}

const struct json_value *json_list(const struct json_value *v, const char *key)
{
    static const struct json_value none = { .kind = JSON_ARRAY };
    const struct json_value *x = json_get(v, key);
    return x && x->kind == JSON_ARRAY ? x : &none;
}

const char *json_kind_name(enum json_kind k)
{
    static const char *const names[] = { "null", "true or false", "a number", "a text", "an array", "an object" };
    return names[k];
}
