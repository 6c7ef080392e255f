/* What kernels of sm_80 and sm_90a are made of, as inline PTX: copies, mbarriers, products, tensor maps. */
#include "programs.h"
#include <cuda.h>
#include <cuda_fp16.h>
#include <stdint.h>

#define ADDR(p) ((unsigned)__cvta_generic_to_shared(p))
#define ASM(...) asm volatile(__VA_ARGS__)
typedef unsigned long long u64;

/* ---- cp.async, ldmatrix, mma.sync ---- */

static __device__ void copy16(void *to, const void *from) { ASM("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(ADDR(to)), "l"(from) : "memory"); }
static __device__ void commit() { ASM("cp.async.commit_group;" ::: "memory"); }
template <int n> static __device__ void wait_groups() { ASM("cp.async.wait_group %0;" ::"n"(n) : "memory"); }
static __device__ void ldmatrix(unsigned (&r)[4], const void *p) { ASM("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(ADDR(p)) : "memory"); }
static __device__ void ldmatrix_turned(unsigned (&r)[4], const void *p) { ASM("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(ADDR(p)) : "memory"); }
static __device__ void mma(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    ASM("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* ---- mbarriers ---- */

static __device__ void bar_init(u64 *b, unsigned n) { ASM("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(ADDR(b)), "r"(n) : "memory"); }
static __device__ void bar_expect(u64 *b, unsigned bytes) { ASM("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(ADDR(b)), "r"(bytes) : "memory"); }
static __device__ void bar_arrive(u64 *b) { ASM("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(ADDR(b)) : "memory"); }
/* at the mbarrier of that CTA of the cluster */
static __device__ void bar_arrive(u64 *b, unsigned rank) { ASM("{ .reg .u32 at; mapa.shared::cluster.u32 at, %0, %1; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [at]; }" ::"r"(ADDR(b)), "r"(rank) : "memory"); }
static __device__ void bar_wait(u64 *b, unsigned parity) { ASM("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra again; }" ::"r"(ADDR(b)), "r"(parity) : "memory"); }
static __device__ void bar_wait_cluster(u64 *b, unsigned parity) { ASM("{ .reg .pred p; again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1; @!p bra again; }" ::"r"(ADDR(b)), "r"(parity) : "memory"); }
static __device__ void fence_init() { ASM("fence.mbarrier_init.release.cluster;" ::: "memory"); }
static __device__ void fence_async() { ASM("fence.proxy.async.shared::cta;" ::: "memory"); }
static __device__ void cluster_sync() { ASM("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory"); }
static __device__ unsigned cluster_rank() { unsigned r; ASM("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
template <int n> static __device__ void more_registers() { ASM("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n)); }
template <int n> static __device__ void fewer_registers() { ASM("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n)); }

/* ---- tensor copies, of two dimensions ---- */

static __device__ void load(void *to, const CUtensorMap *m, u64 *full, int x, int y)
{
    ASM("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(ADDR(to)), "l"(m), "r"(ADDR(full)), "r"(x), "r"(y) : "memory");
}
static __device__ void load_cast(void *to, const CUtensorMap *m, u64 *full, int x, int y, unsigned short ctas)
{
    ASM("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(ADDR(to)), "l"(m), "r"(ADDR(full)), "r"(x), "r"(y), "h"(ctas) : "memory");
}
static __device__ void store(const CUtensorMap *m, const void *from, int x, int y)
{
    ASM("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%1, {%2, %3}], [%0];" ::"r"(ADDR(from)), "l"(m), "r"(x), "r"(y) : "memory");
}
static __device__ void store_commit() { ASM("cp.async.bulk.commit_group;" ::: "memory"); }
static __device__ void store_wait_read() { ASM("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

/* ---- wgmma, both operands in the swizzle of 128 bytes ---- */

static __device__ u64 descriptor(const void *p) { return (ADDR(p) & 0x3ffff) >> 4 | 1ull << 16 | (u64)(1024 >> 4) << 32 | 1ull << 62; }
static __device__ void wgmma_fence() { ASM("wgmma.fence.sync.aligned;" ::: "memory"); }
static __device__ void wgmma_commit() { ASM("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int n> static __device__ void wgmma_wait() { ASM("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory"); }
#define REGISTERS32 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}"
#define F4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define F32(d) F4(d, 0), F4(d, 4), F4(d, 8), F4(d, 12), F4(d, 16), F4(d, 20), F4(d, 24), F4(d, 28)
/* 64 x 64 x 16, b K-major; add 0: d is overwritten */
static __device__ void product(float (&d)[32], u64 a, u64 b, int add)
{
    ASM("{ .reg .pred p; setp.ne.b32 p, %34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " REGISTERS32 ", %32, %33, p, 1, 1, 0, 0; }" : F32(d) : "l"(a), "l"(b), "r"(add));
}
/* a in registers, b MN-major */
static __device__ void product(float (&d)[32], const unsigned (&a)[4], u64 b)
{
    ASM("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " REGISTERS32 ", {%32,%33,%34,%35}, %36, 1, 1, 1, 1;" : F32(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

/* ---- the host ---- */

/* A map of a matrix of rows x cols f16 (or f32) with boxes of box_rows x box_cols. */
static CUtensorMap map_of(void *p, int rows, int cols, int box_rows, int box_cols, bool half = true)
{
    typedef CUresult encode_t(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    static encode_t *encode;
    CUtensorMap m;
    cuuint64_t dim[] = { (cuuint64_t)cols, (cuuint64_t)rows }, pitch[] = { (cuuint64_t)cols * (half ? 2 : 4) };
    cuuint32_t box[] = { (cuuint32_t)box_cols, (cuuint32_t)box_rows }, step[] = { 1, 1 };
    cudaDriverEntryPointQueryResult found;
    if (!encode) TRY(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &found));
    CUresult r = encode(&m, half ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, p, dim, pitch, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                        half ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (r) { printf("cuTensorMapEncodeTiled: %d\n", (int)r); exit(3); }
    return m;
}
