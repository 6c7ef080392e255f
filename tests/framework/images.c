/* Textures and surfaces: of arrays, of linear memory and of rows, filtered, beyond their edges, written by kernels. */
#include "suite.h"

enum { W = 24, H = 10, D = 4 };

static lk_array *array_of(uint32_t texel, uint32_t channels, uint64_t height, uint64_t depth, uint32_t flags,
                          const void *from)
{
    lk_array *a = NULL;
    lk_array_info info = { .size = sizeof info,
                           .width = W,
                           .height = height,
                           .depth = depth,
                           .texel = texel,
                           .channels = channels,
                           .flags = flags };
    if (OK(lk_array_create(gpu, &info, &a)) && from) OK(lk_array_write(a, from, 0));
    return a;
}

static uint64_t texture_of(lk_texture t)
{
    uint64_t object = 0;
    t.size = sizeof t;
    OK(lk_texture_create(gpu, &t, &object));
    return object;
}

static lk_status launch_2d(lk_kernel *k, const lk_value *v, uint32_t n)
{
    lk_launch l = { .size = sizeof l, .grid = { 3, 2 }, .block = { 8, 8 }, .values = v, .arg_count = n };
    return lk_kernel_launch(k, &l, NULL);
}

static void read_back(int pitch)
{
    float x[W * H], y[W * H], *wide = room(H * 256);
    floats(x, W * H, 1);
    lk_array *a = array_of(LK_TEXEL_F32, 1, H, 0, 0, NULL);
    if (!a) return;
    for (int i = 0; i < H; i++) memcpy(wide + i * 64, x + i * W, sizeof *x * W);
    OK(pitch ? lk_array_write(a, wide, 256) : lk_array_write(a, x, 0));
    OK(lk_array_read(a, y, 0));
    CHECK(!memcmp(x, y, sizeof x));
    OK(lk_array_destroy(a));
}

static void whole(int unused)
{
    float x[W * H];
    (void)unused;
    floats(x, W * H, 2);
    lk_array *a = array_of(LK_TEXEL_F32, 1, H, 0, 0, x);
    uint64_t t = texture_of((lk_texture){ .array = a }), out = buffer(sizeof x, NULL);
    lk_value v[] = { lk_value_u64(t), B(out), I(W), I(H) };
    OK(launch_2d(kernel_of("images", "texture_2d"), v, 4));
    same(out, x, sizeof x);
    OK(lk_texture_destroy(gpu, t));
    OK(lk_array_destroy(a));
}

/* At texels, between them, and beyond the edge: one of six at a time. */
static float at(const float x[], const float c[2], int smooth, int outside)
{
    float sum = 0;
    int i = (int)(c[0] + 100) - 100, j = (int)(c[1] + 100) - 100; /* floor */
    (void)smooth;
    if (outside == LK_OUTSIDE_BORDER && (i < 0 || i >= W || j < 0 || j >= H)) return 0;
    i = i < 0 ? 0 : i >= W ? W - 1 : i;
    j = j < 0 ? 0 : j >= H ? H - 1 : j;
    sum += x[j * W + i];
    return sum;
}

static void points(int outside)
{
    static const float c[][2] = {
        { 0.5f, 0.5f }, { 3.25f, 4.75f }, { -3, 2.5f }, { 30, 20 }, { 23.5f, 9.5f }, { 5, -1 }
    };
    float x[W * H], want[6];
    floats(x, W * H, 3);
    for (int i = 0; i < 6; i++) want[i] = at(x, c[i], 0, outside);
    lk_array *a = array_of(LK_TEXEL_F32, 1, H, 0, 0, x);
    uint64_t t = texture_of((lk_texture){ .array = a, .outside = { (uint32_t)outside, (uint32_t)outside } });
    uint64_t in = buffer(sizeof c, c), out = buffer(sizeof want, NULL);
    OK(LAUNCH(kernel_of("images", "texture_at"), 6, 32, lk_value_u64(t), B(in), B(out), I(6)));
    same(out, want, sizeof want);
    OK(lk_texture_destroy(gpu, t));
    OK(lk_array_destroy(a));
}

/* Half way between texels of whole numbers the mean is exact. */
static void smooth(int unused)
{
    float x[W * H], c[20][2], want[20];
    (void)unused;
    for (int i = 0; i < W * H; i++) x[i] = (float)(i % W * 4 + i / W * 100);
    for (int i = 0; i < 20; i++) {
        c[i][0] = (float)(i + 1);
        c[i][1] = (float)(1 + i % 8);
        want[i] = (x[(i % 8) * W + i] + x[(i % 8) * W + i + 1] + x[(i % 8 + 1) * W + i] + x[(i % 8 + 1) * W + i + 1]) /
                  4;
    }
    lk_array *a = array_of(LK_TEXEL_F32, 1, H, 0, 0, x);
    uint64_t t = texture_of(
        (lk_texture){ .array = a, .smooth = 1, .outside = { LK_OUTSIDE_CLAMP, LK_OUTSIDE_CLAMP, LK_OUTSIDE_CLAMP } });
    uint64_t in = buffer(sizeof c, c), out = buffer(sizeof want, NULL);
    OK(LAUNCH(kernel_of("images", "texture_at"), 20, 32, lk_value_u64(t), B(in), B(out), I(20)));
    same(out, want, sizeof want);
    OK(lk_texture_destroy(gpu, t));
    OK(lk_array_destroy(a));
}

static void normalised(int unused)
{
    float x[W * H], c[W][2], want[W];
    (void)unused;
    floats(x, W * H, 4);
    for (int i = 0; i < W; i++) {
        c[i][0] = ((float)i + 0.5f) / W + 1; /* it wraps */
        c[i][1] = 0.05f;
        want[i] = x[i];
    }
    lk_array *a = array_of(LK_TEXEL_F32, 1, H, 0, 0, x);
    uint64_t t = texture_of((lk_texture){ .array = a, .normalised = 1 });
    uint64_t in = buffer(sizeof c, c), out = buffer(sizeof want, NULL);
    OK(LAUNCH(kernel_of("images", "texture_at"), W, 32, lk_value_u64(t), B(in), B(out), I(W)));
    same(out, want, sizeof want);
    OK(lk_texture_destroy(gpu, t));
    OK(lk_array_destroy(a));
}

static void linear_memory(int unused)
{
    int32_t x[500];
    (void)unused;
    numbers(x, 500, 5);
    uint64_t in = buffer(sizeof x, x), out = buffer(sizeof x, NULL);
    uint64_t t = texture_of((lk_texture){ .address = in, .width = 500, .texel = LK_TEXEL_I32, .channels = 1 });
    OK(LAUNCH(kernel_of("images", "texture_linear"), 500, 64, lk_value_u64(t), B(out), I(500)));
    same(out, x, sizeof x);
    OK(lk_texture_destroy(gpu, t));
}

static void rows_of_memory(int unused)
{
    float x[W * H];
    uint64_t in = 0, pitch = 0, out = buffer(sizeof x, NULL);
    (void)unused;
    floats(x, W * H, 6);
    OK(lk_memory_alloc_pitched(gpu, W * 4, H, 1, "rows", &in, &pitch));
    lk_copy c = {
        .size = sizeof c, .to = { .address = in, .pitch = pitch }, .from = { .host = x }, .width = W * 4, .rows = H
    };
    OK(lk_memory_copy(gpu, &c));
    uint64_t t = texture_of(
        (lk_texture){ .address = in, .width = W, .height = H, .pitch = pitch, .texel = LK_TEXEL_F32, .channels = 1 });
    lk_value v[] = { lk_value_u64(t), B(out), I(W), I(H) };
    OK(launch_2d(kernel_of("images", "texture_2d"), v, 4));
    same(out, x, sizeof x);
    OK(lk_texture_destroy(gpu, t));
    OK(lk_memory_free(gpu, in));
}

static void bytes_as_float(int unused)
{
    uint8_t x[W * H * 4];
    float *want = room(sizeof x * 4);
    (void)unused;
    for (int i = 0; i < W * H * 4; i++) want[i] = (x[i] = (uint8_t)(i % 2 ? 255 : 0)) ? 1.f : 0.f;
    lk_array *a = array_of(LK_TEXEL_U8, 4, H, 0, 0, x);
    uint64_t t = texture_of((lk_texture){ .array = a, .as_float = 1 }), out = buffer(sizeof x * 4, NULL);
    lk_value v[] = { lk_value_u64(t), B(out), I(W), I(H) };
    OK(launch_2d(kernel_of("images", "texture_bytes"), v, 4));
    same(out, want, sizeof x * 4);
    OK(lk_texture_destroy(gpu, t));
    OK(lk_array_destroy(a));
}

static void volume(int unused)
{
    float x[W * H * D];
    (void)unused;
    floats(x, W * H * D, 7);
    lk_array *a = array_of(LK_TEXEL_F32, 1, H, D, 0, x);
    uint64_t t = texture_of((lk_texture){ .array = a }), out = buffer(sizeof x, NULL);
    OK(LAUNCH(kernel_of("images", "texture_3d"), W * H * D, 64, lk_value_u64(t), B(out), I(W), I(H), I(D)));
    same(out, x, sizeof x);
    OK(lk_texture_destroy(gpu, t));
    OK(lk_array_destroy(a));
}

static void written(int twice)
{
    float x[W * H];
    lk_array *a = array_of(LK_TEXEL_F32, 1, H, 0, LK_ARRAY_SURFACE, NULL);
    uint64_t s = 0;
    OK(lk_surface_create(a, &s));
    lk_value v[] = { lk_value_u64(s), I(W), I(H) };
    OK(launch_2d(kernel_of("images", "surface_write"), v, 3));
    if (twice) OK(launch_2d(kernel_of("images", "surface_double"), v, 3));
    OK(lk_array_read(a, x, 0));
    int wrong = 0;
    for (int j = 0; j < H; j++)
        for (int i = 0; i < W; i++) wrong += x[j * W + i] != (float)((100 * j + i) * (twice ? 2 : 1));
    CHECK(!wrong);
    OK(lk_surface_destroy(gpu, s));
    OK(lk_array_destroy(a));
}

/* A surface is written, then read as a texture. */
static void written_and_sampled(int unused)
{
    float want[W * H];
    (void)unused;
    for (int i = 0; i < W * H; i++) want[i] = (float)(100 * (i / W) + i % W);
    lk_array *a = array_of(LK_TEXEL_F32, 1, H, 0, LK_ARRAY_SURFACE, NULL);
    uint64_t s = 0, t = texture_of((lk_texture){ .array = a }), out = buffer(sizeof want, NULL);
    OK(lk_surface_create(a, &s));
    lk_value v[] = { lk_value_u64(s), I(W), I(H) }, r[] = { lk_value_u64(t), B(out), I(W), I(H) };
    OK(launch_2d(kernel_of("images", "surface_write"), v, 3));
    OK(launch_2d(kernel_of("images", "texture_2d"), r, 4));
    same(out, want, sizeof want);
    OK(lk_texture_destroy(gpu, t));
    OK(lk_surface_destroy(gpu, s));
    OK(lk_array_destroy(a));
}

static void refused(int which)
{
    lk_array *a = array_of(LK_TEXEL_F32, 1, H, 0, 0, NULL), *none = NULL;
    lk_array_info info = { .size = sizeof info, .width = W, .texel = LK_TEXEL_F32, .channels = 1 };
    lk_texture t = { .size = sizeof t, .array = a };
    uint64_t object = 0, d = buffer(4096, NULL);
    float row[W * H] = { 0 };
    switch (which) {
    case 0: REFUSED(lk_surface_create(a, &object), "LK_ARRAY_SURFACE"); break;
    case 1:
        info.channels = 3;
        REFUSED(lk_array_create(gpu, &info, &none), "channels");
        break;
    case 2:
        info.texel = 99;
        REFUSED(lk_array_create(gpu, &info, &none), "texels");
        break;
    case 3:
        info.width = 0;
        REFUSED(lk_array_create(gpu, &info, &none), "width");
        break;
    case 4:
        info.depth = 2;
        REFUSED(lk_array_create(gpu, &info, &none), "height");
        break;
    case 5:
        info.flags = LK_ARRAY_CUBE;
        REFUSED(lk_array_create(gpu, &info, &none), "cube");
        break;
    case 6: REFUSED(lk_array_write(a, row, 8), "apart"); break;
    case 7:
        t.outside[0] = 9;
        REFUSED(lk_texture_create(gpu, &t, &object), "lk_outside");
        break;
    case 8:
        t.outside[0] = LK_OUTSIDE_MIRROR;
        REFUSED(lk_texture_create(gpu, &t, &object), "normalised");
        break;
    case 9:
        t = (lk_texture){ .size = sizeof t, .address = d, .width = 5000, .texel = LK_TEXEL_F32, .channels = 1 };
        REFUSED(lk_texture_create(gpu, &t, &object), "has 4096");
        break;
    case 10:
        t = (lk_texture){ .size = sizeof t, .address = d + 4, .width = 5, .texel = LK_TEXEL_F32, .channels = 1 };
        REFUSED(lk_texture_create(gpu, &t, &object), "512");
        break;
    case 11: REFUSED(lk_texture_destroy(gpu, 12345), "no texture"); break;
    case 12:
        t = (lk_texture){ .size = sizeof t,
                          .address = d,
                          .width = 5,
                          .texel = LK_TEXEL_I32,
                          .channels = 1,
                          .smooth = 1,
                          .outside = { LK_OUTSIDE_CLAMP, LK_OUTSIDE_CLAMP, LK_OUTSIDE_CLAMP } };
        REFUSED(lk_texture_create(gpu, &t, &object), "interpolated");
        break;
    }
    OK(lk_array_destroy(a));
    if (which == 6) REFUSED(lk_array_read(a, row, 0), "array");
}

const struct test image_tests[] = { { "read_back", read_back, 0 },
                                    { "read_back_pitched", read_back, 1 },
                                    { "texture", whole, 0 },
                                    { "clamped", points, LK_OUTSIDE_CLAMP },
                                    { "border", points, LK_OUTSIDE_BORDER },
                                    { "smooth", smooth, 0 },
                                    { "normalised", normalised, 0 },
                                    { "linear_memory", linear_memory, 0 },
                                    { "rows_of_memory", rows_of_memory, 0 },
                                    { "bytes_as_float", bytes_as_float, 0 },
                                    { "volume", volume, 0 },
                                    { "surface", written, 0 },
                                    { "surface_twice", written, 1 },
                                    { "surface_and_texture", written_and_sampled, 0 },
                                    { "surface_of_texture", refused, 0 },
                                    { "three_channels", refused, 1 },
                                    { "no_texel", refused, 2 },
                                    { "no_width", refused, 3 },
                                    { "depth_alone", refused, 4 },
                                    { "no_cube", refused, 5 },
                                    { "narrow_rows", refused, 6 },
                                    { "no_outside", refused, 7 },
                                    { "mirror_of_texels", refused, 8 },
                                    { "too_wide", refused, 9 },
                                    { "unaligned", refused, 10 },
                                    { "no_such_texture", refused, 11 },
                                    { "smooth_index", refused, 12 },
                                    { 0 } };
