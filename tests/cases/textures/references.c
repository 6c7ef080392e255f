/* Texture and surface references of old PTX: bound by cuTexRefSet*, read by their names and through a pointer. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .global .texref image;\n.visible .global .texref line;\n.visible .global .surfref paper;\n"
    ".visible .entry sample(.param .u64 out)\n{\n"
    ".reg .b32 %r<12>; .reg .f32 %f<12>; .reg .b64 %d<6>;\n"
    "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1; mul.wide.u32 %d2, %r1, 16; add.u64 %d1, "
    "%d1, %d2;\n"
    "tex.2d.v4.f32.f32 {%f2,%f3,%f4,%f5}, [image, {%f1,%f1}];\n"
    "mov.u64 %d3, image; add.f32 %f6, %f1, 0f3F400000; tex.2d.v4.f32.f32 {%f7,%f3,%f4,%f5}, [%d3, {%f6,%f1}];\n"
    "tex.1d.v4.s32.s32 {%r2,%r3,%r4,%r5}, [line, {%r1}];\n"
    "txq.width.b32 %r6, [image]; txq.height.b32 %r7, [%d3]; mad.lo.u32 %r6, %r6, 100, %r7;\n"
    "st.global.f32 [%d1], %f2; st.global.f32 [%d1+4], %f7; st.global.u32 [%d1+8], %r2; st.global.u32 [%d1+12], %r6;\n"
    "ret;\n}\n"
    ".visible .entry draw(.param .u64 out)\n{\n"
    ".reg .b32 %r<12>; .reg .b64 %d<6>;\n"
    "mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, 1; mov.u64 %d1, paper;\n"
    "suld.b.2d.b32.trap %r4, [paper, {%r2,%r3}]; add.u32 %r4, %r4, 1000; sust.b.2d.b32.trap [%d1, {%r2,%r3}], %r4;\n"
    "suq.width.b32 %r5, [paper]; ld.param.u64 %d2, [out]; st.global.u32 [%d2], %r5;\n"
    "ret;\n}\n";

#define CHECK(x) check(x, #x)
static void check(CUresult r, const char *what)
{
    if (r) printf("%s: %d\n", what, r), exit(1);
}

static CUarray array_of(CUarray_format f, int first)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = 8, .Height = 4, .Format = f, .NumChannels = 1, .Flags = CUDA_ARRAY3D_SURFACE_LDST
    };
    CUarray a;
    unsigned words[32];
    float floats[32];
    CHECK(cuArray3DCreate(&a, &d));
    for (int i = 0; i < 32; i++) words[i] = first + i, floats[i] = first + i;
    CUDA_MEMCPY2D c = { .srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = f == CU_AD_FORMAT_FLOAT ? (void *)floats : words,
                        .srcPitch = 32,
                        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                        .dstArray = a,
                        .WidthInBytes = 32,
                        .Height = 4 };
    CHECK(cuMemcpy2D(&c));
    return a;
}

static CUdeviceptr out;
static void sample(CUfunction f, const char *what)
{
    struct {
        float x, y;
        int line, extent;
    } v[4];
    void *args[] = { &out };
    CUresult r = cuLaunchKernel(f, 1, 1, 1, 4, 1, 1, 0, 0, args, 0);
    if (!r) r = cuCtxSynchronize();
    printf("%s %d:", what, r);
    if (!r) CHECK(cuMemcpyDtoH(v, out, sizeof v));
    for (int i = 0; i < 4 && !r; i++) printf(" %g/%g/%d/%d", v[i].x, v[i].y, v[i].line, v[i].extent);
    printf("\n");
}

int main(int argc, char **argv)
{
    CUdevice d;
    CUcontext c;
    CUmodule m;
    CUfunction f, draw;
    CUtexref image, line, again;
    CUsurfref paper;
    CUarray first, second, words, told;
    CUdeviceptr memory;
    int numbers[64];
    unsigned row[8];
    setvbuf(stdout, NULL, _IONBF, 0);
    CHECK(cuInit(0)), CHECK(cuDeviceGet(&d, 0)), CHECK(cuDevicePrimaryCtxRetain(&c, d)), CHECK(cuCtxSetCurrent(c));
    CHECK(cuMemAlloc(&out, 64)), CHECK(cuMemAlloc(&memory, sizeof numbers)), CHECK(cuModuleLoadData(&m, ptx));
    CHECK(cuModuleGetFunction(&f, m, "sample")), CHECK(cuModuleGetFunction(&draw, m, "draw"));
    printf("none: %d %d\n", cuModuleGetTexRef(&image, m, "none"), cuModuleGetTexRef(&image, m, "paper"));
    CHECK(cuModuleGetTexRef(&image, m, "image")), CHECK(cuModuleGetTexRef(&line, m, "line")),
        CHECK(cuModuleGetTexRef(&again, m, "image"));
    CHECK(cuModuleGetSurfRef(&paper, m, "paper"));
    printf("same: %d\n", image == again);
    first = array_of(CU_AD_FORMAT_FLOAT, 0), second = array_of(CU_AD_FORMAT_FLOAT, 100),
    words = array_of(CU_AD_FORMAT_UNSIGNED_INT32, 0);
    for (int i = 0; i < 64; i++) numbers[i] = 7 * i;
    CHECK(cuMemcpyHtoD(memory, numbers, sizeof numbers));
    CHECK(cuTexRefSetFormat(line, CU_AD_FORMAT_SIGNED_INT32, 1)),
        CHECK(cuTexRefSetFlags(line, CU_TRSF_READ_AS_INTEGER));
    CHECK(cuTexRefSetAddress(NULL, line, memory, sizeof numbers));
    if (argc == 1) {
        CHECK(cuTexRefSetArray(image, first, CU_TRSA_OVERRIDE_FORMAT));
        sample(f, "first");
        CHECK(cuTexRefSetFilterMode(image, CU_TR_FILTER_MODE_LINEAR));
        sample(f, "linear");
        CHECK(cuTexRefSetArray(image, second, CU_TRSA_OVERRIDE_FORMAT)),
            CHECK(cuTexRefSetFilterMode(image, CU_TR_FILTER_MODE_POINT));
        CHECK(cuTexRefSetAddress(NULL, line, memory, 8));
        sample(f, "second");
        CHECK(cuTexRefGetArray(&told, image));
        printf("told: %d\n", told == second);
    } else
        sample(f, "unbound");
    CHECK(cuSurfRefSetArray(paper, words, 0));
    void *args[] = { &out };
    if (argc == 1) {
        CHECK(cuLaunchKernel(draw, 1, 1, 1, 8, 1, 1, 0, 0, args, 0)), CHECK(cuCtxSynchronize());
        CUDA_MEMCPY2D copy = { .srcY = 1,
                               .srcMemoryType = CU_MEMORYTYPE_ARRAY,
                               .srcArray = words,
                               .dstMemoryType = CU_MEMORYTYPE_HOST,
                               .dstHost = row,
                               .dstPitch = 32,
                               .WidthInBytes = 32,
                               .Height = 1 };
        CHECK(cuMemcpy2D(&copy));
        for (int i = 0; i < 8; i++) printf("%u ", row[i]);
        printf("\n");
    }
    CHECK(cuArrayDestroy(first)), CHECK(cuArrayDestroy(second)), CHECK(cuArrayDestroy(words)), CHECK(cuMemFree(out)),
        CHECK(cuMemFree(memory));
    printf("unload: %d, then %d\n", cuModuleUnload(m), cuTexRefSetFlags(image, 0));
    return 0;
}
