/* cli: the command. option.def is the table of verbs and options; one cmd_*.c per verb, over <lockstep.h> and base
 * only. */
#ifndef LOCKSTEP_CLI_H
#define LOCKSTEP_CLI_H
#include "cli/option.h"

enum exit_code { /* the same for every verb */
                 EXIT_CLEAN = 0,
                 EXIT_FINDINGS = 1,
                 EXIT_USAGE = 2,       /* bad usage or input */
                 EXIT_UNSUPPORTED = 3, /* an instruction or call that Lockstep does not support was reached */
                 EXIT_NOTHING = 4,     /* nothing was checked or run */
                 EXIT_SIGNAL = 128,    /* plus the number of the signal that stopped the launch */
};

/* Prints "lockstep: ..." on standard error after flushing standard output, and returns EXIT_USAGE. */
int cli_error(const char *fmt, ...) PRINTF_LIKE(1, 2);
int cli_error_value(const struct error *e);
/* The exit code for an lk_status that is not LK_OK, with lk_gpu_error's text printed. */
int cli_error_status(int status, const char *text);
/* "There is no verb x; did you mean y?" */
int cli_unknown_verb(const char *name);
/* Whether the report is coloured: as asked, or when standard output is a terminal that wants colours. */
bool cli_color(const struct common *c);
/* Runs this command with other words, NULL at their end, as process_run does; -1: it cannot be found (self.c). */
enum { CLI_SELF_WORDS = 80 };
int cli_self(char *const words[], struct text *output);
/* Becomes a Python that calls `command` of this module of the package with these words, NULL at their end (package.c).
 * Returns only when there is none: the exit code. */
int cli_package(const char *module, char *const words[]);
/* From now on stdout and stderr spell out what a terminal would obey (output.c). */
void cli_streams(void);
/* Text with colours or erasures of our own, whose other parts were made printable. */
void cli_put(FILE *f, const char *p, size_t n);
bool cli_printed(void); /* all that was printed so far has arrived */
/* Prints text in lines of CLI_WIDTH, the first one from column `at`, the others indented by `indent`. */
enum { CLI_WIDTH = 110 };
void cli_wrapped(FILE *f, const char *text, u32 at, u32 indent);
#endif
