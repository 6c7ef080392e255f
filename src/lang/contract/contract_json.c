/* What the lines of a contract say, as JSON, for who reads them in another language: before anything is chosen or
 * bound, expressions as trees. docs/lab/contract.md describes it; a change of meaning changes `version`. */
#include "contract/contract_json.h"
#include "base/json.h"

enum { VERSION = 1 };

/* A name or a number as it is; else a list, the operator or the function first: ["*", "rows", 4]. A number that is no
 * integer is ["float", 0.5]: JSON does not tell 1.0 from 1. */
static void put_expr(struct json *j, const char *key, const struct symbols *s, const struct expr *x)
{
    if (!x) {
        json_null(j, key);
    } else if (x->op == EX_NAME || x->setting) {
        json_text(j, key, x->setting ? x->setting : s->list.p[x->symbol].name);
    } else if (x->op == EX_NUMBER && !x->value.is_float) {
        json_signed(j, key, x->value.i);
    } else {
        struct json list = json_open(j, key, '[');
        json_text(&list, NULL, expr_word(x));
        if (x->op == EX_NUMBER) json_double(&list, NULL, x->value.f);
        for (u32 i = 0; i < COUNT_OF(x->kid) && x->kid[i]; i++) put_expr(&list, NULL, s, x->kid[i]);
        json_end(&list, ']');
    }
}

/* As many as there are: the first that is NULL ends them. */
static void put_list(struct json *j, const char *key, const struct symbols *s, struct expr *const *x, u32 most)
{
    struct json list = json_open(j, key, '[');
    for (u32 i = 0; i < most && x[i]; i++) put_expr(&list, NULL, s, x[i]);
    json_end(&list, ']');
}

static void put_words(struct json *j, const char *key, const char *const *word, u32 n)
{
    struct json list = json_open(j, key, '[');
    for (u32 i = 0; i < n; i++) json_text(&list, NULL, word[i]);
    json_end(&list, ']');
}

static void put_texts(struct json *j, const char *key, const struct contract_texts *t)
{
    struct json list = json_open(j, key, '[');
    for (u32 i = 0; i < t->list.n; i++) json_text(&list, NULL, t->list.p[i].text);
    json_end(&list, ']');
}

static void put_choice(struct json *j, const struct contract_choice *ch)
{
    struct json o = json_open(j, NULL, '{');
    json_text(&o, "name", ch->name);
    json_bool(&o, "is_type", ch->is_type);
    json_bool(&o, "in_name", ch->in_name);
    struct json values = json_open(&o, "values", '[');
    for (u32 i = 0; i < ch->value.n; i++) {
        const char *v = ch->value.p[i];
        struct json one = json_open(&values, NULL, '{');
        json_text(&one, "value", v);
        json_text(&one, "template", ch->is_type ? contract_type_name(v, false) : v);
        json_text(&one, "define", ch->is_type ? contract_type_name(v, true) : v);
        json_end(&one, '}');
    }
    json_end(&values, ']');
    json_end(&o, '}');
}

static void put_dim(struct json *j, const struct symbols *s, const struct contract_dim *d)
{
    struct json o = json_open(j, NULL, '{');
    json_text(&o, "name", d->name);
    put_expr(&o, "low", s, d->low);
    put_expr(&o, "high", s, d->high);
    put_expr(&o, "step", s, d->step);
    put_expr(&o, "value", s, d->value);
    json_end(&o, '}');
}

static void put_views(struct json *j, const struct contract_arg *g)
{
    u32 layouts = g->layouts ? g->layouts : 1u << LAYOUT_DENSE;
    struct json list = json_open(j, "layouts", '[');
    for (u32 i = 0; i < LAYOUTS; i++)
        if (layouts >> i & 1) json_text(&list, NULL, layout_names[i]);
    json_end(&list, ']');
    list = json_open(j, "broadcasts", '[');
    for (u32 i = 0; i < CONTRACT_RANK; i++)
        if (g->broadcasts >> i & 1) json_number(&list, NULL, i);
    if (g->broadcasts >> BROADCAST_ALL & 1) json_text(&list, NULL, "all");
    json_end(&list, ']');
}

static void put_buffer(struct json *j, const struct contract_kernel *k, const struct contract_arg *g)
{
    static const char *const flows[] = { [FLOW_IN] = "in", [FLOW_OUT] = "out", [FLOW_INOUT] = "inout" };
    const struct symbols *s = &k->symbols;
    json_text(j, "flow", flows[g->flow]);
    put_list(j, "shape", s, g->shape.dim, g->shape.rank);
    if (g->shape.stride[0])
        put_list(j, "stride", s, g->shape.stride, g->shape.rank);
    else
        json_null(j, "stride");
    json_bool(j, "once", g->once);
    json_bool(j, "partial", g->partial);
    json_bool(j, "optional", g->optional);
    put_expr(j, "align", s, g->align);
    json_text(j, "alias", g->alias == NO_ALIAS ? NULL : k->args.p[g->alias].name);
    put_views(j, g);
}

static void put_arg(struct json *j, const struct contract_kernel *k, const struct contract_arg *g)
{
    static const char *const kinds[] = {
        [CONTRACT_VALUE] = "value", [CONTRACT_BUFFER] = "array", [CONTRACT_BYTES] = "bytes", [CONTRACT_NULL] = "null"
    };
    struct json o = json_open(j, NULL, '{');
    json_text(&o, "name", g->name);
    json_text(&o, "kind", kinds[g->kind]);
    if (g->shape.type) json_text(&o, "type", g->shape.choice ? g->shape.choice : g->shape.type->name);
    if (g->kind == CONTRACT_VALUE) put_expr(&o, "value", &k->symbols, g->value);
    if (g->kind == CONTRACT_BUFFER) put_buffer(&o, k, g);
    if (g->kind == CONTRACT_BYTES) {
        struct text hex = { 0 };
        for (u32 i = 0; i < g->nbytes; i++) text_add(&hex, "%02x", g->bytes[i]);
        json_text(&o, "bytes", hex.p);
        text_free(&hex);
    }
    json_end(&o, '}');
}

static void put_launch(struct json *j, const struct contract_kernel *k)
{
    const struct symbols *s = &k->symbols;
    put_list(j, "grid", s, k->grid, COUNT_OF(k->grid));
    put_list(j, "block", s, k->block, COUNT_OF(k->block));
    put_list(j, "cluster", s, k->cluster, COUNT_OF(k->cluster));
    put_expr(j, "shared", s, k->shared);
    json_bool(j, "cooperative", k->cooperative);
    struct json list = json_open(j, "parts", '[');
    for (u32 i = 0; i < k->parts.n; i++) {
        const struct contract_part *p = &k->parts.p[i];
        struct json o = json_open(&list, NULL, '{');
        json_text(&o, "name", p->name);
        json_text(&o, "type", p->shape.choice ? p->shape.choice : p->shape.type->name);
        put_list(&o, "shape", s, p->shape.dim, p->shape.rank);
        put_expr(&o, "at", s, p->offset);
        json_end(&o, '}');
    }
    json_end(&list, ']');
    list = json_open(j, "requires", '[');
    for (u32 i = 0; i < k->requires.n; i++) {
        struct json o = json_open(&list, NULL, '{');
        json_text(&o, "text", k->requires.p[i].text);
        put_expr(&o, "what", s, k->requires.p[i].what);
        json_end(&o, '}');
    }
    json_end(&list, ']');
}

static void put_kernel(struct json *j, const struct contract_kernel *k)
{
    static const char *const empties[] = {
        [EMPTY_NOTHING] = "nothing", [EMPTY_ZEROS] = "zeros", [EMPTY_LAUNCH] = "launch"
    };
    struct json o = json_open(j, NULL, '{');
    json_text(&o, "name", k->written);
    json_text(&o, "flags", k->flags ? k->flags : "");
    struct json list = json_open(&o, "choices", '[');
    for (u32 i = 0; i < k->choices.n; i++) put_choice(&list, &k->choices.p[i]);
    json_end(&list, ']');
    list = json_open(&o, "dims", '[');
    for (u32 i = 0; i < k->dims.n; i++) put_dim(&list, &k->symbols, &k->dims.p[i]);
    json_end(&list, ']');
    list = json_open(&o, "args", '[');
    for (u32 i = 0; i < k->args.n; i++) put_arg(&list, k, &k->args.p[i]);
    json_end(&list, ']');
    put_launch(&o, k);
    put_texts(&o, "oracles", &k->oracles);
    json_text(&o, "accumulate", k->accumulate);
    json_double(&o, "tolerance", k->tolerance);
    put_texts(&o, "properties", &k->properties);
    put_texts(&o, "assumes", &k->assumes);
    put_texts(&o, "examples", &k->examples);
    if (k->launches)
        json_number(&o, "launches", k->launches);
    else
        json_null(&o, "launches");
    json_text(&o, "empty", empties[k->empty]);
    json_end(&o, '}');
}

static void put_call(struct json *j, const char *key, const struct contract_call *c)
{
    struct json o = json_open(j, key, '{');
    json_text(&o, "name", c->name);
    put_words(&o, "in", c->in.p, c->in.n);
    put_words(&o, "out", c->out.p, c->out.n);
    json_end(&o, '}');
}

static void put_op(struct json *j, const struct contract_op *op)
{
    struct json o = json_open(j, NULL, '{'), list;
    put_call(&o, "call", &op->is);
    list = json_open(&o, "forward", '[');
    for (u32 i = 0; i < op->forward.n; i++) put_call(&list, NULL, &op->forward.p[i]);
    json_end(&list, ']');
    list = json_open(&o, "backward", '[');
    for (u32 i = 0; i < op->backward.n; i++) put_call(&list, NULL, &op->backward.p[i]);
    json_end(&list, ']');
    put_texts(&o, "oracles", &op->oracles);
    json_end(&o, '}');
}

void contract_json(const struct contract *c, struct text *out)
{
    struct json j = { out, false }, o = json_open(&j, NULL, '{');
    json_text(&o, "schema", "lockstep-contract");
    json_number(&o, "version", VERSION);
    json_text(&o, "file", c->file);
    struct json list = json_open(&o, "kernels", '[');
    for (u32 i = 0; i < c->kernels.n; i++) put_kernel(&list, &c->kernels.p[i]);
    json_end(&list, ']');
    list = json_open(&o, "ops", '[');
    for (u32 i = 0; i < c->ops.n; i++) put_op(&list, &c->ops.p[i]);
    json_end(&list, ']');
    json_end(&o, '}');
    text_add(out, "\n");
}
