/* Matrix products with their arguments in the shapes that frameworks give them, and transposes. */
#include "suite.h"

enum { BY_INTS, BY_STRUCTS, BY_LONGS, BY_ROWS, TILED, DYNAMIC, BY_ARGS };
struct matrix { /* as the kernel has it */
    uint64_t data;
    int32_t rows, cols, pitch;
};

static void expected(const float *a, const float *b, float *c, int m, int n, int k)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int l = 0; l < k; l++) sum += a[i * k + l] * b[l * n + j];
            c[i * n + j] = sum;
        }
}

/* Device memory with a pointer to each row. */
static uint64_t rows_of(uint64_t data, int rows, int cols)
{
    uint64_t list[128];
    for (int i = 0; i < rows; i++) list[i] = data + 4u * (unsigned)(i * cols);
    return buffer(8u * (unsigned)rows, list);
}

static void product(int way, int m, int n, int k)
{
    static const char *const name[] = { "matmul",       "matmul_structs", "matmul_long", "matmul_rows",
                                        "matmul_tiled", "matmul_dynamic", "matmul" };
    unsigned ca = (unsigned)(m * k), cb = (unsigned)(k * n), cc = (unsigned)(m * n);
    float *a = room(4 * ca), *b = room(4 * cb), *c = room(4 * cc);
    floats(a, (int)ca, 1);
    floats(b, (int)cb, 2);
    expected(a, b, c, m, n, k);
    uint64_t da = buffer(4 * ca, a), db = buffer(4 * cb, b), dc = buffer(4 * cc, NULL);
    struct matrix sa = { da, m, k, k }, sb = { db, k, n, n }, sc = { dc, m, n, n };
    lk_value ints[] = { B(da), B(db), B(dc), I(m), I(n), I(k) };
    lk_value longs[] = { B(da), B(db), B(dc), lk_value_i64(m), lk_value_i64(n), lk_value_i64(k) };
    lk_value structs[] = { lk_value_struct(&sa, sizeof sa), lk_value_struct(&sb, sizeof sb),
                           lk_value_struct(&sc, sizeof sc) };
    const void *args[] = { &da, &db, &dc, &m, &n, &k };
    lk_launch l = { .size = sizeof l,
                    .grid = { (uint32_t)(n + 15) / 16, (uint32_t)(m + 15) / 16 },
                    .block = { 16, 16 },
                    .values = ints,
                    .arg_count = 6 };
    if (way == BY_LONGS) l.values = longs;
    if (way == BY_STRUCTS) l.values = structs, l.arg_count = 3;
    if (way == BY_ARGS) l.values = NULL, l.args = args;
    if (way == DYNAMIC) l.shared_bytes = 16u * 4u * (unsigned)k;
    lk_value rows[6];
    if (way == BY_ROWS) {
        memcpy(rows, ints, sizeof rows);
        rows[0] = B(rows_of(da, m, k));
        rows[1] = B(rows_of(db, k, n));
        rows[2] = B(rows_of(dc, m, n));
        l.values = rows;
    }
    OK(lk_kernel_launch(job(name[way]), &l, NULL));
    same(dc, c, 4 * cc);
}

static void square(int way) { product(way, 32, 32, 32); }
static void odd(int way) { product(way, 33, 17, 29); }
static void thin(int way) { product(way, 1, 50, 7); }

/* Of a pitched allocation: rows are further apart than they are long. */
static void pitched(int unused)
{
    enum { N = 20 };
    float a[N * N], b[N * N], c[N * N], back[N * N];
    uint64_t at[3], pitch = 0;
    struct matrix s[3];
    float *host[] = { a, b, back };
    (void)unused;
    floats(a, N * N, 3);
    floats(b, N * N, 4);
    expected(a, b, c, N, N, N);
    for (int i = 0; i < 3; i++) {
        OK(lk_memory_alloc_pitched(gpu, N * 4, N, 1, "matrix", &at[i], &pitch));
        CHECK(pitch >= N * 4 && pitch % 4 == 0);
        s[i] = (struct matrix){ at[i], N, N, (int32_t)(pitch / 4) };
        lk_copy in = { .size = sizeof in,
                       .to = { .address = at[i], .pitch = pitch },
                       .from = { .host = host[i] },
                       .width = N * 4,
                       .rows = N };
        if (i < 2) OK(lk_memory_copy(gpu, &in));
    }
    lk_value v[] = { lk_value_struct(&s[0], sizeof s[0]), lk_value_struct(&s[1], sizeof s[1]),
                     lk_value_struct(&s[2], sizeof s[2]) };
    lk_launch l = { .size = sizeof l, .grid = { 2, 2 }, .block = { 16, 16 }, .values = v, .arg_count = 3 };
    OK(lk_kernel_launch(job("matmul_structs"), &l, NULL));
    lk_copy out = { .size = sizeof out,
                    .to = { .host = back },
                    .from = { .address = at[2], .pitch = pitch },
                    .width = N * 4,
                    .rows = N };
    OK(lk_memory_copy(gpu, &out));
    CHECK(!memcmp(back, c, sizeof c));
    for (int i = 0; i < 3; i++) OK(lk_memory_free(gpu, at[i]));
}

static void transposed(int of_shorts)
{
    enum { ROWS = 37, COLS = 21 };
    float x[ROWS * COLS], y[ROWS * COLS];
    int16_t s[ROWS * COLS], t[ROWS * COLS];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) {
            y[j * ROWS + i] = x[i * COLS + j] = (float)(100 * i + j);
            t[j * ROWS + i] = s[i * COLS + j] = (int16_t)(100 * i + j);
        }
    uint64_t bytes = of_shorts ? sizeof s : sizeof x;
    uint64_t from = buffer(bytes, of_shorts ? (const void *)s : x), to = buffer(bytes, NULL);
    lk_value v[] = { B(from), B(to), I(ROWS), I(COLS) };
    lk_launch l = { .size = sizeof l, .grid = { 2, 3 }, .block = { 16, 16 }, .values = v, .arg_count = 4 };
    OK(lk_kernel_launch(job(of_shorts ? "transpose<short>" : "transpose<float>"), &l, NULL));
    same(to, of_shorts ? (const void *)t : y, bytes);
}

static void blur(int unused)
{
    enum { W = 40, H = 25 };
    float x[W * H], y[W * H];
    (void)unused;
    floats(x, W * H, 5);
    for (int j = 0; j < H; j++)
        for (int i = 0; i < W; i++) {
            float sum = 0;
            for (int b = j - 1; b <= j + 1; b++)
                for (int a = i - 1; a <= i + 1; a++)
                    if (a >= 0 && a < W && b >= 0 && b < H) sum += x[b * W + a];
            y[j * W + i] = sum;
        }
    uint64_t dx = buffer(sizeof x, x), dy = buffer(sizeof y, NULL);
    lk_value v[] = { B(dx), B(dy), I(W), I(H) };
    lk_launch l = { .size = sizeof l, .grid = { 5, 4 }, .block = { 8, 8 }, .values = v, .arg_count = 4 };
    OK(lk_kernel_launch(job("blur"), &l, NULL));
    same(dy, y, sizeof y);
}

const struct test matrix_tests[] = { { "square_ints", square, BY_INTS },
                                     { "square_args", square, BY_ARGS },
                                     { "square_structs", square, BY_STRUCTS },
                                     { "square_longs", square, BY_LONGS },
                                     { "square_rows", square, BY_ROWS },
                                     { "square_tiled", square, TILED },
                                     { "square_dynamic", square, DYNAMIC },
                                     { "odd_ints", odd, BY_INTS },
                                     { "odd_structs", odd, BY_STRUCTS },
                                     { "odd_rows", odd, BY_ROWS },
                                     { "odd_tiled", odd, TILED },
                                     { "odd_dynamic", odd, DYNAMIC },
                                     { "thin_tiled", thin, TILED },
                                     { "thin_longs", thin, BY_LONGS },
                                     { "pitched", pitched, 0 },
                                     { "transpose_float", transposed, 0 },
                                     { "transpose_short", transposed, 1 },
                                     { "blur", blur, 0 },
                                     { 0 } };
