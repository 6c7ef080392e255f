/* Sides in processes of their own: for several at a time, for a GPU that may hang or die.
 *
 * A worker is forked before its parent has opened a gpu, and opens its own. It gets cases as lines, with a word for
 * what is to be done, and answers with the outcome, which has no pointers. One that dies or takes too long has failed
 * the case; the next case starts a new one. */
#include "lab/lab.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

struct question {
    u32 line; /* bytes of the case that follow */
    u32 repeat;
    bool explain, tell, twice, has_only, has_likeness;
    enum oracle_label label;
    char only[300], likeness[300], likeness_of[300];
    u32 excepts;
    char except[8][240];
};
struct answer {
    bool ok;
    struct error e;
    struct lab_outcome outcome;
    struct lab_told told;
};

static bool get(int fd, void *p, size_t n)
{
    for (char *to = p; n;) {
        ssize_t got = read(fd, to, n);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to += got;
        n -= (size_t)got;
    }
    return true;
}

static void told_of(struct lab_subject *s, struct lab_told *out)
{
    struct report_brief b;
    *out = (struct lab_told){ .kind = F_COUNT };
    if (!s->gpu || !report_first(s->gpu->device->report, &b)) return;
    out->kind = b.kind;
    out->line = b.line;
    out->column = b.column;
    snprintf(out->file, sizeof out->file, "%s", b.file);
    snprintf(out->kernel, sizeof out->kernel, "%s", b.kernel);
    snprintf(out->cause, sizeof out->cause, "%s", b.cause);
    snprintf(out->detail, sizeof out->detail, "%s", b.detail);
}

static void how_of(const struct question *q, struct lab_how *how, const char **except)
{
    *how = (struct lab_how){
        .explain = q->explain, .tell = q->tell, .twice = q->twice, .label = q->label, .repeat = q->repeat
    };
    if (q->has_likeness) {
        how->likeness = q->likeness;
        how->likeness_of = q->likeness_of[0] ? q->likeness_of : NULL;
    }
    how->hints.only = q->has_only ? q->only : NULL;
    for (u32 i = 0; i < q->excepts; i++) except[i] = q->except[i];
    how->hints.except = except;
    how->hints.n = q->excepts;
}

/* What a worker does all its life. */
static void serve(struct lab_side *x, const struct contract_kernel *k, int in, int out)
{
    struct question q;
    while (get(in, &q, sizeof q)) {
        struct arena mem = { 0 };
        struct answer *a = NEW(&mem, struct answer);
        struct contract_case c;
        struct lab_how how;
        const char *except[8];
        char *line = arena_alloc(&mem, q.line + 1, 1);
        if (!get(in, line, q.line)) break;
        how_of(&q, &how, except);
        a->ok = case_read(&mem, k, line, &c, &a->e) && lab_run_repeated(x->subject, &c, &how, &a->outcome, &a->e);
        if (a->ok) told_of(x->subject, &a->told);
        bool sent = file_put(out, a, sizeof *a);
        arena_free(&mem);
        if (!sent) break;
    }
    _exit(0);
}

bool lab_side_start(struct lab_side *x, struct error *e)
{
    int to[2], from[2];
    struct arena mem = { 0 };
    struct contract read;
    const struct lab_subject *s = x->subject;
    if (pipe(to)) return error_set(e, ERR_SYSTEM, "no pipe for a worker: %s", strerror(errno));
    if (pipe(from)) {
        close(to[0]), close(to[1]);
        return error_set(e, ERR_SYSTEM, "no pipe for a worker: %s", strerror(errno));
    }
    if (!contract_parse(&mem, s->path, s->text, &read, e)) return false;
    fflush(stdout);
    x->pid = fork();
    if (!x->pid) {
        close(to[1]), close(from[0]);
        signal(SIGPIPE, SIG_IGN);
        serve(x, &read.kernels.p[s->block], to[0], from[1]);
    }
    close(to[0]), close(from[1]);
    arena_free(&mem);
    x->to = to[1];
    x->from = from[0];
    x->began = 0;
    if (x->pid > 0) return true;
    lab_side_end(x);
    return error_set(e, ERR_SYSTEM, "no process for a worker: %s", strerror(errno));
}

void lab_side_end(struct lab_side *x)
{
    if (x->to >= 0) close(x->to);
    if (x->from >= 0) close(x->from);
    if (x->pid > 0) {
        kill(x->pid, SIGKILL); /* later workers hold a copy of its pipe, so that it would not see an end */
        waitpid(x->pid, NULL, 0);
    }
    x->to = x->from = -1;
    x->pid = 0;
    x->began = 0;
}

bool lab_send(struct lab_side *x, const struct contract_case *c, const struct lab_how *how, struct error *e)
{
    struct text line = { 0 };
    struct question q = {
        .explain = how->explain, .tell = how->tell, .twice = how->twice, .label = how->label, .repeat = how->repeat
    };
    case_print(c, &line);
    q.line = (u32)line.n;
    if (how->hints.only) snprintf(q.only, sizeof q.only, "%s", how->hints.only), q.has_only = true;
    if (how->likeness) snprintf(q.likeness, sizeof q.likeness, "%s", how->likeness), q.has_likeness = true;
    if (how->likeness_of) snprintf(q.likeness_of, sizeof q.likeness_of, "%s", how->likeness_of);
    for (; q.excepts < how->hints.n && q.excepts < COUNT_OF(q.except); q.excepts++)
        snprintf(q.except[q.excepts], sizeof q.except[0], "%s", how->hints.except[q.excepts]);
    if (x->to < 0 && !lab_side_start(x, e)) return text_free(&line), false;
    x->began = time_ns();
    bool ok = file_put(x->to, &q, sizeof q) && file_put(x->to, line.p, line.n);
    text_free(&line);
    return ok || error_set(e, ERR_SYSTEM, "a worker has ended: %s", strerror(errno));
}

/* The worker is gone, or has to go: the case has failed. */
static void lost(struct lab_side *x, bool hangs, struct lab_outcome *out, struct lab_told *told)
{
    int status = 0;
    *out = (struct lab_outcome){ .end = LAB_FAILED };
    kill(x->pid, SIGKILL);
    waitpid(x->pid, &status, 0);
    x->pid = 0;
    x->began = 0;
    lab_side_end(x);
    snprintf(out->first, sizeof out->first, hangs ? "hang" : "crash");
    if (!told) return;
    *told = (struct lab_told){ .kind = F_gpu_fault };
    snprintf(told->file, sizeof told->file, "%s", x->subject->path);
    told->line = 1;
    snprintf(told->kernel, sizeof told->kernel, "%s", x->subject->kernel);
    if (hangs)
        snprintf(told->cause, sizeof told->cause, "the case did not end within %g s, and its process was stopped",
                 x->limit);
    else
        snprintf(told->cause, sizeof told->cause, "the process that ran the case ended with %s %d",
                 WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

bool lab_receive(struct lab_side *x, struct lab_outcome *out, struct lab_told *told, struct error *e)
{
    struct pollfd p = { .fd = x->from, .events = POLLIN };
    struct arena mem = { 0 };
    struct answer *a = NEW(&mem, struct answer);
    int ready;
    do {
        double left = x->limit > 0 ? x->limit - (double)(time_ns() - x->began) * 1e-9 : 0;
        ready = poll(&p, 1, x->limit > 0 ? (int)(1000 * (left > 0 ? left : 0)) + 1 : -1);
    } while (ready < 0 && errno == EINTR);
    bool whole = ready > 0 && get(x->from, a, sizeof *a), ok = true;
    if (!whole) {
        lost(x, !ready, out, told);
    } else {
        x->began = 0;
        *out = a->outcome;
        if (told) *told = a->told;
        if (!a->ok) *e = a->e;
        ok = a->ok;
    }
    arena_free(&mem);
    return ok;
}

bool lab_ask(struct lab_side *x, const struct contract_case *c, const struct lab_how *how, struct lab_outcome *out,
             struct lab_told *told, struct error *e)
{
    if (x->limit > 0 || x->to >= 0) return lab_send(x, c, how, e) && lab_receive(x, out, told, e);
    bool ok = lab_run_repeated(x->subject, c, how, out, e);
    if (ok && told) told_of(x->subject, told);
    return ok;
}
