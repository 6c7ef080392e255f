/* lockstep explain: what a finding, an error of CUDA or a line of a log means, its usual causes, and what to do.
 *
 * A word is tried as a kind of finding (bounds, LK0101), as a CUDA error (700, CUDA_ERROR_ILLEGAL_ADDRESS,
 * cudaErrorIllegalAddress, in any case, with or without the prefix), as another sign (exit-139, cublas-13, or cublas
 * and 13 as two words), and else as a line of a log. A log is read line by line for any of these and for the words of
 * messages of CUDA, its libraries, frameworks and tools. */
#include "verbs/explain_log.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#define OPTIONS_explain OWN_ROWS
#include "cli/option_own.h"

enum { WRAP = 100, NAMES = 2048 };

/* "label  text", wrapped; the label only on the first line. */
static void paragraph(const char *label, const char *text)
{
    int column = 10, at = printf("  %-8s", label);
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, " ");
        if (at + (int)n + 1 > WRAP && at > column) {
            printf("\n%*s", column, "");
            at = column;
        }
        at += printf("%s%.*s", at > column ? " " : "", (int)n, p);
        p += n + (p[n] == ' ');
    }
    putchar('\n');
}

static void explain_kind(const lk_kind_info *k)
{
    printf("%s[%s] LK%04u: %s\n", k->is_error ? "error" : "note", k->id, k->code, k->title);
    paragraph("means", k->meaning);
    paragraph("do", k->fix);
    bool own = strcmp(k->id, k->check) != 0;
    if (k->check[0])
        printf("  check   %s (--no-check %s%s%s%s)%s%s\n", k->check, k->check, own ? "; --no-check " : "",
               own ? k->id : "", own ? " is for this kind alone" : "", k->rule[0] ? ", rule " : "", k->rule);
    if (k->example[0]) printf("  example tests/cases/%s.case\n", k->example);
}

static const char *lasting_text(lk_cuda_lasting l)
{
    return l == LK_CUDA_STICKY    ? "sticky: every later call fails too, and the process has to be started again. It "
                                    "surfaces at a later call than the launch that caused it: look at the launches "
                                    "before"
           : l == LK_CUDA_CONTEXT ? "the context is lost, and with it its memory. It surfaces at a later call than the "
                                    "launch that caused it"
                                  : "passing: the next call may succeed";
}

static void explain_error(const lk_cuda_error *x)
{
    if (!x->number)
        printf("0 CUDA_SUCCESS, cudaSuccess\n");
    else
        printf("%u %s%s%s%s%s\n", x->number, x->driver[0] ? "CUDA_ERROR_" : "", x->driver,
               x->driver[0] && x->runtime[0] ? ", " : "", x->runtime[0] ? "cudaError" : "", x->runtime);
    paragraph("means", x->meaning);
    if (x->causes[0]) paragraph("causes", x->causes);
    if (x->fix[0]) paragraph("do", x->fix);
    if (x->kinds[0]) paragraph("finds", x->kinds);
    if (x->number) paragraph("lasts", lasting_text(x->lasting));
}

static void explain_sign(const lk_cuda_sign *s)
{
    const char *star = strchr(s->words, '*');
    if (star)
        printf("%s: %.*s... %s\n", s->name, (int)(star - s->words), s->words, star + 1);
    else
        printf("%s: %s\n", s->name, s->words);
    paragraph("means", s->meaning);
    paragraph("do", s->fix);
}

/* Results of libraries that have this number, too. */
static void also_results(u64 number)
{
    struct text t = { 0 };
    char end[24];
    lk_cuda_sign s;
    snprintf(end, sizeof end, "-%" PRIu64, number);
    const char *last = "";
    for (u32 i = 0; number && lk_cuda_sign_at(i, &s); i++) {
        size_t n = strlen(s.name), m = strlen(end);
        if (n <= m || strcmp(s.name + n - m, end) || !strcmp(s.name, last) || !strncmp(s.name, "exit", 4)) continue;
        text_add(&t, "%s%s (%s)", t.n ? ", " : "", s.words, s.name);
        last = s.name;
    }
    if (t.n) paragraph("also", t.p);
    text_free(&t);
}

/* A number alone: an error of CUDA, how a process ended, or the result of a library. */
static bool explain_number(u64 number)
{
    static const char *const from[] = { "exit", "cudnn" };
    lk_cuda_error x;
    lk_cuda_sign s;
    if (known_number((u32)number, &x)) {
        explain_error(&x);
        also_results(number);
        return true;
    }
    for (u32 i = 0; i < COUNT_OF(from); i++) {
        char name[40];
        snprintf(name, sizeof name, "%s-%" PRIu64, from[i], number);
        if (known_sign(name, &s)) return explain_sign(&s), true;
    }
    return false;
}

/* One word of the command line; false: it is nothing known. */
static bool explain_word(const char *word)
{
    lk_kind_info k;
    lk_cuda_error x;
    lk_cuda_sign s;
    u64 number;
    if (known_kind(word, &k)) return explain_kind(&k), true;
    if (option_whole(word, UINT32_MAX, &number)) return explain_number(number);
    if (known_error(word, &x)) return explain_error(&x), true;
    if (known_sign(word, &s)) return explain_sign(&s), true;
    return false;
}

static void explain_found(const struct log *l)
{
    for (u32 i = 0; i < l->words; i++) {
        if (i) putchar('\n');
        explain_word(l->word[i]);
    }
}

/* What was pasted as one argument: a line of a log. */
static bool explain_line(struct arena *a, const char *line)
{
    struct log l = { 0 };
    log_line(a, line, &l);
    explain_found(&l);
    return l.words > 0;
}

static int unknown_word(struct arena *a, const char *word)
{
    if (!word[strspn(word, " \t\n")]) return cli_error("explain: an empty text says nothing");
    const char **names = NEW_ARRAY(a, const char *, NAMES);
    u32 n = 0;
    lk_kind_info k;
    lk_cuda_error x;
    lk_cuda_sign s;
    for (u32 i = 0; lk_kind_at(i, &k) && n < NAMES; i++) names[n++] = k.id;
    for (u32 i = 0; lk_cuda_error_at(i, &x) && n + 4 < NAMES; i++) {
        names[n++] = x.driver;
        names[n++] = x.runtime;
        names[n++] = arena_printf(a, "CUDA_ERROR_%s", x.driver);
        names[n++] = arena_printf(a, "cudaError%s", x.runtime);
    }
    for (u32 i = 0; lk_cuda_sign_at(i, &s) && n + 1 < NAMES; i++) {
        names[n++] = s.name;
        names[n++] = s.words;
    }
    char upper[64];
    u32 length = 0;
    for (; word[length] && length + 1 < sizeof upper; length++)
        upper[length] = (char)toupper((unsigned char)word[length]);
    upper[length] = 0;
    const char *near = str_nearest(str_of(word), names, n);
    near = near ? near : str_nearest(str_of(upper), names, n);
    if (near)
        return cli_error("nothing is known of `%.60s`; did you mean `%s`? lockstep explain lists the findings", word,
                         near);
    return cli_error(
        "nothing is known of `%.60s`; lockstep explain lists the findings, and takes numbers and names of CUDA errors",
        word);
}

/* ---- logs ---- */

static int explain_log(struct arena *a, FILE *f)
{
    struct log l = { 0 };
    char line[4096];
    while (fgets(line, sizeof line, f)) log_line(a, line, &l);
    if (!l.words) {
        printf("nothing in it that Lockstep knows\n");
        return EXIT_NOTHING;
    }
    explain_found(&l);
    return EXIT_CLEAN;
}

/* ---- lists ---- */

static void list_kinds(void)
{
    lk_kind_info k;
    for (u32 i = 0; lk_kind_at(i, &k); i++)
        printf("LK%04u  %-5s  %-18s %s\n", k.code, k.is_error ? "error" : "note", k.id, k.title);
}

static void list_errors(void)
{
    lk_cuda_error x;
    for (u32 i = 0; lk_cuda_error_at(i, &x); i++)
        if (x.number) printf("%3u  %-32s %s\n", x.number, x.driver[0] ? x.driver : "-", x.runtime[0] ? x.runtime : "-");
}

static void list_signs(void)
{
    lk_cuda_sign s;
    for (u32 i = 0; lk_cuda_sign_at(i, &s); i++) printf("%-20s %s\n", s.name, s.words);
}

static void kind_markdown(const lk_kind_info *k)
{
    printf("### `%s`: %s\n\nLK%04u, %s.\n\n%s\n\n*What to do.* %s\n\n", k->id, k->title, k->code,
           k->is_error ? "error" : "note", k->meaning, k->fix);
    if (k->rule[0]) printf("Rule %s of [rules.md](rules.md). ", k->rule);
    if (k->example[0])
        printf("Example: [tests/cases/%s.case](../../tests/cases/%s.case), its report beside it.\n\n", k->example,
               k->example);
    else if (k->rule[0])
        printf("\n\n");
}

static void markdown(void)
{
    const char *name, *purpose;
    lk_kind_info k;
    printf("# Findings\n\n<!-- made by `make docs` from src/store/report/finding.def -->\n\n"
           "Every kind of finding: its stable code, whether it is an error or a note, the check it belongs to, what it "
           "means and how to fix it. "
           "`lockstep explain KIND` prints the same. Only errors change the exit code.\n\n");
    for (u32 c = 0; (name = lk_check_at(c, &purpose)); c++) {
        printf("## Check `%s`\n\nFinds %s.\n\n", name, purpose);
        for (u32 i = 0; lk_kind_at(i, &k); i++)
            if (!strcmp(k.check, name)) kind_markdown(&k);
    }
    printf("## Always on\n\nWhat stops a kernel, or a launch, on any machine.\n\n");
    for (u32 i = 0; lk_kind_at(i, &k); i++)
        if (!k.check[0]) kind_markdown(&k);
}

struct wish {
    const char *word[64];
    u32 words;
    bool markdown, errors, signs;
};

static bool read_option(void *self, const struct row *o, const char *value, struct error *e)
{
    struct wish *w = self;
    (void)value, (void)e;
    switch ((enum own_option)o->id) {
    case OWN_MARKDOWN: return w->markdown = true;
    case OWN_SIGNS: return w->signs = true;
    case OWN_ERRORS: return w->errors = true;
    }
    CHECK(!"an option of explain without its case");
}

static bool read_word(void *self, const char *word, struct error *e)
{
    struct wish *w = self;
    if (w->words == COUNT_OF(w->word))
        return error_set(e, ERR_INPUT, "more than %d words; pass a log on standard input: lockstep explain - < FILE",
                         (int)COUNT_OF(w->word));
    w->word[w->words++] = word;
    return true;
}

static int explain_words(struct arena *a, const struct wish *w)
{
    int code = EXIT_CLEAN;
    for (u32 i = 0; i < w->words; i++) {
        if (i) putchar('\n');
        const char *pair = i + 1 < w->words ? arena_printf(a, "%s-%s", w->word[i], w->word[i + 1]) : "";
        lk_cuda_sign s;
        if (known_sign(pair, &s)) { /* cublas 13, exit 139 */
            explain_sign(&s);
            i++;
        } else if (!strcmp(w->word[i], "-"))
            code = explain_log(a, stdin);
        else if (!explain_word(w->word[i]) && !explain_line(a, w->word[i]))
            code = unknown_word(a, w->word[i]);
    }
    return code;
}

int cmd_explain(int argc, char **argv)
{
    struct wish w = { 0 };
    struct error e = { 0 };
    struct arena a = { 0 };
    struct parser p = { .verb = VERB_explain, .self = &w, .option = read_option, .word = read_word };
    if (!options_parse(&p, argc, argv, &e)) return cli_error_value(&e);
    int code = EXIT_CLEAN;
    if (w.markdown)
        markdown();
    else if (w.errors)
        list_errors();
    else if (w.signs)
        list_signs();
    else if (!w.words)
        list_kinds();
    else
        code = explain_words(&a, &w);
    arena_free(&a);
    return code;
}
