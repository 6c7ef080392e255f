/* Characters to tokens. The text is terminated by a 0 that is not part of it, so that looking one or two characters
 * ahead needs no test; a 0 inside the text is a bad character like any other. */
#include "ptx/lexer.h"
#include <float.h>
#include <stdlib.h>

enum { C_NAME = 1, C_DIGIT = 2, C_HEX = 4, C_START = 8 }; /* what a character may be part of */

static const u8 classes[256] = {
    ['0' ... '9'] = C_NAME | C_DIGIT | C_HEX,
    ['a' ... 'f'] = C_NAME | C_HEX | C_START,
    ['g' ... 'z'] = C_NAME | C_START,
    ['A' ... 'F'] = C_NAME | C_HEX | C_START,
    ['G' ... 'Z'] = C_NAME | C_START,
    ['_'] = C_NAME | C_START,
    ['$'] = C_NAME | C_START,
};

static inline u8 class_of(char c) { return classes[(u8)c]; }

static struct token bad(struct lexer *lx, struct token t, const char *why)
{
    lx->bad = why;
    t.kind = TK_BAD;
    t.s = (struct str){ t.at, (u32)(lx->p - t.at) };
    return t;
}

static const char *inline_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t') p++;
    return p;
}

/* What a preprocessor leaves in its output, `# 3 "file"` or `#line 3 "file"`: the end of that line; NULL: it is not
 * one.
 */
static const char *line_marker(const char *p, const char *end)
{
    p = inline_blanks(p + 1);
    if (end - p >= 4 && !memcmp(p, "line", 4)) p = inline_blanks(p + 4);
    const char *number = p;
    while (class_of(*p) & C_DIGIT) p++;
    const char *quote = inline_blanks(p);
    if (p == number || quote == p || *quote != '"') return NULL;
    const char *nl = memchr(p, '\n', (size_t)(end - p));
    return nl ? nl : end;
}

/* Assembly of the source begins or ends at this comment. */
static void comment_note(struct lexer *lx, const char *words)
{
    static const char begin[] = "begin inline asm", end[] = "end inline asm";
    size_t n = (size_t)(lx->p - words);
    if (n >= sizeof begin - 1 && !memcmp(words, begin, sizeof begin - 1)) lx->in_asm = true;
    if (n >= sizeof end - 1 && !memcmp(words, end, sizeof end - 1)) lx->in_asm = false;
}

/* Skips blanks, comments and line markers; false: a comment without an end, p stands at its start. */
static bool skip_blanks(struct lexer *lx)
{
    for (;;) {
        const char *p = lx->p;
        while (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n' || *p == '\f' || *p == '\v')
            lx->line += *p++ == '\n';
        lx->p = p;
        if (p[0] == '/' && p[1] == '/') {
            const char *nl = memchr(p, '\n', (size_t)(lx->end - p));
            lx->p = nl ? nl : lx->end;
            if (unlikely(p[2] == ' ' && (p[3] == 'b' || p[3] == 'e'))) comment_note(lx, p + 3);
        } else if (p[0] == '/' && p[1] == '*') {
            u32 lines = 0;
            for (p += 2; p < lx->end && !(p[0] == '*' && p[1] == '/'); p++) lines += *p == '\n';
            if (p >= lx->end) return false;
            lx->line += lines;
            lx->p = p + 2;
        } else if (unlikely(p[0] == '#') && line_marker(p, lx->end)) {
            lx->p = line_marker(p, lx->end);
        } else {
            return true;
        }
    }
}

static int digit_value(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

/* Digits of a base from p on; *ok is false when there are none, or more than 64 bits. */
static const char *digits(const char *p, unsigned base, u64 *value, bool *ok)
{
    const char *start = p;
    u64 v = 0;
    *ok = true;
    for (; class_of(*p) & C_HEX; p++) {
        unsigned d = (unsigned)digit_value(*p);
        if (d >= base) break;
        if (__builtin_mul_overflow(v, (u64)base, &v) || __builtin_add_overflow(v, (u64)d, &v)) *ok = false;
    }
    if (p == start) *ok = false;
    *value = v;
    return p;
}

/* 0f3F800000 and 0d3FF0000000000000: exactly 8 or 16 digits. */
static struct token hex_float(struct lexer *lx, struct token t, int n)
{
    bool ok;
    const char *p = digits(lx->p + 2, 16, &t.value, &ok);
    bool right = p - lx->p == n + 2 && !(class_of(*p) & C_NAME);
    while (class_of(*p) & C_NAME) p++;
    lx->p = p;
    if (!right)
        return bad(lx, t,
                   n == 8 ? "0f is followed by exactly 8 hexadecimal digits"
                          : "0d is followed by exactly 16 hexadecimal digits");
    t.kind = n == 8 ? TK_F32 : TK_F64;
    t.s.n = (u32)(p - t.at);
    return t;
}

static struct token decimal_float(struct lexer *lx, struct token t)
{
    const char *p = lx->p;
    while (class_of(*p) & C_DIGIT) p++;
    if (*p == '.')
        for (p++; class_of(*p) & C_DIGIT;) p++;
    if ((*p | 0x20) == 'e') {
        p += p[1] == '+' || p[1] == '-' ? 2 : 1;
        if (!(class_of(*p) & C_DIGIT)) {
            lx->p = p;
            return bad(lx, t, "the exponent of this number has no digits");
        }
        while (class_of(*p) & C_DIGIT) p++;
    }
    char copy[256];
    size_t n = (size_t)(p - lx->p);
    lx->p = p;
    if (n >= sizeof copy) return bad(lx, t, "this number has too many digits");
    memcpy(copy, t.at, n);
    copy[n] = 0;
    double d = double_read(copy, NULL);
    if (d > DBL_MAX) return bad(lx, t, "this number is larger than any .f64");
    memcpy(&t.value, &d, 8);
    t.kind = TK_F64;
    t.s.n = (u32)n;
    return t;
}

static struct token number(struct lexer *lx, struct token t)
{
    const char *p = lx->p;
    char second = p[0] == '0' ? (char)(p[1] | 0x20) : 0;
    if (second == 'f') return hex_float(lx, t, 8);
    if (second == 'd') return hex_float(lx, t, 16);
    bool ok;
    if (second == 'x' || second == 'b') {
        p = digits(p + 2, second == 'x' ? 16 : 2, &t.value, &ok);
    } else {
        const char *q = p;
        while (class_of(*q) & C_DIGIT) q++;
        if ((*q == '.' && !(class_of(q[1]) & C_START)) || (*q | 0x20) == 'e') return decimal_float(lx, t);
        bool octal = p[0] == '0' && q - p > 1;
        p = digits(p, octal ? 8 : 10, &t.value, &ok);
    }
    t.is_unsigned = t.value >> 63;
    if (*p == 'U' || *p == 'u') {
        t.is_unsigned = true;
        p++;
    }
    bool tail = class_of(*p) & C_NAME;
    while (class_of(*p) & C_NAME) p++;
    lx->p = p;
    if (tail) return bad(lx, t, "this is neither a number nor a name");
    if (!ok) return bad(lx, t, "this number does not fit in 64 bits");
    t.kind = TK_INT;
    t.s.n = (u32)(p - t.at);
    return t;
}

static struct token string(struct lexer *lx, struct token t)
{
    const char *p = lx->p + 1;
    while (*p != '"' && *p != '\n' && p < lx->end) p += *p == '\\' && p + 1 < lx->end && p[1] != '\n' ? 2 : 1;
    if (*p != '"') {
        lx->p = p;
        return bad(lx, t, "this string does not end on its line");
    }
    t.kind = TK_STRING;
    t.s = (struct str){ t.at + 1, (u32)(p - t.at - 1) };
    lx->p = p + 1;
    return t;
}

static struct token punctuation(struct lexer *lx, struct token t)
{
    static const char twos[][3] = { "<<", ">>", "<=", ">=", "==", "!=", "&&", "||" };
    const char *p = lx->p;
    t.op = p[0];
    t.s.n = 1;
    if (!t.op || !strchr(",;:{}()[]<>=!|&^~?+-*/%@", t.op)) {
        lx->p = p + 1;
        return bad(lx, t,
                   t.op == '#' ? "preprocessor lines are not taken: preprocess the text first"
                               : "this character has no place in PTX");
    }
    for (size_t i = 0; i < COUNT_OF(twos); i++)
        if (p[0] == twos[i][0] && p[1] == twos[i][1]) {
            t.op = OP2(p[0], p[1]);
            t.s.n = 2;
        }
    t.kind = TK_PUNCT;
    lx->p += t.s.n;
    return t;
}

struct token lexer_next(struct lexer *lx)
{
    bool whole = skip_blanks(lx);
    const char *p = lx->p;
    struct token t = { .at = p, .line = lx->line, .s = { p, 0 } };
    if (!whole) {
        lx->p = lx->end;
        return bad(lx, t, "this comment is never closed");
    }
    if (p >= lx->end) return t;
    u8 c = class_of(*p);
    if ((c & C_START) || (*p == '%' && (class_of(p[1]) & C_NAME)) || (*p == '.' && (class_of(p[1]) & C_START))) {
        t.kind = *p == '.' ? TK_DOT : TK_NAME;
        for (p++; class_of(*p) & C_NAME;) p++;
        t.s.n = (u32)(p - lx->p);
        lx->p = p;
        return t;
    }
    if (c & C_DIGIT) return number(lx, t);
    if (*p == '.' && (class_of(p[1]) & C_DIGIT)) return decimal_float(lx, t);
    return *p == '"' ? string(lx, t) : punctuation(lx, t);
}

/* The end of one `.word::word` at p, or p itself when there is none. */
static const char *modifier_end(const char *p)
{
    if (*p != '.' || !(class_of(p[1]) & C_NAME)) return p;
    for (p++; class_of(*p) & C_NAME || (p[0] == ':' && p[1] == ':' && (class_of(p[2]) & C_NAME));)
        p += *p == ':' ? 2 : 1;
    return p;
}

struct str lexer_opcode(struct lexer *lx, struct token name, struct arena *a)
{
    const char *p = name.at + name.s.n, *q;
    while ((q = modifier_end(p)) != p) p = q;
    lx->p = p;
    struct str s = { name.at, (u32)(p - name.at) };
    /* Blanks between the modifiers are legal and rare; then the opcode is put together in a copy, a few times at
     * most. */
    for (int i = 0; i < 16 && skip_blanks(lx) && (q = modifier_end(lx->p)) != lx->p; i++) {
        s = str_of(arena_printf(a, "%.*s%.*s", (int)s.n, s.p, (int)(q - lx->p), lx->p));
        lx->p = q;
    }
    return s;
}
