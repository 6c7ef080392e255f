/* Verdicts over times, for people and for machines. */
#include "journal/times.h"
#include "base/printable.h"
#include "base/xml.h"
#include <math.h>

void times_text(double x, const char *unit, char *out, size_t size)
{
    static const char *const small[] = { "s", "ms", "us", "ns" };
    u32 k = 0;
    if (strcmp(unit, "s") || !(x > 0)) {
        snprintf(out, size, "%.4g %s", x, unit);
        return;
    }
    for (; k < 3 && x < 0.9995; k++) x *= 1000;
    snprintf(out, size, "%.*f %s", x < 10 ? 3 : x < 100 ? 2 : 1, x, small[k]);
}

static bool same_work(struct times_pair *p)
{
    const struct timed *a = &p->side[0], *b = &p->side[1];
    const char *what = strcmp(a->work, b->work) ? "work" : strcmp(a->device, b->device) ? "device" : NULL;
    if (!strcmp(a->unit, b->unit) && !what) return true;
    p->judged = (lk_judgement){ .verdict = LK_INVALID };
    if (what)
        snprintf(p->judged.why, sizeof p->judged.why, "not comparable: the %s of A is `%.80s`, of B `%.80s`", what,
                 what[0] == 'w' ? a->work : a->device, what[0] == 'w' ? b->work : b->device);
    else
        snprintf(p->judged.why, sizeof p->judged.why, "not comparable: A is in %.20s, B in %.20s", a->unit, b->unit);
    return false;
}

int times_judge(struct arena *a, struct times_pair *pair, u32 n, const struct times_options *o)
{
    static const u8 order[] = { LK_SLOWER, LK_INVALID, LK_NOT_RUN, LK_UNCLEAR, LK_FASTER, LK_SAME };
    lk_times *t = NEW_ARRAY(a, lk_times, n + 1);
    lk_judgement *j = NEW_ARRAY(a, lk_judgement, n + 1);
    u32 *of = NEW_ARRAY(a, u32, n + 1), good = 0;
    for (u32 i = 0; i < n; i++)
        if (same_work(&pair[i])) {
            const struct timed *s = pair[i].side;
            of[good] = i;
            t[good++] = (lk_times){ s[1].name, s[0].process, s[1].process, MIN_OF(s[0].processes, s[1].processes) };
        }
    lk_times_judge(t, good, &o->judge, j);
    for (u32 i = 0; i < good; i++) pair[of[i]].judged = j[i];
    for (u32 k = 0; k < COUNT_OF(order); k++)
        for (u32 i = 0; i < n; i++)
            if (pair[i].judged.verdict == order[k]) return lk_verdict_exit((lk_verdict)order[k]);
    return lk_verdict_exit(LK_NOT_RUN);
}

static u32 samples_of(const struct timed *t)
{
    u32 n = 0;
    for (u32 i = 0; i < t->processes; i++) n += t->process[i].n;
    return n;
}

/* Words of a journal, on one line. */
static void tell(const char *z)
{
    struct text t = { 0 };
    printable(str_of(z), &t);
    fputs(t.n ? t.p : "", stdout);
    text_free(&t);
}

static void tell_side(char which, const struct timed *t, double median)
{
    char x[40];
    u32 n = samples_of(t);
    times_text(median, t->unit, x, sizeof x);
    if (!n) snprintf(x, sizeof x, "-");
    printf("  %c  ", which);
    tell(x);
    printf("%*s %u process%s, %u sample%s%s", (int)MAX_OF(12 - (int)strlen(x), 0), "", t->processes,
           t->processes == 1 ? "" : "es", n, plural(n), t->time[0] ? ", of " : "");
    tell(t->time);
    puts("");
}

/* "takes 1.103 of A's time" */
static void tell_ratio(const lk_judgement *j)
{
    printf("  B takes %.3f of A's time; %g %% interval %.3f to %.3f%s\n", j->ratio, 100 * (1 - j->level), j->low,
           j->high, j->verdict == LK_INVALID ? ", of no use" : ", which alone decides");
    if (j->least > 1) printf("  a slowdown of %.1f %% is called SLOWER in 80 of 100 such runs\n", 100 * (j->least - 1));
}

static void tell_one(const struct times_pair *p, const struct times_options *o)
{
    const lk_judgement *j = &p->judged;
    char shift[40], step[40];
    printf("%s%s", lk_verdict_name(j->verdict), j->why[0] ? ": " : "");
    tell(j->why);
    puts("");
    tell_side('A', &p->side[0], j->before);
    tell_side('B', &p->side[1], j->after);
    if (!(j->low > 0)) return;
    tell_ratio(j);
    if (j->quantum > 0) {
        times_text(j->quantum, p->side[0].unit, step, sizeof step);
        printf("  the timer counts in steps of ");
        tell(step);
        puts("");
    }
    if (!p->interleaved)
        printf("  the two did not run in turns: what the machine did otherwise between them is in the ratio\n");
    if (o->common->quiet) return;
    times_text(fabs(j->shift), p->side[0].unit, shift, sizeof shift);
    printf("  all samples as if independent: Mann-Whitney p = %.2g, Cliff's delta %.2f (%.2f to %.2f), Hodges-Lehmann "
           "shift %s",
           j->p, j->delta, j->delta_low, j->delta_high, j->shift < 0 ? "-" : "+");
    tell(shift);
    puts("");
}

static void put_json(struct text *out, const struct times_pair *pair, u32 n, const struct times_options *o)
{
    struct json top = { out, false }, all = json_open(&top, NULL, '{');
    json_text(&all, "schema", "lockstep-times");
    json_number(&all, "version", 1);
    json_double(&all, "threshold", o->judge.threshold);
    struct json list = json_open(&all, "comparisons", '[');
    for (u32 i = 0; i < n; i++) {
        const lk_judgement *j = &pair[i].judged;
        struct json one = json_open(&list, NULL, '{');
        json_text(&one, "name", pair[i].side[1].name);
        json_text(&one, "verdict", lk_verdict_name(j->verdict));
        json_text(&one, "why", j->why);
        json_number(&one, "pairs", j->pairs);
        json_bool(&one, "interleaved", pair[i].interleaved);
        json_text(&one, "unit", pair[i].side[0].unit);
        const struct {
            const char *key;
            double x;
        } number[] = { { "before", j->before },       { "after", j->after },
                       { "ratio", j->ratio },         { "low", j->low },
                       { "high", j->high },           { "level", j->level },
                       { "least", j->least },         { "quantum", j->quantum },
                       { "mann_whitney_p", j->p },    { "cliff_delta", j->delta },
                       { "cliff_low", j->delta_low }, { "cliff_high", j->delta_high },
                       { "hodges_lehmann", j->shift } };
        for (u32 k = 0; k < COUNT_OF(number); k++) json_double(&one, number[k].key, number[k].x);
        json_end(&one, '}');
    }
    json_end(&list, ']');
    json_end(&all, '}');
    text_add(out, "\n");
}

static void put_markdown(struct text *out, const struct times_pair *pair, u32 n)
{
    text_add(out, "| | before | after | ratio | interval | verdict |\n|---|---|---|---|---|---|\n");
    for (u32 i = 0; i < n; i++) {
        const lk_judgement *j = &pair[i].judged;
        char a[40], b[40];
        times_text(j->before, pair[i].side[0].unit, a, sizeof a);
        times_text(j->after, pair[i].side[1].unit, b, sizeof b);
        text_add(out, "| ");
        text_markdown(out, pair[i].side[1].name);
        text_add(out, " | ");
        text_markdown(out, a);
        text_add(out, " | ");
        text_markdown(out, b);
        text_add(out, " | %.3f | %.3f to %.3f | %s%s", j->ratio, j->low, j->high, lk_verdict_name(j->verdict),
                 j->why[0] ? ": " : "");
        text_markdown(out, j->why);
        text_add(out, " |\n");
    }
}

void times_junit_open(struct text *out, u32 n, u32 bad)
{
    text_add(out,
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"lockstep compare\" tests=\"%u\" "
             "failures=\"%u\">\n",
             n, bad);
}

void times_junit_case(struct text *out, const char *name, const char *failure)
{
    text_add(out, "  <testcase name=\"");
    text_xml_line(out, name);
    text_add(out, "\">");
    if (failure) {
        text_add(out, "<failure message=\"");
        text_xml_line(out, failure);
        text_add(out, "\"/>");
    }
    text_add(out, "</testcase>\n");
}

static void put_junit(struct text *out, const struct times_pair *pair, u32 n)
{
    u32 bad = 0;
    for (u32 i = 0; i < n; i++) bad += lk_verdict_exit(pair[i].judged.verdict) != 0;
    times_junit_open(out, n, bad);
    for (u32 i = 0; i < n; i++) {
        const lk_judgement *j = &pair[i].judged;
        struct text why = { 0 };
        if (lk_verdict_exit(j->verdict))
            text_add(&why, "%s %.3f (%.3f to %.3f) %s", lk_verdict_name(j->verdict), j->ratio, j->low, j->high, j->why);
        times_junit_case(out, pair[i].side[1].name, why.p);
        text_free(&why);
    }
    text_add(out, "</testsuite>\n");
}

bool times_alone(const struct times_options *o)
{
    return (o->json && !strcmp(o->json, "-")) || (o->markdown && !strcmp(o->markdown, "-"));
}

bool times_write(struct text out[TIMES_FORMS], const struct times_options *o, struct error *e)
{
    const char *const path[TIMES_FORMS] = {
        [TIMES_JSON] = o->json, [TIMES_JUNIT] = o->junit, [TIMES_MARKDOWN] = o->markdown
    };
    bool ok = true;
    if (out[TIMES_TOLD].n) fwrite(out[TIMES_TOLD].p, 1, out[TIMES_TOLD].n, stdout);
    fflush(stdout);
    for (u32 k = 0; k < TIMES_FORMS; k++) {
        if (ok && path[k]) ok = file_write(path[k], out[k].p, out[k].n, e);
        text_free(&out[k]);
    }
    return ok;
}

bool times_report(struct times_pair *pair, u32 n, const struct times_options *o, struct error *e)
{
    struct text out[TIMES_FORMS] = { 0 };
    for (u32 i = 0; i < n && !times_alone(o) && !o->silent; i++) {
        if (n > 1) {
            fputs(i ? "\n" : "", stdout);
            tell(pair[i].side[1].name);
            fputs(": ", stdout);
        }
        tell_one(&pair[i], o);
    }
    put_json(&out[TIMES_JSON], pair, n, o);
    put_junit(&out[TIMES_JUNIT], pair, n);
    put_markdown(&out[TIMES_MARKDOWN], pair, n);
    bool ok = times_write(out, o, e);
    for (u32 i = 0; i < n && ok && o->journal; i++)
        for (u32 k = 0; k < 2 && ok; k++)
            if (pair[i].side[k].processes) ok = times_append(o->journal, &pair[i].side[k], e);
    return ok;
}
