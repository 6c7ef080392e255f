/* Memory that is refused, wherever it is asked for. A command line is run in a child once for each allocation it makes, and that one fails. The child
 * must then say exactly what it says otherwise, or one line that begins with `lockstep:` and an exit code of its own: never a crash, never a result
 * that looks whole and is not. What a user can make large is refused first; then everything, arenas and text included, in steps.
 *     test_alloc [all | N COMMAND...]     all: every single one of them (minutes); N: only that one of this command line, in this process */
#include "cli/cli.h"
#include "unit.h"
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 24, MOST = 100000, NOT_FIRED = 99, FEW = 40 };
static bool every_one;
static char folder[] = "/tmp/lockstep-alloc-XXXXXX";

struct outcome {
    int code;                   /* exit code, or 128 + signal */
    bool fired;                 /* an allocation was refused */
    struct str said;            /* both streams; base_free */
};

static int child(char *line, long n, bool small)
{
    char *argv[WORDS];
    int argc = 0;
    for (char *save, *w = strtok_r(line, " ", &save); w && argc < WORDS; w = strtok_r(NULL, " ", &save))
        argv[argc++] = w;
    const struct row *verb = verb_find(argv[0]);
    CHECK(verb);
    if (small) base_small_fail_at(n);
    else base_alloc_fail_at(n);
    int code = verb->run(argc, argv);
    bool fired = !base_alloc_fail_at(0);
    fflush(NULL);
    if (!fired) fprintf(stderr, "%c", NOT_FIRED);
    return code;
}

/* Runs the command line with its n-th allocation refused; n 0: none. */
static struct outcome run(const char *command, long n, bool small)
{
    char path[64], line[2048];
    struct error e = { 0 };
    struct outcome o = { 0 };
    int status;
    snprintf(path, sizeof path, "%s/out", folder);
    snprintf(line, sizeof line, "%s", command);
    fflush(NULL);
    pid_t pid = fork();
    if (!pid) {
        CHECK(freopen(path, "w", stdout) && dup2(1, 2) == 2);
        exit(child(line, n, small));
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && file_read(path, &o.said, &e));
    o.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    o.fired = !(o.said.n && o.said.p[o.said.n - 1] == NOT_FIRED);
    o.said.n -= !o.fired;
    return o;
}

static u32 own_lines(struct str s)
{
    u32 n = 0;
    for (u32 i = 0; i + 9 < s.n; i++)
        n += (!i || s.p[i - 1] == '\n') && !memcmp(s.p + i, "lockstep:", 9);
    return n;
}

static bool is_clean(const struct outcome *o, const struct outcome *usual)
{
    bool same = o->code == usual->code && o->said.n == usual->said.n && !memcmp(o->said.p, usual->said.p, o->said.n);
    return same || (o->code > 1 && o->code < 100 && own_lines(o->said) == own_lines(usual->said) + 1 && !strstr(o->said.p, "internal error"));
}

static void refuse(const char *command, bool small)
{
    struct outcome usual = run(command, 0, false);
    UNIT(usual.code <= 1);
    if (usual.code > 1) fprintf(stderr, "%s: exit %d\n%.*s\n", command, usual.code, (int)usual.said.n, usual.said.p);
    u32 dirty = 0, tried = 0;
    for (long n = 1; n < MOST; n += every_one || n < FEW ? 1 : n / FEW + 1) {
        struct outcome o = run(command, n, small);
        bool clean = is_clean(&o, &usual), fired = o.fired;
        if (!clean && !dirty++) fprintf(stderr, "%s, allocation %ld%s: exit %d, said\n%.*s\n", command, n, small ? " of all" : "", o.code, (int)MIN_OF(o.said.n, 1500u), o.said.p);
        base_free((void *)o.said.p);
        tried += fired;
        if (!fired) break;
    }
    UNIT_EQ(dirty, 0);
    UNIT(tried > 3);
    printf("%s: %u refused%s\n", command, tried, small ? " of all" : "");
    base_free((void *)usual.said.p);
}

int main(int argc, char **argv)
{
    static const char *const commands[] = {
        "launch specimens/race_publish_bad.cu --seed 1 --json %s/a --sarif %s/b --junit %s/c",
        "launch specimens/race_scope_bad.cu --seed 1 --print-suppressions",
        "launch specimens/spin_locks_ok.cu --seed 1",
        "launch specimens/align_cp_async_ok.cu --seed 1 --schedules 2",
        "launch specimens/uninit_shared_bad.cu --seed 1",
        "launch specimens/private_partial_bad.cu --seed 1",
        "launch specimens/coverage_twice_bad.cu --seed 1",
        "launch specimens/nan_origin_bad.cu --seed 1 --trace %s/t",
        "launch specimens/bounds_guard_bad.cu --seed 1 --time 2",
        "launch specimens/spin_deadlock_bad.cu --seed 1",
        "launch specimens/wrong_vocab_bad.cu --seed 1",
        "launch specimens/race_global_block_bad.cu --threads 2 --no-check values",
        "compile specimens/bounds_guard_bad.cu",
        "device l4" };
    every_one = argc > 1 && !strcmp(argv[1], "all");
    if (argc > 2) {
        char line[1024] = "";
        for (int i = 2; i < argc; i++) snprintf(line + strlen(line), sizeof line - strlen(line), "%s ", argv[i]);
        return child(line, labs(atol(argv[1])), argv[1][0] == '-');
    }
    CHECK(mkdtemp(folder));
    if (getenv("TOP")) CHECK(!chdir(getenv("TOP")));
    setenv("LOCKSTEP_TOOLKIT", "none", 1);
    setenv("XDG_CACHE_HOME", folder, 1);
    for (u32 i = 0; i < COUNT_OF(commands); i++) {
        char line[1024];
        snprintf(line, sizeof line, commands[i], folder, folder, folder);
        if (!strstr(line, "device")) refuse(line, false);
        refuse(line, true);
    }
    char clean[128];
    snprintf(clean, sizeof clean, "rm -rf %s", folder);
    UNIT(!system(clean));
    return unit_done();
}
