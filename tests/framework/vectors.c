/* Vectors: element by element, in the sizes and the ways of giving arguments that frameworks use. */
#include "suite.h"

/* a + b of n elements with a kernel of floats, arguments as values. */
static void add_sizes(int n)
{
    float *a = room(4u * (unsigned)n + 4), *b = room(4u * (unsigned)n + 4), *c = room(4u * (unsigned)n + 4);
    floats(a, n, 1);
    floats(b, n, 2);
    for (int i = 0; i < n; i++) c[i] = a[i] + b[i];
    uint64_t bytes = 4u * (unsigned)n, da = buffer(bytes, a), db = buffer(bytes, b), dc = buffer(bytes, NULL);
    OK(LAUNCH(job("vector_add"), (uint32_t)n, 256, B(da), B(db), B(dc), I(n)));
    same(dc, c, bytes);
}

static void add_args(int sizes)
{
    float a[100], b[100], c[100];
    int n = 100;
    floats(a, n, 3);
    floats(b, n, 4);
    for (int i = 0; i < n; i++) c[i] = a[i] + b[i];
    uint64_t da = buffer(400, a), db = buffer(400, b), dc = buffer(400, NULL);
    const void *args[] = { &da, &db, &dc, &n };
    const uint32_t bytes[] = { 8, 8, 8, 4 };
    lk_launch l = { .size = sizeof l,
                    .grid = { 4 },
                    .block = { 32 },
                    .args = args,
                    .arg_bytes = sizes ? bytes : NULL,
                    .arg_count = 4 };
    OK(lk_kernel_launch(job("vector_add"), &l, NULL));
    same(dc, c, 400);
}

static void add_int(int unused)
{
    int32_t a[500], b[500], c[500];
    (void)unused;
    numbers(a, 500, 5);
    numbers(b, 500, 6);
    for (int i = 0; i < 500; i++) c[i] = a[i] + b[i];
    uint64_t da = buffer(2000, a), db = buffer(2000, b), dc = buffer(2000, NULL);
    OK(LAUNCH(job("add<int>"), 500, 128, B(da), B(db), B(dc), I(500)));
    same(dc, c, 2000);
}

static void add_double(int unused)
{
    double a[77], b[77], c[77];
    (void)unused;
    for (int i = 0; i < 77; i++) c[i] = (a[i] = i / 3.0) + (b[i] = i * 1e10);
    uint64_t da = buffer(sizeof a, a), db = buffer(sizeof b, b), dc = buffer(sizeof c, NULL);
    OK(LAUNCH(job("add<double>"), 77, 32, B(da), B(db), B(dc), I(77)));
    same(dc, c, sizeof c);
}

static void add_long(int unused)
{
    int64_t a[64], b[64], c[64];
    (void)unused;
    for (int i = 0; i < 64; i++) c[i] = (a[i] = (int64_t)i << 40) + (b[i] = -i);
    uint64_t da = buffer(sizeof a, a), db = buffer(sizeof b, b), dc = buffer(sizeof c, NULL);
    OK(LAUNCH(job("add<long long>"), 64, 64, B(da), B(db), B(dc), I(64)));
    same(dc, c, sizeof c);
}

static void in_place(int unused)
{
    int32_t x[300], want[300];
    (void)unused;
    numbers(x, 300, 7);
    for (int i = 0; i < 300; i++) want[i] = 2 * x[i];
    uint64_t d = buffer(sizeof x, x);
    OK(LAUNCH(job("add<int>"), 300, 96, B(d), B(d), B(d), I(300)));
    same(d, want, sizeof want);
}

static void part_of_buffer(int offset)
{
    int32_t x[256], want[256];
    numbers(x, 256, 8);
    for (int i = 0; i < 256; i++) want[i] = x[i] + (i >= offset && i < offset + 100);
    uint64_t d = buffer(sizeof x, x);
    OK(LAUNCH(job("increment"), 100, 32, B(d + 4u * (unsigned)offset), I(100)));
    same(d, want, sizeof want);
}

static void saxpy(int n)
{
    float *x = room(4u * (unsigned)n), *y = room(4u * (unsigned)n), *want = room(4u * (unsigned)n);
    floats(x, n, 9);
    floats(y, n, 10);
    for (int i = 0; i < n; i++) want[i] = 3 * x[i] + y[i];
    uint64_t dx = buffer(4u * (unsigned)n, x), dy = buffer(4u * (unsigned)n, y);
    OK(LAUNCH(job("math::saxpy"), (uint32_t)n, 128, F(3), B(dx), B(dy), I(n)));
    same(dy, want, 4u * (unsigned)n);
}

static void four_at_once(int unused)
{
    float a[256], b[256], c[256];
    (void)unused;
    floats(a, 256, 11);
    floats(b, 256, 12);
    for (int i = 0; i < 256; i++) c[i] = a[i] + b[i];
    uint64_t da = buffer(1024, a), db = buffer(1024, b), dc = buffer(1024, NULL);
    OK(LAUNCH(job("add_vectors4"), 64, 32, B(da), B(db), B(dc), I(64)));
    same(dc, c, 1024);
}

static void strides(int stride)
{
    int32_t x[700], want[100];
    numbers(x, 700, 13);
    for (int i = 0; i < 100; i++) want[i] = x[i * stride];
    uint64_t from = buffer(sizeof x, x), to = buffer(400, NULL);
    OK(LAUNCH(job("strided"), 100, 64, B(from), B(to), I(100), I(stride)));
    same(to, want, 400);
}

static void three_dimensions(int unused)
{
    int32_t *want = room(30 * 20 * 4 * 4);
    (void)unused;
    for (int z = 0; z < 4; z++)
        for (int y = 0; y < 20; y++)
            for (int x = 0; x < 30; x++) want[(z * 20 + y) * 30 + x] = x + 100 * y + 10000 * z;
    uint64_t d = buffer(30 * 20 * 4 * 4, NULL);
    lk_value v[] = { B(d), I(30), I(20) };
    lk_launch l = { .size = sizeof l, .grid = { 4, 3, 2 }, .block = { 8, 8, 2 }, .values = v, .arg_count = 3 };
    OK(lk_kernel_launch(job("indices"), &l, NULL));
    same(d, want, 30 * 20 * 4 * 4);
}

static void stencil(int n)
{
    float *x = room(4u * (unsigned)n), *y = room(4u * (unsigned)n);
    floats(x, n, 14);
    for (int i = 0; i < n; i++) y[i] = ((i ? x[i - 1] : 0) + x[i] + (i + 1 < n ? x[i + 1] : 0)) / 4;
    uint64_t dx = buffer(4u * (unsigned)n, x), dy = buffer(4u * (unsigned)n, NULL);
    OK(LAUNCH(job("stencil"), (uint32_t)n, 64, B(dx), B(dy), I(n)));
    same(dy, y, 4u * (unsigned)n);
}

static void no_arguments(int unused)
{
    (void)unused;
    lk_launch l = { .size = sizeof l, .grid = { 2 }, .block = { 32 } };
    OK(lk_kernel_launch(job("nothing"), &l, NULL));
}

static void every_scalar(int with_args)
{
    double want[] = { -5, 250, -3000, 60000, -70000, 4000000000.0, -5e12, 1e18, 1.5, 2.25 };
    uint64_t out = buffer(sizeof want, NULL);
    int8_t a = -5;
    uint8_t b = 250;
    int16_t c = -3000;
    uint16_t d = 60000;
    int32_t e = -70000;
    uint32_t f = 4000000000u;
    int64_t g = -5000000000000;
    uint64_t h = 1000000000000000000;
    float i = 1.5f;
    double j = 2.25;
    const void *args[] = { &a, &b, &c, &d, &e, &f, &g, &h, &i, &j, &out };
    lk_value v[11] = { { .kind = LK_VALUE_I8, .as.i8 = a },
                       { .kind = LK_VALUE_U8, .as.u8 = b },
                       { .kind = LK_VALUE_I16, .as.i16 = c },
                       { .kind = LK_VALUE_U16, .as.u16 = d },
                       lk_value_i32(e),
                       lk_value_u32(f),
                       lk_value_i64(g),
                       lk_value_u64(h),
                       lk_value_f32(i),
                       lk_value_f64(j),
                       B(out) };
    lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { 32 }, .arg_count = 11 };
    if (with_args)
        l.args = args;
    else
        l.values = v;
    OK(lk_kernel_launch(job("scalars"), &l, NULL));
    same(out, want, sizeof want);
}

struct vec3 {
    float x, y, z;
};
static void struct_of_floats(int unused)
{
    struct vec3 p[40], want[40], by = { 1, -2, 3 };
    (void)unused;
    floats(&p[0].x, 120, 15);
    for (int i = 0; i < 40; i++) want[i] = (struct vec3){ p[i].x + 1, p[i].y - 2, p[i].z + 3 };
    uint64_t d = buffer(sizeof p, p);
    OK(LAUNCH(job("translate"), 40, 32, B(d), lk_value_struct(&by, sizeof by), I(40)));
    same(d, want, sizeof want);
}

static void struct_with_gaps(int unused)
{
    struct {
        char a;
        double b;
        short c;
    } m = { 7, 0.125, -9 };
    double want[] = { 7, 0.125, -9 };
    (void)unused;
    uint64_t out = buffer(sizeof want, NULL);
    OK(LAUNCH(job("layout"), 1, 1, lk_value_struct(&m, sizeof m), B(out)));
    same(out, want, sizeof want);
}

static void struct_of_800_bytes(int unused)
{
    int32_t n[200];
    (void)unused;
    numbers(n, 200, 16);
    uint64_t out = buffer(sizeof n, NULL);
    OK(LAUNCH(job("large"), 256, 256, lk_value_struct(n, sizeof n), B(out)));
    same(out, n, sizeof n);
}

static void flag(int yes)
{
    uint64_t out = buffer(4, NULL);
    int32_t want = yes ? 1 : 2;
    OK(LAUNCH(job("flags"), 1, 1, { .kind = LK_VALUE_U8, .as.u8 = (uint8_t)yes }, B(out)));
    same(out, &want, 4);
}

static void null_pointer(int is_null)
{
    int32_t five = 5, want = is_null ? -1 : 5;
    uint64_t in = buffer(4, &five), out = buffer(4, NULL);
    lk_value none = { 0 };
    OK(LAUNCH(job("optional"), 1, 1, is_null ? none : B(in), B(out)));
    same(out, &want, 4);
}

const struct test vector_tests[] = { { "add_1", add_sizes, 1 },
                                     { "add_31", add_sizes, 31 },
                                     { "add_32", add_sizes, 32 },
                                     { "add_33", add_sizes, 33 },
                                     { "add_1000", add_sizes, 1000 },
                                     { "add_65536", add_sizes, 65536 },
                                     { "add_by_args", add_args, 0 },
                                     { "add_by_args_with_sizes", add_args, 1 },
                                     { "add_int", add_int, 0 },
                                     { "add_double", add_double, 0 },
                                     { "add_long", add_long, 0 },
                                     { "in_place", in_place, 0 },
                                     { "part_at_0", part_of_buffer, 0 },
                                     { "part_at_77", part_of_buffer, 77 },
                                     { "part_at_156", part_of_buffer, 156 },
                                     { "saxpy", saxpy, 1000 },
                                     { "float4", four_at_once, 0 },
                                     { "stride_1", strides, 1 },
                                     { "stride_7", strides, 7 },
                                     { "three_dimensions", three_dimensions, 0 },
                                     { "stencil", stencil, 200 },
                                     { "no_arguments", no_arguments, 0 },
                                     { "scalars_by_value", every_scalar, 0 },
                                     { "scalars_by_args", every_scalar, 1 },
                                     { "struct_of_floats", struct_of_floats, 0 },
                                     { "struct_with_gaps", struct_with_gaps, 0 },
                                     { "struct_of_800_bytes", struct_of_800_bytes, 0 },
                                     { "bool_true", flag, 1 },
                                     { "bool_false", flag, 0 },
                                     { "null_given", null_pointer, 1 },
                                     { "null_not_given", null_pointer, 0 },
                                     { 0 } };
