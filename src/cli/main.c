/* lockstep: the command. Verbs and options are the rows of option.def; this finds the verb and runs it. */
#include "cli/cli.h"

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) return true;
    return false;
}

static int run(const struct row *verb, int argc, char **argv)
{
    if (asks_for_help(argc, argv)) {
        help_verb(stdout, verb);
        return EXIT_CLEAN;
    }
    return verb->run(argc, argv);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        help_start(stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (!strcmp(name, "--help") || !strcmp(name, "-h")) name = "help";
    if (!strcmp(name, "--version")) name = "version";
    const struct row *verb = verb_find(name);
    if (!verb) return cli_unknown_verb(name);
    process_guard();
    int code = run(verb, argc - 1, argv + 1);
    if (process_signal()) code = EXIT_SIGNAL + process_signal(); /* a compiler was ended */
    /* a report that did not reach its reader is not a clean run */
    if (fflush(stdout) || ferror(stdout)) return cli_error("cannot write to standard output");
    return code;
}
