/* From expressions to numbers: the dims get their values, then everything made of them is evaluated in the order of
 * the text.
 *
 * A dim nobody gave is chosen: the sizes below are tried in turn, dim after dim, until the ranges and the require
 * lines hold. They begin with sizes that are no powers of two and differ from dim to dim, because those are the ones
 * on which kernels fail. */
#include "contract/contract.h"
#include <inttypes.h>
#include <math.h>

static const s64 usual[] = { 100, 72, 36, 24, 40, 12, 96, 64, 128, 256, 32, 16, 512, 8, 4, 2, 1, 1000, 1024 };
enum { USUAL_FIRST = 6, TRIES_MOST = 100000 };
#define COUNT_MOST ((u64)1 << 40) /* elements: keeps every product of count and size far from 64 bits */

struct binder {
    struct arena *mem;
    const struct contract *c;
    const struct contract_kernel *k;
    struct bound *out;
    struct scope scope;
    struct dim_value *given; /* by the caller */
    u32 n;                   /* of them */
    const struct layout_value *layout;
    u32 layouts;
    u32 tries;
    bool chosen;                           /* some dim had a choice */
    const struct contract_require *broken; /* the first require that did not hold */
    struct error *e;
};

static bool fail_at(struct binder *b, const char *at, const char *fmt, ...) PRINTF_LIKE(3, 4);
static bool fail_at(struct binder *b, const char *at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    error_at_list(b->e, ERR_INPUT, b->c->file, b->c->text, at, fmt, ap);
    va_end(ap);
    return false;
}

/* "rows=100, cols=72", the first n dims. */
static const char *dims_text(struct binder *b, u32 n)
{
    char *t = "";
    for (u32 i = 0; i < n; i++)
        t = arena_printf(b->mem, "%s%s%.40s=%" PRId64, t, i ? ", " : "", b->k->dims.p[i].name, b->out->value[i].i);
    return t;
}

static struct dim_value *given(struct binder *b, const char *name)
{
    for (u32 i = b->n; i-- > 0;) /* the last one wins */
        if (!strcmp(b->given[i].name, name)) return &b->given[i];
    return NULL;
}

struct range {
    s64 low, high, step;
};

static bool dim_range(struct binder *b, const struct contract_dim *d, struct range *r)
{
    *r = (struct range){ 1, UINT32_MAX, 1 };
    if (d->low && (!expr_integer(d->low, &b->scope, d->name, 0, UINT32_MAX, &r->low, b->e) ||
                   !expr_integer(d->high, &b->scope, d->name, 0, UINT32_MAX, &r->high, b->e)))
        return false;
    if (d->step && !expr_integer(d->step, &b->scope, "the step", 1, UINT32_MAX, &r->step, b->e)) return false;
    return r->low <= r->high ||
           fail_at(b, d->at, "%s has no values: its range is %" PRId64 "..%" PRId64, d->name, r->low, r->high);
}

/* The require lines that are decided by the first n dims. */
static bool requires_hold(struct binder *b, u32 n)
{
    for (u32 i = 0; i < b->k->requires.n; i++) {
        const struct contract_require *q = &b->k->requires.p[i];
        struct number v;
        if (q->last != n - 1) continue;
        if (!expr_eval(q->what, &b->scope, &v, b->e)) return false;
        if (v.is_float ? v.f == 0 : v.i == 0) {
            b->broken = b->broken ? b->broken : q;
            return false;
        }
    }
    return true;
}

static bool choose(struct binder *b, u32 i);

static bool try_value(struct binder *b, u32 i, s64 v)
{
    b->out->value[i] = (struct number){ .i = v };
    return requires_hold(b, i + 1) && choose(b, i + 1);
}

static bool is_settled(const struct expr *x) { return !x || expr_is_constant(x); }

/* A value that somebody decided on, here or on the command line. */
static bool settle(struct binder *b, u32 i, const struct range *r, s64 v, bool by_caller)
{
    const struct contract_dim *d = &b->k->dims.p[i];
    const char *who = by_caller ? "is" : "is set to";
    bool fits = v >= r->low && v <= r->high && v % r->step == 0;
    /* what depends on a dim that was chosen may fit with another choice */
    if (!fits && b->chosen &&
        !(is_settled(d->low) && is_settled(d->high) && is_settled(d->step) && (by_caller || is_settled(d->value))))
        return false;
    if (v < r->low || v > r->high) {
        if (r->high == UINT32_MAX)
            return fail_at(b, d->at, "%s %s %" PRId64 ", and the contract asks for %" PRId64 " or more", d->name, who,
                           v, r->low);
        return fail_at(b, d->at, "%s %s %" PRId64 ", and the contract allows %" PRId64 "..%" PRId64, d->name, who, v,
                       r->low, r->high);
    }
    if (v % r->step)
        return fail_at(b, d->at, "%s %s %" PRId64 ", and the contract asks for multiples of %" PRId64, d->name, who, v,
                       r->step);
    return try_value(b, i, v);
}

static bool choose(struct binder *b, u32 i)
{
    if (i == b->k->dims.n) return true;
    const struct contract_dim *d = &b->k->dims.p[i];
    struct dim_value *g = given(b, d->name);
    struct range r;
    s64 v;
    if (!dim_range(b, d, &r) || b->tries++ == TRIES_MOST) return false;
    if (g) return settle(b, i, &r, g->value, true);
    if (d->value)
        return expr_integer(d->value, &b->scope, d->name, 0, UINT32_MAX, &v, b->e) && settle(b, i, &r, v, false);
    b->chosen = true;
    for (u32 n = 0; n < COUNT_OF(usual) + 2; n++) {
        u32 first = (n + i) % USUAL_FIRST;
        v = n < USUAL_FIRST ? usual[first] : n < COUNT_OF(usual) ? usual[n] : n == COUNT_OF(usual) ? r.low : r.high;
        v = (v + r.step - 1) / r.step * r.step;
        if (v >= r.low && v <= r.high && try_value(b, i, v)) return true;
        if (b->e->code || b->tries >= TRIES_MOST) return false;
    }
    return false;
}

static bool bind_dims(struct binder *b)
{
    for (u32 i = 0; i < b->n; i++) {
        u32 k = 0;
        while (k < b->k->dims.n && strcmp(b->given[i].name, b->k->dims.p[k].name)) k++;
        if (k < b->k->dims.n) continue;
        const char **names = NEW_ARRAY(b->mem, const char *, b->k->dims.n + 1);
        for (k = 0; k < b->k->dims.n; k++) names[k] = b->k->dims.p[k].name;
        return fail_at(b, b->k->at, "%s has no dim `%.60s`%s", b->k->name, b->given[i].name,
                       str_hint(b->mem, str_of(b->given[i].name), names, b->k->dims.n));
    }
    if (choose(b, 0)) return true;
    if (b->e->code) return false;
    if (!b->broken)
        return fail_at(b, b->k->at, "no sizes were found for the dims of %s; give them with --dim", b->k->name);
    if (b->chosen)
        return fail_at(b, b->broken->what->at, "no sizes were found for which this holds; give them with --dim");
    return fail_at(b, b->broken->what->at, "this does not hold for %.300s", dims_text(b, b->broken->last + 1));
}

/* Smallest and largest integer of a type; a float holds whole numbers as far as its mantissa goes. */
static struct range type_range(const struct scalar *t)
{
    u32 bits = t->bytes * 8;
    s64 most = bits == 64 ? INT64_MAX : ((s64)1 << bits) - 1;
    switch (t->class) {
    case SCALAR_FLOAT: return (struct range){ -((s64)2 << t->mantissa), (s64)2 << t->mantissa, 1 };
    case SCALAR_BOOL: return (struct range){ 0, 1, 1 };
    case SCALAR_SIGNED:
        return (struct range){ bits == 64 ? INT64_MIN : -((s64)1 << (bits - 1)), bits == 64 ? INT64_MAX : most >> 1,
                               1 };
    case SCALAR_BITS: return (struct range){ bits == 64 ? INT64_MIN : -((s64)1 << (bits - 1)), most, 1 };
    default: return (struct range){ 0, most, 1 };
    }
}

/* Evaluates an expression into the bytes of an element. */
static bool store(struct binder *b, const struct expr *x, const struct scalar *t, u8 *to, struct number *value)
{
    struct number v;
    if (!expr_eval(x, &b->scope, &v, b->e)) return false;
    *value = v;
    if (t->class == SCALAR_FLOAT) {
        scalar_store(t, number_double(v), to);
        return isfinite(scalar_load(t, to)) || fail_at(b, x->at, "%g is too large for %s", number_double(v), t->name);
    }
    struct range r = type_range(t);
    if (v.is_float) return fail_at(b, x->at, "the value is %g, and %s is an integer", v.f, t->name);
    if (v.i < r.low || v.i > r.high)
        return fail_at(b, x->at, "%" PRId64 " does not fit in %s (%" PRId64 " to %" PRId64 ")", v.i, t->name, r.low,
                       r.high);
    scalar_store_int(t, v.i, to);
    return true;
}

static bool bind_shape(struct binder *b, const struct contract_shape *s, struct bound_shape *out)
{
    out->count = 1;
    for (u32 i = 0; i < s->rank; i++) {
        s64 v;
        if (!expr_integer(s->dim[i], &b->scope, "the dimension", 0, UINT32_MAX, &v, b->e)) return false;
        out->dim[i] = (u64)v;
        if (v && out->count > COUNT_MOST / (u64)v)
            return fail_at(b, s->dim[i]->at, "this would have more than 2^40 elements");
        out->count *= (u64)v;
    }
    u64 dense = 1, last = 0; /* last: the offset of the last element */
    for (u32 i = s->rank; i-- > 0; dense *= MAX_OF(out->dim[i], 1u)) {
        s64 v = (s64)dense;
        if (s->stride[0] && !expr_integer(s->stride[i], &b->scope, "the stride", 0, (s64)COUNT_MOST, &v, b->e))
            return false;
        out->stride[i] = (u64)v;
        u64 far = out->dim[i] ? out->dim[i] - 1 : 0;
        if (far && (u64)v > COUNT_MOST / far)
            return fail_at(b, s->stride[i]->at, "this would reach over more than 2^40 elements");
        last += far * (u64)v;
        if (dense > COUNT_MOST) dense = COUNT_MOST;
    }
    out->extent = out->count ? last + 1 : 0;
    return out->extent <= COUNT_MOST || fail_at(b, s->dim[0]->at, "this would reach over more than 2^40 elements");
}

bool layout_parse(struct str text, struct layout_value *out, struct error *e)
{
    u32 n = 0;
    out->amount = 0;
    while (n < text.n && text.p[n] != '(') n++;
    u32 i = 0;
    while (i < LAYOUTS && !str_is((struct str){ text.p, n }, layout_names[i])) i++;
    out->layout = (enum contract_layout)i;
    u32 at = n + 1;
    if (i == LAYOUT_BROADCAST && text.n == at + 4 && !memcmp(text.p + at, "all)", 4)) {
        out->amount = BROADCAST_ALL;
        return true;
    }
    while (at < text.n && text.p[at] >= '0' && text.p[at] <= '9' && out->amount < 1u << 20)
        out->amount = out->amount * 10 + (u64)(text.p[at++] - '0');
    bool amount = n == text.n || (at == text.n - 1 && text.p[at] == ')' && at > n + 1 && out->amount < 1u << 20);
    if (n == text.n) out->amount = i == LAYOUT_ROWS || i == LAYOUT_OFFSET;
    return (i < LAYOUTS && amount) ||
           error_set(e, ERR_INPUT,
                     "%.*s is not a layout: dense, rows(N), offset(N), broadcast(DIMENSION), broadcast(all)",
                     (int)MIN_OF(text.n, 60u), text.p);
}

static const struct layout_value *layout_of(struct binder *b, const struct contract_arg *g)
{
    for (u32 i = b->layouts; i-- > 0;)
        if (!strcmp(b->layout[i].name, g->name) && b->layout[i].layout != LAYOUT_DENSE) return &b->layout[i];
    return NULL;
}

/* What the address must be a multiple of, in bytes; false: e says why. */
static bool bind_align(struct binder *b, const struct contract_arg *g, u64 *out)
{
    s64 align = g->shape.type->bytes;
    if (g->align && !expr_integer(g->align, &b->scope, "the alignment", 1, 1 << 20, &align, b->e)) return false;
    *out = (u64)align;
    return !(align & (align - 1)) ||
           fail_at(b, g->align->at, "an alignment is a power of two, and %" PRId64 " is not one", align);
}

static bool not_taken(struct binder *b, const struct contract_arg *g, const struct layout_value *l)
{
    char amount[24] = "all";
    if (l->layout != LAYOUT_BROADCAST || l->amount != BROADCAST_ALL)
        snprintf(amount, sizeof amount, "%" PRIu64, l->amount);
    return fail_at(b, g->at, "%s is to be laid out as %s(%s), which its view does not take", g->name,
                   layout_names[l->layout], amount);
}

/* Strides as a launch tells them to the kernel: those of a layout that the view takes. Of a dimension with one element
 * none matters, and one that the kernel is not told is dense. */
static bool lay_out_told(struct binder *b, const struct contract_arg *g, const struct layout_value *l,
                         struct bound_shape *s)
{
    u64 dense = 1;
    for (u32 i = g->shape.rank; i-- > 0; dense *= MAX_OF(s->dim[i], 1u)) {
        if (s->dim[i] <= 1 || !(l->told >> i & 1) || l->stride[i] == s->stride[i]) continue;
        bool still = !l->stride[i] && (g->broadcasts >> i & 1 || g->broadcasts >> BROADCAST_ALL & 1);
        bool apart = i + 1 < g->shape.rank && g->layouts >> LAYOUT_ROWS & 1 && l->stride[i] >= dense;
        bool closer = g->broadcasts && l->stride[i] && l->stride[i] < dense; /* those after it stand still */
        if (!still && !apart && !closer)
            return fail_at(b, g->at,
                           "%s is passed with a stride of %" PRIu64 " along dimension %u, which its view "
                           "does not take",
                           g->name, l->stride[i], i);
        s->stride[i] = l->stride[i];
    }
    return true;
}

/* The array in another layout than dense: other strides, memory before it. */
static bool lay_out(struct binder *b, const struct contract_arg *g, u64 align, struct bound_shape *s)
{
    const struct layout_value *l = layout_of(b, g);
    u32 rank = g->shape.rank;
    if (!l) return true;
    if (l->layout == LAYOUT_STRIDES && !lay_out_told(b, g, l, s)) return false;
    if ((l->layout < LAYOUTS && !(g->layouts >> l->layout & 1)) ||
        (l->layout == LAYOUT_BROADCAST && (l->amount > BROADCAST_ALL || !(g->broadcasts >> l->amount & 1))))
        return not_taken(b, g, l);
    if (l->layout == LAYOUT_OFFSET) { /* in steps of what the contract asks the address to be a multiple of */
        u64 step = MAX_OF(align / g->shape.type->bytes, 1u);
        s->offset = (l->amount + step - 1) / step * step;
    }
    for (u32 i = 0; l->layout == LAYOUT_BROADCAST && i < rank; i++)
        if (l->amount == i || l->amount == BROADCAST_ALL) s->stride[i] = 0;
    for (u32 i = rank - 1; l->layout == LAYOUT_ROWS && i-- > 0;)
        s->stride[i] = i == rank - 2 ? s->dim[i + 1] + l->amount : s->stride[i + 1] * MAX_OF(s->dim[i + 1], 1u);
    u64 last = 0;
    for (u32 i = 0; i < rank; i++) last += (s->dim[i] ? s->dim[i] - 1 : 0) * s->stride[i];
    s->extent = s->count ? last + 1 : 0;
    return s->extent <= COUNT_MOST || fail_at(b, g->at, "this would reach over more than 2^40 elements");
}

static void set_strides(struct binder *b, const struct contract_arg *g, const struct bound_shape *s)
{
    for (u32 i = 0; g->strides != UINT32_MAX && i < g->shape.rank; i++)
        b->out->value[g->strides + i] = (struct number){ .i = (s64)s->stride[i] };
}

/* Writing through a stride that visits an element twice cannot be meant. */
static bool strides_apart(struct binder *b, const struct contract_arg *g, const struct bound_shape *s)
{
    for (u32 i = 0; g->shape.stride[0] && g->flow != FLOW_IN && i < g->shape.rank; i++)
        if (!s->stride[i] && s->dim[i] > 1)
            return fail_at(b, g->shape.stride[i]->at,
                           "%s is written, and with a stride of 0 its %" PRIu64
                           " elements along this dimension are one",
                           g->name, s->dim[i]);
    return true;
}

static bool fill_default(const struct contract_arg *g, struct bound_arg *out)
{
    if (g->flow != FLOW_OUT) out->fill.kind = g->shape.type->class == SCALAR_FLOAT ? FILL_NORMAL : FILL_RAND;
    return true;
}

static bool fill_bounds(struct binder *b, const struct contract_arg *g, struct bound_arg *out)
{
    const struct contract_fill *f = &g->fill;
    struct number lo = { 0 }, hi = { 0 };
    struct range r = type_range(g->shape.type);
    if (!expr_eval(f->a, &b->scope, &lo, b->e) || (f->b && !expr_eval(f->b, &b->scope, &hi, b->e))) return false;
    if (f->kind == FILL_OFFSETS) hi = lo, lo = (struct number){ 0 };
    if (f->below) hi = lo.is_float ? lo : (struct number){ .i = lo.i - 1 }, lo = (struct number){ 0 };
    bool whole = f->below || f->integers;
    if (whole && (lo.is_float || hi.is_float)) return fail_at(b, f->a->at, "integers belong here");
    if ((f->kind == FILL_RAND || f->kind == FILL_OFFSETS) && number_double(lo) > number_double(hi))
        return fail_at(b, f->a->at,
                       f->below                  ? "index(N) takes an N of 1 or more"
                       : f->kind == FILL_OFFSETS ? "offsets(N) takes an N of 0 or more"
                                                 : "the low end lies above the high end");
    if (whole && (lo.i < r.low || hi.i > r.high || hi.i > (s64)1 << 53 || lo.i < -((s64)1 << 53)))
        return fail_at(b, f->a->at, "%" PRId64 " to %" PRId64 " is more than %s holds", lo.i, hi.i,
                       g->shape.type->name);
    out->fill.bounded = true;
    out->fill.integers = whole;
    out->fill.lo = number_double(lo);
    out->fill.hi = number_double(hi);
    return true;
}

/* The file lies where the contract says, seen from the contract's own folder. */
static const char *fill_path(struct binder *b, const char *file)
{
    const char *slash = strrchr(b->c->file, '/');
    return file[0] == '/' || !slash ? file
                                    : arena_printf(b->mem, "%.*s/%s", (int)(slash - b->c->file), b->c->file, file);
}

static bool bind_fill(struct binder *b, const struct contract_arg *g, struct bound_arg *out)
{
    const struct contract_fill *f = &g->fill;
    struct number ignored;
    if (!f->given) return fill_default(g, out);
    out->fill.kind = f->kind;
    if (f->kind == FILL_FILE) out->fill.file = fill_path(b, f->file);
    if (f->nan)
        scalar_store(g->shape.type, NAN, out->fill.value);
    else if (f->kind == FILL_CONST)
        return store(b, f->a, g->shape.type, out->fill.value, &ignored);
    if (f->kind == FILL_PERMUTATION && out->shape.extent &&
        (s64)(out->shape.extent - 1) > type_range(g->shape.type).high)
        return fail_at(b, f->at, "%s does not hold the numbers of a permutation of %" PRIu64, g->shape.type->name,
                       out->shape.extent);
    return !f->a || fill_bounds(b, g, out);
}

static bool bind_arg(struct binder *b, const struct contract_arg *g, struct bound_arg *out)
{
    out->arg = g;
    if (g->kind == CONTRACT_VALUE) {
        out->bytes = g->shape.type->bytes;
        out->tied = !expr_is_constant(g->value);
        struct number v;
        bool ok = store(b, g->value, g->shape.type, out->value, &v);
        if (ok && g->symbol != UINT32_MAX) b->out->value[g->symbol] = v;
        return ok;
    }
    out->bytes = g->kind == CONTRACT_BYTES ? g->nbytes : 8;
    if (g->kind != CONTRACT_BUFFER) return true;
    if (!bind_shape(b, &g->shape, &out->shape) || !bind_align(b, g, &out->align) ||
        !lay_out(b, g, out->align, &out->shape))
        return false;
    set_strides(b, g, &out->shape);
    if (!strides_apart(b, g, &out->shape) || !bind_fill(b, g, out)) return false;
    out->bytes = out->shape.extent * g->shape.type->bytes;
    return true;
}

static bool bind_tuple(struct binder *b, struct expr *const x[3], const char *name, s64 least, u32 out[3])
{
    for (u32 i = 0; i < 3; i++) {
        char what[16];
        s64 v = 1;
        snprintf(what, sizeof what, "%s.%c", name, "xyz"[i]);
        if (x[i] && !expr_integer(x[i], &b->scope, what, least, UINT32_MAX, &v, b->e)) return false;
        out[i] = (u32)v;
    }
    return true;
}

static bool bind_launch(struct binder *b)
{
    const struct contract_kernel *k = b->k;
    struct bound *o = b->out;
    if (!k->launch_at) return true;
    o->has_grid = k->grid[0];
    o->has_block = k->block[0];
    if (!bind_tuple(b, k->grid, "grid", 0, o->grid)) return false;
    o->is_empty = o->has_grid && (!o->grid[0] || !o->grid[1] || !o->grid[2]);
    if (!bind_tuple(b, k->block, "block", o->is_empty ? 0 : 1, o->block) ||
        !bind_tuple(b, k->cluster, "cluster", 1, o->cluster))
        return false;
    if (o->is_empty && k->empty == EMPTY_LAUNCH)
        return fail_at(b, k->launch_at, "the contract says `empty launch`, and for %.300s the grid has no blocks",
                       dims_text(b, k->dims.n));
    for (u32 i = 0; i < 3; i++) {
        o->value[k->launch_symbol + i] = (struct number){ .i = o->grid[i] };
        o->value[k->launch_symbol + 3 + i] = (struct number){ .i = o->block[i] };
    }
    s64 shared = 0;
    if (k->shared && !expr_integer(k->shared, &b->scope, "shared", 0, UINT32_MAX, &shared, b->e)) return false;
    o->shared = (u64)shared;
    return true;
}

static bool bind_parts(struct binder *b)
{
    u64 end = 0, most = 0;
    for (u32 i = 0; i < b->k->parts.n; i++) {
        const struct contract_part *p = &b->k->parts.p[i];
        struct bound_part *o = &b->out->part[i];
        struct bound_shape shape = { 0 };
        u64 size = p->shape.type->bytes;
        s64 at = (s64)((end + size - 1) / size * size);
        if (!bind_shape(b, &p->shape, &shape) ||
            (p->offset && !expr_integer(p->offset, &b->scope, "the offset", 0, UINT32_MAX, &at, b->e)))
            return false;
        *o = (struct bound_part){ p, (u64)at, shape.count * size };
        end = o->offset + o->bytes;
        most = MAX_OF(most, end);
    }
    if (!b->k->shared) b->out->shared = most;
    return b->out->shared <= UINT32_MAX ||
           fail_at(b, b->k->parts.p[0].at, "the parts need %" PRIu64 " bytes of shared memory", b->out->shared);
}

/* Requires that name more than dims: everything has its value now. */
static bool bind_requires(struct binder *b)
{
    for (u32 i = 0; i < b->k->requires.n; i++) {
        const struct contract_require *q = &b->k->requires.p[i];
        struct number v;
        if (q->last < b->k->dims.n) continue;
        if (!expr_eval(q->what, &b->scope, &v, b->e)) return false;
        if (v.is_float ? v.f == 0 : v.i == 0)
            return fail_at(b, q->what->at, b->k->dims.n ? "this does not hold for %.300s" : "this does not hold%.1s",
                           dims_text(b, b->k->dims.n));
    }
    return true;
}

/* Layouts of arguments that the kernel does not have. */
static bool layouts_known(struct binder *b)
{
    for (u32 i = 0; i < b->layouts; i++) {
        u32 k = 0;
        while (k < b->k->args.n &&
               (b->k->args.p[k].kind != CONTRACT_BUFFER || strcmp(b->k->args.p[k].name, b->layout[i].name)))
            k++;
        if (k == b->k->args.n) return fail_at(b, b->k->at, "%s has no array `%.60s`", b->k->name, b->layout[i].name);
    }
    return true;
}

bool contract_bind(struct arena *a, const struct contract *c, const struct contract_kernel *k, struct dim_value *given,
                   u32 n, struct bound *out, struct error *e)
{
    return contract_bind_with(a, c, k, given, n, NULL, 0, out, e);
}

bool contract_bind_with(struct arena *a, const struct contract *c, const struct contract_kernel *k,
                        struct dim_value *given, u32 n, const struct layout_value *layout, u32 layouts,
                        struct bound *out, struct error *e)
{
    *out = (struct bound){ .contract = c, .kernel = k, .cluster = { 1, 1, 1 } };
    out->value = NEW_ARRAY(a, struct number, k->symbols.list.n + 1);
    out->arg = NEW_ARRAY(a, struct bound_arg, k->args.n + 1);
    out->part = NEW_ARRAY(a, struct bound_part, k->parts.n + 1);
    struct binder b = { .mem = a,
                        .c = c,
                        .k = k,
                        .out = out,
                        .given = given,
                        .n = n,
                        .layout = layout,
                        .layouts = layouts,
                        .e = e,
                        .scope = { c->file, c->text, out->value } };
    if (k->unchosen) return fail_at(&b, k->unchosen_at, "%s", k->unchosen);
    if (!layouts_known(&b) || !bind_dims(&b)) return false;
    for (u32 i = 0; i <= k->args.n; i++)
        if ((i == k->launch_after && !bind_launch(&b)) || (i < k->args.n && !bind_arg(&b, &k->args.p[i], &out->arg[i])))
            return false;
    return bind_parts(&b) && bind_requires(&b);
}

void contract_type_text(const struct bound_arg *b, char *out, size_t size)
{
    const struct contract_shape *s = &b->arg->shape;
    int n = snprintf(out, size, "%s[", s->type->name);
    for (u32 i = 0; i < s->rank && n > 0 && (size_t)n < size; i++)
        n += snprintf(out + n, size - (size_t)n, "%s%" PRIu64, i ? "," : "", b->shape.dim[i]);
    if (n > 0 && (size_t)n + 1 < size) snprintf(out + n, size - (size_t)n, "]");
}
