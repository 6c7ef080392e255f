/* Two files with the same kernel: the second must be right where the first is, on the same inputs; then both are
 * counted as their contracts launch them, and held against each other line by line. */
#include "journal/comparing.h"
#include <stdlib.h>

bool is_kernel_file(const char *path)
{
    size_t n = strcspn(path, ":");
    struct str name = { path, (u32)n };
    char file[4096];
    snprintf(file, sizeof file, "%.*s", (int)n, path);
    bool blank = strchr(file, ' '); /* a command, `sh x.cu`, unless there is such a file */
    return (!blank || file_exists(file)) && (str_ends(name, ".cu") || str_ends(name, ".ptx"));
}

/* Whether B gives what A gives. A file without a contract is not tested, and that is said. */
static int test_both(const struct comparing *c)
{
    struct text output = { 0 };
    char *words[] = { "test", (char *)c->path[0], "--against", (char *)c->path[1], "--quiet", "--cases", "16", NULL };
    int code = cli_self(words, &output);
    if (code == EXIT_NOTHING) {
        fprintf(stderr, "lockstep: compare: %s has no contract, so nothing says whether the two compute the same\n",
                c->path[0]);
        code = 0;
    } else if (code) {
        fwrite(output.p, 1, output.n, code == EXIT_FINDINGS ? stdout : stderr);
        if (code == EXIT_FINDINGS) printf("not compared: %s is not right where %s is\n", c->path[1], c->path[0]);
        fflush(stdout);
    }
    text_free(&output);
    return code;
}

static int count_one(struct comparing *c, u32 k, const char *folder, struct arena *a, struct error *e)
{
    char *json = arena_printf(a, "%s/%u.json", folder, k);
    char *words[] = { "profile", (char *)c->path[k], "--quiet", "--json", json, NULL };
    struct text output = { 0 };
    struct str text;
    int code = cli_self(words, &output);
    if (code && code != EXIT_FINDINGS) fwrite(output.p, 1, output.n, stderr);
    text_free(&output);
    if (code && code != EXIT_FINDINGS) return code;
    if (!file_read(json, &text, e)) return cli_error_value(e);
    c->file[k] = json_read(a, text, json, e);
    base_free((void *)text.p);
    return c->file[k] ? 0 : cli_error_value(e);
}

int compare_kernels(struct arena *a, struct comparing *c, struct error *e)
{
    char folder[64];
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.40s/lockstep.XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
    process_guard();
    int code = test_both(c);
    if (code || process_signal()) return process_signal() ? EXIT_SIGNAL + process_signal() : code;
    if (!mkdtemp(folder)) return cli_error("compare: no folder can be made in %s: set TMPDIR", folder);
    for (u32 k = 0; k < 2 && !code; k++) code = count_one(c, k, folder, a, e);
    folder_remove(folder);
    return code ? code : compare_profiles(c, a, e);
}
