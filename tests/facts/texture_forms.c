/* What texture and surface instructions answer, form by form: a line a question with the number of answers and a hash
 * of them, or with a second argument every answer in hex. One program for both machines: tests/truth/textures.txt has
 * the lines of an H200, and tests/cases/textures/truth compares.
 *
 *     gcc -O1 -I$CUDA/include -o forms texture_forms.c -lcuda -lm && ./forms > lines.txt && ./forms falgoqrs all >
 * answers.txt
 *
 * Each question is one instruction in a kernel that gives it eight words of input, %r0 to %r7, and keeps four, %r8 to
 * %r11. */
#include "texture_ask.h"

#define T1 "tex.1d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0}];"
#define T2 "tex.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1}];"
#define T3 "tex.3d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1,%r2,%r2}];"
#define L2 "tex.level.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1}], %r3;"

static void formats(void)
{
    seed = 1;
    static const struct {
        const char *name;
        CUarray_format f;
        int channels;
        unsigned flags;
        int what;
    } k[] = { { "u8", CU_AD_FORMAT_UNSIGNED_INT8, 4, 0, 0 },
              { "s8", CU_AD_FORMAT_SIGNED_INT8, 4, 0, 0 },
              { "u16", CU_AD_FORMAT_UNSIGNED_INT16, 4, 0, 0 },
              { "s16", CU_AD_FORMAT_SIGNED_INT16, 4, 0, 0 },
              { "srgb", CU_AD_FORMAT_UNSIGNED_INT8, 4, CU_TRSF_SRGB, 1 },
              { "f16", CU_AD_FORMAT_HALF, 4, 0, 2 },
              { "f32", CU_AD_FORMAT_FLOAT, 4, 0, 3 } };
    char name[40];
    for (int i = 0; i < 7; i++) {
        size_t n = 512 * 4;
        k[i].what == 0   ? fill_bytes(n * 2)
        : k[i].what == 1 ? fill_small(n)
        : k[i].what == 2 ? fill_halves(n)
                         : fill_special(n);
        static unsigned char keep[512 * 16];
        memcpy(keep, data, sizeof keep);
        struct made a1 = array(k[i].f, 4, 512, 0, 0, 0);
        struct made a2 = array(k[i].f, 4, 32, 16, 0, 0);
        struct made a3 = array(k[i].f, 4, 8, 8, 8, 0);
        if (every)
            for (size_t t = 0; t < n; t++) {
                uint32_t v = 0;
                memcpy(&v, keep + t * size_of(k[i].f), size_of(k[i].f));
                printf("%s_texel %zu %x\n", k[i].name, t, v);
            }
        for (int j = 0; j < 512; j++) memset(&in[j], 0, 32), in[j].v[0] = bits(j + 0.5f);
        snprintf(name, sizeof name, "%s_point", k[i].name);
        ask(name, T1, object(a1, (struct how){ { C, C, C }, .flags = k[i].flags }), 512);
        int m = coords(2000, 512, 0, 0);
        snprintf(name, sizeof name, "%s_linear1", k[i].name);
        ask(name, T1, object(a1, LINEAR({ C, C, C }, .flags = k[i].flags)), m);
        m = coords(2000, 32, 16, 0);
        snprintf(name, sizeof name, "%s_linear2", k[i].name);
        ask(name, T2, object(a2, LINEAR({ C, C, C }, .flags = k[i].flags)), m);
        m = coords(2000, 8, 8, 8);
        snprintf(name, sizeof name, "%s_linear3", k[i].name);
        ask(name, T3, object(a3, LINEAR({ C, C, C }, .flags = k[i].flags)), m);
        m = coords(500, 32, 16, 0);
        snprintf(name, sizeof name, "%s_border", k[i].name);
        ask(name, T2, object(a2, LINEAR({ B, B, B }, .flags = k[i].flags, .border = { 0.3f, -0.7f, 1.8f, 0.5f })), m);
        m = coords(64, 32, 16, 0);
        snprintf(name, sizeof name, "%s_border_near", k[i].name);
        ask(name, T2,
            object(a2, (struct how){ { B, B, B }, .flags = k[i].flags, .border = { 0.3f, -0.7f, 1.8f, 0.5f } }), m);
        if (i < 4) { /* as integers */
            snprintf(name, sizeof name, "%s_integer", k[i].name);
            ask(name, "tex.2d.v4.u32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1}];",
                object(a2, (struct how){ { B, B, B },
                                         .flags = CU_TRSF_READ_AS_INTEGER,
                                         .border = { 0.3f, -0.7f, 1.8f, 0.5f } }),
                m);
        }
        snprintf(name, sizeof name, "%s_f16x2", k[i].name);
        ask(name, "tex.2d.v2.f16x2.f32 {%r8,%r9}, [%t, {%r0,%r1}];",
            object(a2, LINEAR({ C, C, C }, .flags = k[i].flags)), 64);
        snprintf(name, sizeof name, "%s_f16", k[i].name);
        ask(name,
            "tex.2d.v4.f16.f32 {%h8,%h9,%h10,%h11}, [%t, {%r0,%r1}]; cvt.u32.u16 %r8, %h8; cvt.u32.u16 %r9, %h9; "
            "cvt.u32.u16 %r10, %h10; cvt.u32.u16 %r11, %h11;",
            object(a2, LINEAR({ C, C, C }, .flags = k[i].flags)), 64);
        snprintf(name, sizeof name, "%s_bits", k[i].name);
        ask(name, "tex.2d.v4.s32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1}];",
            object(a2, (struct how){ { C, C, C }, .flags = k[i].flags }), 64);
    }
    for (int i = 0; i < 256; i++)
        data[4 * i] = data[4 * i + 1] = data[4 * i + 2] = data[4 * i + 3] = (unsigned char)i, memset(&in[i], 0, 32),
                 in[i].v[0] = bits(i + 0.5f);
    ask("srgb_table", T1,
        object(array(CU_AD_FORMAT_UNSIGNED_INT8, 4, 256, 0, 0, 0), (struct how){ { C, C, C }, .flags = CU_TRSF_SRGB }),
        256);
}

static void addresses(void)
{
    seed = 1;
    static const char *const names = "wcmb";
    char name[40];
    for (int i = 0; i < 100 * 7; i++)
        ((float *)data)[2 * i] = (float)(i % 100), ((float *)data)[2 * i + 1] = (float)(i / 100);
    struct made a = array(CU_AD_FORMAT_FLOAT, 2, 100, 7, 0, 0);
    for (int linear = 0; linear < 2; linear++)
        for (int x = 0; x < 4; x++)
            for (int y = 0; y < 4; y++) {
                struct how h = { { x, y, C }, .linear = linear, .flags = CU_TRSF_NORMALIZED_COORDINATES };
                normal_coords(400, -3, 4);
                for (int i = 0; i < 60; i++)
                    in[i].v[0] = bits(random_float(2, 24)), in[i].v[1] = bits(random_float(2, 24));
                snprintf(name, sizeof name, "normal_%c%c%d", names[x], names[y], linear);
                ask(name, T2, object(a, h), 400);
                h.flags = 0;
                coords(200, 120, 9, 0);
                snprintf(name, sizeof name, "plain_%c%c%d", names[x], names[y], linear);
                ask(name, T2, object(a, h), 200);
                if (linear || x != y) continue;
                for (int normal = 0; normal < 2; normal++) {
                    h.flags = normal ? CU_TRSF_NORMALIZED_COORDINATES : 0;
                    for (int i = 0; i < 200; i++)
                        memset(&in[i], 0, 32), in[i].v[0] = rnd() % 240 - 110, in[i].v[1] = rnd() % 30 - 12;
                    snprintf(name, sizeof name, "whole_%c%d", names[x], normal);
                    ask(name, "tex.2d.v4.f32.s32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1}];", object(a, h), 200);
                }
            }
    /* offsets */
    coords(400, 100, 7, 0);
    for (int i = 0; i < 400; i++) in[i].v[2] = rnd() % 24 - 12, in[i].v[3] = rnd() % 24 - 12;
    for (int linear = 0; linear < 2; linear++) {
        ask(linear ? "offset_linear" : "offset", "tex.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1}], {%r2,%r3};",
            object(a, (struct how){ { C, C, C }, .linear = linear }), 400);
        ask(linear ? "offset_border_linear" : "offset_border",
            "tex.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1}], {%r2,%r3};",
            object(a, (struct how){ { B, B, B }, .linear = linear }), 400);
    }
    fill_floats(512, 0, 2);
    struct made a3 = array(CU_AD_FORMAT_FLOAT, 1, 8, 8, 8, 0);
    coords(200, 8, 8, 8);
    for (int i = 0; i < 200; i++) in[i].v[3] = rnd() % 8 - 4, in[i].v[4] = rnd() % 8 - 4, in[i].v[5] = rnd() % 8 - 4;
    ask("offset3", "tex.3d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1,%r2,%r2}], {%r3,%r4,%r5,%r5};",
        object(a3, near_), 200);
    for (int i = 0; i < 200; i++)
        for (int k = 0; k < 3; k++) in[i].v[k] = rnd() % 14 - 3;
    ask("whole3", "tex.3d.v4.f32.s32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1,%r2,%r2}];", object(a3, near_), 200);
    /* memory */
    struct made l = { .bytes = 100 * 4, .channels = 4, .format = CU_AD_FORMAT_UNSIGNED_INT8 },
                p = { .pitch = 256, .w = 20, .h = 16, .channels = 2, .format = CU_AD_FORMAT_FLOAT };
    fill_bytes(4096);
    CHECK(cuMemAlloc(&l.linear, 4096)), CHECK(cuMemcpyHtoD(l.linear, data, 4096));
    for (int i = 0; i < 200; i++) memset(&in[i], 0, 32), in[i].v[0] = i - 50;
    ask("fetch_u8", "tex.1d.v4.f32.s32 {%r8,%r9,%r10,%r11}, [%t, {%r0}];", object(l, near_), 200);
    ask("fetch_u8_border", "tex.1d.v4.f32.s32 {%r8,%r9,%r10,%r11}, [%t, {%r0}];",
        object(l, (struct how){ { B, B, B } }), 200);
    ask("fetch_u8_integer", "tex.1d.v4.u32.s32 {%r8,%r9,%r10,%r11}, [%t, {%r0}];",
        object(l, (struct how){ { C, C, C }, .flags = CU_TRSF_READ_AS_INTEGER }), 200);
    ask("fetch_srgb", "tex.1d.v4.f32.s32 {%r8,%r9,%r10,%r11}, [%t, {%r0}];",
        object(l, (struct how){ { C, C, C }, .flags = CU_TRSF_SRGB }), 200);
    l.channels = 2, l.format = CU_AD_FORMAT_HALF;
    ask("fetch_f16", "tex.1d.v4.f32.s32 {%r8,%r9,%r10,%r11}, [%t, {%r0}];", object(l, near_), 200);
    l.channels = 1, l.format = CU_AD_FORMAT_SIGNED_INT32;
    ask("fetch_s32", "tex.1d.v4.s32.s32 {%r8,%r9,%r10,%r11}, [%t, {%r0}];", object(l, near_), 200);
    for (int i = 0; i < 200; i++) in[i].v[0] = bits((float)i / 1.5f - 20);
    ask("fetch_float", "tex.1d.v4.s32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0}];", object(l, near_), 200);
    fill_floats(2048, -2, 4);
    CHECK(cuMemAlloc(&p.linear, 8192)), CHECK(cuMemcpyHtoD(p.linear, data, 8192));
    coords(1000, 20, 16, 0);
    ask("pitched", T2, object(p, LINEAR({ C, C, C })), 1000);
    ask("pitched_border", T2, object(p, LINEAR({ B, B, B })), 1000);
    normal_coords(1000, -2, 3);
    ask("pitched_wrap", T2, object(p, LINEAR({ W, M, C }, .flags = CU_TRSF_NORMALIZED_COORDINATES)), 1000);
}

static void levels(void)
{
    seed = 1;
    struct made f32 = mipped(CU_AD_FORMAT_FLOAT, 4, 16, 16, 0, 0, 5, 0),
                u8 = mipped(CU_AD_FORMAT_UNSIGNED_INT8, 4, 16, 16, 0, 0, 5, 1),
                f16 = mipped(CU_AD_FORMAT_HALF, 4, 16, 16, 0, 0, 5, 2);
    struct made steps = mipped(CU_AD_FORMAT_FLOAT, 1, 64, 64, 0, 0, 7, 3),
                wide = mipped(CU_AD_FORMAT_FLOAT, 1, 64, 16, 0, 0, 7, 3),
                line = mipped(CU_AD_FORMAT_FLOAT, 1, 64, 0, 0, 0, 7, 3),
                cubic = mipped(CU_AD_FORMAT_FLOAT, 1, 32, 32, 32, 0, 6, 3),
                odd = mipped(CU_AD_FORMAT_FLOAT, 1, 20, 13, 0, 0, 5, 0);
    const unsigned N = CU_TRSF_NORMALIZED_COORDINATES;
    normal_coords(2000, -0.1f, 1.1f);
    for (int i = 0; i < 2000; i++) in[i].v[3] = bits(unit() * 6 - 1);
    ask("mip_f32", L2, object(f32, LINEAR({ C, C, C }, .mip_linear = 1, .flags = N)), 2000);
    ask("mip_u8", L2, object(u8, LINEAR({ C, C, C }, .mip_linear = 1, .flags = N)), 2000);
    ask("mip_srgb", L2, object(u8, LINEAR({ C, C, C }, .mip_linear = 1, .flags = N | CU_TRSF_SRGB)), 2000);
    ask("mip_f16", L2, object(f16, LINEAR({ C, C, C }, .mip_linear = 1, .flags = N)), 2000);
    ask("mip_near_f32", L2, object(f32, (struct how){ { C, C, C }, .mip_linear = 1, .flags = N }), 2000);
    ask("mip_near_u8", L2, object(u8, (struct how){ { C, C, C }, .mip_linear = 1, .flags = N }), 2000);
    ask("near_mip_f32", L2, object(f32, LINEAR({ W, M, C }, .flags = N)), 2000);
    ask("mip_odd", L2, object(odd, LINEAR({ W, C, C }, .mip_linear = 1, .flags = N)), 2000);
    struct made deep = mipped(CU_AD_FORMAT_FLOAT, 1, 8, 8, 8, 0, 4, 0);
    ask("mip_3d", "tex.level.3d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1,%r2,%r2}], %r3;",
        object(deep, LINEAR({ C, C, C }, .mip_linear = 1, .flags = N)), 2000);
    struct made deep8 = mipped(CU_AD_FORMAT_UNSIGNED_INT8, 4, 8, 8, 8, 0, 4, 1);
    ask("mip_3d_u8", "tex.level.3d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1,%r2,%r2}], %r3;",
        object(deep8, LINEAR({ C, C, C }, .mip_linear = 1, .flags = N)), 2000);
    struct how bent = LINEAR({ C, C, C }, .mip_linear = 1, .flags = N, .bias = 0.37f, .least = 0.6f, .most = 2.3f);
    ask("mip_bent", L2, object(steps, bent), 2000);
    ask("mip_bent_plain", T2, object(steps, bent), 200);
    ask("mip_base", "tex.base.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1}];", object(steps, bent), 200);
    bent.mip_linear = 0, ask("mip_bent_near", L2, object(steps, bent), 2000);
    ask("mip_implicit", T2, object(steps, LINEAR({ C, C, C }, .mip_linear = 1, .flags = N)), 200);
    bent = LINEAR({ C, C, C }, .mip_linear = 1, .flags = N, .bias = 1.37f);
    ask("mip_biased_plain", T2, object(steps, bent), 200);
    for (int i = 0; i < 400; i++) in[i].v[0] = rnd() % 20 - 2, in[i].v[1] = rnd() % 20 - 2, in[i].v[2] = rnd() % 8 - 1;
    ask("mip_whole", "tex.level.2d.v4.f32.s32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1}], %r2;", object(f32, near_), 400);
    /* gradients: one direction, one vector, two */
    struct how g = LINEAR({ C, C, C }, .mip_linear = 1, .flags = N);
    static const char G2[] = "tex.grad.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1}], {%r2,%r3}, {%r4,%r5};";
    for (int i = 0; i < 2048; i++) {
        float v[8] = { 0.5f, 0.5f, ldexpf(1 + (float)i / 2048, 2) / 64 };
        for (int k = 0; k < 8; k++) in[i].v[k] = bits(v[k]);
    }
    ask("grad_log", G2, object(steps, g), 2048);
    for (int i = 0; i < 2048; i++) in[i].v[2] = bits(3.f / 64), in[i].v[3] = bits((float)i / 2048 * 3.f / 64);
    ask("grad_ratio", G2, object(steps, g), 2048);
    for (int i = 0; i < 4096; i++) {
        int kind = i & 3;
        double r = kind == 0 ? 1 : unit(), a = unit() * 6.2831853, b = kind == 1 ? a + 1.5707963 : unit() * 6.2831853,
               s = exp2(unit() * 4 + 0.5) / 64;
        float v[8] = {
            0.5f, 0.5f, (float)(s * cos(a)), (float)(s * sin(a)), (float)(s * r * cos(b)), (float)(s * r * sin(b))
        };
        if (kind == 3) v[3] = 0, v[2] = (float)s; /* along x */
        for (int k = 0; k < 8; k++) in[i].v[k] = bits(v[k]);
    }
    ask("grad_two", G2, object(steps, g), 4096);
    ask("grad_wide", G2, object(wide, g), 4096);
    for (int i = 0; i < 1024; i++)
        for (int k = 2; k < 6; k++) in[i].v[k] = bits(rnd() >> 5 & 1 ? 0 : random_float(-6, 4));
    ask("grad_zeros", G2, object(steps, g), 1024);
    g.bias = 0.7f, ask("grad_biased", G2, object(steps, g), 1024), g.bias = 0;
    for (int i = 0; i < 64; i++)
        in[i].v[2] = i & 1 ? 0x7fc00000 : 0x7f800000, in[i].v[3] = bits(i & 2 ? 0 : 1),
        in[i].v[4] = i & 4 ? 0x7fc00000 : bits(0.1f), in[i].v[5] = i & 8 ? 0xff800000 : 0;
    ask("grad_odd", G2, object(steps, g), 64);
    for (int i = 0; i < 1024; i++)
        for (int k = 0; k < 8; k++) in[i].v[k] = bits(random_float(-6, 4));
    ask("grad_1d", "tex.grad.1d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0}], {%r2}, {%r4};", object(line, g), 1024);
    ask("grad_3d",
        "tex.grad.3d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1,%r2,%r2}], {%r2,%r3,%r4,%r4}, {%r5,%r6,%r7,%r7};",
        object(cubic, g), 1024);
}

static void cubes(void)
{
    seed = 1;
    const unsigned N = CU_TRSF_NORMALIZED_COORDINATES;
    for (int i = 0; i < 6 * 256 * 256; i++) {
        float v[4] = { (float)(i % 256), (float)(i / 256 % 256), (float)(i / 65536), 1 };
        memcpy(data + 16 * i, v, 16);
    }
    struct made a = array(CU_AD_FORMAT_FLOAT, 4, 256, 256, 6, CUDA_ARRAY3D_CUBEMAP);
    static const char TC[] = "tex.cube.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1,%r2,%r2}];";
    for (int i = 0; i < 4096; i++)
        for (int k = 0; k < 8; k++) in[i].v[k] = bits(random_float(-2, 4));
    for (int i = 0; i < 27; i++)
        for (int k = 0; k < 3; k++) in[i].v[k] = bits((float)((k == 0 ? i / 9 : k == 1 ? i / 3 % 3 : i % 3) - 1));
    in[30].v[0] = 0x7fc00000, in[31].v[1] = 0x7fc00000, in[32].v[2] = 0x7fc00000, in[33].v[0] = 0x7f800000,
    in[34].v[1] = 0xff800000, in[35].v[2] = 0x7f800000;
    for (int k = 0; k < 3; k++) in[36].v[k] = 0, in[37].v[k] = 0x80000000, in[38].v[k] = 1, in[39].v[k] = 0x7f800000;
    ask("cube_near", TC, object(a, (struct how){ { C, C, C }, .flags = N }), 4096);
    ask("cube_linear", TC, object(a, LINEAR({ C, C, C }, .flags = N)), 4096);
    ask("cube_wrap", TC, object(a, LINEAR({ W, W, W }, .flags = N)), 1024);
    ask("cube_gather", "tld4.g.cube.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1,%r2,%r2}];",
        object(a, (struct how){ { C, C, C }, .flags = N }), 1024);
    fill_floats(4 * 4 * 18, 0, 3);
    struct made l = array(CU_AD_FORMAT_FLOAT, 1, 4, 4, 18, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED);
    for (int i = 0; i < 200; i++) in[i].v[3] = rnd() % 6 - 1;
    ask("cube_layers", "tex.acube.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r3,%r0,%r1,%r2}];",
        object(l, (struct how){ { C, C, C }, .flags = N }), 200);
    struct made m = mipped(CU_AD_FORMAT_FLOAT, 1, 8, 8, 6, CUDA_ARRAY3D_CUBEMAP, 4, 0);
    for (int i = 0; i < 1000; i++) in[i].v[3] = bits(unit() * 5 - 1);
    ask("cube_levels", "tex.level.cube.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1,%r2,%r2}], %r3;",
        object(m, LINEAR({ C, C, C }, .mip_linear = 1, .flags = N)), 1000);
}

static void seamless(void)
{
    seed = 1;
    const unsigned N = CU_TRSF_NORMALIZED_COORDINATES;
    static const char TC[] = "tex.cube.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1,%r2,%r2}];";
    for (int i = 0; i < 4096; i++)
        for (int c = 0; c < 8; c++) in[i].v[c] = bits(random_float(-2, 4));
    fill_floats(6 * 64 * 4, 0, 3);
    struct made s = array(CU_AD_FORMAT_FLOAT, 4, 8, 8, 6, CUDA_ARRAY3D_CUBEMAP);
    if (every)
        for (int i = 0; i < 6 * 64 * 4; i++) printf("seamless_texel %d %x\n", i, ((uint32_t *)data)[i]);
    ask("cube_seamless", TC, object(s, LINEAR({ C, C, C }, .flags = N | 0x40)), 4096);
}

/* Gradients of directions: the texels of level l are 2^l, so that an answer is a level. */
static void cube_gradients(void)
{
    seed = 1;
    struct made s = mipped(CU_AD_FORMAT_FLOAT, 1, 64, 64, 6, CUDA_ARRAY3D_CUBEMAP, 7, 3);
    struct how g = LINEAR({ C, C, C }, .mip_linear = 1, .most = 6, .flags = CU_TRSF_NORMALIZED_COORDINATES);
    for (int one = 1; one >= 0; one--) { /* along an axis, then anywhere */
        for (int i = 0; i < 4096; i++) {
            for (int k = 0; k < 8; k++) in[i].v[k] = bits(random_float(k < 3 ? -1 : -6, k < 3 ? 2 : 6));
            for (int k = 0; k < 3 && one; k++) in[i].v[k] = bits(k == i % 6 / 2 ? (i & 1 ? 1 : -1) : 0);
            for (int k = 3; k < 8 && i % 8 < 5; k++)
                if (k - 3 != i % 8) in[i].v[k] = 0;
        }
        ask(one ? "cube_grad_axis" : "cube_grad_x",
            "tex.grad.cube.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1,%r2,%r2}], {%r3,%r4,%r5,%r5}, "
            "{%r12,%r12,%r12,%r12};",
            object(s, g), 4096);
        ask(one ? "cube_grad_axis_two" : "cube_grad_two",
            "tex.grad.cube.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1,%r2,%r2}], {%r3,%r4,%r5,%r5}, "
            "{%r6,%r7,%r12,%r12};",
            object(s, g), 4096);
    }
}

static void gathers(void)
{
    seed = 1;
    fill_bytes(1 << 14);
    struct made u8 = array(CU_AD_FORMAT_UNSIGNED_INT8, 4, 16, 9, 0, CUDA_ARRAY3D_TEXTURE_GATHER),
                f16 = array(CU_AD_FORMAT_HALF, 4, 16, 9, 0, CUDA_ARRAY3D_TEXTURE_GATHER),
                s16 = array(CU_AD_FORMAT_SIGNED_INT16, 2, 16, 9, 0, CUDA_ARRAY3D_TEXTURE_GATHER);
    struct made lay = array(CU_AD_FORMAT_UNSIGNED_INT8, 4, 16, 9, 3, CUDA_ARRAY3D_LAYERED);
    coords(300, 16, 9, 0);
    for (int i = 0; i < 300; i++) in[i].v[2] = rnd() % 16 - 8, in[i].v[3] = rnd() % 16 - 8, in[i].v[4] = rnd() % 5 - 1;
    char insn[128], name[20];
    for (int k = 0; k < 4; k++) {
        snprintf(insn, sizeof insn, "tld4.%c.2d.v4.f32.f32 {%%r8,%%r9,%%r10,%%r11}, [%%t, {%%r0,%%r1}];", "rgba"[k]);
        snprintf(name, sizeof name, "gather_%c", "rgba"[k]);
        ask(name, insn, object(u8, near_), 300);
        snprintf(name, sizeof name, "gather_s16_%c", "rgba"[k]);
        ask(name, insn, object(s16, near_), 300);
    }
    static const char G[] = "tld4.b.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1}];";
    ask("gather_srgb", G, object(u8, LINEAR({ C, C, C }, .flags = CU_TRSF_SRGB)), 300);
    ask("gather_f16", G, object(f16, near_), 300);
    ask("gather_border_u8", G, object(u8, (struct how){ { B, C, C }, .border = { 0.3f, -0.7f, 1.8f, 0.5f } }), 300);
    ask("gather_u32", "tld4.g.2d.v4.u32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1}];",
        object(u8, (struct how){ { C, C, C }, .flags = CU_TRSF_READ_AS_INTEGER }), 300);
    ask("gather_s32", "tld4.g.2d.v4.s32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1}];",
        object(s16, (struct how){ { C, C, C }, .flags = CU_TRSF_READ_AS_INTEGER }), 300);
    ask("gather_offset", "tld4.r.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1}], {%r2,%r3};", object(u8, near_),
        300);
    ask("gather_layer", "tld4.r.a2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r4,%r0,%r1,%r1}];", object(lay, near_), 300);
    fill_special(16 * 9 * 4);
    struct made f32 = array(CU_AD_FORMAT_FLOAT, 4, 16, 9, 0, CUDA_ARRAY3D_TEXTURE_GATHER);
    for (int k = 0; k < 4; k++) {
        snprintf(insn, sizeof insn, "tld4.%c.2d.v4.f32.f32 {%%r8,%%r9,%%r10,%%r11}, [%%t, {%%r0,%%r1}];", "rgba"[k]);
        snprintf(name, sizeof name, "gather_f32_%c", "rgba"[k]);
        ask(name, insn, object(f32, near_), 300);
    }
    normal_coords(300, -2, 3);
    ask("gather_wrap", G, object(u8, (struct how){ { W, M, C }, .flags = CU_TRSF_NORMALIZED_COORDINATES }), 300);
}

static void queries(void)
{
    const unsigned N = CU_TRSF_NORMALIZED_COORDINATES, S = CUDA_ARRAY3D_SURFACE_LDST;
    static const char *const what[] = { "width", "height", "depth" };
    struct made l = { .bytes = 400, .channels = 1, .format = CU_AD_FORMAT_FLOAT },
                p = { .pitch = 256, .w = 20, .h = 16, .channels = 1, .format = CU_AD_FORMAT_FLOAT };
    CHECK(cuMemAlloc(&l.linear, 8192)), p.linear = l.linear;
    struct {
        const char *name;
        struct made m;
        struct how h;
    } k[] = { { "1d", array(CU_AD_FORMAT_FLOAT, 1, 37, 0, 0, S), { { W, C, M }, 1, 0, N } },
              { "2d", array(CU_AD_FORMAT_UNSIGNED_INT8, 4, 21, 9, 0, S), { { C, M, B }, 0, 0, 0 } },
              { "3d", array(CU_AD_FORMAT_SIGNED_INT16, 2, 5, 6, 7, S), { { B, C, C }, 0, 0, CU_TRSF_READ_AS_INTEGER } },
              { "a1d", array(CU_AD_FORMAT_HALF, 1, 12, 0, 5, S | CUDA_ARRAY3D_LAYERED), { { C, C, C } } },
              { "a2d",
                array(CU_AD_FORMAT_UNSIGNED_INT32, 2, 12, 13, 5, S | CUDA_ARRAY3D_LAYERED),
                { { C, C, C }, .flags = CU_TRSF_READ_AS_INTEGER } },
              { "cube", array(CU_AD_FORMAT_FLOAT, 4, 8, 8, 6, S | CUDA_ARRAY3D_CUBEMAP), { { C, C, C }, 1, 0, N } },
              { "acube",
                array(CU_AD_FORMAT_FLOAT, 1, 8, 8, 12, S | CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED),
                { { C, C, C }, 1, 0, N } },
              { "mip", mipped(CU_AD_FORMAT_FLOAT, 1, 16, 12, 0, 0, 4, 3), { { C, C, C }, 1, 1, N } },
              { "linear", l, { { C, C, C } } },
              { "pitch", p, { { C, C, C }, 1 } } };
    char insn[160], name[60];
    memset(in, 0, sizeof in);
    for (int i = 0; i < 10; i++) {
        CUtexObject t = object(k[i].m, k[i].h);
        for (int q = 0; q < 3; q++) {
            snprintf(insn, sizeof insn, "txq.%s.b32 %%r8, [%%t];", what[q]);
            snprintf(name, sizeof name, "txq_%s_%s", k[i].name, what[q]);
            ask(name, insn, t, 1);
        }
        if (i < 7) {
            CUsurfObject s = surface(k[i].m);
            for (int q = 0; q < 3; q++) {
                snprintf(insn, sizeof insn, "suq.%s.b32 %%r8, [%%t];", what[q]);
                snprintf(name, sizeof name, "suq_%s_%s", k[i].name, what[q]);
                ask(name, insn, s, 1);
            }
        }
    }
    for (int i = 0; i < 8; i++) in[i].v[0] = i - 1;
    ask("txq_level_width",
        "txq.level.width.b32 %r8, [%t], %r0; txq.level.height.b32 %r9, [%t], %r0; txq.level.depth.b32 %r10, [%t], %r0;",
        object(k[7].m, k[7].h), 8);
}

static void after(const char *name, struct made m, const char *insn,
                  int n) /* what a surface holds after the instruction */
{
    CUmodule x;
    CUfunction f = kernel_of(insn, "", &x);
    if (!f) return;
    size_t texel = size_of(m.format) * m.channels, bytes = texel * m.w * (m.h ? m.h : 1) * (m.d ? m.d : 1);
    for (size_t i = 0; i < bytes; i++) data[i] = (unsigned char)(i * 37 + 11);
    copy_in(m.array, texel, m.w, m.h, m.d, 0);
    CUresult r = launch(f, surface(m), n);
    if (r) printf("# %s: %d\n", name, r);
    copy_in(m.array, texel, m.w, m.h, m.d, 1);
    if (every)
        for (size_t i = 0; i < bytes; i += texel) {
            printf("%s %zu :", name, i / texel);
            for (size_t b = 0; b < texel; b++) printf(" %02x", data[i + b]);
            printf("\n");
        }
    tell(name, data, bytes, n);
    CHECK(cuModuleUnload(x));
}
static void reductions(void)
{
    const unsigned S = CUDA_ARRAY3D_SURFACE_LDST;
    char name[60];
    seed = 1;
    /* reductions: many threads a texel */
    struct made w = array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 8, 4, 0, S);
    struct made d = array(CU_AD_FORMAT_UNSIGNED_INT32, 2, 8, 4, 0, S);
    static const struct {
        const char *name, *text;
        int wide;
    } red[] = { { "add_u32", "sured.b.add.2d.u32.zero [%t, {%r0,%r1}], %r2;", 0 },
                { "min_u32", "sured.b.min.2d.u32.zero [%t, {%r0,%r1}], %r2;", 0 },
                { "max_u32", "sured.b.max.2d.u32.zero [%t, {%r0,%r1}], %r2;", 0 },
                { "min_s32", "sured.b.min.2d.s32.zero [%t, {%r0,%r1}], %r2;", 0 },
                { "max_s32", "sured.b.max.2d.s32.zero [%t, {%r0,%r1}], %r2;", 0 },
                { "and_b32", "sured.b.and.2d.b32.zero [%t, {%r0,%r1}], %r2;", 0 },
                { "or_b32", "sured.b.or.2d.b32.zero [%t, {%r0,%r1}], %r2;", 0 },
                { "add_u32_clamp", "sured.b.add.2d.u32.clamp [%t, {%r0,%r1}], %r2;", 0 },
                { "add_u64", "sured.b.add.2d.u64.zero [%t, {%r0,%r1}], %d1;", 1 },
                { "min_s64", "sured.b.min.2d.s64.zero [%t, {%r0,%r1}], %d1;", 1 },
                { "max_u64", "sured.b.max.2d.u64.zero [%t, {%r0,%r1}], %d1;", 1 } };
    for (int i = 0; i < 11; i++) {
        for (int j = 0; j < 500; j++)
            in[j].v[0] = (rnd() % 12 - 2) * (red[i].wide ? 8 : 4), in[j].v[1] = rnd() % 6 - 1, in[j].v[2] = rnd(),
            in[j].v[3] = rnd();
        snprintf(name, sizeof name, "sured_%s", red[i].name);
        after(name, red[i].wide ? d : w, red[i].text, 500);
    }
    /* of an array that is not made for it */
    struct made plain = array(CU_AD_FORMAT_FLOAT, 1, 16, 5, 0, 0);
    CUDA_RESOURCE_DESC r = { .resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = plain.array };
    CUsurfObject o = 0;
    printf("surface_without_flag %d\n", cuSurfObjectCreate(&o, &r));
}
static void surface_coords(int bytes)
{
    for (int i = 0; i < 400; i++)
        memset(&in[i], 0, 32), in[i].v[0] = (i % 40 - 12) * bytes, in[i].v[1] = i / 40 - 2, in[i].v[2] = rnd() % 7 - 1;
}
/* mixed: elements of other sizes than the texels, too. */
static void surfaces(int mixed)
{
    seed = 1;
    const unsigned S = CUDA_ARRAY3D_SURFACE_LDST;
    char insn[256], name[60];
    static const char *const clamp[] = { "zero", "clamp" };
    fill_bytes(1 << 14);
    struct made u8 = array(CU_AD_FORMAT_UNSIGNED_INT8, 4, 16, 5, 0, S), f32 = array(CU_AD_FORMAT_FLOAT, 4, 16, 5, 0, S),
                one = array(CU_AD_FORMAT_UNSIGNED_INT8, 1, 24, 5, 0, S),
                cub = array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 6, 5, 4, S),
                line = array(CU_AD_FORMAT_UNSIGNED_INT16, 2, 20, 0, 0, S),
                lay = array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 6, 5, 4, S | CUDA_ARRAY3D_LAYERED);
    static const struct {
        const char *name, *text;
        int bytes;
    } k1[] = {
        { "b8", "suld.b.2d.b8.%s %%h8, [%%t, {%%r0,%%r1}]; cvt.u32.u16 %%r8, %%h8;", 1 },
        { "b16", "suld.b.2d.b16.%s %%h8, [%%t, {%%r0,%%r1}]; cvt.u32.u16 %%r8, %%h8;", 2 },
        { "b32", "suld.b.2d.b32.%s %%r8, [%%t, {%%r0,%%r1}];", 4 },
        { "v4b8",
          "suld.b.2d.v4.b8.%s {%%h8,%%h9,%%h10,%%h11}, [%%t, {%%r0,%%r1}]; cvt.u32.u16 %%r8, %%h8; "
          "cvt.u32.u16 %%r9, %%h9; cvt.u32.u16 %%r10, %%h10; cvt.u32.u16 %%r11, %%h11;",
          4 },
        { "v2b32", "suld.b.2d.v2.b32.%s {%%r8,%%r9}, [%%t, {%%r0,%%r1}];", 8 },
        { "b64", "suld.b.2d.b64.%s %%d2, [%%t, {%%r0,%%r1}]; mov.b64 {%%r8,%%r9}, %%d2;", 8 },
        { "v4b32", "suld.b.2d.v4.b32.%s {%%r8,%%r9,%%r10,%%r11}, [%%t, {%%r0,%%r1}];", 16 },
    };
    struct made wide = array(CU_AD_FORMAT_UNSIGNED_INT32, 2, 16, 5, 0, S);
    struct made half = array(CU_AD_FORMAT_UNSIGNED_INT16, 1, 16, 5, 0, S);
    for (int c = 0; c < 2; c++) {
        for (int i = 0; i < 7; i++) {
            struct made m = k1[i].bytes == 1    ? one
                            : k1[i].bytes == 2  ? half
                            : k1[i].bytes == 4  ? u8
                            : k1[i].bytes == 16 ? f32
                                                : wide;
            surface_coords(k1[i].bytes);
            snprintf(insn, sizeof insn, k1[i].text, clamp[c]);
            snprintf(name, sizeof name, "suld_%s_%s", k1[i].name, clamp[c]);
            ask(name, insn, surface(m), 400);
            if (!mixed || m.array == one.array) continue;
            snprintf(name, sizeof name, "suld_u8x1_%s_%s", k1[i].name, clamp[c]);
            ask(name, insn, surface(one), 400);
            snprintf(name, sizeof name, "suld_f32x4_%s_%s", k1[i].name, clamp[c]);
            ask(name, insn, surface(f32), 400);
        }
        surface_coords(4);
        snprintf(insn, sizeof insn, "suld.b.3d.b32.%s %%r8, [%%t, {%%r0,%%r1,%%r2,%%r2}];", clamp[c]);
        snprintf(name, sizeof name, "suld_3d_%s", clamp[c]);
        ask(name, insn, surface(cub), 400);
        snprintf(insn, sizeof insn, "suld.b.1d.b32.%s %%r8, [%%t, {%%r0}];", clamp[c]);
        snprintf(name, sizeof name, "suld_1d_%s", clamp[c]);
        ask(name, insn, surface(line), 400);
        snprintf(insn, sizeof insn, "suld.b.a2d.b32.%s %%r8, [%%t, {%%r2,%%r0,%%r1,%%r1}];", clamp[c]);
        snprintf(name, sizeof name, "suld_a2d_%s", clamp[c]);
        ask(name, insn, surface(lay), 400);
    }
    if (mixed) return;
    /* stores: rows 0 to 4 inside, one store a texel, and others outside */
    for (int i = 0; i < 120; i++)
        memset(&in[i], 0, 32), in[i].v[0] = 4 * (i % 24 - 4), in[i].v[1] = i / 24, in[i].v[2] = rnd(),
                               in[i].v[3] = rnd();
    after("sust_b32_zero", u8, "sust.b.2d.b32.zero [%t, {%r0,%r1}], %r2;", 120);
    after("sust_v4b8_zero", u8,
          "cvt.u16.u32 %h0, %r2; cvt.u16.u32 %h1, %r3; sust.b.2d.v4.b8.zero [%t, {%r0,%r1}], {%h0,%h1,%h0,%h1};", 120);
    reductions();
}
static void formatted(void)
{
    seed = 1;
    const unsigned S = CUDA_ARRAY3D_SURFACE_LDST;
    char name[60];
    /* values of each format, in texels */
    static const struct {
        const char *name;
        CUarray_format f;
        int real;
    } k[] = { { "u8", CU_AD_FORMAT_UNSIGNED_INT8, 0 },   { "s8", CU_AD_FORMAT_SIGNED_INT8, 0 },
              { "u16", CU_AD_FORMAT_UNSIGNED_INT16, 0 }, { "s16", CU_AD_FORMAT_SIGNED_INT16, 0 },
              { "u32", CU_AD_FORMAT_UNSIGNED_INT32, 0 }, { "s32", CU_AD_FORMAT_SIGNED_INT32, 0 },
              { "f16", CU_AD_FORMAT_HALF, 1 },           { "f32", CU_AD_FORMAT_FLOAT, 1 } };
    for (int i = 0; i < 8; i++)
        for (int channels = 1; channels <= 4; channels *= 2) {
            struct made m = array(k[i].f, channels, 16, 5, 0, S);
            for (int j = 0; j < 100; j++) {
                in[j].v[0] = j % 20 - 2, in[j].v[1] = j / 20;
                for (int q = 2; q < 6; q++)
                    in[j].v[q] = k[i].real        ? bits(random_float(-30, 50))
                                 : rnd() >> 6 & 1 ? rnd()
                                                  : (rnd() & 0x3ff) - 512;
            }
            snprintf(name, sizeof name, "sust_p_%sx%d", k[i].name, channels);
            after(name, m, "sust.p.2d.v4.b32.zero [%t, {%r0,%r1}], {%r2,%r3,%r4,%r5};", 100);
            snprintf(name, sizeof name, "sust_p1_%sx%d", k[i].name, channels);
            after(name, m, "sust.p.2d.b32.zero [%t, {%r0,%r1}], %r2;", 100);
        }
    struct made w = array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 8, 4, 0, S);
    struct made s = array(CU_AD_FORMAT_SIGNED_INT32, 1, 8, 4, 0, S);
    for (int j = 0; j < 500; j++) in[j].v[1] = rnd() % 6 - 1, in[j].v[2] = rnd(), in[j].v[3] = rnd();
    for (int j = 0; j < 500; j++) in[j].v[0] = rnd() % 12 - 2;
    after("sured_p_add", w, "sured.p.add.2d.b32.zero [%t, {%r0,%r1}], %r2;", 500);
    after("sured_p_min_u", w, "sured.p.min.2d.b32.zero [%t, {%r0,%r1}], %r2;", 500);
    after("sured_p_min_s", s, "sured.p.min.2d.b32.zero [%t, {%r0,%r1}], %r2;", 500);
    after("sured_p_max_s", s, "sured.p.max.2d.b32.zero [%t, {%r0,%r1}], %r2;", 500);
    after("sured_p_and", s, "sured.p.and.2d.b32.zero [%t, {%r0,%r1}], %r2;", 500);
}

static void references(void)
{
    seed = 1;
    CUmodule m;
    CUtexref t;
    CUsurfref sr;
    for (int i = 0; i < 20 * 9; i++) ((float *)data)[i] = (float)i;
    struct made a = array(CU_AD_FORMAT_FLOAT, 1, 20, 9, 0, CUDA_ARRAY3D_SURFACE_LDST);
    coords(200, 20, 9, 0);
    CUfunction f = kernel_of("tex.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [image, {%r0,%r1}];", ".global .texref image;",
                             &m);
    if (f) {
        CUresult r = cuModuleGetTexRef(&t, m, "image");
        printf("reference_get %d\n", r);
        if (!r) {
            printf("reference_set %d %d %d %d %d\n", cuTexRefSetArray(t, a.array, CU_TRSA_OVERRIDE_FORMAT),
                   cuTexRefSetFilterMode(t, CU_TR_FILTER_MODE_LINEAR),
                   cuTexRefSetAddressMode(t, 0, CU_TR_ADDRESS_MODE_BORDER),
                   cuTexRefSetAddressMode(t, 1, CU_TR_ADDRESS_MODE_CLAMP), cuTexRefSetFlags(t, 0));
            r = launch(f, 0, 200);
            if (r) printf("# reference: %d\n", r);
            answers("reference", 200);
        }
    }
    f = kernel_of("suld.b.2d.b32.clamp %r8, [image, {%r0,%r1}];", ".global .surfref image;", &m);
    if (f) {
        CUresult r = cuModuleGetSurfRef(&sr, m, "image");
        for (int i = 0; i < 200; i++) in[i].v[0] = 4 * (i % 20), in[i].v[1] = i / 20;
        printf("surface_reference_get %d\n", r);
        if (!r) {
            printf("surface_reference_set %d\n", cuSurfRefSetArray(sr, a.array, 0));
            r = launch(f, 0, 200);
            if (r) printf("# reference: %d\n", r);
            answers("surface_reference", 200);
        }
    }
}

int main(int argc, char **argv)
{
    CUdevice d;
    CUcontext c;
    const char *parts = argc > 1 ? argv[1] : "falqosrpg"; /* their letters */
    every = argc > 2;
    CHECK(cuInit(0)), CHECK(cuDeviceGet(&d, 0)), CHECK(cuDevicePrimaryCtxRetain(&c, d)), CHECK(cuCtxSetCurrent(c));
    CHECK(cuMemAlloc(&din, sizeof in)), CHECK(cuMemAlloc(&dout, sizeof out));
    for (; *parts; parts++) {
        switch (*parts) {
        case 'f': formats(); break;
        case 'a': addresses(); break;
        case 'l': levels(); break;
        case 'o': cubes(), gathers(); break;
        case 'q': queries(); break;
        case 'g': cube_gradients(); break;
        case 'r': references(); break;
        case 's': surfaces(0); break;
        case 'p': formatted(), seamless(); break;
        case 'x': surfaces(1); break;
        case 't': {
            struct made m = array(CU_AD_FORMAT_FLOAT, 1, 16, 5, 0, CUDA_ARRAY3D_SURFACE_LDST);
            in[0].v[0] = 4096;
            ask("trapped", "suld.b.2d.b32.trap %r8, [%t, {%r0,%r1}];", surface(m), 1);
        }
        }
    }
    return 0;
}
