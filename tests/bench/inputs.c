/* inputs: makes the inputs of the benchmark and the results they must give, and compares results with them.
 *
 *     inputs make DIR                  DIR/NAME.{a,b,out}.bin for every kernel
 *     inputs compare f32|u32 LIMIT WANT GOT
 *
 * Matrix and sum inputs are multiples of 1/16 below 1 in magnitude, so that every order of summation, fused or not,
 * gives the same f32. Softmax is computed in double; escape times with the one fused operation that nvcc makes of
 * them. compare: f32 within LIMIT (absolute), u32 differing in at most LIMIT of all elements; exit 1 and a sentence
 * if not. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *folder;

static void *need(void *p, const char *what)
{
    if (!p) fprintf(stderr, "inputs: %s\n", what), exit(2);
    return p;
}

static void save(const char *name, const void *data, size_t bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.bin", folder, name);
    FILE *f = need(fopen(path, "wb"), path);
    if (fwrite(data, 1, bytes, f) != bytes || fclose(f)) need(NULL, path);
}

static void *load(const char *path, size_t *bytes)
{
    FILE *f = need(fopen(path, "rb"), path);
    fseek(f, 0, SEEK_END);
    *bytes = (size_t)ftell(f);
    rewind(f);
    void *p = need(malloc(*bytes + 1), "out of memory");
    if (fread(p, 1, *bytes, f) != *bytes) need(NULL, path);
    fclose(f);
    return p;
}

static float *sixteenths(size_t n, uint32_t salt)
{
    float *x = need(malloc(n * sizeof *x), "out of memory");
    for (size_t i = 0; i < n; i++) x[i] = (float)((int)(((uint32_t)i * 2654435761u + salt) >> 8) % 31 - 15) / 16;
    return x;
}

static void matmul(const char *name, size_t n)
{
    float *a = sixteenths(n * n, 1), *b = sixteenths(n * n, 77), *c = need(calloc(n * n, sizeof *c), "out of memory");
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
    char s[64];
    snprintf(s, sizeof s, "%s.a", name), save(s, a, 4 * n * n);
    snprintf(s, sizeof s, "%s.b", name), save(s, b, 4 * n * n);
    snprintf(s, sizeof s, "%s.out", name), save(s, c, 4 * n * n);
    free(a), free(b), free(c);
}

static void sums(size_t n)
{
    float *a = sixteenths(n, 3), *b = sixteenths(n, 99);
    save("vecadd.a", a, 4 * n), save("vecadd.b", b, 4 * n), save("reduce.a", a, 4 * n);
    float *s = need(calloc(n / 256, sizeof *s), "out of memory");
    for (size_t i = 0; i < n; i++) s[i / 256] += a[i];
    save("reduce.out", s, 4 * (n / 256));
    for (size_t i = 0; i < n; i++) a[i] += b[i];
    save("vecadd.out", a, 4 * n);
    free(a), free(b), free(s);
}

static void mandelbrot(int n, int limit)
{
    uint32_t *out = need(malloc(4ul * n * n), "out of memory");
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float cx = 3.f * x / n + -2.f, cy = (float)(y + y) / n + -1.f, zx = 0, zy = 0;
            int k = 0;
            for (; k < limit && zx * zx + zy * zy < 4.f; k++) {
                float t = cx + (zx * zx - zy * zy);
                zy = fmaf(zx + zx, zy, cy);
                zx = t;
            }
            out[y * n + x] = k;
        }
    save("mandelbrot.out", out, 4ul * n * n);
    free(out);
}

static void softmax(size_t rows, size_t cols)
{
    float *x = sixteenths(rows * cols, 5), *y = need(malloc(4 * rows * cols), "out of memory");
    for (size_t r = 0; r < rows; r++) {
        float *p = x + r * cols, m = -1e30f;
        double s = 0;
        for (size_t i = 0; i < cols; i++) p[i] *= 6, m = fmaxf(m, p[i]);
        for (size_t i = 0; i < cols; i++) s += exp(p[i] - m);
        for (size_t i = 0; i < cols; i++) y[r * cols + i] = (float)(exp(p[i] - m) / s);
    }
    save("softmax.a", x, 4 * rows * cols), save("softmax.out", y, 4 * rows * cols);
    free(x), free(y);
}

static int compare(const char *type, double limit, const char *want_path, const char *got_path)
{
    size_t n, m, bad = 0, first = 0;
    void *want = load(want_path, &n), *got = load(got_path, &m);
    if (n != m) return fprintf(stderr, "%s has %zu bytes, %s has %zu\n", got_path, m, want_path, n), 1;
    n /= 4;
    int is_float = !strcmp(type, "f32");
    for (size_t i = 0; i < n; i++) {
        int same = is_float ? fabs((double)((float *)want)[i] - ((float *)got)[i]) <= limit
                            : ((uint32_t *)want)[i] == ((uint32_t *)got)[i];
        if (!same && !bad++) first = i;
    }
    if (is_float ? bad == 0 : (double)bad <= limit * (double)n) return 0;
    fprintf(stderr, "%s: %zu of %zu elements are wrong, the first at %zu\n", got_path, bad, n, first);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc == 6 && !strcmp(argv[1], "compare")) return compare(argv[2], atof(argv[3]), argv[4], argv[5]);
    if (argc != 3 || strcmp(argv[1], "make"))
        return fputs("usage: inputs make DIR | inputs compare f32|u32 LIMIT WANT GOT\n", stderr), 2;
    folder = argv[2];
    sums(1 << 20);
    matmul("matmul16", 256);
    matmul("matmul32", 1024);
    mandelbrot(512, 256);
    softmax(1024, 1024);
    return 0;
}
