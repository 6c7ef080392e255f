/* Cards: the limits and figures of real GPUs, so that limits and residency are real here too. */
#ifndef LOCKSTEP_CARD_H
#define LOCKSTEP_CARD_H
#include "base/base.h"
struct card {
    const char *name;                      /* "h200" */
    const char *alias;                     /* another name that finds it; NULL: none */
    const char *title;                     /* "NVIDIA H200 SXM" */
    const char *driver_name;               /* "NVIDIA H200": what cuDeviceGetName says; NULL: not known */
    u32 sm;                                /* 90 */
    u32 sms;                               /* multiprocessors */
    u32 cores_per_sm, tensor_cores_per_sm; /* CUDA cores, which do f32; tensor cores */
    u32 threads_per_cta, threads_per_sm, ctas_per_sm, warps_per_sm;
    u32 regs_per_sm, regs_per_cta, regs_per_thread;
    u32 shared_per_cta;                 /* without opt-in (48 KiB) */
    u32 shared_optin;                   /* with opt-in */
    u32 shared_per_sm, shared_reserved; /* reserved: taken by the system from every CTA */
    u32 grid[3], block[3];              /* largest launch */
    u32 cluster_max;                    /* CTAs; 0: no clusters */
    /* SMs of each GPC, up to a 0, as cudaOccupancyMaxActiveClusters of a card tells; none: it is not known */
    u8 gpc[12];
    u64 memory;
    u32 l2;                    /* bytes */
    u32 clock_mhz, memory_gbs; /* boost clock; bandwidth in GB/s */
    /* dense, in 10^9 operations a second; 0: the card has no such unit, or nobody published it */
    struct peaks {
        u32 f64, f32; /* of the ordinary units */
        /* of the tensor cores; f16 stands for bf16 too, with f32 accumulation */
        u32 t_f64, t_tf32, t_f16, t_f8, t_f4, t_i8;
    } peak;
    bool sparse; /* tensor cores do twice that on 2:4 sparse matrices (not for f64) */
    bool cooperative;
    bool pageable;      /* kernels may use memory of malloc, as the host does */
    const char *source; /* where the figures come from */
};
const struct card *card_find(const char *name); /* "h200", "sm_90", "90", "l4"...; NULL: none */
const struct card *card_default(void);          /* H200 */
const struct card *card_at(u32 i);              /* NULL past the last */
/* SMs of the k-th GPC, which a cluster stays within; 0: there is none. A card whose GPCs are not known has them of 16.
 */
u32 card_gpc(const struct card *p, u32 k);
/* What its driver calls it; the title where that was not seen. */
static inline const char *card_driver_name(const struct card *p) { return p->driver_name ? p->driver_name : p->title; }
/* Clusters of so many CTAs that fit at a time, where an SM has room for so many CTAs. CTAs of a cluster may share SMs;
 * a GPC with fewer SMs than the cluster has CTAs takes none. */
u32 card_clusters(const struct card *p, u32 size, u32 ctas_per_sm);
/* CTAs of clusters that an SM takes at most; CTAs of a cluster that every card takes. */
enum { CLUSTER_CTAS_PER_SM = 8, CLUSTER_PORTABLE = 8 };
#endif
