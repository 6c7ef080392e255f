/* Special registers, and the head of a register file.
 *
 * What is the same for the whole life of a warp (%tid, %ctaid, parameters, constants) is written into the head of the
 * register file when the warp starts (head_fill); code reads it from there like any register. What differs from one
 * read to the next (clocks, the mask of active lanes) has a handler here. */
#include "sim/special_registers.h"
#include "code/shared_layout.h"
#include "sim/cluster.h"
#include "sim/handlers.h"
#include "sim/lanes.h"

static u64 sreg_value(const struct warp *w, u32 id, u32 comp, u32 lane)
{
    const struct launch *l = w->cta->launch;
    const struct sim_launch *in = l->in;
    u32 t = w->id * LANES + lane;
    switch (id) {
    case SR_TID:
        return comp == 0   ? t % in->block[0]
               : comp == 1 ? t / in->block[0] % in->block[1]
               : comp == 2 ? t / in->block[0] / in->block[1]
                           : 0;
    case SR_NTID: return comp < 3 ? in->block[comp] : 0;
    case SR_CTAID: return comp < 3 ? w->cta->id[comp] : 0;
    case SR_NCTAID: return comp < 3 ? in->grid[comp] : 0;
    case SR_LANEID: return lane;
    case SR_WARPID: return w->id;
    case SR_NWARPID: return l->sim->card->warps_per_sm;
    case SR_SMID: return w->cta->linear % l->sim->card->sms;
    case SR_NSMID: return l->sim->card->sms;
    case SR_GRIDID: return l->serial;
    case SR_LANEMASK_EQ: return 1u << lane;
    case SR_LANEMASK_LE: return (2u << lane) - 1;
    case SR_LANEMASK_LT: return (1u << lane) - 1;
    case SR_LANEMASK_GE: return ~((1u << lane) - 1);
    case SR_LANEMASK_GT: return ~((2u << lane) - 1);
    case SR_DYNAMIC_SMEM_SIZE: return in->shared_bytes;
    case SR_TOTAL_SMEM_SIZE:
        return (l->shared_total - l->kernel->func->module->shared_base + 127) &
               ~127ull; /* in the units that shared memory is given out in */
    case SR_AGGR_SMEM_SIZE:
        return l->shared_total - l->kernel->func->module->shared_base + l->sim->card->shared_reserved;
    case SR_RESERVED_SMEM_OFFSET_END:
    case SR_RESERVED_SMEM_OFFSET_CAP: return SHARED_RESERVED;
    case SR_RESERVED_SMEM_OFFSET_1: return SHARED_GROUPS;
    case SR_NCLUSTERID: return comp < 3 ? in->grid[comp] / l->cluster[comp] : 0;
    case SR_CLUSTERID: return comp < 3 ? w->cta->id[comp] / l->cluster[comp] : 0;
    case SR_CLUSTER_CTAID: return comp < 3 ? w->cta->id[comp] % l->cluster[comp] : 0;
    case SR_CLUSTER_NCTAID: return comp < 3 ? l->cluster[comp] : 0;
    case SR_CLUSTER_CTARANK: return w->cta->rank;
    case SR_CLUSTER_NCTARANK: return l->per;
    case SR_IS_EXPLICIT_CLUSTER: return in->cluster[0] || in->kernel->reqnctapercluster[0] ? ALL_LANES : 0;
    case SR_ENVREG: return comp == 1 ? l->grid_workspace >> 32 : comp == 2 ? (u32)l->grid_workspace : 0;
    case SR_DYN_SHARED: return cluster_base(w->cta->rank) + l->dyn_shared;
    default: return 0;
    }
}

static u64 window_base(const struct warp *w, u32 comp)
{
    const struct launch *l = w->cta->launch;
    switch (comp) {
    case CONST_SHARED_WINDOW: return mem_shared_window(l->sim->mem);
    case CONST_LOCAL_WINDOW: return mem_local_window(l->sim->mem);
    case CONST_PARAMS: return l->param.address;
    case CONST_SHARED: return cluster_base(w->cta->rank);
    default: return 0;
    }
}

u64 opnd_value(const struct warp *w, struct opnd o, u32 lane)
{
    const struct launch *l = w->cta->launch;
    u64 v = 0;
    if (o.kind == O_CONST) return o.value + window_base(w, o.comp);
    if (o.kind == O_SREG) return sreg_value(w, o.reg, o.comp, lane);
    memcpy(&v, l->param.block + o.value, 8);
    return v;
}

/* Constants, parameters and special registers, as the code expects them. */
void head_fill(struct warp *w, const struct code *c, char *R, u32 local_base)
{
    for (u32 k = 0; k < 3; k++) {
        u64 v = w->cta->id[k];
        memcpy(SLOT(R, S_CTAID_X + k), &v, 8);
    }
    for (u32 k = 0; k < c->nhead; k++) {
        const struct head *h = &c->head[k];
        if (h->cls == CLS_V) {
            for (u32 n = 0; n < LANES; n++) {
                u32 x = (u32)opnd_value(w, h->o, n);
                memcpy(SLOT(R, h->slot) + 4 * n, &x, 4);
            }
            continue;
        }
        for (u32 g = 0; g < (h->cls == CLS_A ? c->groups : 1); g++) {
            u64 v = h->o.kind == O_SREG && h->o.reg == SR_LOCAL_BASE ? local_base : opnd_value(w, h->o, g * c->group);
            memcpy(SLOT(R, h->slot) + 8 * g, &v, 8);
        }
    }
}

/* ---- registers that are read anew each time ---- */

static void put_uniform(char *R, const struct insn *i, struct warp *w, u64 v, u32 width)
{
    u32 m = active_lanes(w, w->R, i);
    if (CLS_AT(i, 0) == CLS_S) {
        if (m) memcpy(SLOT(R, i->d), &v, 8);
        return;
    }
    if (CLS_AT(i, 0) == CLS_A) {
        lanes_put_groups(w->code, R, i->d, m, v);
        return;
    }
    char *d = SLOT(R, i->d);
    for (; m; m &= m - 1) { /* a copy of a variable size is slow */
        u32 l = (u32)__builtin_ctz(m);
        if (width == 8)
            memcpy(d + 8 * l, &v, 8);
        else if (width == 4)
            memcpy(d + 4 * l, &v, 4);
        else
            memcpy(d + l * width, &v, width);
    }
}

int run_activemask(char *restrict R, const struct insn *i, struct warp *w)
{
    put_uniform(R, i, w, w->mask, 4);
    return 0;
}

/* Clocks: warp instructions; the timer is virtual under a seed, the host's otherwise. */
int warp_sreg(char *restrict R, const struct insn *i, struct warp *w)
{
    struct launch *l = w->cta->launch;
    const struct lop *o = &w->code->low->op[i->op];
    u64 now = w->steps + l->vtime_base,
        t = l->in->seeded ? now + __atomic_load_n(&l->vtime, __ATOMIC_RELAXED) : time_ns();
    u64 v = 0;
    w->clocks++;
    switch (o->aux) {
    case SR_CLOCK: v = (u32)now; break;
    case SR_CLOCK_HI: v = now >> 32; break;
    case SR_CLOCK64: v = now; break;
    case SR_GLOBALTIMER: v = t; break;
    case SR_GLOBALTIMER_LO: v = (u32)t; break;
    default: v = t >> 32;
    }
    w->steps++;
    put_uniform(R, i, w, v, type_size[isa_forms[o->form].type]);
    return 0;
}
