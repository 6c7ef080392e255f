/* Time, processors, the environment and child processes. */
#define _GNU_SOURCE
#include "base/python.h"
#include "base/stop.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

u64 time_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

/* The kernel is asked once a process: the number lies in a page that a child of fork finds zeroed. Where the kernel has
 * no such pages it is asked each time, a tenth of what a launch costs. */
s32 process_id(void)
{
    static s32 *kept; /* atomic; NULL: nobody has asked yet */
    static s32 none;  /* where `kept` points when there is no such page */
    s32 *at = __atomic_load_n(&kept, __ATOMIC_ACQUIRE);
    if (unlikely(!at)) {
        void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        at = &none;
#if defined MADV_WIPEONFORK
        if (page != MAP_FAILED && !madvise(page, 4096, MADV_WIPEONFORK)) at = page;
#endif
        s32 *before = NULL;
        if (!__atomic_compare_exchange_n(&kept, &before, at, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) at = before;
        if (page != MAP_FAILED && at != page) munmap(page, 4096);
    }
    s32 id = __atomic_load_n(at, __ATOMIC_RELAXED);
    if (unlikely(!id)) {
        id = (s32)getpid();
        if (at != &none) __atomic_store_n(at, id, __ATOMIC_RELAXED);
    }
    return id;
}

enum { STOP_CALLS = 64 }; /* the clock is read at one call of so many */
static _Thread_local struct stop stop;

void stop_watch(const volatile int *asked, u64 deadline)
{
    stop = (struct stop){ .asked = asked, .deadline = deadline };
}

struct stop stop_state(void) { return stop; }
void stop_restore(struct stop s) { stop = s; }

bool stop_asked(void)
{
    if (stop.is) return true;
    stop.is = (stop.asked && __atomic_load_n(stop.asked, __ATOMIC_RELAXED)) ||
              (stop.deadline && stop.calls++ % STOP_CALLS == 0 && time_ns() > stop.deadline);
    return stop.is;
}

void lock_open_busy(lock_t *l)
{
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(l, &a);
    pthread_mutexattr_destroy(&a);
}

void thread_sleep_us(u32 us)
{
    struct timespec t = { us / 1000000, (long)(us % 1000000) * 1000 };
    nanosleep(&t, NULL);
}

int cpu_count(void)
{
    /* a machine with more processors than a cpu_set_t holds refuses the small set; ask again with larger ones */
    for (int most = 1024; most <= 1 << 18; most *= 4) {
        cpu_set_t *set = CPU_ALLOC(most);
        if (!set) break;
        size_t bytes = CPU_ALLOC_SIZE(most);
        CPU_ZERO_S(bytes, set);
        int n = sched_getaffinity(0, bytes, set) ? 0 : CPU_COUNT_S(bytes, set);
        CPU_FREE(set);
        if (n > 0) return n;
    }
    return 1;
}

/* Output beyond this is read and dropped, so that a child that never stops talking neither blocks nor fills memory. */
enum { OUTPUT_MOST = 4 << 20 };

/* Waits until fd can be read, or until then. */
static bool ready_until(int fd, u64 until)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    for (;;) {
        u64 now = time_ns();
        if (now >= until) return false;
        if (poll(&p, 1, (int)MIN_OF((until - now) / 1000000 + 1, (u64)60000)) > 0) return true;
    }
}

/* Reads until the other end is closed. false: that had not happened at `until` (0: there is no limit). */
static bool drain(int fd, struct text *output, u64 until)
{
    char buf[4096];
    for (;;) {
        if (until && !ready_until(fd, until)) return false;
        ssize_t n = read(fd, buf, sizeof buf);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return true;
        if (output && output->n < OUTPUT_MOST) text_put(output, buf, (size_t)n);
    }
}

/* ---- children that end with us ---- */

static const int fatal[] = { SIGINT, SIGTERM, SIGHUP };
static bool guarded;
/* A handler has no other way to know whom to end, nor to tell that it did. */
static volatile pid_t group;
static volatile sig_atomic_t signalled;

static void on_signal(int sig)
{
    signalled = sig;
    if (group) kill(-group, SIGTERM);
}

void process_guard(void) { guarded = true; }
int process_signal(void) { return signalled; }

struct guard {
    struct sigaction old[COUNT_OF(fatal)];
    sigset_t mask; /* as it was before */
};

/* From here on the signals wait, until guard_watch() says whom they are for. */
static void guard_begin(struct guard *g)
{
    sigset_t block;
    sigemptyset(&block);
    for (u32 i = 0; i < COUNT_OF(fatal); i++) sigaddset(&block, fatal[i]);
    pthread_sigmask(SIG_BLOCK, &block, &g->mask);
    for (u32 i = 0; i < COUNT_OF(fatal); i++) {
        struct sigaction act = { .sa_handler = on_signal };
        sigemptyset(&act.sa_mask);
        /* what was ignored when we started (nohup) stays ignored */
        if (!sigaction(fatal[i], NULL, &g->old[i]) && g->old[i].sa_handler != SIG_IGN) sigaction(fatal[i], &act, NULL);
    }
}

static void guard_watch(const struct guard *g, pid_t child)
{
    group = child;
    pthread_sigmask(SIG_SETMASK, &g->mask, NULL);
}

static void guard_end(const struct guard *g)
{
    group = 0;
    for (u32 i = 0; i < COUNT_OF(fatal); i++) sigaction(fatal[i], &g->old[i], NULL);
}

/* Starts the child; under a guard it leads a process group of its own, so that all its children can be ended. */
static int spawn(pid_t *pid, char *const argv[], char *const env[], const posix_spawn_file_actions_t *act,
                 const struct guard *g)
{
    posix_spawnattr_t attr;
    int why = posix_spawnattr_init(&attr);
    if (why) return why;
    if (guarded) {
        posix_spawnattr_setpgroup(&attr, 0);
        posix_spawnattr_setsigmask(&attr, &g->mask);
        posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    }
    why = posix_spawnp(pid, argv[0], act, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
    return why;
}

/* The environment with another TMPDIR. */
static char **environment(struct arena *a, const char *tmpdir)
{
    u32 n = 0, k = 0;
    while (environ[n]) n++;
    char **env = NEW_ARRAY(a, char *, n + 2);
    env[k++] = arena_printf(a, "TMPDIR=%s", tmpdir);
    for (u32 i = 0; i < n; i++)
        if (strncmp(environ[i], "TMPDIR=", 7)) env[k++] = environ[i];
    return env;
}

/* Whether the child has ended until then. A child can close its output and go on. */
static bool ends_until(pid_t pid, u64 until)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    bool ended = fd >= 0 && ready_until(fd, until);
    siginfo_t info = { 0 };
    if (fd >= 0)
        close(fd);
    else /* an old kernel */
        while (!(ended = !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid) &&
               time_ns() < until)
            thread_sleep_us(100);
    return ended;
}

enum { END_NS = 2000000000 }; /* what a child that is late has to end by itself */

/* Reads what a child says, and ends it, with its children, where it is late. Whether it was. */
static bool attend(pid_t pid, int fd, struct text *output, u64 until)
{
    if (drain(fd, output, until) && (!until || ends_until(pid, until))) return false;
    pid_t whom = guarded ? -pid : pid;
    kill(whom, SIGTERM);
    drain(fd, output, time_ns() + END_NS);
    kill(whom, SIGKILL);
    return true;
}

static int run_guarded(char *const argv[], char *const env[], int fd[2], u64 until, struct text *output)
{
    struct guard g;
    posix_spawn_file_actions_t act;
    pid_t pid = 0;
    if (posix_spawn_file_actions_init(&act)) {
        close(fd[1]);
        return -1;
    }
    int why = posix_spawn_file_actions_addopen(&act, 0, "/dev/null", O_RDONLY, 0);
    why = why ? why : posix_spawn_file_actions_adddup2(&act, fd[1], 1);
    why = why ? why : posix_spawn_file_actions_adddup2(&act, fd[1], 2);
    if (guarded) guard_begin(&g);
    why = why ? why : spawn(&pid, argv, env, &act, &g);
    if (guarded) guard_watch(&g, why ? 0 : pid);
    posix_spawn_file_actions_destroy(&act);
    close(fd[1]);
    int status = 0;
    bool is_late = !why && attend(pid, fd[0], output, until);
    while (!why && waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) why = errno;
    if (guarded) guard_end(&g);
    if (why) return -1;
    return is_late ? PROCESS_LATE : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run_with(char *const argv[], char *const env[], u64 until, struct text *output)
{
    int fd[2];
    if (pipe2(fd, O_CLOEXEC)) return -1;
    int status = run_guarded(argv, env, fd, until, output);
    close(fd[0]);
    return status;
}

int process_run_in(char *const argv[], const char *tmpdir, struct text *output)
{
    struct arena a = { 0 };
    int status = run_with(argv, tmpdir ? environment(&a, tmpdir) : environ, 0, output);
    arena_free(&a);
    return status;
}

int process_run_until(char *const argv[], u64 until, struct text *output)
{
    return run_with(argv, environ, until, output);
}

int process_run_with(char *const argv[], char *const env[], struct text *output)
{
    return run_with(argv, env, 0, output);
}

int process_run(char *const argv[], struct text *output) { return process_run_in(argv, NULL, output); }

/* ---- variables of the environment, each held against what its reader takes ---- */

bool environment_cache_size(u64 *bytes, struct error *e)
{
    const char *text = getenv("LOCKSTEP_CACHE_SIZE");
    char *end;
    *bytes = (u64)256 << 20;
    if (!text || !text[0]) return true;
    u64 n = strtoull(text, &end, 10);
    u32 shift = *end == 'K' || *end == 'k' ? 10 : *end == 'M' || *end == 'm' ? 20 : *end == 'G' || *end == 'g' ? 30 : 0;
    if (end == text || text[0] == '-' || end[shift != 0] || n > UINT64_MAX >> shift)
        return error_set(e, ERR_INPUT,
                         "LOCKSTEP_CACHE_SIZE=%.60s: a number of bytes belongs here, 500M or 2G, 0 for no cache", text);
    *bytes = n << shift;
    return true;
}

bool environment_reads(struct error *e)
{
    const char *stable = getenv("LOCKSTEP_RUN_STABLE"), *ms = getenv("LOCKSTEP_PATIENCE");
    u64 n;
    if (!environment_cache_size(&n, e)) return false;
    if (stable && *stable && strcmp(stable, "0") && strcmp(stable, "1"))
        return error_set(e, ERR_INPUT, "LOCKSTEP_RUN_STABLE=%.60s: 1 or 0 belongs here", stable);
    if (ms && *ms && (!whole_parse(ms, 999999, &n) || !n))
        return error_set(e, ERR_INPUT, "LOCKSTEP_PATIENCE=%.60s: milliseconds belong here, from 1 to 999999", ms);
    for (const char *p = getenv("LOCKSTEP_LOG"); p && *p; p += strcspn(p, ",")) {
        p += strspn(p, ", ");
        size_t word = strcspn(p, ",: ");
        bool is = (word == 3 && !strncmp(p, "api", 3)) || (word == 5 && !strncmp(p, "front", 5));
        if (*p && !is)
            return error_set(e, ERR_INPUT, "LOCKSTEP_LOG: there is no `%.*s`; there are front and api, with commas",
                             (int)MIN_OF(word, (size_t)40), p);
    }
    return true;
}
