// regen: no
// modern_maps: tensor maps that a kernel changes (tensormap.replace, tensormap.cp_fenceproxy) and interleaved ones: the words of a map after each change, and what copies bring.
// tests/facts/modern.sh runs it on a GPU and under `lockstep run`.
#include "async.h"

typedef CUresult encode_t(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                          CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
static encode_t *encoder(void)
{
    static encode_t *encode;
    cudaDriverEntryPointQueryResult found;
    if (!encode) TRY(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &found));
    return encode;
}

/* ---- a map that is changed in shared memory ---- */

#define SET64(f, v) ASM("tensormap.replace.tile." f ".shared::cta.b1024.b64 [%0], %1;" ::"r"(at), "l"(v) : "memory")
#define SET32(f, v) ASM("tensormap.replace.tile." f ".shared::cta.b1024.b32 [%0], %1;" ::"r"(at), "r"(v) : "memory")
#define SET(f, v) ASM("tensormap.replace.tile." f ".shared::cta.b1024.b32 [%0], " #v ";" ::"r"(at) : "memory")
#define SET_AT32(f, n, v) ASM("tensormap.replace.tile." f ".shared::cta.b1024.b32 [%0], " #n ", %1;" ::"r"(at), "r"(v) : "memory")
#define SET_AT64(f, n, v) ASM("tensormap.replace.tile." f ".shared::cta.b1024.b64 [%0], " #n ", %1;" ::"r"(at), "l"(v) : "memory")
enum { CHANGES = 28 };

static __device__ void change(int which, unsigned at)
{
    switch (which) {
    case 0: SET64("global_address", 0x123456789ab0ull); break;
    case 1: SET32("rank", 4); break;
    case 2: SET_AT32("box_dim", 0, 32); break;
    case 3: SET_AT32("box_dim", 1, 256); break;
    case 4: SET_AT32("box_dim", 2, 77); break;
    case 5: SET_AT32("box_dim", 3, 3); break;
    case 6: SET_AT32("box_dim", 4, 5); break;
    case 7: SET_AT32("global_dim", 0, 1000); break;
    case 8: SET_AT32("global_dim", 1, 0); break;
    case 9: SET_AT32("global_dim", 2, 7); break;
    case 10: SET_AT32("global_dim", 3, 0x80000000u); break;
    case 11: SET_AT32("global_dim", 4, 1); break;
    case 12: SET_AT64("global_stride", 0, 4096ull); break;
    case 13: SET_AT64("global_stride", 1, 0x1234567890ull); break;
    case 14: SET_AT64("global_stride", 2, 0xfffffffff0ull); break;
    case 15: SET_AT64("global_stride", 3, 0xf000000010ull); break;
    case 16: SET_AT32("element_stride", 0, 8); break;
    case 17: SET_AT32("element_stride", 1, 1); break;
    case 18: SET_AT32("element_stride", 2, 2); break;
    case 19: SET_AT32("element_stride", 4, 3); break;
    case 20: SET("elemtype", 0); break;
    case 21: SET("elemtype", 10); break;
    case 22: SET("elemtype", 11); break;
    case 23: SET("elemtype", 12); SET("elemtype", 9); break;
    case 24: SET("interleave_layout", 1); break;
    case 25: SET("swizzle_mode", 0); break;
    case 26: SET("swizzle_mode", 2); break;
    case 27: SET("fill_mode", 1); break;
    }
}
static __global__ void changed(const __grid_constant__ CUtensorMap m, unsigned *out)
{
    __shared__ __align__(128) unsigned map[32];
    map[threadIdx.x] = ((const unsigned *)&m)[threadIdx.x];
    __syncwarp();
    if (threadIdx.x == 0) change(blockIdx.x, ADDR(map));
    __syncwarp();
    out[blockIdx.x * 32 + threadIdx.x] = map[threadIdx.x];
}
static int words(void)
{
    static unsigned got[CHANGES][32], was[32], *out;
    void *p;
    CUtensorMap m;
    TRY(cudaMalloc(&p, 1 << 16)); TRY(cudaMalloc(&out, sizeof got));
    m = map_of((void *)0x7f0000000000, 300, 64, 40, 64);
    memcpy(was, &m, sizeof was);
    changed<<<CHANGES, 32>>>(m, out);
    TRY(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int k = 0; k < CHANGES; k++) {
        printf("%d:", k);
        for (int i = 0; i < 32; i++) if (got[k][i] != was[i]) printf(" [%d] %08x", i, got[k][i]);
        printf("\n");
    }
    TRY(cudaFree(p)); TRY(cudaFree(out));
    return 0;
}

/* A block for each of three matrices of other sizes: one map is changed for each of them in shared memory, and copied to where the copies take it from. */
struct job { const int *from; int cols, rows; };
static __global__ void grouped(const __grid_constant__ CUtensorMap m, const job *jobs, CUtensorMap *maps, int *out)
{
    __shared__ __align__(128) CUtensorMap map;
    __shared__ __align__(128) int tile[8 * 8];
    __shared__ u64 full;
    CUtensorMap *mine = maps + blockIdx.x;
    job j = jobs[blockIdx.x];
    if (threadIdx.x == 0) {
        map = m;
        unsigned at = ADDR(&map);
        SET64("global_address", (u64)j.from);
        SET_AT32("global_dim", 0, j.cols);
        SET_AT32("global_dim", 1, j.rows);
        SET_AT64("global_stride", 0, (u64)j.cols * 4);
        bar_init(&full, 1);
        fence_init();
    }
    __syncthreads();
    ASM("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(mine), "r"(ADDR(&map)) : "memory");
    ASM("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(mine) : "memory");
    if (threadIdx.x == 0) {
        bar_expect(&full, sizeof tile);
        load(tile, mine, &full, 4, 2);
    }
    bar_wait(&full, 0);
    for (int k = threadIdx.x; k < 64; k += 32) out[blockIdx.x * 64 + k] = tile[k];
}
static int groups(void)
{
    static int h[3][1024], got[3][64];
    int *p, *out;
    job j[3] = { { 0, 32, 32 }, { 0, 16, 20 }, { 0, 8, 6 } }, *jobs;
    CUtensorMap *maps;
    TRY(cudaMalloc(&p, sizeof h)); TRY(cudaMalloc(&out, sizeof got)); TRY(cudaMalloc(&jobs, sizeof j)); TRY(cudaMalloc(&maps, 3 * sizeof *maps));
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 1024; i++) h[k][i] = k * 10000 + i;
        j[k].from = p + k * 1024;
    }
    TRY(cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice)); TRY(cudaMemcpy(jobs, j, sizeof j, cudaMemcpyHostToDevice));
    CUtensorMap m = map_of(p, 32, 32, 8, 8, false);
    grouped<<<3, 32>>>(m, jobs, maps, out);
    TRY(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int k = 0; k < 3; k++) {
        printf("matrix %d:", k);
        for (int i = 0; i < 64; i++) printf(" %d", got[k][i]);
        printf("\n");
    }
    TRY(cudaFree(p)); TRY(cudaFree(out)); TRY(cudaFree(jobs)); TRY(cudaFree(maps));
    return 0;
}

/* ---- interleaved maps: which 16 bytes of the tensor each 16 bytes of shared memory are ---- */

enum { ROOM = 16384 };
static __global__ void slices(const __grid_constant__ CUtensorMap m, int rank, int x, int y, int z, int t, unsigned bytes, unsigned short *out, int *came)
{
    __shared__ __align__(1024) unsigned short s[ROOM / 2];
    __shared__ u64 full;
    for (int k = threadIdx.x; k < ROOM / 2; k += blockDim.x) s[k] = 0xffff;
    if (threadIdx.x == 0) bar_init(&full, 1), fence_init();
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        bar_expect(&full, bytes);
        if (rank == 3) ASM("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(ADDR(s)), "l"(&m), "r"(ADDR(&full)), "r"(x), "r"(y), "r"(z) : "memory");
        else ASM("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(ADDR(s)), "l"(&m), "r"(ADDR(&full)), "r"(x), "r"(y), "r"(z), "r"(t) : "memory");
        int done = 0;
        for (int k = 0; k < 100000 && !done; k++)
            ASM("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }" : "=r"(done) : "r"(ADDR(&full)) : "memory");
        *came = done;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < ROOM / 2; k += blockDim.x) out[k] = s[k];
}
struct layout { const char *what; int interleave, swizzle, rank; cuuint64_t dim[4], pitch[3]; cuuint32_t box[4]; int at[4]; unsigned step; };
/* a tensor of 8 channels a slice, 6 wide, 5 high, 4 slices: slices are a dimension of their own, or belong to the first one */
static const layout asked[] = {
    { "16B, 3d", 1, 0, 3, { 8, 6, 20, 1 }, { 16, 96, 0 }, { 8, 4, 3, 1 }, { 0, 0, 0, 0 }, 1 },
    { "16B, 3d, 32 channels", 1, 0, 3, { 32, 6, 5, 1 }, { 16, 96, 0 }, { 8, 4, 3, 1 }, { 0, 0, 0, 0 }, 1 },
    { "16B, 3d, at channel 8", 1, 0, 3, { 32, 6, 5, 1 }, { 16, 96, 0 }, { 8, 4, 3, 1 }, { 8, 1, 1, 0 }, 1 },
    { "16B, 3d, at slice 1", 1, 0, 3, { 32, 6, 5, 1 }, { 16, 96, 0 }, { 8, 4, 3, 1 }, { 1, 1, 1, 0 }, 1 },
    { "16B, 4d, 32 channels", 1, 0, 4, { 32, 6, 5, 2 }, { 16, 96, 1920 }, { 8, 4, 3, 2 }, { 0, 1, 2, 0 }, 1 },
    { "16B, 4d, at channel 16", 1, 0, 4, { 32, 6, 5, 2 }, { 16, 96, 1920 }, { 8, 4, 3, 2 }, { 16, 3, 3, 1 }, 1 },
    { "16B, 4d, outside", 1, 0, 4, { 32, 6, 5, 2 }, { 16, 96, 1920 }, { 8, 4, 3, 1 }, { 24, -1, -1, 1 }, 1 },
    { "16B, 4d, pitches", 1, 0, 4, { 32, 6, 5, 2 }, { 32, 256, 4096 }, { 8, 4, 3, 2 }, { 8, 1, 2, 0 }, 1 },
    { "16B, box of two slices", 1, 0, 4, { 32, 6, 5, 2 }, { 16, 96, 1920 }, { 16, 4, 3, 1 }, { 0, 0, 0, 0 }, 1 },
    { "16B, step 2", 1, 0, 4, { 32, 6, 5, 2 }, { 16, 96, 1920 }, { 8, 4, 3, 1 }, { 0, 0, 0, 0 }, 2 },
    { "32B, 4d", 2, 1, 4, { 32, 6, 5, 2 }, { 32, 192, 1920 }, { 16, 4, 3, 2 }, { 0, 0, 0, 0 }, 1 },
    { "32B, 4d, at channel 16", 2, 1, 4, { 32, 6, 5, 2 }, { 32, 192, 1920 }, { 16, 4, 3, 2 }, { 16, 3, 3, 1 }, 1 },
    { "32B, 3d", 2, 1, 3, { 16, 6, 10, 1 }, { 32, 192, 0 }, { 16, 4, 3, 1 }, { 0, 1, 2, 0 }, 1 },
    { "32B, no swizzle", 2, 0, 3, { 16, 6, 10, 1 }, { 32, 192, 0 }, { 16, 4, 3, 1 }, { 0, 1, 2, 0 }, 1 },
};
static const layout others[] = {
    /* rows that are shorter than the swizzle */
    { "16B, 32-byte swizzle", 1, 1, 3, { 8, 6, 20, 1 }, { 16, 96, 0 }, { 8, 4, 5, 1 }, { 0, 0, 0, 0 }, 1 },
    { "16B, 64-byte swizzle", 1, 2, 3, { 8, 6, 20, 1 }, { 16, 96, 0 }, { 8, 4, 5, 1 }, { 0, 0, 0, 0 }, 1 },
    { "16B, 128-byte swizzle", 1, 3, 4, { 32, 6, 5, 2 }, { 16, 96, 1920 }, { 8, 5, 3, 2 }, { 0, 1, 2, 0 }, 1 },
    { "16B, 128-byte swizzle, three slices", 1, 3, 4, { 32, 6, 5, 2 }, { 16, 96, 1920 }, { 24, 5, 3, 2 }, { 0, 1, 2, 0 }, 1 },
    { "32B, 64-byte swizzle", 2, 2, 3, { 16, 6, 10, 1 }, { 32, 192, 0 }, { 16, 4, 3, 1 }, { 0, 1, 2, 0 }, 1 },
    { "32B, 128-byte swizzle", 2, 3, 4, { 32, 6, 5, 2 }, { 32, 192, 1920 }, { 16, 4, 3, 2 }, { 0, 0, 0, 0 }, 1 },
    /* steps along the first dimension, too */
    { "16B, step 2 of the first", 1, 0, 3, { 32, 6, 5, 1 }, { 512, 3072, 0 }, { 8, 4, 3, 1 }, { 1, 0, 0, 0 }, 0x201 },
    { "16B, step 3 of the first", 1, 0, 4, { 20, 6, 5, 2 }, { 512, 3072, 15360 }, { 16, 4, 3, 1 }, { 8, 0, 0, 0 }, 0x301 },
    { "32B, steps 2 and 2", 2, 1, 4, { 16, 6, 5, 2 }, { 512, 3072, 15360 }, { 16, 4, 3, 1 }, { 3, 0, 0, 0 }, 0x202 },
    { "16B, 128-byte swizzle, one slice", 1, 3, 4, { 32, 6, 5, 2 }, { 16, 96, 1920 }, { 8, 1, 3, 1 }, { 3, 1, 2, 0 }, 1 },
};
enum { ALL = 32768 };
/* The map, and how many bytes a copy has: an element of the first dimension is a slice; the dimension before the last has one in every box. 0: it cannot be encoded. */
static unsigned encoded(const layout *l, void *p, CUtensorMap *m)
{
    cuuint32_t steps[] = { l->step > 255 ? l->step >> 8 : 1, l->step & 255, 1, 1 };
    CUresult r = encoder()(m, CU_TENSOR_MAP_DATA_TYPE_UINT16, l->rank, p, l->dim, l->pitch, l->box, steps, (CUtensorMapInterleave)l->interleave, (CUtensorMapSwizzle)l->swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    printf("%s: interleave %d, swizzle %d, encode %d", l->what, l->interleave, l->swizzle, (int)r);
    if (r) printf("\n");
    return r ? 0 : (l->interleave == 1 ? 16 : 32) * ((l->box[0] + steps[0] - 1) / steps[0]) * (l->rank > 3 ? (l->box[1] + steps[1] - 1) / steps[1] * l->box[3] : l->box[2]);
}
static void ask(const layout *l)
{
    static unsigned short h[ALL], got[ROOM / 2], *p, *out;
    static int *came;
    CUtensorMap m;
    int last = 0, finished;
    for (int k = 0; k < ALL; k++) h[k] = (unsigned short)k;
    if (!p) { TRY(cudaMalloc(&p, sizeof h)); TRY(cudaMalloc(&out, sizeof got)); TRY(cudaMalloc(&came, 4)); }
    TRY(cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice));
    unsigned bytes = encoded(l, p, &m);
    if (!bytes) return;
    slices<<<1, 64>>>(m, l->rank, l->at[0], l->at[1], l->at[2], l->at[3], bytes, out, came);
    cudaError_t e = cudaDeviceSynchronize();
    if (e) { printf(", %s\n", cudaGetErrorName(e)); exit(0); }
    TRY(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost)); TRY(cudaMemcpy(&finished, came, 4, cudaMemcpyDeviceToHost));
    for (int k = 0; k < ROOM / 2; k++) if (got[k] != 0xffff) last = k + 1;
    printf(", %u bytes %s, %d written:", bytes, finished ? "came" : "did not come", last * 2);
    for (int k = 0; k < (last + 7) / 8 && k < 64; k++)
        if (got[8 * k] == 0 && got[8 * k + 1] == 0) printf(" zero");
        else if (got[8 * k] == 0xffff) printf(" -");
        else printf(got[8 * k] % 8 ? " %u.%u" : " %u", got[8 * k] / 8, got[8 * k] % 8);
    printf("\n");
}
static int interleaved(void)
{
    for (const layout &l : asked) ask(&l);
    return 0;
}
static int interleaved_others(void)
{
    for (const layout &l : others) ask(&l);
    return 0;
}

/* The other way: the words of shared memory are numbered, and the tensor says where they went. (A card has no reductions of 16-bit integers.) */
static __global__ void slices_out(const __grid_constant__ CUtensorMap m, int rank, int x, int y, int z, int t)
{
    __shared__ __align__(1024) unsigned short s[ROOM / 2];
    for (int k = threadIdx.x; k < ROOM / 2; k += blockDim.x) s[k] = k + 1;
    fence_async();
    __syncthreads();
    if (threadIdx.x) return;
    if (rank == 3) ASM("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&m), "r"(ADDR(s)), "r"(x), "r"(y), "r"(z) : "memory");
    else ASM("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(&m), "r"(ADDR(s)), "r"(x), "r"(y), "r"(z), "r"(t) : "memory");
    store_commit();
    ASM("cp.async.bulk.wait_group 0;" ::: "memory");
}
static void ask_out(const layout *l)
{
    static unsigned short got[ALL], *p;
    CUtensorMap m;
    if (!p) TRY(cudaMalloc(&p, sizeof got));
    memset(got, 0, sizeof got);
    TRY(cudaMemcpy(p, got, sizeof got, cudaMemcpyHostToDevice));
    if (!encoded(l, p, &m)) return;
    slices_out<<<1, 64>>>(m, l->rank, l->at[0], l->at[1], l->at[2], l->at[3]);
    cudaError_t e = cudaDeviceSynchronize();
    if (e) { printf(", %s\n", cudaGetErrorName(e)); exit(0); }
    TRY(cudaMemcpy(got, p, sizeof got, cudaMemcpyDeviceToHost));
    printf(", stored:");
    for (int k = 0; k < ALL; k += 8) {
        bool in_order = true;
        for (int i = 1; i < 8; i++) in_order = in_order && got[k + i] == got[k] + i;
        if (got[k]) printf(" %d<%d%s", k / 8, (got[k] - 1) / 8, in_order ? "" : "?");
    }
    printf("\n");
}
static int interleaved_stores(void)
{
    for (const layout &l : asked)
        if (l.at[1] >= 0) ask_out(&l); /* a card takes negative coordinates only in loads */
    return 0;
}
static int interleaved_other_stores(void)
{
    for (const layout &l : others) ask_out(&l);
    return 0;
}
PROGRAMS({"words_ok", words}, {"groups_ok", groups}, {"interleaved_ok", interleaved}, {"interleaved_stores_ok", interleaved_stores}, {"others_ask", interleaved_others}, {"other_stores_ask", interleaved_other_stores})
