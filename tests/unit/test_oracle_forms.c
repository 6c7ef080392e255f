/* A search for false alarms: texts are computed in float in thousands of forms that kernels have, and none may be above
 * its bound. Each form takes the oracle's own graph and makes free choices at every node: the order of sums,
 * compensated ones and sums in f64, means that are scaled first, running or weighted, Welford's variance, products that
 * are fused or multiplied in another order, terms that are added in another order, reciprocals, functions by other
 * functions and up to 2 ulp off, any member of a derivative that is a set.
 *
 *     test_oracle_forms             what the suite runs
 *     test_oracle_forms 40          forty times as many forms (make check-all) */
#include "oracle_kernels.h"
#include "oracle/oracle_in.h"

enum { ROWS = 4, TERMS = 256, LINES = 4096 };

/* ---- texts ---- */

/* x, y, w [r,n]; g, b [n]; m [n,3]; q, k, v [5,n]; t [r] of whole numbers below n; i [1,2,6,5], f [3,2,3,3]; dy as the
 * value. */
static const char *const texts[] = {
    "sum(x, -1)",
    "mean(x, -1)",
    "mean(x)",
    "var(x, -1)",
    "var(x, -1, keep, 1)",
    "std(x, -1)",
    "norm(x, -1)",
    "softmax(x)",
    "logsumexp(x, -1)",
    "log_softmax(x)",
    "layernorm(x, g, b)",
    "rmsnorm(x, g)",
    "batchnorm(x, g, b)",
    "relu(x)",
    "leaky_relu(x)",
    "clamp(x, -1, 1)",
    "gelu(x)",
    "gelu_tanh(x)",
    "quick_gelu(x)",
    "silu(x)",
    "softplus(x)",
    "elu(x)",
    "token_loss(x, t)",
    "cross_entropy(x, t)",
    "mse(x, y)",
    "x @ m",
    "x @ m + 1",
    "attention(x, q, k)",
    "attention_causal(q, k, v)",
    "tril(q @ T(k))",
    "rope(x[:, :n//2*2], 0.5, 0.8, n//2)",
    "x * sigmoid(y)",
    "0.3 * sum(x * y, -1)",
    "sum(x, -1) / 3",
    "0.1 * sum(x, -1)",
    "0.3 * x + 0.7 * mean(x, -1, keep)",
    "x - mean(x, -1, keep)",
    "(x - mean(x, -1, keep)) / (std(x, -1, keep) + 1e-6)",
    "cumsum(x, -1)",
    "cumsum(x, -1) / (iota(n) + 1)",
    "sqrt(mean(x * x, -1))",
    "mean(abs(x - mean(x, -1, keep)), -1)",
    "-sum(softmax(x) * log_softmax(x), -1)",
    "{ p = softmax(x); -sum(p * log(p + 1e-9), -1) }",
    "x * tanh(softplus(x))",
    "log(0.5 * (exp(x) + exp(-x)))",
    "1 + x + x * x / 2 + x * x * x / 6",
    "exp(x)",
    "tanh(x)",
    "sigmoid(x)",
    "erf(x)",
    "x * rsqrt(mean(x*x, -1, keep) + 1e-5) * g",
    "w - 0.1 * x / (sqrt(abs(y)) + 1e-8)",
    "max(x, -1) - min(x, -1)",
    "(x - min(x, -1, keep)) / (max(x, -1, keep) - min(x, -1, keep) + 1e-6)",
    "x % 3",
    "fmod(x, 3)",
    "x + y + w - x * y",
    "conv2d(i, f, 1, 1)",
    "conv2d(i, f, 2, 1)",
    "max_pool2d(i, 2)",
    "avg_pool2d(i, 2)",
    "group_norm(i, 2, i[0, :, 0, 0], i[0, :, 1, 1])",
    "einsum(\"ij,ij->i\", x, y)",
    "scatter_add(x, t, n)",
    "gather(x, t % 4)",
    "prod(1 + x * 0.1, -1)",
    "cumprod(1 + x * 0.1, -1)",
    "sort(x * y, -1)",
    "x * sum(x, -1, keep)",
    "where(x > y, x * w, y)",
    "abs(x)**1.5",
    "atan2(x, y)",
    "hypot(x, y)",
    "sinh(x) + cosh(x)",
    "erfc(x)",
    "log1p(x * x)",
    "expm1(x)",
    "sum((x - y) * (x - y), -1)",
    "linear(x, q)",
};
static const char *const gradients[] = {
    "softmax(x)",
    "log_softmax(x)",
    "logsumexp(x, -1)",
    "layernorm(x, g, b)",
    "rmsnorm(x, g)",
    "relu(x)",
    "leaky_relu(x)",
    "clamp(x, -1, 1)",
    "gelu(x)",
    "gelu_tanh(x)",
    "quick_gelu(x)",
    "silu(x)",
    "softplus(x)",
    "elu(x)",
    "token_loss(x, t)",
    "mean(x, -1)",
    "var(x, -1)",
    "std(x, -1)",
    "norm(x, -1)",
    "mse(x, y)",
    "abs(x)",
    "x**3",
    "max(x, -1)",
    "x @ m",
    "tanh(x)",
    "sigmoid(x)",
    "x * sigmoid(y)",
    "sqrt(x * x + 1)",
    "log(1 + exp(x))",
    "conv2d(i, f, 1, 1)",
    "batchnorm(x, g, b)",
    "maximum(x, y)",
    "where(x > 0, x, 0.2 * x)",
    "prod(1 + x * 0.1, -1)",
    "max_pool2d(i, 2)",
};

/* ---- one form ---- */

struct form {
    struct config c;
    const struct oracle *o;
    const struct oracle_run *r; /* for the environment */
    double **v;                 /* by node: numbers of f32 */
    const void *const *data;
    int member; /* of a derivative that is a set: the one end, the other, the middle */
    int mean;   /* how means are computed */
    struct arena mem;
};

static const double *of(const struct form *f, const struct oracle_node *n) { return f->v[n->id]; }

/* Sums in the orders of oracle_kernels.h, compensated, and in f64. */
static float added(struct form *f, const float *x, u32 n)
{
    u32 how = draw(&f->c, 9);
    if (how == 7) {
        double s = 0;
        for (u32 i = 0; i < n; i++) s += (double)x[i];
        return (float)s;
    }
    if (how == 8) {
        volatile float s = 0, c = 0;
        for (u32 i = 0; i < n; i++) {
            volatile float y = x[i] - c, t = s + y;
            c = (t - s) - y;
            s = t;
        }
        return s;
    }
    f->c.order = (int)how;
    return k_sum(&f->c, x, n);
}

/* The mean of n numbers by one of the algorithms. */
static float mean_of(struct form *f, const float *x, u32 n)
{
    float m = 0, t[LINES];
    switch (f->mean) {
    case 0: return added(f, x, n) / (float)n;
    case 1: return added(f, x, n) * (1 / (float)n);
    case 2:
        for (u32 i = 0; i < n; i++) t[i] = f->c.fma ? x[i] / (float)n : x[i] * (1 / (float)n);
        return added(f, t, n);
    case 3:
        for (u32 i = 0; i < n; i++) m += (x[i] - m) / (float)(i + 1);
        return m;
    case 4:
        for (u32 i = 0; i < n; i++) {
            float w = 1 / (float)(i + 1);
            m = f->c.fma ? fmaf(m, 1 - w, x[i] * w) : m * (1 - w) + x[i] * w;
        }
        return m;
    default: {
        u32 h = n / 2;
        float a = h ? added(f, x, h) / (float)h : 0, b = added(f, x + h, n - h) / (float)(n - h);
        return h ? a * ((float)h / (float)n) + b * ((float)(n - h) / (float)n) : b;
    }
    }
}

static void line_at(const struct form *f, const struct oracle_node *sum, const s64 *map, u64 to, float *x, u32 *n)
{
    const double *v = of(f, sum->in[0]);
    *n = 0;
    for (u64 i = 0, all = oracle_count(&sum->in[0]->shape); i < all && *n < LINES; i++)
        if (map[i] == (s64)to) x[(*n)++] = (float)v[i];
}

static s64 *sum_map(struct form *f, const struct oracle_node *sum)
{
    s64 *map = NEW_ARRAY(&f->mem, s64, oracle_count(&sum->in[0]->shape) + 1);
    oracle_map(sum, NULL, map);
    return map;
}

static const struct oracle_node *inside(const struct oracle_node *n)
{
    while (n->ins == 1 && (n->op == OX_reshape || n->op == OX_broadcast)) n = n->in[0];
    return n;
}

/* sum / count and sum * c: the sum may be computed anew, scaled first or running. */
static bool run_scaled(struct form *f, const struct oracle_node *n, double *z)
{
    bool quotient = n->op == OX_div;
    u32 k = quotient || n->in[0]->op == OX_sum ? 0 : 1;
    const struct oracle_node *sum = n->in[k], *c = inside(n->in[1 - k]);
    if (sum->op != OX_sum || c->op != OX_const || draw(&f->c, 3) == 0) return false;
    float line[LINES], t[LINES], scale = (float)c->attr.value;
    s64 *map = sum_map(f, sum);
    u64 out = oracle_count(&sum->shape), each = oracle_count(&sum->in[0]->shape) / (out ? out : 1);
    if (each > LINES || !oracle_shape_equal(&sum->shape, &n->shape)) return false;
    for (u64 i = 0; i < out; i++) {
        u32 m;
        line_at(f, sum, map, i, line, &m);
        if (quotient && c->attr.value == (double)m) {
            z[i] = (double)mean_of(f, line, m);
            continue;
        }
        for (u32 e = 0; e < m; e++) t[e] = quotient ? line[e] / scale : line[e] * scale;
        z[i] = (double)added(f, t, m);
    }
    return true;
}

/* mean(d * d) with d = x - mean(x): Welford's recurrence, over x. */
static bool run_welford(struct form *f, const struct oracle_node *n, double *z)
{
    const struct oracle_node *sum = n->in[0], *c = inside(n->in[1]), *square, *d;
    if (n->op != OX_div || sum->op != OX_sum || c->op != OX_const || draw(&f->c, 2)) return false;
    square = sum->in[0];
    if (square->op != OX_mul || square->in[0] != square->in[1]) return false;
    d = square->in[0];
    const struct oracle_node *m = d->op == OX_sub ? inside(d->in[1]) : NULL;
    if (!m || m->op != OX_div || m->in[0]->op != OX_sum || m->in[0]->in[0] != d->in[0]) return false;
    if (m->in[0]->attr.list[0] != sum->attr.list[0] || !oracle_shape_equal(&d->in[0]->shape, &d->shape)) return false;
    struct oracle_node over_x = *sum, *x = d->in[0];
    over_x.in = &x;
    s64 *map = sum_map(f, sum);
    for (u64 i = 0; i < oracle_count(&n->shape); i++) {
        float line[LINES], mean = 0, q = 0;
        u32 count;
        line_at(f, &over_x, map, i, line, &count);
        for (u32 e = 0; e < count; e++) {
            float w = line[e] - mean;
            mean += w / (float)(e + 1);
            q += w * (line[e] - mean);
        }
        z[i] = (double)(q / (float)c->attr.value);
    }
    return true;
}

static void run_sum(struct form *f, const struct oracle_node *n, double *z)
{
    float line[LINES];
    s64 *map = sum_map(f, n);
    for (u64 i = 0, out = oracle_count(&n->shape); i < out; i++) {
        u32 m;
        line_at(f, n, map, i, line, &m);
        z[i] = (double)added(f, line, m);
    }
}

/* Element i of a node where it is broadcast to a shape. */
static u64 spread_index(const struct oracle_shape *from, const struct oracle_shape *to, u64 i)
{
    u64 at = 0, step = 1;
    for (u32 d = 0; d < to->rank; d++) {
        u64 size = to->dim[to->rank - 1 - d], k = i % size;
        i /= size;
        if (d >= from->rank) continue;
        u64 own = from->dim[from->rank - 1 - d];
        at += own == 1 ? 0 : k * step;
        step *= own;
    }
    return at;
}
static float at(const struct form *f, const struct oracle_node *n, const struct oracle_shape *to, u64 i)
{
    return (float)of(f, n)[spread_index(&n->shape, to, i)];
}

struct term {                        /* of a chain of + and -, multiplied out as far as one product */
    const struct oracle_node *a, *b; /* b: NULL, or the other factor */
    bool minus;
};
static void terms_of(const struct oracle_node *n, bool minus, struct term *t, u32 *count, u32 deep)
{
    if (*count + 2 < 32 && deep < 4 && (n->op == OX_add || n->op == OX_sub)) {
        terms_of(n->in[0], minus, t, count, deep + 1);
        terms_of(n->in[1], minus ^ (n->op == OX_sub), t, count, deep + 1);
    } else if (*count + 2 < 32 && deep < 4 && n->op == OX_neg) {
        terms_of(n->in[0], !minus, t, count, deep + 1);
    } else {
        bool product = n->op == OX_mul;
        t[(*count)++] = (struct term){ product ? n->in[0] : n, product ? n->in[1] : NULL, minus };
    }
}

/* A chain of additions in another order, with products fused. */
static void run_chain(struct form *f, const struct oracle_node *n, double *z)
{
    struct term t[40];
    u32 count = 0;
    bool plain = draw(&f->c, 2);
    if (plain) {
        t[count++] = (struct term){ n->in[0], NULL, false };
        t[count++] = (struct term){ n->in[1], NULL, n->op == OX_sub };
    } else {
        terms_of(n, false, t, &count, 0);
    }
    for (u32 i = count; i > 1 && draw(&f->c, 2); i--) {
        u32 k = draw(&f->c, i);
        struct term was = t[i - 1];
        t[i - 1] = t[k];
        t[k] = was;
    }
    bool fused = f->c.fma;
    for (u64 i = 0, all = oracle_count(&n->shape); i < all; i++) {
        float s = 0;
        for (u32 k = 0; k < count; k++) {
            float a = at(f, t[k].a, &n->shape, i) * (t[k].minus ? -1 : 1), b = t[k].b ? at(f, t[k].b, &n->shape, i) : 1;
            s = !k ? a * b : t[k].b && fused ? fmaf(a, b, s) : s + a * b;
        }
        z[i] = (double)s;
    }
}

/* A product of products in another order. */
static void run_product(struct form *f, const struct oracle_node *n, double *z)
{
    const struct oracle_node *a = n->in[0], *b = n->in[1], *c = NULL;
    if (a->op == OX_mul && draw(&f->c, 2)) { /* (a * c) * b as a * (c * b) */
        c = a->in[1];
        a = a->in[0];
    }
    for (u64 i = 0, all = oracle_count(&n->shape); i < all; i++) {
        float x = at(f, a, &n->shape, i), y = at(f, b, &n->shape, i);
        z[i] = (double)(c ? x * (at(f, c, &n->shape, i) * y) : x * y);
    }
}

static void run_einsum(struct form *f, const struct oracle_node *n, double *z)
{
    struct einsum_parts p = oracle_einsum_parts(n->attr.text);
    u64 size[128] = { 0 }, terms = oracle_einsum_terms(n);
    char letters[2 * ORACLE_RANK + 1] = "";
    u32 outs = p.out.n, all = outs;
    memcpy(letters, p.out.p, outs);
    for (u32 k = 0; k < p.ins; k++)
        for (u32 i = 0; i < p.in[k].n; i++) {
            size[(u8)p.in[k].p[i]] = n->in[k]->shape.dim[i];
            if (!memchr(letters, p.in[k].p[i], all)) letters[all++] = p.in[k].p[i];
        }
    float x[LINES], y[LINES];
    if (terms > LINES) return;
    for (u64 i = 0, count = oracle_count(&n->shape); i < count; i++) {
        for (u64 s = 0; s < terms; s++) {
            u64 index[128] = { 0 }, rest = s, lead = i, where[2] = { 0 };
            for (u32 l = all; l-- > outs; rest /= size[(u8)letters[l]])
                index[(u8)letters[l]] = rest % size[(u8)letters[l]];
            for (u32 l = outs; l-- > 0; lead /= size[(u8)letters[l]])
                index[(u8)letters[l]] = lead % size[(u8)letters[l]];
            for (u32 k = 0; k < p.ins; k++)
                for (u32 d = 0; d < p.in[k].n; d++)
                    where[k] = where[k] * n->in[k]->shape.dim[d] + index[(u8)p.in[k].p[d]];
            x[s] = (float)of(f, n->in[0])[where[0]];
            y[s] = p.ins > 1 ? (float)of(f, n->in[1])[where[1]] : 1;
        }
        f->c.dot = (int)draw(&f->c, 3);
        z[i] = (double)k_dot(&f->c, x, 1, y, 1, (u32)terms);
    }
}

/* By the row itself, from numbers of f32, rounded and up to 2 ulp off. */
static bool run_row(struct form *f, const struct oracle_node *n, double *z)
{
    struct error e = { 0 };
    struct oracle_env env = f->r->env;
    env.bounds = false;
    struct oracle_job j = { .env = &env, .node = n, .graph = &f->o->graph, .z = z, .err = &e };
    for (u32 k = 0; k < n->ins; k++) j.v[k] = of(f, n->in[k]);
    for (u32 i = 0; n->op == OX_input && i < f->o->n; i++)
        if (f->o->names[i].type && !strcmp(f->o->names[i].name, n->attr.text)) {
            j.data = f->data[i];
            j.type = f->o->names[i].type;
        }
    bool ok = oracle_row_f64(&j);
    for (u32 k = 0; k < j.scratches; k++) base_free(j.scratch[k]);
    bool off = oracle_rows[n->op].rounds && oracle_rows[n->op].family != ORACLE_SUMS && !n->index && n->op != OX_mod &&
               n->op != OX_fmod && n->op != OX_via && n->op != OX_off && n->op != OX_sqrt;
    for (u64 i = 0, all = oracle_count(&n->shape); ok && i < all; i++)
        z[i] = (double)(off ? jig(&f->c, (float)z[i]) : (float)z[i]);
    return ok;
}

static void run_map(struct form *f, const struct oracle_node *n, double *z, u32 form)
{
    for (u64 i = 0, all = oracle_count(&n->shape); i < all; i++) {
        float x = at(f, n->in[0], &n->shape, i), y = n->ins > 1 ? at(f, n->in[1], &n->shape, i) : 0, r = 0;
        switch (n->op) {
        case OX_div: r = k_div(&f->c, x, y); break;
        case OX_exp: r = k_exp(&f->c, x); break;
        case OX_rsqrt: r = k_rsqrt(&f->c, x); break;
        case OX_log:
            r = form ? jig(&f->c, (float)log2((double)x)) * 0.69314718f : jig(&f->c, (float)log((double)x));
            break;
        case OX_tanh:
            r = form ? 1 - 2 / (k_exp(&f->c, 2 * x) + 1) : jig(&f->c, (float)tanh((double)x));
            if (x > 40) r = 1;
            break;
        case OX_sigmoid:
            r = form == 0   ? 1 / (1 + k_exp(&f->c, -x))
                : form == 1 ? 0.5f + 0.5f * (float)tanh((double)(0.5f * x))
                : x < 0     ? k_exp(&f->c, x) / (1 + k_exp(&f->c, x))
                            : 1 / (1 + k_exp(&f->c, -x));
            break;
        default: r = x - y * (n->op == OX_mod ? floorf(x / y) : truncf(x / y)); break; /* mod and fmod */
        }
        z[i] = (double)r;
    }
}

static void run_either(struct form *f, const struct oracle_node *n, double *z)
{
    for (u64 i = 0, all = oracle_count(&n->shape); i < all; i++) {
        float c = at(f, n->in[0], &n->shape, i), x = at(f, n->in[1], &n->shape, i), y = at(f, n->in[2], &n->shape, i);
        float tie = f->member == 0 ? x : f->member == 1 ? y : x / 2 + y / 2;
        z[i] = (double)(c > 0.5f ? x : c < 0.5f ? y : tie);
    }
}

/* Running sums and products, one after the other. */
static void run_running(struct form *f, const struct oracle_node *n, double *z)
{
    u32 axis = (u32)n->attr.list[0];
    u64 inner = 1, length = n->shape.dim[axis];
    for (u32 d = axis + 1; d < n->shape.rank; d++) inner *= n->shape.dim[d];
    for (u64 i = 0, all = oracle_count(&n->shape); i < all; i++) {
        float x = (float)of(f, n->in[0])[i], before = i / inner % length   ? (float)z[i - inner]
                                                      : n->op == OX_cumsum ? 0
                                                                           : 1;
        z[i] = (double)(n->op == OX_cumsum ? before + x : before * x);
    }
}

/* Products from the front, from the back, or of halves. */
static void run_prod(struct form *f, const struct oracle_node *n, double *z)
{
    struct oracle_node as_sum = *n;
    as_sum.op = OX_sum;
    s64 *map = sum_map(f, &as_sum);
    u32 how = draw(&f->c, 3);
    for (u64 i = 0, out = oracle_count(&n->shape); i < out; i++) {
        float line[LINES], a = 1, b = 1;
        u32 m;
        line_at(f, n, map, i, line, &m);
        for (u32 k = 0; k < m; k++)
            if (how < 2 || k % 2)
                a *= line[how ? k : m - 1 - k];
            else
                b *= line[k];
        z[i] = (double)(a * b);
    }
}

/* Rows added one after the other, in any order. */
static bool run_scatter(struct form *f, const struct oracle_node *n, double *z)
{
    u64 rows = oracle_count(&n->in[1]->shape), row = oracle_count(&n->in[0]->shape) / (rows ? rows : 1);
    bool back = draw(&f->c, 2);
    for (u64 i = 0, all = oracle_count(&n->shape); i < all; i++) z[i] = 0;
    for (u64 k = 0; k < rows; k++) {
        u64 from = back ? rows - 1 - k : k, to = (u64)of(f, n->in[1])[from];
        for (u64 i = 0; i < row; i++)
            z[to * row + i] = (double)((float)z[to * row + i] + (float)of(f, n->in[0])[from * row + i]);
    }
    return true;
}

static bool run_node(struct form *f, const struct oracle_node *n)
{
    double *z = f->v[n->id] = NEW_ARRAY(&f->mem, double, oracle_count(&n->shape) + 1);
    if (n->index) return run_row(f, n, z);
    switch (n->op) {
    case OX_sum: run_sum(f, n, z); return true;
    case OX_einsum: run_einsum(f, n, z); return true;
    case OX_add:
    case OX_sub: run_chain(f, n, z); return true;
    case OX_cumsum:
    case OX_cumprod: run_running(f, n, z); return true;
    case OX_prod: run_prod(f, n, z); return true;
    case OX_scatter_add: return run_scatter(f, n, z);
    case OX_either: run_either(f, n, z); return true;
    case OX_mul:
        if (!run_scaled(f, n, z)) run_product(f, n, z);
        return true;
    case OX_div:
        if (run_welford(f, n, z) || run_scaled(f, n, z)) return true; /* fall through */
    case OX_exp:
    case OX_rsqrt:
    case OX_log:
    case OX_tanh:
    case OX_sigmoid: run_map(f, n, z, draw(&f->c, 3)); return true;
    case OX_mod:
    case OX_fmod:
        if (draw(&f->c, 2)) return run_row(f, n, z);
        run_map(f, n, z, 0);
        return true;
    default: return run_row(f, n, z);
    }
}

/* ---- cases ---- */

enum { KINDS = 9 };
static const char *const kinds[KINDS] = { "normal",   "exact", "small",  "offset", "ties",
                                          "constant", "mixed", "sorted", "wide" };

static double number(u64 *r, u32 kind, u32 i)
{
    double p = (double)(2 * (rand_next(r) >> 12) + 1) * 0x1p-53, q = (double)(rand_next(r) >> 11) * 0x1p-53,
           x = fill_quantile(p);
    switch (kind) {
    case 1: return floor(q * 9) - 4;
    case 2: return x * 1e-3;
    case 3: return x + 1000;
    case 4: return q < 0.3 ? 0 : q < 0.5 ? 1 : q < 0.7 ? -1 : q < 0.8 ? -0.0 : floor(x);
    case 5: return 1.5;
    case 6: return copysign(pow(10, -4 + q * 5), x);
    case 7: return 0.125 * i - 2;
    case 8: return x * 8;
    default: return x;
    }
}

static void give(struct try *t, const char *spec, u64 *r, u32 kind, u32 count, u32 whole)
{
    static double x[1 << 14];
    CHECK(count <= COUNT_OF(x));
    for (u32 i = 0; i < count; i++)
        x[i] = whole ? (double)((rand_next(r) >> 33) % whole) : (double)(float)number(r, kind, i);
    try_input(t, spec, x);
}

static void inputs(struct try *t, u32 n, u32 kind, u64 *r)
{
    char spec[64];
    static const char *const names[] = { "x", "y", "w" }, *const keys[] = { "q", "k", "v" };
    for (u32 k = 0; k < 3; k++) {
        snprintf(spec, sizeof spec, "%s f32[%u,%u]", names[k], ROWS, n);
        give(t, spec, r, k ? (kind == 3 ? 3 : kind % 3) : kind, ROWS * n, 0);
    }
    snprintf(spec, sizeof spec, "g f32[%u]", n);
    give(t, spec, r, 0, n, 0);
    snprintf(spec, sizeof spec, "b f32[%u]", n);
    give(t, spec, r, kind == 3 ? 0 : kind, n, 0);
    snprintf(spec, sizeof spec, "m f32[%u,3]", n);
    give(t, spec, r, kind, 3 * n, 0);
    for (u32 k = 0; k < 3; k++) {
        snprintf(spec, sizeof spec, "%s f32[5,%u]", keys[k], n);
        give(t, spec, r, kind == 3 ? 0 : kind, 5 * n, 0);
    }
    give(t, "i f32[1,2,6,5]", r, kind, 60, 0);
    give(t, "f f32[3,2,3,3]", r, kind == 3 ? 0 : kind, 54, 0);
    give(t, "t i32[4]", r, 0, ROWS, n);
    try_number(t, "n", n);
}

static u32 forms, flagged, suspects;
static double closest;

/* One form of a text that has been evaluated. */
static void run_form(const struct try *t, const char *text, u32 kind, u32 n, u64 seed)
{
    struct oracle_run r = { .o = t->o, .env = oracle_env_of(t->o, &t->how) };
    struct form f = { .c = config_new(seed, "", false), .o = t->o, .r = &r, .data = t->data };
    struct error e = { 0 };
    f.member = (int)draw(&f.c, 3);
    f.mean = (int)draw(&f.c, 6);
    f.v = NEW_ARRAY(&f.mem, double *, t->o->graph.nodes.n + 1);
    struct oracle_node *roots[8];
    u32 outs = oracle_outputs(t->o);
    for (u32 i = 0; i < outs; i++) roots[i] = t->o->outs.p[i].node;
    bool *need = oracle_reach(&f.mem, &t->o->graph, roots, outs, NULL), ok = true;
    for (u32 i = 0; ok && i < t->o->graph.nodes.n; i++)
        if (need[i]) ok = UNIT(run_node(&f, t->o->graph.nodes.p[i]));
    for (u32 i = 0; ok && i < outs; i++) {
        struct oracle_judgement j;
        u64 count = oracle_count(&roots[i]->shape);
        float *y = NEW_ARRAY(&f.mem, float, count + 1);
        for (u64 k = 0; k < count; k++) y[k] = (float)f.v[roots[i]->id][k];
        if (!UNIT(oracle_judge(t->o, &t->r, i, &(struct oracle_given){ .bytes = y }, &j, &e))) break;
        forms++;
        suspects += j.suspect > 0;
        flagged += j.wrong > 0;
        closest = fmax(closest, j.ratio);
        if (!UNIT(!j.wrong))
            fprintf(stderr, "  %s, %s, n %u, seed %llu, output %u at %llu: %.9g for %.9g, %.3g times the bound %.3g\n",
                    text, kinds[kind], n, (unsigned long long)seed, i, (unsigned long long)j.worst, j.got, j.value,
                    j.ratio, j.bound);
    }
    arena_free(&f.mem);
}

/* A text, or its gradient, over one kind of numbers, in so many forms. */
static void run_text(const char *text, bool gradient, u32 kind, u32 n, u32 many, u64 seed)
{
    struct try t = { 0 };
    char line[600], spec[100] = "dy f32";
    u64 r = seed * 7 + kind;
    inputs(&t, n, kind, &r);
    snprintf(line, sizeof line, "%s", text);
    if (gradient) {
        struct try shape = { 0 };
        u64 again = seed * 7 + kind, count = 1;
        inputs(&shape, n, kind, &again);
        if (!UNIT(try_read(&shape, text))) return;
        struct oracle_output d = oracle_output(shape.o, 0);
        for (u32 i = 0; i < d.shape.rank; count *= d.shape.dim[i++])
            snprintf(spec + strlen(spec), sizeof spec - strlen(spec), "%c%u", i ? ',' : '[', (u32)d.shape.dim[i]);
        if (d.shape.rank) strcat(spec, "]");
        try_end(&shape);
        give(&t, spec, &r, kind == 1 ? 1 : 0, (u32)count, 0);
        const char *of = strstr(text, "conv2d") || strstr(text, "pool") ? "i" : "x";
        snprintf(line, sizeof line, "d%s = grad(%s, dy)", of, text);
    }
    if (!UNIT(try_text(&t, line))) return;
    for (u32 i = 0; i < many; i++) run_form(&t, line, kind, n, seed * 1000 + i);
    try_end(&t);
}

int main(int argc, char **argv)
{
    static const u32 sizes[] = { 1, 2, 3, 7, 33, 64, 100 };
    u32 scale = argc > 1 ? (u32)strtoul(argv[1], NULL, 10) : 1;
    for (u32 round = 0; round < scale; round++)
        for (u32 i = 0; i < COUNT_OF(texts) + COUNT_OF(gradients); i++)
            for (u32 kind = 0; kind < KINDS; kind++) {
                bool gradient = i >= COUNT_OF(texts);
                u32 n = sizes[(i + kind + 3 * round) % COUNT_OF(sizes)];
                run_text(gradient ? gradients[i - COUNT_OF(texts)] : texts[i], gradient, kind, n, 4,
                         round * 1009 + i * 9 + kind + 1);
            }
    printf("%u forms of %u texts: %u above the bound, the closest at %.2f of it; %u suspect\n", forms,
           (u32)(COUNT_OF(texts) + COUNT_OF(gradients)), flagged, closest, suspects);
    UNIT(suspects * 200 <= forms);
    return unit_done();
}
