/* The command line of `lockstep launch`: where each of its options in option.def goes. */
#include "cli/cli.h"
#include "launch/launch.h"
#include <math.h>
#include <stdlib.h>

#define OPTIONS_launch OWN_ROWS
#include "cli/option_own.h"

enum { BUDGET_DEFAULT_G = 20 };    /* 10^9 warp instructions: minutes, by when nobody waits any more */
enum { TIME_LIMIT_DEFAULT = 600 }; /* seconds: where each instruction takes long, the budget alone is hours */

/* X[,Y[,Z]], each at least `least`; `rest` stands for those not given. */
static bool parse_numbers(const struct row *opt, const char *text, u64 least, u32 rest, u32 out[3], struct error *e)
{
    const char *p = text;
    u64 v[3] = { rest, rest, rest };
    for (u32 i = 0;; i++) {
        size_t n = strcspn(p, ",");
        char one[24];
        snprintf(one, sizeof one, "%.*s", (int)MIN_OF(n, sizeof one - 1), p);
        if (i == 3 || !option_whole(one, UINT32_MAX, &v[i]) || v[i] < least)
            return error_set(e, ERR_INPUT, "%s %.60s: one to three numbers%s with commas, as in %s 4,2", opt->name,
                             text, least ? " above 0" : "", opt->name);
        p += n;
        if (!*p) break;
        p++;
    }
    for (u32 i = 0; i < 3; i++) out[i] = (u32)v[i];
    return true;
}

/* K, K:FROM:TO or K=FILE. */
static bool parse_want(struct arena *a, const struct row *opt, const char *text, struct launch_options *o,
                       struct error *e)
{
    if (o->wants == LAUNCH_WANTS)
        return error_set(e, ERR_INPUT, "more than %d of --print, --save and --expect", LAUNCH_WANTS);
    struct want *w = &o->want[o->wants++];
    bool print = opt->id == O_launch_PRINT;
    const char *cut = strchr(text, print ? ':' : '=');
    w->kind = print ? WANT_PRINT : opt->id == O_launch_SAVE ? WANT_SAVE : WANT_EXPECT;
    w->key = arena_str(a, (struct str){ text, cut ? (u32)(cut - text) : (u32)strlen(text) });
    if (!w->key[0] || (!print && (!cut || !cut[1])))
        return error_set(e, ERR_INPUT, "%s %.60s: this is %s %s, with K the number or name of an argument", opt->name,
                         text, opt->name, opt->operand);
    if (!print) {
        w->file = cut + 1;
        return true;
    }
    if (!cut) return true;
    const char *second = strchr(cut + 1, ':');
    const char *from = arena_str(a, (struct str){ cut + 1, second ? (u32)(second - cut - 1) : 0 });
    w->ranged = true;
    if (!second || !option_whole(from, UINT64_MAX >> 1, &w->from) ||
        !option_whole(second + 1, UINT64_MAX >> 1, &w->to) || w->from >= w->to)
        return error_set(e, ERR_INPUT, "%s %.60s: a range is FROM:TO with FROM below TO, as in --print 0:16:32",
                         opt->name, text);
    return true;
}

/* NAME=VALUE */
static bool parse_set(struct arena *a, const char *text, struct launch_options *o, struct error *e)
{
    const char *cut = strchr(text, '=');
    if (o->sets == LAUNCH_WANTS) return error_set(e, ERR_INPUT, "more than %d of --set", LAUNCH_WANTS);
    if (!cut || cut == text || !cut[1])
        return error_set(e, ERR_INPUT, "--set %.60s: this is --set NAME=ARG, as in --set factor=f32:2", text);
    struct set *v = &o->set[o->sets++];
    v->name = arena_str(a, (struct str){ text, (u32)(cut - text) });
    v->text = cut + 1;
    if (!arg_parse(a, 0, v->text, &v->arg, e)) {
        snprintf(e->where, sizeof e->where, "--set %.60s", v->name);
        return false;
    }
    return arg_measure(&v->arg, 0, e);
}

/* NAME[,NAME] */
static bool parse_after(struct arena *a, const char *text, struct launch_options *o, struct error *e)
{
    for (const char *p = text;; p++) {
        size_t n = strcspn(p, ",");
        if (o->afters == LAUNCH_AFTER) return error_set(e, ERR_INPUT, "more than %d names of --after", LAUNCH_AFTER);
        if (!n)
            return error_set(e, ERR_INPUT, "--after %.60s: names of parts with commas between, as in --after up,scale",
                             text);
        o->after[o->afters++] = arena_str(a, (struct str){ p, (u32)n });
        p += n;
        if (!*p) return true;
    }
}

/* An option of all launches. */
static bool apply_run(struct arena *a, const struct row *opt, const char *text, struct run_options *run,
                      struct error *e)
{
    u64 n = 0;
    char *end;
    switch (opt->id) {
    case OWN_ON:
        run->both = !strcmp(text, "both");
        run->gpu.on = run->both ? "sim" : text;
        return !strcmp(run->gpu.on, "sim") || !strcmp(text, "gpu") || !strncmp(text, "gpu:", 4) ||
               error_set(e, ERR_INPUT, "--on %.60s: sim, gpu, gpu:N or both belongs here", text);
    case OWN_DEVICE: run->gpu.device = text; return true;
    case OWN_SEED: return option_number(opt, text, UINT64_MAX, &run->gpu.seed, e) && (run->gpu.seeded = 1, true);
    case OWN_THREADS: return option_number(opt, text, 4096, &n, e) && (run->gpu.threads = (u32)n, true);
    case OWN_CHECK:
        run->gpu.check = run->gpu.check ? arena_printf(a, "%s,%s", run->gpu.check, text) : text;
        return true; /* given again: more of them */
    case OWN_NO_CHECK:
        run->gpu.no_check = run->gpu.no_check ? arena_printf(a, "%s,%s", run->gpu.no_check, text) : text;
        return true;
    case OWN_BUDGET: return option_number(opt, text, UINT64_MAX, &run->gpu.budget, e);
    case OWN_TIME_LIMIT:
        run->gpu.time_limit = double_read(text, &end);
        return (end != text && !*end && run->gpu.time_limit >= 0 && isfinite(run->gpu.time_limit)) ||
               error_set(e, ERR_INPUT, "--time-limit %.60s: seconds belong here, from 0 on, as in --time-limit 3600",
                         text);
    case OWN_TIME:
        n = 10;
        if (text && (!option_number(opt, text, 1000000, &n, e) || !n))
            return error_set(e, ERR_INPUT, "--time %.60s: at least one run", text);
        run->runs = (u32)n;
        return true;
    case OWN_SCHEDULES:
        return option_number(opt, text, 1000000, &n, e) && (run->orders = (u32)n, run->gpu.seeded = 1, true);
    case OWN_ORDER: return option_number(opt, text, 1000000, &n, e) && (run->order = (u32)n, run->gpu.seeded = 1, true);
    case OWN_GRAPH:
        return (option_number(opt, text, 1000000, &n, e) && n && (run->graphs = (u32)n, true)) ||
               error_set(e, ERR_INPUT, "--graph %.60s: how often the graph is launched, at least once", text);
    default: CHECK(!"an option of all launches without its case");
    }
}

static bool parse_priority(const char *text, s32 *out, struct error *e)
{
    char *end;
    *out = (s32)strtol(text, &end, 10);
    return (end != text && !*end && *out >= -5 && *out <= 0) ||
           error_set(e, ERR_INPUT, "--priority %.60s: a number from -5, the most urgent, to 0 belongs here", text);
}

/* An option of one launch, `o`, or of them all. */
static bool apply(struct arena *a, const struct row *opt, const char *text, struct launch_options *o,
                  struct run_options *run, struct error *e)
{
    u64 n = 0;
    char *end;
    if (opt->id >= O_launch_COMPILER && opt->id <= O_launch_FRESH)
        return compiling_option(a, &o->compiling, opt->id - O_launch_COMPILER, text, e);
    if (opt->id >= O_launch_JSON && opt->id <= O_launch_ERROR_EXITCODE)
        return reporting_option(&run->reporting, opt->id - O_launch_JSON, opt, text, e);
    switch ((enum own_option)opt->id) {
    case OWN_ON:
    case OWN_DEVICE:
    case OWN_SEED:
    case OWN_THREADS:
    case OWN_CHECK:
    case OWN_NO_CHECK:
    case OWN_BUDGET:
    case OWN_TIME_LIMIT:
    case OWN_TIME:
    case OWN_SCHEDULES:
    case OWN_ORDER:
    case OWN_GRAPH: return apply_run(a, opt, text, run, e);
    case OWN_STREAM: o->stream = text; return true;
    case OWN_NON_BLOCKING: return o->non_blocking = true;
    case OWN_PROGRAMMATIC: return o->programmatic = true;
    case OWN_PRIORITY: return parse_priority(text, &o->priority, e);
    case OWN_NAME: o->label = text; return true;
    case OWN_AFTER: return parse_after(a, text, o, e);
    case OWN_GRID: return parse_numbers(opt, text, 1, 1, o->grid, e);
    case OWN_BLOCK: return parse_numbers(opt, text, 1, 1, o->block, e);
    case OWN_CLUSTER: return parse_numbers(opt, text, 1, 1, o->cluster, e);
    case OWN_SHARED: return option_number(opt, text, UINT32_MAX, &n, e) && (o->shared = (u32)n, o->shared_given = true);
    case OWN_SHARED_OPTIN: return option_number(opt, text, UINT32_MAX, &n, e) && (o->shared_optin = (u32)n, true);
    case OWN_THREAD_REGISTERS: return option_number(opt, text, 255, &n, e) && (o->registers = (u32)n, true);
    case OWN_COOPERATIVE: return o->cooperative = true;
    case OWN_PRINT:
    case OWN_SAVE:
    case OWN_EXPECT: return parse_want(a, opt, text, o, e);
    case OWN_TOLERANCE:
        o->tolerance = double_read(text, &end);
        return (end != text && !*end && o->tolerance >= 0 && isfinite(o->tolerance)) ||
               error_set(e, ERR_INPUT, "--tolerance %.60s: a number from 0 on belongs here, as in --tolerance 1e-5",
                         text);
    case OWN_TRACE: o->trace_file = text; return true;
    case OWN_TRACE_CTA: o->trace.one_cta = 1; return parse_numbers(opt, text, 0, 0, o->trace.cta, e);
    case OWN_TRACE_WARP:
        return option_number(opt, text, UINT32_MAX, &n, e) && (o->trace.one_warp = 1, o->trace.warp = (u32)n, true);
    case OWN_TRACE_LINE: o->trace.lines = text; return true;
    case OWN_BREAK: o->trace.break_at = text; return true;
    case OWN_DIM: return launch_dim_parse(a, text, o, e);
    case OWN_CONFIG: return launch_config_parse(a, text, o, e);
    case OWN_CASE: o->case_line = text; return true;
    case OWN_CONTRACT: o->contract = text; return true;
    case OWN_SET: return parse_set(a, text, o, e);
    case OWN_NO_CONTRACT: return o->no_contract = true;
    }
    CHECK(!"an option of launch without its case");
}

struct reading {
    struct arena *a;
    struct request *r;
    struct launch_options *o; /* the launch that is being read */
    VEC(struct launch_options *) all;
};

/* What is wrong in one launch of several says in which. */
static bool in_launch(const struct reading *r, bool ok, struct error *e)
{
    char where[sizeof e->where];
    if (ok || r->all.n < 2) return ok;
    snprintf(where, sizeof where, "launch %u%s%.200s", r->all.n, e->where[0] ? ", " : "", e->where);
    memcpy(e->where, where, sizeof where);
    return false;
}

static bool read_option(void *self, const struct row *opt, const char *value, struct error *e)
{
    struct reading *r = self;
    return in_launch(r, apply(r->a, opt, value, r->o, &r->r->run, e), e);
}

/* In the first launch, names are only those given on the command line: a word that is not one of them is said to be
 * wrong before anything is compiled. */
static bool is_given(const struct launch_options *o, const struct arg *g)
{
    for (u32 i = 0; i < o->args; i++)
        if (o->arg[i].named && !strcmp(o->arg[i].name, g->of)) return true;
    return false;
}

static bool read_arg(struct reading *r, const char *word, struct error *e)
{
    struct launch_options *o = r->o;
    if (o->args == LAUNCH_ARGS) return error_set(e, ERR_INPUT, "more than %d arguments", LAUNCH_ARGS);
    struct arg *g = &o->arg[o->args];
    if (!arg_parse(r->a, o->args, word, g, e)) return false;
    if (g->kind == ARG_SAME && g->of && r->all.n == 1 && !is_given(o, g))
        return arg_error(e, o->args, word, word, "an argument is %s %s; no argument before it has the name %.40s",
                         arg_forms, scalar_names, g->of);
    return ++o->args;
}

static bool read_word(void *self, const char *word, struct error *e)
{
    struct reading *r = self;
    struct launch_options *o = r->o;
    const char *before = NULL; /* the file of the last launch */
    for (u32 k = r->all.n - 1; k-- > 0 && !before;) before = r->all.p[k]->path;
    if (!o->path && before && word[0] == ':' && word[1]) { /* another kernel of the same file */
        o->path = before;
        o->kernel = word + 1;
        return true;
    }
    if (o->part) {
        bool arg;
        if (!in_launch(r, part_read_word(o, word, &arg, e), e)) return false;
        return !arg || in_launch(r, read_arg(r, word, e), e);
    }
    if (!o->path && part_find(word, &o->part)) return true;
    if (!o->path) return in_launch(r, compiling_target(r->a, "launch", word, &o->path, &o->kernel, e), e);
    return in_launch(r, read_arg(r, word, e), e);
}

static bool needs_file(const struct reading *r, struct error *e)
{
    if (r->o->part) return in_launch(r, part_complete(r->o, e), e);
    if (r->o->path) return true;
    if (r->all.n == 1)
        return error_set(e, ERR_INPUT, "launch needs a .ptx or .cu file; lockstep launch --help shows an example");
    return error_set(
        e, ERR_INPUT,
        "after -- comes the next launch: FILE.cu:KERNEL, or :KERNEL of the same file, its options and its arguments");
}

/* The next launch; what was said to the compiler holds for it, too. */
static bool read_next(void *self, struct error *e)
{
    struct reading *r = self;
    const struct launch_options *before = r->o;
    if (before && !needs_file(r, e)) return false;
    if (r->all.n == LAUNCH_MOST) return error_set(e, ERR_INPUT, "more than %d launches", LAUNCH_MOST);
    r->o = NEW(r->a, struct launch_options);
    if (before) r->o->compiling = before->compiling;
    VEC_PUSH(r->a, &r->all, r->o);
    return true;
}

/* Files that are written, against those that are read. */
static bool check_files(struct arena *a, struct request *r, struct error *e)
{
    VEC(const char *) reads = { 0 };
    struct reporting *reporting = &r->run.reporting;
    for (u32 k = 0; k < r->launches; k++) {
        const struct launch_options *o = r->launch[k];
        VEC_PUSH(a, &reads, o->path);
        VEC_PUSH(a, &reads, o->contract);
        for (u32 i = 0; i < o->compiling.link.n; i++) VEC_PUSH(a, &reads, o->compiling.link.p[i]);
        for (u32 i = 0; i < o->args; i++)
            if (o->arg[i].kind == ARG_BUFFER && o->arg[i].fill.kind == FILL_FILE)
                VEC_PUSH(a, &reads, o->arg[i].fill.file);
        for (u32 i = 0; i < o->wants; i++)
            if (o->want[i].kind == WANT_EXPECT) VEC_PUSH(a, &reads, o->want[i].file);
    }
    for (u32 i = 0; i < reporting->suppressions; i++) VEC_PUSH(a, &reads, reporting->suppress[i]);
    for (u32 k = 0; k < r->launches; k++) {
        const struct launch_options *o = r->launch[k];
        for (u32 i = 0; i < o->wants; i++)
            if (o->want[i].kind == WANT_SAVE && !option_output("--save", o->want[i].file, reads.p, reads.n, e))
                return false;
        if (o->trace_file && !option_output("--trace", o->trace_file, reads.p, reads.n, e)) return false;
    }
    return reporting_streams(reporting, reads.p, reads.n, e);
}

/* Options that contradict each other. */
static bool check_together(const struct launch_options *o, const struct run_options *run, struct error *e)
{
    if (run->runs && (o->trace_file || o->trace.break_at))
        return error_set(e, ERR_INPUT, "--time measures whole launches at full speed: leave out %s",
                         o->trace_file ? "--trace" : "--break");
    if (run->orders && (run->runs || run->order || o->trace.break_at))
        return error_set(e, ERR_INPUT, "--schedules runs the launch under every order in turn: leave out %s",
                         run->runs    ? "--time"
                         : run->order ? "--order"
                                      : "--break");
    if ((run->orders || run->order) && run->gpu.on && strcmp(run->gpu.on, "sim"))
        return error_set(e, ERR_INPUT, "%s needs the software GPU: a real one chooses the order itself",
                         run->orders ? "--schedules" : "--order");
    if ((o->trace.one_cta || o->trace.one_warp || o->trace.lines) && !o->trace_file && !o->trace.break_at)
        return error_set(e, ERR_INPUT,
                         "--trace-cta, --trace-warp and --trace-line choose what --trace FILE writes and where --break "
                         "stops: one of these is missing");
    if (o->no_contract && (o->contract || o->dims || o->choices))
        return error_set(e, ERR_INPUT, "--no-contract and %s contradict each other",
                         o->contract ? "--contract" : "--dim");
    return true;
}

bool launch_options_parse(struct arena *a, int argc, char **argv, struct request *r, struct error *e)
{
    *r = (struct request){ .run.gpu = { .size = sizeof r->run.gpu,
                                        .assemble = 1,
                                        .budget = (u64)BUDGET_DEFAULT_G * 1000000000u,
                                        .time_limit = TIME_LIMIT_DEFAULT } };
    struct reading in = { .a = a, .r = r };
    struct parser p = { .verb = VERB_launch, .self = &in, .option = read_option, .word = read_word, .next = read_next };
    if (!read_next(&in, e) || !options_parse(&p, argc, argv, e)) return false;
    r->run.common = p.common;
    r->run.inputs = r->run.gpu.seed;
    r->launch = in.all.p;
    r->launches = in.all.n;
    if (!needs_file(&in, e)) return false;
    for (u32 k = 0; k < r->launches; k++)
        if (!check_together(r->launch[k], &r->run, e)) return false;
    if (!parts_check(r, e)) return false;
    return check_files(a, r, e);
}
