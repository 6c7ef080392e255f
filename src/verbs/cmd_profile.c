/* lockstep profile: a launch or a program, counted. It takes all that `launch` and `run` take, and decides by its first
 * word which of the two is meant. */
#include "verbs/profiling.h"

/* Whether what stands behind this option belongs to it. */
static bool takes_word(const char *word)
{
    bool takes = false;
    for (u32 i = 0; i < row_count; i++) {
        const struct row *o = &rows[i];
        bool ours = o->verb == VERB_run || o->verb == VERB_launch || o->verb == VERB_all;
        if (o->kind == ROW_OPTION && ours && !strcmp(o->name, word)) takes |= o->operand && !operand_optional(o);
    }
    return takes;
}

/* The first word that is neither an option nor what belongs to one; argc: there is none. */
static int first_word(int argc, char **argv)
{
    int i = 1;
    while (i < argc && argv[i][0] == '-' && strcmp(argv[i], "--")) i += 1 + takes_word(argv[i]);
    return i < argc ? i + !strcmp(argv[i], "--") : argc;
}

/* Whether a word of a source is `main`: such a .cu file is a program. */
static bool has_main(const char *path)
{
    struct str text;
    bool found = false;
    if (!file_read_if(path, &text)) return false;
    for (u32 i = 0; i + 4 < text.n && !found; i++)
        found = !memcmp(text.p + i, "main", 4) && (text.p[i + 4] == '(' || text.p[i + 4] == ' ') && i &&
                (text.p[i - 1] == ' ' || text.p[i - 1] == '\n');
    base_free((void *)text.p);
    return found;
}

/* FILE.ptx and FILE.cu without main are files of kernels, with or without :KERNEL behind them. */
static bool is_kernel(const char *word)
{
    size_t n = strlen(word);
    if (strstr(word, ".ptx:") || strstr(word, ".cu:") || str_ends((struct str){ word, (u32)n }, ".ptx")) return true;
    return str_ends((struct str){ word, (u32)n }, ".cu") && !has_main(word);
}

int cmd_profile(int argc, char **argv)
{
    struct profiling p = { 0 };
    int n = 1, first = first_word(argc, argv);
    for (int i = 1; i < argc; i++) {
        if (i < first && !strcmp(argv[i], "--lines"))
            p.lines = true;
        else if (i < first && !strcmp(argv[i], "--timeline"))
            p.timeline = true;
        else
            argv[n++] = argv[i];
    }
    argv[n] = NULL;
    first -= argc - n;
    if (first >= n) return cli_error("profile: no program and no kernel is given; lockstep profile --help shows how");
    bool run = !strcmp(argv[first], "run"), launch = !strcmp(argv[first], "launch");
    if (run || launch) {
        memmove(argv + first, argv + first + 1, (size_t)(n - first) * sizeof *argv);
        n--;
    }
    launch |= !run && is_kernel(argv[first]);
    return (launch ? launch_profiled : run_profiled)(n, argv, &p);
}
