/* Ending a process with all that it has started.
 *
 * The process is made the one that orphans below it come to, which exec keeps. So all descendants of the process stay
 * below it while it lives, also those that left its group or session. To end the tree, the process is stopped first, so
 * that it starts no others; then its descendants are killed until none is left, and finally the process itself. Where
 * it has ended already, its orphans are elsewhere: those that are still in its group are ended. */
#include "base/python.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 1000 }; /* of looking for more: each has ended some */

void process_tree_begin(void)
{
    setpgid(0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

struct process {
    pid_t pid, parent;
    bool below;
};

/* The parent of a process that has not ended; 0: it has. */
static pid_t parent_of(const char *pid)
{
    char path[64], line[512], state;
    int parent;
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, line, sizeof line - 1) : 0;
    if (fd >= 0) close(fd);
    line[MAX_OF(n, (ssize_t)0)] = 0;
    const char *p = strrchr(line, ')'); /* after the name of its program, which may hold anything */
    return p && sscanf(p + 1, " %c %d", &state, &parent) == 2 && state != 'Z' ? parent : 0;
}

static u32 all_processes(struct arena *a, struct process **out)
{
    VEC(struct process) all = { 0 };
    DIR *d = opendir("/proc");
    for (struct dirent *f; d && (f = readdir(d));) {
        struct process x = { (pid_t)strtol(f->d_name, NULL, 10), 0, false };
        if (x.pid > 0) x.parent = parent_of(f->d_name);
        if (x.parent > 0) VEC_PUSH(a, &all, x);
    }
    if (d) closedir(d);
    *out = all.p;
    return all.n;
}

/* Ends what is below the process; how many there were. */
static u32 end_below(pid_t pid)
{
    struct arena a = { 0 };
    struct process *p;
    u32 n = all_processes(&a, &p), ended = 0;
    for (bool more = true; more;) {
        more = false;
        for (u32 i = 0; i < n; i++) {
            bool is = p[i].parent == pid;
            for (u32 k = 0; k < n && !is; k++) is = p[k].below && p[k].pid == p[i].parent;
            if (!is || p[i].below) continue;
            p[i].below = more = true;
            ended += !kill(p[i].pid, SIGKILL);
        }
    }
    arena_free(&a);
    return ended;
}

int process_tree_end(s32 pid)
{
    int status = 0;
    siginfo_t info = { 0 };
    bool here = !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) && !info.si_pid;
    if (here && !kill(pid, SIGSTOP))
        for (u32 i = 0; i < ROUNDS && end_below(pid); i++) continue;
    kill(-pid, SIGKILL); /* its number is nobody else's until it has been waited for */
    kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return status;
}
