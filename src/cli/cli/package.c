/* What the command leaves to the Python package (python/lockstep): it becomes a Python that calls `command` of a module
 * of the package, with these words. The package is the one that the command came with, or the one that is installed. */
#define _GNU_SOURCE
#include "base/python.h"
#include "cli/cli.h"
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
    /* What Dask starts here is a Python with -c, too, and goes by its parent's flags; before 3.11 that can only be -I.
     */
    static const char script[] =
        "class Plain:\n" /* what cli/output.c does for the command; a line of progress begins with \r */
        "    def __init__(self, to): self.to = to\n"
        "    def __getattr__(self, name): return getattr(self.to, name)\n"
        "    def write(self, text): return self.to.write(text.translate(hidden))\n"
        "spans = (0, 9), (11, 13), (14, 32), (127, 160), (0xad, 0xae), (0x61c, 0x61d), "
        "(0x180e, 0x180f), (0x200b, 0x2010), (0x2028, 0x202f), (0x2060, 0x2070), "
        "(0xfeff, 0xff00), (0xfff9, 0xfffc), (0xe0000, 0xe0080)\n"
        "hidden = {c: ('\\\\x%02x' if c < 128 else '\\\\u%04x') % c "
        "for a, b in spans for c in range(a, b)}\n"
        "for to in sys.stdout, sys.stderr:\n"
        "    if to: to.reconfigure(errors='backslashreplace')\n"
        "sys.stdout, sys.stderr = Plain(sys.stdout), Plain(sys.stderr)\n"
        "if sys.version_info < (3, 11):\n"
        "    import multiprocessing.util as u\n"
        "    flags = u._args_from_interpreter_flags\n"
        "    u._args_from_interpreter_flags = lambda: ['-I'] + flags()\n"
        "try:\n"
        "    import importlib\n"
        "    name = 'lockstep.' + sys.argv[2]\n"
        "    m = module_from(sys.argv[1], name) if sys.argv[1] else importlib.import_module(name)\n"
        "except ImportError as e:\n"
        "    print('lockstep: this needs the Python package, pip install lockstep: %s' % e, "
        "file=sys.stderr); sys.exit(3)\n"
        "sys.exit(m.command(sys.argv[3:]))\n";
    struct arena a = { 0 };
    char folder[4096];
    const char *python = python_command();
    u32 n = 0;
    while (words[n]) n++;
    char **argv = NEW_ARRAY(&a, char *, n + 6);
    package_folder(folder, sizeof folder);
    argv[0] = (char *)python;
    argv[1] = "-c";
    argv[2] = (char *)python_script(&a, script);
    argv[3] = folder;
    argv[4] = (char *)module;
    for (u32 i = 0; i <= n; i++) argv[5 + i] = words[i];
    fflush(stdout);
    execvpe(python, argv, python_environment(&a));
    arena_free(&a);
    fprintf(stderr, "lockstep: this needs Python 3 and the package lockstep, and %s cannot be started\n", python);
    return EXIT_UNSUPPORTED;
}
