/* Reading mangled names: names, types and what they refer back to. The letters are those of the Itanium C++ ABI, 5.1.
 */
#include "base/demangle.h"

enum { DEEPEST = 200, STEPS_MOST = 20000, PRINT_MOST = 8192, PARAMS_MOST = 1024 };

struct name_node *name_new(struct name_reader *r, enum name_kind kind, struct str text, struct name_node *a,
                           struct name_node *b)
{
    struct name_node *n = NEW(r->mem, struct name_node);
    *n = (struct name_node){ .kind = kind, .text = text, .a = a, .b = b };
    return n;
}

bool name_enter(struct name_reader *r) { return ++r->depth < DEEPEST && ++r->steps < STEPS_MOST; }

bool name_eat(struct name_reader *r, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n)) return false;
    r->p += n;
    return true;
}

static char demangle_peek(const struct name_reader *r, u32 ahead)
{
    return (size_t)(r->end - r->p) > ahead ? r->p[ahead] : 0;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct str name_digits(struct name_reader *r)
{
    const char *from = r->p;
    while (is_digit(demangle_peek(r, 0))) r->p++;
    return (struct str){ from, (u32)(r->p - from) };
}

static struct name_node *remember(struct name_reader *r, struct name_node *n)
{
    if (n) VEC_PUSH(r->mem, &r->known, n);
    return n;
}

static struct name_node *text_node(struct name_reader *r, const char *z)
{
    return name_new(r, NAME_TEXT, str_of(z), NULL, NULL);
}

/* A number of a back reference: "_" is 0, "0_" is 1; in base 36 for S, in base 10 for T. -1: none. */
static s64 back_number(struct name_reader *r, u32 base)
{
    s64 v = 0;
    if (name_eat(r, "_")) return 0;
    for (;; r->p++) {
        char c = demangle_peek(r, 0);
        u32 digit = is_digit(c) ? (u32)(c - '0') : base == 36 && c >= 'A' && c <= 'Z' ? (u32)(c - 'A') + 10 : 99;
        if (digit == 99) break;
        v = v * base + digit;
        if (v > 1000000) return -1;
    }
    return name_eat(r, "_") ? v + 1 : -1;
}

static bool starts(struct str s, const char *with)
{
    size_t n = strlen(with);
    return s.n >= n && !memcmp(s.p, with, n);
}

struct name_node *name_source(struct name_reader *r)
{
    u64 n = 0;
    struct str digits = name_digits(r);
    for (u32 i = 0; i < digits.n && n < 100000; i++) n = n * 10 + (u64)(digits.p[i] - '0');
    if (!n || n > (u64)(r->end - r->p)) return NULL;
    struct str s = { r->p, (u32)n };
    r->p += n;
    bool hidden = starts(s, "_INTERNAL_") || starts(s, "_GLOBAL__N_") || starts(s, "__internal_");
    return name_new(r, hidden ? NAME_HIDDEN : NAME_TEXT, s, NULL, NULL);
}

struct name_node *name_param(struct name_reader *r)
{
    if (!name_eat(r, "T")) return NULL;
    s64 i = back_number(r, 10);
    if (i < 0) return NULL;
    if (r->args && i < r->args->n) return r->args->list[i];
    /* the parameter of a generic lambda, or one that is only known further on */
    return text_node(r, "auto");
}

static struct name_node *substitution(struct name_reader *r)
{
    static const struct {
        const char *code, *name;
    } fixed[] = {
        { "Sa", "std::allocator" }, { "Sb", "std::basic_string" }, { "Ss", "std::string" },
        { "Si", "std::istream" },   { "So", "std::ostream" },      { "Sd", "std::iostream" },
    };
    for (u32 i = 0; i < COUNT_OF(fixed); i++)
        if (name_eat(r, fixed[i].code)) return text_node(r, fixed[i].name);
    if (!name_eat(r, "S")) return NULL;
    s64 i = back_number(r, 36);
    return i >= 0 && i < r->known.n ? r->known.p[i] : NULL;
}

/* One template argument: a type, X expression E, a literal, or J arguments E, a pack. */
static struct name_node *template_arg(struct name_reader *r)
{
    struct name_node *n = NULL;
    switch (demangle_peek(r, 0)) {
    case 'X':
        r->p++;
        n = name_expression(r);
        return name_eat(r, "E") ? n : NULL;
    case 'L': return name_literal(r);
    case 'J': {
        r->p++;
        name_list list = { 0 };
        while (!name_eat(r, "E")) {
            struct name_node *x = name_enter(r) ? template_arg(r) : NULL;
            r->depth--;
            if (!x) return NULL;
            VEC_PUSH(r->mem, &list, x);
        }
        n = name_new(r, NAME_PACK, STR(""), NULL, NULL);
        n->list = list.p;
        n->n = list.n;
        return n;
    }
    default: return name_type(r);
    }
}

struct name_node *name_template_args(struct name_reader *r)
{
    if (!name_eat(r, "I")) return NULL;
    struct name_node *pack = name_new(r, NAME_PACK, STR(""), NULL, NULL);
    bool tag = r->tag;
    r->tag = false;
    name_list list = { 0 };
    while (!name_eat(r, "E")) {
        struct name_node *x = name_enter(r) ? template_arg(r) : NULL;
        r->depth--;
        if (!x) return NULL;
        VEC_PUSH(r->mem, &list, x);
    }
    pack->list = list.p;
    pack->n = list.n;
    r->tag = tag;
    if (tag) r->args = pack;
    return pack;
}

static struct name_node *with_args(struct name_reader *r, struct name_node *of)
{
    struct name_node *args = of ? name_template_args(r) : NULL;
    if (!args) return NULL;
    struct name_node *n = name_new(r, NAME_TEMPLATE, STR(""), of, NULL);
    n->list = args->list;
    n->n = args->n;
    return n;
}

/* Ut_ : an unnamed type; Ul types E _ : a lambda. */
static struct name_node *unnamed(struct name_reader *r)
{
    if (name_eat(r, "Ut")) {
        name_digits(r);
        return name_eat(r, "_") ? text_node(r, "{unnamed type}") : NULL;
    }
    if (!name_eat(r, "Ul")) return NULL;
    name_list list = { 0 };
    if (!name_types_until(r, &list) || !name_eat(r, "E")) return NULL;
    struct name_node *n = name_new(r, NAME_LAMBDA, name_digits(r), NULL, NULL);
    n->list = list.p;
    n->n = list.n;
    return name_eat(r, "_") ? n : NULL;
}

/* The last identifier of a scope: what its constructor is called. */
static struct name_node *last_part(struct name_node *n)
{
    while (n && (n->kind == NAME_NESTED || n->kind == NAME_TEMPLATE)) n = n->kind == NAME_NESTED ? n->b : n->a;
    return n;
}

static struct name_node *unqualified(struct name_reader *r, struct name_node *scope, struct name_ending *ending)
{
    struct name_node *n;
    char c = demangle_peek(r, 0);
    name_eat(r, "L");
    if (is_digit(demangle_peek(r, 0))) {
        n = name_source(r);
    } else if (c == 'U') {
        n = unnamed(r);
    } else if ((c == 'C' || c == 'D') && is_digit(demangle_peek(r, 1)) && scope) {
        r->p += 2;
        ending->no_result = true;
        n = last_part(scope);
        n = c == 'D' && n ? name_new(r, NAME_AFFIX, STR("~"), n, NULL) : n;
    } else {
        n = name_operator(r, ending);
    }
    while (n && name_eat(r, "B")) /* a tag of the library's version: not what the author wrote */
        n = name_source(r) ? n : NULL;
    return n;
}

static struct name_node *nested_step(struct name_reader *r, struct name_node *scope, struct name_ending *ending)
{
    char c = demangle_peek(r, 0), d = demangle_peek(r, 1);
    ending->has_args = false;
    if (c == 'S' && d != 't') return scope ? NULL : substitution(r);
    if (c == 'T') return scope ? NULL : remember(r, name_param(r));
    if (c == 'I') {
        ending->has_args = true;
        return remember(r, with_args(r, scope));
    }
    if (c == 'D' && (d == 't' || d == 'T')) return scope ? NULL : name_type(r);
    if (c == 'S') {
        r->p += 2;
        return scope ? NULL : text_node(r, "std");
    }
    if (c == 'M' && scope) {
        r->p++;
        return scope;
    }
    ending->no_result = false;
    struct name_node *n = unqualified(r, scope, ending);
    return n ? remember(r, scope ? name_new(r, NAME_NESTED, STR("::"), scope, n) : n) : NULL;
}

static struct str qualifiers(struct name_reader *r)
{
    bool restricted = name_eat(r, "r"), is_volatile = name_eat(r, "V"), is_const = name_eat(r, "K");
    static const char *const words[8] = {
        "",          " const",          " volatile",          " volatile const",
        " restrict", " restrict const", " restrict volatile", " restrict volatile const"
    };
    return str_of(words[restricted * 4 + is_volatile * 2 + is_const]);
}

static struct name_node *nested(struct name_reader *r, struct name_ending *ending)
{
    if (!name_eat(r, "N")) return NULL;
    if (!name_eat(r, "H")) /* an explicit object parameter takes the place of qualifiers */
        ending->behind = qualifiers(r);
    const char *ref = name_eat(r, "O") ? " &&" : name_eat(r, "R") ? " &" : "";
    if (*ref) ending->behind = str_of(arena_printf(r->mem, "%.*s%s", (int)ending->behind.n, ending->behind.p, ref));
    struct name_node *n = NULL;
    while (!name_eat(r, "E")) {
        u32 known = r->known.n;
        n = name_enter(r) ? nested_step(r, n, ending) : NULL;
        r->depth--;
        if (!n) return NULL;
        if (demangle_peek(r, 0) == 'E' && r->known.n > known) r->known.n--; /* the whole name is no prefix */
    }
    return n;
}

/* Z encoding E, then the entity inside: a name, or s for a string. */
static struct name_node *local(struct name_reader *r, struct name_ending *ending)
{
    if (!name_eat(r, "Z")) return NULL;
    struct name_node *outer = name_encoding(r);
    if (!outer || !name_eat(r, "E")) return NULL;
    if (name_eat(r, "s")) {
        name_digits(r);
        return name_new(r, NAME_NESTED, STR("::"), outer, text_node(r, "string literal"));
    }
    if (name_eat(r, "d")) {
        name_digits(r);
        if (!name_eat(r, "_")) return NULL;
    }
    struct name_node *inner = name_read(r, ending);
    if (name_eat(r, "_")) { /* which of several of this name */
        bool two = name_eat(r, "_");
        name_digits(r);
        if (two) name_eat(r, "_");
    }
    return inner ? name_new(r, NAME_NESTED, STR("::"), outer, inner) : NULL;
}

struct name_node *name_read(struct name_reader *r, struct name_ending *ending)
{
    struct name_node *n = NULL;
    char c = demangle_peek(r, 0), d = demangle_peek(r, 1);
    if (!name_enter(r)) {
        r->depth--;
        return NULL;
    }
    *ending = (struct name_ending){ 0 };
    if (c == 'N') {
        n = nested(r, ending);
    } else if (c == 'Z') {
        n = local(r, ending);
    } else {
        if (c == 'S' && d != 't') {
            n = substitution(r);
            n = n && demangle_peek(r, 0) == 'I' ? n : NULL;
        } else {
            bool std = name_eat(r, "St");
            n = unqualified(r, NULL, ending);
            n = n && std ? name_new(r, NAME_NESTED, STR("::"), text_node(r, "std"), n) : n;
            if (demangle_peek(r, 0) == 'I') remember(r, n);
        }
        if (n && demangle_peek(r, 0) == 'I') {
            ending->has_args = true;
            n = with_args(r, n);
        }
    }
    r->depth--;
    return n;
}

bool name_types_until(struct name_reader *r, name_list *out)
{
    if (demangle_peek(r, 0) == 'v' &&
        (!demangle_peek(r, 1) || demangle_peek(r, 1) == 'E' || demangle_peek(r, 1) == '.')) {
        r->p++;
        return true;
    }
    while (r->p < r->end && *r->p != 'E' && *r->p != '.') {
        struct name_node *t = name_type(r);
        if (!t) return false;
        VEC_PUSH(r->mem, out, t);
    }
    return true;
}

/* A name and, for a function, its signature. */
struct name_node *name_encoding(struct name_reader *r)
{
    bool tag = r->tag;
    struct name_ending ending;
    struct name_node *n = NULL;
    if (!name_enter(r)) {
        r->depth--;
        return NULL;
    }
    r->tag = true;
    n = name_read(r, &ending);
    r->tag = false;
    if (n && r->p < r->end && *r->p != 'E' && *r->p != '.') {
        struct name_node *f = name_new(r, NAME_ENCODING, ending.behind, n, NULL);
        name_list list = { 0 };
        bool ok = true;
        if (ending.has_args && !ending.no_result) ok = name_type(r) != NULL;
        ok = ok && name_types_until(r, &list);
        f->list = list.p;
        f->n = list.n;
        n = ok ? f : NULL;
    }
    r->tag = tag;
    r->depth--;
    return n;
}

static const char *builtin(char c)
{
    static const char *const word[26] = {
        ['v' - 'a'] = "void",        ['w' - 'a'] = "wchar_t",
        ['b' - 'a'] = "bool",        ['c' - 'a'] = "char",
        ['a' - 'a'] = "signed char", ['h' - 'a'] = "unsigned char",
        ['s' - 'a'] = "short",       ['t' - 'a'] = "unsigned short",
        ['i' - 'a'] = "int",         ['j' - 'a'] = "unsigned int",
        ['l' - 'a'] = "long",        ['m' - 'a'] = "unsigned long",
        ['x' - 'a'] = "long long",   ['y' - 'a'] = "unsigned long long",
        ['n' - 'a'] = "__int128",    ['o' - 'a'] = "unsigned __int128",
        ['f' - 'a'] = "float",       ['d' - 'a'] = "double",
        ['e' - 'a'] = "long double", ['g' - 'a'] = "__float128",
        ['z' - 'a'] = "...",
    };
    return c >= 'a' && c <= 'z' ? word[c - 'a'] : NULL;
}

/* What begins with D and is built in. */
static struct name_node *builtin_d(struct name_reader *r)
{
    static const struct {
        const char *code, *name;
    } rows[] = {
        { "Dn", "decltype(nullptr)" }, { "Di", "char32_t" },    { "Ds", "char16_t" },
        { "Du", "char8_t" },           { "Da", "auto" },        { "Dc", "decltype(auto)" },
        { "Dh", "_Float16" },          { "Dd", "decimal64" },   { "De", "decimal128" },
        { "Df", "decimal32" },         { "DF16_", "_Float16" }, { "DF16b", "__bf16" },
        { "DF32_", "_Float32" },       { "DF64_", "_Float64" }, { "DF128_", "_Float128" },
    };
    for (u32 i = 0; i < COUNT_OF(rows); i++)
        if (name_eat(r, rows[i].code)) return text_node(r, rows[i].name);
    return NULL;
}

static struct name_node *function_type(struct name_reader *r)
{
    name_eat(r, "Y"); /* extern "C" */
    struct name_node *f = name_new(r, NAME_FUNCTION, STR(""), name_type(r), NULL);
    name_list list = { 0 };
    if (!f->a) return NULL;
    for (;;) {
        if (name_eat(r, "RE")) {
            f->text = STR(" &");
            break;
        }
        if (name_eat(r, "OE")) {
            f->text = STR(" &&");
            break;
        }
        if (name_eat(r, "E")) break;
        if (demangle_peek(r, 0) == 'v' &&
            (demangle_peek(r, 1) == 'E' ||
             ((demangle_peek(r, 1) == 'R' || demangle_peek(r, 1) == 'O') && demangle_peek(r, 2) == 'E'))) {
            r->p++;
            continue;
        }
        struct name_node *t = name_type(r);
        if (!t) return NULL;
        VEC_PUSH(r->mem, &list, t);
    }
    f->list = list.p;
    f->n = list.n;
    return f;
}

static struct name_node *array_type(struct name_reader *r)
{
    struct name_node *size = NULL;
    if (is_digit(demangle_peek(r, 0)))
        size = name_new(r, NAME_TEXT, name_digits(r), NULL, NULL);
    else if (demangle_peek(r, 0) != '_' && !(size = name_expression(r)))
        return NULL;
    if (!name_eat(r, "_")) return NULL;
    struct name_node *of = name_type(r);
    return of ? name_new(r, NAME_ARRAY, STR(""), of, size) : NULL;
}

static struct name_node *wrapped(struct name_reader *r, enum name_kind kind, const char *text)
{
    struct name_node *of = name_type(r);
    return of ? name_new(r, kind, str_of(text), of, NULL) : NULL;
}

/* decltype, packs, vectors, exception specifications. */
static struct name_node *type_d(struct name_reader *r)
{
    if (name_eat(r, "Dp")) return remember(r, wrapped(r, NAME_EXPAND, "..."));
    if (name_eat(r, "Dt") || name_eat(r, "DT")) {
        struct name_node *x = name_expression(r);
        struct name_node *n = x && name_eat(r, "E") ? name_new(r, NAME_AFFIX, STR("decltype("), x, NULL) : NULL;
        if (n) n->text2 = STR(")");
        return remember(r, n);
    }
    if (name_eat(r, "Do")) return remember(r, name_eat(r, "F") ? function_type(r) : NULL);
    if (name_eat(r, "Dv")) {
        struct str size = name_digits(r);
        struct name_node *of = name_eat(r, "_") ? name_type(r) : NULL;
        struct name_node *n = of ? name_new(r, NAME_AFFIX, STR(""), of, NULL) : NULL;
        if (n) n->text2 = str_of(arena_printf(r->mem, " vector[%.*s]", (int)MIN_OF(size.n, 20u), size.p));
        return remember(r, n);
    }
    return builtin_d(r);
}

static struct name_node *type_plain(struct name_reader *r)
{
    char c = *r->p, d = demangle_peek(r, 1);
    struct name_ending ignored;
    struct name_node *n;
    if (builtin(c) && c != 'r') {
        r->p++;
        return text_node(r, builtin(c));
    }
    switch (c) {
    case 'r':
    case 'V':
    case 'K': {
        struct str q = qualifiers(r);
        n = name_type(r);
        return remember(r, n ? name_new(r, NAME_QUALIFIED, q, n, NULL) : NULL);
    }
    case 'P': r->p++; return remember(r, wrapped(r, NAME_POINTER, "*"));
    case 'R': r->p++; return remember(r, wrapped(r, NAME_POINTER, "&"));
    case 'O': r->p++; return remember(r, wrapped(r, NAME_POINTER, "&&"));
    case 'C': r->p++; return remember(r, wrapped(r, NAME_QUALIFIED, " _Complex"));
    case 'G': r->p++; return remember(r, wrapped(r, NAME_QUALIFIED, " _Imaginary"));
    case 'F': r->p++; return remember(r, function_type(r));
    case 'A': r->p++; return remember(r, array_type(r));
    case 'D': return type_d(r);
    case 'M': {
        r->p++;
        struct name_node *of = name_type(r), *what = of ? name_type(r) : NULL;
        return remember(r, what ? name_new(r, NAME_MEMBER, STR(""), of, what) : NULL);
    }
    case 'u': r->p++; return remember(r, name_source(r));
    case 'U': {
        r->p++;
        struct name_node *q = name_source(r);
        if (q && demangle_peek(r, 0) == 'I' && !name_template_args(r)) return NULL;
        n = q ? name_type(r) : NULL;
        return remember(r, n ? name_new(r, NAME_QUALIFIED, q->text, n, NULL) : NULL);
    }
    case 'T':
        if (d == 's' || d == 'u' || d == 'e') {
            r->p += 2;
            return remember(r, name_read(r, &ignored));
        }
        n = remember(r, name_param(r));
        return n && demangle_peek(r, 0) == 'I' ? remember(r, with_args(r, n)) : n;
    case 'S':
        if (d == 't') return remember(r, name_read(r, &ignored));
        n = substitution(r);
        return n && demangle_peek(r, 0) == 'I' ? remember(r, with_args(r, n)) : n;
    default: return remember(r, name_read(r, &ignored));
    }
}

struct name_node *name_type(struct name_reader *r)
{
    bool tag = r->tag;
    r->tag = false;
    struct name_node *n = name_enter(r) && r->p < r->end ? type_plain(r) : NULL;
    r->depth--;
    r->tag = tag;
    return n;
}

static void describe(struct arena *a, const struct name_node *f, struct demangled *out)
{
    out->signature = name_print(a, f, true, 0, PRINT_MOST);
    VEC(const char *) list = { 0 };
    for (u32 i = 0; i < f->n; i++) {
        bool pack = f->list[i]->kind == NAME_EXPAND;
        u32 copies = pack ? name_pack_size(f->list[i]->a) : 1;
        for (u32 k = 0; k < copies; k++) {
            const char *type = name_print(a, pack ? f->list[i]->a : f->list[i], true, pack ? k : 0, PRINT_MOST);
            if (!type[0] || list.n == PARAMS_MOST) return; /* too long for anybody to read */
            VEC_PUSH(a, &list, type);
        }
    }
    out->param = list.p;
    out->params = list.n;
}

/* What belongs to one file of a program that nvcc links from several (-rdc=true) is called __nv_static_, the length of
 * a mark of the file, the mark, and its own name, with _ between them. The own name; the whole one where that is not
 * so. */
struct str name_in_file(struct str m)
{
    static const char prefix[] = "__nv_static_";
    u32 at = sizeof prefix - 1, mark = 0;
    if (m.n <= at || memcmp(m.p, prefix, at)) return m;
    for (; at < m.n && m.p[at] >= '0' && m.p[at] <= '9' && mark < m.n; at++) mark = mark * 10 + (u32)(m.p[at] - '0');
    at += 1 + mark;
    if (!mark || at + 1 >= m.n || m.p[at] != '_') return m;
    return (struct str){ m.p + at + 1, m.n - at - 1 };
}

bool demangle(struct arena *a, struct str whole_name, struct demangled *out)
{
    struct str m = name_in_file(whole_name);
    *out = (struct demangled){ 0 };
    if (m.p != whole_name.p && (m.n < 2 || memcmp(m.p, "_Z", 2))) { /* extern "C", or a variable */
        out->name = out->plain = arena_str(a, m);
        return true;
    }
    struct name_reader r = { .mem = a, .p = m.p, .end = m.p + m.n };
    if (!name_eat(&r, "_Z")) return false;
    struct name_node *n = name_encoding(&r);
    bool whole = n && (r.p == r.end || *r.p == '.' || *r.p == '$');
    if (!whole) { /* the name at least */
        struct name_ending ending;
        r = (struct name_reader){ .mem = a, .p = m.p + 2, .end = m.p + m.n, .tag = true };
        n = name_read(&r, &ending);
    }
    if (!n) return false;
    const struct name_node *name = n->kind == NAME_ENCODING ? n->a : n;
    out->name = name_print(a, name, true, 0, PRINT_MOST);
    out->plain = name_print(a, name, false, 0, PRINT_MOST);
    if (n->kind == NAME_ENCODING && whole) describe(a, n, out);
    if (out->signature && !out->signature[0]) out->signature = NULL;
    return out->name[0] && out->plain[0];
}
