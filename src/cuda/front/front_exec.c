/* A child that is started with an environment of its own, as by `env -i` or an execve with few variables, would lose
 * LD_AUDIT and escape. Calls of the functions that start programs come here instead (la_symbind64): what the launcher
 * has set is put back into the environment, on the stack, since a child of vfork may call them.
 *
 * A program that starts ptxas or nvcc for a cubin gets our command in their place.
 *
 * Only objects that import one of these names are watched, and only their binding to libc; all other calls stay
 * direct. */
#include "front/front.h"
#include <dlfcn.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEPT = 7, VARIABLES = 4096 }; /* that are put back; that an environment may have and still be mended */

static const char *const kept_name[KEPT] = {
    "LD_AUDIT",         "LOCKSTEP_RUN", "LOCKSTEP_RUN_OPTIONS", "LOCKSTEP_RUN_PID",
    "LOCKSTEP_DEVICES", "LOCKSTEP_LOG", "LOCKSTEP_RUN_COMMAND"
};
enum { COMMAND = 6 };    /* which of them is the path of `lockstep` */
static char *kept[KEPT]; /* "NAME=value"; NULL: it is not set */
static char *module;     /* the path of this module, as LD_AUDIT has it */

typedef int execve_call(const char *, char *const *, char *const *);
typedef int fexecve_call(int, char *const *, char *const *);
typedef int spawn_call(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                       char *const *, char *const *);
/* libc's own, of the program's namespace. */
static execve_call *real_execve, *real_execvpe;
static fexecve_call *real_fexecve;
static spawn_call *real_spawn, *real_spawnp;
static int (*real_clearenv)(void);
static int (*real_putenv)(char *);
static char ***environment; /* where the program's `environ` is */
/* These are being found: who asks for a name gets libc's. volatile, since dlsym is declared not to call back into this
 * file (leaf), and yet the loader asks la_symbind64 meanwhile. */
static volatile bool finding;

static bool makes_itself; /* the program is nvcc or of nvcc, or our command: what it starts is its own affair */

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_maker(void)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    /* nvcc starts its tools by a shell, and sets this for them */
    return !strcmp(base_of(self), "nvcc") || !strcmp(base_of(self), "lockstep") || getenv("_CUDART_");
}

void front_exec_begin(void)
{
    for (int i = 0; i < KEPT; i++) {
        const char *value = getenv(kept_name[i]);
        size_t n = strlen(kept_name[i]), bytes = value ? n + strlen(value) + 2 : 0;
        if (!value || !(kept[i] = front_memory(bytes))) continue;
        memcpy(kept[i], kept_name[i], n);
        kept[i][n] = '=';
        memcpy(kept[i] + n + 1, value, bytes - n - 1);
    }
    makes_itself = is_maker();
    if (!kept[0]) return;
    size_t n = strcspn(kept[0] + 9, ":"); /* LD_AUDIT=module:others */
    if ((module = front_memory(n + 1))) memcpy(module, kept[0] + 9, n);
}

/* libc is loaded, and its functions can be found; nothing of the program has run. */
void front_exec_ready(void *program)
{
    enum { NAMES = 8 };
    void *at[NAMES];
    static const char *const name[NAMES] = { "execve",       "execvpe", "fexecve",  "posix_spawn",
                                             "posix_spawnp", "environ", "clearenv", "putenv" };
    finding = true;
    for (int i = 0; i < NAMES; i++) at[i] = dlsym(program, name[i]);
    finding = false;
    memcpy(&real_execve, &at[0], sizeof at[0]);
    memcpy(&real_execvpe, &at[1], sizeof at[0]);
    memcpy(&real_fexecve, &at[2], sizeof at[0]);
    memcpy(&real_spawn, &at[3], sizeof at[0]);
    memcpy(&real_spawnp, &at[4], sizeof at[0]);
    memcpy(&environment, &at[5], sizeof at[0]);
    memcpy(&real_clearenv, &at[6], sizeof at[0]);
    memcpy(&real_putenv, &at[7], sizeof at[0]);
}

/* ---- the environment ---- */

static bool is_variable(const char *entry, const char *name)
{
    size_t n = strlen(name);
    return !strncmp(entry, name, n) && entry[n] == '=';
}

/* Fills `out` with the variables of `given` and those that it lacks. An LD_AUDIT without this module is the program's
 * own: ours takes its place, with the program's after it in `audit`. false: it has all, or is too large. */
static bool mend(char *const *given, char *out[VARIABLES], char *audit, size_t size)
{
    size_t n = 0;
    bool has[KEPT] = { false }, mended = false;
    for (; given && given[n]; n++) {
        if (n + KEPT + 1 >= VARIABLES) return false;
        out[n] = given[n];
        for (int i = 0; i < KEPT; i++) has[i] |= is_variable(given[n], kept_name[i]);
        if (!is_variable(given[n], "LD_AUDIT") || !module || strstr(given[n], module)) continue;
        size_t own = strlen(module), theirs = strlen(given[n] + 9);
        if (9 + own + 1 + theirs + 1 > size) continue;
        memcpy(audit, "LD_AUDIT=", 9);
        memcpy(audit + 9, module, own);
        audit[9 + own] = ':';
        memcpy(audit + 9 + own + 1, given[n] + 9, theirs + 1);
        out[n] = audit;
        mended = true;
    }
    for (int i = 0; i < KEPT; i++)
        if (!has[i] && kept[i]) {
            out[n++] = kept[i];
            mended = true;
        }
    out[n] = NULL;
    return mended;
}

#define MENDED(given)                   \
    char *with[VARIABLES], audit[2048]; \
    char *const *env_ = (given);        \
    if (kept[0] && mend(env_, with, audit, sizeof audit)) env_ = with

/* ---- tools that make cubins ---- */

/* A program that starts ptxas or `nvcc --cubin` is to load what they make: `lockstep ptxas` and `lockstep nvcc` do the
 * same, and the cubin keeps its PTX. `nvcc -c` makes a part of a library that it will load: PTX and lines are added.
 * Fills `out` with their words; false: it is another program. */
enum { WORDS = 1024 };
static bool is_tool(const char *path, char *const *argv, char *out[WORDS])
{
    static char verb[2][8] = { "ptxas", "nvcc" };
    const char *base = base_of(path);
    bool nvcc = !strcmp(base, verb[1]), cubin = !strncmp(base, verb[0], 5);
    size_t n = 0;
    if (makes_itself || !kept[COMMAND] || !argv || (!nvcc && !cubin)) return false;
    if (base != path && access(path, X_OK)) return false; /* one of the places where it is looked for */
    out[n++] = strchr(kept[COMMAND], '=') + 1;
    out[n++] = verb[nvcc];
    if (base != path) out[n++] = (char *)(uintptr_t)path;
    for (size_t i = 1; argv[0] && argv[i]; i++) {
        if (n + 1 == WORDS) return false;
        cubin |= !strcmp(argv[i], "-cubin") || !strcmp(argv[i], "--cubin") || !strcmp(argv[i], "-c") ||
                 !strcmp(argv[i], "-dc");
        out[n++] = argv[i];
    }
    out[n] = NULL;
    return cubin;
}
#define AS_TOOL(path, argv)                \
    char *words_[WORDS];                   \
    if (is_tool((path), (argv), words_)) { \
        (path) = words_[0];                \
        (argv) = words_;                   \
    }

/* A program that becomes another one ends: its report is written before. */
#define REPLACED(call)            \
    front_signal_replaced(false); \
    int result_ = (call);         \
    front_signal_replaced(true);  \
    return result_

static int own_execve(const char *path, char *const *argv, char *const *env)
{
    MENDED(env);
    AS_TOOL(path, argv);
    REPLACED(real_execve(path, argv, env_));
}
static int own_execvpe(const char *file, char *const *argv, char *const *env)
{
    MENDED(env);
    AS_TOOL(file, argv);
    REPLACED(real_execvpe(file, argv, env_));
}
static int own_execv(const char *path, char *const *argv)
{
    MENDED(environment ? *environment : NULL);
    AS_TOOL(path, argv);
    REPLACED(real_execve(path, argv, env_));
}
static int own_execvp(const char *file, char *const *argv)
{
    MENDED(environment ? *environment : NULL);
    AS_TOOL(file, argv);
    REPLACED(real_execvpe(file, argv, env_));
}
/* The words of a call execl(path, word, ..., NULL) are on the stack or in registers: they are gathered. */
#define GATHER(first)                                                             \
    char *argv[WORDS];                                                            \
    size_t n = 0;                                                                 \
    va_list rest;                                                                 \
    va_start(rest, first);                                                        \
    for (char *next_ = (char *)(uintptr_t)(first); n < WORDS - 1 && next_; n++) { \
        argv[n] = next_;                                                          \
        next_ = va_arg(rest, char *);                                             \
    }                                                                             \
    argv[n] = NULL

static int own_execl(const char *path, const char *word, ...)
{
    GATHER(word);
    va_end(rest);
    return own_execv(path, argv);
}
static int own_execlp(const char *file, const char *word, ...)
{
    GATHER(word);
    va_end(rest);
    return own_execvp(file, argv);
}
static int own_execle(const char *path, const char *word, ...)
{
    GATHER(word);
    char *const *env = va_arg(rest, char *const *);
    va_end(rest);
    return own_execve(path, argv, env);
}
/* What libc starts by itself afterwards, as for system(), has the variables as well. */
static int own_clearenv(void)
{
    int r = real_clearenv();
    for (int i = 0; i < KEPT; i++)
        if (kept[i]) real_putenv(kept[i]);
    return r;
}
static int own_fexecve(int fd, char *const *argv, char *const *env)
{
    MENDED(env);
    REPLACED(real_fexecve(fd, argv, env_));
}
static int own_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                     const posix_spawnattr_t *attributes, char *const *argv, char *const *env)
{
    MENDED(env);
    AS_TOOL(path, argv);
    return real_spawn(pid, path, actions, attributes, argv, env_);
}
static int own_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                      const posix_spawnattr_t *attributes, char *const *argv, char *const *env)
{
    MENDED(env);
    AS_TOOL(file, argv);
    return real_spawnp(pid, file, actions, attributes, argv, env_);
}

/* ---- who is called instead ---- */

#define OWN(f) ((void (*)(void))(f))
static const struct {
    const char *name;
    void (*own)(void);
} watched[] = { { "clearenv", OWN(own_clearenv) }, { "execl", OWN(own_execl) },        { "execle", OWN(own_execle) },
                { "execlp", OWN(own_execlp) },     { "execv", OWN(own_execv) },        { "execve", OWN(own_execve) },
                { "execvp", OWN(own_execvp) },     { "execvpe", OWN(own_execvpe) },    { "fexecve", OWN(own_fexecve) },
                { "posix_spawn", OWN(own_spawn) }, { "posix_spawnp", OWN(own_spawnp) } };
enum { WATCHED = sizeof watched / sizeof watched[0] };

bool front_exec_is(const char *name)
{
    if (!strchr("cefp", name[0])) return false;
    for (int i = 0; i < WATCHED; i++)
        if (!strcmp(name, watched[i].name)) return true;
    return false;
}

uintptr_t front_exec_of(const char *name)
{
    for (int i = 0; kept[0] && !finding && i < WATCHED; i++)
        if (!strcmp(name, watched[i].name)) return (uintptr_t)watched[i].own;
    return 0;
}
