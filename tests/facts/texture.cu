// regen: no
/* What a GPU's texture units answer: a table a question, in hex, for docs/inside/textures.md and the sampler of src/machine/units.
 *
 *     nvcc -O2 -std=c++17 -arch=sm_90 -o texture texture.cu && ./texture > answers.txt
 *
 * Each line is: question, parameters, results as bits. */
#include <cstdio>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <cuda_fp16.h>
#include <vector>
using std::vector;
static void check(cudaError_t e, int line) { if (e) { printf("# line %d: %s\n", line, cudaGetErrorString(e)); cudaGetLastError(); } }
#define CHECK(x) check(x, __LINE__)

static uint32_t seed = 1;
static uint32_t rnd() { return seed = seed * 1664525u + 1013904223u, seed >> 8 ^ seed << 13; }
static uint32_t bits(float f) { uint32_t u; memcpy(&u, &f, 4); return u; }

struct how { cudaTextureAddressMode a; cudaTextureFilterMode f; bool norm; cudaTextureReadMode read; bool srgb; cudaTextureFilterMode mip; };
static cudaTextureObject_t object(cudaArray_t arr, how h, cudaMipmappedArray_t mips = 0)
{
    cudaResourceDesc r = {};
    cudaTextureDesc t = {};
    cudaTextureObject_t o = 0;
    if (mips) r.resType = cudaResourceTypeMipmappedArray, r.res.mipmap.mipmap = mips;
    else r.resType = cudaResourceTypeArray, r.res.array.array = arr;
    for (int i = 0; i < 3; i++) t.addressMode[i] = h.a;
    t.filterMode = h.f, t.readMode = h.read, t.normalizedCoords = h.norm, t.sRGB = h.srgb, t.mipmapFilterMode = h.mip, t.maxMipmapLevelClamp = 99;
    t.borderColor[0] = 7, t.borderColor[1] = 8, t.borderColor[2] = 9, t.borderColor[3] = 10;
    CHECK(cudaCreateTextureObject(&o, &r, &t, nullptr));
    return o;
}
enum kind { K1, K2, K3, KL1, KL2, KC, KCL, KLOD1, KLOD2, KGRAD, KG };
__global__ void sample(cudaTextureObject_t t, kind k, const float4 *p, const float4 *q, float4 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 c = p[i], g = q ? q[i] : float4{};
    switch (k) {
    case K1: out[i] = tex1D<float4>(t, c.x); break;
    case K2: out[i] = tex2D<float4>(t, c.x, c.y); break;
    case K3: out[i] = tex3D<float4>(t, c.x, c.y, c.z); break;
    case KL1: out[i] = tex1DLayered<float4>(t, c.x, (int)c.w); break;
    case KL2: out[i] = tex2DLayered<float4>(t, c.x, c.y, (int)c.w); break;
    case KC: out[i] = texCubemap<float4>(t, c.x, c.y, c.z); break;
    case KCL: out[i] = texCubemapLayered<float4>(t, c.x, c.y, c.z, (int)c.w); break;
    case KLOD1: out[i] = tex1DLod<float4>(t, c.x, c.w); break;
    case KLOD2: out[i] = tex2DLod<float4>(t, c.x, c.y, c.w); break;
    case KGRAD: out[i] = tex2DGrad<float4>(t, c.x, c.y, make_float2(g.x, g.y), make_float2(g.z, g.w)); break;
    case KG: out[i] = tex2Dgather<float4>(t, c.x, c.y, (int)c.w); break;
    }
}
__global__ void sample_int(cudaTextureObject_t t, const float4 *p, uint4 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex2D<uint4>(t, p[i].x, p[i].y);
}
static void ask(const char *name, cudaTextureObject_t t, kind k, const vector<float4> &p, const vector<float4> &q = {})
{
    float4 *dp, *dq = nullptr, *dout;
    int n = (int)p.size();
    vector<float4> r(n);
    CHECK(cudaMalloc(&dp, n * 16)), CHECK(cudaMalloc(&dout, n * 16));
    CHECK(cudaMemcpy(dp, p.data(), n * 16, cudaMemcpyDefault));
    if (q.size()) CHECK(cudaMalloc(&dq, n * 16)), CHECK(cudaMemcpy(dq, q.data(), n * 16, cudaMemcpyDefault));
    sample<<<(n + 127) / 128, 128>>>(t, k, dp, dq, dout, n);
    CHECK(cudaMemcpy(r.data(), dout, n * 16, cudaMemcpyDefault));
    for (int i = 0; i < n; i++) {
        printf("%s %x %x %x %x", name, bits(p[i].x), bits(p[i].y), bits(p[i].z), bits(p[i].w));
        if (dq) printf(" | %x %x %x %x", bits(q[i].x), bits(q[i].y), bits(q[i].z), bits(q[i].w));
        printf(" : %x %x %x %x\n", bits(r[i].x), bits(r[i].y), bits(r[i].z), bits(r[i].w));
    }
    cudaFree(dp), cudaFree(dq), cudaFree(dout);
}
template <typename T> static cudaArray_t array(const vector<T> &v, int w, int h = 0, int d = 0, unsigned flags = 0)
{
    cudaArray_t a = 0;
    cudaChannelFormatDesc f = cudaCreateChannelDesc<T>();
    CHECK(cudaMalloc3DArray(&a, &f, make_cudaExtent(w, h, d), flags));
    cudaMemcpy3DParms c = {};
    c.srcPtr = make_cudaPitchedPtr((void *)v.data(), w * sizeof(T), w, h ? h : 1);
    c.dstArray = a, c.extent = make_cudaExtent(w, h ? h : 1, d ? d : 1), c.kind = cudaMemcpyDefault;
    CHECK(cudaMemcpy3D(&c));
    return a;
}
static float4 at(float x, float y = 0, float z = 0, float w = 0) { return make_float4(x, y, z, w); }
static float random_float() { return ldexpf(1 + (rnd() & 0x7fffff) / 8388608.f, (int)(rnd() % 9) - 4) * (rnd() & 1 ? 1 : -1); }

int main()
{
    const cudaTextureAddressMode W = cudaAddressModeWrap, C = cudaAddressModeClamp, M = cudaAddressModeMirror, B = cudaAddressModeBorder;
    const cudaTextureFilterMode P = cudaFilterModePoint, L = cudaFilterModeLinear;
    const cudaTextureReadMode E = cudaReadModeElementType, N = cudaReadModeNormalizedFloat;
    vector<float> ramp(16);
    for (int i = 0; i < 16; i++) ramp[i] = (float)i + 1;
    cudaArray_t line = array(ramp, 16);
    /* which texel a point sample takes, near its edges and outside, in every mode */
    vector<float4> p;
    for (int i = -40; i <= 40; i++)
        for (int d : { -64, -8, -3, -2, -1, 0, 1, 2, 3, 8, 64 }) p.push_back(at(i + d / 4096.f));
    for (float f : { INFINITY, -INFINITY, NAN, 1e30f, -1e30f, 2147483648.f, 1e-40f, -0.f }) p.push_back(at(f));
    for (auto m : { C, B }) ask(m == C ? "point_clamp" : "point_border", object(line, { m, P, false, E }), K1, p);
    vector<float4> pn;
    for (auto v : p) pn.push_back(at(v.x / 16));
    for (auto m : { W, C, M, B }) ask(m == W ? "npoint_wrap" : m == C ? "npoint_clamp" : m == M ? "npoint_mirror" : "npoint_border", object(line, { m, P, true, E }), K1, pn);
    /* weights of one dimension */
    vector<float> hot = { 0, 0, 0, 1, 0, 0, 0, 0 };
    p.clear();
    for (int i = 0; i <= 4096; i += 3) p.push_back(at(2.5f + i / 2048.f));
    ask("linear1", object(array(hot, 8), { C, L, false, E }), K1, p);
    p.clear();
    for (int i = -64; i < 192; i++) p.push_back(at(i / 8.f + 0.0625f));
    for (auto m : { C, B }) ask(m == C ? "lin_clamp" : "lin_border", object(line, { m, L, false, E }), K1, p);
    pn.clear();
    for (auto v : p) pn.push_back(at(v.x / 16));
    for (auto m : { W, C, M, B }) ask(m == W ? "nlin_wrap" : m == C ? "nlin_clamp" : m == M ? "nlin_mirror" : "nlin_border", object(line, { m, L, true, E }), K1, pn);
    pn.clear();
    for (int i = 0; i < 2000; i++) pn.push_back(at((rnd() & 0xffffff) / 16777216.f * 3 - 1));
    ask("nlin_random", object(line, { C, L, true, E }), K1, pn);
    /* sums: two, four, eight random texels */
    vector<float> r8(8 * 8 * 8);
    for (auto &v : r8) v = random_float();
    for (size_t i = 0; i < r8.size(); i++) printf("texels %zu %x\n", i, bits(r8[i]));
    p.clear();
    for (int i = 0; i < 3000; i++) p.push_back(at((rnd() % 2048) / 256.f, (rnd() % 2048) / 256.f, (rnd() % 2048) / 256.f));
    ask("sum1", object(array(r8, 512), { C, L, false, E }), K1, p);
    ask("sum2", object(array(r8, 8, 64), { C, L, false, E }), K2, p);
    ask("sum3", object(array(r8, 8, 8, 8), { C, L, false, E }), K3, p);
    /* weights of three dimensions: one corner at a time */
    for (int corner = 0; corner < 8; corner++) {
        vector<float> one(64, 0.f);
        one[(1 + (corner >> 2)) * 16 + (1 + (corner >> 1 & 1)) * 4 + 1 + (corner & 1)] = 1;
        p.clear();
        for (int i = 0; i < 1500; i++) p.push_back(at(1.5f + (rnd() % 256) / 256.f, 1.5f + (rnd() % 256) / 256.f, 1.5f + (rnd() % 256) / 256.f));
        char name[16];
        snprintf(name, sizeof name, "corner%d", corner);
        ask(name, object(array(one, 4, 4, 4), { C, L, false, E }), K3, p);
    }
    /* numbers of 8 and 16 bits: as they are, as fractions, filtered; missing channels */
    vector<unsigned char> u8(256);
    vector<signed char> s8(256);
    vector<unsigned short> u16(256);
    vector<short> s16(256);
    for (int i = 0; i < 256; i++) u8[i] = i, s8[i] = i - 128, u16[i] = i * 257 ^ 5, s16[i] = (i * 257 ^ 5) - 32768;
    p.clear();
    for (int i = 0; i < 256; i++) p.push_back(at(i + 0.5f));
    ask("u8", object(array(u8, 256), { C, P, false, N }), K1, p);
    ask("s8", object(array(s8, 256), { C, P, false, N }), K1, p);
    ask("u16", object(array(u16, 256), { C, P, false, N }), K1, p);
    ask("s16", object(array(s16, 256), { C, P, false, N }), K1, p);
    vector<uchar4> c4(256);
    for (auto &v : c4) v = make_uchar4(rnd(), rnd(), rnd(), rnd());
    for (int i = 0; i < 256; i++) printf("uchar4 %d %x\n", i, c4[i].x | c4[i].y << 8 | c4[i].z << 16 | c4[i].w << 24);
    ask("srgb", object(array(c4, 256), { C, P, false, N, true }), K1, p);
    p.clear();
    for (int i = 0; i < 1500; i++) p.push_back(at((rnd() % 4096) / 256.f, (rnd() % 4096) / 256.f));
    ask("u8_linear2", object(array(c4, 16, 16), { C, L, false, N }), K2, p);
    ask("srgb_linear2", object(array(c4, 16, 16), { C, L, false, N, true }), K2, p);
    vector<ushort2> h2(256);
    for (auto &v : h2) v = make_ushort2(rnd(), rnd());
    for (int i = 0; i < 256; i++) printf("ushort2 %d %x\n", i, h2[i].x | h2[i].y << 16);
    ask("u16_linear2", object(array(h2, 16, 16), { C, L, false, N }), K2, p);
    vector<float2> f2(256, make_float2(3, 5));
    ask("two_channels", object(array(f2, 16, 16), { C, P, false, E }), K2, { at(1, 1) });
    ask("one_channel", object(line, { C, P, false, E }), K1, { at(1) });
    ask("one_channel_u8", object(array(u8, 256), { C, P, false, N }), K1, { at(1) });
    ask("border_u8", object(array(c4, 16, 16), { B, P, false, N }), K2, { at(-1, -1), at(3, 99) });
    {
        vector<int> iv(16, -5);
        vector<float4> q = { at(1, 1), at(-1, -1) };
        float4 *dp; uint4 *dout, h[2];
        cudaMalloc(&dp, 32), cudaMalloc(&dout, 32), cudaMemcpy(dp, q.data(), 32, cudaMemcpyDefault);
        sample_int<<<1, 32>>>(object(array(iv, 4, 4), { B, P, false, E }), dp, dout, 2);
        CHECK(cudaMemcpy(h, dout, 32, cudaMemcpyDefault));
        for (int i = 0; i < 2; i++) printf("int_channels %d : %x %x %x %x\n", i, h[i].x, h[i].y, h[i].z, h[i].w);
    }
    /* layers, gather, cubes */
    vector<float> lay(4 * 4 * 3);
    for (size_t i = 0; i < lay.size(); i++) lay[i] = (float)i;
    p.clear();
    for (int w = -2; w < 6; w++) p.push_back(at(1.5f, 2.5f, 0, (float)w));
    ask("layers2", object(array(lay, 4, 4, 3, cudaArrayLayered), { C, L, false, E }), KL2, p);
    ask("layers1", object(array(lay, 16, 0, 3, cudaArrayLayered), { C, L, false, E }), KL1, p);
    vector<float4> g4(64);
    for (int i = 0; i < 64; i++) g4[i] = at((float)i, 100.f + i, 200.f + i, 300.f + i);
    p.clear();
    for (int i = 0; i < 200; i++) p.push_back(at((rnd() % 2600) / 256.f - 1, (rnd() % 2600) / 256.f - 1, 0, (float)(i % 4)));
    ask("gather", object(array(g4, 8, 8, 0, cudaArrayTextureGather), { C, L, false, E }), KG, p);
    ask("gather_border", object(array(g4, 8, 8, 0, cudaArrayTextureGather), { B, P, false, E }), KG, p);
    vector<float> cube(6 * 64);
    for (size_t i = 0; i < cube.size(); i++) cube[i] = (float)i;
    p.clear();
    for (int i = 0; i < 1500; i++) p.push_back(at(random_float(), random_float(), random_float()));
    for (float x : { -1.f, 0.f, 1.f }) for (float y : { -1.f, 0.f, 1.f }) for (float z : { -1.f, 0.f, 1.f }) p.push_back(at(x, y, z));
    ask("cube_point", object(array(cube, 8, 8, 6, cudaArrayCubemap), { C, P, true, E }), KC, p);
    ask("cube_linear", object(array(cube, 8, 8, 6, cudaArrayCubemap), { C, L, true, E }), KC, p);
    /* levels */
    cudaMipmappedArray_t mips;
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocMipmappedArray(&mips, &f, make_cudaExtent(16, 16, 0), 5));
    for (int l = 0; l < 5; l++) {
        cudaArray_t a;
        int w = 16 >> l;
        vector<float> v(w * w, (float)(1 << l));
        CHECK(cudaGetMipmappedArrayLevel(&a, mips, l));
        CHECK(cudaMemcpy2DToArray(a, 0, 0, v.data(), w * 4, w * 4, w, cudaMemcpyDefault));
    }
    p.clear();
    for (int i = -200; i < 1400; i++) p.push_back(at(0.5f, 0.5f, 0, i / 256.f + 1 / 1024.f * (i % 4)));
    ask("level_linear", object(0, { C, L, true, E, false, L }, mips), KLOD2, p);
    ask("level_point", object(0, { C, P, true, E, false, P }, mips), KLOD2, p);
    vector<float4> q;
    p.clear();
    for (int i = 0; i < 1500; i++) p.push_back(at(0.5f, 0.5f)), q.push_back(at(ldexpf(random_float(), -4), ldexpf(random_float(), -4), ldexpf(random_float(), -4), ldexpf(random_float(), -4)));
    for (int i = -40; i < 40; i++) p.push_back(at(0.5f, 0.5f)), q.push_back(at(exp2f(i / 8.f) / 16, 0, 0, 0));
    ask("grad", object(0, { C, L, true, E, false, L }, mips), KGRAD, p, q);
    return 0;
}
