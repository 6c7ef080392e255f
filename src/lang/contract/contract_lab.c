/* Lines for the laboratory: what a kernel computes and promises, the types and constants it is compiled for, and ops,
 * which are computed by one kernel or several.
 *
 * A choice (`type`, `config`) is made while the block is read: from then on its name stands for a scalar type or a
 * number, in the lines below and between the < and > of the kernel's name. Nothing after the reader knows of choices.
 */
#include "contract/contract_json.h"
#include "contract/contract_line.h"
#include "base/c_text.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

const char *const layout_names[LAYOUTS] = { "dense", "rows", "offset", "broadcast" };

struct str line_rest(struct cursor *c)
{
    cursor_blank(c);
    struct str rest = { c->p, (u32)(c->end - c->p) };
    while (rest.n && isspace((unsigned char)rest.p[rest.n - 1])) rest.n--;
    c->p = c->end;
    return rest;
}

/* ---- choices ---- */

/* What the compiler calls a type: as a template argument, and as one word after -D. */
static const char *const compiled[][3] = {
    { "f32", "float", "float" },
    { "f64", "double", "double" },
    { "f16", "__half", "__half" },
    { "bf16", "__nv_bfloat16", "__nv_bfloat16" },
    { "e4m3", "__nv_fp8_e4m3", "__nv_fp8_e4m3" },
    { "e5m2", "__nv_fp8_e5m2", "__nv_fp8_e5m2" },
    { "i8", "signed char", "int8_t" },
    { "i16", "short", "int16_t" },
    { "i32", "int", "int" },
    { "i64", "long long", "int64_t" },
    { "u8", "unsigned char", "uint8_t" },
    { "u16", "unsigned short", "uint16_t" },
    { "u32", "unsigned int", "unsigned" },
    { "u64", "unsigned long long", "uint64_t" },
    { "bool", "bool", "bool" },
};

static const char *compiled_name(const struct scalar *t, u32 column)
{
    for (u32 i = 0; i < COUNT_OF(compiled); i++)
        if (!strcmp(compiled[i][0], t->name)) return compiled[i][column];
    return NULL;
}

const char *contract_type_name(const char *type, bool as_word)
{
    const struct scalar *t = scalar_find(str_of(type));
    return t ? compiled_name(t, as_word ? 2 : 1) : NULL;
}

/* Puts `value` in the place of a template argument of this name. false: the kernel has none. */
static bool name_takes(struct cursor *c, struct contract_kernel *k, const char *name, const char *value)
{
    size_t n = strlen(name);
    const char *open = strchr(k->name, '<');
    for (const char *p = open; p && *p; p++) {
        if (strncmp(p, name, n) || !is_whole_word(k->name, p, n, NULL)) continue;
        k->name = arena_printf(c->mem, "%.*s%s%s", (int)(p - k->name), k->name, value, p + n);
        return true;
    }
    return false;
}

/* A value that this block does not have is for another block of the file: contract_bind refuses this one with it. */
static void choose(struct reader *r, struct contract_choice *ch)
{
    for (u32 i = 0; i < r->n; i++) {
        if (strcmp(r->given[i].name, ch->name)) continue;
        u32 v = 0;
        while (v < ch->value.n && strcmp(ch->value.p[v], r->given[i].value)) v++;
        if (v < ch->value.n) {
            ch->chosen = v;
            continue;
        }
        const char *list = "";
        for (u32 k = 0; k < ch->value.n; k++)
            list = arena_printf(r->c.mem, "%s%s%s", list, k ? ", " : "", ch->value.p[k]);
        r->k->unchosen_at = ch->at;
        r->k->unchosen = arena_printf(r->c.mem, "%s is to be %.60s, and the contract has %.300s", ch->name,
                                      r->given[i].value, list);
    }
}

/* Makes the choice, and tells the compiler of it. */
static bool settle(struct reader *r, struct contract_choice *ch)
{
    struct contract_kernel *k = r->k;
    struct cursor *c = &r->c;
    choose(r, ch);
    const char *value = ch->value.p[ch->chosen];
    struct setting s = { .name = ch->name, .at = ch->at };
    if (ch->is_type)
        s.type = scalar_find(str_of(value));
    else
        s.value = strtoll(value, NULL, 10);
    const char *as = ch->is_type ? compiled_name(s.type, 1) : value;
    ch->in_name = name_takes(c, k, ch->name, as);
    if (!ch->in_name)
        k->compile = arena_printf(c->mem, "%s%s-D%s=%s", k->compile ? k->compile : "", k->compile ? " " : "", ch->name,
                                  ch->is_type ? compiled_name(s.type, 2) : value);
    VEC_PUSH(c->mem, &k->settings.list, s);
    VEC_PUSH(c->mem, &k->choices, *ch);
    return true;
}

static bool choice_begin(struct reader *r, const char *what, struct contract_choice *ch)
{
    struct contract_kernel *k = r->k;
    if (k->dims.n || k->args.n || k->launch_at)
        return cursor_error(&r->c, r->c.p, "types and configs come before the dims, which may be made of them");
    if (k->choices.n == CONTRACT_CHOICES)
        return cursor_error(&r->c, r->c.p, "a kernel has at most %d types and configs", CONTRACT_CHOICES);
    ch->name = line_name(&r->c, k, what, false);
    if (!ch->name) return false;
    ch->at = r->c.p - strlen(ch->name);
    return true;
}

static bool choice_add(struct reader *r, struct contract_choice *ch, const char *at, const char *value, bool again)
{
    for (u32 i = 0; i < ch->value.n; i++)
        if (!strcmp(ch->value.p[i], value))
            return again || cursor_error(&r->c, at, "%s stands in the list already", value);
    if (ch->value.n == CONTRACT_VALUES)
        return cursor_error(&r->c, at, "%s has more than %d values", ch->name, CONTRACT_VALUES);
    VEC_PUSH(r->c.mem, &ch->value, value);
    return true;
}

/* type T f32|f16|bf16 */
bool read_type(struct reader *r)
{
    struct cursor *c = &r->c;
    struct contract_choice ch = { .is_type = true };
    if (!choice_begin(r, "a type", &ch)) return false;
    if (scalar_find(str_of(ch.name))) return cursor_error(c, ch.at, "%s is a type already", ch.name);
    do {
        struct str word = cursor_word(c);
        const struct scalar *t = scalar_find(word);
        if (!t || !compiled_name(t, 1))
            return cursor_error(c, word.p, "a type belongs here, with | between several: f32|f16|bf16");
        if (!choice_add(r, &ch, word.p, t->name, false)) return false;
    } while (cursor_take(c, '|'));
    return settle(r, &ch) && line_ends(c, "a type line is NAME TYPE|TYPE..., as in type T f32|f16|bf16");
}

static const char *config_value(struct cursor *c)
{
    struct expr *x = expr_parse(c);
    struct scope none = { .file = c->file, .all = c->all };
    s64 v;
    if (!x || (!expr_is_constant(x) && !cursor_error(c, x->at, "a config has numbers, and this depends on a dim")) ||
        !expr_integer(x, &none, "a config", INT32_MIN, INT32_MAX, &v, c->e))
        return NULL;
    return arena_printf(c->mem, "%" PRId64, v);
}

/* config BLOCK 256 {64, 128, 256}, VEC 1 {1, 2, 4} */
bool read_config(struct reader *r)
{
    struct cursor *c = &r->c;
    do {
        struct contract_choice ch = { 0 };
        if (!choice_begin(r, "a config", &ch)) return false;
        const char *value = config_value(c);
        if (!value || !choice_add(r, &ch, c->p, value, false)) return false;
        if (cursor_take(c, '{')) {
            do {
                if (!(value = config_value(c)) || !choice_add(r, &ch, c->p, value, true)) return false;
            } while (cursor_take(c, ','));
            if (!cursor_take(c, '}')) return cursor_error(c, c->p, "here a } is missing, as in {64, 128, 256}");
        }
        if (!settle(r, &ch)) return false;
    } while (cursor_take(c, ','));
    return line_ends(c, "a config is NAME VALUE {VALUE, ...}, as in config BLOCK 256 {64, 128, 256}");
}

/* Whether a block has made this choice. */
static bool has_chosen(const struct contract_kernel *k, const struct choice_value *v)
{
    for (u32 i = 0; i < k->choices.n; i++) {
        const struct contract_choice *ch = &k->choices.p[i];
        if (!strcmp(ch->name, v->name)) return !strcmp(ch->value.p[ch->chosen], v->value);
    }
    return false;
}

bool choices_known(struct reader *r)
{
    for (u32 i = 0; i < r->n; i++) {
        const struct contract_kernel *named = NULL;
        bool taken = false;
        for (u32 k = 0; k < r->out->kernels.n && !taken; k++) {
            const struct contract_kernel *one = &r->out->kernels.p[k];
            if (!named && setting_find(&one->settings, str_of(r->given[i].name))) named = one;
            taken = has_chosen(one, &r->given[i]);
        }
        if (taken || (named && !named->unchosen)) continue; /* the latter: it was given twice, and the last counts */
        if (named) return cursor_error(&r->c, named->unchosen_at, "%s", named->unchosen);
        return error_set(r->c.e, ERR_INPUT, "%s has no type or config `%.60s`", r->c.file, r->given[i].name);
    }
    return true;
}

/* ---- what it computes ---- */

static bool keep_text(struct reader *r, const char *what, struct contract_texts *to)
{
    struct str rest = line_rest(&r->c);
    if (!rest.n) return cursor_error(&r->c, rest.p, "%s needs something after it", what);
    struct contract_text t = { .text = arena_str(r->c.mem, rest), .at = rest.p };
    VEC_PUSH(r->c.mem, &to->list, t);
    return true;
}

/* ---- oracles that are functions ---- */

static bool is_blank(const char *p, const char *end) { return p < end && isspace((unsigned char)*p); }
static const char *skip_blanks(const char *p, const char *end)
{
    while (is_blank(p, end)) p++;
    return p;
}
static const char *skip_word(const char *p, const char *end)
{
    while (p < end && is_word_char(*p)) p++;
    return p;
}

/* y, lse = : the names are kept; *p stays where it is if the line does not begin so. */
static void names_in_front(struct arena *mem, const char **p, const char *end, struct contract_text *t)
{
    const char *q = *p;
    for (;;) {
        const char *word = skip_blanks(q, end);
        q = skip_word(word, end);
        if (q == word) break;
        VEC_PUSH(mem, &t->out, arena_str(mem, (struct str){ word, (u32)(q - word) }));
        q = skip_blanks(q, end);
        if (q == end || (*q != ',' && *q != '=')) break;
        if (*q++ == ',') continue;
        *p = skip_blanks(q, end);
        return;
    }
    t->out.n = 0;
}

/* MODULE:FUNCTION or PATH:FUNCTION, up to a blank. */
static const char *read_target(struct reader *r, const char *p, const char *end, struct contract_text *t)
{
    struct cursor *c = &r->c;
    bool python = t->source == ORACLE_PYTHON;
    const char *to = p, *colon = NULL;
    for (; to < end && !isspace((unsigned char)*to); to++)
        if (*to == ':') colon = to;
    const char *name = colon ? colon + 1 : to, *q = name;
    while (q < to && (is_word_char(*q) || (python && *q == '.'))) q++;
    if (!colon || colon == p || q == name || q != to || isdigit((unsigned char)*name)) {
        cursor_error(c, colon && colon > p ? q : p, "here %s and its function belong, as in %s",
                     python ? "a module" : "a shared object",
                     python ? "oracle python reference:softmax" : "oracle library ./reference.so:softmax");
        return NULL;
    }
    t->from = arena_str(c->mem, (struct str){ p, (u32)(colon - p) });
    t->function = arena_str(c->mem, (struct str){ name, (u32)(to - name) });
    return to;
}

/* [NAME, ... =] python|library FROM:FUNCTION [within EXPR]. A text of the language has no two words side by side. */
static bool read_function(struct reader *r, struct contract_text *t)
{
    const char *p = t->at, *end = p + strlen(t->text);
    names_in_front(r->c.mem, &p, end, t);
    struct str word = { p, (u32)(skip_word(p, end) - p) };
    bool python = str_is(word, "python"), library = str_is(word, "library");
    const char *next = skip_blanks(p + word.n, end);
    bool is = (python || library) &&
              (next == end || (is_blank(p + word.n, end) && !strchr("+-*@%<>=!&|)],;[(", *next)));
    /* `/` is a division, and begins a path */
    if (is && next < end && *next == '/') is = library && next + 1 < end && !isspace((unsigned char)next[1]);
    if (!is) {
        t->out.n = 0;
        return true;
    }
    t->source = python ? ORACLE_PYTHON : ORACLE_LIBRARY;
    p = read_target(r, next, end, t);
    if (!p) return false;
    p = skip_blanks(p, end);
    if (p == end) return true;
    word = (struct str){ p, (u32)(skip_word(p, end) - p) };
    const char *bound = skip_blanks(p + word.n, end);
    if (!str_is(word, "within") || bound == end)
        return cursor_error(&r->c, str_is(word, "within") ? end : p,
                            "after the function only its bound may follow, as in within 1e-6 * abs(value)");
    t->within = (struct str){ bound, (u32)(end - bound) };
    return true;
}

bool read_oracle(struct reader *r)
{
    struct contract_texts *to = r->k ? &r->k->oracles : &r->op->oracles;
    return keep_text(r, "oracle", to) && read_function(r, &to->list.p[to->list.n - 1]);
}
bool read_property(struct reader *r) { return keep_text(r, "property", &r->k->properties); }

bool read_assume(struct reader *r) { return keep_text(r, "assume", &r->k->assumes); }
bool read_example(struct reader *r) { return keep_text(r, "example", &r->k->examples); }

bool read_launches(struct reader *r)
{
    struct str rest = line_rest(&r->c);
    if (r->k->launches) return cursor_error(&r->c, rest.p, "this kernel has its launches already");
    u32 n = 0;
    for (u32 i = 0; i < rest.n && i < 4; i++)
        n = isdigit((unsigned char)rest.p[i]) ? 10 * n + (u32)(rest.p[i] - '0') : 0;
    bool ok = rest.n && rest.n <= 2 && n >= 1;
    r->k->launches = n;
    return ok || cursor_error(&r->c, rest.p,
                              "launches says how many follow each other on the same memory, 1 to 99, as in launches 3");
}

bool read_accumulate(struct reader *r)
{
    struct str rest = line_rest(&r->c);
    if (r->k->accumulate) return cursor_error(&r->c, rest.p, "this kernel has its accumulate already");
    struct str word = { rest.p, 0 };
    while (word.n < rest.n && is_word_char(word.p[word.n])) word.n++;
    const struct scalar *t = scalar_find(word);
    bool how = str_is(word, "fast") || str_is(word, "tree") || str_is(word, "subnormals"); /* the usual type */
    if ((!t || t->class != SCALAR_FLOAT) && !str_is(word, "tf32") && !how)
        return cursor_error(&r->c, rest.p, "accumulate names the type that sums are kept in, as in accumulate f32");
    r->k->accumulate = arena_str(r->c.mem, rest);
    r->k->accumulate_at = rest;
    return true;
}

/* A number that is not negative, with `unit` after it. */
static bool read_amount(struct reader *r, char unit, const char *how, double *out)
{
    struct cursor *c = &r->c;
    char z[40], *end;
    struct str rest = line_rest(c);
    snprintf(z, sizeof z, "%.*s", (int)MIN_OF(rest.n, (u32)sizeof z - 1), rest.p);
    *out = double_read(z, &end);
    bool ok = rest.n < sizeof z && isdigit((unsigned char)z[0]) && end > z && *end == unit && !end[1] && *out < 1e6;
    return ok || cursor_error(c, rest.p, "%s", how);
}

bool read_tolerance(struct reader *r)
{
    const char *at = r->c.p;
    if (!read_amount(r, 'x', "tolerance says how many times wider the bound is, as in tolerance 4x", &r->k->tolerance))
        return false;
    return r->k->tolerance >= 1 ||
           cursor_error(&r->c, at, "the bound is the narrowest that is certain: a tolerance only widens it");
}

bool read_threshold(struct reader *r)
{
    bool ok = read_amount(r, '%', "threshold is a difference of time that counts, as in threshold 3%",
                          &r->k->threshold);
    r->k->threshold /= 100;
    return ok;
}

bool read_flops(struct reader *r)
{
    if (r->k->flops) return cursor_error(&r->c, r->c.p, "this kernel has its flops already");
    return (r->k->flops = expr_parse(&r->c)) &&
           line_ends(&r->c, "flops is one expression, as in flops 8 * rows * cols");
}

bool read_empty(struct reader *r)
{
    static const char *const words[] = { "nothing", "zeros", "launch" };
    struct cursor *c = &r->c;
    struct str word = cursor_word(c);
    for (u32 i = 0; i < COUNT_OF(words); i++)
        if (str_is(word, words[i])) {
            r->k->empty = (enum contract_empty)i;
            return line_ends(c, "nothing follows the word after empty");
        }
    return cursor_error(c, word.p,
                        "empty says what a grid without blocks leaves: nothing, zeros in the outputs, or launch where "
                        "the grid is never empty%s",
                        str_hint(c->mem, word, words, COUNT_OF(words)));
}

/* ---- ops ---- */

static bool names_until(struct cursor *c, char end, struct contract_call *to, bool out)
{
    do {
        struct str word = cursor_word(c);
        if (!word.n) return cursor_error(c, c->p, "the name of an array belongs here");
        const char *name = arena_str(c->mem, word);
        if (out)
            VEC_PUSH(c->mem, &to->out, name);
        else
            VEC_PUSH(c->mem, &to->in, name);
    } while (cursor_take(c, ','));
    return !end || cursor_take(c, end) || cursor_error(c, c->p, "here a %c is missing", end);
}

/* layernorm(x, g, b) -> y, mean */
static bool read_call(struct reader *r, const char *what, struct contract_call *to)
{
    struct cursor *c = &r->c;
    struct str name = cursor_word(c);
    to->at = name.p;
    if (!name.n || !cursor_take(c, '('))
        return cursor_error(c, c->p, "%s is NAME(IN, ...) -> OUT, ..., as in layernorm(x, g, b) -> y", what);
    to->name = arena_str(c->mem, name);
    if (!names_until(c, ')', to, false)) return false;
    if (!cursor_take(c, '-') || !cursor_take(c, '>'))
        return cursor_error(c, c->p, "after the ) comes -> and what is computed, as in -> y, mean");
    return names_until(c, 0, to, true) && line_ends(c, "nothing follows the names of what is computed");
}

bool read_op(struct reader *r)
{
    static const struct symbols none;
    struct contract_op op = { 0 };
    const char *from = r->c.p;
    bool call = cursor_word(&r->c).n && cursor_take(&r->c, '(');
    if (!call && !r->in_block) return true; /* a sentence of somebody else's comment */
    r->c.p = from;
    r->c.symbols = &none;
    r->c.settings = NULL;
    if (!read_call(r, "op", &op.is)) return false;
    for (u32 i = 0; i < r->out->ops.n; i++)
        if (!strcmp(r->out->ops.p[i].is.name, op.is.name))
            return cursor_error(&r->c, op.is.at, "the op %s stands further up already", op.is.name);
    VEC_PUSH(r->c.mem, &r->out->ops, op);
    r->op = &r->out->ops.p[r->out->ops.n - 1];
    r->k = NULL;
    r->in_block = true;
    return true;
}

bool read_forward(struct reader *r)
{
    struct contract_call call = { 0 };
    if (!read_call(r, "forward", &call)) return false;
    VEC_PUSH(r->c.mem, &r->op->forward, call);
    return true;
}

bool read_backward(struct reader *r)
{
    struct contract_call call = { 0 };
    if (!read_call(r, "backward", &call)) return false;
    VEC_PUSH(r->c.mem, &r->op->backward, call);
    return true;
}
