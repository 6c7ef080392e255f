/* lockstep launch: kernels, one after the other, their arguments from the command line, one report on standard output.
 *
 * open every launch (launch_open.c): load -> find the kernel -> check the arguments against its parameters -> allocate
 * and fill; then for each: launch -> look at what is wanted of it; then report -> print. */
#include "cli/cli.h"
#include "launch/launch.h"
#include "cli/watch.h"
#include "verbs/profiling.h"
#include <inttypes.h>
#include <stdlib.h>

void launch_fill(struct session *s, lk_launch *l)
{
    const struct launch_options *o = s->o;
    const struct run_options *run = &s->all->asked->run;
    const void **args = NEW_ARRAY(&s->mem, const void *, o->args + 1);
    u32 *bytes = NEW_ARRAY(&s->mem, u32, o->args + 1);
    for (u32 i = 0; i < o->args; i++) {
        args[i] = s->buffer[i].value;
        bytes[i] = s->buffer[i].value_bytes;
    }
    *l = (lk_launch){ .size = sizeof *l,
                      .shared_bytes = o->shared,
                      .shared_optin = o->shared_optin,
                      .registers = o->registers,
                      .cooperative = o->cooperative,
                      .args = args,
                      .arg_bytes = bytes,
                      .arg_count = o->args,
                      .as_given = 1,
                      .trace = s->tracing.on ? &s->tracing.trace : NULL,
                      .contract = launch_by_contract(s) ? s->contract : NULL,
                      .order = run->order,
                      .orders = parts_in_streams(s->all->asked) ? 0 : run->orders,
                      .number = launch_of_several(s) ? s->number + 1 : 0,
                      .programmatic = o->programmatic };
    memcpy(l->grid, o->grid, sizeof l->grid);
    memcpy(l->block, o->block, sizeof l->block);
    memcpy(l->cluster, o->cluster, sizeof l->cluster);
}

static lk_status launch(struct session *s, lk_stats *stats)
{
    const struct run_options *run = &s->all->asked->run;
    lk_launch l;
    launch_fill(s, &l);
    const char *name = s->name;
    if (launch_of_several(s))
        name = arena_printf(&s->mem, "launch %u of %u, %s", s->number + 1, s->all->asked->launches, name);
    struct watch watch;
    watch_begin(&watch, &run->common, s->gpu, name);
    lk_status status = lk_kernel_launch(s->kernel, &l, stats);
    watch_end(&watch);
    fflush(stdout);
    return status;
}

static bool restore(struct pipeline *p, struct error *e)
{
    for (u32 k = 0; k < p->asked->launches; k++)
        if (!launch_args_restore(&p->launch[k], e)) return false;
    return true;
}

static int by_time(const void *a, const void *b)
{
    u64 x = *(const u64 *)a, y = *(const u64 *)b;
    return (x > y) - (x < y);
}

/* The run that was checked before counts as the warm-up; the same inputs are put back before each of these. */
static lk_status time_runs(struct pipeline *p, struct error *e)
{
    u32 n = p->asked->run.runs;
    u64 *t = NEW_ARRAY(&p->mem, u64, n);
    for (u32 i = 0; i < n; i++) {
        lk_stats stats;
        if (!restore(p, e)) return LK_SYSTEM;
        u64 from = time_ns();
        if (parts_in_streams(p->asked)) {
            u32 ran;
            lk_status status = parts_run(p, &ran, NULL, NULL, e);
            if (status != LK_OK || e->code) return status;
        }
        for (u32 k = 0; k < p->asked->launches && !parts_in_streams(p->asked); k++) {
            lk_status status = launch(&p->launch[k], &stats);
            if (status != LK_OK) return status;
        }
        t[i] = time_ns() - from;
    }
    qsort(t, n, sizeof *t, by_time);
    double median = n % 2 ? (double)t[n / 2] : ((double)t[n / 2 - 1] + (double)t[n / 2]) / 2;
    const char *on = p->asked->run.gpu.on;
    bool here = !on || !strcmp(on, "sim");
    printf("time: %.3f ms (min %.3f, %u runs)%s\n", median / 1e6, (double)t[0] / 1e6, n,
           here ? " on this processor: it says nothing about a GPU" : "");
    return LK_OK;
}

struct progress {       /* of the checked run */
    u32 ran;            /* launches that were begun */
    lk_status status;   /* the worst of them */
    const char *why;    /* for a status above LK_FINDINGS */
    u64 orders;         /* of the other orders, those that left the same bytes in every launch */
    u32 differs;        /* expectations that did not hold */
    struct text wanted; /* what --print and its like said of all but the last launch */
};

static bool any_wants(const struct pipeline *p)
{
    for (u32 k = 0; k < p->asked->launches; k++)
        if (p->asked->launch[k]->wants) return true;
    return false;
}

/* What is asked for, or, when nothing is, every buffer at the end: the report has to know before it is written. */
static void name_outputs(struct pipeline *p, const struct session *last)
{
    for (u32 i = 0; i < last->o->wants; i++) {
        const struct buffer *b = launch_buffer(last, last->o->want[i].launch, last->o->want[i].arg);
        if (!b->gone) lk_memory_output(p->gpu, b->address, b->bytes);
    }
    for (u32 k = 0; !any_wants(p) && k < p->asked->launches; k++) {
        const struct session *s = &p->launch[k];
        for (u32 i = 0; i < s->o->all; i++)
            if (s->buffer[i].bytes && !s->buffer[i].gone)
                lk_memory_output(p->gpu, s->buffer[i].address, s->buffer[i].bytes);
    }
}

/* What ran, by name: "init, step (n=100), step (n=100)". */
static const char *names(struct pipeline *p, bool dims)
{
    struct text t = { 0 };
    for (u32 k = 0; k < p->asked->launches; k++) {
        const struct session *s = &p->launch[k];
        const char *sizes = dims && launch_by_contract(s) ? lk_contract_dims(s->contract) : "";
        if (t.n > 200) {
            text_add(&t, " and %u more", p->asked->launches - k);
            break;
        }
        text_add(&t, "%s%s%s%s%s", k ? ", " : "", s->name, sizes[0] ? " (" : "", sizes, sizes[0] ? ")" : "");
    }
    const char *text = arena_str(&p->mem, (struct str){ t.p, (u32)t.n });
    text_free(&t);
    return text;
}

static bool stopped(const struct pipeline *p)
{
    for (u32 k = 0; k < p->asked->launches; k++)
        if (p->launch[k].tracing.stopped) return true;
    return false;
}

static bool write_report(struct pipeline *p, u64 orders, struct error *e)
{
    struct run_options *run = &p->asked->run;
    const char *alike =
        !run->orders || orders == UINT64_MAX ? ""
        : orders < run->orders
            ? arena_printf(&p->mem, ", the same bytes under %" PRIu64 " of %u other orders", orders, run->orders)
            : arena_printf(&p->mem, ", the same bytes under %u other order%s", run->orders, plural(run->orders));
    const char *clean = arena_printf(&p->mem, "%s: no findings%s%s", names(p, true), stopped(p) ? " until then" : "",
                                     alike);
    return reporting_write(&run->reporting, p->gpu, names(p, false), clean, &run->common, e);
}

/* One launch, checked. false: none comes after it; the status, or e, says why, or it did not run to its end. */
static bool run_one(struct session *s, struct progress *r, struct error *e)
{
    lk_stats stats = { 0 };
    const struct launch_options *o = s->o;
    bool last = s->number + 1 == s->all->asked->launches;
    if (!launch_sets_do(s, e) || !launch_trace_begin(o, &s->tracing, e)) return false;
    lk_status status = launch(s, &stats);
    r->ran++;
    r->status = MAX_OF(r->status, status);
    r->orders = MIN_OF(r->orders, stats.orders);
    if (status > LK_FINDINGS) r->why = arena_printf(&s->mem, "%s", lk_gpu_error(s->gpu));
    if (status <= LK_FINDINGS && !launch_trace_end(o, &s->tracing, e)) return false;
    if (s->all->asked->run.common.verbose)
        fprintf(stderr, "lockstep: %s: %" PRIu64 " block%s, %" PRIu64 " warp instructions\n", s->name, stats.ctas,
                plural(stats.ctas), stats.warp_instructions);
    bool ended = status == LK_OK || stats.ctas == (u64)o->grid[0] * o->grid[1] * o->grid[2];
    if (status > LK_FINDINGS || !ended || s->tracing.stopped || watch_signal()) return false;
    if (last) return true;
    /* what this launch is asked for, before the next one writes there */
    if (!launch_wants_do(s, &r->differs, &r->wanted, e)) return false;
    return !launch_by_contract(s) || any_wants(s->all) || s->all->asked->run.common.quiet || status != LK_OK ||
           launch_contract_show(s, &r->wanted, e);
}

/* What is asked of the last launch that ran, for after the report; where there are streams, of all that are in one. */
static bool look_last(struct session *s, struct progress *r, struct error *e)
{
    bool ok = true;
    for (u32 k = 0; k < s->number && ok; k++)
        if (s->all->launch[k].o->stream) ok = launch_wants_do(&s->all->launch[k], &r->differs, &r->wanted, e);
    ok = ok && launch_wants_do(s, &r->differs, &r->wanted, e);
    if (ok && r->status == LK_OK && launch_by_contract(s) && !any_wants(s->all) && !s->all->asked->run.common.quiet)
        ok = launch_contract_show(s, &r->wanted, e);
    return ok;
}

static void say_not_run(const struct pipeline *p, u32 ran)
{
    u32 all = p->asked->launches;
    if (ran == all) return;
    if (ran + 1 == all)
        printf("launch %u was not run, since launch %u did not end\n", all, ran);
    else
        printf("launches %u %s %u were not run, since launch %u did not end\n", ran + 1, ran + 2 == all ? "and" : "to",
               all, ran);
}

/* A clean report of a kernel with an oracle must not read as if its numbers had been compared. */
static void say_oracles(const struct pipeline *p)
{
    for (u32 k = 0; k < p->asked->launches && !p->asked->run.common.quiet; k++) {
        const struct session *s = &p->launch[k];
        const char *oracle = launch_by_contract(s) ? lk_contract_oracle(s->contract) : "";
        if (oracle[0])
            printf(
                "oracle `%s` was not evaluated: nothing here says that the values are right; `lockstep test` compares "
                "them\n",
                oracle);
    }
}

/* What is compared, whatever is checked: --expect, and the two sides of --on both. */
static u32 expectations(const struct pipeline *p)
{
    u32 n = p->asked->run.both;
    for (u32 k = 0; k < p->asked->launches; k++) {
        const struct launch_options *o = p->asked->launch[k];
        for (u32 i = 0; i < o->wants; i++) n += o->want[i].kind == WANT_EXPECT;
    }
    return n;
}

/* What the run has come to beside its findings. The exit code. */
static int conclude(struct pipeline *p, const struct progress *r, bool looked)
{
    lk_outcome o = { .failed = r->differs, .judged = expectations(p), .launched = r->ran, .why = r->why };
    o.unsupported = r->status == LK_UNSUPPORTED;
    o.undone = !looked || (r->status > LK_FINDINGS && r->status != LK_UNSUPPORTED && r->status != LK_NOTHING);
    if (r->status == LK_NOTHING) o.judged = o.launched = 0;
    return reporting_conclude(p->gpu, &o);
}

/* A launch that has failed without a finding: its error is said, and the files say it, too. */
static int failed(struct pipeline *p, struct progress *r)
{
    struct error unwritten = { 0 };
    conclude(p, r, true);
    if (!reporting_files(&p->asked->run.reporting, p->gpu, names(p, false), &unwritten)) cli_error_value(&unwritten);
    return cli_error_status(r->status, r->why);
}

static int finish(struct pipeline *p, struct progress *r, struct error *e)
{
    const struct run_options *run = &p->asked->run;
    struct session *last = &p->launch[r->ran - 1];
    /* a time is only worth printing for kernels that passed */
    if (r->status == LK_OK && run->runs) {
        r->status = time_runs(p, e);
        if (e->code) return cli_error_value(e);
        r->why = r->status > LK_FINDINGS ? arena_printf(&p->mem, "%s", lk_gpu_error(p->gpu)) : NULL;
    }
    if (r->status > LK_FINDINGS && !lk_report_errors(p->gpu)) return failed(p, r);
    if (r->status == LK_OK && !stopped(p)) /* a kernel that was stopped could not free */
        lk_report_leaks(p->gpu);
    name_outputs(p, last);
    struct error unread = { 0 };
    bool looked = look_last(last, r, &unread);
    int code = conclude(p, r, looked);
    bool written = write_report(p, r->orders, e);
    if (!written) cli_error_value(e);
    *e = (struct error){ 0 }; /* a report that cannot be written leaves the other outputs */
    say_not_run(p, r->ran);
    say_oracles(p);
    if (r->wanted.n) fwrite(r->wanted.p, 1, r->wanted.n, stdout);
    if (!looked) return cli_error_value(&unread);
    if (r->status > LK_FINDINGS) return cli_error_status(r->status, r->why);
    if (code == EXIT_NOTHING) return cli_error_status(LK_NOTHING, "nothing was checked: every check is off");
    return code ? code : written ? EXIT_CLEAN : EXIT_USAGE;
}

/* Every array of two runs under other seeds: the first difference is in the report of the first one. */
static bool same_arrays(struct pipeline *first, struct pipeline *p, struct error *e)
{
    bool all = true;
    for (u32 k = 0; k < first->asked->launches; k++) {
        const struct session *s = &first->launch[k], *t = &p->launch[k];
        for (u32 i = 0; i < s->o->all && !e->code; i++) {
            int same = 1;
            if (!s->buffer[i].bytes || s->buffer[i].gone || t->buffer[i].gone) continue;
            if (lk_report_compare(first->gpu, s->buffer[i].address, p->gpu, t->buffer[i].address, s->buffer[i].bytes,
                                  &same) != LK_OK)
                error_set(e, ERR_SYSTEM, "cannot compare %s of two runs: %.300s", s->buffer[i].name,
                          lk_gpu_error(first->gpu));
            all &= same != 0;
        }
    }
    return all;
}

/* --schedules with streams: the same parts with another seed, which draws another order of the operations that are
 * ready, and of blocks and warps. What is found there and was not before goes into the report of the first run, and so
 * does an array that differs. *same: there is neither. 0, or an exit code after saying why. */
static int run_other_order(struct pipeline *first, u64 seed, bool *same, struct error *e)
{
    struct pipeline p = { 0 };
    u32 ran;
    first->asked->run.gpu.seed = seed;
    int code = pipeline_open(&p, first->asked, e);
    if (code == EXIT_CLEAN && !restore(&p, e)) code = cli_error_value(e);
    if (code == EXIT_CLEAN) {
        lk_status status = parts_run(&p, &ran, NULL, NULL, e);
        *same = !lk_report_errors(p.gpu);
        if (e->code)
            code = cli_error_value(e);
        else if (status > LK_FINDINGS && *same)
            code = cli_error_status(status, lk_gpu_error(p.gpu));
        else if (*same)
            *same = same_arrays(first, &p, e);
        else
            lk_report_run(first->gpu, p.gpu);
    }
    pipeline_close(&p);
    return code ? code : e->code ? cli_error_value(e) : EXIT_CLEAN;
}

static int run_other_orders(struct pipeline *first, struct progress *r, struct error *e)
{
    struct run_options *run = &first->asked->run;
    u64 seed = run->gpu.seed;
    int code = EXIT_CLEAN;
    bool same = true;
    r->orders = 0;
    for (u32 k = 1; k <= run->orders && same && !code && !watch_signal(); k++) {
        code = run_other_order(first, run->inputs + k, &same, e);
        r->orders += same && !code;
    }
    run->gpu.seed = seed;
    return code;
}

static int run_checked(struct pipeline *p, struct error *e)
{
    struct progress r = { .orders = UINT64_MAX };
    if (!restore(p, e)) return cli_error_value(e);
    if (parts_in_streams(p->asked)) {
        r.status = parts_run(p, &r.ran, &r.differs, &r.wanted, e);
        if (r.status > LK_FINDINGS) r.why = arena_printf(&p->mem, "%s", lk_gpu_error(p->gpu));
    }
    for (u32 k = 0; k < p->asked->launches && !parts_in_streams(p->asked); k++)
        if (!run_one(&p->launch[k], &r, e)) break;
    int code = e->code ? cli_error_value(e) : EXIT_CLEAN;
    if (!code && parts_in_streams(p->asked) && p->asked->run.orders && r.status == LK_OK && !lk_report_errors(p->gpu))
        code = run_other_orders(p, &r, e);
    if (!code) code = finish(p, &r, e);
    text_free(&r.wanted);
    return code;
}

/* An uninitialised array starts with the same bytes on both: zeros, as on a fresh software GPU. */
static void zero_uninitialised(struct session *s)
{
    for (u32 i = 0; i < s->o->all; i++)
        if (s->buffer[i].bytes && !s->buffer[i].initial && !s->buffer[i].gone)
            lk_memory_fill(s->gpu, s->buffer[i].address, 0, s->buffer[i].bytes);
}

/* Every array of two runs. 0, or an exit code after saying what differs. */
static int compare(struct pipeline *sim, struct pipeline *gpu, const struct other_run *other, u32 *all, struct error *e)
{
    u32 arrays = 0, same = 0;
    for (u32 k = 0; k < sim->asked->launches; k++) {
        const struct session *s = &sim->launch[k], *t = &gpu->launch[k];
        for (u32 i = 0; i < s->o->all; i++) {
            bool is_same;
            if (!s->buffer[i].bytes || s->buffer[i].gone) continue;
            arrays++;
            if (!launch_same(&s->o->arg[i], &s->buffer[i], sim->gpu, other, t->buffer[i].address, &is_same, e))
                return cli_error_value(e);
            same += is_same;
        }
    }
    *all = arrays;
    return same == arrays ? EXIT_CLEAN : EXIT_FINDINGS;
}

static int compare_twin(struct pipeline *sim, struct pipeline *gpu, struct error *e)
{
    struct other_run other = { "both", "software GPU", lk_gpu_title(gpu->gpu), gpu->gpu };
    u32 arrays = 0;
    int code = compare(sim, gpu, &other, &arrays, e);
    if (code == EXIT_CLEAN && !sim->asked->run.common.quiet)
        printf("both: same bytes on %s (%u array%s)\n", other.two, arrays, plural(arrays));
    return code;
}

static lk_status launch_twins(struct pipeline *twin, struct error *e)
{
    lk_status worst = LK_OK;
    if (parts_in_streams(twin->asked)) {
        u32 ran;
        return parts_run(twin, &ran, NULL, NULL, e);
    }
    for (u32 k = 0; k < twin->asked->launches && worst <= LK_FINDINGS; k++) {
        if (!launch_sets_do(&twin->launch[k], e)) return LK_SYSTEM;
        lk_status status = launch(&twin->launch[k], NULL);
        worst = MAX_OF(worst, status);
    }
    return worst;
}

/* --on both, second half: the same launches on the real GPU, then every array compared. */
static int run_twin(struct pipeline *sim, struct error *e)
{
    struct pipeline twin = { 0 };
    sim->asked->run.gpu.on = "gpu";
    sim->asked->run.gpu.device = NULL;
    int code = pipeline_open(&twin, sim->asked, e);
    if (code == EXIT_CLEAN && !restore(&twin, e)) code = cli_error_value(e);
    if (code == EXIT_CLEAN) {
        for (u32 k = 0; k < twin.asked->launches; k++) zero_uninitialised(&twin.launch[k]);
        lk_status status = launch_twins(&twin, e);
        if (e->code)
            code = cli_error_value(e);
        else if (status > LK_FINDINGS)
            code = cli_error_status(status, lk_gpu_error(twin.gpu));
        else if (status == LK_FINDINGS)
            code = write_report(&twin, 0, e) ? EXIT_FINDINGS : cli_error_value(e);
        else
            code = compare_twin(sim, &twin, e);
    }
    pipeline_close(&twin);
    return code;
}

static int run(struct pipeline *p, struct request *asked, struct error *e)
{
    int code = pipeline_open(p, asked, e);
    if (code == EXIT_CLEAN) code = run_checked(p, e);
    if (!asked->run.both || code > EXIT_FINDINGS || watch_signal() || stopped(p)) return code;
    if (lk_report_errors(p->gpu)) {
        printf("both: not run on the GPU, since the findings come first\n");
        return code;
    }
    int twin = run_twin(p, e);
    if (twin && !code) { /* the files have passed by now */
        struct error unwritten = { 0 };
        lk_outcome o = { .failed = twin == EXIT_FINDINGS, .undone = twin != EXIT_FINDINGS, .judged = 1 };
        o.why = twin == EXIT_FINDINGS ? "the same launches on the GPU differ" : e->text;
        code = reporting_conclude(p->gpu, &o);
        if (!reporting_files(&asked->run.reporting, p->gpu, names(p, false), &unwritten)) cli_error_value(&unwritten);
    }
    return MAX_OF(code, twin);
}

/* Writes one of the files that a profile is asked for; the text is released. */
static bool profile_put(const struct run_options *run, const char *path, char *text, struct error *e)
{
    bool ok = text ? reporting_put(&run->reporting, path, text, strlen(text), e)
                   : error_set(e, ERR_MEMORY, "no memory for the profile %.200s", path);
    lk_text_free(text);
    return ok;
}

/* The JSON of the profile, with what was measured, for lk_text_free; the table of that is printed. */
static char *profile_json(struct pipeline *p, const struct profiling *profiling, struct error *e)
{
    char *json = lk_profile_json(p->gpu);
    struct text joined = { 0 }, table = { 0 };
    if (json && profiling->hardware.kernels) {
        if (hardware_join(&profiling->hardware, str_of(json), &joined, &table, e) && !p->asked->run.common.quiet)
            fputs(table.p, stdout);
        text_free(&table);
        lk_text_free(json);
        json = joined.p;
    }
    if (json && profiling->pictures.n) {
        struct text more = { 0 };
        pictures_join(&profiling->pictures, str_of(json), &more);
        lk_text_free(json);
        json = more.p;
    }
    return json;
}

/* What was counted: text after the report, JSON and page in place of the report's. */
static int show_profile(struct pipeline *p, const struct profiling *profiling, const struct reporting *files,
                        struct error *e)
{
    const struct run_options *run = &p->asked->run;
    char *text = lk_profile_text(p->gpu, cli_color(&run->common), profiling->lines);
    if (text && text[0] && !run->common.quiet) {
        puts("");
        cli_put(stdout, text, strlen(text));
    }
    lk_text_free(text);
    char *json = profile_json(p, profiling, e);
    bool ok = !e->code;
    if (ok && files->html) ok = profile_put(run, files->html, json ? lk_page(json, strlen(json)) : NULL, e);
    if (ok && files->json) return profile_put(run, files->json, json, e) ? EXIT_CLEAN : cli_error_value(e);
    lk_text_free(json);
    return ok ? EXIT_CLEAN : cli_error_value(e);
}

/* A launch that is counted runs on the software GPU. */
static int run_counted(struct pipeline *p, struct request *asked, const struct profiling *profiling, struct error *e)
{
    struct reporting files = asked->run.reporting;
    asked->run.gpu.profile = 1;
    asked->run.reporting.json = asked->run.reporting.html = NULL;
    int code = run(p, asked, e);
    if (code > EXIT_FINDINGS || !p->gpu) return code;
    int shown = show_profile(p, profiling, &files, e);
    return shown ? shown : code;
}

int cmd_launch(int argc, char **argv) { return launch_profiled(argc, argv, NULL); }

int launch_profiled(int argc, char **argv, const struct profiling *profiling)
{
    struct arena options = { 0 };
    struct request asked = { 0 };
    struct pipeline p = { 0 };
    struct error e = { 0 };
    bool ok = launch_options_parse(&options, argc, argv, &asked, &e);
    int code = !ok ? cli_error_value(&e) : profiling ? run_counted(&p, &asked, profiling, &e) : run(&p, &asked, &e);
    reporting_refused(&asked.run.reporting, code, "launch", e.code ? e.text : NULL);
    code = code == EXIT_FINDINGS ? reporting_code(&asked.run.reporting) : code;
    pipeline_close(&p);
    arena_free(&options);
    /* as shells say it of a program that a signal ended */
    return watch_signal() ? EXIT_SIGNAL + watch_signal() : code;
}
