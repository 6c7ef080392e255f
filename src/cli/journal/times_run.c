/* Two commands in turns, ABBA: what the machine does over time falls on both alike. The first pair is not counted:
 * files are read, caches and clocks are cold. It stops when the interval is narrow enough, or when time is over (what
 * runs then is ended, and its pair is not counted), and never looks at the verdict. */
#include "journal/times.h"
#include "cli/cli.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

static const struct {
    const char *name;
    double seconds;
} units[] = { { "ns", 1e-9 },   { "us", 1e-6 },   { "\xc2\xb5s", 1e-6 }, { "ms", 1e-3 }, { "s", 1 },      { "min", 60 },
              { "nsec", 1e-9 }, { "usec", 1e-6 }, { "msec", 1e-3 },      { "sec", 1 },   { "seconds", 1 } };

/* "0.123 ms" in seconds; a number without a unit is one of seconds. *odd: one with a unit that is none of time. */
static bool read_sample(const char *p, double *out, struct str *odd)
{
    char *end;
    *odd = (struct str){ 0 };
    while (*p == ' ' || *p == '\t' || *p == ':' || *p == '=') p++;
    *out = double_read(p, &end);
    if (end == p) return false;
    while (*end == ' ') end++;
    size_t n = strcspn(end, " \t\r\n,;)(");
    for (u32 i = 0; i < COUNT_OF(units); i++)
        if (n == strlen(units[i].name) && !strncmp(end, units[i].name, n)) {
            *out *= units[i].seconds;
            return true;
        }
    if (isalpha((unsigned char)*end) || *end == '%') *odd = (struct str){ p, (u32)(end + n - p) };
    return !odd->n;
}

static void read_output(struct arena *a, const struct text *output, const char *word, lk_series *out, struct str *odd)
{
    VEC(double) all = { 0 };
    for (const char *line = output->n ? output->p : ""; *line;) {
        const char *end = strchr(line, '\n'), *at;
        char *copy = arena_str(a, (struct str){ line, (u32)(end ? (size_t)(end - line) : strlen(line)) });
        double x;
        struct str rest = { 0 };
        if ((at = strstr(copy, word)) && read_sample(at + strlen(word), &x, &rest)) VEC_PUSH(a, &all, x);
        if (rest.n && !odd->n) *odd = rest;
        line = end ? end + 1 : "";
    }
    *out = (lk_series){ all.p, all.n };
}

/* false: it failed, e has why; or it did not end until then, and *is_late. */
static bool run_one(struct arena *a, const struct times_run *r, u32 side, u64 until, lk_series *out, bool *is_late,
                    struct error *e)
{
    char *argv[] = { "/bin/sh", "-c", (char *)r->command[side], NULL };
    struct text output = { 0 };
    struct str odd = { 0 };
    u64 before = time_ns();
    int status = process_run_until(argv, until, &output);
    double *one = NEW(a, double);
    *one = (double)(time_ns() - before) * 1e-9;
    *out = (lk_series){ one, 1 };
    *is_late = status == PROCESS_LATE && !process_signal();
    if (status == 0 && r->samples) read_output(a, &output, r->samples, out, &odd);
    bool ok = status == 0;
    while (output.n && output.p[output.n - 1] == '\n') output.p[--output.n] = 0;
    if (process_signal())
        error_set(e, ERR_STOPPED, "stopped");
    else if (!ok && !*is_late)
        error_set(e, ERR_NOTHING, "%c, `%.120s`, ends with %d, and what fails is not timed: %.200s", 'A' + (int)side,
                  r->command[side], status, output.n ? output.p : "it says nothing");
    else if (ok && odd.n)
        ok = error_set(e, ERR_NOTHING,
                       "%c, `%.120s`, prints `%.*s` after `%.60s`, which is not a time: the units are ns us ms s min",
                       'A' + (int)side, r->command[side], (int)MIN_OF(odd.n, 60u), odd.p, r->samples);
    else if (ok && !out->n)
        ok = error_set(e, ERR_NOTHING, "%c, `%.120s`, prints no number after `%.60s`", 'A' + (int)side,
                       r->command[side], r->samples);
    text_free(&output);
    return ok && !process_signal();
}

static void show_progress(const struct times_run *r, const struct times_pair *p, u32 pairs, double left)
{
    if (r->quiet) return;
    char line[160];
    if (pairs < 2)
        snprintf(line, sizeof line, "\r%u pairs, %.0f s left \033[K", pairs, left);
    else
        snprintf(line, sizeof line, "\r%u pairs, %.3f (%.3f to %.3f), %.0f s left \033[K", pairs, p->judged.ratio,
                 p->judged.low, p->judged.high, left);
    cli_put(stderr, line, strlen(line));
}

static bool late(const struct times_run *r, u32 side, const char *when, struct error *e)
{
    return error_set(e, ERR_NOTHING,
                     "%c, `%.120s`, had not ended %s when the %g s of --for were over: nothing is timed",
                     'A' + (int)side, r->command[side], when, r->seconds);
}

bool times_run(struct arena *a, const struct times_run *r, struct times_pair *out, struct error *e)
{
    lk_series cold, *side[2] = { NEW_ARRAY(a, lk_series, r->most + 1), NEW_ARRAY(a, lk_series, r->most + 1) };
    u64 began = time_ns();
    u32 pairs = 0;
    bool drawn = false, is_late = false;
    u64 until = began + (u64)(fmin(r->seconds, 1e9) * 1e9);
    process_guard();
    for (u32 k = 0; k < 2; k++)
        if (!run_one(a, r, k, until, &cold, &is_late, e)) return is_late ? late(r, k, "the first time", e) : false;
    while (pairs < r->most && !is_late) {
        for (u32 k = 0; k < 2 && !is_late; k++) {
            u32 who = (k + pairs) % 2; /* A B, then B A */
            bool ok = run_one(a, r, who, until, &side[who][pairs], &is_late, e);
            if (is_late && !pairs) return late(r, who, "in the first pair", e);
            if (!ok && !is_late) return false;
        }
        if (is_late) break;
        pairs++;
        if (pairs < r->least) continue;
        lk_times t = { "", side[0], side[1], pairs };
        lk_times_judge(&t, 1, &r->judge, &out->judged);
        show_progress(r, out, pairs, ((double)until - (double)time_ns()) * 1e-9);
        drawn = !r->quiet;
        if (lk_times_enough(&out->judged, &r->judge)) break;
    }
    if (drawn) cli_put(stderr, "\r\033[K", 4);
    out->interleaved = true;
    for (u32 k = 0; k < 2; k++) {
        const char **command = NEW(a, const char *), *name = r->command[k];
        if (r->name) name = k ? r->name : arena_printf(a, "%s before", r->name);
        *command = r->command[k];
        out->side[k] = (struct timed){ .name = name,
                                       .work = "",
                                       .device = "",
                                       .time = "",
                                       .unit = "s",
                                       .command = command,
                                       .words = 1,
                                       .process = side[k],
                                       .processes = pairs };
    }
    return true;
}
