/* lockstep: the command. Verbs and options are the rows of option.def; this finds the verb and runs it. */
#include "base/thread.h"
#include "cli/cli.h"
#include <fcntl.h>
#include <unistd.h>

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
    struct error e = { 0 };
    bool judges = strcmp(verb->name, "help") && strcmp(verb->name, "version") && strcmp(verb->name, "completion");
    if (judges && !variables_known(&e)) return cli_error_value(&e);
    return verb->run(argc, argv);
}

struct begun {
    const struct row *verb;
    int argc;
    char **argv;
    int code;
};

static void run_begun(void *of)
{
    struct begun *b = of;
    b->code = run(b->verb, b->argc, b->argv);
}

/* A standard stream that is closed stays without a reader: the next file that is opened would get its number, and what
 * is printed. Writing to it fails, as it should; programs that are started find it closed. */
static void streams_hold(void)
{
    for (int fd = 0; fd < 3;)
        if (fcntl(fd, F_GETFD) >= 0)
            fd++;
        else if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
            return;
}

int main(int argc, char **argv)
{
    streams_hold();
    cli_streams();
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
    struct begun b = { verb, argc - 1, argv + 1, EXIT_USAGE };
    stack_enough(run_begun, &b);
    int code = b.code;
    if (process_signal()) code = EXIT_SIGNAL + process_signal(); /* a compiler was ended */
    /* a report that did not reach its reader is not a clean run */
    if (!cli_printed()) return cli_error("cannot write to standard output");
    return code;
}
