/* What a GPU and its driver do with samplers apart from textures (texmode_independent, .samplerref), and with the other
 * operands of tex that CUDA C++ does not have: a depth to compare with, residency, samples of a texel. Each question is
 * a process of its own, since some end the context.
 *
 *     gcc -O1 -I$CUDA/include -o samplers samplers.c -lcuda -lm && ./samplers
 *
 * A line a call, "question: call result"; then a line an answer: the coordinates and the four words. */
#include "texture_ask.h"
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 18 };
static const float places[ROWS][2] = { { 0.5f, 0.5f },   { 3.25f, 2.75f }, { -0.6f, 5.5f },  { 17.3f, 4.2f },
                                       { 5.5f, -3.5f },  { 5.5f, 20.1f },  { 15.7f, 15.6f }, { 8, 8 },
                                       { 0.03f, 0.9f },  { 1.1f, 0.3f },   { -0.2f, 0.4f },  { 0.5f, 2.3f },
                                       { 0.27f, 0.61f }, { 0.3f, -1.4f },  { 0.99f, 0.01f }, { 1, 0 },
                                       { -7.3f, 0.77f }, { 0, 0 } };
static const char *who;

/* Which handles a question takes: objects of the same texels, with these samplers. */
enum object { NONE, POINT, LINEAR_BORDER, WRAP_NORMAL, INTEGER, HALVES, DEPTHS, MIPS, LAYERS };
struct question {
    const char *name, *target, *globals, *params, *insn;
    enum object t, s; /* %t and %s */
    const char *bind; /* a texref that is bound to the texels: "" none; of a capital letter: linear, border too */
};
#define IND "sm_90, texmode_independent"
#define VARS ".global .texref image; .global .samplerref samp;"
#define INIT(x) ".global .texref image; .global .samplerref samp = { " x " };"
#define Q(name, ...)           \
    {                          \
        name, IND, __VA_ARGS__ \
    }
#define U(name, ...)               \
    {                              \
        name, "sm_90", __VA_ARGS__ \
    }
#define V(x) "[" x ", {%r0,%r1}];"
#define TEX "tex.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, "
#define ROUND "cvt.rzi.s32.f32 %r0, %r0; cvt.rzi.s32.f32 %r1, %r1; "
#define TXQ(what, of) "txq." what ".b32 %r8, [" of "];"
static const struct question all[] = {
    Q("unset", VARS, "", TEX V("image, samp"), 0, 0, "image"),
    Q("unset_linear", VARS, "", TEX V("image, samp"), 0, 0, "Image"),
    Q("unbound", VARS, "", TEX V("image, samp"), 0, 0, ""),
    Q("linear", INIT("filter_mode = linear"), "", TEX V("image, samp"), 0, 0, "image"),
    Q("nearest", INIT("filter_mode = nearest"), "", TEX V("image, samp"), 0, 0, "Image"),
    Q("wrap", INIT("addr_mode_0 = wrap, addr_mode_1 = wrap"), "", TEX V("image, samp"), 0, 0, "image"),
    Q("mirror", INIT("addr_mode_0 = mirror, addr_mode_1 = mirror"), "", TEX V("image, samp"), 0, 0, "image"),
    Q("ogl", INIT("addr_mode_0 = clamp_ogl, addr_mode_1 = clamp_ogl, filter_mode = linear"), "", TEX V("image, samp"),
      0, 0, "image"),
    Q("edge", INIT("addr_mode_0 = clamp_to_edge, addr_mode_1 = clamp_to_edge, filter_mode = linear"), "",
      TEX V("image, samp"), 0, 0, "image"),
    Q("border", INIT("addr_mode_0 = clamp_to_border, addr_mode_1 = clamp_to_border, filter_mode = linear"), "",
      TEX V("image, samp"), 0, 0, "image"),
    Q("unnormal", INIT("force_unnormalized_coords = 1, filter_mode = linear"), "", TEX V("image, samp"), 0, 0, "image"),
    Q("unnormal_wrap", INIT("force_unnormalized_coords = 1, addr_mode_0 = wrap, addr_mode_1 = wrap"), "",
      TEX V("image, samp"), 0, 0, "image"),
    Q("normal_texture", ".global .texref image = { normalized_coords = 1 }; .global .samplerref samp;", "",
      TEX V("image, samp"), 0, 0, "image"),
    Q("params", "", ", .param .texref pt, .param .samplerref ps", TEX V("pt, ps"), POINT, LINEAR_BORDER, ""),
    Q("param_sampler", ".global .texref image;", ", .param .samplerref ps", TEX V("image, ps"), LINEAR_BORDER, 0,
      "image"),
    Q("handles_pl", "", "", TEX V("%t, %s"), POINT, LINEAR_BORDER, ""),
    Q("handles_lp", "", "", TEX V("%t, %s"), LINEAR_BORDER, POINT, ""),
    Q("handles_pw", "", "", TEX V("%t, %s"), POINT, WRAP_NORMAL, ""),
    Q("handles_wp", "", "", TEX V("%t, %s"), WRAP_NORMAL, POINT, ""),
    Q("handles_ww", "", "", TEX V("%t, %s"), WRAP_NORMAL, WRAP_NORMAL, ""),
    Q("handles_p0", "", "", TEX V("%t, %s"), POINT, NONE, ""),
    Q("handles_0p", "", "", TEX V("%t, %s"), NONE, POINT, ""),
    Q("handles_hi", "", "", TEX V("%t, %s"), HALVES, INTEGER, ""),
    Q("handles_ih", "", "", TEX V("%t, %s"), INTEGER, HALVES, ""),
    Q("handle_variable", ".global .samplerref samp = { addr_mode_0 = wrap, addr_mode_1 = wrap, filter_mode = linear };",
      "", TEX V("%t, samp"), POINT, 0, ""),
    Q("variable_handle", ".global .texref image;", "", TEX V("image, %s"), NONE, LINEAR_BORDER, "image"),
    Q("moved", INIT("filter_mode = linear"), "", "mov.u64 %d2, image; mov.u64 %d3, samp;" TEX V("%d2, %d3"), 0, 0,
      "image"),
    Q("moved_numbers", INIT("filter_mode = linear"), "",
      "mov.u64 %d2, image; mov.u64 %d3, samp; mov.b64 {%r8,%r9}, %d2; mov.b64 {%r10,%r11}, %d3;", 0, 0, "image"),
    Q("two_samplers", VARS ".global .samplerref other = { filter_mode = linear, addr_mode_0 = mirror };", "",
      TEX "[image, samp, {%r0,%r1}]; tex.2d.v4.f32.f32 {%r9,%r10,%r11,%r12}, [image, other, {%r0,%r1}];", 0, 0,
      "image"),
    Q("level", INIT("filter_mode = linear"), "",
      "tex.level.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [image, samp, {%r0,%r1}], %r2;", 0, 0, "image"),
    Q("gather", INIT("addr_mode_0 = wrap"), "", "tld4.r.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [image, samp, {%r0,%r1}];",
      0, 0, "image"),
    Q("gather_handles", "", "", "tld4.r.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, %s, {%r0,%r1}];", POINT, WRAP_NORMAL,
      ""),
    Q("whole", INIT("addr_mode_0 = wrap"), "",
      "cvt.rzi.s32.f32 %r0, %r0; cvt.rzi.s32.f32 %r1, %r1; tex.2d.v4.f32.s32 {%r8,%r9,%r10,%r11}, [image, samp, "
      "{%r0,%r1}];",
      0, 0, "image"),
    Q("levels_pm", "", "", "tex.level.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, %s, {%r0,%r1}], %r1;", POINT, MIPS, ""),
    Q("levels_mp", "", "", "tex.level.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, %s, {%r0,%r1}], %r1;", MIPS, POINT, ""),
    Q("levels_mw", "", "", "tex.level.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, %s, {%r0,%r1}], %r1;", MIPS, WRAP_NORMAL,
      ""),
    Q("ask_filter", INIT("filter_mode = linear"), "", TXQ("filter_mode", "samp"), 0, 0, "image"),
    Q("ask_nearest", INIT("filter_mode = nearest"), "", TXQ("filter_mode", "samp"), 0, 0, "Image"),
    Q("ask_unset", VARS, "",
      TXQ("filter_mode", "samp") "txq.addr_mode_0.b32 %r9, [samp]; txq.addr_mode_1.b32 %r10, [samp]; "
                                 "txq.force_unnormalized_coords.b32 %r11, [samp];",
      0, 0, "image"),
    Q("ask_address", INIT("addr_mode_0 = wrap, addr_mode_1 = mirror, addr_mode_2 = clamp_ogl"), "",
      TXQ("addr_mode_0", "samp") "txq.addr_mode_1.b32 %r9, [samp]; txq.addr_mode_2.b32 %r10, [samp];", 0, 0, "image"),
    Q("ask_address2", INIT("addr_mode_0 = clamp_to_edge, addr_mode_1 = clamp_to_border"), "",
      TXQ("addr_mode_0", "samp") "txq.addr_mode_1.b32 %r9, [samp]; txq.addr_mode_2.b32 %r10, [samp];", 0, 0, "image"),
    Q("ask_unnormal", INIT("force_unnormalized_coords = 1"), "", TXQ("force_unnormalized_coords", "samp"), 0, 0,
      "image"),
    Q("ask_handle", "", "", TXQ("filter_mode", "%s"), 0, LINEAR_BORDER, ""),
    Q("ask_width", VARS, "", TXQ("width", "image") "txq.height.b32 %r9, [image]; txq.depth.b32 %r10, [image];", 0, 0,
      "image"),
    Q("ask_type", VARS, "", TXQ("channel_data_type", "image"), 0, 0, "image"),
    Q("ask_order", VARS, "", TXQ("channel_order", "image"), 0, 0, "image"),
    Q("ask_normal", VARS, "", TXQ("normalized_coords", "image"), 0, 0, "image"),
    Q("ask_levels", VARS, "", TXQ("num_mipmap_levels", "image"), 0, 0, "image"),
    Q("ask_samples", VARS, "", TXQ("num_samples", "image"), 0, 0, "image"),
    U("unified_type", ".global .texref image;", "", TXQ("channel_data_type", "image"), 0, 0, "image"),
    U("unified_normal", ".global .texref image;", "", TXQ("normalized_coords", "image"), 0, 0, "image"),
    U("unified_filter", ".global .texref image;", "", TXQ("filter_mode", "image"), 0, 0, "image"),
    U("unified_address", ".global .texref image;", "", TXQ("addr_mode_0", "image"), 0, 0, "image"),
    U("unified_levels", ".global .texref image;", "", TXQ("num_mipmap_levels", "image"), 0, 0, "image"),
    U("unified_levels_handle", "", "", TXQ("num_mipmap_levels", "%t"), MIPS, 0, ""),
    U("unified_samples_handle", "", "", TXQ("num_samples", "%t"), MIPS, 0, ""),
    U("unified_surface_type", ".global .surfref image;", "", "suq.channel_data_type.b32 %r8, [image];", 0, 0, ""),
    U("unified_pl", "", "", TEX V("%t, %s"), POINT, LINEAR_BORDER, ""),
    U("unified_lp", "", "", TEX V("%t, %s"), LINEAR_BORDER, POINT, ""),
    U("unified_pw", "", "", TEX V("%t, %s"), POINT, WRAP_NORMAL, ""),
    U("unified_plain", "", "", TEX V("%t"), LINEAR_BORDER, 0, ""),
    U("resident", "", "", "tex.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}|%p1, [%t, {%r0,%r1}]; selp.b32 %r11, 1, 0, %p1;",
      POINT, 0, ""),
    U("resident_level", "", "",
      "tex.level.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}|%p1, [%t, {%r0,%r1}], %r1; selp.b32 %r11, 1, 0, %p1;", MIPS, 0, ""),
    U("resident_gather", "", "",
      "tld4.r.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}|%p1, [%t, {%r0,%r1}]; selp.b32 %r11, 1, 0, %p1;", POINT, 0, ""),
    U("compare", "", "", "tex.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1}], %r4;", POINT, 0, ""),
    U("compare_linear", "", "", "tex.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1}], %r4;", LINEAR_BORDER, 0, ""),
    U("compare_one", "", "", "tex.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1}], %r4;", DEPTHS, 0, ""),
    U("compare_level", "", "", "tex.level.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1}], %r1, %r4;", MIPS, 0, ""),
    U("compare_offset", "", "",
      "mov.b32 %r5, 1; tex.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1}], {%r5,%r5}, %r4;", DEPTHS, 0, ""),
    U("compare_gather", "", "", "tld4.r.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1}], %r4;", DEPTHS, 0, ""),
    U("compare_bytes", "", "", "tex.2d.v4.f32.f32 {%r8,%r9,%r10,%r11}, [%t, {%r0,%r1}], %r4;", HALVES, 0, ""),
    U("samples", "", "",
      "cvt.rzi.s32.f32 %r0, %r0; cvt.rzi.s32.f32 %r1, %r1; and.b32 %r3, %r0, 3; tex.2dms.v4.f32.s32 "
      "{%r8,%r9,%r10,%r11}, [%t, {%r3,%r0,%r1,%r1}];",
      POINT, 0, ""),
    U("samples_layers", "", "",
      "cvt.rzi.s32.f32 %r0, %r0; cvt.rzi.s32.f32 %r1, %r1; and.b32 %r3, %r0, 3; tex.a2dms.v4.f32.s32 "
      "{%r8,%r9,%r10,%r11}, [%t, {%r3,%r3,%r0,%r1}];",
      POINT, 0, ""),
    U("samples_outside", "", "", ROUND "tex.2dms.v4.f32.s32 {%r8,%r9,%r10,%r11}, [%t, {%r12,%r0,%r1,%r1}];", POINT, 0,
      ""),
    U("samples_filter", "", "", ROUND "tex.2dms.v4.f32.s32 {%r8,%r9,%r10,%r11}, [%t, {%r12,%r0,%r1,%r1}];",
      LINEAR_BORDER, 0, ""),
    U("samples_second", "", "", ROUND "tex.a2dms.v4.f32.s32 {%r8,%r9,%r10,%r11}, [%t, {%r12,%r6,%r0,%r1}];", LAYERS, 0,
      ""),
    U("samples_first", "", "", ROUND "tex.a2dms.v4.f32.s32 {%r8,%r9,%r10,%r11}, [%t, {%r6,%r12,%r0,%r1}];", LAYERS, 0,
      ""),
    U("samples_levels", "", "", ROUND "tex.2dms.v4.f32.s32 {%r8,%r9,%r10,%r11}, [%t, {%r12,%r0,%r1,%r1}];", MIPS, 0,
      ""),
    U("samples_whole", "", "", ROUND "tex.2dms.v4.u32.s32 {%r8,%r9,%r10,%r11}, [%t, {%r12,%r0,%r1,%r1}];", INTEGER, 0,
      ""),
    U("samples_resident", "", "",
      ROUND "tex.2dms.v4.f32.s32 {%r8,%r9,%r10,%r11}|%p1, [%t, {%r6,%r0,%r1,%r1}]; selp.b32 %r11, 1, 0, %p1;", POINT, 0,
      ""),
};

static CUfunction kernel(const struct question *q, CUmodule *m)
{
    static char text[8192], log[2000];
    CUfunction f = 0;
    snprintf(
        text, sizeof text,
        ".version 8.5\n.target %s\n.address_size 64\n%s\n.visible .entry k(.param .u64 t, .param .u64 s, .param .u64 "
        "in, .param .u64 out, .param .u32 n%s)\n"
        "{\n.reg .b64 %%t, %%s, %%i, %%o, %%d<9>; .reg .b32 %%r<16>; .reg .pred %%p<3>; .reg .b32 %%x<6>;\n"
        "mov.u32 %%x0, %%tid.x; ld.param.u32 %%x2, [n]; setp.ge.u32 %%p0, %%x0, %%x2; @%%p0 ret;\n"
        "ld.param.u64 %%t, [t]; ld.param.u64 %%s, [s]; ld.param.u64 %%i, [in]; ld.param.u64 %%o, [out];\n"
        "mul.wide.u32 %%d0, %%x0, 32; add.u64 %%i, %%i, %%d0; mul.wide.u32 %%d0, %%x0, 16; add.u64 %%o, %%o, %%d0;\n"
        "ld.global.v4.b32 {%%r0,%%r1,%%r2,%%r3}, [%%i]; ld.global.v4.b32 {%%r4,%%r5,%%r6,%%r7}, [%%i+16];\n"
        "mov.b32 %%r8, 0; mov.b32 %%r9, 0; mov.b32 %%r10, 0; mov.b32 %%r11, 0; mov.b32 %%r12, 0;\n"
        "%s\nst.global.v4.b32 [%%o], {%%r8,%%r9,%%r10,%%r11};\nret;\n}\n",
        q->target, q->globals, q->params, q->insn);
    CUjit_option o[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
    void *v[] = { log, (void *)(size_t)sizeof log };
    CUresult r = cuModuleLoadDataEx(m, text, 2, o, v);
    if (r) {
        for (char *p = log; *p; p++)
            if (*p == '\n') *p = '/';
        printf("%s: load %d %s\n", who, r, log);
        return 0;
    }
    printf("%s: load 0, function %d\n", who, cuModuleGetFunction(&f, *m, "k"));
    return f;
}

static CUtexObject object_of(enum object k)
{
    static float keep[16 * 16][4];
    const unsigned N = CU_TRSF_NORMALIZED_COORDINATES;
    for (int i = 0; i < 256; i++)
        keep[i][0] = (float)(i % 16 + 100 * (i / 16)), keep[i][1] = 1, keep[i][2] = (float)(i % 16) / 16,
        keep[i][3] = (float)(i / 16);
    memcpy(data, keep, sizeof keep);
    CUtexObject o = 0;
    switch (k) {
    case POINT: o = object(array(CU_AD_FORMAT_FLOAT, 4, 16, 16, 0, 0), near_); break;
    case LINEAR_BORDER: o = object(array(CU_AD_FORMAT_FLOAT, 4, 16, 16, 0, 0), LINEAR({ B, B, B })); break;
    case WRAP_NORMAL: o = object(array(CU_AD_FORMAT_FLOAT, 4, 16, 16, 0, 0), LINEAR({ W, M, W }, .flags = N)); break;
    case INTEGER:
        for (int i = 0; i < 1024; i++) data[i] = (unsigned char)i;
        o = object(array(CU_AD_FORMAT_UNSIGNED_INT8, 4, 16, 16, 0, 0),
                   (struct how){ { C, C, C }, .flags = CU_TRSF_READ_AS_INTEGER });
        break;
    case HALVES:
        for (int i = 0; i < 1024; i++) data[i] = (unsigned char)i;
        o = object(array(CU_AD_FORMAT_UNSIGNED_INT8, 4, 16, 16, 0, 0), LINEAR({ C, C, C }, .flags = CU_TRSF_SRGB));
        break;
    case DEPTHS:
        for (int i = 0; i < 256; i++) ((float *)data)[i] = (float)(i % 16) / 16;
        o = object(array(CU_AD_FORMAT_FLOAT, 1, 16, 16, 0, 0), near_);
        break;
    case MIPS:
        o = object(mipped(CU_AD_FORMAT_FLOAT, 4, 16, 16, 0, 0, 5, 3), LINEAR({ C, C, C }, .flags = N, .mip_linear = 1));
        break;
    case LAYERS:
        for (int i = 0; i < 16 * 16 * 4; i++)
            ((float *)data)[i] = (float)(i % 16 + 100 * (i / 16 % 16) + 10000 * (i / 256));
        o = object(array(CU_AD_FORMAT_FLOAT, 1, 16, 16, 4, CUDA_ARRAY3D_LAYERED), near_);
        break;
    default: break;
    }
    return o;
}

static void asked(const struct question *q)
{
    CUdevice d;
    CUcontext c;
    CUmodule m;
    CUtexref t;
    who = q->name;
    CHECK(cuInit(0)), CHECK(cuDeviceGet(&d, 0)), CHECK(cuDevicePrimaryCtxRetain(&c, d)), CHECK(cuCtxSetCurrent(c));
    CHECK(cuMemAlloc(&din, sizeof in)), CHECK(cuMemAlloc(&dout, sizeof out));
    CUfunction f = kernel(q, &m);
    if (!f) return;
    CUtexObject o = object_of(q->t), s = object_of(q->s);
    if (o || s) printf("%s: handles %llx %llx\n", who, o, s);
    if (*q->bind) {
        CUresult r = cuModuleGetTexRef(&t, m, "image");
        printf("%s: cuModuleGetTexRef %d, of the sampler %d\n", who, r, cuModuleGetTexRef(&(CUtexref){ 0 }, m, "samp"));
        CUdeviceptr at;
        size_t bytes = 0;
        int g1 = cuModuleGetGlobal(&at, &bytes, m, "image"), b1 = (int)bytes,
            g2 = cuModuleGetGlobal(&at, &bytes, m, "samp");
        printf("%s: cuModuleGetGlobal %d %d, %d %d\n", who, g1, b1, g2, (int)bytes);
        if (!r) {
            for (int i = 0; i < 256; i++) {
                float v[4] = { (float)(i % 16 + 100 * (i / 16)), 1, (float)(i % 16) / 16, (float)(i / 16) };
                memcpy(data + 16 * i, v, 16);
            }
            struct made a = array(CU_AD_FORMAT_FLOAT, 4, 16, 16, 0, 0);
            printf("%s: cuTexRefSetArray %d\n", who, cuTexRefSetArray(t, a.array, CU_TRSA_OVERRIDE_FORMAT));
            if (*q->bind == 'I')
                printf("%s: set %d %d %d\n", who, cuTexRefSetFilterMode(t, CU_TR_FILTER_MODE_LINEAR),
                       cuTexRefSetAddressMode(t, 0, CU_TR_ADDRESS_MODE_BORDER),
                       cuTexRefSetAddressMode(t, 1, CU_TR_ADDRESS_MODE_BORDER));
        }
    }
    for (int i = 0; i < ROWS; i++)
        memset(&in[i], 0, 32), in[i].v[0] = bits(places[i][0]), in[i].v[1] = bits(places[i][1]),
                               in[i].v[4] = bits((float)i / 16), in[i].v[6] = (uint32_t)(i % 6 - 1);
    int n = ROWS;
    for (int p = 5; p < 7; p++) {
        size_t offset, size;
        if (!cuFuncGetParamInfo(f, (size_t)p, &offset, &size))
            printf("%s: parameter %d at %zu, %zu bytes\n", who, p, offset, size);
    }
    void *args[] = { &o, &s, &din, &dout, &n, &o, &s };
    CHECK(cuMemcpyHtoD(din, in, sizeof(struct row) * n));
    CUresult r = cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, 0, args, 0), r2 = cuCtxSynchronize();
    printf("%s: launch %d, end %d\n", who, r, r2);
    if (r || r2) return;
    CHECK(cuMemcpyDtoH(out, dout, 16 * n));
    for (int i = 0; i < n; i++) {
        printf("%s %g %g :", who, (double)places[i][0], (double)places[i][1]);
        for (int k = 0; k < 4; k++) {
            float x;
            memcpy(&x, &out[i][k], 4);
            if (out[i][k] < 65536)
                printf(" #%x", out[i][k]);
            else
                printf(" %.9g", (double)x);
        }
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int status = 0;
        if (argc > 1 && strncmp(argv[1], all[i].name, strlen(argv[1]))) continue; /* those that begin so */
        fflush(stdout);
        pid_t child = fork();
        if (!child) {
            asked(&all[i]);
            fflush(stdout);
            _exit(0);
        }
        waitpid(child, &status, 0);
        if (status) printf("%s: ended with %x\n", all[i].name, status);
    }
    return 0;
}
