/* The command line of `lockstep launch`: a table of options, each with what follows it and where it goes. */
#include "cli/cli.h"
#include "cli/launch.h"
#include <math.h>
#include <stdlib.h>

enum { BUDGET_DEFAULT_G = 20 };         /* 10^9 warp instructions: minutes, by when nobody waits any more */

const char launch_help[] =
    "Launches one kernel on the software GPU with every check on, and reports what is wrong with it.\n"
    "FILE is .ptx, or .cu where NVRTC or nvcc is installed or current PTX lies beside it. KERNEL may be left out when there is one.\n\n"
    "  --grid X[,Y[,Z]]      blocks (required)\n"
    "  --block X[,Y[,Z]]     threads in a block (required)\n"
    "  --shared BYTES        dynamic shared memory\n"
    "  --cooperative         a cooperative launch: every block is resident at once\n"
    "  --on sim|gpu|both     the software GPU (default), the real one, or both in turn: every array must hold the same bytes\n"
    "  --device PROFILE      the card to be (h200); lockstep device lists them\n"
    "  --seed N              the same run and report every time: schedule and random inputs from N, one worker\n"
    "  --threads N           worker threads (all processors)\n"
    "  --check LIST          only these checks, with commas; --no-check LIST: all but these\n"
    "  --budget N            warp instructions before a launch counts as a livelock (20000000000; 0: none)\n"
    "  --time [N]            run once to check, then N times (10), and print the median and the least time\n"
    "  --print K[:FROM:TO]   print elements of argument K, by its number from 0 or its name\n"
    "  --save K=FILE         write argument K to a file, raw\n"
    "  --expect K=FILE       compare argument K with a raw file, or a FILL such as const:3; exit 1 when they differ\n"
    "  --tolerance REL       for --expect: floats may differ by REL times the larger one (0: not by a bit)\n"
    "  --json FILE           write the report as JSON (-: standard output)\n"
    "  --quiet               print only findings and what was asked for\n"
    "  --verbose             say how the PTX came about, and what ran\n\n"
    "ARG, one for each parameter of the kernel:\n"
    "  i32:5  f32:2.5  bool:1            a value; types: i8 to i64 (or s8...), u8 to u64, b8 to b64, f16, bf16, f32, f64, bool\n"
    "  f32[1000]=FILL  f32[64,32]=FILL   a buffer: zeros, ones, iota, uninit, const:2.5, rand, rand:LO:HI, @file.bin\n"
    "  f32[]=@file.bin                   a buffer as long as the file\n"
    "  bytes:0000803f01000000            a struct\n"
    "  same:0  same:0+16                 the buffer of argument 0 again, 16 bytes further on\n"
    "  null                              a null pointer\n"
    "  NAME=...                          any of these with the name that reports use\n\n"
    "Example: lockstep launch saxpy.cu --grid 4 --block 256 f32:2 f32[1000]=rand f32[1000]=ones i32:1000 --print y:0:8\n";

enum option_id {
    O_GRID, O_BLOCK, O_SHARED, O_COOPERATIVE, O_ON, O_DEVICE, O_SEED, O_THREADS, O_CHECK, O_NO_CHECK, O_BUDGET, O_TIME,
    O_PRINT, O_SAVE, O_EXPECT, O_TOLERANCE, O_JSON, O_QUIET, O_VERBOSE,
};
static const struct option { const char *name, *operand; enum option_id id; } options[] = {
    { "--grid", "X[,Y[,Z]]", O_GRID }, { "--block", "X[,Y[,Z]]", O_BLOCK }, { "--shared", "BYTES", O_SHARED }, { "--cooperative", NULL, O_COOPERATIVE },
    { "--on", "sim|gpu|both", O_ON }, { "--device", "PROFILE", O_DEVICE }, { "--seed", "N", O_SEED }, { "--threads", "N", O_THREADS }, { "--check", "LIST", O_CHECK },
    { "--no-check", "LIST", O_NO_CHECK }, { "--budget", "N", O_BUDGET }, { "--time", NULL, O_TIME }, { "--print", "K[:FROM:TO]", O_PRINT },
    { "--save", "K=FILE", O_SAVE }, { "--expect", "K=FILE", O_EXPECT }, { "--tolerance", "REL", O_TOLERANCE }, { "--json", "FILE", O_JSON },
    { "--quiet", NULL, O_QUIET }, { "--verbose", NULL, O_VERBOSE },
};

/* All of `s` as a decimal number up to `most`. */
static bool whole_number(const char *s, u64 most, u64 *out)
{
    u64 v = 0;
    if (!*s)
        return false;
    for (; *s; s++) {
        if (*s < '0' || *s > '9' || v > (most - (u64)(*s - '0')) / 10)
            return false;
        v = v * 10 + (u64)(*s - '0');
    }
    *out = v;
    return v <= most;
}

static bool parse_shape(const struct option *opt, const char *text, u32 out[3], struct error *e)
{
    u64 v[3] = { 1, 1, 1 };
    const char *p = text;
    for (u32 i = 0; i < 3; i++) {
        size_t n = strcspn(p, ",");
        char one[24];
        snprintf(one, sizeof one, "%.*s", (int)MIN_OF(n, sizeof one - 1), p);
        if (!whole_number(one, UINT32_MAX, &v[i]) || !v[i])
            return error_set(e, ERR_INPUT, "%s %.60s: one to three numbers above 0 with commas, as in %s 4,2", opt->name, text, opt->name);
        p += n;
        if (!*p)
            break;
        p++;
        if (i == 2 || !*p)
            return error_set(e, ERR_INPUT, "%s %.60s: one to three numbers above 0 with commas, as in %s 4,2", opt->name, text, opt->name);
    }
    for (u32 i = 0; i < 3; i++)
        out[i] = (u32)v[i];
    return true;
}

static bool parse_number(const struct option *opt, const char *text, u64 most, u64 *out, struct error *e)
{
    return whole_number(text, most, out) ||
           error_set(e, ERR_INPUT, "%s %.60s: a whole number from 0 to %llu belongs here", opt->name, text, (unsigned long long)most);
}

/* K, K:FROM:TO or K=FILE. */
static bool parse_want(struct arena *a, const struct option *opt, const char *text, struct launch_options *o, struct error *e)
{
    if (o->wants == LAUNCH_WANTS)
        return error_set(e, ERR_INPUT, "more than %d of --print, --save and --expect", LAUNCH_WANTS);
    struct want *w = &o->want[o->wants++];
    bool print = opt->id == O_PRINT;
    const char *cut = strchr(text, print ? ':' : '=');
    w->kind = print ? WANT_PRINT : opt->id == O_SAVE ? WANT_SAVE : WANT_EXPECT;
    w->key = arena_str(a, (struct str){ text, cut ? (u32)(cut - text) : (u32)strlen(text) });
    if (!w->key[0] || (!print && (!cut || !cut[1])))
        return error_set(e, ERR_INPUT, "%s %.60s: this is %s %s, with K the number or name of an argument", opt->name, text, opt->name, opt->operand);
    if (!print) {
        w->file = cut + 1;
        return true;
    }
    if (!cut)
        return true;
    const char *second = strchr(cut + 1, ':');
    const char *from = arena_str(a, (struct str){ cut + 1, second ? (u32)(second - cut - 1) : 0 });
    w->ranged = true;
    if (!second || !whole_number(from, UINT64_MAX >> 1, &w->from) || !whole_number(second + 1, UINT64_MAX >> 1, &w->to) || w->from >= w->to)
        return error_set(e, ERR_INPUT, "%s %.60s: a range is FROM:TO with FROM below TO, as in --print 0:16:32", opt->name, text);
    return true;
}

static bool apply(struct arena *a, const struct option *opt, const char *text, struct launch_options *o, struct error *e)
{
    u64 n = 0;
    char *end;
    switch (opt->id) {
    case O_GRID: return parse_shape(opt, text, o->grid, e);
    case O_BLOCK: return parse_shape(opt, text, o->block, e);
    case O_SHARED: return parse_number(opt, text, UINT32_MAX, &n, e) && (o->shared = (u32)n, true);
    case O_COOPERATIVE: return o->cooperative = true;
    case O_ON:
        o->both = !strcmp(text, "both");
        o->gpu.on = o->both ? "sim" : text;
        return !strcmp(o->gpu.on, "sim") || !strcmp(text, "gpu") || error_set(e, ERR_INPUT, "--on %.60s: sim, gpu or both belongs here", text);
    case O_DEVICE: o->gpu.device = text; return true;
    case O_SEED: return parse_number(opt, text, UINT64_MAX, &o->gpu.seed, e) && (o->gpu.seeded = 1, true);
    case O_THREADS: return parse_number(opt, text, 4096, &n, e) && (o->gpu.threads = (u32)n, true);
    case O_CHECK: o->gpu.check = text; return true;
    case O_NO_CHECK: o->gpu.no_check = text; return true;
    case O_BUDGET: return parse_number(opt, text, UINT64_MAX, &o->gpu.budget, e);
    case O_TIME:
        n = 10;
        if (text && (!parse_number(opt, text, 1000000, &n, e) || !n))
            return error_set(e, ERR_INPUT, "--time %.60s: at least one run", text);
        o->runs = (u32)n;
        return true;
    case O_PRINT: case O_SAVE: case O_EXPECT: return parse_want(a, opt, text, o, e);
    case O_TOLERANCE:
        o->tolerance = strtod(text, &end);
        return (end != text && !*end && o->tolerance >= 0 && isfinite(o->tolerance)) ||
               error_set(e, ERR_INPUT, "--tolerance %.60s: a number from 0 on belongs here, as in --tolerance 1e-5", text);
    case O_JSON: o->json = text; return true;
    case O_QUIET: return o->quiet = true;
    case O_VERBOSE: return o->verbose = true;
    }
    return true;
}

static const struct option *option_find(struct str name, struct error *e)
{
    const char *names[COUNT_OF(options)];
    for (u32 i = 0; i < COUNT_OF(options); i++) {
        names[i] = options[i].name;
        if (str_is(name, options[i].name))
            return &options[i];
    }
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)MIN_OF(name.n, 63), name.p);
    const char *near = cli_nearest(word, names, COUNT_OF(names));
    if (near)
        error_set(e, ERR_INPUT, "launch has no option %s; did you mean %s? lockstep launch --help lists them", word, near);
    error_set(e, ERR_INPUT, "launch has no option %s; lockstep launch --help lists them", word);
    return NULL;
}

/* Cuts FILE.ptx:KERNEL at the colon behind the extension. */
static bool parse_target(struct arena *a, const char *text, struct launch_options *o, struct error *e)
{
    static const char *const ends[] = { ".ptx", ".cu" };
    for (u32 i = 0; i < COUNT_OF(ends); i++) {
        size_t n = strlen(ends[i]);
        for (const char *p = strstr(text, ends[i]); p; p = strstr(p + 1, ends[i])) {
            if (p[n] && p[n] != ':')
                continue;
            if (p[n] == ':' && !p[n + 1])
                return error_set(e, ERR_INPUT, "%.200s: behind the colon comes the name of a kernel", text);
            o->path = arena_str(a, (struct str){ text, (u32)(p + n - text) });
            o->kernel = p[n] ? p + n + 1 : NULL;
            return true;
        }
    }
    return error_set(e, ERR_INPUT, "launch takes a .ptx or .cu file first, as in lockstep launch saxpy.ptx; `%.100s` is neither", text);
}

bool launch_options_parse(struct arena *a, int argc, char **argv, struct launch_options *o, struct error *e)
{
    *o = (struct launch_options){ .gpu = { .size = sizeof o->gpu, .budget = (u64)BUDGET_DEFAULT_G * 1000000000u } };
    bool open = true;           /* options are still recognised: no -- yet */
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value = NULL;
        if (open && !strcmp(word, "--")) {
            open = false;
            continue;
        }
        if (!open || word[0] != '-') {
            if (!o->path) {
                if (!parse_target(a, word, o, e))
                    return false;
                continue;
            }
            if (o->args == LAUNCH_ARGS)
                return error_set(e, ERR_INPUT, "more than %d arguments", LAUNCH_ARGS);
            if (!arg_parse(a, o->args, word, &o->arg[o->args], e))
                return false;
            o->args++;
            continue;
        }
        const char *equals = strchr(word, '=');
        const struct option *opt = option_find((struct str){ word, equals ? (u32)(equals - word) : (u32)strlen(word) }, e);
        u64 number;
        if (!opt)
            return false;
        if (equals)
            value = equals + 1;
        else if (opt->operand ? i + 1 < argc : opt->id == O_TIME && i + 1 < argc && whole_number(argv[i + 1], UINT64_MAX, &number))
            value = argv[++i];
        if (opt->operand && (!value || !value[0]))
            return error_set(e, ERR_INPUT, "%s needs something behind it: %s %s", opt->name, opt->name, opt->operand);
        if (!opt->operand && value && opt->id != O_TIME)
            return error_set(e, ERR_INPUT, "%s takes no value", opt->name);
        if (!apply(a, opt, value, o, e))
            return false;
    }
    if (!o->path)
        return error_set(e, ERR_INPUT, "launch needs a .ptx or .cu file; lockstep launch --help shows an example");
    if (!o->grid[0] || !o->block[0])
        return error_set(e, ERR_INPUT, "the shape of the launch is missing: say %s", !o->grid[0] ? !o->block[0] ? "--grid X[,Y[,Z]] --block X[,Y[,Z]]" : "--grid X[,Y[,Z]]" : "--block X[,Y[,Z]]");
    return true;
}
