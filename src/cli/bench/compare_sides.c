/* lockstep compare A B --on gpu: kernels and Python callables on the same cases, with the same contents, in turns. */
#include "bench/compare_sides.h"
#include <ctype.h>
#include <lockstep.h>
#include <math.h>
#include <unistd.h>

#define DIFFERENCE_MOST 2e-2 /* of a callable from the kernel, relative: rounding to 16 bits stays far below it */

/* ---- what is compared ---- */

/* FILE.py:FUNCTION, or MODULE:FUNCTION where neither is more than a name. */
bool is_python_side(const char *text)
{
    const char *colon = strrchr(text, ':');
    if (!colon || !colon[1] || colon == text) return false;
    for (const char *p = colon + 1; *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '_' && *p != '.') return false;
    if (colon - text > 3 && !strncmp(colon - 3, ".py", 3)) return !memchr(text, ' ', (size_t)(colon - text));
    for (const char *p = text; p < colon; p++)
        if (!isalnum((unsigned char)*p) && *p != '_' && *p != '.') return false;
    return !is_kernel_file(text);
}

bool side_of_text(struct arena *a, const char *text, const char *on, struct side_what *out, struct error *e)
{
    *out = (struct side_what){ .text = text, .on = on };
    if (is_python_side(text)) {
        out->python = text;
        return true;
    }
    if (!is_kernel_file(text))
        return error_set(e, ERR_INPUT,
                         "compare --on gpu takes FILE.cu[:KERNEL], FILE.py:FUNCTION or MODULE:FUNCTION, not `%.80s`",
                         text);
    return compiling_target(a, "compare", text, &out->file, &out->kernel, e);
}

/* ---- cases ---- */

static void fill_side(struct arena *a, struct timed *t, const struct bench_group *g, const struct bench_series *s,
                      const char *line, enum bench_mode mode)
{
    const char **command = NEW(a, const char *);
    *command = g->what.text;
    *t = (struct timed){ .name = arena_printf(a, "%s%s%s %s", g->what.text, line[0] ? " " : "", line,
                                              bench_mode_name[mode]),
                         .work = g->last.work,
                         .device = g->gpu,
                         .time = "",
                         .unit = "s",
                         .command = command,
                         .words = 1,
                         .process = s->process,
                         .processes = s->processes };
    times_note(t, "kernel", g->last.kernel, 0);
    times_note(t, "case", line, 0);
    times_note(t, "mode", bench_mode_name[mode], 0);
    times_note(t, "binary", g->last.binary, 0);
    times_note(t, "batch", NULL, s->batch);
    times_note(t, "bytes", NULL, g->last.bytes);
    if (s->clock.sm_mhz) times_note(t, "sm_mhz", NULL, s->clock.sm_mhz);
    if (s->clock.power_mw) times_note(t, "power_mw", NULL, s->clock.power_mw);
    if (s->clock.throttle) times_note(t, "throttle", NULL, (double)s->clock.throttle);
}

/* Two sides and the cases on which they are compared. */
struct sides_pair {
    struct side_what what[2];
    struct bench_sizes sizes;
    struct bench_test *tested[2]; /* by case; NULL: a callable, which the kernel is the measure of */
};
struct sides_run {
    struct arena *a;
    struct sides_options *o;
    struct bench_group g[2];
    const char *folder;
    struct sides_pair *now;
    struct times_pair *pair; /* of `now`: all cases, so many times as they are repeated */
    const char **why;        /* of a case that was not run; NULL */
    u32 verdicts[LK_NOT_RUN + 1];
};

static struct times_pair *pair_of(const struct sides_run *r, u32 repeat, u32 i)
{
    return &r->pair[repeat * r->now->sizes.line.n + i];
}

static bool run_case(struct sides_run *r, u32 i, struct error *e)
{
    const char *line = r->now->sizes.line.p[i];
    struct bench_series s[2];
    for (u32 k = 0; k < 2; k++) {
        const struct bench_test *t = r->now->tested[k] ? &r->now->tested[k][i] : NULL;
        if (t && !t->passed) return error_set(e, (enum error_code)t->code, "%s", t->said);
    }
    if (!groups_prepare(r->a, &r->g[0], &r->g[1], line, r->folder, e)) return false;
    for (u32 k = 0; k < 2; k++)
        if (r->g[k].last.largest > DIFFERENCE_MOST)
            return error_set(e, ERR_INPUT,
                             "not comparable: what %s gives lies %.2g from what the kernel gives, relative to it",
                             r->g[k].what.text, r->g[k].last.largest);
    for (u32 n = 0; n < r->o->repeat; n++) {
        struct times_pair *p = pair_of(r, n, i);
        if (!groups_time(r->a, &r->g[0], &r->g[1], r->o->mode, &r->o->how, s, e)) return false;
        for (u32 k = 0; k < 2; k++) fill_side(r->a, &p->side[k], &r->g[k], &s[k], line, r->o->mode);
        p->interleaved = true;
    }
    return true;
}

static bool run_all(struct sides_run *r, struct error *e)
{
    u32 n = r->now->sizes.line.n;
    for (u32 i = 0; i < n; i++) {
        const char *line = r->now->sizes.line.p[i];
        struct error wrong = { 0 };
        if (run_case(r, i, &wrong)) continue;
        if (wrong.code == ERR_STOPPED || wrong.code == ERR_SYSTEM || n == 1)
            return error_set(e, wrong.code, "%s", wrong.text);
        r->why[i] = arena_str(r->a, str_of(wrong.text));
        for (u32 m = 0; m < r->o->repeat; m++)
            for (u32 k = 0; k < 2; k++)
                pair_of(r, m, i)->side[k] =
                    (struct timed){ .name = line, .work = "", .device = "", .unit = "s", .time = "" };
        if (!r->o->quiet) fprintf(stderr, "%s: %s\n", line, wrong.text);
    }
    return true;
}

/* ---- who wins where ---- */

/* Where a curve of log ratios over log sizes crosses 0, from the i-th to the k-th size; NAN: it does not. */
enum curve { CURVE_RATIO, CURVE_LOW, CURVE_HIGH };
static double height(const struct times_pair *p, enum curve c)
{
    const lk_judgement *j = &p->judged;
    return log(c == CURVE_LOW ? j->low : c == CURVE_HIGH ? j->high : j->ratio);
}
static double crossing(const struct bench_sizes *s, const struct times_pair *pair, u32 i, u32 k, enum curve c)
{
    for (; i < k; i++) {
        double y0 = height(&pair[i], c), y1 = height(&pair[i + 1], c);
        if ((y0 < 0) == (y1 < 0)) continue;
        double x0 = log(s->value.p[i]), x1 = log(s->value.p[i + 1]);
        return exp(x0 + y0 / (y0 - y1) * (x1 - x0));
    }
    return NAN;
}

static bool is_decided(const struct times_pair *p)
{
    return p->judged.verdict == LK_FASTER || p->judged.verdict == LK_SLOWER;
}

void crossover_tell(struct text *out, const struct bench_sizes *s, const struct times_pair *pair)
{
    u32 last = UINT32_MAX;
    for (u32 k = 0; s->varies && k < s->line.n; k++) {
        if (!is_decided(&pair[k])) continue;
        u32 i = last;
        last = k;
        if (i == UINT32_MAX || pair[i].judged.verdict == pair[k].judged.verdict) continue;
        /* the interval: where its ends cross, and at most the sizes at which it is decided */
        double at = crossing(s, pair, i, k, CURVE_RATIO), x = crossing(s, pair, i, k, CURVE_LOW),
               y = crossing(s, pair, i, k, CURVE_HIGH);
        if (!isfinite(x)) x = s->value.p[i];
        if (!isfinite(y)) y = s->value.p[k];
        text_add(out, "from %s = %.4g on (%.4g to %.4g) %s is faster\n", s->varies, at, fmin(x, y), fmax(x, y),
                 pair[k].judged.verdict == LK_FASTER ? "B" : "A");
    }
}

static void tell_table(const struct sides_run *r, const struct times_pair *pair)
{
    const struct bench_sizes *s = &r->now->sizes;
    u32 width = 4, wins[2] = { 0 };
    struct text out = { 0 };
    for (u32 i = 0; i < s->line.n; i++) width = MAX_OF(width, (u32)strlen(s->line.p[i]));
    text_add(&out, "A %s\nB %s\n", r->g[0].what.text, r->g[1].what.text);
    text_add(&out, "%-*s  %10s  %10s  %6s  %-14s\n", (int)width,
             r->o->mode == BENCH_COLD ? "cold" : bench_mode_name[r->o->mode], "A", "B", "B / A", "interval");
    for (u32 i = 0; i < s->line.n; i++) {
        const lk_judgement *j = &pair[i].judged;
        char x[40], y[40];
        if (r->why[i]) {
            text_add(&out, "%-*s  NOT-RUN: %.160s\n", (int)width, s->line.p[i], r->why[i]);
            continue;
        }
        times_text(j->before, "s", x, sizeof x);
        times_text(j->after, "s", y, sizeof y);
        text_add(&out, "%-*s  %10s  %10s  %6.3f  %.3f to %.3f  %s%s%.120s\n", (int)width, s->line.p[i], x, y, j->ratio,
                 j->low, j->high, lk_verdict_name(j->verdict), j->why[0] ? ": " : "", j->why);
        wins[0] += j->verdict == LK_SLOWER;
        wins[1] += j->verdict == LK_FASTER;
    }
    text_add(&out, "A is faster in %u, B in %u of %u\n", wins[0], wins[1], s->line.n);
    crossover_tell(&out, s, pair);
    fwrite(out.p, 1, out.n, stdout);
    text_free(&out);
}

static void count_verdicts(struct sides_run *r, const struct times_pair *pair)
{
    for (u32 i = 0; i < r->now->sizes.line.n; i++) r->verdicts[r->why[i] ? LK_NOT_RUN : pair[i].judged.verdict]++;
}

static void tell_counts(const struct sides_run *r)
{
    u32 all = 0;
    for (u32 v = 0; v <= LK_NOT_RUN; v++) all += r->verdicts[v];
    printf("%u comparisons:", all);
    for (u32 v = 0; v <= LK_NOT_RUN; v++)
        if (r->verdicts[v]) printf(" %u %s", r->verdicts[v], lk_verdict_name((lk_verdict)v));
    printf("\n");
}

/* ---- the run ---- */

static int compare_told(struct sides_run *r, struct comparing *c, struct error *e)
{
    u32 n = r->now->sizes.line.n;
    int code = EXIT_CLEAN;
    if (!run_all(r, e)) return bench_failed(e);
    for (u32 k = 0; k < r->o->repeat; k++) {
        struct times_pair *pair = pair_of(r, k, 0);
        code = times_judge(r->a, pair, n, &c->times);
        count_verdicts(r, pair);
        c->times.silent = n > 1 || r->o->repeat > 1 || r->o->list;
        if (c->times.silent && k + 1 == r->o->repeat && (!c->times.json || strcmp(c->times.json, "-")))
            tell_table(r, pair);
        if (!times_report(pair, n, &c->times, e)) return bench_failed(e);
        fflush(stdout);
    }
    return code;
}

/* What is compared: A, B and sizes, as words. */
static bool pair_read(struct sides_run *r, const char *const part[3], struct sides_pair *out, struct error *e)
{
    *out = (struct sides_pair){ .sizes = r->o->sizes };
    if (part[2] && !sizes_read(r->a, part[2], &out->sizes, e)) return false;
    if (!out->sizes.line.n) VEC_PUSH(r->a, &out->sizes.line, "");
    sizes_vary(r->a, &out->sizes);
    for (u32 k = 0; k < 2; k++)
        if (!side_of_text(r->a, part[k], r->o->on, &out->what[k], e)) return false;
    return !out->what[0].python || !out->what[1].python ||
           error_set(e, ERR_INPUT,
                     "compare: one side at least is a kernel with a contract, which says what the inputs are");
}

/* All kernels of all pairs, before anything is timed: tests run several at once. */
static bool pairs_tested(struct sides_run *r, struct sides_pair *p, u32 n, struct error *e)
{
    struct bench_ask *ask = NEW_ARRAY(r->a, struct bench_ask, 2 * n + 1);
    u32 asks = 0;
    for (u32 i = 0; i < n; i++)
        for (u32 k = 0; k < 2; k++) {
            const struct side_what *w = &p[i].what[k];
            if (w->python) continue;
            bool same = k && p[i].tested[0] && !strcmp(p[i].what[0].text, w->text);
            p[i].tested[k] = same ? p[i].tested[0] : NEW_ARRAY(r->a, struct bench_test, p[i].sizes.line.n);
            if (!same) ask[asks++] = (struct bench_ask){ w, &p[i].sizes, p[i].tested[k] };
        }
    return bench_tested(r->a, ask, asks, r->folder, e);
}

/* One pair of sides over its cases; processes of the pair before it are asked again. */
static int compare_pair(struct sides_run *r, struct comparing *c, struct sides_pair *p, struct error *e)
{
    bool ok = true;
    r->now = p;
    r->pair = NEW_ARRAY(r->a, struct times_pair, p->sizes.line.n * r->o->repeat + 1);
    r->why = NEW_ARRAY(r->a, const char *, p->sizes.line.n + 1);
    for (u32 k = 0; ok && k < 2; k++) {
        bool same = r->g[k].n && !r->g[k].what.python == !p->what[k].python;
        if (!same) group_end(&r->g[k]);
        ok = same ? group_reopen(r->a, &r->g[k], &p->what[k], e)
                  : group_start(r->a, &r->g[k], &p->what[k], r->o->how.processes, e);
    }
    return ok ? compare_told(r, c, e) : bench_failed(e);
}

/* The lines of a list: A | B | sizes; # begins a comment. */
typedef VEC(struct sides_pair) pair_list;
static bool list_read(struct sides_run *r, pair_list *out, struct error *e)
{
    struct str text;
    bool ok = true;
    if (!file_read(r->o->list, &text, e)) return false;
    for (const char *p = text.p; ok && *p;) {
        size_t n = strcspn(p, "\n");
        char *line = arena_str(r->a, (struct str){ p, (u32)n }), *part[3] = { line, NULL, NULL };
        struct sides_pair pair;
        p += n + (p[n] == '\n');
        if (!line[strspn(line, " \t")] || line[0] == '#') continue;
        for (u32 k = 1; k < 3 && part[k - 1]; k++)
            if ((part[k] = strchr(part[k - 1], '|'))) *part[k]++ = 0;
        for (u32 k = 0; k < 3 && part[k]; k++) {
            part[k] += strspn(part[k], " \t");
            for (size_t m = strlen(part[k]); m && (part[k][m - 1] == ' ' || part[k][m - 1] == '\t');) part[k][--m] = 0;
        }
        if (!part[1])
            ok = error_set(e, ERR_INPUT, "%s: a line is A | B | sizes, not `%.80s`", r->o->list, line);
        else if ((ok = pair_read(r, (const char *const *)part, &pair, e)))
            VEC_PUSH(r->a, out, pair);
    }
    base_free((void *)text.p);
    return ok;
}

/* The worst exit code. */
static int compare_all(struct sides_run *r, struct comparing *c, pair_list *list, struct error *e)
{
    int worst = EXIT_CLEAN;
    if (!pairs_tested(r, list->p, list->n, e)) return bench_failed(e);
    for (u32 i = 0; i < list->n && !process_signal(); i++) {
        struct error wrong = { 0 };
        int code = compare_pair(r, c, &list->p[i], &wrong);
        if (code > worst) worst = code;
        fflush(stdout);
    }
    return process_signal() ? EXIT_SIGNAL + process_signal() : worst;
}

int compare_sides(struct arena *a, struct comparing *c, struct sides_options *o, struct error *e)
{
    struct sides_run r = { .a = a, .o = o };
    const char *const part[3] = { c->path[0], c->path[1], NULL };
    pair_list list = { 0 };
    struct sides_pair one;
    process_guard();
    if (!(o->list ? list_read(&r, &list, e) : pair_read(&r, part, &one, e))) return bench_failed(e);
    if (!o->list) VEC_PUSH(a, &list, one);
    if (!(r.folder = bench_folder(a, e))) return bench_failed(e);
    int code = compare_all(&r, c, &list, e);
    u32 all = 0;
    for (u32 v = 0; v <= LK_NOT_RUN; v++) all += r.verdicts[v];
    if (all && (o->repeat > 1 || o->list)) tell_counts(&r);
    for (u32 k = 0; k < 2; k++) group_end(&r.g[k]);
    folder_remove(r.folder);
    return code;
}
