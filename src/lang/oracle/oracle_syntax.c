/* Tokens and precedence climbing for oracle_syntax.h. */
#include "oracle/oracle_syntax.h"
#include "base/c_text.h"
#include "base/thread.h"
#include <ctype.h>
#include <stdlib.h>

enum token_kind { TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_TEXT, TOKEN_SIGN };
struct token {
    enum token_kind kind;
    struct str text;
    double number;
};
struct parser {
    const struct oracle_source *src;
    const char *p, *end;
    struct token now, next; /* two tokens are enough to know a statement from an expression */
    u32 depth, trees;
};

static bool fail(struct parser *p, const char *at, const char *fmt, ...) PRINTF_LIKE(3, 4);
static bool fail(struct parser *p, const char *at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    error_at_list(p->src->e, ERR_INPUT, p->src->file, p->src->all, at, fmt, ap);
    va_end(ap);
    return false;
}

static bool expected(struct parser *p, const char *what)
{
    if (p->now.kind == TOKEN_END) return fail(p, p->now.text.p, "the text ends where %s is expected", what);
    return fail(p, p->now.text.p, "%s is expected here, not `%.*s`", what, (int)MIN_OF(p->now.text.n, 40u),
                p->now.text.p);
}

static bool read_number(struct parser *p, struct token *t)
{
    char z[64];
    const char *at = p->p;
    while (p->p < p->end && (isdigit((unsigned char)*p->p) || *p->p == '.')) p->p++;
    if (p->p < p->end && (*p->p == 'e' || *p->p == 'E')) {
        const char *mark = p->p++;
        if (p->p < p->end && (*p->p == '+' || *p->p == '-')) p->p++;
        if (p->p == p->end || !isdigit((unsigned char)*p->p)) p->p = mark;
        while (p->p < p->end && isdigit((unsigned char)*p->p)) p->p++;
    }
    *t = (struct token){ TOKEN_NUMBER, { at, (u32)(p->p - at) }, 0 };
    if (t->text.n >= sizeof z) return fail(p, at, "a number this long says nothing that a kernel could keep");
    memcpy(z, at, t->text.n);
    z[t->text.n] = 0;
    char *stop;
    t->number = double_read(z, &stop);
    return !*stop || fail(p, at, "`%s` is not a number", z);
}

static bool read_token(struct parser *p, struct token *t)
{
    static const char *const signs[] = { "...", "**", "<=", ">=", "==", "!=", "//", "<<", ">>" };
    while (p->p < p->end && (isspace((unsigned char)*p->p) || *p->p == '#'))
        if (*p->p++ == '#') /* to the end of the line */
            while (p->p < p->end && *p->p != '\n') p->p++;
    const char *at = p->p;
    *t = (struct token){ TOKEN_END, { at, 0 }, 0 };
    if (at == p->end) return true;
    bool dot = *at == '.' && p->end - at > 1 && isdigit((unsigned char)at[1]);
    if (isdigit((unsigned char)*at) || dot) return read_number(p, t);
    t->kind = TOKEN_NAME;
    t->text.n = (u32)word_span(at, p->end);
    p->p += t->text.n;
    if (t->text.n) return true;
    if (*at == '"') {
        const char *close = memchr(at + 1, '"', (size_t)(p->end - at - 1));
        if (!close) return fail(p, at, "this text has no closing quote");
        *t = (struct token){ TOKEN_TEXT, { at + 1, (u32)(close - at - 1) }, 0 };
        p->p = close + 1;
        return true;
    }
    t->kind = TOKEN_SIGN;
    for (u32 i = 0; i < COUNT_OF(signs) && !t->text.n; i++)
        if (strlen(signs[i]) <= (size_t)(p->end - at) && !memcmp(at, signs[i], strlen(signs[i])))
            t->text.n = (u32)strlen(signs[i]);
    if (!t->text.n && *at && strchr("-+*/@%<>=(){}[],;:&|^~", *at)) t->text.n = 1;
    if (!t->text.n) return fail(p, at, "`%c` means nothing in an oracle", isprint((unsigned char)*at) ? *at : '?');
    p->p += t->text.n;
    return true;
}

static bool advance(struct parser *p)
{
    p->now = p->next;
    return read_token(p, &p->next);
}

static bool is_sign(const struct token *t, const char *sign)
{
    return (t->kind == TOKEN_SIGN) && str_is(t->text, sign);
}

static bool need_sign(struct parser *p, const char *sign, const char *what)
{
    return is_sign(&p->now, sign) ? advance(p) : expected(p, what);
}

static struct oracle_tree *tree(struct parser *p, enum oracle_tree_kind kind, const char *at, u32 kids)
{
    if (++p->trees > ORACLE_TREE) {
        fail(p, at, "a text this long is not an oracle");
        return NULL;
    }
    struct oracle_tree *t = NEW(p->src->mem, struct oracle_tree);
    t->kind = kind;
    t->at = at;
    t->kids = kids;
    t->kid = kids ? NEW_ARRAY(p->src->mem, struct oracle_tree *, kids) : NULL;
    return t;
}

static struct oracle_tree *expression(struct parser *p, u32 level);

typedef VEC(struct oracle_tree *) tree_list;

/* A tree with all its kids. Who walks it recurses no deeper than ORACLE_HEIGHT. */
static struct oracle_tree *grown(struct parser *p, struct oracle_tree *t)
{
    for (u32 i = 0; t && i < t->kids; i++)
        if (t->kid[i]) t->height = MAX_OF(t->height, t->kid[i]->height + 1);
    if (!t || t->height <= ORACLE_HEIGHT) return t;
    fail(p, t->at, "this expression is more than %d operations high", ORACLE_HEIGHT);
    return NULL;
}

static struct oracle_tree *with_kids(struct parser *p, struct oracle_tree *t, const tree_list *list)
{
    if (!t) return NULL;
    t->kid = list->p;
    t->kids = list->n;
    return grown(p, t);
}

/* item, item, ... up to the closing sign */
static bool listing(struct parser *p, struct oracle_tree *(*item)(struct parser *), const char *close, tree_list *out)
{
    while (!is_sign(&p->now, close)) {
        struct oracle_tree *t = item(p);
        if (!t) return false;
        VEC_PUSH(p->src->mem, out, t);
        if (!is_sign(&p->now, ",")) break;
        if (!advance(p)) return false;
    }
    char what[32];
    snprintf(what, sizeof what, "`,` or `%s`", close);
    return need_sign(p, close, what);
}

static struct oracle_tree *whole(struct parser *p) { return expression(p, 0); }

/* One index: 3, a:b, a:b:c, ... */
static struct oracle_tree *cut(struct parser *p)
{
    const char *at = p->now.text.p;
    if (is_sign(&p->now, "...")) return advance(p) ? tree(p, TREE_DOTS, at, 0) : NULL;
    struct oracle_tree *part[3] = { NULL };
    u32 n = 0;
    while (n < 3) {
        bool empty = is_sign(&p->now, ":") || is_sign(&p->now, ",") || is_sign(&p->now, "]");
        if (!empty && !(part[n] = whole(p))) return NULL;
        n++;
        if (n == 3 || !is_sign(&p->now, ":")) break;
        if (!advance(p)) return NULL;
    }
    if (n == 1 && !part[0]) {
        expected(p, "an index");
        return NULL;
    }
    struct oracle_tree *t = tree(p, n == 1 ? TREE_AT : TREE_CUT, at, n == 1 ? 1 : 3);
    for (u32 i = 0; t && i < t->kids; i++) t->kid[i] = part[i];
    return grown(p, t);
}

static struct oracle_tree *set_of(struct parser *p);

static struct oracle_tree *block(struct parser *p)
{
    struct oracle_tree *t = tree(p, TREE_BLOCK, p->now.text.p, 0);
    tree_list list = { 0 };
    if (!t || !advance(p)) return NULL;
    while (!is_sign(&p->now, "}")) {
        bool set = p->now.kind == TOKEN_NAME && is_sign(&p->next, "=");
        struct oracle_tree *kid = set ? set_of(p) : whole(p);
        if (!kid) return NULL;
        VEC_PUSH(p->src->mem, &list, kid);
        if (set && is_sign(&p->now, ";")) {
            if (!advance(p)) return NULL;
        } else {
            break;
        }
    }
    return need_sign(p, "}", "`}` or `;`") ? with_kids(p, t, &list) : NULL;
}

/* An argument, or name = argument. */
static struct oracle_tree *argument(struct parser *p)
{
    return p->now.kind == TOKEN_NAME && is_sign(&p->next, "=") ? set_of(p) : whole(p);
}

static struct oracle_tree *atom(struct parser *p)
{
    struct token t = p->now;
    struct oracle_tree *r;
    tree_list list = { 0 };
    if (is_sign(&t, "{")) return block(p);
    if (is_sign(&t, "[")) { /* a list, as NumPy has it: (a, b) */
        if (!advance(p) || !listing(p, whole, "]", &list)) return NULL;
        if (list.n) return with_kids(p, tree(p, TREE_LIST, t.text.p, 0), &list);
        fail(p, t.text.p, "there is nothing between these brackets");
        return NULL;
    }
    if (t.kind == TOKEN_END || (t.kind == TOKEN_SIGN && !is_sign(&t, "("))) {
        expected(p, "a name, a number or `(`");
        return NULL;
    }
    if (!advance(p)) return NULL;
    if (t.kind == TOKEN_SIGN) {
        if (!listing(p, whole, ")", &list)) return NULL;
        if (list.n == 1) return list.p[0];
        if (list.n) return with_kids(p, tree(p, TREE_LIST, t.text.p, 0), &list);
        fail(p, t.text.p, "there is nothing between these parentheses");
        return NULL;
    }
    bool call = t.kind == TOKEN_NAME && is_sign(&p->now, "(");
    if (call && (!advance(p) || !listing(p, argument, ")", &list))) return NULL;
    r = tree(p,
             call                     ? TREE_CALL
             : t.kind == TOKEN_NAME   ? TREE_NAME
             : t.kind == TOKEN_NUMBER ? TREE_NUMBER
                                      : TREE_TEXT,
             t.text.p, 0);
    if (!r) return NULL;
    r->word = t.text;
    r->number = t.number;
    return with_kids(p, r, &list);
}

static struct oracle_tree *postfix(struct parser *p)
{
    struct oracle_tree *x = atom(p);
    while (x && is_sign(&p->now, "[")) {
        struct oracle_tree *t = tree(p, TREE_INDEX, p->now.text.p, 0);
        tree_list list = { 0 };
        VEC_PUSH(p->src->mem, &list, x);
        if (!t || !advance(p) || !listing(p, cut, "]", &list)) return NULL;
        x = with_kids(p, t, &list);
    }
    return x;
}

static struct oracle_tree *binary(struct parser *p, struct token op, struct oracle_tree *a, struct oracle_tree *b)
{
    struct oracle_tree *t = a && b ? tree(p, TREE_BINARY, op.text.p, 2) : NULL;
    if (!t) return NULL;
    t->word = op.text;
    t->kid[0] = a;
    t->kid[1] = b;
    return grown(p, t);
}

static struct oracle_tree *unary(struct parser *p)
{
    struct token op = p->now;
    struct oracle_tree *x;
    if (p->depth > ORACLE_DEPTH) {
        fail(p, op.text.p, "this is nested more than %d deep", ORACLE_DEPTH);
        return NULL;
    }
    if (stack_left() < ORACLE_STACK_READ) {
        fail(p, op.text.p, "this is nested too deep for a thread with %zu KB of stack left", stack_left() >> 10);
        return NULL;
    }
    p->depth++;
    if (is_sign(&op, "~")) { /* a call of not */
        struct oracle_tree *t = tree(p, TREE_CALL, op.text.p, 1);
        x = t && advance(p) ? unary(p) : NULL;
        if (x) {
            t->kid[0] = x;
            t->word = STR("not");
        }
        x = x ? grown(p, t) : NULL;
    } else if (is_sign(&op, "-")) {
        struct oracle_tree *t = tree(p, TREE_NEGATE, op.text.p, 1);
        x = t && advance(p) ? unary(p) : NULL;
        if (x) t->kid[0] = x;
        x = x ? grown(p, t) : NULL;
    } else {
        x = postfix(p);
        op = p->now;
        if (x && is_sign(&op, "**")) x = advance(p) ? binary(p, op, x, unary(p)) : NULL;
    }
    p->depth--;
    return x;
}

static struct oracle_tree *expression(struct parser *p, u32 level)
{
    static const char *const levels[][7] = { { "|" },
                                             { "^" },
                                             { "&" },
                                             { "<", "<=", ">", ">=", "==", "!=" },
                                             { "<<", ">>" },
                                             { "+", "-" },
                                             { "*", "/", "@", "%", "//" } };
    if (level == COUNT_OF(levels)) return unary(p);
    struct oracle_tree *a = expression(p, level + 1);
    while (a) {
        struct token op = p->now;
        u32 i = 0;
        while (levels[level][i] && !is_sign(&op, levels[level][i])) i++;
        if (!levels[level][i]) return a;
        a = advance(p) ? binary(p, op, a, expression(p, level + 1)) : NULL;
    }
    return NULL;
}

/* a, b = expr */
static struct oracle_tree *set_of(struct parser *p)
{
    VEC(struct str) names = { 0 };
    struct oracle_tree *t = tree(p, TREE_SET, p->now.text.p, 1);
    while (t) {
        if (p->now.kind != TOKEN_NAME) {
            expected(p, "a name");
            return NULL;
        }
        VEC_PUSH(p->src->mem, &names, p->now.text);
        if (!advance(p)) return NULL;
        if (!is_sign(&p->now, ",")) break;
        if (!advance(p)) return NULL;
    }
    if (!t || !need_sign(p, "=", "`=`") || !(t->kid[0] = whole(p))) return NULL;
    t->names = names.p;
    t->nnames = names.n;
    return t;
}

/* name(x, a = -1) = expr, after `def` or `grad` */
static struct oracle_definition *definition(struct parser *p)
{
    struct oracle_definition *d = NEW(p->src->mem, struct oracle_definition);
    VEC(struct str) param = { 0 };
    tree_list preset = { 0 };
    d->name = p->now.text;
    d->at = d->name.p;
    if (!advance(p) || !need_sign(p, "(", "`(`")) return NULL;
    while (!is_sign(&p->now, ")")) {
        struct oracle_tree *t = NULL;
        if (p->now.kind != TOKEN_NAME) return expected(p, "the name of a parameter"), NULL;
        VEC_PUSH(p->src->mem, &param, p->now.text);
        if (!advance(p)) return NULL;
        if (is_sign(&p->now, "=") && (!advance(p) || !(t = whole(p)))) return NULL;
        VEC_PUSH(p->src->mem, &preset, t);
        if (!is_sign(&p->now, ",")) break;
        if (!advance(p)) return NULL;
    }
    if (!need_sign(p, ")", "`,` or `)`") || !need_sign(p, "=", "`=`")) return NULL;
    d->param = param.p;
    d->params = param.n;
    d->preset = preset.p;
    d->body = whole(p);
    return d->body ? d : NULL;
}

static bool statement(struct parser *p, struct oracle_statement *s)
{
    bool named = p->now.kind == TOKEN_NAME && p->next.kind == TOKEN_NAME;
    *s = (struct oracle_statement){ 0 };
    if (named && (str_is(p->now.text, "def") || str_is(p->now.text, "grad"))) {
        s->is_backward = str_is(p->now.text, "grad");
        return advance(p) && (s->def = definition(p));
    }
    if (p->now.kind == TOKEN_NAME && (is_sign(&p->next, "=") || is_sign(&p->next, ",")))
        return (s->set = set_of(p)) != NULL;
    s->set = tree(p, TREE_SET, p->now.text.p, 1);
    return s->set && (s->set->kid[0] = whole(p));
}

bool oracle_parse(const struct oracle_source *src, struct str text, struct oracle_statement **out, u32 *n)
{
    struct parser p = { .src = src, .p = text.p, .end = text.p + text.n };
    VEC(struct oracle_statement) list = { 0 };
    if (text.n > ORACLE_TEXT) return fail(&p, text.p, "an oracle has at most %d characters", ORACLE_TEXT);
    if (!advance(&p) || !advance(&p)) return false;
    while (p.now.kind != TOKEN_END) {
        struct oracle_statement s;
        if (!statement(&p, &s)) return false;
        VEC_PUSH(src->mem, &list, s);
        if (is_sign(&p.now, ";") ? !advance(&p)
                                 : p.now.kind != TOKEN_END && !expected(&p, "an operator, or `;` between statements"))
            return false;
    }
    *out = list.p;
    *n = list.n;
    return list.n || fail(&p, text.p, "there is nothing in this oracle");
}
