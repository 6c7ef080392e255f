/* Which variable of the source a register is that was read before anything was written to it.
 *
 * Compilers give variables registers, and without debug information nothing says which. The text of the function does,
 * where only one variable can be meant: the function declares it without a value, nothing gives it one on every path,
 * and every other variable has one. Debug information (-G) names the variable of a register; the text then has to show
 * that no other variable without a value is assigned to it, because compilers leave out copies of undefined values.
 * Whatever the text hides (calls, macros, structs, arrays, directives, goto) ends the search: a wrong name is worse
 * than a register. */
#include "report/entry.h"

/* Beyond these nothing is named: the search must not cost more than the launch. */
enum { MAX_BYTES = 1 << 20, MAX_TOKENS = 20000, MAX_DECLS = 256, MAX_CARRIERS = 64, MAX_TEMPLATE = 64 };

struct tok { /* a word or a sign of the source */
    struct str s;
    u32 line;
    char kind; /* 'w' word, '0' number, '"' string, '#' directive, otherwise a sign */
};
struct decl {       /* a variable that the function declares */
    u32 at;         /* its name, as the number of a token */
    u32 depth;      /* of braces */
    bool is_set;    /* it has an initialiser, or is assigned before every use */
    bool is_scalar; /* of a type that fits one register */
};
struct function_body { /* a function */
    struct arena mem;
    VEC(struct tok) t;
    struct map macro; /* names that stand for more than a number */
    u32 from, to;     /* its tokens, between the braces */
    struct decl decl[MAX_DECLS];
    u32 ndecl;
};

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (u8)c >= 0x80; }

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is(const struct tok *t, const char *z) { return str_is(t->s, z); }

static bool is_one_of(const struct tok *t, const char *const *words)
{
    for (; t->kind == 'w' && *words; words++)
        if (is(t, *words)) return true;
    return false;
}

/* Past the end of a directive, which a backslash carries on to the next line. */
static const char *directive_end(const char *p, const char *end, u32 *line)
{
    for (; p < end && *p != '\n'; p++)
        if (*p == '\\' && end - p > 1 && p[1] == '\n') {
            p++;
            *line += 1;
        }
    return p;
}

/* #define NAME: its name, unless all it stands for is a number. Other directives but #pragma have an empty name. */
static void directive_add(struct function_body *b, const char *p, const char *end, u32 line)
{
    const char *q = p + 1;
    while (q < end && (*q == ' ' || *q == '\t')) q++;
    if (end - q > 6 && !memcmp(q, "pragma", 6)) return;
    struct str name = { q, 0 };
    if (end - q > 7 && !memcmp(q, "define ", 7)) {
        for (q += 7; q < end && *q == ' ';) q++;
        for (name.p = q; q < end && (is_letter(*q) || is_digit(*q));) q++;
        name.n = (u32)(q - name.p);
        bool comment = false;
        for (; q < end && *q && strchr("0123456789abcdefABCDEFxXuUlL.+-*/()<> \t\r", *q) && !comment; q++)
            comment = end - q > 1 && q[0] == '/' && q[1] == '/';
        if ((q == end || comment) && name.p + name.n < end && name.p[name.n] != '(') return;
    }
    if (name.n) map_put(&b->mem, &b->macro, name, b);
    VEC_PUSH(&b->mem, &b->t, ((struct tok){ name, line, '#' }));
}

/* The length of the sign at p: those of two and three characters are one token where that matters here. */
static u32 sign_length(const char *p, const char *end)
{
    static const char *const two[] = { "::", "->", "==", "!=", "<=", ">=", "&&", "||", "++",
                                       "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=" };
    if (end - p > 2 && (!memcmp(p, "<<=", 3) || !memcmp(p, ">>=", 3))) return 3;
    for (u32 i = 0; end - p > 1 && i < COUNT_OF(two); i++)
        if (!memcmp(p, two[i], 2)) return 2;
    return 1;
}

/* The tokens of a file; false: it has a raw string, or one that does not end in its line. */
static bool tokens_read(struct function_body *b, struct str all)
{
    const char *p = all.p, *end = all.p + all.n;
    u32 line = 1;
    bool fresh = true; /* nothing but blanks since the line began */
    while (p < end) {
        const char *from = p;
        char kind = *p;
        if (*p == '\n' || *p == ' ' || *p == '\t' || *p == '\r') {
            line += *p == '\n';
            fresh |= *p++ == '\n';
            continue;
        }
        if (end - p > 1 && p[0] == '/' && p[1] == '/') {
            while (p < end && *p != '\n') p++;
            continue;
        }
        if (end - p > 1 && p[0] == '/' && p[1] == '*') {
            for (p += 2; end - p > 1 && !(p[0] == '*' && p[1] == '/'); p++) line += *p == '\n';
            p = end - p > 1 ? p + 2 : end;
            continue;
        }
        if (*p == '#' && fresh) {
            u32 first = line;
            p = directive_end(p, end, &line);
            directive_add(b, from, p, first);
            continue;
        }
        fresh = false;
        if (*p == '"' || *p == '\'') {
            bool raw = b->t.n && p > all.p && p[-1] == 'R';
            for (p++; p < end && *p != kind && *p != '\n'; p++) p += *p == '\\' && end - p > 1 && p[1] != '\n';
            if (p >= end || *p != kind || raw) return false;
            p++;
            kind = '"';
        } else if (is_letter(*p)) {
            while (p < end && (is_letter(*p) || is_digit(*p))) p++;
            kind = 'w';
        } else if (is_digit(*p)) {
            while (p < end && (is_letter(*p) || is_digit(*p) || *p == '.' || *p == '\'')) p++;
            kind = '0';
        } else
            p += sign_length(p, end);
        VEC_PUSH(&b->mem, &b->t, ((struct tok){ { from, (u32)(p - from) }, line, kind }));
    }
    return true;
}

/* A brace that opens a function stands after its parameters. */
static bool opens_function(const struct function_body *b, u32 i)
{
    static const char *const behind[] = { "const", "noexcept", "override", NULL };
    while (i && is_one_of(&b->t.p[i - 1], behind)) i--;
    return i && is(&b->t.p[i - 1], ")");
}

/* Finds the outermost function around a line; false: there is none, or several. */
static bool body_find(struct function_body *b, u32 line)
{
    u32 depth = 0, open = 0, open_depth = 0, found = 0;
    for (u32 i = 0; i < b->t.n; i++) {
        if (is(&b->t.p[i], "{")) {
            if (!open && opens_function(b, i)) {
                open = i;
                open_depth = depth;
            }
            depth++;
        } else if (is(&b->t.p[i], "}")) {
            if (!depth) return false;
            if (--depth > open_depth || !open) continue;
            if (b->t.p[open - 1].line <= line && line <= b->t.p[i].line) {
                found++;
                b->from = open + 1;
                b->to = i;
            }
            open = 0;
        }
    }
    return found == 1 && !depth && b->to - b->from <= MAX_TOKENS;
}

static bool is_member_token(const struct function_body *b, u32 i)
{
    return i && (is(&b->t.p[i - 1], ".") || is(&b->t.p[i - 1], "->") || is(&b->t.p[i - 1], "::"));
}

static bool same_name(const struct function_body *b, u32 i, struct str name)
{
    return b->t.p[i].kind == 'w' && str_eq(b->t.p[i].s, name) && !is_member_token(b, i);
}

/* The index after the closing bracket that matches i; b->to: unmatched. */
static u32 behind_brackets(const struct function_body *b, u32 i)
{
    u32 depth = 0;
    for (; i < b->to; i++) {
        const struct tok *t = &b->t.p[i];
        depth += is(t, "(") || is(t, "[") || is(t, "{");
        if ((is(t, ")") || is(t, "]") || is(t, "}")) && !--depth) return i + 1;
    }
    return b->to;
}

/* The index after the template arguments that open at i; i: no template arguments. */
static u32 behind_template(const struct function_body *b, u32 i)
{
    u32 depth = 0;
    for (u32 k = i; k < b->to && k - i < MAX_TEMPLATE; k++) {
        const struct tok *t = &b->t.p[k];
        if (is(t, "<"))
            depth++;
        else if (is(t, ">")) {
            if (!--depth) return k + 1;
        } else if (t->kind != 'w' && t->kind != '0' && !is(t, ",") && !is(t, "::") && !is(t, "*") && !is(t, "&"))
            return i;
    }
    return i;
}

static bool begins_statement(const struct function_body *b, u32 i)
{
    if (i == b->from) return true;
    const struct tok *t = &b->t.p[i - 1];
    if (is(t, "(")) return i > b->from + 1 && is(&b->t.p[i - 2], "for");
    return is(t, ";") || is(t, "{") || is(t, "}") || is(t, ":") || is(t, "else") || is(t, "do");
}

static bool decl_add(struct function_body *b, u32 at, u32 depth, bool is_set, bool is_scalar)
{
    if (b->ndecl == MAX_DECLS) return false;
    b->decl[b->ndecl++] = (struct decl){ at, depth, is_set, is_scalar };
    return true;
}

/* The declarators from a name on: `a, *b = c, d[4];`. False: what it is cannot be told. */
static bool declarators_read(struct function_body *b, u32 i, u32 depth, bool is_scalar)
{
    for (;;) {
        while (i < b->to && (is(&b->t.p[i], "*") || is(&b->t.p[i], "&"))) i++;
        if (i >= b->to || b->t.p[i].kind != 'w') return false;
        u32 name = i++;
        bool array = false;
        for (; i < b->to && is(&b->t.p[i], "["); array = true) i = behind_brackets(b, i);
        if (i >= b->to) return false;
        bool plain = is(&b->t.p[i], ",") || is(&b->t.p[i], ";");
        if (!decl_add(b, name, depth, !plain, is_scalar && !array)) return false;
        while (i < b->to && !is(&b->t.p[i], ",") && !is(&b->t.p[i], ";")) {
            const struct tok *t = &b->t.p[i];
            if (is(t, ")") || is(t, "}")) return false;
            i = is(t, "(") || is(t, "[") || is(t, "{") ? behind_brackets(b, i) : i + 1;
        }
        if (i >= b->to) return false;
        if (is(&b->t.p[i++], ";")) return true;
    }
}

/* Reads the declaration at i, when there is one. False: what it is cannot be told. */
static bool declaration_read(struct function_body *b, u32 i, u32 depth)
{
    static const char *const other[] = { "return",  "goto", "delete",  "throw", "break",  "continue",      "using",
                                         "typedef", "else", "do",      "if",    "for",    "while",         "switch",
                                         "case",    "asm",  "default", "new",   "sizeof", "static_assert", NULL };
    static const char *const scalar[] = { "unsigned", "signed",   "char",     "short",    "int",     "long",
                                          "float",    "double",   "bool",     "size_t",   "int8_t",  "uint8_t",
                                          "int16_t",  "uint16_t", "int32_t",  "uint32_t", "int64_t", "uint64_t",
                                          "uint",     "const",    "volatile", "register", NULL };
    static const char *const memory[] = { "__shared__", "extern", "static", "__constant__", NULL };
    static const char *const types[] = { "struct", "class", "union", "enum", NULL };
    u32 k = i, words = 0, name = 0;
    bool is_scalar = true, in_memory = false, pointer = false, was_word = false;
    if (b->t.p[i].kind != 'w' || is_one_of(&b->t.p[i], other)) return true;
    if (is_one_of(&b->t.p[i], types)) return false;
    for (; k < b->to; k++) {
        const struct tok *t = &b->t.p[k];
        if (t->kind == 'w') {
            if (words) is_scalar &= is_one_of(&b->t.p[name], scalar);
            in_memory |= is_one_of(t, memory);
            words += !k || !is(&b->t.p[k - 1], "::");
            name = k;
            was_word = true;
        } else if (was_word && is(t, "<")) {
            u32 behind = behind_template(b, k);
            if (behind == k) return true; /* a comparison */
            is_scalar = false;
            k = behind - 1;
        } else if (is(t, "*") || is(t, "&"))
            pointer = true;
        else if (!is(t, "::"))
            break;
    }
    if (k >= b->to || in_memory) return k < b->to;
    if (words < 2) return !is(&b->t.p[k], ";") || k > i + 1; /* one word alone is a macro */
    if (!is(&b->t.p[k], ",") && !is(&b->t.p[k], ";") && !is(&b->t.p[k], "=") && !is(&b->t.p[k], "[") &&
        !is(&b->t.p[k], "(") && !is(&b->t.p[k], "{"))
        return true;
    return declarators_read(b, name, depth, is_scalar || pointer);
}

/* Whether the assignment at i stands where it is always run when its block is: a statement, or the first one of a for
 * loop. */
static bool is_always_run(const struct function_body *b, u32 i, bool in_parentheses)
{
    u32 k = i;
    while (k > b->from && !is(&b->t.p[k - 1], ";") && !is(&b->t.p[k - 1], "{") && !is(&b->t.p[k - 1], "}") &&
           !is(&b->t.p[k - 1], "("))
        k--;
    if (k > b->from + 1 && is(&b->t.p[k - 1], "(") && is(&b->t.p[k - 2], "for")) {
        for (u32 n = k; n < i; n++) /* i = 0, k = 0 */
            if (is(&b->t.p[n], "?") || is(&b->t.p[n], "&&") || is(&b->t.p[n], "||")) return false;
        bool chain = i == k || is(&b->t.p[i - 1], ",");
        return chain &&
               (k - 2 == b->from || is(&b->t.p[k - 3], ";") || is(&b->t.p[k - 3], "{") || is(&b->t.p[k - 3], "}"));
    }
    return k == i && !in_parentheses;
}

/* A variable is set when its first use is an assignment in the block of its declaration. */
static bool is_assigned_first(const struct function_body *b, const struct decl *d)
{
    struct str name = b->t.p[d->at].s;
    u32 depth = d->depth, parens = 0, first = 0;
    for (u32 i = d->at + 1; i < b->to; i++) {
        const struct tok *t = &b->t.p[i];
        if (is(t, "{")) depth++;
        if (is(t, "}") && depth-- == d->depth) break;
        if (depth == d->depth && (is(t, "case") || is(t, "default"))) return false;
        parens += is(t, "(");
        parens -= is(t, ")") && parens;
        if (first || !same_name(b, i, name)) continue;
        bool in_for = parens == 1;
        if (depth != d->depth || parens > 1 || !is(&b->t.p[i + 1], "=") || !is_always_run(b, i, in_for)) return false;
        for (u32 k = i + 1; k < b->to && !is(&b->t.p[k], ";") && !(in_for && is(&b->t.p[k], ",")); k++)
            if (same_name(b, k, name)) return false;
        first = i;
    }
    return first;
}

/* Reads what the function declares; false: some of it cannot be told. */
static bool declarations_read(struct function_body *b)
{
    static const char *const blocks[] = { "else", "do", "try", NULL };
    u32 depth = 0;
    for (u32 i = b->from; i < b->to; i++) {
        const struct tok *t = &b->t.p[i];
        if (t->kind == '#' || is(t, "goto")) return false;
        if (t->kind == 'w' && map_get(&b->macro, t->s)) return false;
        if (is(t, "{") && i > b->from && b->t.p[i - 1].kind == 'w' && !is_one_of(&b->t.p[i - 1], blocks)) return false;
        depth += is(t, "{");
        depth -= is(t, "}");
        if (begins_statement(b, i) && !declaration_read(b, i, depth)) return false;
    }
    for (u32 i = 0; i < b->ndecl; i++) b->decl[i].is_set |= is_assigned_first(b, &b->decl[i]);
    return true;
}

/* Whether the function calls nothing that could have undefined variables of its own, once it is inlined. */
static bool calls_are_known(const struct function_body *b)
{
    static const char *const known[] = {
        "if",     "for",   "while", "switch", "return",   "sizeof", "asm",    "volatile", "min",   "max",    "abs",
        "fabs",   "fabsf", "fmin",  "fmax",   "fminf",    "fmaxf",  "sqrt",   "sqrtf",    "rsqrt", "rsqrtf", "exp",
        "expf",   "exp2f", "log",   "logf",   "log2f",    "pow",    "powf",   "sin",      "sinf",  "cos",    "cosf",
        "tan",    "tanf",  "tanh",  "tanhf",  "floor",    "floorf", "ceil",   "ceilf",    "fma",   "fmaf",   "fmod",
        "fmodf",  "int",   "float", "double", "unsigned", "char",   "short",  "long",     "bool",  "size_t", "printf",
        "assert", "isnan", "isinf", "round",  "roundf",   "uint",   "signed", NULL
    };
    for (u32 i = b->from; i + 1 < b->to; i++) {
        const struct tok *t = &b->t.p[i];
        if (t->kind != 'w') {
            if (is(t, "]") && (is(&b->t.p[i + 1], "(") || is(&b->t.p[i + 1], "{"))) return false; /* a lambda */
            continue;
        }
        bool builtin = is_one_of(t, known) || (t->s.n > 2 && !memcmp(t->s.p, "__", 2)) ||
                       (t->s.n > 6 && !memcmp(t->s.p, "atomic", 6));
        bool is_cast = t->s.n > 5 && !memcmp(t->s.p + t->s.n - 5, "_cast", 5);
        u32 behind = is(&b->t.p[i + 1], "<") ? behind_template(b, i + 1) : i + 1;
        bool call = behind < b->to && is(&b->t.p[behind], "(");
        if (call && behind > i + 1 && !is_cast) return false;
        if (call && behind == i + 1 && (!builtin || is_member_token(b, i))) return false;
    }
    return true;
}

static bool is_assignment(const struct tok *t)
{
    return t->s.n && t->s.p[t->s.n - 1] == '=' && !is(t, "==") && !is(t, "!=") && !is(t, "<=") && !is(t, ">=");
}

/* The statement around a token, as far as no brace or semicolon parts it. */
static struct mark statement_around(const struct function_body *b, u32 i)
{
    u32 from = i, to = i;
    while (from > b->from && !is(&b->t.p[from - 1], ";") && !is(&b->t.p[from - 1], "{") && !is(&b->t.p[from - 1], "}"))
        from--;
    while (to < b->to && !is(&b->t.p[to], ";") && !is(&b->t.p[to], "{") && !is(&b->t.p[to], "}")) to++;
    return (struct mark){ from, to - from };
}

struct carriers { /* variables that may hold the undefined value of another one */
    struct str name[MAX_CARRIERS];
    u32 n;
};

static bool carries(const struct carriers *c, const struct tok *t)
{
    for (u32 i = 0; t->kind == 'w' && i < c->n; i++)
        if (str_eq(c->name[i], t->s)) return true;
    return false;
}

/* The variable left of the assignment at i, without its subscripts and members: `a` of `a[k].x = v`. i: none is found.
 */
static u32 assigned(const struct function_body *b, u32 from, u32 i)
{
    u32 depth = 0;
    for (u32 k = i; k-- > from;) {
        const struct tok *t = &b->t.p[k];
        depth += is(t, "]");
        if (is(t, "[") && depth) {
            depth--;
            continue;
        }
        if (!depth && t->kind == 'w' && !is_member_token(b, k)) return k;
        if (!depth && t->kind != 'w' && !is(t, ".") && !is(t, "->")) return i;
    }
    return i;
}

/* Whether an undefined value of another variable may be assigned to this one. */
static bool is_copied_to(const struct function_body *b, struct str name)
{
    struct carriers c = { 0 };
    for (u32 i = 0; i < b->ndecl; i++)
        if (!b->decl[i].is_set && !str_eq(b->t.p[b->decl[i].at].s, name)) {
            if (c.n == MAX_CARRIERS) return true;
            c.name[c.n++] = b->t.p[b->decl[i].at].s;
        }
    for (u32 before = UINT32_MAX; c.n && before != c.n;) {
        before = c.n;
        for (u32 i = b->from; i < b->to; i++) {
            if (!is_assignment(&b->t.p[i])) continue;
            struct mark s = statement_around(b, i);
            bool from = false;
            for (u32 k = i + 1; k < s.at + s.n; k++) from |= carries(&c, &b->t.p[k]);
            if (!from) continue;
            u32 k = assigned(b, s.at, i);
            if (k == i || c.n == MAX_CARRIERS || str_eq(b->t.p[k].s, name)) return true;
            if (!carries(&c, &b->t.p[k])) c.name[c.n++] = b->t.p[k].s;
        }
    }
    return false;
}

/* Whether the statement on one of these lines has the variable. */
static bool is_used_there(const struct function_body *b, struct str name, const u32 *line, u32 nline)
{
    for (u32 i = b->from; i < b->to; i++) {
        bool there = false;
        for (u32 k = 0; k < nline; k++) there |= b->t.p[i].line == line[k];
        if (!there) continue;
        struct mark s = statement_around(b, i);
        for (u32 k = s.at; k < s.at + s.n; k++)
            if (same_name(b, k, name)) return true;
        i = s.at + s.n;
    }
    return false;
}

/* The declaration that is meant; NULL: none, or any of several. */
static const struct decl *decl_find(const struct function_body *b, const struct raw_register *u)
{
    const struct decl *found = NULL;
    for (u32 i = 0; i < b->ndecl; i++) {
        const struct decl *d = &b->decl[i];
        const struct tok *t = &b->t.p[d->at];
        if (d->is_set || (u->debug_name && !(str_is(t->s, u->debug_name) && t->line == u->debug_line))) continue;
        if (found) return NULL;
        found = d;
    }
    for (u32 i = 0; found && i < b->ndecl; i++) /* one name, two variables */
        if (&b->decl[i] != found && str_eq(b->t.p[b->decl[i].at].s, b->t.p[found->at].s)) return NULL;
    return found && found->is_scalar ? found : NULL;
}

static bool named(struct function_body *b, struct str all, const struct raw_register *u, struct variable *v)
{
    if (!tokens_read(b, all) || !u->nline || !body_find(b, u->line[0]) || !declarations_read(b)) return false;
    const struct decl *d = decl_find(b, u);
    if (!d) return false;
    const struct tok *t = &b->t.p[d->at];
    if (u->debug_name ? is_copied_to(b, t->s) : !calls_are_known(b) || !is_used_there(b, t->s, u->line, u->nline))
        return false;
    if (t->s.n >= sizeof v->name) return false;
    snprintf(v->name, sizeof v->name, "%.*s", (int)t->s.n, t->s.p);
    v->line = t->line;
    return true;
}

bool variable_of_register(const struct raw_register *u, struct variable *v)
{
    struct source s;
    source_open(u->place, &s);
    struct function_body *b = s.all.p && s.all.n <= MAX_BYTES ? base_alloc(sizeof *b) : NULL;
    bool found = b && named(b, s.all, u, v);
    if (b) arena_free(&b->mem);
    base_free(b);
    sources_drop();
    return found;
}
