/* How a GPU filters along the longer of two gradients (maxAnisotropy): a line a question with the number of answers and
 * a hash of them; with a file's name, all answers in binary too (name of 32 bytes, number, then per answer the eight
 * words asked with and the four answered), for anisotropy_compare.py; with a question's name behind that, every fourth
 * of its answers as hex.
 *
 *     gcc -O1 -I$CUDA/include -o anisotropy anisotropy.c -lcuda -lm && ./anisotropy answers.bin
 *
 * Levels tell which level is taken: their texels are (level, x, x * x, y * y), from the middle of the texture. Combs
 * have one column and one row of 1 in every 256: asked at many places they tell the weight of each column and row. */
#include "texture_ask.h"

static FILE *file;
static const char *shown = ""; /* a question of which answers are printed */
static const unsigned N = CU_TRSF_NORMALIZED_COORDINATES;
static const char G2[] = "tex.grad.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1}], {%r2,%r3}, {%r4,%r5};";
static const char G1[] = "tex.grad.1d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0}], {%r2}, {%r4};";
static const char GA[] = "tex.grad.a2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r6,%r0,%r1,%r1}], {%r2,%r3}, {%r4,%r5};";
static const char G3[] = "tex.grad.3d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1,%r1,%r1}], {%r2,%r3,%r4,%r4}, "
                         "{%r5,%r6,%r7,%r7};";
static const char GC[] = "tex.grad.cube.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1,%r2,%r2}], {%r3,%r4,%r5,%r5}, "
                         "{%r6,%r7,%r12,%r12};";

/* ---- textures ---- */
enum { SIDE = 512, LEVELS = 10, COMB = 256 };
enum fill { STEPS, COMBS, RANDOM, BYTES };
static struct made mips(enum fill what, CUarray_format f, int w, int h, int d, unsigned flags, int levels)
{
    struct made m = { .w = w, .h = h, .d = d, .channels = 4, .format = f };
    CUDA_ARRAY3D_DESCRIPTOR a = { .Width = w, .Height = h, .Depth = d, .Format = f, .NumChannels = 4, .Flags = flags };
    CHECK(cuMipmappedArrayCreate(&m.mips, &a, levels));
    for (int l = 0; l < levels; l++) {
        CUarray x;
        int lw = w >> l ? w >> l : 1, lh = h ? (h >> l ? h >> l : 1) : 0, ld = d ? (d >> l ? d >> l : 1) : 0;
        if (flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) ld = d;
        int n = lw * (lh ? lh : 1) * (ld ? ld : 1);
        for (int i = 0; i < n && what != BYTES && what != RANDOM; i++) {
            int c = i % lw, r = i / lw % (lh ? lh : 1);
            float u = ((float)c + 0.5f) / (float)lw - 0.5f, v = lh ? ((float)r + 0.5f) / (float)lh - 0.5f : 0;
            float steps[4] = { (float)l, u, u * u, v * v };
            float comb[4] = { c % COMB == 0, c % COMB == COMB / 2, r % COMB == 0, r % COMB == COMB / 2 };
            memcpy(data + 16 * (size_t)i, what == STEPS ? steps : comb, 16);
        }
        if (what == RANDOM && f == CU_AD_FORMAT_HALF)
            for (int i = 0; i < 4 * n; i++)
                ((uint16_t *)data)[i] = (uint16_t)(0x3000 + rnd() % 0x1000 + (rnd() >> 5 & 1) * 0x8000);
        else if (what == RANDOM)
            fill_floats(4 * (size_t)n, -3, 4);
        if (what == BYTES) fill_bytes(4 * (size_t)n * size_of(f));
        CHECK(cuMipmappedArrayGetLevel(&x, m.mips, l));
        copy_in(x, size_of(f) * 4, lw, lh, ld, 0);
    }
    return m;
}

/* ---- questions: as many rows as are wanted ---- */
static struct row rows[1 << 18];
static int nrow;
static void row(const float *v)
{
    for (int k = 0; k < 8; k++) rows[nrow].v[k] = bits(v[k]);
    nrow++;
}
#define ROW(...) row((const float[8]){ __VA_ARGS__ })

static void ask_rows(const char *name, const char *insn, struct made m, struct how h)
{
    static uint32_t got[1 << 18][4];
    CUmodule module;
    if (*shown && strcmp(name, shown)) return;
    CUtexObject o = object(m, h);
    CUfunction f = kernel_of(insn, "", &module);
    if (!f || !o) {
        printf("# %s is not there\n", name);
        return;
    }
    for (int i = 0; i < nrow; i += MOST) {
        int n = nrow - i < MOST ? nrow - i : MOST;
        memcpy(in, rows + i, sizeof(struct row) * n);
        CUresult r = launch(f, o, n);
        if (r) printf("# %s: %d\n", name, r);
        memcpy(got[i], out, 16 * n);
    }
    if (!*shown) tell(name, got, 16 * (size_t)nrow, nrow);
    for (int i = 0; *shown && i < nrow; i += 4)
        printf("%s %d %x %x %x %x\n", name, i, got[i][0], got[i][1], got[i][2], got[i][3]);
    if (file) {
        char title[32] = { 0 };
        snprintf(title, sizeof title, "%s", name);
        fwrite(title, 1, 32, file), fwrite(&nrow, 4, 1, file);
        for (int i = 0; i < nrow; i++) fwrite(&rows[i], 32, 1, file), fwrite(got[i], 16, 1, file);
    }
    CHECK(cuTexObjectDestroy(o)), CHECK(cuModuleUnload(module));
}
static struct how filter(unsigned most, int mip_linear)
{
    return (struct how){ { C, C, C }, .linear = 1, .mip_linear = mip_linear, .flags = N, .anisotropy = most };
}
static const char *named(const char *what, int k)
{
    static char name[32];
    snprintf(name, sizeof name, "%s_%d", what, k);
    return name;
}

/* Gradients in texels, for a texture of `side`: along the axes, then with any directions. */
static void gradients(int n, float side)
{
    nrow = 0;
    for (int i = 0; i < n; i++) {
        float a = exp2f(unit() * 9 - 2) / side, b = exp2f(unit() * 9 - 2) / side;
        if (i & 1)
            ROW(0.5f, 0.5f, a, 0, 0, b);
        else
            ROW(0.5f, 0.5f, 0, a, b, 0);
    }
    for (int i = 0; i < n; i++) { /* two at right angles, then any two */
        double s = exp2(unit() * 7) / side, r = exp2(-unit() * 6), a = unit() * 6.2831853,
               b = i & 1 ? unit() * 6.2831853 : a + 1.5707963;
        ROW(0.5f, 0.5f, (float)(s * cos(a)), (float)(s * sin(a)), (float)(s * r * cos(b)), (float)(s * r * sin(b)));
    }
}
static void odd_gradients(void)
{
    const float some[] = { 0, 1.f / 512, 4.f / 512, 64.f / 512, 1e30f, 1e-30f, INFINITY, NAN, -0.1f };
    nrow = 0;
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++)
            for (int k = 0; k < 3; k++)
                ROW(0.5f, 0.5f, some[i], k == 1 ? some[j] : 0, k == 2 ? 1.f / 512 : 0, k ? 0 : some[j]);
}

/* Every place of a comb: x and y together. Gradients in texels. */
static void comb(float gx, float gy, float hx, float hy, float part)
{
    for (int s = 0; s < COMB / 2; s++) {
        float at = ((float)(s + 64) + part) / SIDE;
        ROW(at, at, gx / SIDE, gy / SIDE, hx / SIDE, hy / SIDE);
    }
}

int main(int argc, char **argv)
{
    CUdevice d;
    CUcontext c;
    file = argc > 1 ? fopen(argv[1], "wb") : NULL;
    if (argc > 2) shown = argv[2];
    CHECK(cuInit(0)), CHECK(cuDeviceGet(&d, 0)), CHECK(cuDevicePrimaryCtxRetain(&c, d)), CHECK(cuCtxSetCurrent(c));
    CHECK(cuMemAlloc(&din, sizeof in)), CHECK(cuMemAlloc(&dout, sizeof out));
    const CUarray_format F = CU_AD_FORMAT_FLOAT;
    struct made steps = mips(STEPS, F, SIDE, SIDE, 0, 0, LEVELS), combs = mips(COMBS, F, SIDE, SIDE, 0, 0, 2);
    /* which level, and how wide */
    static const unsigned most[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 20, 32, 1000 };
    for (unsigned i = 0; i < sizeof most / sizeof *most; i++) {
        int k = (int)most[i], whole = k == 2 || k == 4 || k == 8 || k == 16;
        seed = 1;
        gradients(whole ? 2048 : 512, SIDE);
        ask_rows(named("level", k), G2, steps, filter(most[i], 1));
        if (whole) ask_rows(named("level_near", k), G2, steps, filter(most[i], 0));
        odd_gradients();
        if (whole || k == 1) ask_rows(named("odd", k), G2, steps, filter(most[i], 1));
    }
    /* ratios one by one: the longer one from 1 to 20 times the other, at several sizes */
    for (int size = 0; size < 3; size++) {
        nrow = 0;
        for (int i = 0; i < 2432; i++) {
            float b = size == 0 ? 2 : size == 1 ? 2.75f : 3.5f, a = b * (1 + (float)i / 128);
            ROW(0.5f, 0.5f, a / SIDE, 0, 0, b / SIDE);
        }
        ask_rows(named("ratio16", size), G2, steps, filter(16, 1));
        ask_rows(named("ratio8", size), G2, steps, filter(8, 1));
        ask_rows(named("ratio3", size), G2, steps, filter(3, 1));
    }
    /* with a bias and with ends */
    seed = 2;
    gradients(512, SIDE);
    struct how h = filter(8, 1);
    h.bias = 1.3f, ask_rows("level_bias_up", G2, steps, h);
    h.bias = -1.3f, ask_rows("level_bias_down", G2, steps, h);
    h.bias = 0, h.least = 1.5f, h.most = 3.25f, ask_rows("level_ends", G2, steps, h);
    h = filter(8, 1), h.flags |= 0x20, ask_rows("level_no_optimum", G2, steps, h);
    h = filter(8, 1), h.linear = 0, ask_rows("level_point", G2, steps, h);
    /* taps: far apart on the largest level, then on the level that is chosen */
    for (int near_level = 0; near_level < 2; near_level++)
        for (unsigned a = 1; a <= 16; a++) {
            if (a > 4 && a != 6 && a != 8 && a != 11 && a != 16) continue;
            h = filter(a, 0);
            if (!near_level) h.most = 0.001f;
            float small = near_level ? 1 : 8;
            nrow = 0;
            for (int i = 0; i < (a == 16 || a == 4 ? 72 : 24); i++) /* ratio */
                comb(small * (1 + (float)i / (a == 16 || a == 4 ? 4 : 2)), 0, 0, small, 0.5f);
            ask_rows(named(near_level ? "taps_near" : "taps_apart", (int)a), G2, combs, h);
        }
    h = filter(16, 0), h.most = 0.001f;
    seed = 3, nrow = 0;
    for (int i = 0; i < 160; i++) { /* any directions */
        double s = exp2(3 + unit() * 3.5), r = exp2(-unit() * 4), t = unit() * 6.2831853,
               b = i & 1 ? unit() * 6.2831853 : t + 1.5707963;
        comb((float)(s * cos(t)), (float)(s * sin(t)), (float)(s * r * cos(b)), (float)(s * r * sin(b)), 0.5f);
    }
    ask_rows("taps_any_16", G2, combs, h);
    h.anisotropy = 4, ask_rows("taps_any_4", G2, combs, h);
    nrow = 0;
    for (int i = 0; i < 24; i++) comb(20 + (float)i, 3, -1, 5, (float)i / 24); /* parts of a texel */
    h.anisotropy = 16, ask_rows("taps_part", G2, combs, h);
    h.linear = 0, ask_rows("taps_point", G2, combs, h);
    h = filter(16, 1), h.flags |= 0x20, h.most = 0.001f, ask_rows("taps_no_optimum", G2, combs, h);
    h = filter(16, 1), h.most = 0.001f, ask_rows("taps_linear", G2, combs, h);
    h = filter(16, 1), h.most = 0.5f, ask_rows("taps_two_levels", G2, combs, h);
    h = filter(16, 1), h.address[0] = h.address[1] = W, h.most = 0.001f, ask_rows("taps_wrap", G2, combs, h);
    h = filter(16, 1), h.bias = -2, ask_rows("taps_bias_down", G2, combs, h);
    h = filter(16, 1), h.bias = 1, h.most = 0.001f, ask_rows("taps_bias_up", G2, combs, h);
    /* one level: an array that has no others */
    for (int i = 0; i < SIDE * SIDE; i++) {
        float v[4] = { i % SIDE % COMB == 0, i % SIDE % COMB == COMB / 2, i / SIDE % COMB == 0,
                       i / SIDE % COMB == COMB / 2 };
        memcpy(data + 16 * (size_t)i, v, 16);
    }
    struct made plain = array(F, 4, SIDE, SIDE, 0, 0), single = mips(COMBS, F, SIDE, SIDE, 0, 0, 1);
    ask_rows("taps_plain", G2, plain, filter(16, 0));
    ask_rows("taps_single", G2, single, filter(16, 0));
    h = filter(16, 0), h.flags = 0;
    for (int i = 0; i < nrow; i++)
        for (int k = 0; k < 6; k++) {
            float x;
            memcpy(&x, &rows[i].v[k], 4), rows[i].v[k] = bits(x * SIDE);
        }
    ask_rows("taps_texels", G2, plain, h);
    /* sums: random texels */
    seed = 4;
    struct made f32 = mips(RANDOM, F, 64, 64, 0, 0, 7), u8 = mips(BYTES, CU_AD_FORMAT_UNSIGNED_INT8, 64, 64, 0, 0, 7),
                f16 = mips(RANDOM, CU_AD_FORMAT_HALF, 64, 64, 0, 0, 7),
                s16 = mips(BYTES, CU_AD_FORMAT_SIGNED_INT16, 64, 64, 0, 0, 7);
    nrow = 0;
    for (int i = 0; i < 2000; i++) {
        double s = exp2(unit() * 5) / 64, r = exp2(-unit() * 5), t = unit() * 6.2831853, b = unit() * 6.2831853;
        if (i < 1000) t = (i & 3) * 1.570796326794897, b = t + 1.570796326794897;
        ROW(unit(), unit(), (float)(s * cos(t)), (float)(s * sin(t)), (float)(s * r * cos(b)), (float)(s * r * sin(b)));
    }
    for (int a = 2; a <= 16; a *= 2) {
        for (int l = 0; l < 2; l++) {
            char name[32];
            snprintf(name, sizeof name, "%s_%d", l ? "linear" : "near", a);
            h = filter((unsigned)a, l);
            struct {
                const char *name;
                struct made m;
                unsigned flags;
            } all[] = {
                { "f32", f32, 0 }, { "u8", u8, 0 }, { "f16", f16, 0 }, { "s16", s16, 0 }, { "srgb", u8, CU_TRSF_SRGB }
            };
            for (int k = 0; k < 5; k++) {
                char full[40];
                snprintf(full, sizeof full, "%s_%s", all[k].name, name);
                h.flags = N | all[k].flags, ask_rows(full, G2, all[k].m, h);
            }
        }
    }
    /* without gradients: is it the same as without anisotropy? */
    static const char T2[] = "tex.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1}];",
                      L2[] = "tex.level.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1}], %r7;",
                      T4[] = "tld4.g.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1}];";
    for (int i = 0; i < nrow; i++) rows[i].v[7] = bits(unit() * 8 - 1);
    for (int a = 1; a <= 16; a *= 4) {
        ask_rows(named("implicit", a), T2, f32, filter((unsigned)a, 1));
        ask_rows(named("given", a), L2, f32, filter((unsigned)a, 1));
        h = filter((unsigned)a, 1), h.linear = 0, ask_rows(named("given_near", a), L2, f32, h);
        ask_rows(named("gather", a), T4, f32, filter((unsigned)a, 1));
    }
    /* other shapes */
    struct made line = mips(STEPS, F, SIDE, 0, 0, 0, LEVELS), wide = mips(STEPS, F, SIDE, 64, 0, 0, LEVELS),
                layers = mips(STEPS, F, 128, 128, 3, CUDA_ARRAY3D_LAYERED, 8),
                cube = mips(STEPS, F, 64, 64, 6, CUDA_ARRAY3D_CUBEMAP, 7), deep = mips(STEPS, F, 64, 64, 64, 0, 7);
    seed = 5;
    gradients(1024, SIDE);
    ask_rows("line_8", G1, line, filter(8, 1)), ask_rows("line_1", G1, line, filter(1, 1));
    ask_rows("wide_8", G2, wide, filter(8, 1));
    gradients(1024, 128);
    ask_rows("layers_8", GA, layers, filter(8, 1));
    nrow = 0;
    for (int i = 0; i < 2048; i++) {
        float v[8] = { 0.5f, 0.5f };
        for (int k = 2; k < 8; k++) v[k] = i & 1 && rnd() >> 5 & 1 ? 0 : random_float(-7, 5);
        row(v);
    }
    ask_rows("deep_8", G3, deep, filter(8, 1)), ask_rows("deep_1", G3, deep, filter(1, 1));
    nrow = 0;
    for (int i = 0; i < 2048; i++) {
        float v[8] = { 0 };
        for (int k = 0; k < 3; k++) v[k] = i < 1024 ? (k == i % 6 / 2 ? (i & 1 ? 1.f : -1.f) : 0) : random_float(-1, 2);
        for (int k = 3; k < 8; k++) v[k] = rnd() >> 5 & 1 ? 0 : random_float(-6, 5);
        row(v);
    }
    ask_rows("cube_8", GC, cube, filter(8, 1)), ask_rows("cube_1", GC, cube, filter(1, 1));
    if (file) fclose(file);
    return 0;
}
