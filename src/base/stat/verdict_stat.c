/* One interval decides. Wholly inside the threshold on both sides: the same; wholly above: slower; wholly below:
 * faster; else it is not clear, and that is no pass. */
#include "stat/stat.h"
#include <math.h>

static const char *const names[] = { "SAME", "FASTER", "SLOWER", "UNCLEAR", "INVALID", "NOT-RUN" };
const char *verdict_name(enum verdict v) { return names[v]; }

static void refuse(struct judgement *j, enum verdict v, const char *fmt, ...) PRINTF_LIKE(3, 4);
static void refuse(struct judgement *j, enum verdict v, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(j->why, sizeof j->why, fmt, ap);
    va_end(ap);
    j->verdict = (u8)v;
}

/* What all samples of a side are, one process after the other. */
static struct samples all_of(struct arena *mem, const struct samples *s, u32 n)
{
    u32 all = 0;
    for (u32 i = 0; i < n; i++) all += s[i].n;
    double *v = NEW_ARRAY(mem, double, all);
    struct samples out = { v, all };
    for (u32 i = 0; i < n; i++) {
        if (s[i].n) memcpy(v, s[i].v, sizeof *v * s[i].n);
        v += s[i].n;
    }
    return out;
}

static bool has_samples(const struct sides *s, struct judgement *j)
{
    u32 empty = 0;
    for (u32 i = 0; i < s->pairs; i++) {
        empty += !s->before[i].n || !s->after[i].n;
        for (u32 side = 0; side < 2; side++) {
            struct samples x = side ? s->after[i] : s->before[i];
            for (u32 k = 0; k < x.n; k++)
                if (!(x.v[k] > 0) || !isfinite(x.v[k])) {
                    refuse(j, VERDICT_INVALID, "sample %u of process %u of side %c is %g: a time is above 0", k + 1,
                           i + 1, 'A' + (int)side, x.v[k]);
                    return false;
                }
        }
    }
    if (!s->pairs || empty == s->pairs)
        refuse(j, VERDICT_NOT_RUN, "there are no samples");
    else if (empty)
        refuse(j, VERDICT_INVALID, "%u of %u pairs of processes have no samples on one side", empty, s->pairs);
    return s->pairs && !empty;
}

/* Whether the level changes within a process, by more than the threshold: the new samples lie beyond the old ones. */
static bool level_changes(struct arena *mem, struct samples x, u32 processes, double threshold, struct change *c)
{
    *c = stat_change(mem, x);
    if (!c->at || c->p * processes > 0.01 || fabs(c->after / c->before - 1) < threshold) return false;
    struct samples old = { x.v, c->at }, new = { x.v + c->at, x.n - c->at };
    return fabs(stat_ranks(mem, old, new).delta) >= 0.8; /* else it wanders, and comes back */
}

/* Medians of processes whose level changes say when they were measured, not what. One in ten may: the interval has it
 * as what processes differ by. */
static bool is_level(struct arena *mem, const struct sides *s, double threshold, struct judgement *j)
{
    u32 processes = 2 * s->pairs, changed = 0;
    for (u32 i = 0; i < processes; i++) {
        struct samples x = i % 2 ? s->after[i / 2] : s->before[i / 2];
        struct change c;
        if (!level_changes(mem, x, processes, threshold, &c) || ++changed * 10 <= processes) continue;
        refuse(j, VERDICT_INVALID,
               "not stationary: process %u of side %c goes from %.4g to %.4g (%+.1f %%) at sample %u of %u, with a "
               "correlation of neighbours of %.2f",
               i / 2 + 1, "AB"[i % 2], c.before, c.after, 100 * (c.after / c.before - 1), c.at + 1, x.n,
               stat_autocorrelation(x, 1));
        return false;
    }
    return true;
}

/* Steps of the timer must be small beside what is to be seen. */
static bool is_fine(struct arena *mem, const struct sides *s, double threshold, struct judgement *j)
{
    struct samples a = all_of(mem, s->before, s->pairs);
    j->quantum = stat_quantum(mem, a);
    if (j->quantum <= threshold * j->median[0]) return true;
    refuse(j, VERDICT_INVALID,
           "samples of %.4g are counted in steps of %.4g, the timer's: make one sample of %.0f calls or more",
           j->median[0], j->quantum, ceil(2 * j->quantum / (threshold * j->median[0])));
    return false;
}

static void decide(struct judgement *j, double threshold)
{
    double above = 1 + threshold, below = 1 / above;
    const struct ratio *r = &j->ratio;
    j->why[0] = 0;
    if (r->low > above)
        j->verdict = VERDICT_SLOWER;
    else if (r->high < below)
        j->verdict = VERDICT_FASTER;
    else if (r->low >= below && r->high <= above)
        j->verdict = VERDICT_SAME;
    else
        refuse(j, VERDICT_UNCLEAR, "the interval reaches over the threshold: more pairs of processes make it narrower");
    j->least = above * exp(r->error * (stat_student_point(j->level / 2, r->pairs - 1) + 0.8416));
}

void stat_judge(struct arena *mem, const struct sides *s, double threshold, double level, u64 seed,
                struct judgement *out)
{
    *out = (struct judgement){ .level = level };
    if (!has_samples(s, out)) return;
    struct samples a = all_of(mem, s->before, s->pairs), b = all_of(mem, s->after, s->pairs);
    double *scratch = NEW_ARRAY(mem, double, MAX_OF(a.n, b.n));
    out->median[0] = stat_median(a, scratch);
    out->median[1] = stat_median(b, scratch);
    out->ranks = stat_ranks(mem, a, b);
    if (s->pairs < 2) {
        refuse(out, VERDICT_UNCLEAR, "one pair of processes says nothing of how pairs differ");
        return;
    }
    out->ratio = stat_ratio(mem, s, level, seed);
    if (!is_fine(mem, s, threshold, out) || !is_level(mem, s, threshold, out)) return;
    decide(out, threshold);
    if (s->pairs < STAT_PAIRS_LEAST)
        refuse(out, VERDICT_UNCLEAR, "%u pairs of processes are too few: %d at least", s->pairs, STAT_PAIRS_LEAST);
}

/* How likely it is that a side which is just at the threshold looks so slow, or so fast. */
static double chance(const struct judgement *j, double threshold)
{
    if (!(j->ratio.error > 0)) return fabs(log(j->ratio.ratio)) > log1p(threshold) ? 0 : 1;
    return stat_student_tail((fabs(log(j->ratio.ratio)) - log1p(threshold)) / j->ratio.error, j->ratio.pairs - 1);
}

void stat_judge_all(struct arena *mem, const struct sides *s, u32 n, double threshold, double level, u64 seed,
                    struct judgement *out)
{
    double *p = NEW_ARRAY(mem, double, n);
    bool *done = NEW_ARRAY(mem, bool, n);
    for (u32 i = 0; i < n; i++) {
        stat_judge(mem, &s[i], threshold, level, seed, &out[i]);
        done[i] = out[i].verdict == VERDICT_INVALID || out[i].verdict == VERDICT_NOT_RUN ||
                  s[i].pairs < STAT_PAIRS_LEAST;
        p[i] = done[i] ? 2 : chance(&out[i], threshold);
    }
    /* From the smallest p to the largest; after the first that is not significant, no later one counts (Holm). */
    bool open = true;
    for (u32 left = n; left;) {
        u32 next = n;
        for (u32 i = 0; i < n; i++)
            if (!done[i] && (next == n || p[i] < p[next])) next = i;
        if (next == n) break;
        done[next] = true;
        struct judgement *j = &out[next];
        bool moved = j->verdict == VERDICT_SLOWER || j->verdict == VERDICT_FASTER;
        if (moved) {
            j->level = level / left;
            j->ratio = stat_ratio(mem, &s[next], j->level, seed);
            decide(j, threshold);
            moved = j->verdict == VERDICT_SLOWER || j->verdict == VERDICT_FASTER;
            if (moved && !open) refuse(j, VERDICT_UNCLEAR, "a surer one of the %u kernels is not clear (Holm)", n);
        }
        open = open && moved;
        left--;
    }
}

bool stat_enough(const struct ratio *r, double threshold)
{
    return r->pairs >= STAT_PAIRS_LEAST && log(r->high / r->low) <= log1p(threshold);
}
