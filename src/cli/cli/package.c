/* What the command leaves to the Python package (python/lockstep): it becomes a Python that calls `command` of a module
 * of the package, with these words. The package is the one that the command came with, or the one that is installed. */
#include "cli/cli.h"
#include <stdlib.h>
#include <unistd.h>

/* The folder that has lockstep/__init__.py: above the command in a wheel, beside its folder in a checkout; "": none. */
static void package_folder(char *out, size_t size)
{
    static const char *const place[] = { "/../..", "/../python" };
    char self[4000], file[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    out[0] = 0;
    if (n <= 0) return;
    self[n] = 0;
    char *slash = strrchr(self, '/');
    if (slash) *slash = 0;
    for (u32 i = 0; i < COUNT_OF(place); i++) {
        snprintf(file, sizeof file, "%s%s/lockstep/__init__.py", self, place[i]);
        if (access(file, R_OK)) continue;
        snprintf(out, size, "%s%s", self, place[i]);
        return;
    }
}

int cli_package(const char *module, char *const words[])
{
    static const char script[] = "import os, sys\n"
                                 "sys.path[:0] = filter(None, [sys.argv[1]])\n"
                                 "try:\n"
                                 "    import importlib; m = importlib.import_module('lockstep.' + sys.argv[2])\n"
                                 "except ImportError as e:\n"
                                 "    print('lockstep: this needs the Python package, pip install lockstep: %s' % e, "
                                 "file=sys.stderr); sys.exit(3)\n"
                                 "sys.exit(m.command(sys.argv[3:]))\n";
    char folder[4096];
    const char *asked = getenv("LOCKSTEP_PYTHON"), *python = asked && asked[0] ? asked : "python3";
    u32 n = 0;
    while (words[n]) n++;
    char **argv = base_need((n + 6) * sizeof *argv);
    package_folder(folder, sizeof folder);
    argv[0] = (char *)python;
    argv[1] = "-c";
    argv[2] = (char *)script;
    argv[3] = folder;
    argv[4] = (char *)module;
    for (u32 i = 0; i <= n; i++) argv[5 + i] = words[i];
    fflush(stdout);
    execvp(python, argv);
    base_free(argv);
    fprintf(stderr, "lockstep: this needs Python 3 and the package lockstep, and %s cannot be started\n", python);
    return EXIT_UNSUPPORTED;
}
