/* lockstep test FILE...: the kernels of files against their contracts and oracles, told as a test runner tells it. */
#include "verbs/testing.h"
#include "cli/cli.h"
#include "cli/folder.h"
#include "cli/watch.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* What engines that run a command many times say of which one it is. */
static bool shard_of_environment(lk_test_options *o, struct error *e)
{
    static const struct {
        const char *index, *first, *count; /* counted from 0, or from `first` */
    } known[] = { { "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_COUNT" },
                  { "SLURM_PROCID", NULL, "SLURM_NTASKS" },
                  { "OMPI_COMM_WORLD_RANK", NULL, "OMPI_COMM_WORLD_SIZE" },
                  { "PMI_RANK", NULL, "PMI_SIZE" },
                  { "CI_NODE_INDEX", "", "CI_NODE_TOTAL" },
                  { "CIRCLE_NODE_INDEX", NULL, "CIRCLE_NODE_TOTAL" } };
    for (u32 i = 0; i < COUNT_OF(known); i++) {
        const char *index = getenv(known[i].index), *count = getenv(known[i].count),
                   *first = known[i].first && known[i].first[0] ? getenv(known[i].first) : NULL;
        u64 at, n, from = known[i].first && !known[i].first[0]; /* GitLab counts from 1 */
        if (!index || !count || !option_whole(index, UINT32_MAX, &at) || !option_whole(count, UINT32_MAX, &n)) continue;
        if (first && !option_whole(first, UINT32_MAX, &from)) continue;
        if (!n || at < from || at - from >= n) continue;
        o->shard = (u32)(at - from);
        o->shards = (u32)n;
        return true;
    }
    return error_set(e, ERR_INPUT,
                     "--shard auto: the environment has no SLURM_ARRAY_TASK_ID, SLURM_PROCID, "
                     "OMPI_COMM_WORLD_RANK, PMI_RANK, CI_NODE_INDEX or CIRCLE_NODE_INDEX with its count");
}

static bool read_shard(lk_test_options *o, const char *value, struct error *e)
{
    char index[16];
    u64 i, n;
    size_t cut = strcspn(value, "/");
    if (!strcmp(value, "auto")) return shard_of_environment(o, e);
    snprintf(index, sizeof index, "%.*s", (int)MIN_OF(cut, (size_t)15), value);
    if (!value[cut] || !option_whole(index, UINT32_MAX, &i) || !option_whole(value + cut + 1, UINT32_MAX, &n) || !i ||
        i > n)
        return error_set(e, ERR_INPUT, "--shard %.60s: this is I/N, as in 1/4 to 4/4, or auto", value);
    o->shard = (u32)i - 1;
    o->shards = (u32)n;
    return true;
}

static bool read_within(const char *value, double *out, struct error *e)
{
    char *end;
    *out = strtod(value, &end);
    return (end != value && !*end && *out > 0 && *out < 1) ||
           error_set(e, ERR_INPUT, "--within %.60s: a number between 0 and 1 belongs here, as in 1e-5", value);
}

static bool read_on(struct testing *t, const char *value, struct error *e)
{
    t->o.both = !strcmp(value, "both");
    t->gpu.on = t->o.both ? "gpu" : value;
    return t->o.both || !strcmp(value, "sim") || !strcmp(value, "gpu") || !strncmp(value, "gpu:", 4) ||
           error_set(e, ERR_INPUT, "--on %.60s: sim, gpu or both belongs here", value);
}

static bool campaign_option(struct arena *a, struct testing *t, const struct row *o, const char *value, struct error *e)
{
    u64 n = 0;
    switch (o->id) {
    case O_test_ON: return read_on(t, value, e);
    case O_test_JOBS: return option_number(o, value, 64, &n, e) && (t->o.jobs = (u32)n, true);
    case O_test_FOR: return option_time(o, value, &t->o.seconds, e);
    case O_test_CONFIG: t->o.config = value; return true;
    case O_test_FAIL_FAST: t->o.fail_fast = 1; return true;
    case O_test_REPEAT: return option_number(o, value, 1000000, &n, e) && (t->o.repeat = (u32)n, true);
    case O_test_SHARD: return read_shard(&t->o, value, e);
    case O_test_LIMIT: return option_time(o, value, &t->o.limit, e);
    case O_test_BUDGET: return option_number(o, value, UINT64_MAX, &t->o.budget, e);
    case O_test_CORPUS: t->o.corpus = value; return true;
    case O_test_KEEP: t->o.keep = 1; return true;
    case O_test_RECORD: t->o.record = value; return true;
    case O_test_EMIT_C: t->o.emit = value; return true;
    case O_test_JOURNAL: t->o.journal = value; return true;
    case O_test_RESUME: t->o.resume = 1; return true;
    case O_test_AGAINST: return compiling_target(a, "test", value, &t->o.against, &t->o.against_kernel, e);
    case O_test_WITHIN: return read_within(value, &t->o.within, e);
    default: CHECK(!"an option of test without its case");
    }
}

bool testing_option(struct arena *a, struct testing *t, const struct row *o, const char *value, struct error *e)
{
    u64 n = 0;
    if (o->id >= O_test_COMPILER && o->id <= O_test_FRESH)
        return compiling_option(a, &t->compiling, o->id - O_test_COMPILER, value, e);
    if (o->id >= O_test_JSON && o->id <= O_test_ERROR_EXITCODE)
        return reporting_option(&t->reporting, o->id - O_test_JSON, o, value, e);
    switch (o->id) {
    case O_test_CASES: return option_count(o, value, 1000000, &n, e) && (t->o.cases = (u32)n, true);
    case O_test_CASE: t->o.only = value; return true;
    case O_test_LIST: return t->list = true;
    case O_test_COVERAGE: return t->coverage = true;
    case O_test_DEVICE: t->gpu.device = value; return true;
    case O_test_CHECK: t->gpu.check = value; return true;
    case O_test_NO_CHECK: t->gpu.no_check = value; return true;
    default: return campaign_option(a, t, o, value, e);
    }
}

enum { MANY = 4 };         /* so many times more cases discarded than run are said to be too many */
enum { CASES_LEAST = 10 }; /* of which a rate says something */

/* "0 of 64 fail: at 95 %, fewer than 4.6 % of such cases do" */
static double rate(u32 n) { return 100 * (1 - pow(0.05, 1.0 / n)); }

static void print_cases(const lk_test *test, u32 i)
{
    static const char *const end[] = {
        "ok", "FAILED", "refused", "too large", "empty grid", "unsupported", "discarded"
    };
    lk_test_case c;
    for (u32 n = 0; lk_test_case_at(test, i, n, &c); n++) {
        printf("  %-10s %s", end[c.end], c.line);
        if (c.end == LK_TEST_FAILED) printf("  %s", c.first);
        if (c.end == LK_TEST_PASSED && c.elements) printf("  %.2g of the bound", c.ratio);
        putchar('\n');
    }
}

static void print_passed(const struct testing *t, const lk_test_kernel *k)
{
    u32 ran = k->passed, orders = t->o.repeat ? t->o.repeat : 1;
    bool judged = k->has_oracle && !k->oracle_off;
    printf("%s %s: %u case%s, %s", judged ? "VALIDATED" : "CHECKED", k->name, ran, plural(ran),
           k->shapes[0] ? k->shapes : "one size");
    if (judged)
        printf("; %" PRIu64 " element%s within bounds, the closest at %.2g of it (%s)", k->elements,
               plural(k->elements), k->ratio, k->closest ? k->closest : "");
    else
        printf("; %s: no result was judged", k->oracle_off ? "the check `oracle` is off" : "no oracle");
    if (k->tolerance > 1) printf("; the contract makes the bounds %g times wider", k->tolerance);
    putchar('\n');
    if (ran >= CASES_LEAST)
        printf("  0 of %u fail: at 95 %%, fewer than %.2g %% of such cases do; %u order%s of blocks and warps each\n",
               ran, rate(ran), orders, orders == 1 ? "" : "s");
    if (k->overflow + k->ill)
        printf("  not judged: %" PRIu64 " elements may overflow, %" PRIu64 " are ill-conditioned\n", k->overflow,
               k->ill);
    if (k->properties) printf("  properties: %u trials hold\n", k->properties);
    if (k->compared)
        printf("  against the other kernel: %u cases, the largest difference %.3g\n", k->compared, k->difference);
    if (t->o.both)
        printf("  on the GPU %u case%s pass%s, %u of them with other bytes than here\n", k->on_gpu, plural(k->on_gpu),
               k->on_gpu == 1 ? "es" : "", k->differing);
    if (k->suspects) printf("  1 case is above the suspect bound, which one alone does not prove\n");
}

static void print_list(const char *what, const char *list)
{
    if (list[0]) printf("  %s line%s %s\n", what, strchr(list, ',') ? "s" : "", list);
}

/* What was not reached; with --coverage how much was, and the rest. */
static void print_coverage(const struct testing *t, const lk_test_kernel *k)
{
    if (!k->lines || !(k->passed + k->failed)) return;
    if (t->coverage)
        printf("  reached: %u of %u lines, %u of %u ways of branches, %u of %u corners of the contract; %u points of "
               "code, "
               "new ones by %u case%s\n",
               k->lines_reached, k->lines, k->ways_taken, k->ways, k->corners_reached, k->corners, k->points,
               k->reaching, plural(k->reaching));
    print_list("no case reaches", k->lines_missing);
    if (!t->coverage) return;
    print_list("always the same way at", k->branches_one_way);
    if (k->corners_missing[0]) printf("  no case has %s\n", k->corners_missing);
}

static void print_kernel(const struct testing *t, const lk_test *test, u32 i, const lk_test_kernel *k)
{
    lk_test_failure f;
    if (k->unsupported) {
        printf("UNSUPPORTED %s: %s\n", k->name, k->unsupported);
    } else if (k->failed) {
        printf("%s %s: %u of %u cases%s%s\n", k->status == LK_FINDINGS ? "FAILED" : "SUPPRESSED", k->name, k->failed,
               k->failed + k->passed, k->shapes[0] ? ", " : "", k->shapes);
        for (u32 n = 0; lk_test_failure_at(test, i, n, &f); n++)
            printf("  %s in %u case%s, the smallest: %s%s\n", f.kind, f.cases, plural(f.cases), f.line,
                   f.suppressed ? " (suppressed)" : "");
    } else if (k->stopped) {
        printf("STOPPED %s: %u case%s ran, and none failed\n", k->name, k->passed, plural(k->passed));
    } else if (k->unchecked && k->passed) {
        printf("NOT JUDGED %s: %u case%s ran, and every check is off\n", k->name, k->passed, plural(k->passed));
    } else if (k->unjudged) {
        printf("NOT JUDGED %s: %u case%s ran, and none had an element of %s that the oracle could judge\n", k->name,
               k->passed, plural(k->passed), k->unjudged);
        if (k->overflow + k->ill)
            printf("  %" PRIu64 " elements may overflow, %" PRIu64 " are ill-conditioned\n", k->overflow, k->ill);
    } else if (k->passed) {
        print_passed(t, k);
    } else {
        printf("NOTHING %s: no case could be run (%u refused by the contract, %u too large, %u with an empty grid)\n",
               k->name, k->refused, k->large, k->empty);
        if (k->discarded) printf("  %u discarded: an `assume` line does not hold for their contents\n", k->discarded);
        if (k->refusal) printf("  %s\n", k->refusal);
    }
    print_coverage(t, k);
    if (k->discarded && k->passed + k->failed)
        printf("  %u case%s discarded: an `assume` line does not hold for %s contents%s\n", k->discarded,
               k->discarded == 1 ? " was" : "s were", k->discarded == 1 ? "its" : "their",
               k->discarded > MANY * (k->passed + k->failed) ? ", which leaves few: say in the arg lines what they are"
                                                             : "");
    if (k->smaller)
        printf("  %u case%s too large, and made smaller\n", k->smaller, k->smaller == 1 ? " was" : "s were");
    if (t->list) print_cases(test, i);
}

struct totals {
    u32 kernels, passed, failed, unsupported, unjudged, stopped, idle;
};

/* Not one case ran. */
static bool is_idle(const lk_test_kernel *k) { return !k->unjudged && !(k->unchecked && k->passed); }

static void print_file(const struct testing *t, const lk_test *test, const struct common *common, struct totals *all)
{
    lk_test_kernel k;
    if (lk_test_disbelieved(test) && !common->quiet)
        printf("%u entr%s of %s cut off, edited or without a hash: not believed, the cases run again\n",
               lk_test_disbelieved(test), lk_test_disbelieved(test) == 1 ? "y" : "ies", t->o.journal);
    for (u32 i = 0; lk_test_kernel_at(test, i, &k); i++) {
        all->kernels++;
        all->unsupported += k.status == LK_UNSUPPORTED;
        all->failed += k.status == LK_FINDINGS;
        all->passed += k.status == LK_OK;
        all->stopped += k.status == LK_NOTHING && k.stopped;
        all->unjudged += k.status == LK_NOTHING && !k.stopped && !is_idle(&k);
        all->idle += k.status == LK_NOTHING && !k.stopped && is_idle(&k);
        if (k.left_out) continue;
        if (!common->quiet || k.status != LK_OK) print_kernel(t, test, i, &k);
    }
}

/* One file; what stops it is said here, and stands in the reports as a test that was not done. */
static lk_test *test_one(struct arena *a, struct testing *t, u32 i, lk_gpu *gpu, const struct common *common,
                         lk_status *status)
{
    const char *word = t->file.p[i], *name = arena_printf(a, "%s (%u of %u)", word, i + 1, t->file.n);
    const char *path = word, *kernel = NULL, *why;
    struct error e = { 0 };
    lk_test *test = NULL;
    if (!compiling_target(a, "test", word, &path, &kernel, &e) || !testing_types(path, &e)) {
        *status = (lk_status)cli_error_value(&e);
        why = e.text;
    } else {
        struct watch watch;
        t->o.kernel = kernel;
        watch_begin(&watch, common, gpu, name);
        *status = lk_test_file(gpu, path, &t->o, &test);
        watch_end(&watch);
        if (test) return test;
        why = arena_printf(a, "%s", lk_gpu_error(gpu));
        cli_error_status((int)*status, why);
    }
    lk_test_undone(gpu, path, *status, why, &test);
    return test;
}

static bool write_reports(struct testing *t, lk_gpu *gpu, lk_test *const *test, u32 n, const struct common *common,
                          struct error *e)
{
    struct reporting shown = t->reporting;
    shown.json = shown.junit = NULL; /* those have the cases in them */
    bool ok = true;
    if (lk_report_errors(gpu) || lk_report_notes(gpu) || lk_report_suppressed(gpu))
        ok = reporting_write(&shown, gpu, "lockstep test", "", common, e);
    else
        ok = reporting_files(&shown, gpu, "lockstep test", e);
    char *(*const make[])(lk_test *const *, uint32_t, lk_gpu *) = { lk_test_json, lk_test_junit };
    const char *const path[] = { t->reporting.json, t->reporting.junit };
    for (u32 i = 0; i < COUNT_OF(path); i++) {
        char *text = path[i] ? make[i](test, n, gpu) : NULL;
        if (text) ok = reporting_put(&t->reporting, path[i], text, strlen(text), e) && ok;
        lk_text_free(text);
    }
    t->reporting.written = true;
    return ok;
}

static void print_totals(const struct testing *t, const struct totals *all, u32 none, u32 left)
{
    printf("%u kernel%s: %u passed, %u failed", all->kernels, plural(all->kernels), all->passed, all->failed);
    if (all->unsupported) printf(", %u unsupported", all->unsupported);
    if (all->unjudged) printf(", %u not judged", all->unjudged);
    if (all->stopped) printf(", %u stopped", all->stopped);
    if (all->idle) printf(", %u not run", all->idle);
    if (none) printf("; nothing judged of %u file%s", none, plural(none));
    if (left) printf("; %u file%s %s", left, plural(left), watch_signal() ? "not begun" : "after the failure not run");
    if (t->bare) printf("; %u file%s without a contract passed over", t->bare, plural(t->bare));
    putchar('\n');
}

/* The command itself: processes of a campaign are it again. */
static const char *own_path(struct arena *a)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    return n > 0 ? arena_str(a, (struct str){ self, (u32)n }) : NULL;
}

static void options_complete(struct arena *a, struct testing *t)
{
    t->compiling.o.size = sizeof t->compiling.o;
    t->compiling.o.flag = t->compiling.flag.p;
    t->compiling.o.flags = t->compiling.flag.n;
    t->compiling.o.link = t->compiling.link.p;
    t->compiling.o.links = t->compiling.link.n;
    t->gpu.size = sizeof t->gpu;
    t->gpu.assemble = 1;
    t->gpu.seeded = 1;
    t->o.size = sizeof t->o;
    t->o.gpu = &t->gpu;
    t->o.compile = &t->compiling.o;
    t->o.command = own_path(a);
}

/* Every file, then what they come to: a file that cannot be tested leaves the others. */
static int test_all(struct arena *a, struct testing *t, lk_gpu *gpu, const struct common *common, lk_test **test)
{
    struct totals all = { 0 };
    struct error e = { 0 };
    u32 tests = 0, left = 0, none = 0;
    for (u32 i = 0; i < t->file.n; i++) {
        lk_status status = LK_OK;
        lk_test *now = test_one(a, t, i, gpu, common, &status);
        none += lk_test_why(now)[0] && status == LK_NOTHING;
        test[tests++] = now;
        print_file(t, now, common, &all);
        bool over = watch_signal() || (t->o.fail_fast && all.failed);
        if (over) left = t->file.n - i - 1;
        if (over) break;
    }
    int code = (int)lk_test_conclude(test, tests, t->o.shards > 1, gpu);
    if (!write_reports(t, gpu, test, tests, common, &e)) {
        int unwritten = cli_error_value(&e);
        code = code ? code : unwritten;
    }
    if (all.kernels && (!common->quiet || code)) print_totals(t, &all, none, left);
    for (u32 i = 0; i < tests; i++) lk_test_free(test[i]);
    return code;
}

int testing_run(struct arena *a, struct testing *t, const struct common *common)
{
    struct error e = { 0 };
    lk_gpu *gpu = NULL;
    options_complete(a, t);
    struct folder_files all = { 0 };
    if (!folder_files(a, t->file.p, t->file.n, &all, &e)) return cli_error_value(&e);
    memcpy(&t->file, &all.file, sizeof t->file);
    t->bare = all.bare;
    if (!reporting_streams(&t->reporting, t->file.p, t->file.n, &e)) return cli_error_value(&e);
    lk_options reporter = t->gpu; /* it only has the report */
    reporter.on = NULL;
    int code = EXIT_CLEAN;
    const char *why = NULL;
    if (lk_gpu_create(&reporter, &gpu) != LK_OK) {
        why = lk_gpu_error(NULL);
        code = cli_error_status(LK_BAD_INPUT, why);
    } else if (!reporting_begin(&t->reporting, gpu, &e)) {
        why = e.text;
        code = cli_error_value(&e);
    }
    if (!code) code = test_all(a, t, gpu, common, NEW_ARRAY(a, lk_test *, t->file.n + 1));
    reporting_refused(&t->reporting, code, "lockstep test", why);
    lk_gpu_destroy(gpu);
    if (watch_signal()) return EXIT_SIGNAL + watch_signal();
    return code == EXIT_FINDINGS ? reporting_code(&t->reporting) : code;
}
