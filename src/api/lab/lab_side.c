/* Sides in processes of their own: for several at a time, for a GPU that may hang or die.
 *
 * A worker is started with exec, never merely forked: it begins with no driver and no gpu, whatever its parent has
 * opened. It gets its subject, then cases as lines, with a word for what is to be done, and answers with the outcome,
 * which has no pointers (side.h). One that dies or takes too long has failed the case; the next case starts a new
 * one, and so it does after a fault, which a GPU's process does not survive. */
#include "lab/side.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child, between fork and exec: only what is safe there. */
static void become_worker(const char *command, int in, int out, char *fds)
{
    char verb[] = "test",
         option[] = "--worker", *const argv[] = { (char *)(uintptr_t)command, verb, option, fds, NULL };
    fcntl(in, F_SETFD, 0);
    fcntl(out, F_SETFD, 0);
    execv(command, argv);
    _exit(127);
}

bool lab_side_start(struct lab_side *x, struct error *e)
{
    int to[2], from[2];
    char fds[40];
    struct text subject = { 0 };
    if (!x->command)
        return error_set(e, ERR_INPUT, "a case in a process of its own needs the path of the lockstep command");
    if (pipe2(to, O_CLOEXEC)) return error_set(e, ERR_SYSTEM, "no pipe for a worker: %s", strerror(errno));
    if (pipe2(from, O_CLOEXEC)) {
        close(to[0]), close(to[1]);
        return error_set(e, ERR_SYSTEM, "no pipe for a worker: %s", strerror(errno));
    }
    snprintf(fds, sizeof fds, "%d,%d", to[0], from[1]);
    fflush(stdout);
    x->pid = fork();
    if (!x->pid) become_worker(x->command, to[0], from[1], fds);
    close(to[0]), close(from[1]);
    x->to = to[1];
    x->from = from[0];
    x->began = 0;
    subject_put(&subject, x->subject);
    bool ok = x->pid > 0 && file_put(x->to, subject.p, subject.n);
    int why = errno;
    text_free(&subject);
    if (ok) return true;
    lab_side_end(x);
    return error_set(e, ERR_SYSTEM, "no process for a worker: %.200s: %s", x->command, strerror(why));
}

void lab_side_end(struct lab_side *x)
{
    if (x->to >= 0) close(x->to);
    if (x->from >= 0) close(x->from);
    if (x->pid > 0) {
        kill(x->pid, SIGKILL); /* it may hang */
        waitpid(x->pid, NULL, 0);
    }
    x->to = x->from = -1;
    x->pid = 0;
    x->began = 0;
}

bool lab_send(struct lab_side *x, const struct contract_case *c, const struct lab_how *how, struct error *e)
{
    struct text line = { 0 };
    struct question q = { .mark = SIDE_MARK,
                          .explain = how->explain,
                          .tell = how->tell,
                          .twice = how->twice,
                          .label = how->label,
                          .repeat = how->repeat };
    q.cost_most = how->cost_most;
    q.budget = how->budget;
    q.name_most = how->hints.most;
    case_print(c, &line);
    q.line = (u32)line.n;
    if (how->hints.only) snprintf(q.only, sizeof q.only, "%s", how->hints.only), q.has_only = true;
    if (how->hints.output) snprintf(q.output, sizeof q.output, "%s", how->hints.output);
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
static void lost(struct lab_side *x, bool hangs, struct lab_outcome *out, struct report_brief *first)
{
    int status = 0;
    *out = (struct lab_outcome){ .end = LAB_FAILED };
    kill(x->pid, SIGKILL);
    waitpid(x->pid, &status, 0);
    x->pid = 0;
    x->began = 0;
    lab_side_end(x);
    snprintf(out->first, sizeof out->first, hangs ? "hang" : "crash");
    if (!first) return;
    *first = (struct report_brief){ .kind = F_gpu_fault };
    snprintf(first->file, sizeof first->file, "%s", x->subject->path);
    first->line = 1;
    snprintf(first->kernel, sizeof first->kernel, "%s", x->subject->kernel);
    if (hangs)
        snprintf(first->cause, sizeof first->cause, "the case did not end within %g s, and its process was stopped",
                 x->limit);
    else
        snprintf(first->cause, sizeof first->cause, "the process that ran the case ended with %s %d",
                 WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

bool lab_receive(struct lab_side *x, struct lab_outcome *out, struct report_brief *first, struct error *e)
{
    struct pollfd p = { .fd = x->from, .events = POLLIN };
    struct arena mem = { 0 };
    struct answer *a = NEW(&mem, struct answer);
    int ready;
    do {
        double left = x->limit > 0 ? x->limit - (double)(time_ns() - x->began) * 1e-9 : 0;
        ready = poll(&p, 1, x->limit > 0 ? (int)(1000 * (left > 0 ? left : 0)) + 1 : -1);
    } while (ready < 0 && errno == EINTR);
    /* a library that a worker has loaded may have written over its memory, or into the pipe */
    bool whole = ready > 0 && file_get(x->from, a, sizeof *a) && a->mark == SIDE_MARK, ok = true;
    whole = whole && a->outcome.cover.n <= COVER_MOST && a->outcome.dims <= CONTRACT_DIMS;
    if (!whole) {
        lost(x, !ready, out, first);
    } else {
        x->began = 0;
        *out = a->outcome;
        if (first) *first = a->first;
        if (!a->ok) *e = a->e;
        ok = a->ok;
        if (x->limit > 0 && a->first.kind == F_gpu_fault) lab_side_end(x);
    }
    arena_free(&mem);
    return ok;
}

double lab_work(const struct lab_outcome *o)
{
    enum { EACH = 20000 }; /* of any case */
    double cost = o->cost < 1e12 ? o->cost : 0, evaluated = o->judged ? cost : 0;
    return EACH + (double)o->cover.steps + evaluated + o->named;
}

bool lab_ask(struct lab_side *x, const struct contract_case *c, const struct lab_how *how, struct lab_outcome *out,
             struct report_brief *first, struct error *e)
{
    if (x->most > 0 && x->work > x->most && !how->tell) { /* nothing is known of it, and nothing is said */
        *out = (struct lab_outcome){ .end = LAB_PASSED };
        return x->tired = true;
    }
    bool ok;
    struct lab_how within = *how;
    double rest = x->most - x->work; /* a name that was found must be held against other cases, too */
    if (x->most > 0) within.hints.most = fmax(how->hints.only ? rest : rest / 3, 1);
    if (x->limit > 0 || x->to >= 0) {
        ok = lab_send(x, c, &within, e) && lab_receive(x, out, first, e);
    } else {
        ok = lab_run_repeated(x->subject, c, &within, out, e);
        if (ok && first) worker_first(x->subject, first);
    }
    if (ok) x->work += lab_work(out);
    return ok;
}
