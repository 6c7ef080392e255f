/* lockstep test: files of kernels (test_files.c), or --evaluate: an oracle over arrays of the command line, its values,
 * its bounds, and where the bounds come from. */
#include "cli/cli.h"
#include "launch/args.h"
#include "verbs/testing.h"
#include <math.h>

#define OPTIONS_test OWN_ROWS
#include "cli/option_own.h"

enum { NAMES = 64, SHOWN = 16, TERMS = 4 };

struct test_request {
    struct arena mem;
    const char *text, *accumulate;
    const char *at; /* the element to explain; NULL: the one with the largest bound */
    bool all, primitives, definitions;
    bool dask; /* the package runs it */
    u64 seed;
    VEC(const char *) word; /* what is no option: arrays, or files */
    struct arg arg[NAMES];
    u32 n;
    struct testing files;
};

static bool read_option(void *self, const struct row *o, const char *value, struct error *e)
{
    struct test_request *a = self;
    switch ((enum own_option)o->id) {
    case OWN_EVALUATE: a->text = value; return true;
    case OWN_DASK: return a->dask = true;
    case OWN_ACCUMULATE: a->accumulate = value; return true;
    case OWN_AT: a->at = value; return true;
    case OWN_ALL: return a->all = true;
    case OWN_PRIMITIVES: return a->primitives = true;
    case OWN_DEFINITIONS: return a->definitions = true;
    case OWN_SEED: return option_number(o, value, UINT64_MAX, &a->seed, e);
    case OWN_CASES:
    case OWN_CASE:
    case OWN_LIST:
    case OWN_COVERAGE:
    case OWN_DEVICE:
    case OWN_CHECK:
    case OWN_NO_CHECK:
    case OWN_ON:
    case OWN_JOBS:
    case OWN_FOR:
    case OWN_CONFIG:
    case OWN_FAIL_FAST:
    case OWN_REPEAT:
    case OWN_SHARD:
    case OWN_LIMIT:
    case OWN_BUDGET:
    case OWN_CORPUS:
    case OWN_KEEP:
    case OWN_RECORD:
    case OWN_EMIT_C:
    case OWN_JOURNAL:
    case OWN_RESUME:
    case OWN_AGAINST:
    case OWN_WITHIN: break;
    }
    return testing_option(&a->mem, &a->files, o, value, e); /* a campaign's, and what is shared */
}

static bool keep_word(void *self, const char *word, struct error *e)
{
    struct test_request *a = self;
    (void)e;
    VEC_PUSH(&a->mem, &a->word, word);
    return true;
}

static bool read_word(struct test_request *a, const char *word, struct error *e)
{
    if (a->n == NAMES) return error_set(e, ERR_INPUT, "at most %d names are taken", NAMES);
    struct arg *g = &a->arg[a->n];
    if (!arg_parse(&a->mem, a->n, word, g, e)) return false;
    bool array = g->kind == ARG_BUFFER, number = g->kind == ARG_SCALAR || g->kind == ARG_NUMBER;
    if (!g->name || (!array && !number))
        return arg_error(e, a->n, word, word, "an oracle knows arrays and numbers by name: x=f32[3,4]=iota, n=i32:5");
    if (array && g->fill.kind == FILL_UNINIT)
        return arg_error(e, a->n, word, word + strlen(word), "this array needs contents, as in %s=iota", word);
    a->n++;
    return true;
}

/* An argument as the oracle takes it. */
static bool name_of(struct test_request *a, u32 i, lk_oracle_name *out, struct error *e)
{
    struct arg *g = &a->arg[i];
    *out = (lk_oracle_name){ .name = g->name };
    if (g->kind == ARG_NUMBER) { /* without a type: d=0.8 */
        const char *equals = strchr(g->text, '=');
        out->value = double_read(equals ? equals + 1 : g->text, NULL);
        return true;
    }
    if (g->kind != ARG_BUFFER) {
        out->value = scalar_load(g->type, g->value);
        return true;
    }
    if (!arg_measure(g, i, e)) return false;
    out->type = g->type->name;
    out->rank = g->dims ? g->dims : 1;
    out->dim[0] = g->count;
    for (u32 k = 0; k < g->dims; k++) out->dim[k] = g->dim[k];
    void *data = base_alloc(g->count * g->type->bytes + 1);
    if (!data) return error_set(e, ERR_MEMORY, "no memory for %s", g->name);
    out->data = data;
    return arg_fill(g, i, a->seed, data, e);
}

/* "[0,3]" */
static const char *print_index_text(const lk_oracle_result *r, u64 index, char *out, size_t size)
{
    u64 at[8], rest = index;
    size_t n = (size_t)snprintf(out, size, "[");
    for (u32 k = r->rank; k-- > 0; rest /= r->dim[k]) at[k] = rest % r->dim[k];
    for (u32 k = 0; k < r->rank; k++)
        n += (size_t)snprintf(out + n, size - n, "%s%llu", k ? "," : "", (unsigned long long)at[k]);
    snprintf(out + n, size - n, "]");
    return out;
}

static void print_elements(const lk_oracle_result *r, u64 shown, int digits)
{
    char index[200];
    for (u64 i = 0; i < shown; i++) {
        /* a NaN has no sign: machines differ in it */
        printf("  %-10s %.*g", print_index_text(r, i, index, sizeof index), digits,
               isnan(r->value[i]) ? NAN : r->value[i]);
        const char *why = r->unknown[i] == 1 ? "a kernel may overflow" : "ill-conditioned";
        if (r->unknown[i] && isfinite(r->suspect[i]))
            printf("  no bound: %s, suspect above %.2g\n", why, r->suspect[i]);
        else if (r->unknown[i])
            printf("  no bound: %s\n", why);
        else if (r->worst[i] == 0 || !isfinite(r->value[i]))
            printf("  exactly\n");
        else
            printf("  +- %.2g, suspect above %.2g\n", r->worst[i], r->suspect[i]);
    }
    if (shown < r->count) printf("  ... (%llu elements; --all shows them)\n", (unsigned long long)r->count);
}

static u64 loosest(const lk_oracle_result *r)
{
    u64 at = 0;
    for (u64 i = 1; i < r->count; i++) {
        bool none = r->unknown[at] || !isfinite(r->value[at]);
        if (!r->unknown[i] && isfinite(r->value[i]) && (none || r->worst[i] > r->worst[at])) at = i;
    }
    return at;
}

/* "0,3" as an index of this array. */
static bool index_read(const lk_oracle_result *r, const char *z, u64 *out)
{
    *out = 0;
    for (u32 k = 0; k < r->rank; k++) {
        char part[24];
        u64 i;
        size_t n = strcspn(z, ",");
        if (n >= sizeof part || !z[n] != (k + 1 == r->rank)) return false;
        memcpy(part, z, n);
        part[n] = 0;
        if (!option_whole(part, UINT64_MAX, &i) || i >= r->dim[k]) return false;
        *out = *out * r->dim[k] + i;
        z += n + (z[n] != 0);
    }
    return !*z;
}

static int print_output(const struct test_request *a, lk_oracle *o, u32 i, const lk_oracle_result *r)
{
    char text[200];
    lk_oracle_term term[TERMS];
    u64 unknown[3] = { 0 }, at = loosest(r);
    const char *type = lk_oracle_accumulates(o);
    printf("%s [", r->name);
    for (u32 k = 0; k < r->rank; k++) printf("%s%llu", k ? "," : "", (unsigned long long)r->dim[k]);
    printf("], sums in %s%s%s\n", type, r->exact ? ", exact: no kernel rounds" : "",
           r->sampled ? ", deep: suspect by Monte Carlo" : "");
    print_elements(r, a->all ? r->count : MIN_OF(r->count, (u64)SHOWN), strcmp(type, "f64") ? 7 : 15);
    for (u64 k = 0; k < r->count; k++) unknown[r->unknown[k]]++;
    if (unknown[1] || unknown[2])
        printf("not judged: %llu may overflow, %llu ill-conditioned\n", (unsigned long long)unknown[1],
               (unsigned long long)unknown[2]);
    if (a->at && !index_read(r, a->at, &at)) return cli_error("--at %s is not an element of %s", a->at, r->name);
    bool rounds = r->count && !r->unknown[at] && r->worst[at] > 0 && !r->exact && isfinite(r->value[at]);
    u32 terms = rounds ? lk_oracle_why(o, i, at, term, TERMS) : 0;
    if (terms) printf("the bound at %s comes from\n", print_index_text(r, at, text, sizeof text));
    for (u32 k = 0; k < terms; k++) {
        printf("  %3.0f %%  %s", 100 * term[k].share, term[k].what);
        if (term[k].column) printf(" (column %u)", term[k].column);
        putchar('\n');
    }
    return EXIT_CLEAN;
}

static int evaluate(struct test_request *a)
{
    lk_oracle_name name[NAMES];
    struct error e = { 0 };
    bool ok = true;
    u32 made = 0;
    int code = EXIT_CLEAN;
    for (u32 i = 0; ok && i < a->word.n; i++) ok = read_word(a, a->word.p[i], &e);
    for (; ok && made < a->n; made++) ok = name_of(a, made, &name[made], &e);
    lk_oracle *o = ok ? lk_oracle_new(name, a->n) : NULL;
    if (!ok) {
        code = cli_error_value(&e);
    } else if (!o) {
        code = cli_error("no memory for an oracle");
    } else {
        lk_status s = a->accumulate ? lk_oracle_accumulate(o, a->accumulate) : LK_OK;
        if (s == LK_OK) s = lk_oracle_read(o, a->text);
        if (s == LK_OK) s = lk_oracle_evaluate(o);
        if (s != LK_OK) code = cli_error_status((int)s, lk_oracle_error(o));
        lk_oracle_result r;
        for (u32 i = 0; s == LK_OK && !code && lk_oracle_output(o, i, &r); i++) code = print_output(a, o, i, &r);
    }
    lk_oracle_free(o);
    for (u32 i = 0; i < made; i++) base_free((void *)name[i].data);
    return code;
}

/* A column of the table in a table of Markdown. */
static void print_cell(const char *z)
{
    fputs(" | `", stdout);
    for (; *z; z++) printf(*z == '|' ? "\\|" : "%c", *z);
    putchar('`');
}

static int print_primitives(void)
{
    lk_oracle_primitive p;
    puts("| primitive | value | PROP | LOC | FAST | gradient |\n|---|---|---|---|---|---|");
    for (u32 i = 0; lk_oracle_row(i, &p); i++) {
        printf("| %s", p.name);
        const char *cell[] = { p.value, p.prop, p.loc, p.fast, p.gradient };
        for (u32 k = 0; k < COUNT_OF(cell); k++) print_cell(cell[k]);
        puts(" |");
    }
    puts("\n| function | |\n|---|---|");
    for (u32 i = 0; lk_oracle_signature(i); i++) {
        const char *z = lk_oracle_signature(i), *remark = strstr(z, "): ");
        printf("| `%.*s` | %s |\n", (int)(remark ? remark + 1 - z : (ptrdiff_t)strlen(z)), z, remark ? remark + 3 : "");
    }
    return EXIT_CLEAN;
}

/* `test --worker IN,OUT` is no option for people: a campaign starts it for cases in a process of their own. */
static bool is_worker(int argc, char **argv, int *in, int *out)
{
    return argc == 3 && !strcmp(argv[1], "--worker") && sscanf(argv[2], "%d,%d", in, out) == 2;
}

/* `test --reference FILE FUNCTION` is not one either: the process of a function that is an oracle. */
static bool is_reference(int argc, char **argv) { return argc == 4 && !strcmp(argv[1], "--reference"); }

int cmd_test(int argc, char **argv)
{
    int in, out;
    if (is_worker(argc, argv, &in, &out)) return lk_test_serve(in, out) == LK_OK ? EXIT_CLEAN : EXIT_USAGE;
    if (is_reference(argc, argv)) return lk_reference_serve(argv[2], argv[3]) == LK_OK ? EXIT_CLEAN : EXIT_USAGE;
    struct test_request a = { 0 };
    struct error e = { 0 };
    struct parser p = { .verb = VERB_test, .self = &a, .option = read_option, .word = keep_word };
    int code;
    if (!options_parse(&p, argc, argv, &e))
        code = cli_error_value(&e);
    else if (a.dask)
        code = cli_package("_campaign", argv + 1);
    else if (a.primitives)
        code = print_primitives();
    else if (a.definitions)
        code = fputs(lk_oracle_definitions(), stdout) < 0 ? EXIT_USAGE : EXIT_CLEAN;
    else if (a.text)
        code = evaluate(&a);
    else if (a.word.n) {
        for (u32 i = 0; i < a.word.n; i++) VEC_PUSH(&a.mem, &a.files.file, a.word.p[i]);
        a.files.o.seed = a.seed;
        code = testing_run(&a.mem, &a.files, &p.common);
    } else
        code = cli_error(
            "say which file to test, as in lockstep test softmax.cu, or an oracle and the arrays it speaks of, "
            "as in lockstep test --evaluate 'softmax(x, -1)' x=f32[3,4]=iota");
    arena_free(&a.mem);
    return code;
}
