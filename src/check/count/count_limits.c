/* Rooflines: work over rates, in integers. */
#include "count/count_limits.h"

const char *const count_limit_name[ROOFS] = {
#define X(id, name, plain, what) [ROOF_##id] = name,
    COUNT_LIMITS(X)
#undef X
};
const char *const count_limit_plain[ROOFS] = {
#define X(id, name, plain, what) [ROOF_##id] = plain,
    COUNT_LIMITS(X)
#undef X
};

/* work * more / rate, without overflow where the result fits. */
static u64 ratio(u64 work, u64 more, u64 rate) { return rate ? (u64)((unsigned __int128)work * more / rate) : 0; }

/* A grid in waves over the multiprocessors. */
static void waves(const struct card *card, const struct count_launch *l, struct count_limits *out)
{
    u64 ctas = l->ctas / l->launches, threads = l->threads / l->ctas;
    struct cta_needs needs = { (u32)threads, l->more.registers, l->shared_fixed + l->shared_dynamic,
                               card->shared_optin };
    out->occupancy = occupancy_of(card, &needs);
    out->warps = (u32)(threads + LANES - 1) / LANES;
    out->occupied = (u32)((u64)out->occupancy.ctas * out->warps * 1000 / card->warps_per_sm);
    out->slots = (u64)MAX_OF(out->occupancy.ctas, 1u) * card->sms;
    out->waves = (ctas + out->slots - 1) / out->slots;
    out->last = ctas - (out->waves - 1) * out->slots;
    out->idle = (u32)(1000 - ctas * 1000 / (out->waves * out->slots));
}

/* Multiprocessors that a launch keeps busy on average over its waves: all of them while it has CTAs for each. */
static u64 busy_milli(const struct card *card, const struct count_limits *x)
{
    u64 busy = MIN_OF(x->last, (u64)card->sms);
    return ((x->waves - 1) * card->sms + busy) * 1000 / x->waves;
}

static void roof(struct count_limits *x, enum count_limit k, u64 ps)
{
    x->ps[k] = ps;
    if (ps <= x->least) return;
    x->least = ps;
    x->by = k;
}

void count_limits(const struct card *card, const struct count_launch *l, struct count_limits *out)
{
    const struct count_sums *s = &l->sums;
    const struct peaks *p = &card->peak;
    u64 n = l->launches;
    *out = (struct count_limits){ 0 };
    waves(card, l, out);
    u64 sectors = 0, passes = 0, sm = busy_milli(card, out) * card->clock_mhz; /* 10^3 cycles a second of all SMs */
    for (u32 k = 0; k < COUNT_ACCESSES; k++) {
        sectors += s->access[k][COUNT_GLOBAL].units + s->access[k][COUNT_LOCAL].units +
                   s->access[k][COUNT_TEXTURE].units;
        passes += s->access[k][COUNT_SHARED].units;
    }
    out->bytes = (s->read + s->written) * 32 / n;
    for (u32 t = 0; t < OPS_TYPES; t++)
        if (t != OPS_INT && t != OPS_T_I8 && t != OPS_T_B1) out->operations += s->operations[t] / n;
    if (out->bytes) out->intensity_milli = ratio(out->operations, 1000, out->bytes);
    roof(out, ROOF_DRAM, ratio(out->bytes, 1000, card->memory_gbs));
    /* 10^12 ps a second over 10^3 cycles */
    roof(out, ROOF_ISSUE, ratio(s->warp_insns / n, 1000000000, sm * 4));
    roof(out, ROOF_L1, ratio(sectors / n, 1000000000, sm * 4));
    roof(out, ROOF_SHARED, ratio(passes / n, 1000000000, sm));
    const struct {
        enum count_limit roof;
        enum operation_type type;
        u32 peak;
    } unit[] = { { ROOF_F64, OPS_F64, p->f64 },       { ROOF_F32, OPS_F32, p->f32 },
                 { ROOF_T_F64, OPS_T_F64, p->t_f64 }, { ROOF_T_TF32, OPS_T_TF32, p->t_tf32 },
                 { ROOF_T_F16, OPS_T_F16, p->t_f16 }, { ROOF_T_F8, OPS_T_F8, p->t_f8 },
                 { ROOF_T_F4, OPS_T_F4, p->t_f4 },    { ROOF_T_I8, OPS_T_I8, p->t_i8 } };
    for (u32 k = 0; k < COUNT_OF(unit); k++)
        roof(out, unit[k].roof, ratio(s->operations[unit[k].type] / n, 1000, unit[k].peak));
}
