// regen: no
/* Matrix products c = a * b^T as today's kernels make them, against the host's. The elements are small integers, so that every order of summation gives the same.
 *   staged: mma.sync on tiles that cp.async brings in three stages, read by ldmatrix.
 *   hopper: wgmma on tiles that tensor copies bring, a producer and two consumer warpgroups with an mbarrier for full and one for empty for each of three stages, blocks that stay and take one tile after the other,
 *   and a tensor copy of the result. In a cluster of two, each CTA brings half of what both need of b. */
#include "async.h"
#include <time.h>

enum bug { RIGHT, FEW, NO_BARRIER, PARITY, TX, EARLY, NO_FENCE, NO_READ };

/* ---- mma.sync: a tile of 64 x 64 by four warps, 32 of k at once ---- */

enum { SIDE = 64, DEEP = 32, STAGES = 3 };
struct stage { __half a[SIDE * DEEP], b[SIDE * DEEP]; };
/* 16 bytes of a row of 64: exchanged so that the eight rows of an ldmatrix lie in different banks */
static __device__ __half *place(__half *s, int row, int chunk) { return s + row * DEEP + (chunk ^ row / 2 % 4) * 8; }
static __device__ void fetch(stage *s, const __half *a, const __half *b, int n)
{
    for (int i = threadIdx.x; i < SIDE * DEEP / 8; i += 128) {
        copy16(place(s->a, i / 4, i % 4), a + i / 4 * n + i % 4 * 8);
        copy16(place(s->b, i / 4, i % 4), b + i / 4 * n + i % 4 * 8);
    }
}
template <bug is> __global__ void staged(const __half *a, const __half *b, float *c, int n)
{
    __shared__ __align__(128) stage s[STAGES];
    float d[2][4][4] = {};
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = warp / 2 * 32, col = warp % 2 * 32, steps = n / DEEP;
    a += blockIdx.y * SIDE * n, b += blockIdx.x * SIDE * n;
    for (int k = 0; k < STAGES - 1; k++) {
        fetch(&s[k], a + k * DEEP, b + k * DEEP, n);
        commit();
    }
    for (int k = 0; k < steps; k++) {
        wait_groups<is == FEW ? STAGES - 1 : STAGES - 2>();
        if (is != NO_BARRIER) __syncthreads();
        if (k + STAGES - 1 < steps) fetch(&s[(k + STAGES - 1) % STAGES], a + (k + STAGES - 1) * DEEP, b + (k + STAGES - 1) * DEEP, n);
        commit();
        stage *t = &s[k % STAGES];
        for (int j = 0; j < DEEP / 8; j += 2) {
            unsigned x[2][4], y[2][4];
            for (int i = 0; i < 2; i++) {
                ldmatrix(x[i], place(t->a, row + i * 16 + lane % 16, j + lane / 16));
                ldmatrix(y[i], place(t->b, col + i * 16 + lane % 8 + lane / 16 * 8, j + lane / 8 % 2));
            }
            for (int i = 0; i < 2; i++)
                for (int m = 0; m < 4; m++) mma(d[i][m], x[i], y[m / 2][m % 2 * 2], y[m / 2][m % 2 * 2 + 1]);
        }
    }
    c += (blockIdx.y * SIDE + row + lane / 4) * n + blockIdx.x * SIDE + col + lane % 4 * 2;
    for (int i = 0; i < 2; i++)
        for (int m = 0; m < 4; m++)
            for (int e = 0; e < 4; e++) c[(i * 16 + e / 2 * 8) * n + m * 8 + e % 2] = d[i][m][e];
}

/* ---- wgmma: a tile of 128 x 128 by two warpgroups, 64 of k at once ---- */

enum { TILE = 128, K = 64, PIPE = 3, PART = TILE * K };
struct tiles {
    __half a[PIPE][PART], b[PIPE][PART];
    float out[2][64 * 32];
    u64 full[PIPE], empty[PIPE];
};
template <bug is, int ctas> static __device__ void produce(tiles *s, const CUtensorMap *ma, const CUtensorMap *mb, int n, int count)
{
    int across = n / TILE, slot = 0, parity = 0;
    unsigned rank = ctas > 1 ? cluster_rank() : 0;
    for (int tile = blockIdx.x; tile < count; tile += gridDim.x)
        for (int k = 0; k < n; k += K) {
            if (is != NO_BARRIER) (ctas > 1 ? bar_wait_cluster : bar_wait)(&s->empty[slot], parity ^ 1);
            bar_expect(&s->full[slot], is == TX ? PART * 2 : PART * 4);
            /* the tiles of a cluster are neighbours in a column of tiles: they have b in common */
            load(s->a[slot], ma, &s->full[slot], k, tile % across * TILE);
            if (ctas == 1) load(s->b[slot], mb, &s->full[slot], k, tile / across * TILE);
            else load_cast(s->b[slot] + rank * (PART / 2), mb, &s->full[slot], k, tile / across * TILE + rank * (TILE / 2), 3);
            if (++slot == PIPE) slot = 0, parity ^= 1;
        }
    /* the other CTA of a cluster signals here until the last one is empty */
    for (int k = 0; k < PIPE && ctas > 1; k++) {
        bar_wait_cluster(&s->empty[slot], parity ^ 1);
        if (++slot == PIPE) slot = 0, parity ^= 1;
    }
}
template <int ctas> static __device__ void release(u64 *empty)
{
    if (ctas == 1) bar_arrive(empty);
    else for (unsigned r = 0; r < ctas; r++) bar_arrive(empty, r);
}
template <bug is, int ctas> static __device__ void consume(tiles *s, const CUtensorMap *mc, int n, int count)
{
    int across = n / TILE, slot = 0, parity = is == PARITY, half = threadIdx.x / 128 - 1, lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    float *out = s->out[half];
    for (int tile = blockIdx.x; tile < count; tile += gridDim.x) {
        float d[2][32];
        int before = 0;
        for (int k = 0; k < n; k += K) {
            bar_wait(&s->full[slot], parity);
            wgmma_fence();
            for (int j = 0; j < K / 16; j++)
                for (int m = 0; m < 2; m++) product(d[m], descriptor(s->a[slot] + half * 64 * K) + j * 2, descriptor(s->b[slot] + m * 64 * K) + j * 2, k + j > 0);
            wgmma_commit();
            /* the stage before this one has been read when one group is left */
            if (is == EARLY && threadIdx.x % 128 == 0) release<ctas>(&s->empty[slot]);
            wgmma_wait<1>();
            if (is != EARLY && k && threadIdx.x % 128 == 0) release<ctas>(&s->empty[before]);
            before = slot;
            if (++slot == PIPE) slot = 0, parity ^= 1;
        }
        wgmma_wait<0>();
        if (is != EARLY && threadIdx.x % 128 == 0) release<ctas>(&s->empty[before]);
        for (int part = 0; part < 4; part++) {
            if (is != NO_READ) {
                if (threadIdx.x % 128 == 0) store_wait_read();
                ASM("bar.sync %0, 128;" ::"r"(half + 1) : "memory");
            }
            for (int i = 0; i < 16; i++) {
                int e = part % 2 * 16 + i;
                out[(warp * 16 + lane / 4 + e / 2 % 2 * 8) * 32 + i / 4 * 8 + lane % 4 * 2 + e % 2] = part < 2 ? d[0][e] : d[1][e];
            }
            if (is != NO_FENCE) fence_async();
            ASM("bar.sync %0, 128;" ::"r"(half + 1) : "memory");
            if (threadIdx.x % 128 == 0) {
                store(mc, out, tile / across * TILE + part * 32, tile % across * TILE + half * 64);
                store_commit();
            }
        }
    }
    if (threadIdx.x % 128 == 0) store_wait_read();
}
/* In clusters the tiles begin at a multiple of 128 bytes only, as CUTLASS's do: swizzles go by the bits of addresses, and copies and products agree. */
__host__ __device__ constexpr int place(int ctas) { return ctas > 1 ? 384 : 0; }
template <bug is, int ctas> __global__ void __launch_bounds__(384, 1) hopper(const __grid_constant__ CUtensorMap ma, const __grid_constant__ CUtensorMap mb, const __grid_constant__ CUtensorMap mc, int n)
{
    extern __shared__ __align__(1024) char memory[];
    tiles *s = (tiles *)(memory + place(ctas));
    int count = n / TILE * (n / TILE);
    if (threadIdx.x == 0) {
        for (int k = 0; k < PIPE; k++) bar_init(&s->full[k], 1), bar_init(&s->empty[k], 2 * ctas);
        fence_init();
    }
    if (ctas > 1) cluster_sync();
    else __syncthreads();
    if (threadIdx.x < 128) {
        fewer_registers<40>();
        if (threadIdx.x == 0) produce<is, ctas>(s, &ma, &mb, n, count);
    } else {
        more_registers<232>();
        consume<is, ctas>(s, &mc, n, count);
    }
    if (ctas > 1) cluster_sync();
}

/* ---- the host ---- */

static int compare(int n, void (*start)(__half *, __half *, float *, int))
{
    int wrong = 0;
    size_t all = (size_t)n * n;
    __half *ha = (__half *)malloc(all * 2), *hb = (__half *)malloc(all * 2), *a, *b;
    float *hc = (float *)malloc(all * 4), *c;
    for (size_t i = 0; i < all; i++) {
        ha[i] = __float2half((float)((int)(i * 7 % 11) - 5));
        hb[i] = __float2half((float)((int)(i * 5 % 13) - 6));
    }
    TRY(cudaMalloc(&a, all * 2)); TRY(cudaMalloc(&b, all * 2)); TRY(cudaMalloc(&c, all * 4));
    TRY(cudaMemcpy(a, ha, all * 2, cudaMemcpyHostToDevice)); TRY(cudaMemcpy(b, hb, all * 2, cudaMemcpyHostToDevice));
    TRY(cudaMemset(c, 0, all * 4));
    struct timespec from, to;
    bool timed = getenv("TIMED") != NULL; /* tests/bench/programs */
    if (timed) clock_gettime(CLOCK_MONOTONIC, &from);
    start(a, b, c, n);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    if (timed) clock_gettime(CLOCK_MONOTONIC, &to);
    if (timed) printf("%.3f s\n", (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec));
    TRY(cudaMemcpy(hc, c, all * 4, cudaMemcpyDeviceToHost));
    bits_of("product", hc, all * 4);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int sum = 0;
            for (int k = 0; k < n; k++) sum += ((int)(((size_t)i * n + k) * 7 % 11) - 5) * ((int)(((size_t)j * n + k) * 5 % 13) - 6);
            wrong += hc[(size_t)i * n + j] != (float)sum;
        }
    printf(wrong ? "wrong\n" : "as on the host\n");
    TRY(cudaFree(a)); TRY(cudaFree(b)); TRY(cudaFree(c));
    free(ha); free(hb); free(hc);
    return 0;
}
template <bug is> static int staged_main(void)
{
    return compare(128, [](__half *a, __half *b, float *c, int n) { staged<is><<<dim3(n / SIDE, n / SIDE), 128>>>(a, b, c, n); });
}
template <bug is, int ctas, int stay> static int hopper_main(void)
{
    return compare(getenv("SIZE") ? atoi(getenv("SIZE")) : 256, [](__half *a, __half *b, float *c, int n) {
        CUtensorMap ma = map_of(a, n, n, TILE, K), mb = map_of(b, n, n, TILE / ctas, K), mc = map_of(c, n, n, 64, 32, false);
        cudaLaunchAttribute cluster = {};
        cudaLaunchConfig_t how = {};
        int count = n / TILE * (n / TILE);
        cluster.id = cudaLaunchAttributeClusterDimension;
        cluster.val.clusterDim.x = ctas, cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
        how.gridDim = dim3(stay && stay < count ? stay : count), how.blockDim = dim3(384), how.dynamicSmemBytes = sizeof(tiles) + place(ctas);
        if (ctas > 1) how.attrs = &cluster, how.numAttrs = 1;
        TRY(cudaFuncSetAttribute(hopper<is, ctas>, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(tiles) + place(ctas)));
        TRY(cudaLaunchKernelEx(&how, hopper<is, ctas>, ma, mb, mc, n));
    });
}
PROGRAMS({"staged_ok", staged_main<RIGHT>}, {"staged_wait_bad", staged_main<FEW>}, {"staged_barrier_bad", staged_main<NO_BARRIER>},
         {"hopper_ok", hopper_main<RIGHT, 1, 0>}, {"persistent_ok", hopper_main<RIGHT, 1, 1>}, {"multicast_ok", hopper_main<RIGHT, 2, 2>},
         {"hopper_parity_bad", hopper_main<PARITY, 1, 0>}, {"hopper_tx_bad", hopper_main<TX, 1, 0>}, {"hopper_empty_bad", hopper_main<NO_BARRIER, 1, 0>},
         {"hopper_early_bad", hopper_main<EARLY, 1, 0>}, {"hopper_fence_bad", hopper_main<NO_FENCE, 1, 0>}, {"hopper_store_bad", hopper_main<NO_READ, 1, 0>})
