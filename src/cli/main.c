/* lockstep: the command. Each verb is a row of the table below. */
#include "cli/cli.h"
#include <lockstep.h>
#include <stdlib.h>

static const struct verb *const verbs[] = { &verb_launch, &verb_device, &verb_isa };

static int usage(FILE *f)
{
    fputs("Lockstep, a checked GPU: runs CUDA kernels on this processor, 32 lanes at a time, and checks every access.\n\n", f);
    for (u32 i = 0; i < COUNT_OF(verbs); i++)
        fprintf(f, "  lockstep %s %s\n      %s\n", verbs[i]->name, verbs[i]->synopsis, verbs[i]->summary);
    fputs("  lockstep version\n      the version\n"
          "  lockstep help [VERB], lockstep VERB --help\n      all options of a verb\n\n"
          "Exit: 0 clean, 1 findings, 2 bad usage or input, 3 something Lockstep does not support was reached, 4 nothing was run.\n", f);
    return 0;
}

static const struct verb *find(const char *name)
{
    for (u32 i = 0; i < COUNT_OF(verbs); i++)
        if (!strcmp(verbs[i]->name, name))
            return verbs[i];
    return NULL;
}

static int unknown(const char *name)
{
    const char *words[COUNT_OF(verbs) + 2] = { "version", "help" };
    for (u32 i = 0; i < COUNT_OF(verbs); i++)
        words[i + 2] = verbs[i]->name;
    const char *near = cli_nearest(name, words, COUNT_OF(words));
    if (near)
        return cli_error("there is no verb `%.40s`; did you mean `%s`? lockstep --help lists them", name, near);
    return cli_error("there is no verb `%.40s`; lockstep --help lists them", name);
}

static int help(const char *name)
{
    const struct verb *v = name ? find(name) : NULL;
    if (!name)
        return usage(stdout);
    if (!v)
        return unknown(name);
    printf("lockstep %s %s\n\n%s", v->name, v->synopsis, v->help);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        usage(stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (!strcmp(name, "--version") || !strcmp(name, "version")) {
        printf("lockstep %s\n", lk_version());
        return 0;
    }
    if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help"))
        return help(argc > 2 ? argv[2] : NULL);
    const struct verb *v = find(name);
    if (!v)
        return unknown(name);
    for (int i = 2; i < argc; i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
            return help(name);
    int code = v->run(argc - 1, argv + 1);
    /* a report that did not reach its reader is not a clean run */
    if (fflush(stdout) || ferror(stdout))
        return cli_error("cannot write to standard output");
    return code;
}
