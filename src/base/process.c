/* Time, processors and child processes. */
#define _GNU_SOURCE
#include "base/base.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
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

static void drain(int fd, struct text *output)
{
    char buf[4096];
    for (;;) {
        ssize_t n = read(fd, buf, sizeof buf);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return;
        if (output && output->n < OUTPUT_MOST) text_put(output, buf, (size_t)n);
    }
}

int process_run(char *const argv[], struct text *output)
{
    int fd[2];
    if (pipe2(fd, O_CLOEXEC)) return -1;
    posix_spawn_file_actions_t act;
    if (posix_spawn_file_actions_init(&act)) {
        close(fd[0]);
        close(fd[1]);
        return -1;
    }
    pid_t pid;
    int why = posix_spawn_file_actions_addopen(&act, 0, "/dev/null", O_RDONLY, 0);
    why = why ? why : posix_spawn_file_actions_adddup2(&act, fd[1], 1);
    why = why ? why : posix_spawn_file_actions_adddup2(&act, fd[1], 2);
    why = why ? why : posix_spawnp(&pid, argv[0], &act, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&act);
    close(fd[1]);
    if (!why) drain(fd[0], output);
    close(fd[0]);
    if (why) return -1;
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
