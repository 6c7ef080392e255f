/* Occupancy: CTAs that a multiprocessor holds at a time, by its limits of CTAs, warps, registers and shared memory. */
#include "card/occupancy.h"

enum { WARP = 32, REGISTERS_STEP = 256, PARTITIONS = 4 }; /* threads; registers of a warp; of a multiprocessor */

static u64 up(u64 n, u64 step) { return (n + step - 1) / step * step; }

static u32 by_registers(const struct card *p, u32 each, u32 warps)
{
    if (!each) return p->ctas_per_sm;
    u64 of_warp = up((u64)each * WARP, REGISTERS_STEP);
    if (each > p->regs_per_thread || of_warp * up(warps, PARTITIONS) > p->regs_per_cta) return 0;
    /* each partition of the multiprocessor has registers of its own */
    return (u32)(p->regs_per_sm / PARTITIONS / of_warp * PARTITIONS / warps);
}

struct occupancy occupancy_of(const struct card *p, const struct cta_needs *n)
{
    u32 warps = (u32)(((u64)n->threads + WARP - 1) / WARP);
    struct occupancy o = { .ctas = UINT32_MAX };
    o.most[LIMIT_CTAS] = p->ctas_per_sm;
    if (warps && n->threads <= p->threads_per_cta) {
        o.most[LIMIT_WARPS] = p->warps_per_sm / warps;
        o.most[LIMIT_REGISTERS] = by_registers(p, n->registers, warps);
    }
    if (n->shared <= n->shared_most && n->shared <= p->shared_per_sm) {
        u64 each = occupancy_shared(p, n->shared);
        o.most[LIMIT_SHARED] = each ? (u32)(p->shared_per_sm / each) : p->ctas_per_sm;
    }
    for (u32 k = 0; k < OCCUPANCY_LIMITS; k++)
        if (o.most[k] < o.ctas) {
            o.ctas = o.most[k];
            o.by = (enum occupancy_limit)k;
        }
    return o;
}

const char *occupancy_limit_name(enum occupancy_limit l)
{
    static const char *const name[] = { "blocks", "warps", "registers", "shared memory" };
    return name[l];
}
