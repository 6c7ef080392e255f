/* lockstep replay: a launch that was recorded, run again, made smaller, written as C. */
#include "cli/cli.h"
#include "cli/reporting.h"
#include <lockstep_lab.h>

#define OPTIONS_replay OWN_ROWS
#include "cli/option_own.h"

struct replay {
    const char *path, *save, *emit;
    bool sim, gpu, shrink, seeded;
    lk_options options;
    struct reporting reporting;
    struct common common;
};

static bool take_on(struct replay *r, const char *value, struct error *e)
{
    bool both = !strcmp(value, "both");
    r->gpu = both || !strcmp(value, "gpu") || !strncmp(value, "gpu:", 4);
    r->sim = both || !strcmp(value, "sim");
    r->options.on = both ? "gpu" : r->gpu ? value : NULL;
    return r->sim || r->gpu || error_set(e, ERR_INPUT, "--on %.60s: sim, gpu or both belongs here", value);
}

static bool take_option(void *self, const struct row *o, const char *value, struct error *e)
{
    struct replay *r = self;
    char *end;
    if (o->id >= O_replay_JSON && o->id <= O_replay_ERROR_EXITCODE)
        return reporting_option(&r->reporting, o->id - O_replay_JSON, o, value, e);
    switch ((enum own_option)o->id) {
    case OWN_ON: return take_on(r, value, e);
    case OWN_SHRINK: return r->shrink = true;
    case OWN_SAVE: r->save = value; return true;
    case OWN_EMIT_C: r->emit = value; return true;
    case OWN_CHECK: r->options.check = value; return true;
    case OWN_NO_CHECK: r->options.no_check = value; return true;
    case OWN_TIME_LIMIT:
        r->options.time_limit = double_read(value, &end);
        return (end != value && !*end && r->options.time_limit >= 0) ||
               error_set(e, ERR_INPUT, "--time-limit %.60s: seconds belong here", value);
    case OWN_SEED: r->seeded = true; return option_number(o, value, UINT64_MAX, &r->options.seed, e);
    }
    CHECK(!"an option of replay without its case");
}

static bool take_word(void *self, const char *word, struct error *e)
{
    struct replay *r = self;
    if (r->path) return error_set(e, ERR_INPUT, "replay: one recording at a time, and `%.60s` is a second", word);
    r->path = word;
    return true;
}

/* The options of one side. */
static lk_options side(const struct replay *r, bool gpu)
{
    lk_options o = r->options;
    o.size = sizeof o;
    o.on = gpu ? r->options.on : NULL;
    o.seeded = !gpu;
    o.any_arch = 1;
    return o;
}

static int run_on(struct replay *r, lk_recording *recording, bool on_gpu)
{
    lk_options o = side(r, on_gpu);
    struct error e = { 0 };
    lk_gpu *gpu;
    if (lk_gpu_create(&o, &gpu) != LK_OK) return cli_error_status(LK_BAD_INPUT, lk_gpu_error(NULL));
    int code = EXIT_CLEAN;
    if (!reporting_begin(&r->reporting, gpu, &e)) code = cli_error_value(&e);
    lk_status s = code ? LK_OK : lk_recording_run(recording, gpu);
    if (s != LK_OK && s != LK_FINDINGS) {
        code = cli_error_status((int)s, lk_gpu_error(gpu));
    } else if (!code) {
        char clean[200];
        lk_outcome outcome = { .launched = 1 };
        snprintf(clean, sizeof clean, "%.100s: no findings on %s\n", r->path, on_gpu ? "the GPU" : "the software GPU");
        code = reporting_conclude(gpu, &outcome);
        if (!reporting_write(&r->reporting, gpu, r->path, clean, &r->common, &e)) {
            int unwritten = cli_error_value(&e);
            code = code ? code : unwritten;
        }
        if (code == EXIT_NOTHING) cli_error_status(code, "nothing was checked: every check is off");
    }
    lk_gpu_destroy(gpu);
    return code;
}

static int shrink(const struct replay *r, lk_recording *recording)
{
    lk_options o = side(r, !r->sim);
    uint32_t tries = 0;
    lk_status s = lk_recording_shrink(recording, &o, &tries);
    if (s == LK_OK && !r->common.quiet)
        puts("nothing to make smaller: it has no finding");
    else if (s == LK_FINDINGS && !r->common.quiet)
        printf("made smaller in %u runs\n", tries);
    return s == LK_OK || s == LK_FINDINGS
               ? EXIT_CLEAN
               : cli_error("%s cannot be run so: lockstep replay %s says why", r->path, r->path);
}

static int write_out(const struct replay *r, const lk_recording *recording)
{
    struct error e = { 0 };
    if (r->save && lk_recording_save(recording, r->save) != LK_OK)
        return cli_error_status(LK_BAD_INPUT, lk_gpu_error(NULL));
    if (!r->emit) return EXIT_CLEAN;
    char *program = lk_recording_c(recording);
    if (!program) return cli_error("%s: a cluster of the launch cannot be written as C", r->path);
    bool ok = file_write(r->emit, program, strlen(program), &e);
    lk_text_free(program);
    return ok ? EXIT_CLEAN : cli_error_value(&e);
}

/* Runs it where it is asked for; with both, says whether the two left the same bytes. */
static int run_all(struct replay *r, lk_recording *recording)
{
    char *is = lk_recording_text(recording);
    if (!r->common.quiet) printf("%s\n", is);
    lk_text_free(is);
    int code = r->sim ? run_on(r, recording, false) : EXIT_CLEAN;
    if (!r->gpu || code > EXIT_FINDINGS) return code;
    int there = run_on(r, recording, true);
    char *difference = r->sim && !there ? lk_recording_difference(recording) : NULL;
    if (difference) printf("%s%s\n", difference[0] ? "the two differ: " : "both left the same bytes", difference);
    if (difference && difference[0] && !code) {
        code = EXIT_FINDINGS;
        r->reporting.written = false; /* those of a run that passed */
        reporting_refused(&r->reporting, code, r->path, "the software GPU and the GPU leave different bytes");
    }
    lk_text_free(difference);
    return code ? code : there;
}

int cmd_replay(int argc, char **argv)
{
    struct replay r = { .sim = true };
    struct error e = { 0 };
    struct parser p = { .verb = VERB_replay, .self = &r, .option = take_option, .word = take_word };
    lk_recording *recording;
    if (!options_parse(&p, argc, argv, &e)) return cli_error_value(&e);
    r.common = p.common;
    if (!r.path) return cli_error("replay takes a recording, as in lockstep replay scale.rec");
    if (!reporting_streams(&r.reporting, &r.path, 1, &e)) return cli_error_value(&e);
    if (lk_recording_open(r.path, &recording) != LK_OK) {
        int bad = cli_error_status(LK_BAD_INPUT, lk_gpu_error(NULL));
        reporting_refused(&r.reporting, bad, r.path, lk_gpu_error(NULL));
        return bad;
    }
    if (!r.seeded) r.options.seed = lk_recording_seed(recording);
    int code = r.shrink ? shrink(&r, recording) : EXIT_CLEAN;
    if (!code) code = write_out(&r, recording);
    if (!code && !(r.emit && !strcmp(r.emit, "-"))) code = run_all(&r, recording);
    lk_recording_close(recording);
    reporting_refused(&r.reporting, code, r.path, NULL);
    return code == EXIT_FINDINGS ? reporting_code(&r.reporting) : code;
}
