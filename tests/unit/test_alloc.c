/* Memory that is refused, wherever it is asked for. A command line is run in a child once for each allocation it
 * makes, and that one fails. The child must then say exactly what it says otherwise, or one line that begins with
 * `lockstep:` and an exit code of its own: never a crash, never a result that looks whole and is not. What a user can
 * make large is refused first; then everything, arenas and text included, in steps.
 *     test_alloc [all [K] | N COMMAND...]     all: every single one of them (two minutes), of the K-th command line
 *     only; N: only that one of this command line, in this process */
#include "cli/cli.h"
#include "unit.h"
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 24, MOST = 100000, NOT_FIRED = 99, FEW = 40 };
enum need { NO_TOOLKIT, NVRTC, NVCC };
enum warmth { AS_IT_IS, COLD, WARM }; /* of the cache: emptied before each run, or filled before the first */
struct command {
    const char *line; /* up to three %s are the folder */
    enum need need;   /* left out where it is missing */
    enum warmth cache;
    int code; /* the exit code otherwise */
};
static bool every_one;
static char folder[] = "/tmp/lockstep-alloc-XXXXXX";

struct ended {
    int code;        /* exit code, or 128 + signal */
    bool fired;      /* an allocation was refused */
    struct str said; /* both streams; base_free */
};

static int child(char *line, long n, bool small)
{
    char *argv[WORDS];
    int argc = 0;
    for (char *save, *w = strtok_r(line, " ", &save); w && argc < WORDS; w = strtok_r(NULL, " ", &save))
        argv[argc++] = w;
    const struct row *verb = verb_find(argv[0]);
    CHECK(verb);
    if (small)
        base_small_fail_at(n);
    else
        base_alloc_fail_at(n);
    int code = verb->run(argc, argv);
    bool fired = !base_alloc_fail_at(0);
    fflush(NULL);
    if (!fired) fprintf(stderr, "%c", NOT_FIRED);
    return code;
}

/* Runs the command line with its n-th allocation refused; n 0: none. */
static struct ended run(const char *command, long n, bool small)
{
    char path[64], line[2048];
    struct error e = { 0 };
    struct ended o = { 0 };
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
    for (u32 i = 0; i + 9 < s.n; i++) n += (!i || s.p[i - 1] == '\n') && !memcmp(s.p + i, "lockstep:", 9);
    return n;
}

static bool is_clean(const struct ended *o, const struct ended *usual)
{
    bool same = o->code == usual->code && o->said.n == usual->said.n && !memcmp(o->said.p, usual->said.p, o->said.n);
    /* an error that it ends with otherwise never comes */
    u32 lines = usual->code > 1 ? 1 : own_lines(usual->said) + 1;
    return same ||
           (o->code > 1 && o->code < 100 && own_lines(o->said) == lines && !strstr(o->said.p, "internal error"));
}

static void empty_cache(void)
{
    char line[128];
    snprintf(line, sizeof line, "rm -rf %s/lockstep", folder);
    CHECK(!system(line));
}

/* Which allocation is next: all of them, or the first ones and then ever fewer; few where each takes a compiler. */
static long step(const struct command *c, long n)
{
    long few = c->cache == COLD ? (every_one ? 8 : 3) : getenv("EMULATED") ? FEW / 10 : FEW; /* tests/other-arch */
    return every_one && c->need != NVCC ? 1 : n < few ? 1 : n / few + 1;
}

static void refuse(const struct command *c, const char *line, bool small)
{
    if (c->cache != AS_IT_IS) empty_cache();
    if (c->cache == WARM) base_free((void *)run(line, 0, false).said.p);
    struct ended usual = run(line, 0, false);
    UNIT_EQ(usual.code, c->code);
    if (usual.code != c->code)
        fprintf(stderr, "%s: exit %d\n%.*s\n", line, usual.code, (int)usual.said.n, usual.said.p);
    u32 dirty = 0, tried = 0;
    for (long n = 1; n < MOST; n += step(c, n)) {
        if (c->cache == COLD) empty_cache();
        struct ended o = run(line, n, small);
        bool clean = is_clean(&o, &usual), fired = o.fired;
        if (!clean && !dirty++)
            fprintf(stderr, "%s, allocation %ld%s: exit %d, said\n%.*s\n", line, n, small ? " of all" : "", o.code,
                    (int)MIN_OF(o.said.n, 1500u), o.said.p);
        base_free((void *)o.said.p);
        tried += fired;
        if (!fired) break;
    }
    UNIT_EQ(dirty, 0);
    UNIT(tried > 0);
    printf("%s: %u refused%s\n", line, tried, small ? " of all" : "");
    base_free((void *)usual.said.p);
}

/* Whether this compiler is here: it compiles a kernel for us. */
static bool is_there(enum need need)
{
    if (need == NO_TOOLKIT) return true;
    struct ended o = run(need == NVRTC ? "compile specimens/bounds_guard_ok.cu --fresh --compiler nvrtc"
                                       : "compile specimens/bounds_guard_ok.cu --fresh --compiler nvcc",
                         0, false);
    base_free((void *)o.said.p);
    return o.code == 0;
}

int main(int argc, char **argv)
{
    static const struct command commands[] = {
        { "launch specimens/race_publish_bad.cu --seed 1 --json %s/a --sarif %s/b --junit %s/c", .code = 1 },
        { "launch specimens/race_scope_bad.cu --seed 1 --print-suppressions", .code = 1 },
        { "launch specimens/spin_locks_ok.cu --seed 1", .code = 0 },
        { "launch specimens/align_cp_async_ok.cu --seed 1 --schedules 2", .code = 0 },
        { "launch specimens/uninit_shared_bad.cu --seed 1", .code = 1 },
        { "launch specimens/private_partial_bad.cu --seed 1", .code = 1 },
        { "launch specimens/coverage_twice_bad.cu --seed 1", .code = 1 },
        { "launch specimens/nan_origin_bad.cu --seed 1 --trace %s/t", .code = 1 },
        { "launch specimens/bounds_guard_bad.cu --seed 1 --time 2", .code = 1 },
        { "launch specimens/spin_deadlock_bad.cu --seed 1", .code = 1 },
        { "launch specimens/wrong_vocab_bad.cu --seed 1", .code = 1 },
        { "launch specimens/race_global_block_bad.cu --threads 2 --no-check values", .code = 1 },
        { "launch tests/cases/link/shared_main.ptx:shared_bad --link tests/cases/link/shared_lib.ptx --seed 1 --grid 1 "
          "--block 1 u32[1]=zeros",
          .code = 1 },
        { "launch tests/cases/link/link_main.ptx --link tests/cases/link/link_lib.ptx --link "
          "tests/cases/link/twice_func.ptx --grid 1 --block 1 u32[1]=zeros",
          .code = 2 },
        { "compile specimens/bounds_guard_bad.cu", .code = 0 },
        { "device l4", .code = 0 },
        { "inspect tests/cases/image/kernels.fatbin --json %s/i", .code = 0 },
        { "inspect tests/cases/image/parts.a", .code = 0 },
        { "launch tests/cases/link/program.cu --link tests/cases/link/program_lib.cu --seed 1 --grid 1 --block 4 "
          "f32[4]=iota f32[5]=zeros i32:4 --print 1 --compiler nvrtc",
          NVRTC, COLD, 0 },
        { "launch tests/cases/link/program.cu --link tests/cases/link/program_lib.cu --seed 1 --grid 1 --block 4 "
          "f32[4]=iota f32[5]=zeros i32:4 --print 1 --compiler nvrtc",
          NVRTC, WARM, 0 },
        { "launch tests/cases/link/program.cu --link tests/cases/link/program_lib.cu --seed 1 --grid 1 --block 4 "
          "f32[4]=iota f32[5]=zeros i32:4 --print 1 --compiler nvcc",
          NVCC, COLD, 0 },
        { "compile tests/cases/compile/template.cu:scale<float> --compiler nvrtc --quiet", NVRTC, COLD, 0 },
        { "compile tests/cases/compile/errors.cu --compiler nvrtc", NVRTC, COLD, 2 },
        { "cache", NVRTC, AS_IT_IS, 0 },
    };
    every_one = argc > 1 && !strcmp(argv[1], "all");
    u32 only = every_one && argc > 2 ? (u32)atoi(argv[2]) : 0;
    if (argc > 2 && !every_one) {
        char line[1024] = "";
        for (int i = 2; i < argc; i++) snprintf(line + strlen(line), sizeof line - strlen(line), "%s ", argv[i]);
        return child(line, labs(atol(argv[1])), argv[1][0] == '-');
    }
    CHECK(mkdtemp(folder));
    if (getenv("TOP")) CHECK(!chdir(getenv("TOP")));
    setenv("XDG_CACHE_HOME", folder, 1);
    bool there[] = { true, is_there(NVRTC), every_one && is_there(NVCC) };
    if (!there[NVRTC]) unit_skip("command lines that compile by NVRTC: it is not here");
    for (u32 i = 0; i < COUNT_OF(commands); i++) {
        const struct command *c = &commands[i];
        char line[1024];
        if (!there[c->need] || (only && only != i + 1)) continue;
        snprintf(line, sizeof line, c->line, folder, folder, folder);
        if (c->need)
            unsetenv("LOCKSTEP_TOOLKIT");
        else
            setenv("LOCKSTEP_TOOLKIT", "none", 1);
        if (!strncmp(line, "launch", 6)) refuse(c, line, false);
        refuse(c, line, true);
    }
    char clean[128];
    snprintf(clean, sizeof clean, "rm -rf %s", folder);
    UNIT(!system(clean));
    return unit_done();
}
