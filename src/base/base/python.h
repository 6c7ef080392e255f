/* python.h: a Python that is started on a script of ours, and takes no module from the current folder. */
#ifndef LOCKSTEP_PYTHON_H
#define LOCKSTEP_PYTHON_H
#include "base/base.h"

const char *python_command(void); /* LOCKSTEP_PYTHON, else python3 */
/* What `-c` is to be given for a script, in which folder_add(FOLDER) and module_from(FOLDER, NAME) are functions, and
 * os and sys are imported; and the environment that such a Python has to be started with. */
const char *python_script(struct arena *a, const char *script);
char **python_environment(struct arena *a);
/* Runs a script with one word (NULL: none), as process_run does. */
int python_run(const char *python, const char *script, const char *word, struct text *output);
/* process_run with another environment (process.c). */
int process_run_with(char *const argv[], char *const env[], struct text *output);
/* For functions of others, which may start what they do not end (process_tree.c). In the child, between fork and exec:
 * what it starts can be found from now on. Then, in the parent: ends a child of its own, all that it has started, in
 * whatever groups and sessions, and waits for it; or what is left of a child that has ended and that nobody has waited
 * for. Its status, as of waitpid. */
void process_tree_begin(void);
int process_tree_end(s32 pid);
#endif
