/* LOCKSTEP_LOG=api, or api:FILE: each call of the program in one line, when it has returned:
 *
 *   lockstep: [4711] cudaMalloc(devPtr=0x7ffe2a10, size=4096) = cudaSuccess, 3.1 us
 *
 * The number in front is the thread's, as the system counts. */
#include "engine/gate_log.h"
#include "runtime/rt.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct {
    int state; /* 0: not read yet; 1: no; 2: yes */
    int file;  /* where lines go */
} log_ = { .file = 2 };

/* The word `api` of a list with commas, with what may follow it after a colon. */
static const char *word_find(const char *list)
{
    for (const char *p = list; p && *p; p += strcspn(p, ",")) {
        p += strspn(p, ", ");
        if (!strncmp(p, "api", 3) && (!p[3] || p[3] == ',' || p[3] == ':')) return p + 3;
    }
    return NULL;
}

static void settle(void)
{
    static lock_t guard = LOCK_INIT;
    lock(&guard);
    const char *rest = log_.state ? NULL : word_find(getenv("LOCKSTEP_LOG"));
    if (rest && *rest == ':') {
        char path[1000];
        snprintf(path, sizeof path, "%.*s", (int)strcspn(rest + 1, ","), rest + 1);
        int f = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (f < 0)
            fprintf(stderr, "lockstep: LOCKSTEP_LOG: %s cannot be written; calls go to standard error\n", path);
        else
            log_.file = f;
    }
    if (!log_.state) __atomic_store_n(&log_.state, rest ? 2 : 1, __ATOMIC_RELEASE);
    unlock(&guard);
}

bool cu_log_wanted(void)
{
    int s = __atomic_load_n(&log_.state, __ATOMIC_ACQUIRE);
    if (!s) {
        settle();
        s = log_.state;
    }
    return s == 2;
}

u64 cu_log_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

const char *cu_result_name(const struct cu_call *c)
{
    const char *name = cu_call_of_runtime(c) ? rt_error_name((int)c->result) : cu_error_name((int)c->result);
    return name ? name : "?";
}

/* One write a line, so that lines of several threads stay whole. */
void cu_log_call(const struct cu_call *c)
{
    char text[1200], line[1400];
    double us = (double)(cu_log_now() - c->start) / 1000;
    cu_call_text(c, text, sizeof text, true);
    int n = snprintf(line, sizeof line, "lockstep: [%d] %s%s%s, %.1f us\n", (int)syscall(SYS_gettid), text,
                     cu_call_returns_code(c) ? " = " : "", cu_call_returns_code(c) ? cu_result_name(c) : "", us);
    if (n > 0 && write(log_.file, line, MIN_OF((size_t)n, sizeof line - 1)) < 0) return; /* there is nobody to tell */
}
