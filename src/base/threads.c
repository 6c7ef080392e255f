/* The threads of this process: ours have names that begin with "lk-", and all others belong to the program that uses
 * the library. */
#include "base/base.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

void thread_name(const char *name)
{
#if defined __linux__
    pthread_setname_np(pthread_self(), name);
#else
    (void)name;
#endif
}

/* "17 (lk-worker) S ...": the name and the state of a thread. */
static bool stat_read(const char *task, char *name, char *state)
{
    char path[64], line[128];
    snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", task);
    int f = open(path, O_RDONLY | O_CLOEXEC);
    if (f < 0) return false;
    ssize_t n = read(f, line, sizeof line - 1);
    close(f);
    line[n > 0 ? n : 0] = 0;
    const char *open_at = strchr(line, '('), *close_at = strrchr(line, ')');
    if (!open_at || !close_at || strlen(close_at) < 3) return false;
    snprintf(name, 20, "%.*s", (int)MIN_OF(close_at - open_at - 1, 16), open_at + 1);
    *state = close_at[2];
    return true;
}

bool threads_of_program(u32 *all, u32 *awake)
{
    *all = *awake = 0;
    DIR *folder = opendir("/proc/self/task");
    if (!folder) return false;
#if defined __linux__
    long me = syscall(SYS_gettid);
#else
    long me = 0;
#endif
    for (const struct dirent *t; (t = readdir(folder));) {
        char name[20], state;
        if (t->d_name[0] == '.' || !stat_read(t->d_name, name, &state) || !strncmp(name, "lk-", 3)) continue;
        ++*all;
        *awake += state == 'R' && strtol(t->d_name, NULL, 10) != me;
    }
    closedir(folder);
#if defined __SANITIZE_THREAD__
    if (*all) --*all; /* the sanitizer has one */
#endif
    return true;
}
