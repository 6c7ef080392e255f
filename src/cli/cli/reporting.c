/* The report of a run: on the screen, and in files for machines. */
#include "cli/cli.h"
#include "cli/reporting.h"
#include <errno.h>
#include <unistd.h>

#define OPTIONS_launch OWN_ROWS
#define OWN_GROUP_REPORT
#include "cli/option_own.h"

static bool add_rules(struct reporting *o, const char *file, struct error *e)
{
    if (o->suppressions == REPORTING_RULES)
        return error_set(e, ERR_INPUT, "more than %d files of suppressions; put their lines into one", REPORTING_RULES);
    o->suppress[o->suppressions++] = file;
    return true;
}

bool reporting_option(struct reporting *o, u32 which, const struct row *opt, const char *text, struct error *e)
{
    u64 n = 0;
    switch ((enum own_option)(which + O_launch_JSON)) {
    case OWN_JSON: o->json = text; return true;
    case OWN_SARIF: o->sarif = text; return true;
    case OWN_JUNIT: o->junit = text; return true;
    case OWN_HTML: o->html = text; return true;
    case OWN_SUPPRESS: return add_rules(o, text, e);
    case OWN_PRINT_SUPPRESSIONS: return o->print_rules = true;
    case OWN_MAX_FINDINGS: return option_number(opt, text, UINT32_MAX, &n, e) && (o->most = (u32)n, true);
    case OWN_FAIL_ON:
        o->fail_on_notes = !strcmp(text, "note");
        return o->fail_on_notes || !strcmp(text, "error") ||
               error_set(e, ERR_INPUT, "--fail-on %.60s: error or note belongs here", text);
    case OWN_ERROR_EXITCODE:
        if (!option_number(opt, text, 255, &n, e) || !n)
            return error_set(e, ERR_INPUT, "--error-exitcode %.60s: from 1 to 255, since 0 means clean", text);
        o->error_code = (u32)n;
        return true;
    }
    CHECK(!"an option of reports without its case");
}

bool reporting_begin(const struct reporting *o, lk_gpu *gpu, struct error *e)
{
    lk_report_limit(gpu, o->most);
    lk_report_fail_on(gpu, o->fail_on_notes ? LK_FAIL_ON_NOTE : LK_FAIL_ON_ERROR);
    for (u32 i = 0; i < o->suppressions; i++)
        if (lk_report_suppress(gpu, o->suppress[i]) != LK_OK)
            return error_set(e, ERR_INPUT, "%.500s", lk_gpu_error(gpu));
    return true;
}

int reporting_conclude(lk_gpu *gpu, lk_outcome *outcome)
{
    outcome->size = sizeof *outcome;
    return (int)lk_report_conclude(gpu, outcome);
}

bool reporting_streams(struct reporting *o, const char *const *reads, u32 n, struct error *e)
{
    const char *const file[] = { o->json, o->sarif, o->junit, o->html };
    static const char *const option[] = { "--json", "--sarif", "--junit", "--html" };
    const char *first = NULL;
    for (u32 i = 0; i < COUNT_OF(file); i++) {
        if (!file[i]) continue;
        if (!option_output(option[i], file[i], reads, n, e)) return false;
        if (strcmp(file[i], "-")) continue;
        if (first) return error_set(e, ERR_INPUT, "%s - and %s -: standard output takes one of them", first, option[i]);
        first = option[i];
    }
    o->ready = true;
    if (!first) return true;
    fflush(stdout);
    o->machine = dup(STDOUT_FILENO);
    if (o->machine < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return error_set(e, ERR_SYSTEM, "cannot write to standard output: %s", strerror(errno));
    return true;
}

bool reporting_put(const struct reporting *o, const char *path, const char *text, size_t bytes, struct error *e)
{
    fflush(stdout); /* which may be standard error by now: its text comes first */
    if (!o->machine || strcmp(path, "-")) return file_write(path, text, bytes, e);
    return file_put(o->machine, text, bytes) ||
           error_set(e, ERR_SYSTEM, "cannot write to standard output: %s", strerror(errno));
}

static bool write_file(const struct reporting *o, const char *path, char *text, struct error *e)
{
    bool ok = text ? reporting_put(o, path, text, strlen(text), e)
                   : error_set(e, ERR_MEMORY, "no memory for the report %.200s", path);
    lk_text_free(text);
    return ok;
}

static void say_unused(lk_gpu *gpu)
{
    char *unused = lk_report_unused(gpu);
    for (const char *p = unused; p && *p;) {
        size_t n = strcspn(p, "\n");
        fprintf(stderr, "lockstep: %.*s: this suppression matched nothing\n", (int)n, p);
        p += n + (p[n] == '\n');
    }
    lk_text_free(unused);
}

bool reporting_files(struct reporting *o, lk_gpu *gpu, const char *name, struct error *e)
{
    o->written = true;
    /* one that cannot be written leaves the others */
    bool json = !o->json || write_file(o, o->json, lk_report_json(gpu), e);
    bool sarif = !o->sarif || write_file(o, o->sarif, lk_report_sarif(gpu), e);
    bool junit = !o->junit || write_file(o, o->junit, lk_report_junit(gpu, name), e);
    bool html = !o->html || write_file(o, o->html, lk_report_html(gpu), e);
    return json && sarif && junit && html;
}

void reporting_refused(struct reporting *o, int code, const char *name, const char *why)
{
    lk_outcome outcome = { .size = sizeof outcome, .judged = 1, .why = why };
    struct error e = { 0 };
    lk_gpu *gpu;
    if (!code || o->written || !o->ready || !(o->json || o->sarif || o->junit || o->html)) return;
    if (lk_gpu_create(NULL, &gpu) != LK_OK) return;
    outcome.failed = code == EXIT_FINDINGS;
    outcome.unsupported = code == EXIT_UNSUPPORTED;
    outcome.unjudged = code == EXIT_NOTHING;
    outcome.undone = !outcome.failed && !outcome.unsupported && !outcome.unjudged;
    reporting_conclude(gpu, &outcome);
    if (!reporting_files(o, gpu, name, &e)) cli_error_value(&e);
    lk_gpu_destroy(gpu);
}

bool reporting_write(struct reporting *o, lk_gpu *gpu, const char *name, const char *clean, const struct common *c,
                     struct error *e)
{
    bool any = lk_report_errors(gpu) || lk_report_notes(gpu);
    char *text = lk_report_text(gpu, cli_color(c));
    if (text && (any || (lk_report_suppressed(gpu) && !c->quiet)))
        cli_put(stdout, text, strlen(text));
    else if (!c->quiet)
        puts(clean);
    lk_text_free(text);
    if (o->print_rules) {
        char *rules = lk_report_rules(gpu);
        fputs(rules ? rules : "", stdout);
        lk_text_free(rules);
    }
    if (c->verbose) say_unused(gpu);
    return reporting_files(o, gpu, name, e);
}
