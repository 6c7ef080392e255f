/* lk_times_*: what programs and the command see of stat. */
#include "stat/stat.h"
#include <lockstep_times.h>
#include <math.h>

_Static_assert((int)LK_NOT_RUN == (int)VERDICT_NOT_RUN && (int)LK_SLOWER == (int)VERDICT_SLOWER, "verdicts in order");

/* What a caller that was built against a smaller struct has of it; NULL: nothing. */
static lk_times_options options_of(const lk_times_options *given)
{
    lk_times_options o = { .size = sizeof o };
    if (given) memcpy(&o, given, MIN_OF(given->size, sizeof o));
    if (!(o.threshold > 0)) o.threshold = 0.03;
    if (!(o.level > 0)) o.level = 0.05;
    return o;
}

/* What is missing of a kernel's times; NULL: they are all there. */
static const char *missing(const lk_times *t)
{
    if (!t->pairs) return NULL;
    if (!t->before || !t->after) return "a side has no list of series";
    for (u32 i = 0; i < t->pairs; i++)
        if ((!t->before[i].sample && t->before[i].n) || (!t->after[i].sample && t->after[i].n))
            return "a series has no samples, and says that it has some";
    return NULL;
}

static const struct samples *side_of(struct arena *mem, const lk_series *s, u32 n)
{
    struct samples *out = NEW_ARRAY(mem, struct samples, (size_t)n + 1);
    for (u32 i = 0; i < n; i++) out[i] = (struct samples){ s[i].sample, s[i].n };
    return out;
}

void lk_times_judge(const lk_times *times, uint32_t n, const lk_times_options *given, lk_judgement *out)
{
    struct arena mem = { 0 };
    lk_times_options o = options_of(given);
    if (!out || (n && !times)) { /* nobody to tell, or nothing to judge */
        for (u32 i = 0; out && i < n; i++)
            out[i] = (lk_judgement){ .verdict = LK_INVALID, .why = "there is no list of times" };
        return;
    }
    struct sides *s = NEW_ARRAY(&mem, struct sides, (size_t)n + 1);
    struct judgement *j = NEW_ARRAY(&mem, struct judgement, (size_t)n + 1);
    for (u32 i = 0; i < n; i++) {
        u32 pairs = missing(&times[i]) ? 0 : times[i].pairs;
        s[i] = (struct sides){ side_of(&mem, times[i].before, pairs), side_of(&mem, times[i].after, pairs), pairs };
    }
    stat_judge_all(&mem, s, n, o.threshold, o.level, o.seed, j);
    for (u32 i = 0; i < n; i++) {
        const char *why = missing(&times[i]);
        if (why) {
            out[i] = (lk_judgement){ .verdict = LK_INVALID, .pairs = times[i].pairs };
            snprintf(out[i].why, sizeof out[i].why, "%s", why);
            continue;
        }
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
    if (!j) return 0;
    struct ratio r = { j->ratio, j->low, j->high, 0, j->pairs };
    return j->low > 0 && stat_enough(&r, options_of(o).threshold);
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
    if (!s.sample) return 0;
    u32 n = stat_warmup(&mem, (struct samples){ s.sample, s.n }, threshold);
    arena_free(&mem);
    return n;
}

double lk_series_quantile(lk_series s, double q)
{
    struct arena mem = { 0 };
    if (!s.n || !s.sample || !(q >= 0) || !(q <= 1)) return 0;
    double *v = NEW_ARRAY(&mem, double, s.n);
    memcpy(v, s.sample, sizeof *v * s.n);
    stat_sort(v, s.n);
    double x = stat_quantile(v, s.n, q);
    arena_free(&mem);
    return x;
}
