/* lk_times_*: what programs and the command see of stat. */
#include "stat/stat.h"
#include <lockstep_times.h>
#include <math.h>

_Static_assert((int)LK_NOT_RUN == (int)VERDICT_NOT_RUN && (int)LK_SLOWER == (int)VERDICT_SLOWER, "verdicts in order");

static double threshold_of(const lk_times_options *o) { return o && o->threshold > 0 ? o->threshold : 0.03; }

static const struct samples *side_of(struct arena *mem, const lk_series *s, u32 n)
{
    struct samples *out = NEW_ARRAY(mem, struct samples, n);
    for (u32 i = 0; i < n; i++) out[i] = (struct samples){ s[i].sample, s[i].n };
    return out;
}

void lk_times_judge(const lk_times *times, uint32_t n, const lk_times_options *o, lk_judgement *out)
{
    struct arena mem = { 0 };
    struct sides *s = NEW_ARRAY(&mem, struct sides, n);
    struct judgement *j = NEW_ARRAY(&mem, struct judgement, n);
    for (u32 i = 0; i < n; i++)
        s[i] = (struct sides){ side_of(&mem, times[i].before, times[i].pairs),
                               side_of(&mem, times[i].after, times[i].pairs), times[i].pairs };
    stat_judge_all(&mem, s, n, threshold_of(o), o && o->level > 0 ? o->level : 0.05, o ? o->seed : 0, j);
    for (u32 i = 0; i < n; i++) {
        const struct rank_test *r = &j[i].ranks;
        out[i] = (lk_judgement){ (lk_verdict)j[i].verdict,
                                 times[i].pairs,
                                 j[i].median[0],
                                 j[i].median[1],
                                 j[i].ratio.ratio,
                                 j[i].ratio.low,
                                 j[i].ratio.high,
                                 j[i].level,
                                 j[i].least,
                                 j[i].quantum,
                                 r->p,
                                 r->delta,
                                 r->low,
                                 r->high,
                                 r->shift,
                                 "" };
        snprintf(out[i].why, sizeof out[i].why, "%s", j[i].why);
    }
    arena_free(&mem);
}

int lk_times_enough(const lk_judgement *j, const lk_times_options *o)
{
    struct ratio r = { j->ratio, j->low, j->high, 0, j->pairs };
    return j->low > 0 && stat_enough(&r, threshold_of(o));
}

const char *lk_verdict_name(lk_verdict v) { return (unsigned)v <= LK_NOT_RUN ? verdict_name((enum verdict)v) : "?"; }

int lk_verdict_exit(lk_verdict v)
{
    static const u8 code[] = { 0, 0, 1, 7, 2, 4 };
    return (unsigned)v <= LK_NOT_RUN ? code[v] : 2;
}

uint32_t lk_series_warmup(lk_series s, double threshold)
{
    struct arena mem = { 0 };
    u32 n = stat_warmup(&mem, (struct samples){ s.sample, s.n }, threshold);
    arena_free(&mem);
    return n;
}

double lk_series_quantile(lk_series s, double q)
{
    struct arena mem = { 0 };
    if (!s.n || !(q >= 0) || !(q <= 1)) return 0;
    double *v = NEW_ARRAY(&mem, double, s.n);
    memcpy(v, s.sample, sizeof *v * s.n);
    stat_sort(v, s.n);
    double x = stat_quantile(v, s.n, q);
    arena_free(&mem);
    return x;
}
