/* lockstep isa: the instruction set, from the table that the machine is made of. */
#include "cli/cli.h"
#include <lockstep.h>

#define OPTIONS_isa OWN_ROWS
#include "cli/option_own.h"

static bool matches(const char *pattern, const char *syntax) { return !pattern || strstr(syntax, pattern); }

/* One line a form; a form for each of .ftz and .sat would print the same line again. */
static u32 list(const char *pattern)
{
    lk_isa_info x;
    char last[sizeof x.syntax] = "";
    u32 n = 0;
    for (u32 i = 0; lk_isa_form(i, &x); i++) {
        if (!x.syntax[0] || !matches(pattern, x.syntax) || !strcmp(last, x.syntax)) continue;
        puts(x.syntax);
        strcpy(last, x.syntax);
        n++;
    }
    return n;
}

/* Every opcode of the lane forms, spelled out, with the types of its operands; memory and control rows have too many.
 */
static u32 list_opcodes(const char *pattern)
{
    lk_isa_info x;
    char op[256];
    u32 count = 0;
    for (u32 i = 0; lk_isa_form(i, &x); i++) {
        if (!x.syntax[0] || !strcmp(x.family, "named")) continue;
        for (u32 n = 0; lk_isa_opcode(i, n, op, sizeof op); n++) {
            if (!op[0] || !matches(pattern, op)) continue;
            printf("%s\t%s\t%s", op, x.id, strchr(x.syntax, ' ') ? strchr(x.syntax, ' ') + 1 : "");
            for (u32 k = 0; k < 5 && x.type[k][0]; k++) printf("%c%s", k ? ' ' : '\t', x.type[k]);
            putchar('\n');
            count++;
        }
    }
    return count;
}

static void print_types(u32 first, u32 end)
{
    lk_isa_info x;
    char text[64], last[64] = "";
    fputs(" | ", stdout);
    for (u32 i = first; i < end; i++) {
        lk_isa_form(i, &x);
        if (strstr(x.row, ".D") && strstr(x.row, ".T"))
            snprintf(text, sizeof text, "%s.%s", x.type[0], x.type[1]);
        else if (strstr(x.row, ".A"))
            snprintf(text, sizeof text, "%s%s%s%s%s", strstr(x.row, ".D") ? x.type[0] : "",
                     strstr(x.row, ".D") ? "." : "", x.type[1], strstr(x.row, ".B") ? "." : "",
                     strstr(x.row, ".B") ? x.type[2] : "");
        else
            snprintf(text, sizeof text, "%s", strstr(x.row, ".T") ? x.type[1] : "");
        if (strcmp(text, last)) printf("%s ", text);
        strcpy(last, text);
    }
    putchar('|');
}

/* ns a warp instruction of a row, from a file of "row ns" lines; empty: it was not measured. */
static void print_time(struct str times, const char *row)
{
    size_t n = strlen(row);
    for (const char *p = times.p; p && *p; p += strcspn(p, "\n"), p += *p == '\n')
        if (!strncmp(p, row, n) && p[n] == ' ') {
            printf(" %.*s |", (int)strcspn(p + n + 1, "\n"), p + n + 1);
            return;
        }
    fputs(" |", stdout);
}

/* docs/reference/isa.md: one line a row. */
static u32 print_markdown(struct str times)
{
    static const char *const title[][2] = { { "int", "Integers, logic, comparison, selection, moves" },
                                            { "float", "f32 and f64, to the nearest" },
                                            { "round", "Directed rounding, packed and mixed types" },
                                            { "half", "f16 and bf16" },
                                            { "cvt", "Conversions" },
                                            { "video", "Video instructions" },
                                            { "named", "Memory, across lanes, control" } };
    lk_isa_info x, y;
    const char *family = "";
    u32 n = 0, end;
    puts("# The instruction set\n\nMade by `lockstep isa --markdown` from src/ptx/isa/isa.def. {.x} may be there, "
         "(.x|.y) "
         "is one of them, "
         "{~.x} is accepted and means nothing;\nT, D, A, B, C stand for the types on the right.");
    if (times.n)
        puts("\nns: time of the row's slowest type for a whole warp, on one 2.6 GHz arm64 processor, unchecked (`truth "
             "times`; `make docs` puts it here).");
    for (u32 i = 0; lk_isa_form(i, &x); i = end, n++) {
        for (end = i + 1; lk_isa_form(end, &y) && !strcmp(y.row, x.row) && !strcmp(y.id, x.id); end++) {}
        if (!x.row[0]) continue;
        if (strcmp(family, x.family)) {
            for (u32 k = 0; k < COUNT_OF(title); k++)
                if (!strcmp(title[k][0], x.family))
                    printf("\n## %s\n\n| syntax | types |%s\n|---|---|%s\n", title[k][1], times.n ? " ns |" : "",
                           times.n ? "---:|" : "");
            family = x.family;
        }
        fputs("| `", stdout);
        for (const char *p = x.row; *p; p++) printf(*p == '|' ? "\\|" : "%c", *p);
        putchar('`');
        print_types(i, end);
        if (times.n) print_time(times, x.id);
        putchar('\n');
    }
    return n;
}

struct isa_request {
    const char *pattern, *times;
    bool opcodes, markdown;
};

static bool read_option(void *self, const struct row *o, const char *value, struct error *e)
{
    struct isa_request *a = self;
    (void)e;
    switch ((enum own_option)o->id) {
    case OWN_OPCODES: return a->opcodes = true;
    case OWN_TIMES: a->times = value; return true;
    case OWN_MARKDOWN: return a->markdown = true;
    }
    CHECK(!"an option of isa without its case");
}

static bool read_word(void *self, const char *word, struct error *e)
{
    struct isa_request *a = self;
    if (a->pattern) return error_set(e, ERR_INPUT, "isa takes one pattern, `%.40s` or `%.40s`", a->pattern, word);
    a->pattern = word;
    return true;
}

int cmd_isa(int argc, char **argv)
{
    struct isa_request a = { 0 };
    struct error e = { 0 };
    struct parser p = { .verb = VERB_isa, .self = &a, .option = read_option, .word = read_word };
    if (!options_parse(&p, argc, argv, &e)) return cli_error_value(&e);
    struct str times = { 0 };
    if (a.times && !file_read(a.times, &times, &e)) return cli_error_value(&e);
    u32 n = a.markdown ? print_markdown(times) : a.opcodes ? list_opcodes(a.pattern) : list(a.pattern);
    base_free((void *)times.p);
    return n ? EXIT_CLEAN : cli_error("no instruction has `%.40s` in it", a.pattern ? a.pattern : "");
}
