/* Properties: what holds of a kernel's outputs without an oracle, seen by running it on inputs that are related.
 *
 *     property deterministic                other orders of blocks and warps give the same bytes
 *     property rows_independent             a row of the outputs depends on the same row of the inputs alone
 *     property batch_invariant              and has the same bytes when it is the only row
 *     property permutation                  rows of the inputs in another order: rows of the outputs in that order
 *     property causal(k, v)                 outputs up to a position do not depend on what lies after it
 *     property linear(x)                    twice the input, twice the output; a sum of inputs, the sum of outputs
 *     property shift(x) = 0                 a constant added to x changes nothing
 *     property rows_sum_to_one              every row of the outputs, along the last axis
 *
 * Rows are the first axis; positions are the last axis but one, or the only one. Bytes are compared but for linear,
 * shift and sums, where roundings differ: there 2^-9 of the largest element of the output is allowed. */
#include "lab/lab.h"
#include <ctype.h>
#include <inttypes.h>
#include <math.h>

enum { PROPERTY_ARRAYS = 8, ORDERS = 3 };
enum property_kind {
    DETERMINISTIC,
    ROWS_INDEPENDENT,
    BATCH_INVARIANT,
    PERMUTATION,
    CAUSAL,
    LINEAR,
    SHIFT,
    SUM_TO_ONE,
    PROPERTIES
};
static const char *const property_names[PROPERTIES] = { "deterministic", "rows_independent", "batch_invariant",
                                                        "permutation",   "causal",           "linear",
                                                        "shift",         "rows_sum_to_one" };
#define LOOSE 0x1p-9

struct property {
    enum property_kind kind;
    struct str array[PROPERTY_ARRAYS]; /* that it speaks of; none: all inputs */
    u32 arrays;
    const char *at;
    struct str text;
};

static struct str trimmed(struct str s)
{
    while (s.n && isspace((unsigned char)*s.p)) s.p++, s.n--;
    while (s.n && isspace((unsigned char)s.p[s.n - 1])) s.n--;
    return s;
}

static bool read_one(const struct contract *c, struct str text, struct property *out, struct error *e)
{
    struct cursor at = { .file = c->file, .all = c->text, .p = text.p, .end = text.p + text.n, .e = e };
    *out = (struct property){ .at = text.p, .text = text };
    struct str name = cursor_word(&at);
    u32 k = 0;
    while (k < PROPERTIES && !str_is(name, property_names[k])) k++;
    out->kind = (enum property_kind)k;
    if (k == PROPERTIES)
        return cursor_error(&at, text.p,
                            "there is no property `%.*s`; there are deterministic, rows_independent, batch_invariant, "
                            "permutation, causal(ARRAYS), linear(ARRAY), shift(ARRAY) = 0, rows_sum_to_one",
                            (int)MIN_OF(name.n, 40u), name.p);
    if (cursor_take(&at, '(')) {
        do {
            struct str array = cursor_word(&at);
            if (!array.n || out->arrays == PROPERTY_ARRAYS)
                return cursor_error(&at, at.p, "the name of an array belongs here");
            out->array[out->arrays++] = array;
        } while (cursor_take(&at, ','));
        if (!cursor_take(&at, ')')) return cursor_error(&at, at.p, "here a ) is missing");
    }
    if (k == SHIFT && cursor_take(&at, '=') && !cursor_take(&at, '0'))
        return cursor_error(&at, at.p, "only shift(x) = 0 can be tested: a constant added to x changes nothing");
    if ((k == LINEAR || k == SHIFT || k == CAUSAL) && !out->arrays)
        return cursor_error(&at, at.p, "%s needs the arrays that it is about, as in %s(x)", property_names[k],
                            property_names[k]);
    cursor_blank(&at);
    return at.p == at.end || cursor_error(&at, at.p, "a comma belongs between properties");
}

/* The next of a list with commas, those in parentheses aside. */
static bool next_text(struct str *rest, struct str *out)
{
    u32 n = 0, deep = 0;
    if (!rest->n) return false;
    for (; n < rest->n && (deep || rest->p[n] != ','); n++) {
        deep += rest->p[n] == '(';
        deep -= deep && rest->p[n] == ')';
    }
    *out = trimmed((struct str){ rest->p, n });
    rest->p += n + (n < rest->n);
    rest->n -= n + (n < rest->n);
    return true;
}

bool lab_properties_read(const struct contract *c, const struct contract_kernel *k, struct error *e)
{
    struct property p;
    struct str one;
    for (u32 i = 0; i < k->properties.list.n; i++) {
        struct str rest = { k->properties.list.p[i].at, (u32)strlen(k->properties.list.p[i].text) };
        while (next_text(&rest, &one))
            if (!read_one(c, one, &p, e)) return false;
    }
    return true;
}

/* ---- related inputs ---- */

enum edit_kind {
    EDIT_NONE,
    EDIT_OTHER_ROWS,
    EDIT_ROW_ONLY,
    EDIT_REVERSE,
    EDIT_LATER,
    EDIT_TWICE,
    EDIT_SECOND,
    EDIT_SUM,
    EDIT_SHIFT
};
struct edit {
    enum edit_kind kind;
    const struct property *p;
    u64 rows, row; /* of the case; the one that stays, or is alone */
    struct lab_kept *from;
};

static bool is_meant(const struct property *p, const char *name)
{
    for (u32 i = 0; i < p->arrays; i++)
        if (str_is(p->array[i], name)) return true;
    return !p->arrays;
}

/* Another value of the same size, as exact as this one. */
static void disturb(const struct scalar *t, u8 *p)
{
    if (t->class == SCALAR_FLOAT) scalar_store(t, 0.75 - scalar_load(t, p), p);
}

/* The second of two inputs whose sum is asked for, too: the first one reversed. */
static double second_of(const struct scalar *t, const u8 *p, u64 i, u64 n)
{
    return scalar_load(t, p + (n - 1 - i) * t->bytes) / 2;
}

static u64 axis_of(const struct bound_arg *b) { return b->arg->shape.rank >= 2 ? b->arg->shape.rank - 2 : 0; }

/* Which position along an axis element i has. */
static u64 position(const struct bound_arg *b, u64 i, u64 axis)
{
    for (u32 d = b->arg->shape.rank; d-- > axis + 1;) i /= b->shape.dim[d];
    return b->shape.dim[axis] ? i % b->shape.dim[axis] : 0;
}

static void edit_rows(const struct edit *x, const struct bound_arg *b, u8 *p)
{
    u64 rows = b->shape.dim[0], bytes = rows ? b->shape.count / rows * b->arg->shape.type->bytes : 0;
    const struct scalar *t = b->arg->shape.type;
    for (u64 r = 0; r < rows; r++) {
        u8 *row = p + r * bytes;
        if (x->kind == EDIT_OTHER_ROWS && r != x->row)
            for (u64 i = 0; i < bytes; i += t->bytes) disturb(t, row + i);
        for (u64 i = 0; x->kind == EDIT_REVERSE && r < rows / 2 && i < bytes; i++) {
            u8 *other = p + (rows - 1 - r) * bytes + i, was = row[i];
            row[i] = *other;
            *other = was;
        }
    }
}

static void edit_array(void *self, const struct bound_arg *b, u8 *p)
{
    const struct edit *x = self;
    const struct scalar *t = b->arg->shape.type;
    bool has_rows = b->arg->shape.rank && b->shape.dim[0] == x->rows;
    if (x->kind == EDIT_OTHER_ROWS || x->kind == EDIT_REVERSE) {
        if (has_rows) edit_rows(x, b, p);
        return;
    }
    if (!is_meant(x->p, b->arg->name) || t->class != SCALAR_FLOAT) return;
    struct arena mem = { 0 };
    u8 *was = arena_alloc(&mem, b->shape.count * t->bytes + 1, 16);
    memcpy(was, p, b->shape.count * t->bytes);
    u64 axis = axis_of(b);
    for (u64 i = 0; i < b->shape.count; i++) {
        double v = scalar_load(t, was + i * t->bytes), z = second_of(t, was, i, b->shape.count);
        bool later = b->arg->shape.rank && 2 * position(b, i, axis) >= b->shape.dim[axis];
        double now = x->kind == EDIT_TWICE    ? 2 * v
                     : x->kind == EDIT_SECOND ? z
                     : x->kind == EDIT_SUM    ? v + z
                     : x->kind == EDIT_SHIFT  ? v + 1
                     : later                  ? 0.75 - v
                                              : v;
        scalar_store(t, now, p + i * t->bytes);
    }
    arena_free(&mem);
}

/* ---- comparing outputs ---- */

struct trial {
    struct lab_subject *s;
    const struct contract_case *c;
    struct property p;
    struct lab_kept *base;
    u64 rows;
    char why[300]; /* what does not hold; "": it does */
    struct error *e;
};

static bool run_with(struct trial *t, const struct contract_case *c, struct edit *x, struct lab_kept *to, bool *ran)
{
    struct lab_outcome o;
    struct lab_how how = { .plain = true, .keep = to, .edit = x && x->kind ? edit_array : NULL, .edit_self = x };
    if (!lab_run(t->s, c, &how, &o, t->e)) return false;
    *ran = o.end == LAB_PASSED && to->n;
    return true;
}

static u64 count_of(const struct oracle_shape *s)
{
    u64 n = 1;
    for (u32 d = 0; d < s->rank; d++) n *= s->dim[d];
    return n;
}

static void say(struct trial *t, const char *name, u64 i, double a, double b, const char *what)
{
    if (!t->why[0])
        snprintf(t->why, sizeof t->why, "element %" PRIu64 " of %s is %.9g, and %.9g %s", i, name, a, b, what);
}

static const char *name_of(const struct trial *t, u32 a) { return t->s->contract->bound.kernel->args.p[a].name; }

/* Which element of the first run must be element i of the other one; UINT64_MAX: any will do. */
static u64 partner(const struct trial *t, const struct oracle_shape *s, u64 i, enum edit_kind kind, u64 row)
{
    u64 n = count_of(s), rows = s->rank ? s->dim[0] : 1, inner = rows ? n / rows : n, r = inner ? i / inner : 0;
    if (kind == EDIT_OTHER_ROWS) return rows == t->rows && r == row ? i : UINT64_MAX;
    if (kind == EDIT_REVERSE) return rows == t->rows ? (rows - 1 - r) * inner + i % inner : UINT64_MAX;
    if (kind == EDIT_LATER) {
        u64 axis = s->rank >= 2 ? s->rank - 2 : 0, below = 1;
        for (u32 d = (u32)axis + 1; d < s->rank; d++) below *= s->dim[d];
        return 2 * (i / below % s->dim[axis]) < s->dim[axis] && (2 * (i / below % s->dim[axis] + 1)) <= s->dim[axis]
                   ? i
                   : UINT64_MAX;
    }
    return i;
}

static void same_bytes(struct trial *t, const struct lab_kept *now, enum edit_kind kind, u64 row, const char *what)
{
    for (u32 a = 0; a < t->base->n && a < now->n; a++) {
        const struct scalar *type = t->base->type[a];
        if (!type) continue;
        u64 n = count_of(&t->base->shape[a]);
        for (u64 i = 0; i < n && !t->why[0]; i++) {
            u64 p = partner(t, &t->base->shape[a], i, kind, row);
            const u8 *x = t->base->data[a].after + p * type->bytes, *y = now->data[a].after + i * type->bytes;
            if (p != UINT64_MAX && memcmp(x, y, type->bytes))
                say(t, name_of(t, a), i, scalar_load(type, x), scalar_load(type, y), what);
        }
    }
}

/* now = factor * base + more, but for roundings */
static void nearly(struct trial *t, const struct lab_kept *now, double factor, const struct lab_kept *more,
                   const char *what)
{
    for (u32 a = 0; a < t->base->n && a < now->n; a++) {
        const struct scalar *type = t->base->type[a];
        if (!type || type->class != SCALAR_FLOAT) continue;
        u64 n = count_of(&t->base->shape[a]);
        double most = 0, loose = fmax(LOOSE, ldexp(8, -(int)type->mantissa));
        for (u64 i = 0; i < n; i++) {
            most = fmax(most, fabs(scalar_load(type, t->base->data[a].after + i * type->bytes)));
            if (more) most = fmax(most, fabs(scalar_load(type, more->data[a].after + i * type->bytes)));
        }
        for (u64 i = 0; i < n && isfinite(most); i++) {
            double x = factor * scalar_load(type, t->base->data[a].after + i * type->bytes),
                   y = scalar_load(type, now->data[a].after + i * type->bytes);
            if (more) x += scalar_load(type, more->data[a].after + i * type->bytes);
            if (isfinite(x) && !(fabs(x - y) <= loose * (1 + fabs(factor)) * most))
                say(t, name_of(t, a), i, x, y, what);
        }
    }
}

static void sums(struct trial *t)
{
    for (u32 a = 0; a < t->base->n; a++) {
        const struct scalar *type = t->base->type[a];
        const struct oracle_shape *s = &t->base->shape[a];
        if (!type || type->class != SCALAR_FLOAT || !s->rank) continue;
        u64 n = count_of(s), cols = s->dim[s->rank - 1];
        for (u64 r = 0; cols && r < n / cols && !t->why[0]; r++) {
            double sum = 0;
            for (u64 i = 0; i < cols; i++)
                sum += scalar_load(type, t->base->data[a].after + (r * cols + i) * type->bytes);
            if (!(fabs(sum - 1) <= (double)(cols + 8) * ldexp(2, -(int)type->mantissa)))
                snprintf(t->why, sizeof t->why, "row %" PRIu64 " of %s sums to %.9g", r, name_of(t, a), sum);
        }
    }
}

/* ---- one property ---- */

static bool try_orders(struct trial *t, struct lab_kept *now)
{
    bool ran = true;
    for (u32 i = 1; i <= ORDERS && !t->why[0]; i++) {
        struct contract_case other = *t->c;
        other.order = i;
        if (!run_with(t, &other, NULL, now, &ran)) return false;
        if (ran) same_bytes(t, now, EDIT_NONE, 0, "under another order of blocks and warps");
    }
    return true;
}

static bool try_edit(struct trial *t, enum edit_kind kind, u64 row, const char *what, struct lab_kept *now)
{
    struct edit x = { .kind = kind, .p = &t->p, .rows = t->rows, .row = row };
    bool ran;
    if (!run_with(t, t->c, &x, now, &ran)) return false;
    if (ran) same_bytes(t, now, kind, row, what);
    return true;
}

/* The first dim of the first output is the number of rows: with fewer of them, those that are left have the same bytes.
 */
static bool try_batch(struct trial *t, struct lab_kept *now)
{
    const struct bound *b = &t->s->contract->bound;
    struct contract_case one = *t->c;
    struct arena mem = { 0 }; /* the contract goes before the case is read */
    u32 d = 0;
    bool ran, there = false;
    while (d < b->kernel->dims.n && (u64)b->value[d].i != t->rows) d++;
    if (d == b->kernel->dims.n || t->rows < 2) return true;
    const char *name = arena_str(&mem, str_of(b->kernel->dims.p[d].name));
    for (u32 i = 0; i < one.dims; i++)
        if (!strcmp(one.dim[i].name, name)) one.dim[i].value = 1, there = true;
    if (!there && one.dims < CONTRACT_DIMS) one.dim[one.dims++] = (struct dim_value){ name, 1 };
    bool ok = run_with(t, &one, NULL, now, &ran);
    arena_free(&mem);
    if (!ok) return false;
    for (u32 a = 0; ran && a < t->base->n; a++) {
        const struct scalar *type = t->base->type[a];
        const struct oracle_shape *s = &t->base->shape[a];
        if (!type || !s->rank || s->dim[0] != t->rows || now->shape[a].dim[0] != 1) continue;
        for (u64 i = 0; i < count_of(s) / t->rows && !t->why[0]; i++) {
            const u8 *x = t->base->data[a].after + i * type->bytes, *y = now->data[a].after + i * type->bytes;
            if (memcmp(x, y, type->bytes))
                say(t, name_of(t, a), i, scalar_load(type, x), scalar_load(type, y), "when its row is the only one");
        }
    }
    return true;
}

static bool try_linear(struct trial *t, struct lab_kept *now)
{
    struct edit twice = { .kind = EDIT_TWICE, .p = &t->p }, second = { .kind = EDIT_SECOND, .p = &t->p },
                sum = { .kind = EDIT_SUM, .p = &t->p };
    struct lab_kept more = { 0 };
    bool ran, other;
    bool ok = run_with(t, t->c, &twice, now, &ran);
    if (ok && ran) nearly(t, now, 2, NULL, "for twice the input");
    ok = ok && run_with(t, t->c, &second, &more, &other) && run_with(t, t->c, &sum, now, &ran);
    if (ok && ran && other) nearly(t, now, 1, &more, "for the sum of two inputs");
    lab_kept_free(&more);
    return ok;
}

static bool try_property(struct trial *t)
{
    struct lab_kept now = { 0 };
    struct edit shift = { .kind = EDIT_SHIFT, .p = &t->p };
    bool ran, ok = true;
    switch (t->p.kind) {
    case DETERMINISTIC: ok = try_orders(t, &now); break;
    case ROWS_INDEPENDENT:
        ok = t->rows < 2 || try_edit(t, EDIT_OTHER_ROWS, t->rows / 2, "when the other rows of the inputs change", &now);
        break;
    case BATCH_INVARIANT: ok = try_batch(t, &now); break;
    case PERMUTATION: ok = try_edit(t, EDIT_REVERSE, 0, "with the rows in reverse order", &now); break;
    case CAUSAL: ok = try_edit(t, EDIT_LATER, 0, "when what lies after it changes", &now); break;
    case LINEAR: ok = try_linear(t, &now); break;
    case SHIFT:
        ok = run_with(t, t->c, &shift, &now, &ran);
        if (ok && ran) nearly(t, &now, 1, NULL, "with 1 added to the input");
        break;
    case SUM_TO_ONE: sums(t); break;
    case PROPERTIES: break;
    }
    lab_kept_free(&now);
    return ok;
}

/* Rows of the case: the first axis of the first output. */
static u64 rows_of(const struct lab_kept *k)
{
    for (u32 a = 0; a < k->n; a++)
        if (k->type[a] && k->shape[a].rank) return k->shape[a].dim[0];
    return 1;
}

bool lab_properties(struct lab_subject *s, const struct contract_case *c, char *broken, size_t size, u32 *done,
                    struct error *e)
{
    struct lab_kept base = { 0 };
    struct trial t = { .s = s, .c = c, .base = &base, .e = e };
    bool ran, ok = run_with(&t, c, NULL, &base, &ran);
    broken[0] = 0;
    if (ok && ran) t.rows = rows_of(&base);
    for (u32 i = 0; ok && ran && i < s->contract->bound.kernel->properties.list.n; i++) {
        const struct contract_text *line = &s->contract->bound.kernel->properties.list.p[i];
        /* the contract is read anew with every run: the line is kept by its place in the file */
        struct str rest = { s->text.p + (line->at - s->contract->read.text.p), (u32)strlen(line->text) }, one;
        struct contract all = { .file = s->path, .text = s->text };
        while (ok && next_text(&rest, &one) && !broken[0]) {
            ok = read_one(&all, one, &t.p, e) && try_property(&t);
            ++*done;
            if (!ok || !t.why[0]) continue;
            struct text cause = { 0 };
            text_add(&cause, "%.*s does not hold: %s", (int)one.n, one.p, t.why);
            lab_found(s, F_property_broken, s->contract->read.text.p + (one.p - s->text.p), *done, cause.p, NULL);
            text_free(&cause);
            snprintf(broken, size, "property:%.*s", (int)MIN_OF(one.n, 60u), one.p);
        }
        if (broken[0]) break;
    }
    lab_kept_free(&base);
    return ok;
}
