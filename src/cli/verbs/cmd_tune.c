/* lockstep tune: the parameters of a kernel, one at a time and then in pairs; what is not right is not rated. */
#include "base/json.h"
#include "bench/tune_time.h"
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define OPTIONS_tune OWN_ROWS
#include "cli/option_own.h"

enum { PARAMS_MOST = 8, VALUES_MOST = 32, WORDS_MOST = 24 };
struct param {
    char *name;
    char *value[VALUES_MOST];
    u32 n;
    bool config; /* a line of the contract; else a macro */
};
struct tried {
    u8 at[PARAMS_MOST]; /* which value of each parameter */
    bool passed, built;
    char why[400]; /* of one that failed, in a line */
    u64 least_ps;  /* what the card needs at least */
    u64 instructions, sectors, passes, occupancy /* of 1000 */;
    const char *limit;
    struct tune_timed timed; /* on a GPU; 0: not */
};
struct tune {
    struct arena mem;
    const char *file, *device, *json, *cases, *journal;
    const char *on;         /* "gpu"; NULL: the software GPU */
    const char *sizes;      /* of the case that is timed; "" */
    struct bench_how how;   /* of times */
    struct times_pair last; /* the best beside the baseline, in fresh processes */
    bool again;             /* there is such a pair */
    struct param param[PARAMS_MOST];
    u32 params, most, left_out;
    char *word[WORDS_MOST]; /* for the compiler */
    u32 words;
    struct tried *row;
    u32 rows;
    struct common common;
};

static bool read_param(struct tune *t, const char *value, struct error *e)
{
    const char *eq = strchr(value, '=');
    if (t->params == PARAMS_MOST) return error_set(e, ERR_INPUT, "--param: %d parameters at most", PARAMS_MOST);
    if (!eq || eq == value || !eq[1])
        return error_set(e, ERR_INPUT, "--param %.60s: this is NAME=VALUE,VALUE..., as in BLOCK=64,128,256", value);
    struct param *p = &t->param[t->params++];
    p->name = arena_str(&t->mem, (struct str){ value, (u32)(eq - value) });
    for (const char *at = eq + 1;; at++) {
        size_t n = strcspn(at, ",");
        if (!n || p->n == VALUES_MOST)
            return error_set(e, ERR_INPUT, "--param %.60s: %s", value,
                             n ? "32 values at most" : "a value is empty, between commas");
        p->value[p->n++] = arena_str(&t->mem, (struct str){ at, (u32)n });
        if (!*(at += n)) return true;
    }
}

static bool take_option(void *self, const struct row *o, const char *value, struct error *e)
{
    struct tune *t = self;
    u64 n;
    switch ((enum own_option)o->id) {
    case OWN_PARAM: return read_param(t, value, e);
    case OWN_DEVICE: t->device = value; return true;
    case OWN_JSON: t->json = value; return true;
    case OWN_JOURNAL: t->journal = value; return true;
    case OWN_SIZES: t->sizes = value; return true;
    case OWN_ON: t->on = strcmp(value, "sim") ? value : NULL; return option_on(o, value, e);
    case OWN_CASES: t->cases = value; return option_count(o, value, 1000000, &n, e);
    case OWN_MOST: return option_number(o, value, 100000, &n, e) && (t->most = (u32)n, true);
    case OWN_DEFINE:
    case OWN_INCLUDE: break;
    }
    if (t->words + 2 > WORDS_MOST) return error_set(e, ERR_INPUT, "%s: too many of these", o->name);
    t->word[t->words++] = (char *)o->name;
    t->word[t->words++] = (char *)value;
    return true;
}

static bool take_word(void *self, const char *word, struct error *e)
{
    struct tune *t = self;
    if (t->file) return error_set(e, ERR_INPUT, "tune: one file, and `%.60s` is a second", word);
    t->file = word;
    return true;
}

/* Which parameters are lines of a contract in the file: //! config NAME ..., //! type NAME ... */
static bool find_configs(struct tune *t, struct error *e)
{
    struct str text;
    char *path = arena_str(&t->mem, (struct str){ t->file, (u32)strcspn(t->file, ":") });
    if (!file_read(path, &text, e)) return false;
    for (const char *p = text.p; (p = strstr(p, "//!"));) {
        p += 3;
        p += strspn(p, " \t");
        size_t word = strcspn(p, " \t\n");
        if (!(word == 6 && !strncmp(p, "config", 6)) && !(word == 4 && !strncmp(p, "type", 4))) continue;
        p += word;
        p += strspn(p, " \t");
        struct str name = { p, (u32)strcspn(p, " \t\n") };
        for (u32 i = 0; i < t->params; i++) t->param[i].config = t->param[i].config || str_is(name, t->param[i].name);
    }
    base_free((void *)text.p);
    return true;
}

/* The words of a configuration after those of a verb. */
static void add_words(struct tune *t, const struct tried *r, char **to, u32 n)
{
    for (u32 i = 0; i < t->words; i++) to[n++] = t->word[i];
    char *config = "";
    for (u32 i = 0; i < t->params; i++) {
        char *one = arena_printf(&t->mem, "%s=%s", t->param[i].name, t->param[i].value[r->at[i]]);
        if (t->param[i].config) {
            config = arena_printf(&t->mem, "%s%s%s", config, config[0] ? "," : "", one);
            continue;
        }
        to[n++] = "-D";
        to[n++] = one;
    }
    if (config[0]) {
        to[n++] = "--config";
        to[n++] = config;
    }
    if (t->device) {
        to[n++] = "--device";
        to[n++] = (char *)t->device;
    }
    to[n] = NULL;
}

static void copy_line(char *to, size_t size, const char *from)
{
    size_t n = strcspn(from, "\n");
    snprintf(to, size, "%.*s", (int)MIN_OF(n, size - 1), from);
}

/* One line of a report: the kind of its first finding, and the cause. Else what was printed first. */
static void find_cause(struct tried *r, const char *said)
{
    const char *at = strstr(said, "error["), *cause = at ? strstr(at, "= cause: ") : NULL;
    size_t kind = at ? strcspn(at + 6, "]\n") : 0;
    char line[300];
    copy_line(line, sizeof line, cause ? cause + 9 : at ? at + 6 + kind + 2 : said);
    snprintf(r->why, sizeof r->why, "%.*s%s%.280s", (int)MIN_OF(kind, (size_t)60), at ? at + 6 : "", at ? ": " : "",
             line);
}

static u64 sum_of(const struct json_value *counts, const char *space, const char *key)
{
    const struct json_value *in = json_get(counts, space);
    u64 sum = 0;
    for (u32 i = 0; in && in->kind == JSON_OBJECT && i < in->n; i++) sum += json_whole(&in->item[i], key);
    return sum;
}

static const struct json_value *first_of(const struct json_value *v, const char *key)
{
    const struct json_value *x = json_list(v, key);
    return x->n ? &x->item[0] : NULL;
}

/* What `profile` has counted of the one launch that the contract makes. */
static bool read_counts(struct tune *t, struct tried *r, struct str text)
{
    struct error e = { 0 };
    const struct json_value *top = json_read(&t->mem, text, "profile", &e), *shape, *counts, *least;
    shape = first_of(first_of(first_of(top, "devices"), "kernels"), "shapes");
    if (!shape || !(counts = json_get(shape, "counts"))) return false;
    r->instructions = json_whole(counts, "warp_instructions");
    r->sectors = sum_of(counts, "global", "sectors");
    r->passes = sum_of(counts, "shared", "wavefronts");
    r->occupancy = json_whole(json_get(shape, "occupancy"), "permille");
    least = json_get(shape, "least_ps");
    r->limit = json_string(shape, "limit");
    for (u32 i = 0; least && least->kind == JSON_OBJECT && i < least->n; i++) {
        u64 x = json_whole(least, arena_str(&t->mem, least->key[i]));
        if (x > r->least_ps) r->least_ps = x;
    }
    return r->least_ps > 0;
}

/* What a process is to time of a configuration, and the case: sizes and choices. */
static void what_of(struct tune *t, const struct tried *r, struct side_what *w, char **line)
{
    lk_compile *c = NEW(&t->mem, lk_compile);
    const char **flag = NEW_ARRAY(&t->mem, const char *, t->words + t->params + 1);
    struct error none = { 0 };
    *w = (struct side_what){ .text = t->file, .on = t->on, .compile = c };
    compiling_target(&t->mem, "tune", t->file, &w->file, &w->kernel, &none);
    *line = arena_str(&t->mem, str_of(t->sizes));
    c->size = sizeof *c;
    c->flag = flag;
    for (u32 i = 0; i + 1 < t->words; i += 2)
        flag[c->flags++] = arena_printf(&t->mem, "%s%s", t->word[i], t->word[i + 1]);
    for (u32 i = 0; i < t->params; i++) {
        const char *value = t->param[i].value[r->at[i]];
        if (t->param[i].config)
            *line = arena_printf(&t->mem, "%s%s%s=%s", *line, (*line)[0] ? " " : "", t->param[i].name, value);
        else
            flag[c->flags++] = arena_printf(&t->mem, "-D%s=%s", t->param[i].name, value);
    }
}

static void time_one(struct tune *t, struct tried *r)
{
    struct side_what w;
    struct error e = { 0 };
    char *line;
    what_of(t, r, &w, &line);
    if (tune_time(&t->mem, &w, line, &t->how, &r->timed, &e)) return;
    r->passed = false;
    snprintf(r->why, sizeof r->why, "on the GPU: %.380s", e.text);
}

/* Counts the launch. What is printed beside the counts is for people: they go to a file of their own. */
static void count_one(struct tune *t, struct tried *r)
{
    const char *tmp = getenv("TMPDIR");
    char *path = (char *)arena_printf(&t->mem, "%s/lockstep-tune-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
    char *count[CLI_SELF_WORDS] = { "profile", (char *)t->file, "--quiet", "--json", path };
    struct text said = { 0 };
    struct str json = { 0 };
    int fd = mkstemp(path), code = -1;
    if (fd >= 0) {
        close(fd);
        add_words(t, r, count, 5);
        code = cli_self(count, &said);
        r->passed = file_read_if(path, &json);
        struct str kept = { r->passed ? arena_str(&t->mem, json) : "", json.n };
        r->passed = r->passed && read_counts(t, r, kept);
        base_free((void *)json.p);
        unlink(path);
    }
    if (fd < 0)
        snprintf(r->why, sizeof r->why, "it passes, and could not be counted: no file can be made in %.200s",
                 tmp && tmp[0] ? tmp : "/tmp");
    else if (!r->passed)
        snprintf(r->why, sizeof r->why, "it passes, and could not be counted (profile exits with %d)", code);
    r->passed &= fd >= 0;
    text_free(&said);
}

/* Compiled, tested, and only then counted. */
static void try_one(struct tune *t, struct tried *r)
{
    char *words[CLI_SELF_WORDS] = { "test", (char *)t->file, "--quiet", "--cases", (char *)t->cases, "--fail-fast" };
    struct text said = { 0 };
    add_words(t, r, words, 6);
    int code = cli_self(words, &said);
    r->built = code == EXIT_CLEAN || code == EXIT_FINDINGS;
    r->passed = code == EXIT_CLEAN;
    if (!r->passed) find_cause(r, said.n ? said.p : "it says nothing");
    text_free(&said);
    if (r->passed && !process_signal()) count_one(t, r);
    if (r->passed && t->on && !process_signal()) time_one(t, r);
}

static void config_text(const struct tune *t, const struct tried *r, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    for (u32 i = 0; i < t->params && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s=%s", i ? " " : "", t->param[i].name,
                              t->param[i].value[r->at[i]]);
}

static void print_row(const struct tune *t, const struct tried *r)
{
    char config[300];
    config_text(t, r, config, sizeof config);
    if (!r->passed)
        printf("  %-24s %s: %s\n", config, r->built ? "fails" : "cannot be tried", r->why);
    else if (r->timed.median > 0) {
        char m[40], low[40], high[40];
        times_text(r->timed.median, "s", m, sizeof m);
        times_text(r->timed.low, "s", low, sizeof low);
        times_text(r->timed.high, "s", high, sizeof high);
        printf("  %-24s %10s (%s to %s); at least %.3f us by %s, %" PRIu64 " wavefronts\n", config, m, low, high,
               (double)r->least_ps * 1e-6, r->limit, r->passes);
    } else
        printf("  %-24s at least %9.3f us by %-6s  %10" PRIu64 " instructions  %9" PRIu64 " sectors  %9" PRIu64
               " wavefronts  occupancy %3.0f %%\n",
               config, (double)r->least_ps * 1e-6, r->limit, r->instructions, r->sectors, r->passes,
               (double)r->occupancy / 10);
    fflush(stdout);
}

/* false: the limit of configurations is reached, or a signal came. */
static bool try_next(struct tune *t, const u8 *at)
{
    if (process_signal()) return false;
    if (t->rows == t->most) {
        t->left_out++;
        return true;
    }
    struct tried *r = &t->row[t->rows++];
    memcpy(r->at, at, sizeof r->at);
    try_one(t, r);
    if (!process_signal() && (!t->json || strcmp(t->json, "-"))) print_row(t, r);
    return !process_signal();
}

static bool sweep(struct tune *t)
{
    u8 at[PARAMS_MOST] = { 0 };
    if (!try_next(t, at)) return false;
    for (u32 p = 0; p < t->params; p++, memset(at, 0, sizeof at))
        for (at[p] = 1; at[p] < t->param[p].n; at[p]++)
            if (!try_next(t, at)) return false;
    for (u32 p = 0; p < t->params; p++)
        for (u32 q = p + 1; q < t->params; q++, memset(at, 0, sizeof at))
            for (at[p] = 1; at[p] < t->param[p].n; at[p]++)
                for (at[q] = 1; at[q] < t->param[q].n; at[q]++)
                    if (!try_next(t, at)) return false;
    return true;
}

static const struct tried *best_of(const struct tune *t)
{
    const struct tried *best = NULL;
    for (u32 i = 0; i < t->rows; i++) {
        const struct tried *r = &t->row[i];
        if (r->passed && t->on) {
            if (!best || r->timed.median < best->timed.median) best = r;
        } else if (r->passed && (!best || r->least_ps < best->least_ps ||
                                 (r->least_ps == best->least_ps && r->instructions < best->instructions)))
            best = r;
    }
    return best;
}

/* The best beside the baseline, or beside the next best where the baseline fails or is the best. */
static bool measure_again(struct tune *t, const struct tried *best, struct error *e)
{
    const struct tried *other = t->row[0].passed && best != &t->row[0] ? &t->row[0] : NULL;
    bool baseline = other != NULL;
    for (u32 i = 0; !baseline && i < t->rows; i++) {
        const struct tried *r = &t->row[i];
        if (r->passed && r != best && (!other || r->timed.median < other->timed.median)) other = r;
    }
    if (!other) return true;
    struct side_what w[2];
    char *line[2];
    what_of(t, other, &w[0], &line[0]);
    what_of(t, best, &w[1], &line[1]);
    struct bench_how how = t->how;
    if (how.processes < 6) how.processes = 6;
    t->again = tune_again(&t->mem, w, (const char *const *)line, &how, &t->last, e);
    return t->again;
}

static void print_end(const struct tune *t, const struct tried *best)
{
    char config[300];
    u32 passed = 0;
    for (u32 i = 0; i < t->rows; i++) passed += t->row[i].passed;
    printf("%u configuration%s: %u passed, %u failed", t->rows, plural(t->rows), passed, t->rows - passed);
    if (t->left_out) printf(", %u left out (--most %u)", t->left_out, t->most);
    printf("\n");
    if (!best) return;
    config_text(t, best, config, sizeof config);
    printf("best: %s", config);
    if (best == &t->row[0])
        printf(", the baseline");
    else if (!t->row[0].passed)
        printf("; the baseline fails");
    else if (t->on)
        printf(", %.2f of the baseline's time", best->timed.median / t->row[0].timed.median);
    else
        printf(", %.2f of the baseline's least time", (double)best->least_ps / (double)t->row[0].least_ps);
    if (!t->on) {
        printf(". By counts and a model: measure the best few on a GPU\n");
        return;
    }
    printf("\n");
    if (!t->again) return;
    const lk_judgement *j = &t->last.judged;
    char m[40], base[40];
    times_text(j->after, "s", m, sizeof m);
    times_text(j->before, "s", base, sizeof base);
    printf("once more, in fresh processes: %s, the %s %s; %.3f of its time (%.3f to %.3f): %s\n", m,
           t->row[0].passed && best != &t->row[0] ? "baseline" : "next best", base, j->ratio, j->low, j->high,
           lk_verdict_name(j->verdict));
}

/* Of a parameter that nothing uses, say, since its name is misspelt. */
static bool counts_the_same(const struct tune *t, u32 p)
{
    u32 pairs = 0;
    for (u32 i = 0; i < t->rows; i++)
        for (u32 k = 0; k < i; k++) {
            const struct tried *a = &t->row[i], *b = &t->row[k];
            bool only = a->passed && b->passed && a->at[p] != b->at[p];
            for (u32 q = 0; q < t->params; q++) only = only && (q == p || a->at[q] == b->at[q]);
            if (!only) continue;
            if (a->least_ps != b->least_ps || a->instructions != b->instructions || a->sectors != b->sectors ||
                a->passes != b->passes || a->occupancy != b->occupancy)
                return false;
            pairs++;
        }
    return pairs != 0;
}

static void print_unused(const struct tune *t)
{
    for (u32 p = 0; p < t->params; p++)
        if (counts_the_same(t, p))
            printf("%s: whatever its value, all counts are the same; does a line of %s, or of its contract, use it?\n",
                   t->param[p].name, t->file);
}

/* An entry for each attempt: what was tried, what became of it. */
static bool write_journal(const struct tune *t, const struct tried *best, struct error *e)
{
    bool ok = true;
    for (u32 i = 0; ok && i < t->rows; i++) {
        const struct tried *r = &t->row[i];
        struct text line = { 0 };
        char now[32];
        struct json top = { &line, false }, o = json_open(&top, NULL, '{');
        journal_time(now);
        json_text(&o, "entry", "tune");
        json_text(&o, "name", t->file);
        json_text(&o, "time", now);
        struct json param = json_open(&o, "parameters", '{');
        for (u32 p = 0; p < t->params; p++) json_text(&param, t->param[p].name, t->param[p].value[r->at[p]]);
        json_end(&param, '}');
        json_text(&o, "end", r->passed ? "passed" : r->built ? "failed" : "not tried");
        if (!r->passed) json_text(&o, "why", r->why);
        json_bool(&o, "best", r == best);
        if (r->passed) json_double(&o, "least", (double)r->least_ps * 1e-12);
        if (r->timed.median > 0) {
            json_double(&o, "median", r->timed.median);
            json_double(&o, "low", r->timed.low);
            json_double(&o, "high", r->timed.high);
        }
        ok = journal_append(t->journal, &line, e);
        text_free(&line);
    }
    return ok;
}

static bool write_json(const struct tune *t, const struct tried *best, struct error *e)
{
    struct text out = { 0 };
    struct json top = { &out, false }, all = json_open(&top, NULL, '{');
    json_text(&all, "schema", "lockstep-tune");
    json_number(&all, "version", 1);
    json_text(&all, "file", t->file);
    json_number(&all, "left_out", t->left_out);
    struct json rows = json_open(&all, "configurations", '[');
    for (u32 i = 0; i < t->rows; i++) {
        const struct tried *r = &t->row[i];
        struct json one = json_open(&rows, NULL, '{'), param = json_open(&one, "parameters", '{');
        for (u32 p = 0; p < t->params; p++) json_text(&param, t->param[p].name, t->param[p].value[r->at[p]]);
        json_end(&param, '}');
        json_bool(&one, "passed", r->passed);
        json_bool(&one, "best", r == best);
        json_text(&one, "why", r->passed ? NULL : r->why);
        if (r->timed.median > 0) {
            json_double(&one, "median", r->timed.median);
            json_double(&one, "low", r->timed.low);
            json_double(&one, "high", r->timed.high);
        }
        json_number(&one, "least_ps", r->least_ps);
        json_number(&one, "warp_instructions", r->instructions);
        json_number(&one, "sectors", r->sectors);
        json_number(&one, "shared_passes", r->passes);
        json_number(&one, "occupancy_permille", r->occupancy);
        json_end(&one, '}');
    }
    json_end(&rows, ']');
    json_end(&all, '}');
    text_add(&out, "\n");
    bool ok = file_write(t->json, out.p, out.n, e);
    text_free(&out);
    return ok;
}

int cmd_tune(int argc, char **argv)
{
    struct tune t = { .most = 100, .cases = "8", .sizes = "", .how = { .processes = 3, .samples = 10 } };
    struct error e = { 0 };
    struct parser p = { .verb = VERB_tune, .self = &t, .option = take_option, .word = take_word };
    if (!options_parse(&p, argc, argv, &e)) return e.code ? cli_error_value(&e) : EXIT_CLEAN;
    if (!t.file || !t.params)
        return cli_error(
            "tune: a file and at least one --param NAME=VALUE,VALUE... are needed; lockstep tune --help shows how");
    if (t.sizes[0] && !t.on) return cli_error("tune: --sizes is the case that is timed: --on gpu");
    lk_gpu *gpu;
    lk_options asked = { .size = sizeof asked, .device = t.device, .threads = 1 };
    if (lk_gpu_create(&asked, &gpu)) return cli_error("%.400s", lk_gpu_error(NULL));
    lk_gpu_destroy(gpu);
    if (!t.most) return cli_error("tune: --most 0: one configuration at least is tried");
    if (!find_configs(&t, &e)) return cli_error_value(&e);
    t.row = NEW_ARRAY(&t.mem, struct tried, t.most);
    process_guard();
    bool whole = sweep(&t), ok = true;
    const struct tried *best = best_of(&t);
    if (t.on && whole && best) ok = measure_again(&t, best, &e);
    if (!t.json || strcmp(t.json, "-")) {
        print_end(&t, best);
        print_unused(&t);
    }
    if (ok && t.journal) ok = write_journal(&t, best, &e);
    if (ok && t.json) ok = write_json(&t, best, &e);
    bool any = false;
    for (u32 i = 0; i < t.rows; i++) any = any || t.row[i].built;
    int code = !ok      ? cli_error_value(&e)
               : !whole ? EXIT_SIGNAL + process_signal()
               : best   ? EXIT_CLEAN
               : any    ? EXIT_FINDINGS
                        : EXIT_USAGE;
    arena_free(&t.mem);
    return code;
}
