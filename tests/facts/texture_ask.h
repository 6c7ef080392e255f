/* What texture_forms.c asks with: kernels of one instruction, arrays and objects, random texels and coordinates. */
#ifndef TEXTURE_ASK_H
#define TEXTURE_ASK_H
#include <cuda.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int every;
static uint32_t seed = 1;
static uint32_t rnd(void) { return seed = seed * 1664525u + 1013904223u, seed >> 8 ^ seed << 13; }
static uint32_t bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}
static float unit(void) { return (float)(rnd() & 0xffffff) / 16777216.f; }
static void check(CUresult r, int line)
{
    if (r) printf("# line %d: %d\n", line, r);
}
#define CHECK(x) check(x, __LINE__)

/* ---- questions ---- */
enum { MOST = 4096 };
struct row {
    uint32_t v[8];
};
static struct row in[MOST];
static uint32_t out[MOST][4];
static CUdeviceptr din, dout;

static CUfunction kernel_of(const char *insn, const char *globals, CUmodule *module)
{
    static char text[8192];
    CUfunction f = 0;
    snprintf(
        text, sizeof text,
        ".version 8.5\n.target sm_90\n.address_size 64\n%s\n"
        ".visible .entry k(.param .u64 t, .param .u64 in, .param .u64 out, .param .u32 n)\n"
        "{\n.reg .b64 %%t, %%i, %%o, %%d<9>; .reg .b32 %%r<16>; .reg .b16 %%h<16>; .reg .pred %%p<3>; .reg .b32 "
        "%%x<6>;\n"
        "mov.u32 %%x0, %%ctaid.x; mov.u32 %%x1, %%tid.x; mad.lo.u32 %%x0, %%x0, 128, %%x1; ld.param.u32 %%x2, [n];\n"
        "setp.ge.u32 %%p0, %%x0, %%x2; @%%p0 ret;\n"
        "ld.param.u64 %%t, [t]; ld.param.u64 %%i, [in]; ld.param.u64 %%o, [out];\n"
        "mul.wide.u32 %%d0, %%x0, 32; add.u64 %%i, %%i, %%d0; mul.wide.u32 %%d0, %%x0, 16; add.u64 %%o, %%o, %%d0;\n"
        "ld.global.v4.b32 {%%r0,%%r1,%%r2,%%r3}, [%%i]; ld.global.v4.b32 {%%r4,%%r5,%%r6,%%r7}, [%%i+16];\n"
        "mov.b32 %%r8, 0; mov.b32 %%r9, 0; mov.b32 %%r10, 0; mov.b32 %%r11, 0; mov.b32 %%r12, 0; mov.b64 %%d1, "
        "{%%r2,%%r3};\n"
        "%s\nst.global.v4.b32 [%%o], {%%r8,%%r9,%%r10,%%r11};\nret;\n}\n",
        globals, insn);
    CUresult r = cuModuleLoadData(module, text);
    if (r) {
        printf("# %s: %d\n", insn, r);
        return 0;
    }
    CHECK(cuModuleGetFunction(&f, *module, "k"));
    return f;
}
static void tell(const char *name, const void *p, size_t bytes, int n)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++) h = (h ^ ((const unsigned char *)p)[i]) * 0x100000001b3u;
    printf("%s %d %016llx\n", name, n, (unsigned long long)h);
}
static CUresult launch(CUfunction f, unsigned long long object, int n)
{
    void *args[] = { &object, &din, &dout, &n };
    CHECK(cuMemcpyHtoD(din, in, sizeof(struct row) * n));
    CUresult r = cuLaunchKernel(f, (n + 127) / 128, 1, 1, 128, 1, 1, 0, 0, args, 0);
    return r ? r : cuMemcpyDtoH(out, dout, 16 * n);
}
static void answers(const char *name, int n)
{
    if (every)
        for (int i = 0; i < n; i++) {
            printf("%s", name);
            for (int k = 0; k < 8; k++) printf(" %x", in[i].v[k]);
            printf(" : %x %x %x %x\n", out[i][0], out[i][1], out[i][2], out[i][3]);
        }
    tell(name, out, 16 * n, n);
}
static void ask(const char *name, const char *insn, unsigned long long object, int n)
{
    CUmodule m;
    CUfunction f = kernel_of(insn, "", &m);
    if (!f) return;
    memset(out, 0, sizeof out);
    CUresult r = launch(f, object, n);
    if (r) printf("# %s: %d\n", name, r);
    answers(name, n);
    CHECK(cuModuleUnload(m));
}

/* ---- arrays and objects ---- */
struct made {
    CUarray array;
    CUmipmappedArray mips;
    CUdeviceptr linear;
    size_t bytes, pitch;
    int w, h, d, channels;
    CUarray_format format;
};
static unsigned char data[1 << 24];
static size_t size_of(CUarray_format f)
{
    return f == CU_AD_FORMAT_UNSIGNED_INT8 || f == CU_AD_FORMAT_SIGNED_INT8                                ? 1
           : f == CU_AD_FORMAT_FLOAT || f == CU_AD_FORMAT_UNSIGNED_INT32 || f == CU_AD_FORMAT_SIGNED_INT32 ? 4
                                                                                                           : 2;
}
static void copy_in(CUarray a, size_t texel, int w, int h, int d, int back)
{
    CUDA_MEMCPY3D c = { .srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = data,
                        .srcPitch = w * texel,
                        .srcHeight = h ? h : 1,
                        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                        .dstArray = a,
                        .WidthInBytes = w * texel,
                        .Height = h ? h : 1,
                        .Depth = d ? d : 1 };
    if (back)
        c.srcMemoryType = CU_MEMORYTYPE_ARRAY, c.srcArray = a, c.dstMemoryType = CU_MEMORYTYPE_HOST, c.dstHost = data,
        c.dstPitch = c.srcPitch, c.dstHeight = c.srcHeight;
    CHECK(cuMemcpy3D(&c));
}
static struct made array(CUarray_format f, int channels, int w, int h, int d, unsigned flags)
{
    struct made m = { .w = w, .h = h, .d = d, .channels = channels, .format = f };
    CUDA_ARRAY3D_DESCRIPTOR a = {
        .Width = w, .Height = h, .Depth = d, .Format = f, .NumChannels = channels, .Flags = flags
    };
    CHECK(cuArray3DCreate(&m.array, &a));
    copy_in(m.array, size_of(f) * channels, w, h, d, 0);
    return m;
}
struct how {
    int address[3], linear, mip_linear;
    unsigned flags;
    float bias, least, most;
    float border[4];
    unsigned anisotropy;
};
enum { W, C, M, B };
static CUtexObject object(struct made m, struct how h)
{
    CUDA_RESOURCE_DESC r = { 0 };
    CUDA_TEXTURE_DESC t = { .filterMode = h.linear,
                            .mipmapFilterMode = h.mip_linear,
                            .flags = h.flags,
                            .maxAnisotropy = h.anisotropy,
                            .mipmapLevelBias = h.bias,
                            .minMipmapLevelClamp = h.least,
                            .maxMipmapLevelClamp = h.most ? h.most : 99 };
    CUtexObject o = 0;
    for (int k = 0; k < 3; k++) t.addressMode[k] = h.address[k];
    float usual[4] = { 7, 8, 9, 10 };
    memcpy(t.borderColor, h.border[0] != 0 ? h.border : usual, 16);
    if (m.mips)
        r.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, r.res.mipmap.hMipmappedArray = m.mips;
    else if (m.array)
        r.resType = CU_RESOURCE_TYPE_ARRAY, r.res.array.hArray = m.array;
    else if (m.pitch)
        r.resType = CU_RESOURCE_TYPE_PITCH2D, r.res.pitch2D.devPtr = m.linear, r.res.pitch2D.format = m.format,
        r.res.pitch2D.numChannels = m.channels, r.res.pitch2D.width = m.w, r.res.pitch2D.height = m.h,
        r.res.pitch2D.pitchInBytes = m.pitch;
    else
        r.resType = CU_RESOURCE_TYPE_LINEAR, r.res.linear.devPtr = m.linear, r.res.linear.format = m.format,
        r.res.linear.numChannels = m.channels, r.res.linear.sizeInBytes = m.bytes;
    CHECK(cuTexObjectCreate(&o, &r, &t, 0));
    return o;
}
static CUsurfObject surface(struct made m)
{
    CUDA_RESOURCE_DESC r = { .resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = m.array };
    CUsurfObject o = 0;
    CHECK(cuSurfObjectCreate(&o, &r));
    return o;
}
static const struct how near_ = { { C, C, C } };
#define LINEAR(...) \
    (struct how) { __VA_ARGS__, .linear = 1 }

/* Texels: channel c of texel i. */
static void fill_bytes(size_t n)
{
    for (size_t i = 0; i < n; i++) data[i] = (unsigned char)(rnd() >> 3);
}
static void fill_small(size_t n) /* bytes of which half are small */
{
    for (size_t i = 0; i < n; i++) data[i] = (unsigned char)(rnd() >> 3 & (rnd() >> 7 & 1 ? 255 : 63));
}
static float random_float(int low, int n)
{
    int exponent = low + (int)(rnd() % n); /* one draw a statement: the order of arguments is the compiler's */
    float fraction = 1 + unit();
    return ldexpf(fraction, exponent) * (rnd() >> 5 & 1 ? 1 : -1);
}
static void fill_floats(size_t n, int low, int exponents)
{
    for (size_t i = 0; i < n; i++) ((float *)data)[i] = random_float(low, exponents);
}
static void fill_halves(size_t n) /* channels: narrow, wide, small, with infinities and NaN */
{
    for (size_t i = 0; i < n; i++) {
        uint32_t m = rnd() >> 4 & 1023, s = rnd() >> 6 & 1,
                 e = i % 4 == 0   ? 12 + rnd() % 4
                     : i % 4 == 1 ? rnd() % 31
                     : i % 4 == 2 ? rnd() % 4
                     : rnd() % 8  ? 15 + rnd() % 3
                                  : 31;
        if (i % 4 == 3 && e == 31 && rnd() & 1) m = 0;
        ((uint16_t *)data)[i] = (uint16_t)(s << 15 | e << 10 | m);
    }
}
static void fill_special(size_t n) /* f32: subnormal, huge, infinite and NaN, zeros */
{
    for (size_t i = 0; i < n; i++) {
        uint32_t s = rnd() & 0x80000000u, m = rnd() & 0x7fffff, k = rnd() >> 7 & 7, v;
        if (i % 4 == 0)
            v = s | (rnd() >> 5 & 3) << 23 | m;
        else if (i % 4 == 1)
            v = s | 0x7f000000 | m >> (rnd() & 1);
        else if (i % 4 == 2)
            v = k < 2 ? s | 0x7f800000 | (k ? m : 0) : s | 0x3f800000 | m;
        else
            v = k < 5 ? s : s | 0x3f800000 | m;
        ((uint32_t *)data)[i] = v;
    }
}
static int coords(int n, float x, float y, float z) /* from -1 to the extent + 1, in 1/512 */
{
    float e[3] = { x, y, z };
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 8; k++)
            in[i].v[k] = k < 3 ? bits((float)(rnd() % (uint32_t)((e[k] + 2) * 512)) / 512.f - 1) : 0;
    return n;
}
static int normal_coords(int n, float low, float high)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 8; k++) in[i].v[k] = k < 3 ? bits(low + unit() * (high - low)) : 0;
    return n;
}
static struct made mipped(CUarray_format f, int channels, int w, int h, int d, unsigned flags, int levels, int what)
{
    struct made m = { .w = w, .h = h, .d = d, .channels = channels, .format = f };
    CUDA_ARRAY3D_DESCRIPTOR a = {
        .Width = w, .Height = h, .Depth = d, .Format = f, .NumChannels = channels, .Flags = flags
    };
    CHECK(cuMipmappedArrayCreate(&m.mips, &a, levels));
    for (int l = 0; l < levels; l++) {
        CUarray x;
        int lw = w >> l ? w >> l : 1, lh = h ? (h >> l ? h >> l : 1) : 0, ld = d ? (d >> l ? d >> l : 1) : 0;
        if (flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) ld = d;
        size_t n = (size_t)lw * (lh ? lh : 1) * (ld ? ld : 1) * channels;
        if (what == 0)
            fill_floats(n, -3, 7);
        else if (what == 1)
            fill_small(n);
        else if (what == 2)
            fill_halves(n);
        else
            for (size_t i = 0; i < n; i++) ((float *)data)[i] = (float)(1 << l);
        CHECK(cuMipmappedArrayGetLevel(&x, m.mips, l));
        copy_in(x, size_of(f) * channels, lw, lh, ld, 0);
    }
    return m;
}
#endif
