/* lockstep bench: how fast a kernel is, once it is right. */
#include "bench/figures.h"
#include <inttypes.h>
#include <lockstep.h>
#include <stdlib.h>

#define OPTIONS_bench OWN_ROWS
#include "cli/option_own.h"

enum { COUNT_BUDGET = 20000000 }; /* warp instructions that are counted at most: some seconds */
struct bench_verb {
    struct arena mem;
    struct compiling compiling;
    struct side_what what;
    struct bench_sizes sizes;
    struct bench_how how;
    const char *json, *journal, *modes, *name;
    u64 budget;
    bool only[BENCH_MODES];
    struct json rows; /* of --json */
    struct text out;
    struct ceilings card;
    u32 done, failed, impossible;
    struct common common;
    const char *of_times; /* an option that was given, and is of times alone; NULL: none */
};

/* ---- the command line ---- */

static bool read_modes(struct bench_verb *b, const char *value, struct error *e)
{
    for (const char *p = value; *p;) {
        size_t n = strcspn(p, ",");
        char *word = arena_str(&b->mem, (struct str){ p, (u32)n });
        enum bench_mode m;
        if (!strcmp(word, "copies"))
            for (u32 i = BENCH_IN_PAGEABLE; i <= BENCH_OUT_PINNED; i++) b->only[i] = true;
        else if (!strcmp(word, "launch"))
            b->only[BENCH_LAUNCH] = b->only[BENCH_ISSUE] = true;
        else if (bench_mode_find(word, &m))
            b->only[m] = true;
        else
            return error_set(e, ERR_INPUT, "--modes takes warm, cold, launch, copies and whole, not `%.40s`", word);
        p += n + (p[n] == ',');
    }
    b->modes = value;
    return true;
}

static bool take_option(void *self, const struct row *o, const char *value, struct error *e)
{
    struct bench_verb *b = self;
    u64 n = 0;
    if (o->id == O_bench_MODES || o->id == O_bench_PROCESSES || o->id == O_bench_SAMPLES) b->of_times = o->name;
    switch ((enum own_option)o->id) {
    case OWN_ON: b->what.on = value; return option_on(o, value, e);
    case OWN_SIZES: return sizes_read(&b->mem, value, &b->sizes, e);
    case OWN_MODES: return read_modes(b, value, e);
    case OWN_NAME: b->name = value; return true;
    case OWN_DEVICE: b->what.device = value; return true;
    case OWN_JSON: b->json = value; return true;
    case OWN_JOURNAL: b->journal = value; return true;
    case OWN_PROCESSES: return option_count(o, value, 64, &n, e) && (b->how.processes = (u32)n, true);
    case OWN_SAMPLES: return option_count(o, value, 10000, &n, e) && (b->how.samples = (u32)n, true);
    case OWN_BUDGET: return option_number(o, value, UINT64_MAX, &b->budget, e);
    }
    return compiling_option(&b->mem, &b->compiling, o->id - O_bench_COMPILER, value, e);
}

static bool take_word(void *self, const char *word, struct error *e)
{
    struct bench_verb *b = self;
    if (b->what.text) return error_set(e, ERR_INPUT, "bench: one file, and `%.60s` is a second", word);
    b->what.text = word;
    return compiling_target(&b->mem, "bench", word, &b->what.file, &b->what.kernel, e);
}

/* ---- one case ---- */

static char *entry_name(struct bench_verb *b, const char *line, const char *mode)
{
    const char *kernel = b->name ? b->name : b->what.kernel ? b->what.kernel : b->what.file;
    return arena_printf(&b->mem, "%s%s%s%s%s", kernel, line[0] ? " " : "", line, mode[0] ? " " : "", mode);
}

static bool keep(struct bench_verb *b, const char *line, enum bench_mode mode, const struct bench_group *g,
                 const struct bench_series *s, const struct figures *f, struct error *e)
{
    const char *command[] = { "lockstep", "bench", b->what.text, "--sizes", line };
    struct timed t = { .name = entry_name(b, line, bench_mode_name[mode]),
                       .work = g->last.work,
                       .device = g->gpu,
                       .time = "",
                       .command = command,
                       .words = COUNT_OF(command),
                       .unit = "s",
                       .process = s->process,
                       .processes = s->processes };
    if (!b->journal) return true;
    times_note(&t, "kernel", g->last.kernel, 0);
    times_note(&t, "case", line, 0);
    times_note(&t, "mode", bench_mode_name[mode], 0);
    times_note(&t, "binary", g->last.binary, 0);
    times_note(&t, "batch", NULL, s->batch);
    if (f->bytes > 0) times_note(&t, "bytes", NULL, f->bytes);
    if (f->flops > 0) times_note(&t, "flops", NULL, f->flops * f->median);
    if (f->tensor > 0) times_note(&t, "tensor_flops", NULL, f->tensor * f->median);
    if (b->card.bandwidth[0] > 0) times_note(&t, "copy_ceiling", NULL, b->card.bandwidth[0]);
    if (s->clock.sm_mhz) times_note(&t, "sm_mhz", NULL, s->clock.sm_mhz);
    if (s->clock.memory_mhz) times_note(&t, "memory_mhz", NULL, s->clock.memory_mhz);
    if (s->clock.power_mw) times_note(&t, "power_mw", NULL, s->clock.power_mw);
    if (s->clock.celsius) times_note(&t, "celsius", NULL, s->clock.celsius);
    if (s->clock.throttle) times_note(&t, "throttle", NULL, (double)s->clock.throttle);
    return times_append(b->journal, &t, e);
}

static void print_head(const struct bench_verb *b, const struct bench_group *g, const char *line, const char *said)
{
    if (b->json && !strcmp(b->json, "-")) return;
    printf("%s  %s\n", g->last.kernel, line);
    printf("  tested    %s\n", said);
    if (g->last.of_warps)
        printf("  occupancy %u of %u warps of a multiprocessor, limited by %s", g->last.warps, g->last.of_warps,
               g->last.limiter);
    if (g->last.of_warps && g->last.registers) printf("; %u registers a thread", g->last.registers);
    if (g->last.of_warps) printf("\n");
}

static void print_clock(const struct bench_clock *c)
{
    if (!c->sm_mhz) {
        printf("  clock     not known: there is no NVML\n");
        return;
    }
    printf("  clock     %u MHz, memory %u MHz, %.0f W, %u C", c->sm_mhz, c->memory_mhz, c->power_mw / 1000.0,
           c->celsius);
    if (c->throttle) printf("; slowed down, reasons 0x%" PRIx64, c->throttle);
    printf("\n");
}

static bool bench_modes(struct bench_verb *b, struct bench_group *g, const char *line, const struct bench_counts *c,
                        struct json *row, struct error *e)
{
    struct bench_clock clock = { 0 };
    bool quiet = b->json && !strcmp(b->json, "-");
    struct json modes = json_open(row, "modes", '{');
    for (u32 m = 0; m < BENCH_MODES; m++) {
        struct bench_series s[2];
        struct figures f;
        struct error wrong = { 0 };
        if (b->modes ? !b->only[m] : m == BENCH_ISSUE && b->common.quiet) continue;
        if (!groups_time(&b->mem, g, NULL, (enum bench_mode)m, &b->how, s, &wrong)) {
            if (wrong.code != ERR_UNSUPPORTED) return error_set(e, wrong.code, "%s", wrong.text);
            if (!quiet) printf("  %-9s %s\n", bench_mode_name[m], wrong.text);
            continue;
        }
        figures_of(&b->mem, (enum bench_mode)m, &s[0], g->last.bytes, c, &b->card, &f);
        b->impossible += f.impossible[0] != 0;
        if (m <= BENCH_COLD) clock = s[0].clock;
        if (!quiet) figures_print(bench_mode_name[m], &f, &b->card);
        figures_json(&modes, bench_mode_name[m], &f);
        if (!f.impossible[0] && !keep(b, line, (enum bench_mode)m, g, &s[0], &f, e)) return false;
    }
    json_end(&modes, '}');
    if (!quiet) print_clock(&clock);
    return true;
}

static bool bench_case(struct bench_verb *b, struct bench_group *g, const char *line, const struct bench_test *tested,
                       const char *folder, struct error *e)
{
    const char *said = tested->said;
    struct bench_counts c = { 0 };
    struct error wrong = { 0 };
    if (!tested->passed) return error_set(e, (enum error_code)tested->code, "%s", said);
    if (!groups_prepare(&b->mem, g, NULL, line, folder, e)) return false;
    if (b->budget && !bench_count(&b->mem, &b->what, line, b->budget, &c, &wrong)) c.known = false;
    print_head(b, g, line, said);
    struct json row = json_open(&b->rows, NULL, '{');
    json_text(&row, "kernel", g->last.kernel);
    json_text(&row, "case", line);
    json_text(&row, "work", g->last.work);
    json_text(&row, "tested", said);
    json_number(&row, "registers", g->last.registers);
    json_number(&row, "warps", g->last.warps);
    json_number(&row, "of_warps", g->last.of_warps);
    bool ok = bench_modes(b, g, line, &c, &row, e);
    json_end(&row, '}');
    return ok;
}

static bool bench_gpu(struct bench_verb *b, struct error *e)
{
    struct bench_group g = { 0 };
    const char *folder = bench_folder(&b->mem, e);
    struct bench_test *tested = NEW_ARRAY(&b->mem, struct bench_test, b->sizes.line.n);
    bool ok = folder && bench_tested(&b->mem, &(struct bench_ask){ &b->what, &b->sizes, tested }, 1, folder, e) &&
              group_start(&b->mem, &g, &b->what, b->how.processes, e);
    if (ok) {
        ceilings_published(&b->mem, g.gpu, &b->card);
        bool known = ceilings_measured(&b->mem, g.gpu, &b->card);
        if (!b->json || strcmp(b->json, "-"))
            printf("%s%s\n", g.gpu, known ? "" : "; its own ceilings are not known: lockstep device --measure");
    }
    for (u32 i = 0; ok && i < b->sizes.line.n; i++) {
        struct error wrong = { 0 };
        if (bench_case(b, &g, b->sizes.line.p[i], &tested[i], folder, &wrong)) {
            b->done++;
            continue;
        }
        if (wrong.code == ERR_STOPPED || b->sizes.line.n == 1) ok = error_set(e, wrong.code, "%s", wrong.text);
        b->failed++;
        if (ok) printf("%s\n  NOT-RUN: %s\n", b->sizes.line.p[i], wrong.text);
        fflush(stdout);
    }
    group_end(&g);
    if (folder) folder_remove(folder);
    return ok;
}

/* ---- on the software GPU: counts ---- */

static void counts_print(const struct bench_verb *b, const char *line, const struct bench_counts *c, const char *said)
{
    char x[40];
    const char *name = c->kernel;
    if (b->json && !strcmp(b->json, "-")) return;
    printf("%s%s%s\n  tested        %s\n", name, line[0] ? "  " : "", line, said);
    printf("  instructions  %.0f of warps\n  sectors       %.0f of L1\n", c->instructions, c->sectors);
    if (c->passes > 0) printf("  wavefronts    %.0f of shared memory\n", c->passes);
    printf("  footprint     %.0f bytes\n", c->footprint);
    if (c->flops > 0) {
        printf("  operations    %.0f", c->flops);
        if (c->footprint > 0) printf(", %.3g a byte", (c->flops + c->tensor) / c->footprint);
        printf("\n");
    }
    if (c->tensor > 0) printf("  tensor        %.0f operations of %s\n", c->tensor, c->tensor_type);
    printf("  occupancy     %.0f %%\n", 100 * c->occupancy);
    times_text(c->least, "s", x, sizeof x);
    printf("  at least      %s by %s, by a model: no measurement\n", x, c->limit);
}

static bool bench_sim(struct bench_verb *b, struct error *e)
{
    const char *folder = bench_folder(&b->mem, e);
    struct bench_test *tested = NEW_ARRAY(&b->mem, struct bench_test, b->sizes.line.n);
    bool tests = folder && bench_tested(&b->mem, &(struct bench_ask){ &b->what, &b->sizes, tested }, 1, folder, e);
    if (folder) folder_remove(folder);
    if (!tests) return false;
    for (u32 i = 0; i < b->sizes.line.n; i++) {
        const char *line = b->sizes.line.p[i], *said = tested[i].said;
        struct bench_counts c;
        if (!tested[i].passed) return error_set(e, (enum error_code)tested[i].code, "%s", said);
        if (!bench_count(&b->mem, &b->what, line, 0, &c, e)) return false;
        counts_print(b, line, &c, said);
        b->done++;
        struct json row = json_open(&b->rows, NULL, '{'), n = { 0 };
        json_text(&row, "kernel", c.kernel);
        json_text(&row, "case", line);
        json_text(&row, "tested", said);
        n = json_open(&row, "counts", '{');
        json_number(&n, "warp_instructions", (u64)c.instructions);
        json_number(&n, "sectors", (u64)c.sectors);
        json_number(&n, "shared_passes", (u64)c.passes);
        json_number(&n, "footprint_bytes", (u64)c.footprint);
        json_number(&n, "operations", (u64)c.flops);
        json_number(&n, "tensor_operations", (u64)c.tensor);
        json_double(&n, "occupancy", c.occupancy);
        json_double(&n, "least_seconds", c.least);
        json_end(&n, '}');
        json_end(&row, '}');
        struct text entry = { 0 };
        if (b->journal) {
            char now[32];
            journal_time(now);
            struct json top = { &entry, false }, o = json_open(&top, NULL, '{');
            json_text(&o, "entry", "counts");
            json_text(&o, "name", entry_name(b, line, ""));
            json_text(&o, "time", now);
            json_number(&o, "warp_instructions", (u64)c.instructions);
            json_number(&o, "sectors", (u64)c.sectors);
            json_number(&o, "shared_passes", (u64)c.passes);
            json_number(&o, "footprint_bytes", (u64)c.footprint);
            json_number(&o, "operations", (u64)(c.flops + c.tensor));
            bool ok = journal_append(b->journal, &entry, e);
            text_free(&entry);
            if (!ok) return false;
        }
    }
    return true;
}

/* ---- the verb ---- */

static bool run(struct bench_verb *b, struct error *e)
{
    bool sim = !strcmp(b->what.on, "sim");
    struct json top = { &b->out, false }, all = json_open(&top, NULL, '{');
    json_text(&all, "schema", "lockstep-bench");
    json_number(&all, "version", 1);
    json_text(&all, "on", b->what.on);
    b->rows = json_open(&all, "cases", '[');
    bool ok = sim ? bench_sim(b, e) : bench_gpu(b, e);
    json_end(&b->rows, ']');
    if (b->card.card) json_text(&all, "card", b->card.card);
    json_end(&all, '}');
    text_add(&b->out, "\n");
    return ok && (!b->json || file_write(b->json, b->out.p, b->out.n, e));
}

int cmd_bench(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--worker")) return bench_work(); /* started by bench_side.c, not by people */
    struct bench_verb b = { .how = { .processes = 5, .samples = 20 }, .budget = COUNT_BUDGET };
    struct error e = { 0 };
    struct parser p = { .verb = VERB_bench, .self = &b, .option = take_option, .word = take_word };
    if (!options_parse(&p, argc, argv, &e)) return e.code ? cli_error_value(&e) : EXIT_CLEAN;
    b.common = p.common;
    if (!b.what.text)
        return cli_error("bench: a file with a kernel and its contract is needed; lockstep bench --help shows how");
    if (!b.how.processes || !b.how.samples) return cli_error("bench: --processes and --samples are 1 at least");
    if (!b.what.on) b.what.on = lk_gpu_count() ? "gpu" : "sim";
    if (b.of_times && !strcmp(b.what.on, "sim"))
        return cli_error("bench: %s is of times, and the software GPU has none: --on gpu", b.of_times);
    if (!b.sizes.line.n) VEC_PUSH(&b.mem, &b.sizes.line, "");
    b.compiling.o.size = sizeof b.compiling.o;
    b.compiling.o.flag = b.compiling.flag.p;
    b.compiling.o.flags = b.compiling.flag.n;
    b.what.compile = &b.compiling.o;
    process_guard();
    bool ok = run(&b, &e);
    int code = !ok ? bench_failed(&e) : b.impossible ? EXIT_USAGE : !b.done || b.failed ? EXIT_NOTHING : EXIT_CLEAN;
    text_free(&b.out);
    arena_free(&b.mem);
    return code;
}
