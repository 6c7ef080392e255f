/* Oracles as texts: gradients of whole texts against differences, texts of published kernels, outputs by name, words of
 * accumulation, and the verdict over outputs made for it. */
#include "oracle_try.h"

/* ---- gradients of texts ---- */

static const struct text_case { /* inputs by letter: x y [3,4], a [2,3,4], b [4,5], q [2,5,4], w [4,3,3,3], i [2,3,6,7],
                                   t [3] */
    const char *text, *of;
} gradients[] = {
    { "layernorm(x, v, v, 1e-5)", "x v" },
    { "softmax(x, -1) * y", "x y" },
    { "rmsnorm(x, v, 1e-5)", "x v" },
    { "gelu(x) + gelu_tanh(y)", "x y" },
    { "silu(x) + relu(x) + log1p(x*x) + sqrt(x*x + 1)", "x" },
    { "token_loss(x, t)", "x" },
    { "gather(x, t) * y", "x y" },
    { "scatter_add(x, t, 7)", "x" },
    { "conv2d(i, w, 2, 1)", "i w" },
    { "attention_causal(q, q * 0.5, q)", "q" },
    { "a @ b", "a b" },
    { "x*v + x/v - v", "x v" },
    { "cumsum(x*x, 1)[:, 1:]", "x" },
    { "max(x, 1)*2 + min(x, 1)", "x" },
    { "concat(sin(x[:, :2]), cos(x[:, 2:]), 1)", "x" },
    { "where(x > 0, x**3, abs(x)**1.5)", "x" },
    { "T(reshape(flip(x, 1), 4, 3)) * exp(-x)", "x" },
    { "log_softmax(x, 0) + var(x, 1, keep) + tanh(x)", "x" },
    { "minimum(maximum(x, -0.5), 0.5) + rsqrt(x*x + 1)", "x" },
    { "cross_entropy(x, t) + mse(x, y) + logsumexp(x, 1)", "x y" },
    { "roll(x, 1, 0) * pad(x, 1, 1, 0)[:, 1:] + softplus(x)", "x" },
};
static const struct {
    const char *name, *spec;
    u32 n;
} arrays[] = {
    { "x", "x f64[3,4]", 12 },      { "y", "y f64[3,4]", 12 },      { "v", "v f64[4]", 4 },
    { "a", "a f64[2,3,4]", 24 },    { "b", "b f64[4,5]", 20 },      { "q", "q f64[2,5,4]", 40 },
    { "w", "w f64[4,3,3,3]", 108 }, { "i", "i f64[2,3,6,7]", 252 },
};
static double contents[COUNT_OF(arrays)][256];

static void all_inputs(struct try *t)
{
    static const double index[] = { 2, 0, 2 };
    for (u32 k = 0; k < COUNT_OF(arrays); k++) try_input(t, arrays[k].spec, contents[k]);
    try_input(t, "t i32[3]", index);
}

static double loss(const char *text)
{
    struct try t = { 0 };
    double sum = 0;
    all_inputs(&t);
    if (UNIT(try_text(&t, text)))
        for (u64 i = 0; i < t.r.array[0].count; i++) sum += t.r.array[0].value[i] * sin((double)i + 1);
    try_end(&t);
    return sum;
}

static void test_gradients(void)
{
    for (u32 c = 0; c < COUNT_OF(gradients); c++) {
        const struct text_case *g = &gradients[c];
        struct try t = { 0 };
        char line[400];
        double dy[512], far = 0;
        for (u32 k = 0; k < COUNT_OF(arrays); k++) try_random(k + 17, -1.5, 1.5, contents[k], arrays[k].n);
        struct try shape = { 0 };
        all_inputs(&shape);
        if (!UNIT(try_text(&shape, g->text))) continue;
        struct oracle_output d = oracle_output(shape.o, 0);
        char spec[100] = "g f64";
        for (u32 i = 0; i < d.shape.rank; i++)
            snprintf(spec + strlen(spec), sizeof spec - strlen(spec), "%c%u", i ? ',' : '[', (u32)d.shape.dim[i]);
        if (d.shape.rank) strcat(spec, "]");
        try_end(&shape);
        for (u32 i = 0; i < COUNT_OF(dy); i++) dy[i] = sin((double)i + 1);
        all_inputs(&t);
        try_input(&t, spec, dy);
        for (const char *p = g->of; *p; p += p[1] == ' ' ? 2 : 1) {
            snprintf(line, sizeof line, "z%c = grad(%s, g, %c)", *p, g->text, *p);
            if (!UNIT(try_read(&t, line))) fprintf(stderr, "  %s: %s\n", line, t.e.text);
        }
        UNIT(oracle_evaluate(t.o, &t.how, t.data, &t.r, &t.e));
        for (u32 o = 0; o < t.r.n; o++)
            for (u32 k = 0; k < COUNT_OF(arrays); k++) {
                if (arrays[k].name[0] != oracle_output(t.o, o).name[1]) continue;
                for (u32 i = 0; i<arrays[k].n; i += arrays[k].n> 40 ? 7 : 1) {
                    double kept = contents[k][i], h = 1e-5;
                    contents[k][i] = kept + h;
                    double up = loss(g->text);
                    contents[k][i] = kept - h;
                    double down = loss(g->text);
                    contents[k][i] = kept;
                    double slope = (up - down) / (2 * h);
                    far = fmax(far, fabs(slope - t.r.array[o].value[i]) / (1 + fabs(slope)));
                }
            }
        if (!UNIT(far < 1e-6)) fprintf(stderr, "  %s: gradient off by %g\n", g->text, far);
        try_end(&t);
    }
}

/* ---- published kernels, one line each ---- */

static void test_lines(void)
{
    static const char *const lines[] = {
        "concat(x[..., :2]*v[:2] - x[..., 2:]*v[2:], x[..., 2:]*v[:2] + x[..., :2]*v[2:], -1)", /* rope */
        "silu(x @ b) * (y @ b)",                                                                /* swiglu */
        "m = 0.9*x + (1-0.9)*y; s = 0.999*x*x + (1-0.999)*y*y; p = x - 0.001*(m/(1-0.9**10) / "
        "(sqrt(s/(1-0.999**10)) + 1e-8) + 0.01*x)",
        "k = reshape(broadcast(reshape(q, 2, 1, 5, 4), 2, 3, 5, 4), 6, 5, 4); softmax(k @ T(k) * 0.5 + causal, -1) "
        "@ k",                                                        /* GQA */
        "k = reshape(gather(x, t), 6, 2); softmax(k @ T(k), -1) @ k", /* paged */
        "i = reshape(iota(5), 5, 1); j = iota(5); softmax(where((i >= j) & (i - j < 3), q @ T(q) - 0.5*(i - j), "
        "-inf), -1) @ q",
        "x @ (reshape(reshape(b, 2, 2, 5) * reshape(b[:2], 2, 1, 5), 4, 5))", /* scales by group */
        "d = x - mean(x, 0, keep); d * rsqrt(mean(d*d, 0, keep) + 1e-5) * v + v",
        "via(softmax(q @ T(q) * 0.5, -1), bf16) @ q",
        "p = exp(log_softmax(x, -1)); mean(-(1 - pick(p, t))**2 * pick(log_softmax(x, -1), t), -1)",
        "argmax(x / 0.7, -1)",
        "cumsum(x, 1) / (iota(4) + 1)",
        "einsum(\"td,tdf->tf\", x, gather(broadcast(b, 3, 4, 5), t))", /* an expert for each row */
        "where(abs(x - y) < 1, 0.5*(x - y)**2, abs(x - y) - 0.5)",
        "round(clamp(x / 0.1, -127, 127)) * 0.1",
        "iota(12) % 4 + floor(iota(12) / 4)",
    };
    u32 ok = 0;
    for (u32 i = 0; i < COUNT_OF(lines); i++) {
        struct try t = { 0 };
        for (u32 k = 0; k < COUNT_OF(arrays); k++) try_random(k + 3, 0.2, 1.5, contents[k], arrays[k].n);
        all_inputs(&t);
        bool read = try_read(&t, lines[i]) && oracle_evaluate(t.o, &t.how, t.data, &t.r, &t.e);
        if (!read) fprintf(stderr, "  %s: %s\n", lines[i], t.e.text);
        ok += read;
        try_end(&t);
    }
    UNIT_EQ(ok, COUNT_OF(lines));
}

/* ---- names ---- */

static void test_names(void)
{
    struct try t = { 0 };
    static const double x[] = { 1, 2, 3, 4 };
    try_input(&t, "p f32[4]", x); /* inout: the old contents until the text defines it */
    t.name[0].out = true;
    try_input(&t, "g f32[4]", x);
    UNIT(try_text(&t, "p = p - 0.5 * g; r = p"));
    UNIT_EQ(oracle_outputs(t.o), 1);
    UNIT_EQ_STR(oracle_output(t.o, 0).name, "p");
    UNIT(t.r.array[0].value[3] == 2 && t.r.array[0].exact && t.r.array[0].worst[3] == 0);
    try_end(&t);
    try_input(&t, "x f32[2,2]", x); /* a bare name: that definition of the arrays that are given */
    t.name[1] = (struct oracle_name){ .name = "y", .type = t.name[0].type, .shape = t.name[0].shape, .out = true };
    t.n = 2;
    UNIT(try_text(&t, "softmax"));
    UNIT(fabs(t.r.array[0].value[0] - 1 / (1 + exp(1))) < 1e-12);
    try_end(&t);
    try_input(&t, "x f32[2,2]", x);
    t.name[1] = (struct oracle_name){ .name = "y", .type = t.name[0].type, .shape = { 1, { 2 } }, .out = true };
    t.n = 2;
    UNIT(!try_read(&t, "y = x * 2"));
    UNIT_HAS(t.e.text, "y is [2], and this expression gives [2,2]");
    try_end(&t);
    struct oracle_options how = { 0 };
    struct error e = { 0 };
    struct str words = STR("bf16 tree 128 fast");
    UNIT(oracle_options_read(&how, "c", words, words, &e) && how.tree == 128 && how.fast &&
         !strcmp(how.accumulate, "bf16"));
    words = STR("tree x");
    UNIT(!oracle_options_read(&how, "c", words, words, &e));
}

/* ---- the verdict ---- */

struct verdict_case {
    double y[4];
    const char *type;
    enum oracle_verdict verdict;
    u64 wrong, unwritten, not_finite;
    const char *place;
};

static void test_verdicts(void)
{
    static const double x[] = { 1, 1e20, 0.5, 3 };
    static const struct verdict_case cases[] = {
        { { 2, 1e40, 1, 6 }, "f64", ORACLE_PASS, 0, 0, 0, "" },
        { { 2, INFINITY, 1, 6 }, "f32", ORACLE_PASS, 0, 0, 0, "" }, /* 1e40 may overflow: not judged */
        { { 2, INFINITY, 1.000001, 6 }, "f32", ORACLE_WRONG, 1, 0, 0, "axis 0: 2" },
        { { NAN, INFINITY, 1, 6 }, "f32", ORACLE_WRONG, 1, 0, 1, "axis 0: 0" },
        { { 2, 1, -99, -99 }, "f32", ORACLE_WRONG, 2, 2, 0, "axis 0: 2..3 (up to the last)" },
        { { 0, 1, 0, 0 }, "f32", ORACLE_WRONG, 3, 0, 0, "axis 0: 0..3 (some)" },
    };
    for (u32 i = 0; i < COUNT_OF(cases); i++) {
        const struct verdict_case *c = &cases[i];
        struct try t = { 0 };
        char spec[32];
        const struct scalar *type = scalar_find(str_of(c->type));
        u8 y[4 * 8], poison[8];
        struct oracle_judgement j;
        snprintf(spec, sizeof spec, "x %s[4]", c->type);
        try_input(&t, spec, x);
        t.name[1] = (struct oracle_name){ .name = "y", .type = type, .shape = { 1, { 4 } }, .out = true };
        t.n = 2;
        for (u32 k = 0; k < 4; k++) scalar_store(type, c->y[k], y + k * type->bytes);
        scalar_store(type, -99, poison);
        if (!UNIT(try_text(&t, "y = where(x > 1e10, x * x, x + x)"))) continue;
        UNIT(oracle_judge(t.o, &t.r, 0, &(struct oracle_given){ .bytes = y, .poison = poison }, &j, &t.e));
        UNIT_EQ(j.verdict, c->verdict);
        UNIT_EQ(j.wrong, c->wrong);
        UNIT_EQ(j.unwritten, c->unwritten);
        UNIT_EQ(j.not_finite, c->not_finite);
        UNIT_EQ_STR(j.place, c->place);
        UNIT_EQ(j.overflow, type->bytes == 4);
        try_end(&t);
    }
}

/* An infinity times what may have underflowed to zero is NaN in a kernel of f32: neither is wrong. */
static void test_doubtful(void)
{
    static const double x[] = { -200, -20, 1, -200 }, y[] = { INFINITY, INFINITY, -INFINITY, 2 };
    static const struct {
        const char *text;
        u8 unknown[4];
    } cases[] = {
        { "exp(x) * y", { ORACLE_ILL, ORACLE_KNOWN, ORACLE_KNOWN, ORACLE_KNOWN } },
        { "y * exp(x)", { ORACLE_ILL, ORACLE_KNOWN, ORACLE_KNOWN, ORACLE_KNOWN } },
        { "(exp(x) - exp(x)) * y", { ORACLE_ILL, ORACLE_ILL, ORACLE_ILL, ORACLE_KNOWN } },
        { "broadcast(einsum(\"i,i->\", exp(x[0:1]), y[0:1]), 4)", { ORACLE_ILL, ORACLE_ILL, ORACLE_ILL, ORACLE_ILL } },
        { "broadcast(einsum(\"i,i->\", x[0:1], y[0:1]), 4)", { ORACLE_KNOWN } },
        /* and zero times what may have overflowed */
        { "(x - x) * exp(x * -0.44)", { ORACLE_OVERFLOW, ORACLE_KNOWN, ORACLE_KNOWN, ORACLE_OVERFLOW } },
    };
    for (u32 i = 0; i < COUNT_OF(cases); i++) {
        struct try t = { 0 };
        try_input(&t, "x f32[4]", x);
        try_input(&t, "y f32[4]", y);
        if (!UNIT(try_text(&t, cases[i].text))) continue;
        for (u32 k = 0; k < 4; k++) UNIT_EQ(t.r.array[0].unknown[k], cases[i].unknown[k]);
        try_end(&t);
    }
}

int main(void)
{
    test_doubtful();
    test_gradients();
    test_lines();
    test_names();
    test_verdicts();
    return unit_done();
}
