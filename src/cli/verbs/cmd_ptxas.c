/* lockstep ptxas: ptxas, whose cubin keeps its PTX.
 *
 * Programs that compile on the fly, as Triton does, write PTX to a file, call ptxas, and load its cubin. Under
 * `lockstep run` the front sends such a call here (src/cuda/front/front_exec.c). */
#include "verbs/keep.h"
#include <lockstep.h>
#include <unistd.h>

static bool tool_find(const char *name, char path[1024])
{
    lk_tool t = { .size = sizeof t };
    for (u32 i = 0; lk_tool_at(i, &t); i++)
        if (!strcmp(t.name, name) && t.path[0]) return snprintf(path, 1024, "%s", t.path) < 1024;
    return file_program(name, path, 1024);
}

static bool is_tool(const char *word, const char *name)
{
    const char *slash = strrchr(word, '/');
    return slash && !strncmp(slash + 1, name, strlen(name)) && !access(word, X_OK);
}

int cmd_ptxas(int argc, char **argv)
{
    struct arena mem = { 0 };
    VEC(const char *) input = { 0 };
    char path[1024];
    const char *output = "elf.o", *value;
    bool took;
    if (argc > 1 && is_tool(argv[1], "ptxas")) {
        snprintf(path, sizeof path, "%s", argv[1]);
        argc--, argv++;
    } else if (!tool_find("ptxas", path)) {
        return cli_error("no ptxas is here: it comes with a CUDA toolkit; put it on PATH or set CUDA_HOME");
    }
    for (int i = 1; i < argc; i++) {
        size_t n = strlen(argv[i]);
        if ((value = keep_value(argv[i], argv[i + 1], "--output-file", "-o", &took)))
            output = value;
        else if (argv[i][0] != '-' && n > 4 && !strcmp(argv[i] + n - 4, ".ptx"))
            VEC_PUSH(&mem, &input, argv[i]);
        else
            took = false;
        i += took;
    }
    argv[0] = path;
    int code = keep_run(argv);
    if (code < 0)
        code = cli_error("cannot run %.300s", path);
    else if (!code && file_is_regular(output) && !keep_add(output, input.p, input.n))
        code = EXIT_USAGE;
    arena_free(&mem);
    return code;
}
