/* Oracles against kernels: correct ones in many orders, algorithms and types are never above the worst-case bound;
 * planted bugs are, on some input; and the classifier's names are right.
 *
 *     test_oracle_kernels             what the suite runs
 *     test_oracle_kernels 40          forty times as many cases, with the figures of docs/lab/oracle.md */
#include "mistake/mistake.h"
#include "oracle_kernels.h"

enum { ROWS = 5, DATA = 8192 };
struct task { /* a call: sizes and arrays, by the letters of the family's text */
    struct config c;
    u32 m, n, k; /* rows, columns, inner size */
    float x[DATA], g[DATA], b[DATA], dy[DATA], t[64];
    float y[DATA], y2[DATA], y3[DATA];
};

/* ---- kernels ---- */

static void k_matmul(struct task *a)
{
    struct config *c = &a->c;
    for (u32 i = 0; i < a->m; i++)
        for (u32 j = 0; j < a->n; j++) {
            const float *row = a->x + i * a->k, *column = bug(c, "transposed") ? a->g + j * a->n : a->g + j;
            u32 step = bug(c, "transposed") ? 1 : a->n;
            a->y[i * a->n + j] = k_dot(c, row, 1, column, step, a->k) * (bug(c, "x32") ? 32 : 1);
            if (bug(c, "missing tile") && i >= a->m / 2) a->y[i * a->n + j] = POISON;
        }
}

/* Mean and sum of squared deviations of a row: two passes, Welford's, or (a bug) one. */
static void moments(struct task *a, const float *x, float *mean, float *var)
{
    struct config *c = &a->c;
    static float d[DATA];
    u32 n = a->n;
    if (bug(c, "one pass")) {
        *mean = k_sum(c, x, n) / (float)n;
        *var = fmaxf(k_dot(c, x, 1, x, 1, n) / (float)n - *mean * *mean, 0);
        return;
    }
    if (c->algorithm == 1 && !bug_of_sums(c)) {
        float m = 0, v = 0;
        for (u32 i = 0; i < n; i++) {
            float w = x[i] - m;
            m += w / (float)(i + 1);
            v += w * (x[i] - m);
        }
        *mean = m;
        *var = v / (float)n;
        return;
    }
    *mean = c->rcp ? k_sum(c, x, n) * (1 / (float)n) : k_sum(c, x, n) / (float)n;
    for (u32 i = 0; i < n; i++) d[i] = x[i] - *mean;
    *var = k_dot(c, d, 1, d, 1, n) * (1 / (float)(bug(c, "n-1") && n > 1 ? n - 1 : n));
}

static float epsilon(const struct config *c) { return bug(c, "eps 1e-6") ? 1e-6f : 1e-5f; }

static void k_layernorm(struct task *a)
{
    struct config *c = &a->c;
    for (u32 i = 0; i < a->m; i++) {
        const float *x = a->x + i * a->n, *from = bug(c, "row stat") ? a->x + (i + 1) % a->m * a->n : x;
        float m, v;
        moments(a, from, &m, &v);
        float r = bug(c, "eps outside") ? 1 / (sqrtf(v) + epsilon(c)) : k_rsqrt(c, v + epsilon(c));
        for (u32 j = 0; j < a->n; j++) {
            float g = bug(c, "no gain") ? 1 : a->g[j], b = bug(c, "no bias") ? 0 : a->b[j], *y = &a->y[i * a->n + j];
            if (c->form == 0) *y = (x[j] - m) * r * g + b;
            if (c->form == 1) *y = k_fma(c, (x[j] - m) * r, g, b);
            if (c->form == 2) *y = k_fma(c, x[j] - m, r * g, b);
            if (c->form == 3) *y = k_fma(c, x[j], r * g, b - m * (r * g));
        }
    }
}

static void k_layernorm_bwd(struct task *a)
{
    struct config *c = &a->c;
    static float h[DATA], w[DATA];
    u32 n = a->n;
    for (u32 i = 0; i < a->m; i++) {
        float m, v, *hi = h + i * n, *wi = w + i * n;
        moments(a, a->x + i * n, &m, &v);
        float r = k_rsqrt(c, v + epsilon(c));
        for (u32 j = 0; j < n; j++) {
            hi[j] = (a->x[i * n + j] - m) * r;
            wi[j] = a->dy[i * n + j] * a->g[j];
        }
        float c1 = k_sum(c, wi, n) / (float)n, c2 = k_dot(c, wi, 1, hi, 1, n) / (float)n;
        if (bug(c, "no 1/n")) c1 *= (float)n, c2 *= (float)n;
        if (bug(c, "no c1")) c1 = 0;
        if (bug(c, "no c2")) c2 = 0;
        for (u32 j = 0; j < n; j++) a->y[i * n + j] = (k_fma(c, -hi[j], c2, wi[j] - c1)) * r;
    }
    for (u32 j = 0; j < n; j++) {
        a->y2[j] = k_dot(c, a->dy + j, n, h + j, n, a->m);
        for (u32 i = 0; i < a->m; i++) w[i] = a->dy[i * n + j];
        a->y3[j] = k_sum(c, w, a->m);
    }
}

static void k_rmsnorm(struct task *a)
{
    struct config *c = &a->c;
    for (u32 i = 0; i < a->m; i++) {
        const float *x = a->x + i * a->n;
        float v = k_dot(c, x, 1, x, 1, a->n) * (bug(c, "no mean") ? 1 : 1 / (float)a->n);
        if (bug(c, "centred")) {
            float m = k_sum(c, x, a->n) / (float)a->n;
            v -= m * m;
        }
        float r = k_rsqrt(c, v + epsilon(c));
        for (u32 j = 0; j < a->n; j++) a->y[i * a->n + j] = c->form % 2 ? x[j] * (r * a->g[j]) : x[j] * r * a->g[j];
    }
}

/* Largest value and sum of exponentials of n values: three passes, or online by tiles. */
static void stats(struct config *c, const float *x, u32 n, float *max, float *sum)
{
    static float p[DATA];
    float m = -INFINITY, l = 0;
    if (bug(c, "no max")) {
        for (u32 i = 0; i < n; i++) p[i] = k_exp(c, x[i]);
        *max = 0;
        *sum = k_sum(c, p, n);
        return;
    }
    u32 tile = c->algorithm < 2 && !bug(c, "no rescale") ? n : bug_of_sums(c) ? n : (u32)c->tile;
    for (u32 at = 0; at < n; at += tile) {
        u32 w = MIN_OF(tile, n - at);
        float to = m;
        for (u32 i = 0; i < w; i++) to = fmaxf(to, x[at + i]);
        for (u32 i = 0; i < w; i++) p[i] = x[at + i] == -INFINITY ? 0 : k_exp(c, x[at + i] - to);
        float scale = m == -INFINITY || bug(c, "no rescale") ? (m == -INFINITY ? 0 : 1) : k_exp(c, m - to);
        l = k_fma(c, l, scale, k_sum(c, p, w));
        m = to;
    }
    *max = m;
    *sum = l;
}

static void k_softmax(struct task *a)
{
    struct config *c = &a->c;
    for (u32 i = 0; i < a->m; i++) {
        float m, l, *x = a->x + i * a->n;
        stats(c, x, a->n, &m, &l);
        for (u32 j = 0; j < a->n && bug(c, "base 2"); j++) l = j ? l + exp2f(x[j] - m) : exp2f(x[j] - m);
        for (u32 j = 0; j < a->n; j++) {
            float e = bug(c, "base 2") ? exp2f(x[j] - m) : k_exp(c, x[j] - m);
            a->y[i * a->n + j] = k_div(c, e, l);
        }
    }
}

static void k_softmax_bwd(struct task *a)
{
    struct config *c = &a->c;
    static float p[DATA];
    for (u32 i = 0; i < a->m; i++) {
        float m, l, *x = a->x + i * a->n, *dy = a->dy + i * a->n;
        stats(c, x, a->n, &m, &l);
        for (u32 j = 0; j < a->n; j++) p[j] = k_div(c, k_exp(c, x[j] - m), l);
        float d = bug(c, "one term") ? 0 : k_dot(c, p, 1, dy, 1, a->n);
        for (u32 j = 0; j < a->n; j++) {
            float *y = &a->y[i * a->n + j];
            *y = bug(c, "no p") ? dy[j] - d : c->form % 2 ? p[j] * dy[j] - p[j] * d : p[j] * (dy[j] - d);
        }
    }
}

static void k_loss(struct task *a)
{
    struct config *c = &a->c;
    for (u32 i = 0; i < a->m; i++) {
        float m, l, *x = a->x + i * a->n;
        u32 t = (u32)a->t[i];
        if (bug(c, "clamp") && a->n > 1) t = MIN_OF(t, a->n - 2);
        if (bug(c, "index+1")) t = MIN_OF(t + 1, a->n - 1);
        stats(c, x, a->n, &m, &l);
        float log_l = bug(c, "log2") ? log2f(l) : k_fn(c, log, l);
        a->y[i] = c->form % 2 ? log_l - (x[t] - m) : log_l + m - x[t];
    }
}

static void k_gelu(struct task *a)
{
    struct config *c = &a->c;
    for (u32 i = 0; i < a->m * a->n; i++) {
        float x = a->x[i], e = k_fn(c, erf, x * 0.70710678f);
        a->y[i] = c->form % 2 ? x * k_fma(c, 0.5f, e, 0.5f) : 0.5f * x * (1 + e);
        if (bug(c, "tanh for erf")) a->y[i] = 0.5f * x * (1 + k_fn(c, tanh, 0.79788456f * (x + 0.044715f * x * x * x)));
        if (bug(c, "sigmoid 1.702")) a->y[i] = x / (1 + k_exp(c, -1.702f * x));
    }
}

static void k_gelu_tanh(struct task *a)
{
    struct config *c = &a->c;
    float k = bug(c, "coefficient") ? 0.04471f : 0.044715f;
    for (u32 i = 0; i < a->m * a->n; i++) {
        float x = a->x[i];
        a->y[i] = 0.5f * x * (1 + k_fn(c, tanh, 0.79788456f * (x + k * x * x * x)));
        if (bug(c, "erf for tanh")) a->y[i] = 0.5f * x * (1 + k_fn(c, erf, x * 0.70710678f));
    }
}

/* x, g, b are queries, keys and values [m, k], [n, k], [n, k]; form 0 and 1 scale before, algorithm 2 and 3 are online.
 */
static void k_attention(struct task *a, bool causal)
{
    struct config *c = &a->c;
    static float s[DATA], p[DATA];
    float scale = 1 / sqrtf((float)a->k);
    if (bug(c, "model width")) scale = 1 / sqrtf((float)a->k * 4);
    if (bug(c, "no scale")) scale = 1;
    int off = bug(c, "mask +1") ? 1 : bug(c, "mask -1") ? -1 : 0;
    for (u32 i = 0; i < a->m; i++) {
        float m, l;
        for (u32 j = 0; j < a->n; j++) {
            s[j] = k_dot(c, a->x + i * a->k, 1, a->g + j * a->k, 1, a->k) * scale;
            bool seen = (int)i + off >= (int)j || (off < 0 && !i && !j) || bug(c, "no mask");
            if (causal && !seen) s[j] = -INFINITY;
        }
        stats(c, s, a->n, &m, &l);
        for (u32 j = 0; j < a->n; j++) p[j] = s[j] == -INFINITY ? 0 : k_exp(c, s[j] - m);
        bool late = c->algorithm % 2; /* divided at the end, as flash attention does */
        for (u32 j = 0; j < a->n && !late; j++) p[j] = k_div(c, p[j], l);
        for (u32 j = 0; j < a->n && bug(c, "p bf16"); j++) p[j] = narrow("bf16", p[j]);
        for (u32 d = 0; d < a->k; d++) {
            float o = k_dot(c, p, 1, a->b + d, a->k, a->n);
            a->y[i * a->k + d] = late && !bug(c, "no divide") ? k_div(c, o, l) : o;
        }
    }
}
static void k_attention_full(struct task *a) { k_attention(a, false); }
static void k_attention_causal(struct task *a) { k_attention(a, true); }

/* ---- families ---- */

static const struct family {
    const char *name, *text;
    const char *in;  /* letters of its arrays: x g b d(y) t; upper case: [n] in place of [m,n] */
    const char *out; /* names of the outputs, by y, y2, y3 */
    void (*run)(struct task *a);
    int shape; /* 0: rows; 1: matmul; 2: attention */
    const char *bugs[14];
    const char
        *labels; /* of these bugs, one letter each: f s p(ermuted) m(issing part) v x(precision) w(not written) n */
} families[] = {
    { "matmul",
      "y = x @ g",
      "xg",
      "y",
      k_matmul,
      1,
      { "drop last", "drop first", "drop tail 32", "pow2 tree", "one warp", "double count", "f16 acc", "bf16 acc",
        "tf32", "bf16 in", "x32", "missing tile", "transposed" },
      "mmmmmmxxxxfwp" },
    { "layernorm",
      "y = layernorm(x, g, b, 1e-5)",
      "xGB",
      "y",
      k_layernorm,
      0,
      { "drop last", "drop tail 32", "pow2 tree", "one warp", "double count", "f16 acc", "eps 1e-6", "eps outside",
        "one pass", "n-1", "no bias", "no gain", "row stat" },
      "mmmmmxvvxvvvp" },
    { "layernorm bwd",
      "y, y2, y3 = grad(layernorm(x, g, b, 1e-5), d, x, g, b)",
      "xGBd",
      "y y2 y3",
      k_layernorm_bwd,
      0,
      { "no 1/n", "no c1", "no c2", "eps 1e-6" },
      "vvvv" },
    { "rmsnorm",
      "y = x * rsqrt(mean(x*x, -1, keep) + 1e-5) * g",
      "xG",
      "y",
      k_rmsnorm,
      0,
      { "eps 1e-6", "no mean", "centred", "drop last", "f16 acc" },
      "vvvmx" },
    { "softmax",
      "y = softmax(x, -1)",
      "x",
      "y",
      k_softmax,
      0,
      { "no rescale", "base 2", "drop last", "drop tail 32", "f16 acc" },
      "vvmmx" },
    { "softmax bwd", "y = grad(softmax(x, -1), d, x)", "xd", "y", k_softmax_bwd, 0, { "one term", "no p" }, "vv" },
    { "token loss", "y = token_loss(x, t)", "xt", "y", k_loss, 0, { "clamp", "index+1", "log2", "drop last" }, "ssvm" },
    { "gelu", "y = gelu(x)", "x", "y", k_gelu, 0, { "tanh for erf", "sigmoid 1.702" }, "vv" },
    { "gelu tanh", "y = gelu_tanh(x)", "x", "y", k_gelu_tanh, 0, { "erf for tanh", "coefficient" }, "vv" },
    { "attention",
      "y = attention(x, g, b)",
      "xgb",
      "y",
      k_attention_full,
      2,
      { "model width", "no scale", "no divide", "p bf16", "tf32", "drop last" },
      "vvvxxm" },
    { "attention causal",
      "y = softmax(einsum(\"id,jd->ij\", x, g) * (1/sqrt(D)) + causal, -1) @ b",
      "xgb",
      "y",
      k_attention_causal,
      2,
      { "mask +1", "mask -1", "no mask" },
      "ssv" },
};

/* ---- cases ---- */

enum { KINDS = 12 };
static const char *const kinds[KINDS] = { "normal",   "offset", "small",    "tiny",   "huge", "mixed",
                                          "constant", "sorted", "positive", "sparse", "two",  "denormal" };
static const char *const stores[] = { "f32", "f16", "bf16" };

static double number(u64 *r, u32 kind, u32 i, u32 n, bool half)
{
    double p = (double)(2 * (rand_next(r) >> 12) + 1) * 0x1p-53, q = (double)(rand_next(r) >> 11) * 0x1p-53;
    double x = fill_quantile(p);
    switch (kind) {
    case 1: return x + (half ? 100 : 1000);
    case 2: return x * 1e-3;
    case 3: return x * (half ? 1e-6 : 1e-20);
    case 4: return x * (half ? 1e3 : 1e12);
    case 5: return copysign(pow(10, -4 + q * (half ? 7 : 8)), x);
    case 6: return 0.1;
    case 7: return 6 * ((double)i / n - 0.5);
    case 8: return 0.5 + q;
    case 9: return q < 0.05 ? x * 10 : 0;
    case 10: return q < 0.5 ? 0.1 : 0.7;
    case 11: return x * (half ? 1e-7 : 1e-41);
    default: return x;
    }
}

static void fill_array(float *x, u32 rows, u32 n, u32 kind, const char *store, u64 *r)
{
    bool half = !strcmp(store, "f16");
    for (u32 i = 0; i < rows * n; i++) {
        double v = number(r, kind, i % n, n, half);
        x[i] = narrow(store, (float)(half ? fmax(-6e4, fmin(6e4, v)) : v));
    }
}

struct run { /* one case, run and judged */
    struct try t;
    struct oracle_given y[3];
    double worst, suspect; /* largest ratios */
    bool changed;          /* a bug changed the output */
};

static void sizes(struct task *a, const struct family *f, u64 *r, bool odd)
{
    static const u32 lengths[] = { 1, 2, 3, 7, 31, 32, 33, 64, 100, 255, 1000, 1024 }, odds[] = { 33, 100, 255, 1000 };
    u32 n = odd ? odds[rand_next(r) >> 40 & 3] : lengths[(rand_next(r) >> 33) % COUNT_OF(lengths)];
    a->m = odd ? ROWS : 1 + (u32)(rand_next(r) >> 33) % ROWS;
    a->n = n;
    a->k = 0;
    if (f->shape == 1) {
        a->k = MIN_OF(n, 500u);
        a->n = a->m = 5;
        if (odd) a->n = a->m = a->k = 16 + (u32)(rand_next(r) >> 33) % 20;
        if (a->k * a->n > DATA) a->k = DATA / a->n;
    } else if (f->shape == 2) {
        a->m = a->n = MIN_OF(n, 48u);
        a->k = 16;
    }
}

static u8 *stored(struct run *z, const char *store, const float *y, u64 n)
{
    const struct scalar *t = scalar_find(str_of(store));
    u8 *out = arena_alloc(&z->t.mem, n * t->bytes + 8, 8);
    for (u64 i = 0; i < n; i++) scalar_store(t, y[i], out + i * t->bytes);
    return out;
}

static void add_array(struct run *z, char letter, u32 rows, u32 n, const float *x, const char *store)
{
    char spec[64];
    static double wide[DATA];
    bool vector = letter >= 'A' && letter <= 'Z';
    char name = vector ? (char)(letter - 'A' + 'a') : letter;
    for (u32 i = 0; i < (vector ? n : rows * n); i++) wide[i] = x[i];
    if (vector)
        snprintf(spec, sizeof spec, "%c %s[%u]", name, store, n);
    else
        snprintf(spec, sizeof spec, "%c %s[%u,%u]", name, store, rows, n);
    try_input(&z->t, spec, wide);
}

/* Runs a family's kernel with a bug or without, and evaluates its oracle. */
static bool run_case(const struct family *f, u64 seed, const char *bug_name, u32 kind, const char *store, struct run *z)
{
    static struct task a, good;
    u64 r = seed * 2654435761u + 99;
    u32 outs = 0;
    *z = (struct run){ 0 };
    a.c = config_new(seed, bug_name, strcmp(store, "f32") != 0);
    sizes(&a, f, &r, bug_name[0] != 0);
    u32 rows = f->shape == 1 ? a.m : a.m, wide = f->shape == 0 ? a.n : a.k;
    fill_array(a.x, rows, wide, kind, store, &r);
    fill_array(a.g,
               f->shape == 1   ? a.k
               : f->shape == 2 ? a.n
                               : 1,
               f->shape == 1 ? a.n : wide, f->shape ? kind : 0, store, &r);
    fill_array(a.b, f->shape == 2 ? a.n : 1, wide, f->shape ? kind : 0, store, &r);
    fill_array(a.dy, rows, wide, 0, store, &r);
    for (u32 i = 0; i < a.m; i++) a.t[i] = i ? (float)((rand_next(&r) >> 33) % a.n) : (float)(a.n - 1);
    for (const char *p = f->in; *p; p++) {
        static double index[64];
        for (u32 i = 0; i < a.m; i++) index[i] = a.t[i];
        char spec[32];
        snprintf(spec, sizeof spec, "t i32[%u]", a.m);
        if (*p == 't') try_input(&z->t, spec, index);
        if (*p == 'x') add_array(z, 'x', rows, wide, a.x, store);
        if (*p == 'g') add_array(z, 'g', f->shape == 1 ? a.k : a.n, f->shape == 1 ? a.n : wide, a.g, store);
        if (*p == 'b') add_array(z, 'b', a.n, wide, a.b, store);
        if (*p == 'G') add_array(z, 'G', 1, wide, a.g, store);
        if (*p == 'B') add_array(z, 'B', 1, wide, a.b, store);
        if (*p == 'd') add_array(z, 'd', rows, wide, a.dy, store);
    }
    try_number(&z->t, "D", a.k);
    good = a;
    f->run(&a);
    good.c = config_new(seed, "", strcmp(store, "f32") != 0);
    if (bug_name[0]) f->run(&good);
    static const char *const names[] = { "y", "y2", "y3" };
    struct try shape = z->t; /* once without outputs, for their shapes */
    shape.o = NULL;
    if (!UNIT(try_read(&shape, f->text))) return false;
    z->t.mem = shape.mem; /* one arena, which has grown */
    float *y[] = { a.y, a.y2, a.y3 }, *right[] = { good.y, good.y2, good.y3 };
    for (; outs < oracle_outputs(shape.o); outs++) {
        struct oracle_output d = oracle_output(shape.o, outs);
        u64 n = 1;
        for (u32 i = 0; i < d.shape.rank; i++) n *= d.shape.dim[i];
        z->t.name[z->t.n] = (struct oracle_name){
            .name = names[outs], .type = scalar_find(str_of(store)), .shape = d.shape, .out = true
        };
        z->t.data[z->t.n++] = NULL;
        static const float poison = POISON;
        z->y[outs].bytes = stored(z, store, y[outs], n);
        if (strcmp(store, "f16")) z->y[outs].poison = stored(z, store, &poison, 1); /* which is an infinity in f16 */
        z->changed |= memcmp(y[outs], right[outs], n * sizeof(float)) != 0;
    }
    if (!UNIT(try_text(&z->t, f->text))) return false;
    for (u32 i = 0; i < outs; i++) {
        struct oracle_judgement j;
        if (!oracle_judge(z->t.o, &z->t.r, i, &z->y[i], &j, &z->t.e)) return false;
        z->worst = fmax(z->worst, j.ratio);
        z->suspect = fmax(z->suspect, j.suspect || j.wrong ? 2 : 0);
    }
    return true;
}

static void correct_kernels(u32 scale)
{
    u32 cases = 0, above = 0, suspect = 0;
    double most = 0;
    for (u32 f = 0; f < COUNT_OF(families); f++)
        for (u32 i = 0; i < scale * KINDS * 3; i++) {
            struct run z;
            const char *store = stores[i / KINDS % 3];
            if (!run_case(&families[f], f * 100003 + i, "", i % KINDS, store, &z)) continue;
            cases++;
            above += z.worst > 1;
            suspect += z.suspect > 1;
            most = fmax(most, z.worst);
            if (!UNIT(z.worst <= 1))
                fprintf(stderr, "  %s %s %s seed %u: %.3g times the bound\n", families[f].name, kinds[i % KINDS], store,
                        f * 100003 + i, z.worst);
            try_end(&z.t);
        }
    printf("correct kernels: %u cases, %u above the worst-case bound (at most %.2f of it), %u suspect\n", cases, above,
           most, suspect);
    UNIT(suspect * 100 <= cases); /* a note is rare: 1 of 3,906 in the prototype */
}

static enum oracle_label label_of(char letter)
{
    static const char letters[] = "?wnfspmvx";
    return (enum oracle_label)(strchr(letters, letter) - letters);
}

static void planted_bugs(u32 scale)
{
    static const u32 inputs[] = { 0, 1, 2, 3, 5, 8 };
    u32 bugs = 0, found = 0, runs = 0, shown = 0, named = 0, right = 0, asked = 0;
    for (u32 f = 0; f < COUNT_OF(families); f++)
        for (u32 b = 0; b < COUNT_OF(families[f].bugs) && families[f].bugs[b]; b++) {
            u32 hits = 0, tries = 0, names = 0;
            for (u32 i = 0; i < scale * 12; i++) {
                struct run z;
                if (!run_case(&families[f], (f * 100 + b) * 1009 + i, families[f].bugs[b], inputs[i % 6],
                              i % 12 < 8 ? "f32" : "bf16", &z))
                    continue;
                tries += z.changed;
                hits += z.changed && z.worst > 1;
                if (z.changed && z.worst > 1 && names < 3 && i % 12 < 8) {
                    struct oracle_explanation x;
                    names++;
                    asked++;
                    UNIT(oracle_classify(z.t.o, &z.t.how, z.t.data, z.y, &x, &z.t.e));
                    bool fits = x.label == label_of(families[f].labels[b]);
                    if (x.label == ORACLE_FACTOR && label_of(families[f].labels[b]) == ORACLE_VARIANT) fits = true;
                    named += x.label != ORACLE_UNNAMED && x.sure;
                    right += fits && x.sure;
                    if (getenv("NAMES"))
                        printf("    %-16s %-14s %-9s %s: %s%s\n", families[f].name, families[f].bugs[b],
                               kinds[inputs[i % 6]], oracle_label_name(x.label), x.what, fits ? "" : "   <-- no");
                }
                try_end(&z.t);
            }
            bugs++;
            found += hits > 0;
            runs += tries;
            shown += hits;
            if (!hits) printf("  never found: %s, %s (%u runs)\n", families[f].name, families[f].bugs[b], tries);
        }
    printf("planted bugs: %u of %u found; %u of %u runs show them\n", found, bugs, shown, runs);
    printf("names: %u of %u runs are named, %u of these rightly\n", named, asked, right);
    UNIT(found == bugs);
    UNIT(right * 10 >= named * 9);
    UNIT(named * 10 >= asked * 6);
}

int main(int argc, char **argv)
{
    u32 scale = argc > 1 ? (u32)strtoul(argv[1], NULL, 10) : 1;
    correct_kernels(scale);
    planted_bugs(scale);
    return unit_done();
}
