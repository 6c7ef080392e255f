/* lockstep launch: one kernel, its arguments from the command line, its report on standard output.
 *
 * load -> find the kernel -> check the arguments against its parameters -> allocate and fill -> launch -> report ->
 * print, save, compare. Everything that can be wrong with the command line is said before anything runs. */
#include "cli/cli.h"
#include "cli/launch.h"
#include "cli/watch.h"
#include <inttypes.h>
#include <stdlib.h>

static bool find_kernel(struct session *s, struct error *e)
{
    const struct launch_options *o = s->o;
    const char *name = o->kernel;
    /* of several kernels, the only one with a contract is meant */
    if (!name && lk_module_kernel_count(s->module) > 1 && s->contract && lk_contract_kernel(s->contract, 0) &&
        !lk_contract_kernel(s->contract, 1))
        name = lk_contract_kernel(s->contract, 0);
    s->kernel = lk_module_kernel(s->module, name);
    if (!s->kernel) return error_set(e, ERR_INPUT, "%.500s", lk_gpu_error(s->gpu));
    s->name = lk_kernel_plain(s->kernel);
    signature_read(&s->mem, o->path, s->name, &s->signature);
    if (s->signature.params != lk_kernel_param_count(s->kernel)) s->signature = (struct signature){ 0 };
    return true;
}

static lk_status launch(struct session *s, lk_stats *stats)
{
    const struct launch_options *o = s->o;
    const void **args = NEW_ARRAY(&s->mem, const void *, o->args + 1);
    u32 *bytes = NEW_ARRAY(&s->mem, u32, o->args + 1);
    for (u32 i = 0; i < o->args; i++) {
        args[i] = s->buffer[i].value;
        bytes[i] = s->buffer[i].value_bytes;
    }
    lk_launch l = { .size = sizeof l,
                    .shared_bytes = o->shared,
                    .shared_optin = o->shared_optin,
                    .registers = o->registers,
                    .cooperative = o->cooperative,
                    .args = args,
                    .arg_bytes = bytes,
                    .arg_count = o->args,
                    .trace = s->tracing.on ? &s->tracing.trace : NULL,
                    .contract = launch_by_contract(s) ? s->contract : NULL,
                    .order = o->order,
                    .orders = o->orders };
    memcpy(l.grid, o->grid, sizeof l.grid);
    memcpy(l.block, o->block, sizeof l.block);
    struct watch watch;
    watch_begin(&watch, &o->common, s->gpu, s->name);
    lk_status status = lk_kernel_launch(s->kernel, &l, stats);
    watch_end(&watch);
    fflush(stdout);
    return status;
}

static int by_time(const void *a, const void *b)
{
    u64 x = *(const u64 *)a, y = *(const u64 *)b;
    return (x > y) - (x < y);
}

/* The run that was checked before counts as the warm-up; the same inputs are put back before each of these. */
static lk_status time_runs(struct session *s, struct error *e)
{
    u32 n = s->o->runs;
    u64 *t = NEW_ARRAY(&s->mem, u64, n);
    for (u32 i = 0; i < n; i++) {
        lk_stats stats;
        if (!launch_args_restore(s, e)) return LK_SYSTEM;
        u64 from = time_ns();
        lk_status status = launch(s, &stats);
        t[i] = time_ns() - from;
        if (status != LK_OK) return status;
    }
    qsort(t, n, sizeof *t, by_time);
    double median = n % 2 ? (double)t[n / 2] : ((double)t[n / 2 - 1] + (double)t[n / 2]) / 2;
    printf("time: %.3f ms (min %.3f, %u runs)\n", median / 1e6, (double)t[0] / 1e6, n);
    return LK_OK;
}

/* What is asked for, or, when nothing is, every buffer: the report has to know before it is written. */
static void name_outputs(struct session *s)
{
    const struct launch_options *o = s->o;
    for (u32 i = 0; i < o->wants; i++)
        lk_memory_output(s->gpu, s->buffer[o->want[i].arg].address, s->buffer[o->want[i].arg].bytes);
    for (u32 i = 0; !o->wants && i < o->all; i++)
        if (s->buffer[i].bytes) lk_memory_output(s->gpu, s->buffer[i].address, s->buffer[i].bytes);
}

static bool write_report(struct session *s, u64 orders, struct error *e)
{
    const struct launch_options *o = s->o;
    const char *dims = launch_by_contract(s) ? lk_contract_dims(s->contract) : "";
    const char *alike =
        !o->orders ? ""
        : orders < o->orders
            ? arena_printf(&s->mem, ", the same bytes under %" PRIu64 " of %u other orders", orders, o->orders)
            : arena_printf(&s->mem, ", the same bytes under %u other order%s", o->orders, o->orders == 1 ? "" : "s");
    const char *clean = arena_printf(&s->mem, "%s%s%s%s: no findings%s%s", s->name, dims[0] ? " (" : "", dims,
                                     dims[0] ? ")" : "", s->tracing.stopped ? " until then" : "", alike);
    return reporting_write(&o->reporting, s->gpu, s->name, clean, &o->common, e);
}

static int run_checked(struct session *s, struct error *e)
{
    const struct launch_options *o = s->o;
    lk_stats stats = { 0 };
    if (!launch_args_restore(s, e) || !launch_trace_begin(o, &s->tracing, e)) return cli_error_value(e);
    lk_status status = launch(s, &stats);
    const char *why = status > LK_FINDINGS ? arena_printf(&s->mem, "%s", lk_gpu_error(s->gpu)) : NULL;
    if (status <= LK_FINDINGS && !launch_trace_end(o, &s->tracing, e)) return cli_error_value(e);
    if (o->common.verbose)
        fprintf(stderr, "lockstep: %s: %" PRIu64 " block%s, %" PRIu64 " warp instructions\n", s->name, stats.ctas,
                stats.ctas == 1 ? "" : "s", stats.warp_instructions);
    /* a time is only worth printing for a kernel that passed */
    if (status == LK_OK && o->runs) {
        status = time_runs(s, e);
        if (e->code) return cli_error_value(e);
        why = status > LK_FINDINGS ? arena_printf(&s->mem, "%s", lk_gpu_error(s->gpu)) : NULL;
    }
    if (status > LK_FINDINGS && !lk_report_errors(s->gpu)) return cli_error_status(status, why);
    u32 differs = 0;
    if (status == LK_OK && !s->tracing.stopped) /* a kernel that was stopped could not free */
        lk_report_leaks(s->gpu);
    name_outputs(s);
    if (!write_report(s, stats.orders, e) || !launch_wants_do(&s->mem, o, s->gpu, s->buffer, &differs, e))
        return cli_error_value(e);
    if (status > LK_FINDINGS) return cli_error_status(status, why);
    if (launch_by_contract(s) && !o->wants && !o->common.quiet && status == LK_OK &&
        !launch_contract_show(s->contract, o, s->gpu, s->buffer, e))
        return cli_error_value(e);
    return lk_report_errors(s->gpu) || differs ? EXIT_FINDINGS : EXIT_CLEAN;
}

static bool check_shape(struct session *s, struct error *e)
{
    const struct launch_options *o = s->o;
    bool grid = o->grid[0], block = o->block[0];
    const char *other = s->contract && !o->merged ? lk_contract_kernel(s->contract, 0) : NULL;
    if (other && (!grid || !block))
        return error_set(
            e, ERR_INPUT,
            "the contract speaks of `%.60s`, not of `%.60s`: say %s, or add a block for it, lockstep-contract(5)",
            other, lk_kernel_plain(s->kernel),
            grid    ? "--block X[,Y[,Z]]"
            : block ? "--grid X[,Y[,Z]]"
                    : "--grid X[,Y[,Z]] --block X[,Y[,Z]]");
    if (grid && block) return true;
    u32 line;
    bool has_main;
    const char *there = signature_launch(&s->mem, o->path, s->name, &line, &has_main), *said = "";
    if (there) said = arena_printf(&s->mem, "; line %u has %.120s, which is not run", line, there);
    if (!there && has_main) said = "; its main is not run";
    error_set(e, ERR_INPUT,
              "the shape of the launch is missing: say %s%s%s, or write a contract, lockstep-contract(5)%s",
              grid ? "" : "--grid X[,Y[,Z]]", grid || block ? "" : " ", block ? "" : "--block X[,Y[,Z]]", said);
    snprintf(e->excerpt, sizeof e->excerpt, "%s\n", launch_example(s));
    return false;
}

/* What the contract has for the compiler: the flags of the block that is meant, and the templates that its names
 * instantiate. Returns the names. */
static const char *const *contract_to_compiler(struct session *s, u32 *n)
{
    struct launch_options *o = s->o;
    VEC(const char *) names = { 0 };
    if (o->kernel) VEC_PUSH(&s->mem, &names, o->kernel);
    for (u32 i = 0; s->contract && lk_contract_kernel(s->contract, i); i++) {
        const char *block = lk_contract_kernel(s->contract, i);
        bool meant = o->kernel ? !strcmp(block, o->kernel) : !i && !lk_contract_kernel(s->contract, 1);
        if (meant) compiling_own(&s->mem, &o->compiling, lk_contract_flags(s->contract, i));
        if (!o->kernel && strchr(block, '<')) VEC_PUSH(&s->mem, &names, block);
    }
    *n = names.n;
    return names.p;
}

/* Everything up to the launch. 0, or an exit code after saying why. */
static int open_session(struct session *s, struct error *e)
{
    struct launch_options *o = s->o;
    lk_status status = lk_gpu_create(&o->gpu, &s->gpu);
    if (status != LK_OK) return cli_error_status(status, lk_gpu_error(NULL));
    int code = launch_contract_read(s->gpu, o, &s->contract, e);
    if (code) return code;
    u32 names;
    const char *const *name = contract_to_compiler(s, &names);
    status = compiling_load(&o->compiling, s->gpu, o->path, name, names, &s->module);
    if (status != LK_OK) return compiling_failed(s->gpu, o->path, status);
    if (o->common.verbose && lk_module_note(s->module)[0])
        fprintf(stderr, "lockstep: %s\n%s", lk_module_note(s->module), lk_gpu_log(s->gpu));
    /* without --device any PTX runs; the card that the reports name would refuse this one */
    u32 target = (u32)strtoul(lk_module_arch(s->module) + 3, NULL, 10);
    if (target > lk_gpu_arch(s->gpu) && !o->common.quiet)
        fprintf(stderr,
                "lockstep: %s is PTX for sm_%u, which %s (sm_%u) refuses; --device sm_%u runs it as such a card\n",
                o->path, target, lk_gpu_title(s->gpu), lk_gpu_arch(s->gpu), target);
    if (!reporting_begin(&o->reporting, s->gpu, e) || !find_kernel(s, e)) return cli_error_value(e);
    code = launch_contract_bind(&s->mem, s->gpu, s->contract, s->kernel, &s->signature, o, e);
    if (code) return code;
    if (!check_shape(s, e) || !launch_args_check(s, e) || !launch_args_make(s, e) || !launch_sets_do(s, e))
        return cli_error_value(e);
    return EXIT_CLEAN;
}

static void close_session(struct session *s)
{
    for (u32 i = 0; s->buffer && i < s->o->all; i++) base_free(s->buffer[i].initial);
    lk_contract_free(s->contract);
    if (s->module) lk_module_unload(s->module);
    if (s->gpu) lk_gpu_destroy(s->gpu);
    arena_free(&s->mem);
}

/* An uninitialised array starts with the same bytes on both: zeros, as on a fresh software GPU. */
static void zero_uninitialised(struct session *s)
{
    for (u32 i = 0; i < s->o->all; i++)
        if (s->buffer[i].bytes && !s->buffer[i].initial)
            lk_memory_fill(s->gpu, s->buffer[i].address, 0, s->buffer[i].bytes);
}

static int compare_sessions(struct session *sim, struct session *gpu, struct error *e)
{
    const struct launch_options *o = sim->o;
    u32 arrays = 0, same = 0;
    for (u32 i = 0; i < o->all; i++) {
        bool is_same;
        if (!sim->buffer[i].bytes) continue;
        arrays++;
        if (!launch_same(&o->arg[i], &sim->buffer[i], sim->gpu, gpu->gpu, gpu->buffer[i].address, &is_same, e))
            return cli_error_value(e);
        same += is_same;
    }
    if (same == arrays && !o->common.quiet)
        printf("both: same bytes on %s (%u array%s)\n", lk_gpu_title(gpu->gpu), arrays, arrays == 1 ? "" : "s");
    return same == arrays ? EXIT_CLEAN : EXIT_FINDINGS;
}

/* --on both, second half: the same launch on the real GPU, then every array compared. */
static int run_twin(struct session *sim, struct error *e)
{
    struct session twin = { .o = sim->o };
    sim->o->gpu.on = "gpu";
    sim->o->gpu.device = NULL;
    int code = open_session(&twin, e);
    if (code == EXIT_CLEAN && !launch_args_restore(&twin, e)) code = cli_error_value(e);
    if (code == EXIT_CLEAN) {
        zero_uninitialised(&twin);
        lk_status status = launch(&twin, NULL);
        if (status > LK_FINDINGS)
            code = cli_error_status(status, lk_gpu_error(twin.gpu));
        else if (status == LK_FINDINGS)
            code = write_report(&twin, 0, e) ? EXIT_FINDINGS : cli_error_value(e);
        else
            code = compare_sessions(sim, &twin, e);
    }
    close_session(&twin);
    return code;
}

static int run_sessions(struct session *s, struct error *e)
{
    int code = open_session(s, e);
    if (code == EXIT_CLEAN) code = run_checked(s, e);
    if (!s->o->both || code > EXIT_FINDINGS || watch_signal() || s->tracing.stopped) return code;
    if (lk_report_errors(s->gpu)) {
        printf("both: not run on the GPU, since the findings come first\n");
        return code;
    }
    int twin = run_twin(s, e);
    return MAX_OF(code, twin);
}

int cmd_launch(int argc, char **argv)
{
    struct session s = { 0 };
    struct error e = { 0 };
    s.o = NEW(&s.mem, struct launch_options);
    int code = launch_options_parse(&s.mem, argc, argv, s.o, &e) ? run_sessions(&s, &e) : cli_error_value(&e);
    code = code == EXIT_FINDINGS ? reporting_code(&s.o->reporting) : code;
    struct arena options = s.mem; /* the options lie in it */
    s.mem = (struct arena){ 0 };
    close_session(&s);
    arena_free(&options);
    /* as shells say it of a program that a signal ended */
    return watch_signal() ? EXIT_SIGNAL + watch_signal() : code;
}
