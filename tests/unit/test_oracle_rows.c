/* Every row of oracle.def: its value over doubles and over double-doubles, which share no function; its gradient
 * against differences; its bound against perturbed operands and against rounding. A map is tested by its name alone, so
 * a new one is tested without a change here; another row needs a text below, and is reported where it has none. */
#include "oracle_try.h"
#include "oracle/oracle_graph.h"

/* Texts over x [3,4], y [3,4], w [3,4], all between 0.3 and 0.9, i [3] of whole numbers up to 2, m [4,3]. */
static const char *text_of(enum oracle_op op, char *out, size_t size)
{
    switch (op) {
    case OX_input: return "x";
    case OX_const: return "x * 0.7";
    case OX_iota: return "x * (iota(4) + 1)";
    case OX_via: return "via(x, bf16)";
    case OX_cast: return "cast(x, bf16)";
    case OX_within: return "within(x, 0, 1)";
    case OX_off: return "off(x, 2)";
    case OX_leads: return NULL; /* only gradients have it: those of max and min */
    case OX_reshape: return "reshape(x, 2, 6) * 2";
    case OX_transpose: return "T(x) * m";
    case OX_broadcast: return "broadcast(reshape(x, 3, 1, 4), 3, 5, 4)";
    case OX_slice: return "x[1:, ::2]";
    case OX_place: return "pad(x, 1, 2, 1)";
    case OX_flip: return "flip(x, 1) * y";
    case OX_concat: return "concat(x, y * 2, x, 1)";
    case OX_gather: return "gather(x, i) * y";
    case OX_pick: return "pick(x, i)";
    case OX_unfold: return "conv2d(reshape(x, 1, 1, 3, 4), reshape(y[:2, :2], 1, 1, 2, 2), 1, 1)";
    case OX_sum: return "sum(x, 0) + sum(y, 1, keep)";
    case OX_scatter_add: return "scatter_add(x, i, 5)";
    case OX_fold: return NULL; /* only gradients have it: that of unfold is the text */
    case OX_cumsum: return "cumsum(x, 1) + cumsum(y, 0)";
    case OX_einsum: return "einsum(\"ij,kj->ik\", x, y) + einsum(\"ij->i\", w)";
    case OX_max: return "max(x, 1, keep) * y";
    case OX_min: return "min(x, 0) * y";
    case OX_argmax: return "argmax(x, 1)";
    case OX_argmin: return "argmin(x, 0)";
    case OX_prod: return "prod(x, 1, keep) + prod(y, 0, keep) * sum(w)";
    case OX_others: return NULL; /* in the gradient of prod */
    case OX_cumprod: return "cumprod(x, 1) * y";
    case OX_cumprod_back: return NULL; /* in the gradient of cumprod */
    case OX_cummax: return "cummax(x, 1)";
    case OX_cummin: return "cummin(x, 0)";
    case OX_sort: return "sort(x, 1)";
    case OX_argsort: return "argsort(x, 0)";
    case OX_scatter_max: return "maximum(scatter_max(x, i, 4), 0)";
    case OX_bitand: return "bitand(floor(x * 10), 6)";
    case OX_bitor: return "bitor(floor(x * 10), 6)";
    case OX_bitxor: return "bitxor(floor(x * 10), 6)";
    case OX_shl: return "shl(floor(x * 10), 2)";
    case OX_shr: return "shr(floor(x * 10), 1)";
    default: break;
    }
    const char *name = oracle_rows[op].name;
    if (oracle_rows[op].family != ORACLE_MAP) return "";
    snprintf(out, size, "%s(%s)", name,
             oracle_rows[op].operands == 1   ? "x"
             : oracle_rows[op].operands == 2 ? "x, y"
                                             : "x > 0.5, y, w");
    return out;
}

static double cells[5][16];

static void inputs(struct try *t, const char *type)
{
    static const char *const names[] = { "x", "y", "w" };
    char spec[32];
    static const double index[] = { 2, 0, 2 };
    for (u32 k = 0; k < 3; k++) {
        snprintf(spec, sizeof spec, "%s %s[3,4]", names[k], type);
        try_input(t, spec, cells[k]);
    }
    try_input(t, "i i32[3]", index);
    snprintf(spec, sizeof spec, "m %s[4,3]", type);
    try_input(t, spec, cells[3]);
}

/* Doubles use the C library, double-doubles their own series: both must say the same. */
static void test_value(const char *name, const char *text)
{
    struct try a = { 0 }, b = { .how.accumulate = "f64" };
    inputs(&a, "f32");
    inputs(&b, "f32");
    if (UNIT(try_text(&a, text) && try_text(&b, text)))
        for (u64 i = 0; i < a.r.array[0].count; i++) {
            double x = a.r.array[0].value[i], y = b.r.array[0].value[i];
            if (!UNIT(fabs(x - y) <= 4e-15 * fabs(y) + 1e-300)) fprintf(stderr, "  %s: %.17g and %.17g\n", name, x, y);
        }
    try_end(&a);
    try_end(&b);
}

static double loss(const char *text, const double *dy)
{
    struct try t = { 0 };
    double sum = 0;
    inputs(&t, "f64");
    if (UNIT(try_text(&t, text)))
        for (u64 i = 0; i < t.r.array[0].count; i++) sum += t.r.array[0].value[i] * dy[i];
    try_end(&t);
    return sum;
}

/* dx, dy, dw of the sum of text * g, against central differences. */
static void test_gradient(const char *name, const char *text)
{
    struct try t = { 0 };
    static double dy[256];
    char line[300], spec[200] = "g f64";
    try_random(7, -1, 1, dy, COUNT_OF(dy));
    inputs(&t, "f64");
    struct try shape = { 0 };
    inputs(&shape, "f64");
    if (!UNIT(try_text(&shape, text))) return;
    oracle_shape_text(
        &(struct oracle_shape){ oracle_output(shape.o, 0).shape.rank,
                                { oracle_output(shape.o, 0).shape.dim[0], oracle_output(shape.o, 0).shape.dim[1],
                                  oracle_output(shape.o, 0).shape.dim[2], oracle_output(shape.o, 0).shape.dim[3] } },
        spec + 5, sizeof spec - 5);
    try_end(&shape);
    try_input(&t, spec, dy);
    snprintf(line, sizeof line, "dx, dy, dw = grad(%s, g)", text);
    if (UNIT(try_text(&t, line)))
        for (u32 k = 0; k < 3; k++)
            for (u32 i = 0; i < 12; i++) {
                double kept = cells[k][i], h = 1e-5;
                cells[k][i] = kept + h;
                double up = loss(text, dy);
                cells[k][i] = kept - h;
                double down = loss(text, dy), slope = (up - down) / (2 * h), is = t.r.array[k].value[i];
                cells[k][i] = kept;
                if (!UNIT(fabs(slope - is) <= 1e-7 * (1 + fabs(slope))))
                    fprintf(stderr, "  %s: gradient %u at %u is %.12g, differences say %.12g\n", name, k, i, is, slope);
            }
    try_end(&t);
}

/* Operands rounded to bf16 may be anything that is so near: the value of any of them lies within the bound. */
static void test_bound(const char *name, const char *text)
{
    char rounded[300];
    struct try t = { 0 };
    u64 state = 99;
    inputs(&t, "f32");
    snprintf(rounded, sizeof rounded,
             "def f(x, y, w, m) = %s; f(via(x, bf16), via(y, bf16), via(w, bf16), via(m, bf16))", text);
    if (!UNIT(try_text(&t, rounded))) return;
    for (u32 round = 0; round < 40; round++) {
        struct try s = { 0 };
        double kept[5][16];
        memcpy(kept, cells, sizeof kept);
        for (u32 k = 0; k < 4; k++)
            for (u32 i = 0; i < 12; i++) {
                double by = round < 8 ? (rand_next(&state) & 1 ? 1 : -1)
                                      : (double)(rand_next(&state) >> 11) * 0x1p-52 - 1;
                cells[k][i] *= 1 + by * (0x1p-8 - 0x1p-20); /* rounding to f32 has its room */
            }
        inputs(&s, "f64");
        s.how.accumulate = "f32";
        if (UNIT(try_text(&s, text)))
            for (u64 i = 0; i < s.r.array[0].count; i++) {
                double far = fabs((double)(float)s.r.array[0].value[i] - t.r.array[0].value[i]);
                bool ok = t.r.array[0].unknown[i] || far <= t.r.array[0].worst[i];
                if (!UNIT(ok))
                    fprintf(stderr, "  %s: %.9g off at %u, bound %.9g\n", name, far, (u32)i, t.r.array[0].worst[i]);
            }
        memcpy(cells, kept, sizeof kept);
        try_end(&s);
    }
    try_end(&t);
}

int main(void)
{
    for (u32 k = 0; k < 4; k++) try_random(k + 1, 0.3, 0.9, cells[k], 12);
    for (u32 k = 0; k < 4; k++)
        for (u32 i = 0; i < 12; i++) cells[k][i] = (float)cells[k][i];
    for (u32 op = 0; op < OX_COUNT; op++) {
        char made[200];
        const char *name = oracle_rows[op].name, *text = text_of(op, made, sizeof made);
        if (!text) continue;
        if (!UNIT(text[0])) fprintf(stderr, "  row %s has no text in this test\n", name);
        if (!text[0]) continue;
        test_value(name, text);
        if (op == OX_free) continue; /* which has no gradient and no error by intent */
        bool none = !strcmp(oracle_rows[op].gradient, "none") || op == OX_cast; /* which is straight through */
        if (!none || op == OX_argmax || op == OX_argmin) test_gradient(name, text);
        test_bound(name, text);
    }
    return unit_done();
}
