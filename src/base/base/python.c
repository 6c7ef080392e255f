/* How Lockstep starts a Python: on a script of its own, which takes no module from the current folder.
 *
 * `python -c` puts the current folder before the standard library, so a json.py that lies there would run in place of
 * Python's own. -P, which leaves the folder out, is of Python 3.11, and an older one refuses it; -I leaves out
 * PYTHONPATH and what is installed for the user as well. PYTHONSAFEPATH says the same as -P, and an older Python does
 * not know the variable: there the script takes the folder out before anything is imported. It has to be both: from
 * 3.13 on Python itself imports a module before the first line of a -c script. The variable goes before the script's
 * own part begins, since it is nothing that a program started from there has asked for. */
#include "base/python.h"
#include <stdlib.h>
#include <unistd.h>

#define VARIABLE "PYTHONSAFEPATH"

/* sys is built in: importing it looks at no folder. folder_add puts a folder after the standard library, where it
 * hides none of it; module_from takes the module that was asked for from the folder, if it is there. */
static const char first[] = "import sys\n"
                            "if sys.path[:1] == ['']: del sys.path[0]\n"
                            "import os\n"
                            "if os.environ.get('" VARIABLE "') == 'lockstep': del os.environ['" VARIABLE "']\n"
                            "def folder_add(folder):\n"
                            "    own = os.path.dirname(os.__file__)\n"
                            "    own = (own, os.path.join(own, 'lib-dynload'))\n"
                            "    at = [i for i, p in enumerate(sys.path) if p in own]\n"
                            "    sys.path.insert(at[-1] + 1 if at else len(sys.path), os.path.abspath(folder))\n"
                            "def module_from(folder, name):\n"
                            "    import importlib, importlib.machinery, importlib.util\n"
                            "    folder_add(folder)\n"
                            "    top, find = name.partition('.')[0], importlib.machinery.PathFinder.find_spec\n"
                            "    spec = None if top in sys.modules else find(top, [os.path.abspath(folder)])\n"
                            "    if spec and spec.loader:\n"
                            "        sys.modules[top] = importlib.util.module_from_spec(spec)\n"
                            "        try: spec.loader.exec_module(sys.modules[top])\n"
                            "        except BaseException: del sys.modules[top]; raise\n"
                            "    return importlib.import_module(name)\n";

const char *python_command(void)
{
    const char *asked = getenv("LOCKSTEP_PYTHON");
    return asked && asked[0] ? asked : "python3";
}

const char *python_script(struct arena *a, const char *script) { return arena_printf(a, "%s%s", first, script); }

char **python_environment(struct arena *a)
{
    u32 n = 0, k = 0;
    const char *own = getenv(VARIABLE);
    bool safe = own && own[0];
    while (environ[n]) n++;
    char **env = NEW_ARRAY(a, char *, n + 2);
    if (!safe) env[k++] = arena_printf(a, VARIABLE "=lockstep");
    for (u32 i = 0; i < n; i++)
        if (safe || strncmp(environ[i], VARIABLE "=", sizeof VARIABLE)) env[k++] = environ[i];
    return env;
}

int python_run(const char *python, const char *script, const char *word, struct text *output)
{
    struct arena a = { 0 };
    char *argv[] = { (char *)(uintptr_t)python, "-c", (char *)(uintptr_t)python_script(&a, script),
                     (char *)(uintptr_t)word, NULL };
    int code = process_run_with(argv, python_environment(&a), output);
    arena_free(&a);
    return code;
}
