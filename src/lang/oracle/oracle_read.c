/* Texts into an oracle: statements, outputs, and the words of an `accumulate` line. */
#include "base/embed.h"
#include "oracle/oracle_in.h"
#include <ctype.h>
#include <stdlib.h>

/* The definitions of ops.txt, as bytes. */
EMBED(oracle_ops, "src/lang/oracle/ops.txt");

const char *oracle_definitions(void) { return oracle_ops; }

/* The i-th definition of ops.txt as it is called: what stands between `def` and the `=` after its parentheses. */
static const char *definition_signature(u32 i)
{
    static _Thread_local char text[120];
    for (const char *p = oracle_ops; (p = strstr(p, "\ndef ")); p += 5) {
        const char *end = strstr(p, ") =");
        if (i--) continue;
        snprintf(text, sizeof text, "%.*s", (int)(end + 1 - (p + 5)), p + 5);
        return text;
    }
    return NULL;
}

const char *oracle_signature(u32 i)
{
    u32 n = 0;
    for (const char *z; (z = oracle_function_name(n)) && oracle_function_usage(str_of(z)); n++)
        if (n == i) return oracle_function_usage(str_of(z));
    return definition_signature(i - n);
}

static void bind_top(struct oracle *o, struct str name, struct oracle_value v)
{
    struct oracle_value *kept = NEW(o->mem, struct oracle_value);
    *kept = v;
    map_put(o->mem, &o->top->names, name, kept);
}

static bool define(struct oracle *o, const struct oracle_source *src, struct oracle_statement *s, bool shipped)
{
    struct oracle_definition *d = s->def;
    d->shipped = shipped;
    if (!s->is_backward) {
        if (!map_get(&o->definitions, d->name)) VEC_PUSH(o->mem, &o->defined, oracle_intern(&o->graph, d->name));
        map_put(o->mem, &o->definitions, d->name, d);
        return true;
    }
    struct oracle_definition *forward = map_get(&o->definitions, d->name);
    if (!forward || forward->shipped != shipped)
        return error_at(src->e, ERR_INPUT, src->file, src->all, d->at, "the def of %.*s comes before its gradient",
                        (int)d->name.n, d->name.p);
    bool sets = d->body->kind == TREE_BLOCK;
    for (u32 i = 0; sets && i < d->body->kids; i++) sets = d->body->kid[i]->kind == TREE_SET;
    if (!sets || d->params != forward->params + 1)
        return error_at(
            src->e, ERR_INPUT, src->file, src->all, d->at,
            "a gradient takes the parameters of its def and dy, and is a block that sets dx for parameter x");
    forward->backward = d;
    return true;
}

struct oracle *oracle_new(struct arena *mem, const struct oracle_name *names, u32 n)
{
    struct oracle *o = NEW(mem, struct oracle);
    struct error e = { 0 };
    struct oracle_source src = { mem, "ops.txt", { oracle_ops, (u32)(oracle_ops_end - oracle_ops) }, &e };
    struct oracle_statement *s;
    u32 count = 0;
    *o = (struct oracle){ .mem = mem, .names = names, .n = n, .graph = { .mem = mem, .e = &e } };
    o->top = NEW(mem, struct oracle_scope);
    bool ok = oracle_parse(&src, src.all, &s, &count);
    for (u32 i = 0; ok && i < count; i++) ok = s[i].def && define(o, &src, &s[i], true);
    if (!ok) error_print(stderr, &e);
    CHECK(ok);
    for (u32 i = 0; i < n; i++) {
        struct oracle_attr a = { .n = names[i].shape.rank, .text = oracle_intern(&o->graph, str_of(names[i].name)) };
        for (u32 k = 0; k < a.n; k++) a.list[k] = (s64)names[i].shape.dim[k];
        if (names[i].word)
            bind_top(o, str_of(names[i].name),
                     (struct oracle_value){ .kind = VALUE_WORD, .word = str_of(names[i].word) });
        else if (!names[i].type)
            bind_top(o, str_of(names[i].name), oracle_of_number(names[i].value));
        else if (names[i].in)
            bind_top(o, str_of(names[i].name), oracle_of_node(oracle_node(&o->graph, OX_input, NULL, 0, &a)));
    }
    o->graph.e = NULL;
    return o;
}

/* ---- statements ---- */

static u32 out_of(const struct oracle *o, struct str name)
{
    for (u32 i = 0; i < o->n; i++)
        if (o->names[i].out && str_is(name, o->names[i].name)) return i;
    return UINT32_MAX;
}

static bool has_outs(const struct oracle *o)
{
    for (u32 i = 0; i < o->n; i++)
        if (o->names[i].out) return true;
    return false;
}

/* A name gets its value; if it is an output, that is kept. */
static bool set_name(struct oracle_build *b, struct str name, struct oracle_value v)
{
    struct oracle *o = b->o;
    u32 out = out_of(o, name);
    struct oracle_defined d = { .name = oracle_intern(b->g, name), .out = out };
    if (v.kind != VALUE_NODE && (out != UINT32_MAX || !has_outs(o))) v = oracle_of_node(oracle_node_of(b, &v));
    if (!v.kind) return false;
    bind_top(o, name, v);
    if (out == UINT32_MAX && (has_outs(o) || v.kind != VALUE_NODE)) return true;
    d.node = v.node;
    if (out != UINT32_MAX && !oracle_shape_equal(&v.node->shape, &o->names[out].shape)) {
        char is[ORACLE_SHAPE_TEXT], should[ORACLE_SHAPE_TEXT];
        return oracle_refuse(b->g, "%s is %s, and this expression gives %s", d.name,
                             oracle_shape_text(&o->names[out].shape, should, sizeof should),
                             oracle_shape_text(&v.node->shape, is, sizeof is)) != NULL;
    }
    for (u32 i = 0; i < o->outs.n; i++)
        if (!strcmp(o->outs.p[i].name, d.name)) {
            o->outs.p[i] = d;
            return true;
        }
    VEC_PUSH(o->mem, &o->outs, d);
    return true;
}

/* dx, dg = grad(f, dy): with respect to x and g; or grad(f, dy, x, g), whatever the names are. */
static bool set_gradients(struct oracle_build *b, const struct oracle_tree *set)
{
    enum { MOST = 32 };
    const struct oracle_tree *t = set->kid[0];
    struct oracle_node *arg[MOST], *out[MOST];
    if (t->kids < 2 || t->kids > MOST || set->nnames > MOST - 2)
        return oracle_refuse(b->g, "grad takes what is differentiated and its gradient, as in grad(y, dy)") != NULL;
    for (u32 i = 0; i < t->kids; i++) {
        struct oracle_value v = oracle_expression(b, t->kid[i], b->o->top);
        if (!(arg[i] = oracle_node_of(b, &v))) return false;
    }
    u32 n = t->kids - 2;
    if (n && n != set->nnames) return oracle_refuse(b->g, "%u names for %u gradients", set->nnames, n) != NULL;
    for (u32 i = 0; !n && i < set->nnames; i++) {
        struct str of = { set->names[i].p + 1, set->names[i].n - 1 };
        const struct oracle_value *v = set->names[i].p[0] == 'd' ? map_get(&b->o->top->names, of) : NULL;
        b->g->at = set->names[i].p;
        if (!v || v->kind != VALUE_NODE)
            return oracle_refuse(b->g,
                                 "`%.*s` should be d and the name of an array; or say grad(y, dy, x) to name what the "
                                 "gradient is of",
                                 (int)MIN_OF(set->names[i].n, 40u), set->names[i].p) != NULL;
        arg[2 + i] = v->node;
    }
    b->g->at = t->at;
    struct oracle_node *dy = oracle_spread(b->g, arg[1], &arg[0]->shape);
    if (!dy || !oracle_gradients(b, arg[0], dy, arg + 2, set->nnames, out)) return false;
    for (u32 i = 0; i < set->nnames; i++)
        if (!set_name(b, set->names[i], oracle_of_node(out[i]))) return false;
    return true;
}

/* A text that is only a name: that function of the arrays that are given. */
static struct oracle_value of_inputs(struct oracle_build *b, const struct oracle_tree *t)
{
    struct oracle_tree made = { .kind = TREE_CALL, .at = t->at, .word = t->word };
    made.kid = NEW_ARRAY(b->o->mem, struct oracle_tree *, b->o->n + 1);
    for (u32 i = 0; i < b->o->n; i++) {
        if (!b->o->names[i].in || !b->o->names[i].type) continue;
        struct oracle_tree *name = NEW(b->o->mem, struct oracle_tree);
        *name = (struct oracle_tree){ .kind = TREE_NAME, .at = t->at, .word = str_of(b->o->names[i].name) };
        made.kid[made.kids++] = name;
    }
    return oracle_expression(b, &made, b->o->top);
}

static bool set_expression(struct oracle_build *b, const struct oracle_tree *t)
{
    struct str name = STR("value");
    u32 outs = 0;
    for (u32 i = 0; i < b->o->n; i++) {
        if (!b->o->names[i].out) continue;
        name = str_of(b->o->names[i].name);
        outs++;
    }
    b->g->at = t->at;
    if (outs > 1) return oracle_refuse(b->g, "which output is this? Write NAME = in front of it") != NULL;
    bool bare = t->kind == TREE_NAME && !map_get(&b->o->top->names, t->word) &&
                (map_get(&b->o->definitions, t->word) || oracle_is_function(t->word));
    return set_name(b, name, bare ? of_inputs(b, t) : oracle_expression(b, t, b->o->top));
}

static bool set_statement(struct oracle_build *b, const struct oracle_tree *set)
{
    const struct oracle_tree *t = set->kid[0];
    b->g->at = set->at;
    if (!set->nnames) return set_expression(b, t);
    if (t->kind == TREE_CALL && str_is(t->word, "grad")) return set_gradients(b, set);
    if (set->nnames > 1) return oracle_refuse(b->g, "%u names for one value", set->nnames) != NULL;
    return set_name(b, set->names[0], oracle_expression(b, t, b->o->top));
}

bool oracle_read(struct oracle *o, const char *file, struct str all, struct str text, struct error *e)
{
    struct oracle_source src = { o->mem, file, all, e };
    struct oracle_build b = { .o = o, .g = &o->graph };
    struct oracle_statement *s;
    u32 n = 0;
    o->graph.e = e;
    o->graph.file = file;
    o->graph.all = all;
    bool ok = oracle_parse(&src, text, &s, &n);
    for (u32 i = 0; ok && i < n; i++) ok = s[i].def ? define(o, &src, &s[i], false) : set_statement(&b, s[i].set);
    struct str kept = { arena_str(o->mem, text), text.n };
    VEC_PUSH(o->mem, &o->texts, kept);
    o->graph.e = NULL;
    return ok;
}

u32 oracle_outputs(const struct oracle *o) { return o->outs.n; }

struct oracle_output oracle_output(const struct oracle *o, u32 i)
{
    const struct oracle_defined *d = &o->outs.p[i];
    return (struct oracle_output){ d->name, d->node->shape, d->out == UINT32_MAX ? NULL : o->names[d->out].type };
}

/* ---- accumulate f32 tree 256 fast ---- */

struct words { /* a line of words */
    const char *p, *end;
};

static struct str next_word(struct words *w)
{
    while (w->p < w->end && isspace((unsigned char)*w->p)) w->p++;
    const char *at = w->p;
    while (w->p < w->end && !isspace((unsigned char)*w->p)) w->p++;
    return (struct str){ at, (u32)(w->p - at) };
}

/* A number of lanes; 0: it is not one. */
static u32 lanes_of(struct str w)
{
    u32 n = 0;
    for (u32 i = 0; i < w.n; i++) {
        if (!isdigit((unsigned char)w.p[i]) || n > 1 << 20) return 0;
        n = n * 10 + (u32)(w.p[i] - '0');
    }
    return n <= 1 << 20 ? n : 0;
}

bool oracle_options_read(struct oracle_options *o, const char *file, struct str all, struct str text, struct error *e)
{
    static const char *const words[] = { "f64",  "f32",   "tf32",        "f16",  "bf16",
                                         "tree", "depth", "compensated", "fast", "subnormals" };
    struct words line = { text.p, text.p + text.n };
    struct arena a = { 0 };
    bool ok = true;
    for (struct str w = next_word(&line); ok && w.n; w = next_word(&line)) {
        const struct oracle_type *t = oracle_type(w);
        if (t && w.p[0] != 'e') {
            o->accumulate = t->name;
        } else if (str_is(w, "fast")) {
            o->fast = true;
        } else if (str_is(w, "subnormals")) {
            o->no_flush = true;
        } else if (str_is(w, "compensated")) {
            o->compensated = true;
        } else if (str_is(w, "tree") || str_is(w, "depth")) {
            struct str n = next_word(&line);
            u32 *to = w.p[0] == 't' ? &o->tree : &o->depth;
            *to = lanes_of(n);
            ok = *to || error_at(e, ERR_INPUT, file, all, n.p,
                                 w.p[0] == 't' ? "tree takes the number of lanes, as in tree 256"
                                               : "depth takes the number of roundings, as in depth 20");
        } else {
            ok = error_at(
                e, ERR_INPUT, file, all, w.p,
                "accumulate takes a type (f64 f32 tf32 f16 bf16), tree LANES, depth ROUNDINGS, compensated, fast "
                "and subnormals%s",
                str_hint(&a, w, words, COUNT_OF(words)));
        }
    }
    arena_free(&a);
    return ok;
}
