/* lockstep test FILE...: the kernels of files against their contracts and oracles, told as a test runner tells it. */
#include "verbs/testing.h"
#include "cli/cli.h"
#include <inttypes.h>
#include <math.h>

bool testing_option(struct arena *a, struct testing *t, const struct row *o, const char *value, bool *mine,
                    struct error *e)
{
    u64 n = 0;
    *mine = true;
    if (o->id >= O_test_COMPILER && o->id <= O_test_FRESH)
        return compiling_option(a, &t->compiling, o->id - O_test_COMPILER, value, e);
    if (o->id >= O_test_JSON && o->id <= O_test_ERROR_EXITCODE)
        return reporting_option(&t->reporting, o->id - O_test_JSON, o, value, e);
    switch (o->id) {
    case O_test_CASES: return option_number(o, value, 1000000, &n, e) && (t->o.cases = (u32)n, true);
    case O_test_CASE: t->o.only = value; return true;
    case O_test_LIST: return t->list = true;
    case O_test_DEVICE: t->gpu.device = value; return true;
    case O_test_CHECK: t->gpu.check = value; return true;
    case O_test_NO_CHECK: t->gpu.no_check = value; return true;
    default: *mine = false; return true;
    }
}

enum { CASES_LEAST = 10 }; /* of which a rate says something */

/* "0 of 64 fail: at 95 %, fewer than 4.6 % of such cases do" */
static double rate(u32 n) { return 100 * (1 - pow(0.05, 1.0 / n)); }

static void print_cases(const lk_test *test, u32 i)
{
    static const char *const end[] = { "ok", "FAILED", "refused", "too large", "empty grid", "unsupported" };
    lk_test_case c;
    for (u32 n = 0; lk_test_case_at(test, i, n, &c); n++) {
        printf("  %-10s %s", end[c.end], c.line);
        if (c.end == LK_TEST_FAILED) printf("  %s", c.first);
        if (c.end == LK_TEST_PASSED && c.elements) printf("  %.2g of the bound", c.ratio);
        putchar('\n');
    }
}

static void print_passed(const lk_test_kernel *k)
{
    u32 ran = k->passed;
    printf("%s %s: %u case%s, %s", k->has_oracle ? "VALIDATED" : "CHECKED", k->name, ran, plural(ran),
           k->shapes[0] ? k->shapes : "one size");
    if (k->has_oracle)
        printf("; %" PRIu64 " element%s within bounds, the closest at %.2g of it (%s)", k->elements,
               plural(k->elements), k->ratio, k->closest ? k->closest : "");
    else
        printf("; no oracle: no result was judged");
    if (k->tolerance > 1) printf("; the contract makes the bounds %g times wider", k->tolerance);
    putchar('\n');
    if (ran >= CASES_LEAST)
        printf("  0 of %u fail: at 95 %%, fewer than %.2g %% of such cases do; one order of blocks and warps each\n",
               ran, rate(ran));
    if (k->overflow + k->ill)
        printf("  not judged: %" PRIu64 " elements may overflow, %" PRIu64 " are ill-conditioned\n", k->overflow,
               k->ill);
    if (k->suspects) printf("  1 case is above the suspect bound, which one alone does not prove\n");
}

static void print_kernel(const struct testing *t, const lk_test *test, u32 i, const lk_test_kernel *k)
{
    lk_test_failure f;
    if (k->unsupported) {
        printf("UNSUPPORTED %s: %s\n", k->name, k->unsupported);
    } else if (k->failed) {
        printf("FAILED %s: %u of %u cases, %s\n", k->name, k->failed, k->failed + k->passed, k->shapes);
        for (u32 n = 0; lk_test_failure_at(test, i, n, &f); n++)
            printf("  %s in %u case%s, the smallest: %s\n", f.kind, f.cases, plural(f.cases), f.line);
    } else if (k->passed) {
        print_passed(k);
    } else {
        printf("NOTHING %s: no case could be run (%u refused by the contract, %u too large, %u with an empty grid)\n",
               k->name, k->refused, k->large, k->empty);
        if (k->refusal) printf("  %s\n", k->refusal);
    }
    if (t->list) print_cases(test, i);
}

struct totals {
    u32 kernels, passed, failed, unsupported, nothing;
};

static void print_file(const struct testing *t, const lk_test *test, const struct common *common, struct totals *all)
{
    lk_test_kernel k;
    for (u32 i = 0; lk_test_kernel_at(test, i, &k); i++) {
        all->kernels++;
        all->unsupported += k.unsupported != NULL;
        all->failed += !k.unsupported && k.failed > 0;
        all->passed += !k.unsupported && !k.failed && k.passed > 0;
        all->nothing += !k.unsupported && !k.failed && !k.passed;
        if (!common->quiet || k.failed || k.unsupported) print_kernel(t, test, i, &k);
    }
}

/* One file; what stops it is said here, and its exit code returned. */
static int test_one(struct arena *a, struct testing *t, const char *word, lk_gpu *gpu, lk_test **test)
{
    const char *path = word, *kernel = NULL;
    struct error e = { 0 };
    if (!compiling_target(a, "test", word, &path, &kernel, &e)) return cli_error_value(&e);
    t->o.kernel = kernel;
    lk_status status = lk_test_file(gpu, path, &t->o, test);
    if (*test) return EXIT_CLEAN;
    return cli_error_status((int)status, lk_gpu_error(gpu));
}

static bool write_reports(struct testing *t, lk_gpu *gpu, lk_test *const *test, u32 n, const struct common *common,
                          struct error *e)
{
    struct reporting shown = t->reporting;
    shown.json = shown.junit = NULL; /* those have the cases in them */
    bool ok = true;
    if (lk_report_errors(gpu) || lk_report_notes(gpu) || lk_report_suppressed(gpu))
        ok = reporting_write(&shown, gpu, "lockstep test", "", common, e);
    else if (shown.sarif)
        ok = reporting_write(&shown, gpu, "lockstep test", "", &(struct common){ .quiet = true }, e);
    char *(*const make[])(lk_test *const *, uint32_t, lk_gpu *) = { lk_test_json, lk_test_junit };
    const char *const path[] = { t->reporting.json, t->reporting.junit };
    for (u32 i = 0; i < COUNT_OF(path); i++) {
        char *text = path[i] ? make[i](test, n, gpu) : NULL;
        if (text) ok = reporting_put(&t->reporting, path[i], text, strlen(text), e) && ok;
        lk_text_free(text);
    }
    return ok;
}

static void print_totals(const struct totals *all)
{
    printf("%u kernel%s: %u passed, %u failed", all->kernels, plural(all->kernels), all->passed, all->failed);
    if (all->unsupported) printf(", %u unsupported", all->unsupported);
    if (all->nothing) printf(", %u not run", all->nothing);
    putchar('\n');
}

int testing_run(struct arena *a, struct testing *t, const struct common *common)
{
    struct error e = { 0 };
    struct totals all = { 0 };
    lk_gpu *gpu = NULL;
    int code = EXIT_CLEAN;
    lk_test **test = NEW_ARRAY(a, lk_test *, t->file.n + 1);
    u32 tests = 0;
    t->compiling.o.size = sizeof t->compiling.o;
    t->compiling.o.flag = t->compiling.flag.p;
    t->compiling.o.flags = t->compiling.flag.n;
    t->compiling.o.link = t->compiling.link.p;
    t->compiling.o.links = t->compiling.link.n;
    t->gpu.size = sizeof t->gpu;
    t->gpu.seeded = 1;
    t->o.size = sizeof t->o;
    t->o.gpu = &t->gpu;
    t->o.compile = &t->compiling.o;
    if (!reporting_streams(&t->reporting, t->file.p, t->file.n, &e)) return cli_error_value(&e);
    if (lk_gpu_create(&t->gpu, &gpu) != LK_OK) return cli_error_status(LK_BAD_INPUT, lk_gpu_error(NULL));
    if (!reporting_begin(&t->reporting, gpu, &e)) code = cli_error_value(&e);
    for (u32 i = 0; !code && i < t->file.n; i++) {
        int one = test_one(a, t, t->file.p[i], gpu, &test[tests]);
        if (test[tests]) print_file(t, test[tests++], common, &all);
        if (one && (one != EXIT_NOTHING || t->file.n == 1)) code = one;
    }
    if (!code && !write_reports(t, gpu, test, tests, common, &e)) code = cli_error_value(&e);
    if (!code && (!common->quiet || all.failed)) print_totals(&all);
    if (!code)
        code = lk_report_errors(gpu)     ? reporting_code(&t->reporting)
               : all.unsupported         ? EXIT_UNSUPPORTED
               : all.passed + all.failed ? EXIT_CLEAN
                                         : EXIT_NOTHING;
    for (u32 i = 0; i < tests; i++) lk_test_free(test[i]);
    lk_gpu_destroy(gpu);
    return code;
}
