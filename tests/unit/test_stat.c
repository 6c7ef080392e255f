/* Statistics of times (src/base/stat): against SciPy's numbers, and on simulated runs of which the truth is known.
 * STAT_RUNS=5000: so many of each (docs/lab/timing.md has the figures). */
#include "stat/stat.h"
#include "unit.h"
#include <lockstep_times.h>
#include <math.h>
#include <stdlib.h>

#include "stat_golden.h"

static struct arena mem;

static bool near(double x, double y, double relative) { return fabs(x - y) <= relative * fmax(fabs(y), 1e-12); }

static void golden(void)
{
    for (u32 i = 0; i < COUNT_OF(golden_pairs); i++) {
        const struct golden_pair *g = &golden_pairs[i];
        struct samples a = { g->a, g->n }, b = { g->b, g->m };
        struct rank_test r = stat_ranks(&mem, a, b);
        double sorted[GOLDEN_MOST], scratch[GOLDEN_MOST];
        UNIT(r.u == g->u);
        UNIT(near(r.p, g->p, 1e-9));
        UNIT(near(r.delta, g->delta, 1e-12));
        UNIT(near(r.low, g->low, 1e-9) && near(r.high, g->high, 1e-9));
        UNIT(near(r.shift, g->shift, 1e-12));
        UNIT(stat_median(a, scratch) == g->median);
        memcpy(sorted, g->a, sizeof sorted);
        stat_sort(sorted, g->n);
        UNIT(near(stat_quantile(sorted, g->n, 0.95), g->p95, 1e-12));
    }
    for (u32 i = 0; i < COUNT_OF(golden_student); i++)
        UNIT(near(stat_student_tail(golden_student[i].t, golden_student[i].df), golden_student[i].tail, 1e-9));
    for (u32 i = 0; i < COUNT_OF(golden_point); i++) {
        double t = golden_point[i].df > 0 ? stat_student_point(golden_point[i].p, golden_point[i].df)
                                          : stat_normal_point(golden_point[i].p);
        UNIT(near(t, golden_point[i].t, 1e-9));
    }
}

/* ---- simulated machines ---- */

static u64 state = 1;
static double uniform(void) { return ((double)(rand_next(&state) >> 11) + 0.5) / 9007199254740992.0; }
static double normal(void) { return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform()); }

struct world {
    const char *name;
    double process;     /* by how much processes differ */
    double correlation; /* of neighbours */
    double noise, drift /* of the machine, over the run */, late /* how many samples are late, by up to 100 % */;
    u32 pairs, samples;
};
static const struct world worlds[] = {
    { "independent samples", 0, 0, .02, 0, 0, 10, 40 },
    { "processes differ, some samples are late", .01, 0, .02, 0, .01, 10, 40 },
    { "drift and correlation", .01, .6, .02, .05, .01, 10, 40 },
    { "strong correlation", .01, .9, .02, .05, .01, 10, 60 },
    { "six pairs", .005, .5, .01, .05, .02, 6, 40 },
    { "a sample a process", .02, 0, .01, .02, .02, 12, 1 },
};

static void series(const struct world *w, double level, double *v)
{
    double e = normal() * w->noise, own = exp(normal() * w->process);
    for (u32 i = 0; i < w->samples; i++) {
        e = w->correlation * e + sqrt(1 - w->correlation * w->correlation) * normal() * w->noise;
        v[i] = level * own * exp(e) * (uniform() < w->late ? 1 + uniform() : 1);
    }
}

/* One run as `lockstep compare` does it: ABBA, until the interval is narrow enough. */
static void run_once(const struct world *w, double shift, struct judgement *j)
{
    enum { MOST = 40 };
    struct samples before[MOST], after[MOST];
    struct sides s = { before, after, 0 };
    arena_reset(&mem, 1 << 20);
    while (s.pairs < MOST) {
        u32 i = s.pairs++;
        double *a = NEW_ARRAY(&mem, double, w->samples), *b = NEW_ARRAY(&mem, double, w->samples);
        double first = 1 + w->drift * i / MOST, second = 1 + w->drift * (i + 0.5) / MOST;
        series(w, i % 2 ? second : first, a);
        series(w, shift * (i % 2 ? first : second), b);
        before[i] = (struct samples){ a, w->samples };
        after[i] = (struct samples){ b, w->samples };
        if (s.pairs < w->pairs) continue;
        struct ratio r = stat_ratio(&mem, &s, 0.05, s.pairs);
        if (stat_enough(&r, 0.03)) break;
    }
    stat_judge(&mem, &s, 0.03, 0.05, s.pairs, j);
}

struct tally {
    u32 verdict[VERDICT_NOT_RUN + 1], missed, runs;
};
static struct tally simulate(const struct world *w, double shift, u32 runs)
{
    struct tally t = { .runs = runs };
    for (u32 i = 0; i < runs; i++) {
        struct judgement j;
        run_once(w, shift, &j);
        t.verdict[j.verdict]++;
        t.missed += j.ratio.low > shift || j.ratio.high < shift;
    }
    if (getenv("STAT_RUNS"))
        printf("%-42s x %.2f: SAME %u FASTER %u SLOWER %u UNCLEAR %u INVALID %u; interval misses %.2f %%\n", w->name,
               shift, t.verdict[0], t.verdict[1], t.verdict[2], t.verdict[3], t.verdict[4], 100.0 * t.missed / runs);
    return t;
}

static void simulated(void)
{
    u32 runs = getenv("STAT_RUNS") ? (u32)atoi(getenv("STAT_RUNS")) : 24;
    for (u32 i = 0; i < COUNT_OF(worlds); i++) {
        struct tally aa = simulate(&worlds[i], 1, runs);
        UNIT(aa.missed <= 0.05 * runs + 3 * sqrt(0.05 * 0.95 * runs)); /* the nominal rate, and what chance adds */
        UNIT(!aa.verdict[VERDICT_FASTER] && !aa.verdict[VERDICT_SLOWER]);
        UNIT(aa.verdict[VERDICT_SAME] >= 0.8 * runs);
        struct tally ten = simulate(&worlds[i], 1.1, runs), valid = ten;
        UNIT(!ten.verdict[VERDICT_FASTER] && !ten.verdict[VERDICT_SAME]);
        UNIT(ten.verdict[VERDICT_SLOWER] >= 0.99 * (runs - valid.verdict[VERDICT_INVALID]));
        UNIT(valid.verdict[VERDICT_INVALID] <= 0.15 * runs);
        struct tally one = simulate(&worlds[i], 1.01, runs);
        UNIT(!one.verdict[VERDICT_FASTER] && !one.verdict[VERDICT_SLOWER]);
        struct tally faster = simulate(&worlds[i], 1 / 1.2, MAX_OF(runs / 4, 10u));
        UNIT(!faster.verdict[VERDICT_SLOWER] && !faster.verdict[VERDICT_SAME] && faster.verdict[VERDICT_FASTER]);
    }
}

/* ---- what cannot be compared ---- */

static struct judgement judged(const lk_series *a, const lk_series *b, u32 pairs)
{
    struct judgement j = { 0 };
    struct sides s = { (const struct samples *)a, (const struct samples *)b, pairs };
    stat_judge(&mem, &s, 0.03, 0.05, 0, &j);
    return j;
}

static void refused(void)
{
    static double v[8][120];
    lk_series s[8];
    for (u32 p = 0; p < 8; p++) {
        for (u32 i = 0; i < 120; i++) v[p][i] = (i < 60 ? 1 : 1.077) * exp(normal() * .005);
        s[p] = (lk_series){ v[p], 120 };
    }
    UNIT(stat_autocorrelation((struct samples){ v[0], 120 }, 1) > 0.85);
    struct judgement j = judged(s, s, 8);
    UNIT_EQ(j.verdict, VERDICT_INVALID);
    UNIT_HAS(j.why, "not stationary: process");
    UNIT(stat_warmup(&mem, (struct samples){ v[0], 120 }, 0.03) == 60);
    for (u32 p = 0; p < 8; p++)
        for (u32 i = 0; i < 120; i++) v[p][i] = 1.024e-6 * (double)(5 + rand_next(&state) % 3);
    j = judged(s, s, 8);
    UNIT_EQ(j.verdict, VERDICT_INVALID);
    UNIT_HAS(j.why, "are counted in steps of 1.024e-06, the timer's");
    UNIT(near(stat_quantum(&mem, (struct samples){ v[0], 120 }), 1.024e-6, 1e-6));
    j = judged(s, s, 0);
    UNIT_EQ(j.verdict, VERDICT_NOT_RUN);
    v[3][7] = -1;
    UNIT_HAS(judged(s, s, 8).why, "sample 8 of process 4 of side A is -1");
    v[3][7] = NAN;
    UNIT_EQ(judged(s, s, 8).verdict, VERDICT_INVALID);
    s[2].n = 0;
    v[3][7] = 1;
    UNIT_HAS(judged(s, s, 8).why, "1 of 8 pairs of processes have no samples");
    for (u32 i = 0; i < 120; i++) v[0][i] = exp(normal() * .01), v[1][i] = exp(normal() * .01);
    UNIT_EQ(judged(s, s + 1, 1).verdict, VERDICT_UNCLEAR);
}

/* Many kernels of which none has changed: hardly ever is any of them called slower. */
static void many(void)
{
    enum { KERNELS = 12, PAIRS = 6 };
    struct world w = { "", .002, 0, .004, 0, 0, PAIRS, 12 };
    static double v[KERNELS][2][PAIRS][12];
    lk_series s[KERNELS][2][PAIRS];
    lk_times t[KERNELS];
    lk_judgement j[KERNELS];
    for (u32 k = 0; k < KERNELS; k++) {
        for (u32 p = 0; p < PAIRS; p++)
            for (u32 side = 0; side < 2; side++) {
                series(&w, side && k == 3 ? 1.2 : 1, v[k][side][p]);
                s[k][side][p] = (lk_series){ v[k][side][p], 12 };
            }
        t[k] = (lk_times){ "k", s[k][0], s[k][1], PAIRS };
    }
    lk_times_judge(t, KERNELS, NULL, j);
    UNIT_EQ(j[3].verdict, LK_SLOWER);
    UNIT(near(j[3].level, 0.05 / KERNELS, 1e-9));
    for (u32 k = 0; k < KERNELS; k++)
        if (k != 3) UNIT(j[k].verdict == LK_SAME || j[k].verdict == LK_UNCLEAR);
    UNIT_EQ(lk_verdict_exit(LK_SLOWER), 1);
    UNIT_EQ(lk_verdict_exit(LK_UNCLEAR), 7);
    UNIT_EQ_STR(lk_verdict_name(LK_NOT_RUN), "NOT-RUN");
}

int main(void)
{
    golden();
    refused();
    many();
    simulated();
    arena_free(&mem);
    return unit_done();
}
