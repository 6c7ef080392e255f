/* The man page lockstep(1), in the macros of man(7), from the table. `make man` writes man/lockstep.1 with it. */
#include "cli/cli.h"
#include <ctype.h>
#include <lockstep.h>

/* Text in which nothing is an instruction to troff; a hyphen that was typed stays one. */
static void plain(struct text *t, const char *s)
{
    if (*s == '.' || *s == '\'') text_add(t, "\\&");
    for (; *s; s++) {
        if (*s == '\\')
            text_add(t, "\\e");
        else if (*s == '-')
            text_add(t, "\\-");
        else if (*s == '`') /* quotes what is typed */
            text_add(t, "\"");
        else if (*s == '~')
            text_add(t, "\\(ti");
        else if (*s == '^')
            text_add(t, "\\(ha");
        else
            text_add(t, "%c", *s);
    }
}

/* A sentence as the table has it becomes one with its capital and full stop. */
static void sentence(struct text *t, const char *s)
{
    char first[8] = { (char)toupper((unsigned char)s[0]) };
    /* what begins with a name keeps it */
    if (s[0] && !isalpha((unsigned char)s[1]) && s[1] != ' ') first[0] = s[0];
    plain(t, first);
    if (s[0]) plain(t, s + 1);
    text_add(t, s[0] && s[strlen(s) - 1] == '.' ? "\n" : ".\n");
}

/* Syntax: words in capitals are places to fill in, small words are typed, the rest is grammar. */
static void syntax(struct text *t, const char *s)
{
    while (*s) {
        size_t n = 0;
        while (isalnum((unsigned char)s[n]) || s[n] == '-' || s[n] == '_' ||
               (s[n] == '.' && isalpha((unsigned char)s[n + 1])))
            n++;
        if (!n) {
            char one[2] = { *s++ };
            plain(t, one);
            continue;
        }
        bool typed = false;
        for (size_t i = 0; i < n; i++) typed |= islower((unsigned char)s[i]) || s[i] == '-';
        text_add(t, typed ? "\\fB" : "\\fI");
        for (size_t i = 0; i < n; i++) text_add(t, s[i] == '-' ? "\\-" : "%c", s[i]);
        text_add(t, "\\fR");
        s += n;
    }
}

static void tagged(struct text *t, const struct row *r)
{
    text_add(t, ".TP\n");
    if (r->kind == ROW_TERM) {
        syntax(t, r->name);
    } else {
        text_add(t, "\\fB");
        plain(t, r->name);
        text_add(t, "\\fR");
    }
    if (r->operand) {
        text_add(t, r->kind == ROW_VARIABLE || r->kind == ROW_OWN_VARIABLE ? "=" : " ");
        syntax(t, r->operand);
    }
    text_add(t, "\n");
    sentence(t, r->text);
}

static void command(struct text *t, const struct row *r)
{
    text_add(t, ".B lockstep %s\n", r->name);
    if (!r->operand[0]) return;
    syntax(t, r->operand);
    text_add(t, "\n");
}

static void verb_section(struct text *t, const struct row *verb)
{
    text_add(t, ".SS lockstep %s\n", verb->name);
    sentence(t, verb->text);
    for (u32 i = 0; i < row_count; i++) {
        const struct row *r = &rows[i];
        if (r->verb != verb->verb) continue;
        if (r->kind == ROW_TITLE || r->kind == ROW_TEXT) {
            text_add(t, ".PP\n");
            plain(t, r->kind == ROW_TITLE ? r->name : r->text);
            text_add(t, r->kind == ROW_TITLE ? ":\n" : "\n");
        } else if (r->kind == ROW_OPTION || r->kind == ROW_TERM) {
            tagged(t, r);
        }
    }
}

static void list(struct text *t, const char *title, enum row_kind kind)
{
    text_add(t, ".SH %s\n", title);
    for (const struct row *r = NULL; (r = row_next(r, kind, VERB_all));) tagged(t, r);
}

static void examples(struct text *t)
{
    text_add(t, ".SH EXAMPLES\n");
    bool first = true;
    for (u32 i = 0; i < row_count; i++) {
        if (rows[i].kind != ROW_EXAMPLE) continue;
        text_add(t, first ? "" : ".PP\n");
        first = false;
        sentence(t, rows[i].text);
        text_add(t, ".PP\n.RS 4\n.nf\n");
        plain(t, rows[i].name);
        text_add(t, "\n.fi\n.RE\n");
    }
}

void man_write(struct text *t)
{
    text_add(t, ".\\\" Made by `lockstep help --man` from src/cli/cli/option.def; `make man` writes it.\n");
    text_add(t, ".TH LOCKSTEP 1 \"2026-11-19\" \"Lockstep %s\" \"User Commands\"\n", lk_version());
    text_add(t, ".SH NAME\nlockstep \\- a checked GPU in software\n.SH SYNOPSIS\n");
    const char *between = "";
    for (u32 i = 0; i < row_count; i++)
        if (rows[i].kind == ROW_VERB) {
            text_add(t, "%s", between);
            command(t, &rows[i]);
            between = ".br\n";
        }
    text_add(t, ".SH DESCRIPTION\n"
                "Lockstep runs CUDA kernels on the processor, 32 lanes at a time, and checks every access they make. "
                "It needs no GPU and, for\n"
                "PTX, no CUDA toolkit. What it finds is printed with the source line, the threads, the buffer and "
                "element, the cause and a fix.\n"
                ".PP\nReports, printed elements and times go to standard output; errors, progress and what "
                "\\fB\\-\\-verbose\\fR says to standard error.\n");
    text_add(t, ".SH COMMANDS\n");
    for (u32 i = 0; i < row_count; i++)
        if (rows[i].kind == ROW_VERB) verb_section(t, &rows[i]);
    list(t, "OPTIONS OF EVERY COMMAND", ROW_OPTION);
    list(t, "EXIT STATUS", ROW_EXIT);
    list(t, "ENVIRONMENT", ROW_VARIABLE);
    list(t, "ENVIRONMENT OF ITS OWN PROCESSES", ROW_OWN_VARIABLE);
    examples(t);
}
