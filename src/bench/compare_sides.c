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

struct sides_run {
    struct arena *a;
    struct sides_options *o;
    struct bench_group g[2];
    struct bench_test *tested[2];
    const char *folder;
    struct times_pair *pair; /* by case, the last of the repeats */
    const char **why;        /* of a case that was not run; NULL */
    u32 verdicts[LK_NOT_RUN + 1];
};

static bool run_case(struct sides_run *r, u32 i, struct error *e)
{
    const char *line = r->o->sizes.line.p[i];
    struct bench_series s[2];
    for (u32 k = 0; k < 2; k++)
        if (r->tested[k] && !r->tested[k][i].passed)
            return error_set(e, (enum error_code)r->tested[k][i].code, "%s", r->tested[k][i].said);
    if (!groups_prepare(r->a, &r->g[0], &r->g[1], line, r->folder, e) ||
        !groups_time(r->a, &r->g[0], &r->g[1], r->o->mode, &r->o->how, s, e))
        return false;
    for (u32 k = 0; k < 2; k++) {
        const struct bench_group *g = &r->g[k];
        fill_side(r->a, &r->pair[i].side[k], g, &s[k], line, r->o->mode);
        if (g->last.largest > DIFFERENCE_MOST)
            return error_set(e, ERR_INPUT,
                             "not comparable: what %s gives lies %.2g from what the kernel gives, relative to it",
                             g->what.text, g->last.largest);
    }
    r->pair[i].interleaved = true;
    return true;
}

static bool run_all(struct sides_run *r, struct error *e)
{
    u32 n = r->o->sizes.line.n;
    for (u32 i = 0; i < n; i++) {
        struct error wrong = { 0 };
        r->why[i] = NULL;
        if (run_case(r, i, &wrong)) continue;
        if (wrong.code == ERR_STOPPED || wrong.code == ERR_SYSTEM || n == 1)
            return error_set(e, wrong.code, "%s", wrong.text);
        r->why[i] = arena_str(r->a, str_of(wrong.text));
        r->pair[i].side[0] =
            (struct timed){ .name = r->o->sizes.line.p[i], .work = "", .device = "", .unit = "s", .time = "" };
        r->pair[i].side[1] = r->pair[i].side[0];
        if (!r->o->quiet) fprintf(stderr, "%s: %s\n", r->o->sizes.line.p[i], wrong.text);
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

static void tell_table(struct sides_run *r)
{
    const struct bench_sizes *s = &r->o->sizes;
    u32 width = 4, wins[2] = { 0 };
    struct text out = { 0 };
    for (u32 i = 0; i < s->line.n; i++) width = MAX_OF(width, (u32)strlen(s->line.p[i]));
    text_add(&out, "A %s\nB %s\n", r->g[0].what.text, r->g[1].what.text);
    text_add(&out, "%-*s  %10s  %10s  %6s  %-14s\n", (int)width,
             r->o->mode == BENCH_COLD ? "cold" : bench_mode_name[r->o->mode], "A", "B", "B / A", "interval");
    for (u32 i = 0; i < s->line.n; i++) {
        const lk_judgement *j = &r->pair[i].judged;
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
    crossover_tell(&out, s, r->pair);
    fwrite(out.p, 1, out.n, stdout);
    text_free(&out);
}

static void count_verdicts(struct sides_run *r)
{
    for (u32 i = 0; i < r->o->sizes.line.n; i++) r->verdicts[r->why[i] ? LK_NOT_RUN : r->pair[i].judged.verdict]++;
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
    u32 n = r->o->sizes.line.n;
    int code = EXIT_CLEAN;
    for (u32 k = 0; k < r->o->repeat; k++) {
        if (!run_all(r, e)) return bench_failed(e);
        code = times_judge(r->a, r->pair, n, &c->times);
        count_verdicts(r);
        c->times.silent = n > 1 || r->o->repeat > 1 || r->o->list;
        if (c->times.silent && k + 1 == r->o->repeat && (!c->times.json || strcmp(c->times.json, "-"))) tell_table(r);
        if (!times_report(r->pair, n, &c->times, e)) return bench_failed(e);
        fflush(stdout);
    }
    return code;
}

static bool test_sides(struct sides_run *r, const struct side_what w[2], struct error *e)
{
    for (u32 k = 0; k < 2; k++) {
        r->tested[k] = NULL;
        if (w[k].python) continue;
        r->tested[k] = NEW_ARRAY(r->a, struct bench_test, r->o->sizes.line.n);
        if (k && !w[0].python && !strcmp(w[0].text, w[1].text))
            r->tested[1] = r->tested[0];
        else if (!bench_tested(r->a, &w[k], &r->o->sizes, r->folder, r->tested[k], e))
            return false;
    }
    return true;
}

/* One pair of sides over its cases; processes of the pair before it are asked again. */
static int compare_pair(struct sides_run *r, struct comparing *c, const char *const text[2], struct error *e)
{
    struct side_what w[2];
    if (!r->o->sizes.line.n) VEC_PUSH(r->a, &r->o->sizes.line, "");
    sizes_vary(r->a, &r->o->sizes);
    r->pair = NEW_ARRAY(r->a, struct times_pair, r->o->sizes.line.n);
    r->why = NEW_ARRAY(r->a, const char *, r->o->sizes.line.n);
    for (u32 k = 0; k < 2; k++)
        if (!side_of_text(r->a, text[k], r->o->on, &w[k], e)) return bench_failed(e);
    if (w[0].python && w[1].python)
        return cli_error("compare: one side at least is a kernel with a contract, which says what the inputs are");
    bool ok = test_sides(r, w, e);
    for (u32 k = 0; ok && k < 2; k++) {
        bool same = r->g[k].n && !r->g[k].what.python == !w[k].python;
        if (!same) group_end(&r->g[k]);
        ok = same ? group_reopen(r->a, &r->g[k], &w[k], e) : group_start(r->a, &r->g[k], &w[k], r->o->how.processes, e);
    }
    return ok ? compare_told(r, c, e) : bench_failed(e);
}

/* A | B | sizes, a line each; # begins a comment. The worst exit code. */
static int compare_list(struct sides_run *r, struct comparing *c, struct error *e)
{
    struct str text;
    int worst = EXIT_CLEAN;
    if (!file_read(r->o->list, &text, e)) return bench_failed(e);
    for (const char *p = text.p; *p && !process_signal();) {
        size_t n = strcspn(p, "\n");
        char *line = arena_str(r->a, (struct str){ p, (u32)n }), *part[3] = { line, NULL, NULL };
        p += n + (p[n] == '\n');
        if (!line[strspn(line, " \t")] || line[0] == '#') continue;
        for (u32 k = 1; k < 3 && part[k - 1]; k++)
            if ((part[k] = strchr(part[k - 1], '|'))) *part[k]++ = 0;
        for (u32 k = 0; k < 3 && part[k]; k++) {
            part[k] += strspn(part[k], " \t");
            for (size_t m = strlen(part[k]); m && (part[k][m - 1] == ' ' || part[k][m - 1] == '\t');) part[k][--m] = 0;
        }
        struct error wrong = { 0 };
        r->o->sizes = (struct bench_sizes){ 0 };
        int code = !part[1] ? cli_error("%s: a line is A | B | sizes, not `%.80s`", r->o->list, line)
                   : part[2] && !sizes_read(r->a, part[2], &r->o->sizes, &wrong)
                       ? bench_failed(&wrong)
                       : compare_pair(r, c, (const char *const *)part, &wrong);
        if (code > worst) worst = code;
        fflush(stdout);
    }
    base_free((void *)text.p);
    return process_signal() ? EXIT_SIGNAL + process_signal() : worst;
}

int compare_sides(struct arena *a, struct comparing *c, struct sides_options *o, struct error *e)
{
    struct sides_run r = { .a = a, .o = o };
    process_guard();
    if (!(r.folder = bench_folder(a, e))) return bench_failed(e);
    int code = o->list ? compare_list(&r, c, e) : compare_pair(&r, c, c->path, e);
    u32 all = 0;
    for (u32 v = 0; v <= LK_NOT_RUN; v++) all += r.verdicts[v];
    if (all && (o->repeat > 1 || o->list)) tell_counts(&r);
    for (u32 k = 0; k < 2; k++) group_end(&r.g[k]);
    folder_remove(r.folder);
    return code;
}
