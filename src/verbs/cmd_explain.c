/* lockstep explain: what a finding, an error of CUDA or a line of a log means, its usual causes, and what to do.
 *
 * A word is tried as a kind of finding (bounds, LK0101), as a CUDA error (700, CUDA_ERROR_ILLEGAL_ADDRESS,
 * cudaErrorIllegalAddress, in any case, with or without the prefix), and as another sign (exit-139). A log is read
 * line by line for any of these and for the words of CUDA's messages. */
#include "cli/cli.h"
#include <lockstep.h>
#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

enum { WRAP = 100, NAMES = 1024, LOG_MOST = 32 };

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
    if (k->check[0])
        printf("  check   %s (--no-check %s)%s%s\n", k->check, k->check, k->rule[0] ? ", rule " : "", k->rule);
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
    printf("%s: %s\n", s->name, s->words);
    paragraph("means", s->meaning);
    paragraph("do", s->fix);
}

static bool by_number(u32 number, lk_cuda_error *x)
{
    for (u32 i = 0; lk_cuda_error_at(i, x); i++)
        if (x->number == number) return true;
    return false;
}

static bool is_name_of(const char *word, const lk_cuda_error *x)
{
    if (!x->number) return !strcasecmp(word, "CUDA_SUCCESS") || !strcasecmp(word, "cudaSuccess");
    if (!strncasecmp(word, "CUDA_ERROR_", 11))
        word += 11;
    else if (!strncasecmp(word, "cudaError", 9))
        word += 9;
    return (x->driver[0] && !strcasecmp(word, x->driver)) || (x->runtime[0] && !strcasecmp(word, x->runtime));
}

static bool by_name(const char *word, lk_cuda_error *x)
{
    for (u32 i = 0; lk_cuda_error_at(i, x); i++)
        if (is_name_of(word, x)) return true;
    return false;
}

static bool kind_by_name(const char *word, lk_kind_info *k)
{
    char code[16];
    for (u32 i = 0; lk_kind_at(i, k); i++) {
        snprintf(code, sizeof code, "LK%04u", k->code);
        if (!strcmp(word, k->id) || !strcasecmp(word, code)) return true;
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
    if (kind_by_name(word, &k)) return explain_kind(&k), true;
    if (option_whole(word, UINT32_MAX, &number) ? by_number((u32)number, &x) : by_name(word, &x))
        return explain_error(&x), true;
    for (u32 i = 0; lk_cuda_sign_at(i, &s); i++)
        if (!strcasecmp(word, s.name) || !strcmp(word, s.words)) return explain_sign(&s), true;
    return false;
}

static int unknown_word(struct arena *a, const char *word)
{
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
    for (u32 i = 0; lk_cuda_sign_at(i, &s) && n < NAMES; i++) names[n++] = s.name;
    char upper[64];
    u32 length = 0;
    for (; word[length] && length + 1 < sizeof upper; length++)
        upper[length] = (char)toupper((unsigned char)word[length]);
    upper[length] = 0;
    const char *near = cli_nearest(word, names, n);
    near = near ? near : cli_nearest(upper, names, n);
    if (near)
        return cli_error("nothing is known of `%.60s`; did you mean `%s`? lockstep explain lists the findings", word,
                         near);
    return cli_error(
        "nothing is known of `%.60s`; lockstep explain lists the findings, and takes numbers and names of CUDA errors",
        word);
}

/* ---- logs ---- */

struct log { /* what was found in one, each once, in order */
    const char *word[LOG_MOST];
    u32 words;
};

static void log_add(struct log *l, const char *word)
{
    for (u32 i = 0; i < l->words; i++)
        if (!strcmp(l->word[i], word)) return;
    if (l->words < LOG_MOST) l->word[l->words++] = word;
}

/* Names in a line: CUDA_ERROR_X, cudaErrorX, and error[kind] of our own reports. */
static void log_names(struct arena *a, const char *line, struct log *l)
{
    static const char *const marks[] = { "CUDA_ERROR_", "cudaError", "error[", "note[" };
    lk_kind_info k;
    lk_cuda_error x;
    for (u32 i = 0; i < COUNT_OF(marks); i++)
        for (const char *p = strstr(line, marks[i]); p; p = strstr(p + 1, marks[i])) {
            const char *from = i < 2 ? p : p + strlen(marks[i]);
            u32 n = 0;
            while (isalnum((unsigned char)from[n]) || from[n] == '_') n++;
            const char *word = arena_str(a, (struct str){ from, n });
            if (i < 2 ? by_name(word, &x) : kind_by_name(word, &k))
                log_add(l, i < 2 ? arena_printf(a, "%u", x.number) : word);
        }
}

/* A number behind "error", as in "CUDA error 700", "error: 700", "error code 700", "failed (700)". */
static void log_numbers(struct arena *a, const char *line, struct log *l)
{
    static const char *const marks[] = { "error ", "error: ", "error code ", "error code: ",
                                         "Error ", "error=",  "failed (",    "error (" };
    lk_cuda_error x;
    for (u32 i = 0; i < COUNT_OF(marks); i++)
        for (const char *p = strstr(line, marks[i]); p; p = strstr(p + 1, marks[i])) {
            char *end;
            const char *from = p + strlen(marks[i]);
            unsigned long n = strtoul(from, &end, 10);
            if (end != from && n && n < 1000 && !isalnum((unsigned char)*end) && by_number((u32)n, &x))
                log_add(l, arena_printf(a, "%lu", n));
        }
}

static void log_words(struct arena *a, const char *line, struct log *l)
{
    const char *words;
    u32 number;
    lk_cuda_sign s;
    for (u32 i = 0; (words = lk_cuda_phrase_at(i, &number)); i++)
        if (strcasestr(line, words)) log_add(l, arena_printf(a, "%u", number));
    for (u32 i = 0; lk_cuda_sign_at(i, &s); i++)
        if (strstr(line, s.words)) log_add(l, s.name);
}

static int explain_log(struct arena *a, FILE *f)
{
    struct log l = { 0 };
    char line[4096];
    while (fgets(line, sizeof line, f)) {
        log_names(a, line, &l);
        log_numbers(a, line, &l);
        log_words(a, line, &l);
    }
    if (!l.words) {
        printf("nothing in it that Lockstep knows\n");
        return EXIT_NOTHING;
    }
    for (u32 i = 0; i < l.words; i++) {
        if (i) putchar('\n');
        explain_word(l.word[i]);
    }
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

static void kind_markdown(const lk_kind_info *k)
{
    printf("### `%s`: %s\n\nLK%04u, %s.\n\n%s\n\n*What to do.* %s\n\n", k->id, k->title, k->code,
           k->is_error ? "error" : "note", k->meaning, k->fix);
    if (k->rule[0]) printf("Rule %s of [rules.md](rules.md). ", k->rule);
    if (k->example[0])
        printf("Example: [tests/cases/%s.case](../tests/cases/%s.case), its report beside it.\n\n", k->example,
               k->example);
    else if (k->rule[0])
        printf("\n\n");
}

static void markdown(void)
{
    const char *name, *purpose;
    lk_kind_info k;
    printf("# Findings\n\n<!-- made by `make docs` from src/report/finding.def -->\n\n"
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
    bool markdown, errors;
};

static bool read_option(void *self, const struct row *o, const char *value, struct error *e)
{
    struct wish *w = self;
    (void)value, (void)e;
    *(o->id == O_explain_MARKDOWN ? &w->markdown : &w->errors) = true;
    return true;
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
        if (!strcmp(w->word[i], "-"))
            code = explain_log(a, stdin);
        else if (!explain_word(w->word[i]))
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
    else if (!w.words)
        list_kinds();
    else
        code = explain_words(&a, &w);
    arena_free(&a);
    return code;
}
