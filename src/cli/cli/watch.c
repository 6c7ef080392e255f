/* Watching a launch, a test, or a compiler.
 *
 * Progress is drawn by a thread that sleeps half a second first and then looks at the counters that the workers keep
 * anyway: a short launch sees nothing of it, and a long one pays nothing. It exists only where standard error is a
 * terminal. CTAs that are done are the measure; the instructions move while none is, too.
 *
 * The first SIGINT or SIGTERM asks the launch to end with a report of where it stood; the next one kills. Two within a
 * moment are one: timeout(1) sends it to the process and to its group. A signal that was ignored when lockstep started
 * (nohup, a job in the background) stays ignored. */
#include "cli/cli.h"
#include "cli/watch.h"
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_MS = 500, EVERY_MS = 200 };

static const int signals[] = { SIGINT, SIGTERM };
/* A handler has no other way to know whom to stop, nor to tell that it did. */
static lk_gpu *volatile stopping;
static volatile sig_atomic_t stopped_by;
static struct timespec stopped_at; /* only the handler uses it */

static void on_signal(int sig)
{
    enum { MOMENT_MS = 300 };
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (stopped_by) {
        long long ms = (now.tv_sec - stopped_at.tv_sec) * 1000LL + (now.tv_nsec - stopped_at.tv_nsec) / 1000000;
        if (ms < MOMENT_MS) return;
        signal(sig, SIG_DFL);
        raise(sig);
        return;
    }
    stopped_at = now;
    stopped_by = sig;
    if (stopping) lk_gpu_interrupt(stopping);
}

static void catch_signals(lk_gpu *gpu)
{
    stopping = gpu;
    for (u32 i = 0; i < COUNT_OF(signals); i++) {
        struct sigaction act = { .sa_handler = gpu ? on_signal : SIG_DFL }, old;
        if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN && !stopped_by)
            sigaction(signals[i], &act, NULL);
    }
}

int watch_signal(void) { return stopped_by; }

/* ---- progress ---- */

/* ", 1234M warp instructions": four digits that move. */
static void add_number(struct text *t, double n, const char *unit)
{
    static const char *const scale[] = { "", "k", "M", "G" };
    u32 k = 0;
    for (; n >= 10000 && k + 1 < COUNT_OF(scale); k++) n /= 1000;
    text_add(t, ", %.*f%s %s", n < 10 ? 1 : 0, n, scale[k], unit);
}

static void add_launch(struct text *t, const char *name, const lk_progress *p, double s)
{
    double share = (double)p->ctas_done / (double)p->ctas;
    text_add(t, "%s: %" PRIu64 " of %" PRIu64 " blocks, %.0f %%", name, p->ctas_done, p->ctas, 100 * share);
    if (p->warp_instructions) add_number(t, (double)p->warp_instructions, "warp instructions");
    if (p->ctas_done)
        add_number(t, (double)p->ctas_done / s, "blocks/s");
    else if (p->warp_instructions)
        add_number(t, (double)p->warp_instructions / s, "a second");
    text_add(t, ", %.1f s", s);
    if (p->ctas_done && share < 1 && s * (1 - share) / share < 1e6)
        text_add(t, ", about %.0f s left", s * (1 - share) / share);
}

/* "softmax.cu (3 of 14): softmax, 23 of 64 cases, 1 failed, 3.4 s" */
static void add_test(struct text *t, const char *name, const lk_progress *p, double s)
{
    text_add(t, "%s: %s", name, p->test);
    if (p->cases_most)
        text_add(t, ", %u of %u cases", p->cases, p->cases_most);
    else
        text_add(t, ", %u cases", p->cases);
    if (p->cases_failed) text_add(t, ", %u failed", p->cases_failed);
    text_add(t, ", %.1f s", s);
}

/* true: there is a line on the terminal now. */
static bool draw(const struct watch *w)
{
    lk_progress p = { .size = sizeof p };
    if (!lk_gpu_progress(w->gpu, &p) || (!p.ctas && !p.compiling && !p.test[0])) return false;
    double s = (double)(time_ns() - w->began) / 1e9;
    struct text t = { 0 };
    text_add(&t, "\r\033[K");
    if (p.test[0])
        add_test(&t, w->name, &p, s);
    else if (p.compiling)
        text_add(&t, "compiling %s, %.1f s", w->name, s);
    else
        add_launch(&t, w->name, &p, s);
    text_add(&t, "\r");
    cli_put(stderr, t.p, t.n);
    text_free(&t);
    return true;
}

static struct timespec in_ms(u32 ms)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += (long)ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void *draw_until_end(void *self)
{
    struct watch *w = self;
    bool drawn = false;
    thread_name("lk-watch"); /* it only looks */
    lock(&w->lock);
    for (u32 ms = FIRST_MS; !w->ended; ms = EVERY_MS) {
        struct timespec until = in_ms(ms);
        pthread_cond_timedwait(&w->end, &w->lock, &until);
        drawn |= !w->ended && draw(w);
    }
    unlock(&w->lock);
    if (drawn) cli_put(stderr, "\033[K", 3);
    fflush(stderr);
    return NULL;
}

static void begin(struct watch *w, const struct common *c, lk_gpu *gpu, const char *name)
{
    const char *term = getenv("TERM");
    *w = (struct watch){
        .gpu = gpu, .name = name, .began = time_ns(), .lock = LOCK_INIT, .end = PTHREAD_COND_INITIALIZER
    };
    if (c->quiet || !isatty(STDERR_FILENO) || !term || !strcmp(term, "dumb")) return;
    /* the thread takes no signals: process_guard holds them back in the one that starts a compiler */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    w->shown = !pthread_create(&w->thread, NULL, draw_until_end, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void end(struct watch *w)
{
    if (!w->shown) return;
    lock(&w->lock);
    w->ended = true;
    pthread_cond_signal(&w->end);
    unlock(&w->lock);
    pthread_join(w->thread, NULL);
}

void watch_begin(struct watch *w, const struct common *c, lk_gpu *gpu, const char *name)
{
    catch_signals(gpu);
    begin(w, c, gpu, name);
}

void watch_end(struct watch *w)
{
    catch_signals(NULL);
    end(w);
}

void watch_compiler_begin(struct watch *w, const struct common *c, lk_gpu *gpu, const char *file)
{
    begin(w, c, gpu, file);
}

void watch_compiler_end(struct watch *w) { end(w); }
