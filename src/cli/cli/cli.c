/* What all verbs share: how errors are said, colours, and guessing what was meant. */
#include "cli/cli.h"
#include <lockstep.h>
#include <stdlib.h>
#include <unistd.h>

int cli_error(const char *fmt, ...)
{
    va_list ap;
    fflush(stdout);
    fputs("lockstep: ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    return EXIT_USAGE;
}

int cli_error_value(const struct error *e)
{
    fflush(stdout);
    error_print(stderr, e);
    return e->code == ERR_UNSUPPORTED ? EXIT_UNSUPPORTED : e->code == ERR_NOTHING ? EXIT_NOTHING : EXIT_USAGE;
}

int cli_error_status(int status, const char *text)
{
    fflush(stdout);
    fputs("lockstep: ", stderr);
    for (; text && *text; text++) {
        fputc(*text, stderr);
        if (*text == '\n') /* what follows the sentence is an excerpt of the source */
            fputs("    ", stderr);
    }
    fputc('\n', stderr);
    switch (status) {
    case LK_FINDINGS: return EXIT_FINDINGS;
    case LK_UNSUPPORTED: return EXIT_UNSUPPORTED;
    case LK_NOTHING: return EXIT_NOTHING;
    default: return EXIT_USAGE;
    }
}

bool cli_color(const struct common *c)
{
    if (c->color != COLOR_AUTO) return c->color == COLOR_ALWAYS;
    const char *term = getenv("TERM"), *no = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") && !(no && no[0]);
}

int cli_unknown_verb(const char *name)
{
    const char *names[VERB_COUNT];
    u32 n = 0;
    for (u32 i = 0; i < row_count; i++)
        if (rows[i].kind == ROW_VERB) names[n++] = rows[i].name;
    const char *near = str_nearest(str_of(name), names, n), *dot = strrchr(name, '.');
    /* a file where the verb belongs */
    static const char *const images[] = { ".cubin", ".fatbin", ".so", ".a", ".o" };
    for (u32 i = 0; dot && i < COUNT_OF(images); i++)
        if (!strcmp(dot, images[i]))
            return cli_error("a verb comes first: lockstep inspect %.200s shows the device code in it", name);
    if (dot && (!strncmp(dot, ".cu", 3) || !strncmp(dot, ".ptx", 4)))
        return cli_error(
            "a verb comes first: lockstep launch %.200s --grid X --block X ARG... launches a kernel of it, "
            "lockstep compile %.200s lists its kernels",
            name, name);
    if (near) return cli_error("there is no verb `%.40s`; did you mean `%s`? lockstep --help lists them", name, near);
    return cli_error("there is no verb `%.40s`; lockstep --help lists them", name);
}

void cli_wrapped(FILE *f, const char *text, u32 at, u32 indent)
{
    for (const char *p = text; *p;) {
        u32 n = (u32)strcspn(p, " ");
        if (at > indent && at + 1 + n > CLI_WIDTH) {
            fprintf(f, "\n%*s", (int)indent, "");
            at = indent;
        } else if (p > text) {
            fputc(' ', f);
            at++;
        }
        fwrite(p, 1, n, f);
        at += n;
        p += n + (p[n] == ' ');
    }
    fputc('\n', f);
}
