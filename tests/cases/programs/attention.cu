// regen: no
/* FlashAttention forward, o = softmax(q k^T / 8) v of one head of 64 with 64 queries a block, against the host's sums in double.
 *   staged: mma.sync; k and v come by cp.async into two buffers, the next ones while these are used.
 *   hopper: wgmma; q, k and v come by tensor copies of a producer warp, p goes from registers, v is read MN-major. */
#include "async.h"
#include <math.h>

enum bug { RIGHT, FEW, NO_BARRIER, PARITY, TX, EARLY };
enum { D = 64, ROWS = 64, KEYS = 64, BUFFERS = 2 };

/* A row of scores: its largest so far and its sum, in the four lanes that have it. The scores become weights; the factor by which what was summed before is to be multiplied. */
static __device__ float four_max(float x) { x = fmaxf(x, __shfl_xor_sync(~0u, x, 1)); return fmaxf(x, __shfl_xor_sync(~0u, x, 2)); }
static __device__ float four_sum(float x) { x += __shfl_xor_sync(~0u, x, 1); return x + __shfl_xor_sync(~0u, x, 2); }
template <int n> static __device__ void weigh(float (&s)[n], float (&largest)[2], float (&sum)[2], float (&factor)[2])
{
    for (int r = 0; r < 2; r++) {
        float m = largest[r], part = 0;
        for (int i = 0; i < n; i++) if (i / 2 % 2 == r) m = fmaxf(m, s[i]);
        m = four_max(m);
        factor[r] = exp2f((largest[r] - m) * 0.18033688f);
        for (int i = 0; i < n; i++) if (i / 2 % 2 == r) part += s[i] = exp2f((s[i] - m) * 0.18033688f);
        sum[r] = sum[r] * factor[r] + four_sum(part);
        largest[r] = m;
    }
}
static __device__ unsigned two(float a, float b) { __half2 h = __floats2half2_rn(a, b); unsigned u; memcpy(&u, &h, 4); return u; }
static __device__ void put(float *out, const float *o, const float (&sum)[2], int warp, int lane)
{
    for (int i = 0; i < 32; i++) out[(warp * 16 + lane / 4 + i / 2 % 2 * 8) * D + i / 4 * 8 + lane % 4 * 2 + i % 2] = o[i] / sum[i / 2 % 2];
}

/* ---- cp.async and mma.sync: four warps with 16 queries each ---- */

struct tile { __half row[KEYS][D]; };
static __device__ __half *place(tile *t, int row, int chunk) { return &t->row[row][(chunk ^ row % 8) * 8]; }
static __device__ void fetch(tile *t, const __half *from)
{
    for (int i = threadIdx.x; i < KEYS * D / 8; i += 128) copy16(place(t, i / 8, i % 8), from + i * 8);
}
template <bug is> __global__ void staged(const __half *q, const __half *k, const __half *v, float *out, int n)
{
    __shared__ __align__(128) tile qs, ks[BUFFERS], vs[BUFFERS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float o[32] = {}, largest[2] = { -INFINITY, -INFINITY }, sum[2] = {}, factor[2];
    unsigned x[D / 16][4];
    fetch(&qs, q + blockIdx.x * ROWS * D);
    fetch(&ks[0], k), fetch(&vs[0], v);
    commit();
    for (int t = 0; t < n / KEYS; t++) {
        int now = t % BUFFERS, next = (t + 1) % BUFFERS;
        if (t + 1 < n / KEYS) fetch(&ks[next], k + (t + 1) * KEYS * D), fetch(&vs[next], v + (t + 1) * KEYS * D);
        commit();
        wait_groups<is == FEW ? 2 : 1>();
        __syncthreads();
        if (t == 0)
            for (int j = 0; j < D / 16; j++) ldmatrix(x[j], place(&qs, warp * 16 + lane % 16, j * 2 + lane / 16));
        float s[32] = {};
        for (int m = 0; m < KEYS / 16; m++)
            for (int j = 0; j < D / 16; j++) {
                unsigned y[4];
                ldmatrix(y, place(&ks[now], m * 16 + lane % 8 + lane / 16 * 8, j * 2 + lane / 8 % 2));
                mma(*(float(*)[4]) & s[m * 8], x[j], y[0], y[1]);
                mma(*(float(*)[4]) & s[m * 8 + 4], x[j], y[2], y[3]);
            }
        weigh(s, largest, sum, factor);
        for (int i = 0; i < 32; i++) o[i] *= factor[i / 2 % 2];
        for (int m = 0; m < KEYS / 16; m++) {
            unsigned p[4] = { two(s[m * 8], s[m * 8 + 1]), two(s[m * 8 + 2], s[m * 8 + 3]), two(s[m * 8 + 4], s[m * 8 + 5]), two(s[m * 8 + 6], s[m * 8 + 7]) };
            for (int j = 0; j < D / 16; j++) {
                unsigned y[4];
                ldmatrix_turned(y, place(&vs[now], m * 16 + lane % 16, j * 2 + lane / 16));
                mma(*(float(*)[4]) & o[j * 8], p, y[0], y[1]);
                mma(*(float(*)[4]) & o[j * 8 + 4], p, y[2], y[3]);
            }
        }
        if (is != NO_BARRIER) __syncthreads();
    }
    put(out + blockIdx.x * ROWS * D, o, sum, warp, lane);
}

/* ---- tensor copies and wgmma: one warpgroup computes, one warp brings ---- */

struct hopper_memory {
    __half q[ROWS * D], k[BUFFERS][KEYS * D], v[BUFFERS][KEYS * D];
    u64 q_full, full_k[BUFFERS], full_v[BUFFERS], empty[BUFFERS];
};
template <bug is> __global__ void __launch_bounds__(256, 1) hopper(const __grid_constant__ CUtensorMap mq, const __grid_constant__ CUtensorMap mk, const __grid_constant__ CUtensorMap mv, float *out, int n)
{
    extern __shared__ __align__(1024) char memory[];
    hopper_memory *m = (hopper_memory *)memory;
    if (threadIdx.x == 0) {
        bar_init(&m->q_full, 1);
        for (int b = 0; b < BUFFERS; b++) bar_init(&m->full_k[b], 1), bar_init(&m->full_v[b], 1), bar_init(&m->empty[b], 128);
        fence_init();
    }
    __syncthreads();
    if (threadIdx.x >= 128) {
        fewer_registers<24>();
        if (threadIdx.x != 128) return;
        bar_expect(&m->q_full, sizeof m->q);
        load(m->q, &mq, &m->q_full, 0, blockIdx.x * ROWS);
        for (int t = 0; t < n / KEYS; t++) {
            int b = t % BUFFERS, parity = t / BUFFERS % 2;
            if (is != NO_BARRIER) bar_wait(&m->empty[b], parity ^ 1);
            bar_expect(&m->full_k[b], sizeof m->k[0]);
            load(m->k[b], &mk, &m->full_k[b], 0, t * KEYS);
            bar_expect(&m->full_v[b], is == TX ? sizeof m->v[0] / 2 : sizeof m->v[0]);
            if (is == TX) ASM("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(ADDR(&m->full_v[b])), "r"((unsigned)sizeof m->v[0] / 2) : "memory");
            load(m->v[b], &mv, &m->full_v[b], 0, t * KEYS);
        }
        return;
    }
    more_registers<240>();
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float o[32], largest[2] = { -INFINITY, -INFINITY }, sum[2] = {}, factor[2];
    for (int i = 0; i < 32; i++) o[i] = 0;
    bar_wait(&m->q_full, 0);
    for (int t = 0; t < n / KEYS; t++) {
        int b = t % BUFFERS, parity = t / BUFFERS % 2;
        float s[32];
        bar_wait(&m->full_k[b], parity);
        wgmma_fence();
        for (int j = 0; j < D / 16; j++) product(s, descriptor(m->q) + j * 2, descriptor(m->k[b]) + j * 2, j);
        wgmma_commit();
        wgmma_wait<0>();
        weigh(s, largest, sum, factor);
        for (int i = 0; i < 32; i++) o[i] *= factor[i / 2 % 2];
        bar_wait(&m->full_v[b], is == PARITY ? parity ^ 1 : parity);
        unsigned p[KEYS / 16][4];
        for (int j = 0; j < KEYS / 16; j++)
            for (int i = 0; i < 4; i++) p[j][i] = two(s[j * 8 + i * 2], s[j * 8 + i * 2 + 1]);
        wgmma_fence();
        for (int j = 0; j < KEYS / 16; j++) product(o, p[j], descriptor(m->v[b] + j * 16 * D));
        wgmma_commit();
        if (is == EARLY) bar_arrive(&m->empty[b]);
        wgmma_wait<0>();
        if (is != EARLY) bar_arrive(&m->empty[b]);
    }
    put(out + blockIdx.x * ROWS * D, o, sum, warp, lane);
}

/* ---- the host ---- */

static int compare(void (*start)(__half *, __half *, __half *, float *, int))
{
    enum { N = 256 };
    static __half h[3][N * D];
    static float got[N * D];
    __half *in[3];
    float *out;
    unsigned state = 1;
    int wrong = 0;
    for (int m = 0; m < 3; m++) {
        for (int i = 0; i < N * D; i++) state = state * 1664525 + 1013904223, h[m][i] = __float2half((float)((int)(state >> 16) % 257 - 128) / 64);
        TRY(cudaMalloc(&in[m], sizeof h[m]));
        TRY(cudaMemcpy(in[m], h[m], sizeof h[m], cudaMemcpyHostToDevice));
    }
    TRY(cudaMalloc(&out, sizeof got));
    start(in[0], in[1], in[2], out, N);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    bits_of("attention", got, sizeof got);
    for (int r = 0; r < N; r++) {
        double w[N], sum = 0, largest = -1e30;
        for (int j = 0; j < N; j++) {
            w[j] = 0;
            for (int d = 0; d < D; d++) w[j] += (double)__half2float(h[0][r * D + d]) * __half2float(h[1][j * D + d]) / 8;
            largest = fmax(largest, w[j]);
        }
        for (int j = 0; j < N; j++) sum += w[j] = exp(w[j] - largest);
        for (int d = 0; d < D; d++) {
            double x = 0;
            for (int j = 0; j < N; j++) x += w[j] / sum * __half2float(h[2][j * D + d]);
            wrong += !(fabs(x - got[r * D + d]) < 2e-3);
        }
    }
    printf(wrong ? "wrong\n" : "as on the host\n");
    for (int m = 0; m < 3; m++) TRY(cudaFree(in[m]));
    TRY(cudaFree(out));
    return 0;
}
template <bug is> static int staged_main(void)
{
    return compare([](__half *q, __half *k, __half *v, float *out, int n) { staged<is><<<n / ROWS, 128>>>(q, k, v, out, n); });
}
template <bug is> static int hopper_main(void)
{
    return compare([](__half *q, __half *k, __half *v, float *out, int n) {
        TRY(cudaFuncSetAttribute(hopper<is>, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(hopper_memory)));
        hopper<is><<<n / ROWS, 256, sizeof(hopper_memory)>>>(map_of(q, n, D, ROWS, D), map_of(k, n, D, KEYS, D), map_of(v, n, D, KEYS, D), out, n);
    });
}
PROGRAMS({"staged_ok", staged_main<RIGHT>}, {"staged_wait_bad", staged_main<FEW>}, {"staged_barrier_bad", staged_main<NO_BARRIER>},
         {"hopper_ok", hopper_main<RIGHT>}, {"hopper_parity_bad", hopper_main<PARITY>}, {"hopper_tx_bad", hopper_main<TX>}, {"hopper_early_bad", hopper_main<EARLY>})
