/* Processes that time something, asked in lines over their standard input. Each is started with exec: CUDA does not
 * begin in a fork. */
#include "base/embed.h"
#include "base/python.h"
#include "bench/bench.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

EMBED(timed_python, "src/cli/bench/timed.py");

enum { ANSWER_MOST = 64 << 20 };

/* In the child, between fork and exec: only what is safe there. */
static void become(char *const argv[], char *const env[], int in, int out)
{
    if (env != environ) process_tree_begin(); /* a function of the user's */
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    execvpe(argv[0], argv, env);
    _exit(127);
}

void side_question(const struct side_what *w, struct text *line)
{
    struct json top = { line, false }, o = json_open(&top, NULL, '{');
    json_text(&o, "do", "open");
    json_text(&o, "on", w->on);
    if (w->python) {
        json_text(&o, "call", w->python);
    } else {
        json_text(&o, "file", w->file);
        if (w->kernel) json_text(&o, "kernel", w->kernel);
        if (w->device) json_text(&o, "device", w->device);
        if (w->budget) json_number(&o, "budget", w->budget);
        if (w->count) json_number(&o, "count", 1);
        if (w->compile && w->compile->compiler) json_text(&o, "compiler", w->compile->compiler);
        if (w->compile && w->compile->arch) json_text(&o, "arch", w->compile->arch);
        struct json flags = json_open(&o, "flags", '[');
        for (u32 i = 0; w->compile && i < w->compile->flags; i++) json_text(&flags, NULL, w->compile->flag[i]);
        json_end(&flags, ']');
    }
    json_end(&o, '}');
}

bool side_start(struct bench_side *x, const struct side_what *w, struct error *e)
{
    static char self[4096];
    int to[2], from[2];
    struct arena a = { 0 };
    struct text line = { 0 };
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    char *kernel[] = { self, "bench", "--worker", NULL };
    *x = (struct bench_side){ .to = -1, .from = -1 };
    signal(SIGPIPE, SIG_IGN);
    if (pipe2(to, O_CLOEXEC)) return error_set(e, ERR_SYSTEM, "no pipe for a process: %s", strerror(errno));
    if (pipe2(from, O_CLOEXEC)) {
        close(to[0]), close(to[1]);
        return error_set(e, ERR_SYSTEM, "no pipe for a process: %s", strerror(errno));
    }
    char *call[] = { (char *)python_command(), "-c", (char *)python_script(&a, timed_python), NULL };
    char **env = w->python ? python_environment(&a) : environ;
    fflush(stdout);
    x->pid = fork();
    if (!x->pid) become(w->python ? call : kernel, env, to[0], from[1]);
    arena_free(&a);
    close(to[0]), close(from[1]);
    x->to = to[1];
    x->from = from[0];
    if (x->pid < 0) return error_set(e, ERR_SYSTEM, "no process: %s", strerror(errno));
    side_question(w, &line);
    bool ok = side_send(x, line.p, e);
    text_free(&line);
    return ok;
}

bool side_send(struct bench_side *x, const char *line, struct error *e)
{
    if (file_put(x->to, line, strlen(line)) && file_put(x->to, "\n", 1)) return true;
    return error_set(e, ERR_SYSTEM, "a process that times has ended before it was asked");
}

/* More of the answer; false: it has ended, or time is up. */
static bool read_some(struct bench_side *x, u64 until, struct error *e)
{
    char piece[1 << 16];
    struct pollfd p = { .fd = x->from, .events = POLLIN };
    for (;;) {
        u64 now = time_ns();
        if (process_signal()) return error_set(e, ERR_STOPPED, "stopped");
        if (now >= until) return error_set(e, ERR_NOTHING, "a process that times gave no answer in time");
        int ready = poll(&p, 1, (int)MIN_OF((until - now) / 1000000 + 1, (u64)200));
        if (ready > 0) break;
        if (ready < 0 && errno != EINTR) return error_set(e, ERR_SYSTEM, "poll: %s", strerror(errno));
    }
    ssize_t n = read(x->from, piece, sizeof piece);
    if (n <= 0 || x->buffer.n + (size_t)n > ANSWER_MOST)
        return error_set(e, ERR_NOTHING, "a process that times has ended: what it said is above");
    text_put(&x->buffer, piece, (size_t)n);
    return true;
}

const struct json_value *side_answer(struct arena *a, struct bench_side *x, double seconds, struct error *e)
{
    u64 until = time_ns() + (u64)(seconds * 1e9);
    x->buffer.n = 0;
    while (!x->buffer.n || x->buffer.p[x->buffer.n - 1] != '\n')
        if (!read_some(x, until, e)) return NULL;
    const char *text = arena_str(a, (struct str){ x->buffer.p, (u32)x->buffer.n });
    const struct json_value *v = json_read(a, str_of(text), "answer", e), *why = v ? json_get(v, "why") : NULL;
    if (!why) return v;
    u64 code = json_whole(v, "code");
    error_set(e, code ? (enum error_code)code : ERR_NOTHING, "%.900s", json_string(v, "why"));
    return NULL;
}

void side_end(struct bench_side *x)
{
    if (x->to >= 0) close(x->to);
    if (x->from >= 0) close(x->from);
    if (x->pid > 0) {
        u64 until = time_ns() + 3000000000u;
        siginfo_t info = { 0 };
        while (!waitid(P_PID, (id_t)x->pid, &info, WEXITED | WNOHANG | WNOWAIT) && !info.si_pid && time_ns() < until)
            thread_sleep_us(1000);
        process_tree_end(x->pid);
    }
    text_free(&x->buffer);
    *x = (struct bench_side){ .to = -1, .from = -1 };
}
