/* Waits for what a program has left running, and keeps its report. */
#include "launcher/run_keeper.h"
#include "launcher/run_save.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAUSE_US = 100000, CHILDREN = 256 };

/* The state of a process and its parent, of /proc/PID/stat; false: there is none. */
static bool process_look(int pid, char *state, int *parent)
{
    char path[40], line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, line, sizeof line - 1) : -1;
    if (fd >= 0) close(fd);
    line[n > 0 ? n : 0] = 0;
    const char *name_end = strrchr(line, ')');
    return name_end && sscanf(name_end + 1, " %c %d", state, parent) == 2;
}

static bool is_running(int pid)
{
    char state;
    int parent;
    if (kill(pid, 0) && errno == ESRCH) return false;
    return !process_look(pid, &state, &parent) || (state != 'Z' && state != 'X');
}

/* Processes whose parent is the calling one. */
static u32 children_find(int *child, u32 most)
{
    u32 n = 0;
    int self = (int)getpid(), parent;
    char state;
    DIR *d = opendir("/proc");
    for (const struct dirent *x; d && n < most && (x = readdir(d));) {
        int pid = atoi(x->d_name);
        if (pid > 0 && process_look(pid, &state, &parent) && parent == self) child[n++] = pid;
    }
    if (d) closedir(d);
    return n;
}

static bool any_runs(const struct channel *c, const int *child, u32 children)
{
    u32 n;
    bool runs = false;
    for (u32 i = 0; i < children && !runs; i++) runs = is_running(child[i]);
    struct channel_sender **s = channel_senders(c, &n);
    for (u32 i = 0; i < n && !runs; i++) runs = is_running(s[i]->pid);
    base_free(s);
    return runs;
}

/* Nobody waits for the keeper: it holds no terminal and no pipe of the launcher's. */
static void alone(void)
{
    setsid();
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    int fd = open("/dev/null", O_RDWR);
    for (int i = 0; fd >= 0 && i < 3; i++) dup2(fd, i);
    if (fd > 2) close(fd);
    if (chdir("/")) return; /* it stays where it is */
}

bool run_keeper_start(const struct channel *c, const char *program, int status, char *file, size_t size,
                      struct error *e)
{
    int child[CHILDREN];
    u32 children = children_find(child, CHILDREN);
    snprintf(file, size, "/tmp/lockstep-left.XXXXXX");
    int fd = mkstemp(file);
    if (fd < 0) return error_set(e, ERR_SYSTEM, "cannot make a file in /tmp: %s", strerror(errno));
    close(fd);
    pid_t pid = fork();
    if (pid < 0) {
        unlink(file);
        return error_set(e, ERR_SYSTEM, "cannot start a process: %s", strerror(errno));
    }
    if (pid) return true;
    alone();
    while (any_runs(c, child, children)) thread_sleep_us(PAUSE_US);
    _exit(run_save(c, file, program, status, e) ? 0 : 1);
}
