/* Parsing of expr.h's expressions: precedence climbing over one table of operators. */
#include "contract/expr.h"
#include "base/c_text.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

/* two characters first */
static const struct operator
{
    const char *text;
    enum expr_op op;
    u32 binds;
}
operators[] = {
    { "**", EX_POWER, 12 },
    { "||", EX_OR_ELSE, 1 },
    { "&&", EX_AND_ALSO, 2 },
    { "==", EX_EQUAL, 6 },
    { "!=", EX_UNEQUAL, 6 },
    { "<=", EX_LESS_EQUAL, 7 },
    { ">=", EX_GREATER_EQUAL, 7 },
    { "<<", EX_LEFT, 8 },
    { ">>", EX_RIGHT, 8 },
    { "<", EX_LESS, 7 },
    { ">", EX_GREATER, 7 },
    { "|", EX_OR, 3 },
    { "^", EX_XOR, 4 },
    { "&", EX_AND, 5 },
    { "+", EX_ADD, 9 },
    { "-", EX_SUBTRACT, 9 },
    { "*", EX_MULTIPLY, 10 },
    { "/", EX_DIVIDE, 10 },
    { "%", EX_REMAINDER, 10 },
};
#define FUNCTION_NAME(name, operands) " " #name
#define FUNCTION_LIST EXPR_FUNCTIONS(FUNCTION_NAME)
static const struct {
    const char *name;
    u32 operands;
} functions[] = {
#define FUNCTION(name, operands) { #name, operands },
    EXPR_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

double number_double(struct number n) { return n.is_float ? n.f : (double)n.i; }

u32 symbol_find(const struct symbols *s, struct str name)
{
    for (u32 i = 0; i < s->list.n; i++)
        if (str_is(name, s->list.p[i].name)) return i;
    return UINT32_MAX;
}

const struct setting *setting_find(const struct settings *s, struct str name)
{
    for (u32 i = 0; s && i < s->list.n; i++)
        if (str_is(name, s->list.p[i].name)) return &s->list.p[i];
    return NULL;
}

bool cursor_error(const struct cursor *c, const char *at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    error_at_list(c->e, ERR_INPUT, c->file, c->all, at, fmt, ap);
    va_end(ap);
    return false;
}

void cursor_blank(struct cursor *c)
{
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\r')) c->p++;
}

bool cursor_take(struct cursor *c, char wanted)
{
    cursor_blank(c);
    if (c->p == c->end || *c->p != wanted) return false;
    c->p++;
    return true;
}

struct str cursor_word(struct cursor *c)
{
    cursor_blank(c);
    const char *from = c->p;
    if (c->p < c->end && (isalpha((unsigned char)*c->p) || *c->p == '_')) c->p += word_span(c->p, c->end);
    return (struct str){ from, (u32)(c->p - from) };
}

static struct expr *node(struct cursor *c, enum expr_op op, const char *at)
{
    if (c->nodes++ == EXPR_NODES) {
        cursor_error(c, at, "this expression has more than %d parts", EXPR_NODES);
        return NULL;
    }
    struct expr *x = NEW(c->mem, struct expr);
    x->op = op;
    x->at = at;
    return x;
}

static struct expr *parse_level(struct cursor *c, u32 binds);

/* 12, 0xff, 2.5, 1e-3. A dot followed by another ends an integer: 1..4096 is a range. */
static struct expr *parse_number(struct cursor *c)
{
    char z[64];
    const char *p = c->p;
    bool hex = c->end - p > 1 && p[0] == '0' && (p[1] | 32) == 'x', is_float = false;
    if (hex)
        for (p += 2; p < c->end && isxdigit((unsigned char)*p); p++)
            ;
    while (!hex && p < c->end) {
        bool dot = *p == '.' && !is_float && !(c->end - p > 1 && p[1] == '.');
        bool exponent = (*p | 32) == 'e' && p > c->p;
        if (!dot && !exponent && !isdigit((unsigned char)*p)) break;
        is_float |= dot || exponent;
        p += exponent && c->end - p > 1 && (p[1] == '-' || p[1] == '+') ? 2 : 1;
    }
    struct expr *x = node(c, EX_NUMBER, c->p);
    if (!x) return NULL;
    char *end;
    snprintf(z, sizeof z, "%.*s", (int)MIN_OF((size_t)(p - c->p), sizeof z - 1), c->p);
    bool whole = (size_t)(p - c->p) < sizeof z && !word_span(p, c->end);
    if (is_float) {
        x->value = (struct number){ .is_float = true, .f = double_read(z, &end) };
        whole &= !*end && end > z && isfinite(x->value.f);
    } else {
        u64 v = 0;
        whole &= p > c->p + (hex ? 2 : 0);
        for (const char *d = z + (hex ? 2 : 0); *d && whole; d++) {
            u64 base = hex ? 16 : 10,
                digit = isdigit((unsigned char)*d) ? (u64)(*d - '0') : (u64)((*d | 32) - 'a' + 10);
            whole = v <= ((u64)INT64_MAX - digit) / base;
            v = v * base + digit;
        }
        x->value.i = (s64)v;
    }
    if (!whole) {
        cursor_error(c, c->p, "this is not a number of 64 bits; write it as 12, 0xff, 2.5 or 1e-3");
        return NULL;
    }
    c->p = p;
    return x;
}

static struct expr *parse_call(struct cursor *c, struct str name, u32 function)
{
    struct expr *x = node(c, EX_CALL, name.p);
    u32 need = functions[function].operands;
    if (!x) return NULL;
    x->symbol = function;
    for (u32 i = 0; i < need; i++) {
        if (i && !cursor_take(c, ',')) {
            cursor_error(c, c->p, "%s takes %u operands with a comma between them", functions[function].name, need);
            return NULL;
        }
        x->kid[i] = parse_level(c, 0);
        if (!x->kid[i]) return NULL;
    }
    if (cursor_take(c, ')')) return x;
    cursor_error(c, c->p, "here a ) is missing: %s takes %u operand%s", functions[function].name, need, plural(need));
    return NULL;
}

static void unknown_name(struct cursor *c, struct str name, bool call)
{
    u32 n = call ? FN_COUNT : c->symbols->list.n;
    const char **words = NEW_ARRAY(c->mem, const char *, n + 1);
    for (u32 i = 0; i < n; i++) words[i] = call ? functions[i].name : c->symbols->list.p[i].name;
    const char *hint = str_hint(c->mem, name, words, n);
    if (call)
        cursor_error(c, name.p, "there is no function `%.*s`%s%s", (int)MIN_OF(name.n, 60u), name.p, hint,
                     hint[0] ? "" : "; there are" FUNCTION_LIST);
    else
        cursor_error(c, name.p, "nothing is called `%.*s` so far%s%s", (int)MIN_OF(name.n, 60u), name.p, hint,
                     hint[0] ? "" : "; a name is a dim, or an argument with a value, of a line above");
}

/* Takes what a name may have after it: .x .y .z of grid and block, .stride0 to .stride7 of an array. */
static void take_part(struct cursor *c, struct str *name)
{
    static const char stride[] = ".stride";
    size_t n = sizeof stride - 1;
    u32 more = 0;
    if (c->end - c->p > 1 && c->p[0] == '.' && strchr("xyz", c->p[1])) more = 2;
    if ((size_t)(c->end - c->p) > n && !memcmp(c->p, stride, n) && isdigit((unsigned char)c->p[n])) more = (u32)n + 1;
    c->p += more;
    name->n += more;
}

/* A name with its part; or a function and its operands. */
static struct expr *parse_name(struct cursor *c)
{
    struct str name = cursor_word(c);
    take_part(c, &name);
    if (cursor_take(c, '(')) {
        for (u32 i = 0; i < FN_COUNT; i++)
            if (str_is(name, functions[i].name)) return parse_call(c, name, i);
        unknown_name(c, name, true);
        return NULL;
    }
    const struct setting *chosen = setting_find(c->settings, name);
    struct expr *x = node(c, chosen && !chosen->type ? EX_NUMBER : EX_NAME, name.p);
    if (!x) return NULL;
    if (x->op == EX_NUMBER) {
        x->value.i = chosen->value;
        x->setting = chosen->name;
        return x;
    }
    x->symbol = symbol_find(c->symbols, name);
    if (x->symbol != UINT32_MAX) return x;
    unknown_name(c, name, false);
    return NULL;
}

static struct expr *parse_operand(struct cursor *c)
{
    static const struct {
        char sign;
        enum expr_op op;
    } unary[] = { { '-', EX_NEGATE }, { '!', EX_NOT }, { '~', EX_INVERT } };
    cursor_blank(c);
    const char *at = c->p;
    if (c->p < c->end &&
        (isdigit((unsigned char)*at) || (*at == '.' && c->end - at > 1 && isdigit((unsigned char)at[1]))))
        return parse_number(c);
    if (c->p < c->end && (isalpha((unsigned char)*at) || *at == '_')) return parse_name(c);
    if (cursor_take(c, '(')) {
        struct expr *x = parse_level(c, 0);
        if (x && !cursor_take(c, ')')) {
            cursor_error(c, c->p, "here a ) is missing");
            return NULL;
        }
        return x;
    }
    for (u32 i = 0; i < COUNT_OF(unary); i++)
        if (cursor_take(c, unary[i].sign)) {
            struct expr *x = node(c, unary[i].op, at);
            return x && (x->kid[0] = parse_level(c, 11)) ? x : NULL;
        }
    if (cursor_take(c, '+')) return parse_level(c, 11);
    cursor_error(c, at, "a number or a name is missing here");
    return NULL;
}

static const struct operator* next_operator(struct cursor *c)
{
    cursor_blank(c);
    for (u32 i = 0; i < COUNT_OF(operators); i++) {
        size_t n = strlen(operators[i].text);
        if ((size_t)(c->end - c->p) >= n && !memcmp(c->p, operators[i].text, n)) return &operators[i];
    }
    return NULL;
}

static struct expr *parse_ternary(struct cursor *c, struct expr *condition)
{
    struct expr *x = node(c, EX_TERNARY, c->p);
    c->p++;
    if (!x) return NULL;
    x->kid[0] = condition;
    x->kid[1] = parse_level(c, 0);
    if (!x->kid[1]) return NULL;
    if (!cursor_take(c, ':')) {
        cursor_error(c, c->p, "here the : of `condition ? this : that` is missing");
        return NULL;
    }
    x->kid[2] = parse_level(c, 0);
    return x->kid[2] ? x : NULL;
}

/* Operators that bind more than `binds`; 0: everything, the ternary too. */
static struct expr *parse_level(struct cursor *c, u32 binds)
{
    if (c->depth == EXPR_DEPTH) {
        cursor_error(c, c->p, "this expression nests deeper than %d", EXPR_DEPTH);
        return NULL;
    }
    c->depth++;
    struct expr *left = parse_operand(c);
    for (const struct operator* o; left && (o = next_operator(c)) && o->binds > binds;) {
        struct expr *x = node(c, o->op, c->p);
        c->p += strlen(o->text);
        if (!x || !(x->kid[1] = parse_level(c, o->binds - (o->op == EX_POWER)))) return NULL;
        x->kid[0] = left;
        left = x;
    }
    cursor_blank(c);
    if (left && !binds && c->p < c->end && *c->p == '?') left = parse_ternary(c, left);
    c->depth--;
    return left;
}

struct expr *expr_parse(struct cursor *c)
{
    c->nodes = c->depth = 0;
    return parse_level(c, 0);
}

const char *expr_word(const struct expr *x)
{
    switch (x->op) {
    case EX_NUMBER: return "float";
    case EX_NAME: return "";
    case EX_CALL: return functions[x->symbol].name;
    case EX_NEGATE: return "-";
    case EX_NOT: return "!";
    case EX_INVERT: return "~";
    case EX_TERNARY: return "?:";
    default: break;
    }
    u32 i = 0;
    while (operators[i].op != x->op) i++;
    return operators[i].text;
}

u32 expr_last_symbol(const struct expr *x)
{
    u32 last = x->op == EX_NAME ? x->symbol : UINT32_MAX;
    for (u32 i = 0; i < 3; i++) {
        u32 k = x->kid[i] ? expr_last_symbol(x->kid[i]) : UINT32_MAX;
        if (k != UINT32_MAX && (last == UINT32_MAX || k > last)) last = k;
    }
    return last;
}

bool expr_is_constant(const struct expr *x) { return expr_last_symbol(x) == UINT32_MAX; }
