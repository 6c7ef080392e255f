/* Cases as lines of text. */
#include "contract/contract_case.h"
#include <inttypes.h>
#include <stdlib.h>

void case_print(const struct contract_case *c, struct text *out)
{
    const char *between = "";
    for (u32 i = 0; i < c->dims; i++, between = " ")
        text_add(out, "%s%s=%" PRId64, between, c->dim[i].name, c->dim[i].value);
    for (u32 i = 0; i < c->choices; i++, between = " ")
        text_add(out, "%s%s=%s", between, c->choice[i].name, c->choice[i].value);
    for (u32 i = 0; i < c->layouts; i++, between = " ")
        text_add(out, "%s%s:%s", between, c->layout[i].name, c->layout[i].value);
    for (u32 i = 0; i < c->contentses; i++, between = " ")
        text_add(out, "%s%s=%s", between, c->contents[i].name, c->contents[i].value);
    text_add(out, "%sseed=%" PRIu64, between, c->seed);
    if (c->order) text_add(out, " order=%u", c->order);
}

/* Uniform from 0 on: variances, probabilities, scales, of which small ones are as good. */
static bool is_from_zero(const struct contract_fill *f)
{
    if (f->kind != FILL_RAND || f->integers || f->below) return false;
    return !f->a || (f->a->op == EX_NUMBER && number_double(f->a->value) == 0);
}

bool case_may_fill(const struct contract_arg *g, u32 word)
{
    const struct contract_fill *f = &g->fill;
    bool is_float = g->shape.type->class == SCALAR_FLOAT, range = f->given && f->kind == FILL_RAND;
    if (g->kind != CONTRACT_BUFFER || g->flow == FLOW_OUT || g->alias != NO_ALIAS) return false;
    if (!is_float) return (range || !f->given) && fill_word_for(word) & FILL_FOR_WHOLE;
    u32 is = !f->given                            ? FILL_FOR_ANY
             : f->kind == FILL_NORMAL             ? FILL_FOR_NORMAL
             : range && (f->integers || f->below) ? FILL_FOR_WHOLE
             : range                              ? FILL_FOR_RANGE
                                                  : 0;
    return is & fill_word_for(word) || (is_from_zero(f) && !strcmp(fill_word_name(word), "small"));
}

const char *case_contents(const struct contract_case *c, const char *array)
{
    for (u32 i = c->contentses; i-- > 0;)
        if (!strcmp(c->contents[i].name, array)) return c->contents[i].value;
    return NULL;
}

bool case_same_choices(const struct contract_case *a, const struct contract_case *b)
{
    bool same = a->choices == b->choices;
    for (u32 i = 0; same && i < a->choices; i++)
        same = !strcmp(a->choice[i].name, b->choice[i].name) && !strcmp(a->choice[i].value, b->choice[i].value);
    return same;
}

static bool is_dim(const struct contract_kernel *k, const char *name)
{
    for (u32 i = 0; i < k->dims.n; i++)
        if (!strcmp(k->dims.p[i].name, name)) return true;
    return false;
}

static const struct contract_arg *array_of(const struct contract_kernel *k, const char *name)
{
    for (u32 i = 0; i < k->args.n; i++)
        if (k->args.p[i].kind == CONTRACT_BUFFER && !strcmp(k->args.p[i].name, name)) return &k->args.p[i];
    return NULL;
}

static bool add(struct choice_value *to, u32 *n, u32 most, const char *name, const char *value, struct error *e)
{
    if (*n == most) return error_set(e, ERR_INPUT, "the case has more than %u parts of a kind", most);
    to[(*n)++] = (struct choice_value){ name, value };
    return true;
}

static bool whole(const char *z, s64 *out)
{
    char *end;
    *out = strtoll(z, &end, 10);
    return *z && !*end;
}

/* One word: NAME=VALUE or ARRAY:LAYOUT. */
static bool read_part(struct arena *mem, const struct contract_kernel *k, const char *word, struct contract_case *out,
                      struct error *e)
{
    size_t n = strcspn(word, "=:");
    const char *name = arena_str(mem, (struct str){ word, (u32)n }), *value = word[n] ? word + n + 1 : "";
    const struct contract_arg *g = array_of(k, name);
    struct fill ignored;
    s64 number;
    bool is = word[n] == '=';
    if (word[n] == ':' && g) return add(out->layout, &out->layouts, CASE_ARRAYS, name, value, e);
    if (is && setting_find(&k->settings, str_of(name)))
        return add(out->choice, &out->choices, CONTRACT_CHOICES, name, value, e);
    if (is && is_dim(k, name) && whole(value, &number) && out->dims < CONTRACT_DIMS) {
        out->dim[out->dims++] = (struct dim_value){ name, number };
        return true;
    }
    if (is && g && (fill_word(str_of(value), g->shape.type, &ignored) || fill_given(value, g->shape.type, &ignored)))
        return add(out->contents, &out->contentses, CASE_ARRAYS, name, value, e);
    if (is && !strcmp(name, "seed") && whole(value, &number) && number >= 0) return out->seed = (u64)number, true;
    if (is && !strcmp(name, "order") && whole(value, &number) && number >= 0 && number <= UINT32_MAX)
        return out->order = (u32)number, true;
    struct text contents = { 0 };
    for (u32 i = 0; i < FILL_WORDS; i++) text_add(&contents, "%s%s", i ? ", " : "", fill_word_name(i));
    const char *words = arena_str(mem, str_of(contents.p));
    text_free(&contents);
    return error_set(e, ERR_INPUT,
                     "`%.60s` is not a part of a case of %.60s: these are DIM=N, CHOICE=VALUE, ARRAY:LAYOUT, "
                     "ARRAY=CONTENTS (%s, numbers as in [1,0,2.5], or @FILE), "
                     "seed=N, order=N",
                     word, k->name, words);
}

bool case_read(struct arena *mem, const struct contract_kernel *k, const char *line, struct contract_case *out,
               struct error *e)
{
    *out = (struct contract_case){ 0 };
    for (const char *p = line; *(p += strspn(p, " \t\r\n"));) {
        size_t n = strcspn(p, " \t\r\n");
        if (!read_part(mem, k, arena_str(mem, (struct str){ p, (u32)n }), out, e)) return false;
        p += n;
    }
    return true;
}
