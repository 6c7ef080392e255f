/* Nodes as text: what a person would write for them. Operands that lie too deep are `..`, and what only moves elements
 * is left out, since most of it comes from broadcasting. */
#include "mistake/classify.h"
#include <stdarg.h>

struct printer {
    const struct oracle *o; /* whose names numbers may have */
    char *p;
    size_t size, n;
    u32 depth; /* of what is printed */
};
struct sign {
    const char *text;
    u32 order; /* how tightly it binds */
};
enum { NEGATIVE = 7, ATOM = 9 };

static struct sign sign_of(enum oracle_op op)
{
    switch (op) {
    case OX_or: return (struct sign){ " | ", 1 };
    case OX_and: return (struct sign){ " & ", 2 };
    case OX_lt: return (struct sign){ " < ", 3 };
    case OX_le: return (struct sign){ " <= ", 3 };
    case OX_gt: return (struct sign){ " > ", 3 };
    case OX_ge: return (struct sign){ " >= ", 3 };
    case OX_eq: return (struct sign){ " == ", 3 };
    case OX_ne: return (struct sign){ " != ", 3 };
    case OX_add: return (struct sign){ " + ", 4 };
    case OX_sub: return (struct sign){ " - ", 4 };
    case OX_mul: return (struct sign){ " * ", 5 };
    case OX_div: return (struct sign){ " / ", 5 };
    case OX_mod: return (struct sign){ " % ", 5 };
    case OX_pow: return (struct sign){ " ** ", 8 };
    default: return (struct sign){ NULL, ATOM };
    }
}

__attribute__((format(printf, 2, 3))) static void put(struct printer *p, const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    int n = vsnprintf(p->p + MIN_OF(p->n, p->size), p->n < p->size ? p->size - p->n : 0, fmt, list);
    va_end(list);
    p->n += n > 0 ? (size_t)n : 0;
}

static bool is_seen_through(const struct oracle_node *n)
{
    return n->op == OX_reshape || n->op == OX_broadcast || n->op == OX_transpose || n->op == OX_via ||
           n->op == OX_free || n->op == OX_within || n->op == OX_off;
}

/* Whether a number stands in the texts as such. */
static bool is_written(const struct oracle *o, double value)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%g", value);
    for (u32 i = 0; i < o->texts.n; i++)
        if (memmem(o->texts.p[i].p, o->texts.p[i].n, text, (size_t)n)) return true;
    return false;
}

/* The contract's name for a number, where exactly one has this value, and the value is uncommon. */
static const char *name_of(const struct oracle *o, double value)
{
    const char *name = NULL;
    u32 n = 0;
    if (fabs(value) == 1 || value == 0 || ((value == 2 || value == 0.5) && is_written(o, value))) return NULL;
    for (u32 i = 0; i < o->n; i++)
        if (!o->names[i].type && !o->names[i].word && o->names[i].value == value) {
            name = o->names[i].name;
            n++;
        }
    return n == 1 ? name : NULL;
}

/* least: an operator that binds less tightly needs brackets. */
static void put_node(struct printer *p, const struct oracle_node *n, u32 depth, u32 least)
{
    while (is_seen_through(n)) n = n->in[0];
    struct sign s = sign_of(n->op);
    u32 order = n->op == OX_neg ? NEGATIVE : s.order;
    if (n->op == OX_input) return put(p, "%s", n->attr.text);
    const char *name = n->op == OX_const ? name_of(p->o, n->attr.value) : NULL;
    const char *rest = n->op == OX_const && n->attr.value > 0 && n->attr.value < 1 && !name
                           ? name_of(p->o, 1 - n->attr.value)
                           : NULL;
    if (name) return put(p, "%s", name);
    if (rest) return put(p, least > 4 ? "(1 - %s)" : "1 - %s", rest);
    if (n->op == OX_slice) {
        put_node(p, n->in[0], depth, ATOM);
        return put(p, "[..]");
    }
    if (n->op == OX_const) return put(p, "%.6g", n->attr.value);
    if (n->op == OX_iota) return put(p, "iota(%lld)", (long long)oracle_count(&n->shape));
    if (depth >= p->depth || p->n >= p->size) return put(p, "..");
    if (order < least) put(p, "(");
    if (n->op == OX_neg) {
        put(p, "-");
        put_node(p, n->in[0], depth + 1, NEGATIVE);
    } else if (s.text) {
        put_node(p, n->in[0], depth + 1, order + (n->op == OX_pow));
        put(p, "%s", s.text);
        put_node(p, n->in[1], depth + 1, order + (n->op != OX_add && n->op != OX_mul && n->op != OX_pow));
    } else {
        put(p, "%s(", oracle_rows[n->op].name);
        if (n->op == OX_einsum) put(p, "'%s', ", n->attr.text);
        for (u32 i = 0; i < n->ins; i++) {
            put(p, i ? ", " : "");
            put_node(p, n->in[i], depth + 1, 0);
        }
        put(p, ")");
    }
    if (order < least) put(p, ")");
}

void oracle_print(const struct suspect_text *s, const struct oracle_node *n, char *out, size_t size)
{
    struct printer p = { .o = s->o, .p = out, .size = size };
    for (u32 depth = 8; depth > 0; depth--) {
        p.n = 0;
        p.depth = depth;
        put_node(&p, n, 0, 0);
        if (p.n < size) return;
    }
    snprintf(out, size, "%s", oracle_rows[n->op].name);
}
