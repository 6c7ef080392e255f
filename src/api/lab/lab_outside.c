/* Oracles that are functions outside of Lockstep: their processes, and what is asked of them. lab_outside.h says how.
 */
#define _GNU_SOURCE
#include "base/embed.h"
#include "base/python.h"
#include "lab/lab_outside.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

EMBED(outside_python, "src/api/lab/outside.py");

#define ANSWER_LIMIT 30 /* seconds for a case, unless --limit says otherwise */
#define START_LIMIT 120 /* for the process to begin: a module may import much */
enum { TEXT_MOST = 600 };

struct outside_process {
    u64 at; /* of the oracle's line in its file */
    int fd; /* -1: no process */
    pid_t pid;
    bool late; /* it did not answer, and is not asked again */
    struct outside_process *next;
};

enum received { RECEIVED, GONE, LATE, NONSENSE };

/* ---- the socket ---- */

static bool wait_for(int fd, short events, u64 deadline)
{
    struct pollfd p = { .fd = fd, .events = events };
    for (;;) {
        u64 now = time_ns();
        if (now >= deadline) return false;
        int ready = poll(&p, 1, (int)MIN_OF((deadline - now) / 1000000 + 1, (u64)60000));
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) return false;
    }
}

static enum received move(int fd, void *bytes, u64 n, bool out, u64 deadline)
{
    for (char *p = bytes; n;) {
        ssize_t done = out ? send(fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT) : recv(fd, p, n, MSG_DONTWAIT);
        if (done < 0 && (errno == EINTR || errno == EAGAIN)) {
            if (!wait_for(fd, out ? POLLOUT : POLLIN, deadline)) return LATE;
            continue;
        }
        if (done <= 0) return GONE;
        p += done;
        n -= (u64)done;
    }
    return RECEIVED;
}

/* A message that has at most `most` bytes: longer texts are cut, longer answers are nonsense. */
static enum received receive(int fd, struct outside_head *head, void *to, u64 most, u64 deadline)
{
    enum received got = move(fd, head, sizeof *head, false, deadline);
    if (got != RECEIVED) return got;
    bool text = head->kind == OUTSIDE_FAILED || head->kind == OUTSIDE_UNLOADED;
    if (head->magic != OUTSIDE_MAGIC || (!text && head->kind != OUTSIDE_READY && head->kind != OUTSIDE_ANSWER) ||
        (!text && head->bytes > most))
        return NONSENSE;
    u64 taken = MIN_OF(head->bytes, most);
    got = move(fd, to, taken, false, deadline);
    char drop[256];
    for (u64 rest = head->bytes - taken; got == RECEIVED && rest; rest -= MIN_OF(rest, (u64)sizeof drop))
        got = move(fd, drop, MIN_OF(rest, (u64)sizeof drop), false, deadline);
    head->bytes = taken;
    return got;
}

/* ---- the process ---- */

static void stop(struct outside_process *o, int *status)
{
    *status = 0;
    /* first: a function whose socket is closed ends by itself, and what it has started would be nobody's */
    if (o->pid > 0) *status = process_tree_end(o->pid);
    if (o->fd >= 0) close(o->fd);
    o->fd = -1;
    o->pid = 0;
}

/* How a process that is gone has ended. The process may still be exiting when its socket closes. */
static void end_text(struct outside_process *o, char *out, size_t size)
{
    int status = 0;
    siginfo_t info = { 0 };
    for (u32 i = 0; i < 200 && !info.si_pid; i++) {
        if (waitid(P_PID, (id_t)o->pid, &info, WEXITED | WNOHANG | WNOWAIT)) break;
        if (!info.si_pid) thread_sleep_us(5000);
    }
    bool ended = info.si_pid == o->pid;
    stop(o, &status);
    if (!ended)
        snprintf(out, size, "closed its socket");
    else if (WIFSIGNALED(status))
        snprintf(out, size, "ended with signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(out, size, "ended its process with exit code %d", WEXITSTATUS(status));
}

/* In the child, between fork and exec: only what is safe there. */
static _Noreturn void become(char *const argv[], char *const env[], int socket)
{
    int none = open("/dev/null", O_RDONLY);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    process_tree_begin();
    if (none >= 0) dup2(none, 0);
    dup2(2, 1); /* what the function prints is no output of the command */
    if (socket == OUTSIDE_FD)
        fcntl(socket, F_SETFD, 0);
    else
        dup2(socket, OUTSIDE_FD);
    sigset_t all;
    sigemptyset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    execvpe(argv[0], argv, env);
    _exit(127);
}

static const char *folder_of(struct arena *mem, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? arena_str(mem, (struct str){ path, (u32)(slash - path + 1) }) : "./";
}

/* The command that runs the function; NULL: e. */
static char **command_of(struct arena *mem, struct lab_subject *s, const struct contract_text *line, struct error *e)
{
    const struct contract *all = &s->contract->read;
    const char *folder = folder_of(mem, all->file);
    const char **argv = NEW_ARRAY(mem, const char *, 8);
    if (line->source == ORACLE_PYTHON) {
        const char *const words[] = { python_command(), "-u",           "-c",  python_script(mem, outside_python),
                                      line->from,       line->function, folder };
        memcpy(argv, words, sizeof words);
    } else if (s->command) {
        const char *file = line->from[0] == '/' ? line->from : arena_printf(mem, "%s%s", folder, line->from);
        const char *const words[] = { s->command, "test", "--reference", file, line->function };
        memcpy(argv, words, sizeof words);
    } else {
        error_at(e, ERR_INPUT, all->file, all->text, line->at,
                 "a function of a shared object runs in a process of its own, which needs the path of the lockstep "
                 "command (lk_test_options.command)");
        return NULL;
    }
    return (char **)(uintptr_t)argv;
}

static const char *words_of(const struct contract_text *line)
{
    return line->source == ORACLE_PYTHON ? "python" : "library";
}

static bool cannot(struct lab_subject *s, const struct contract_text *line, struct error *e, const char *what)
{
    const struct contract *all = &s->contract->read;
    return error_at(e, ERR_INPUT, all->file, all->text, line->at, "%s %.200s:%.100s %s", words_of(line), line->from,
                    line->function, what);
}

/* Starts the process and waits until it has loaded the function. */
static bool start(struct lab_subject *s, const struct contract_text *line, struct outside_process *o, struct error *e)
{
    int pair[2], status;
    struct arena mem = { 0 };
    struct outside_head head;
    char text[TEXT_MOST] = "", why[TEXT_MOST + 100];
    char **argv = command_of(&mem, s, line, e);
    char **env = line->source == ORACLE_PYTHON ? python_environment(&mem) : environ;
    if (!argv || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
        arena_free(&mem);
        return argv ? error_set(e, ERR_SYSTEM, "no socket for an oracle: %s", strerror(errno)) : false;
    }
    fflush(NULL);
    o->fd = pair[0];
    o->pid = fork();
    if (!o->pid) become(argv, env, pair[1]);
    close(pair[1]);
    arena_free(&mem);
    if (o->pid < 0) return error_set(e, ERR_SYSTEM, "no process for an oracle: %s", strerror(errno));
    enum received got = receive(o->fd, &head, text, sizeof text - 1, time_ns() + (u64)START_LIMIT * 1000000000u);
    if (got == RECEIVED && head.kind == OUTSIDE_READY) return true;
    if (got == RECEIVED && head.kind == OUTSIDE_UNLOADED)
        snprintf(why, sizeof why, "cannot be loaded: %s", text);
    else if (got == LATE)
        snprintf(why, sizeof why, "was not loaded within %d s", START_LIMIT);
    else if (got == GONE)
        end_text(o, why, sizeof why);
    else
        snprintf(why, sizeof why, "began with an answer that cannot be read");
    if (got == GONE && strstr(why, "exit code 127"))
        snprintf(why, sizeof why, "needs %s, which cannot be started", words_of(line));
    stop(o, &status);
    return cannot(s, line, e, why);
}

static struct outside_process *outside_of(struct lab_subject *s, const struct contract_text *line)
{
    u64 at = (u64)(line->at - s->contract->read.text.p);
    for (struct outside_process *o = s->outside; o; o = o->next)
        if (o->at == at) return o;
    struct outside_process *o = base_alloc(sizeof *o);
    if (!o) return NULL;
    *o = (struct outside_process){ .at = at, .fd = -1, .next = s->outside };
    s->outside = o;
    return o;
}

void outside_end(struct lab_subject *s)
{
    int status;
    while (s->outside) {
        struct outside_process *o = s->outside;
        s->outside = o->next;
        stop(o, &status);
        base_free(o);
    }
}

/* ---- asking ---- */

static void put_u32(struct text *t, u32 v) { text_put(t, (const char *)&v, sizeof v); }

static void put_question(struct text *t, const struct outside_value *list, u32 n)
{
    struct outside_head head = { OUTSIDE_MAGIC, OUTSIDE_ASK, 0 };
    text_put(t, (const char *)&head, sizeof head);
    put_u32(t, n);
    for (u32 i = 0; i < n; i++) {
        const struct outside_value *v = &list[i];
        put_u32(t, (u32)strlen(v->name));
        put_u32(t, v->flags);
        put_u32(t, v->shape.rank);
        text_put(t, v->name, strlen(v->name));
        text_put(t, (const char *)v->shape.dim, v->shape.rank * sizeof(u64));
        if (v->flags & OUTSIDE_IN) text_put(t, (const char *)v->value, v->count * sizeof(double));
    }
    head.bytes = t->n - sizeof head;
    memcpy(t->p, &head, sizeof head);
}

/* The answer into the outputs; false: it does not have their sizes. */
static bool take_answer(const char *p, u64 bytes, struct outside_value *list, u32 n)
{
    const char *end = p + bytes;
    for (u32 i = 0; i < n; i++) {
        struct outside_value *v = &list[i];
        u64 bounded, size = v->count * sizeof(double);
        if (!(v->flags & OUTSIDE_OUT)) continue;
        if ((u64)(end - p) < sizeof bounded) return false;
        memcpy(&bounded, p, sizeof bounded);
        p += sizeof bounded;
        if ((u64)(end - p) < (bounded ? 2 : 1) * size) return false;
        memcpy(v->value, p, size);
        if (bounded) memcpy(v->bound, p + size, size);
        v->bounded = bounded != 0;
        p += (bounded ? 2 : 1) * size;
    }
    return p == end;
}

/* Bounds are numbers from 0 on, or infinity: nothing is known. What a function computes beside a NaN is mostly one,
 * too: then a NaN is what it says; beside an infinity it says nothing. */
static bool bounds_hold(struct outside_value *list, u32 n, char *why, size_t size)
{
    for (u32 i = 0; i < n; i++)
        for (u64 k = 0; list[i].bounded && k < list[i].count; k++) {
            double *bound = &list[i].bound[k];
            if (isnan(*bound) && !isfinite(list[i].value[k])) *bound = isnan(list[i].value[k]) ? 0 : INFINITY;
            if (*bound >= 0) continue;
            snprintf(why, size, "gives %g as the bound of element %" PRIu64 " of %.60s", *bound, k, list[i].name);
            return false;
        }
    return true;
}

static u64 most_bytes(const struct outside_value *list, u32 n)
{
    u64 most = TEXT_MOST;
    for (u32 i = 0; i < n; i++)
        if (list[i].flags & OUTSIDE_OUT) most += sizeof(u64) + 2 * list[i].count * sizeof(double);
    return most;
}

bool outside_ask(struct lab_subject *s, const struct contract_text *line, struct outside_value *list, u32 n, char *why,
                 size_t size, struct error *e)
{
    struct outside_process *o = outside_of(s, line);
    struct outside_head head;
    struct text question = { 0 };
    double limit = s->limit > 0 ? s->limit : ANSWER_LIMIT;
    char late[100];
    int status;
    why[0] = 0;
    snprintf(late, sizeof late, "did not answer within %g s, and was ended", limit);
    u64 most = most_bytes(list, n);
    char *answer = o ? base_alloc(most + 1) : NULL;
    if (!answer) return error_set(e, ERR_MEMORY, "no memory for the answer of an oracle");
    bool ok = o->late ? cannot(s, line, e, late) : o->fd >= 0 || start(s, line, o, e);
    if (ok) {
        u64 deadline = time_ns() + (u64)(limit * 1e9);
        put_question(&question, list, n);
        enum received got = move(o->fd, question.p, question.n, true, deadline);
        if (got == RECEIVED) got = receive(o->fd, &head, answer, most, deadline);
        if (got == LATE) {
            o->late = true;
            ok = cannot(s, line, e, late);
        } else if (got == GONE) {
            end_text(o, why, size);
        } else if (got == RECEIVED && head.kind == OUTSIDE_FAILED) {
            answer[head.bytes] = 0;
            snprintf(why, size, "%s", answer);
        } else if (got == NONSENSE || head.kind != OUTSIDE_ANSWER || !take_answer(answer, head.bytes, list, n)) {
            snprintf(why, size, "gives an answer that cannot be read: something else has written to its socket");
            stop(o, &status);
        } else {
            bounds_hold(list, n, why, size);
        }
        if (got == LATE) stop(o, &status);
    }
    text_free(&question);
    base_free(answer);
    return ok;
}
