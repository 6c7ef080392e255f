/* Names that are no programs, by their endings. */
#include "launcher/run_script.h"
#include <errno.h>
#include <unistd.h>

static bool ends_in(const char *name, const char *ending)
{
    size_t n = strlen(name), k = strlen(ending);
    return n > k && !strcmp(name + n - k, ending);
}

char **run_script_command(char **program, struct error *e)
{
    static char *const names[] = { "python3", "python" };
    char path[4096];
    u32 n = 0;
    if (!ends_in(program[0], ".py") || access(program[0], R_OK) || !access(program[0], X_OK)) return NULL;
    while (program[n]) n++;
    for (u32 i = 0; i < COUNT_OF(names); i++) {
        if (!file_program(names[i], path, sizeof path)) continue;
        char **words = base_need((n + 2) * sizeof *words);
        words[0] = names[i];
        memcpy(words + 1, program, (n + 1) * sizeof *words);
        return words;
    }
    error_set(e, ERR_INPUT, "%s: there is neither python3 nor python on the path to run it", program[0]);
    return NULL;
}

/* python, python3, python3.11, by whatever path. */
static bool is_python(const char *program)
{
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    return !strncmp(name, "python", 6) && strspn(name + 6, "0123456789.") == strlen(name + 6);
}

const char *run_script_name(char *const *program)
{
    if (!is_python(program[0])) return program[0];
    for (u32 i = 1; program[i]; i++) {
        const char *word = program[i];
        if (word[0] != '-') return word;
        bool last = word[1] && !word[2]; /* one letter: its value is the next word */
        if (!strcmp(word, "-") || !strncmp(word, "-c", 2)) break;
        if (!strncmp(word, "-m", 2)) return word[2] ? word + 2 : program[i + 1] ? program[i + 1] : program[0];
        if (last && strchr("WX", word[1]) && program[i + 1]) i++;
    }
    return program[0];
}

bool run_script_refuse(const char *name, struct error *e)
{
    static const struct {
        const char *ending, *advice;
    } files[] = {
        { ".ptx", "PTX is not a program: lockstep launch FILE.ptx launches its kernels" },
        { ".c", "a source file is not a program: compile it (cc FILE.c -lcuda), and run what comes of it" },
        { ".cpp", "a source file is not a program: compile it, and run what comes of it" },
        { ".ipynb",
          "a notebook is not a program: lockstep run jupyter nbconvert --to notebook --execute FILE.ipynb runs it" },
    };
    for (u32 i = 0; i < COUNT_OF(files); i++)
        if (ends_in(name, files[i].ending) && !access(name, R_OK))
            return error_set(e, ERR_INPUT, "%s: %s", name, files[i].advice);
    if (!strchr(name, '/')) return error_set(e, ERR_INPUT, "%s: there is no such program", name);
    return error_set(e, ERR_INPUT, "%s: %s", name, access(name, X_OK) ? strerror(errno) : "it is not a file");
}
