/* The command line of `lockstep launch`: where each of its options in option.def goes. */
#include "cli/cli.h"
#include "cli/launch.h"
#include <math.h>
#include <stdlib.h>

enum { BUDGET_DEFAULT_G = 20 }; /* 10^9 warp instructions: minutes, by when nobody waits any more */

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

static bool apply(struct arena *a, const struct row *opt, const char *text, struct launch_options *o, struct error *e)
{
    u64 n = 0;
    char *end;
    if (opt->id >= O_launch_COMPILER && opt->id <= O_launch_FRESH)
        return compiling_option(a, &o->compiling, opt->id - O_launch_COMPILER, text, e);
    switch (opt->id) {
    case O_launch_GRID: return parse_numbers(opt, text, 1, 1, o->grid, e);
    case O_launch_BLOCK: return parse_numbers(opt, text, 1, 1, o->block, e);
    case O_launch_SHARED:
        return option_number(opt, text, UINT32_MAX, &n, e) && (o->shared = (u32)n, o->shared_given = true);
    case O_launch_SHARED_OPTIN: return option_number(opt, text, UINT32_MAX, &n, e) && (o->shared_optin = (u32)n, true);
    case O_launch_THREAD_REGISTERS: return option_number(opt, text, 255, &n, e) && (o->registers = (u32)n, true);
    case O_launch_COOPERATIVE: return o->cooperative = true;
    case O_launch_ON:
        o->both = !strcmp(text, "both");
        o->gpu.on = o->both ? "sim" : text;
        return !strcmp(o->gpu.on, "sim") || !strcmp(text, "gpu") ||
               error_set(e, ERR_INPUT, "--on %.60s: sim, gpu or both belongs here", text);
    case O_launch_DEVICE: o->gpu.device = text; return true;
    case O_launch_SEED: return option_number(opt, text, UINT64_MAX, &o->gpu.seed, e) && (o->gpu.seeded = 1, true);
    case O_launch_THREADS: return option_number(opt, text, 4096, &n, e) && (o->gpu.threads = (u32)n, true);
    case O_launch_CHECK:
        o->gpu.check = o->gpu.check ? arena_printf(a, "%s,%s", o->gpu.check, text) : text;
        return true; /* given again: more of them */
    case O_launch_NO_CHECK:
        o->gpu.no_check = o->gpu.no_check ? arena_printf(a, "%s,%s", o->gpu.no_check, text) : text;
        return true;
    case O_launch_BUDGET: return option_number(opt, text, UINT64_MAX, &o->gpu.budget, e);
    case O_launch_TIME:
        n = 10;
        if (text && (!option_number(opt, text, 1000000, &n, e) || !n))
            return error_set(e, ERR_INPUT, "--time %.60s: at least one run", text);
        o->runs = (u32)n;
        return true;
    case O_launch_SCHEDULES:
        return option_number(opt, text, 1000000, &n, e) && (o->orders = (u32)n, o->gpu.seeded = 1, true);
    case O_launch_ORDER:
        return option_number(opt, text, 1000000, &n, e) && (o->order = (u32)n, o->gpu.seeded = 1, true);
    case O_launch_PRINT:
    case O_launch_SAVE:
    case O_launch_EXPECT: return parse_want(a, opt, text, o, e);
    case O_launch_TOLERANCE:
        o->tolerance = strtod(text, &end);
        return (end != text && !*end && o->tolerance >= 0 && isfinite(o->tolerance)) ||
               error_set(e, ERR_INPUT, "--tolerance %.60s: a number from 0 on belongs here, as in --tolerance 1e-5",
                         text);
    case O_launch_TRACE: o->trace_file = text; return true;
    case O_launch_TRACE_CTA: o->trace.one_cta = 1; return parse_numbers(opt, text, 0, 0, o->trace.cta, e);
    case O_launch_TRACE_WARP:
        return option_number(opt, text, UINT32_MAX, &n, e) && (o->trace.one_warp = 1, o->trace.warp = (u32)n, true);
    case O_launch_TRACE_LINE: o->trace.lines = text; return true;
    case O_launch_BREAK: o->trace.break_at = text; return true;
    case O_launch_DIM: return launch_dim_parse(a, text, o, e);
    case O_launch_CONTRACT: o->contract = text; return true;
    case O_launch_SET: return parse_set(a, text, o, e);
    case O_launch_NO_CONTRACT: return o->no_contract = true;
    default: break;
    }
    bool known, ok = reporting_option(&o->reporting, opt, text, &known, e);
    CHECK(known);
    return ok;
}

struct reading {
    struct arena *a;
    struct launch_options *o;
};

static bool read_option(void *self, const struct row *opt, const char *value, struct error *e)
{
    struct reading *r = self;
    return apply(r->a, opt, value, r->o, e);
}

static bool read_word(void *self, const char *word, struct error *e)
{
    struct reading *r = self;
    struct launch_options *o = r->o;
    if (!o->path) return compiling_target(r->a, "launch", word, &o->path, &o->kernel, e);
    if (o->args == LAUNCH_ARGS) return error_set(e, ERR_INPUT, "more than %d arguments", LAUNCH_ARGS);
    return arg_parse(r->a, o->args, word, &o->arg[o->args], e) && ++o->args;
}

/* Files that are written, against those that are read. */
static bool check_files(struct arena *a, struct launch_options *o, struct error *e)
{
    VEC(const char *) reads = { 0 };
    VEC_PUSH(a, &reads, o->path);
    VEC_PUSH(a, &reads, o->contract);
    for (u32 i = 0; i < o->compiling.link.n; i++) VEC_PUSH(a, &reads, o->compiling.link.p[i]);
    for (u32 i = 0; i < o->reporting.suppressions; i++) VEC_PUSH(a, &reads, o->reporting.suppress[i]);
    for (u32 i = 0; i < o->args; i++)
        if (o->arg[i].kind == ARG_BUFFER && o->arg[i].fill.kind == FILL_FILE) VEC_PUSH(a, &reads, o->arg[i].fill.file);
    for (u32 i = 0; i < o->wants; i++)
        if (o->want[i].kind == WANT_EXPECT) VEC_PUSH(a, &reads, o->want[i].file);
    for (u32 i = 0; i < o->wants; i++)
        if (o->want[i].kind == WANT_SAVE && !option_output("--save", o->want[i].file, reads.p, reads.n, e))
            return false;
    if (o->trace_file && !option_output("--trace", o->trace_file, reads.p, reads.n, e)) return false;
    return reporting_streams(&o->reporting, reads.p, reads.n, e);
}

bool launch_options_parse(struct arena *a, int argc, char **argv, struct launch_options *o, struct error *e)
{
    *o = (struct launch_options){ .gpu = { .size = sizeof o->gpu, .budget = (u64)BUDGET_DEFAULT_G * 1000000000u } };
    struct reading r = { a, o };
    struct parser p = { .verb = VERB_launch, .self = &r, .option = read_option, .word = read_word };
    if (!options_parse(&p, argc, argv, e)) return false;
    o->common = p.common;
    if (!o->path)
        return error_set(e, ERR_INPUT, "launch needs a .ptx or .cu file; lockstep launch --help shows an example");
    if (o->runs && (o->trace_file || o->trace.break_at))
        return error_set(e, ERR_INPUT, "--time measures whole launches at full speed: leave out %s",
                         o->trace_file ? "--trace" : "--break");
    if (o->orders && (o->runs || o->order || o->trace.break_at))
        return error_set(e, ERR_INPUT, "--schedules runs the launch under every order in turn: leave out %s",
                         o->runs    ? "--time"
                         : o->order ? "--order"
                                    : "--break");
    if ((o->orders || o->order) && o->gpu.on && strcmp(o->gpu.on, "sim"))
        return error_set(e, ERR_INPUT, "%s needs the software GPU: a real one chooses the order itself",
                         o->orders ? "--schedules" : "--order");
    if ((o->trace.one_cta || o->trace.one_warp || o->trace.lines) && !o->trace_file && !o->trace.break_at)
        return error_set(e, ERR_INPUT,
                         "--trace-cta, --trace-warp and --trace-line choose what --trace FILE writes and where --break "
                         "stops: one of these is missing");
    if (o->no_contract && (o->contract || o->dims))
        return error_set(e, ERR_INPUT, "--no-contract and %s contradict each other",
                         o->contract ? "--contract" : "--dim");
    return check_files(a, o, e);
}
