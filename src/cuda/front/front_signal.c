/* The engine wants to see a fault before the program's handler does, also where the program has blocked its signal, and
 * to write its report before the program leaves by _exit. These are questions of who is called: where the program calls
 * sigaction, signal, sigprocmask or _exit, and the engine is there, the engine is asked; else libc, as ever.
 *
 * The engine has a table, lkfront_hooks, which is empty until its constructor has filled it in. */
#include "front/front.h"
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* As the engine has it (engine/cu_fault.c). */
struct front_hooks {
    int (*sigaction)(int number, const struct sigaction *act, struct sigaction *old);
    bool (*watches)(int number); /* whether sigaction has anything to do with this signal */
    void (*leaving)(void);       /* the program calls _exit */
    void (*clock)(uint32_t clock, const void *address, const void *stack); /* it has read a clock */
    void (*replaced)(bool back);                                 /* it calls exec or daemon; back: and goes on */
    int (*sigmask)(int how, const sigset_t *set, sigset_t *old); /* as pthread_sigmask */
};
static const struct front_hooks *hooks; /* atomic; NULL: the engine is not loaded */

typedef void handler(int number);
typedef handler *signal_call(int number, handler *h);
typedef void exit_call(int code);
/* libc's own, of the program's namespace. */
static int (*real_sigaction)(int, const struct sigaction *, struct sigaction *);
static signal_call *real_signal, *real_sysv;
static exit_call *real_exit;
static int (*real_procmask)(int, const sigset_t *, sigset_t *);
static int (*real_daemon)(int, int);
static volatile bool finding; /* see front_exec.c */

void front_signal_ready(void *program)
{
    enum { NAMES = 6 };
    void *at[NAMES];
    static const char *const name[NAMES] = { "sigaction", "signal", "__sysv_signal", "_exit", "sigprocmask", "daemon" };
    finding = true;
    for (int i = 0; i < NAMES; i++) at[i] = dlsym(program, name[i]);
    finding = false;
    memcpy(&real_sigaction, &at[0], sizeof at[0]);
    memcpy(&real_signal, &at[1], sizeof at[0]);
    memcpy(&real_sysv, &at[2], sizeof at[0]);
    memcpy(&real_exit, &at[3], sizeof at[0]);
    memcpy(&real_procmask, &at[4], sizeof at[0]);
    memcpy(&real_daemon, &at[5], sizeof at[0]);
}

/* The table is found without a call of the loader, which does not answer while it maps the engine. */
void front_signal_engine(const char *file, uintptr_t bias)
{
    uintptr_t at = file ? front_object_symbol(file, bias, "lkfront_hooks") : 0;
    __atomic_store_n(&hooks, (const struct front_hooks *)at, __ATOMIC_RELEASE);
}

static const struct front_hooks *hooks_find(void) { return __atomic_load_n(&hooks, __ATOMIC_ACQUIRE); }

void front_clock_note(uint32_t clock, const void *address, const void *stack)
{
    const struct front_hooks *h = hooks_find();
    void (*note)(uint32_t, const void *, const void *) = h ? __atomic_load_n(&h->clock, __ATOMIC_ACQUIRE) : NULL;
    if (note) note(clock, address, stack);
}

/* The engine's function for this signal; NULL: no engine, or the engine does not handle the signal. */
static const struct front_hooks *hooks_for(int number)
{
    const struct front_hooks *h = hooks_find();
    bool (*watches)(int) = h ? __atomic_load_n(&h->watches, __ATOMIC_ACQUIRE) : NULL;
    return watches && watches(number) ? h : NULL;
}

static int own_sigaction(int number, const struct sigaction *act, struct sigaction *old)
{
    const struct front_hooks *h = hooks_for(number);
    return h ? h->sigaction(number, act, old) : real_sigaction(number, act, old);
}

static handler *set(int number, handler *h, int flags, bool blocks)
{
    struct sigaction act = { .sa_handler = h, .sa_flags = flags }, old;
    sigemptyset(&act.sa_mask);
    if (blocks) sigaddset(&act.sa_mask, number);
    return own_sigaction(number, &act, &old) ? SIG_ERR : old.sa_handler;
}
static handler *own_signal(int number, handler *h)
{
    return hooks_for(number) && h != SIG_ERR ? set(number, h, SA_RESTART, true) : real_signal(number, h);
}
static handler *own_sysv_signal(int number, handler *h)
{
    return hooks_for(number) && h != SIG_ERR ? set(number, h, (int)SA_RESETHAND | SA_NODEFER, false)
                                             : real_sysv(number, h);
}

static void own_exit(int code)
{
    const struct front_hooks *h = hooks_find();
    void (*leaving)(void) = h ? __atomic_load_n(&h->leaving, __ATOMIC_ACQUIRE) : NULL;
    if (leaving) leaving();
    real_exit(code);
}

void front_signal_replaced(bool back)
{
    const struct front_hooks *h = hooks_find();
    void (*replaced)(bool) = h ? __atomic_load_n(&h->replaced, __ATOMIC_ACQUIRE) : NULL;
    if (replaced) replaced(back);
}

/* libc ends the process that calls it, and the child returns. */
static int own_daemon(int nochdir, int noclose)
{
    front_signal_replaced(false);
    int result = real_daemon(nochdir, noclose);
    if (result) front_signal_replaced(true);
    return result;
}

static int own_mask(int how, const sigset_t *set, sigset_t *old)
{
    const struct front_hooks *h = hooks_find();
    int (*mask)(int, const sigset_t *, sigset_t *) = h ? __atomic_load_n(&h->sigmask, __ATOMIC_ACQUIRE) : NULL;
    if (mask) return mask(how, set, old);
    return real_procmask(how, set, old) ? errno : 0; /* it is the same of one thread, and in each libc */
}
static int own_procmask(int how, const sigset_t *set, sigset_t *old)
{
    int error = own_mask(how, set, old);
    if (error) errno = error;
    return error ? -1 : 0;
}

/* ---- who is called instead ---- */

#define OWN(f) ((void (*)(void))(f))
static const struct {
    const char *name;
    void (*own)(void);
} watched[] = { { "_Exit", OWN(own_exit) },
                { "__sigaction", OWN(own_sigaction) },
                { "__sysv_signal", OWN(own_sysv_signal) },
                { "_exit", OWN(own_exit) },
                { "bsd_signal", OWN(own_signal) },
                { "daemon", OWN(own_daemon) },
                { "pthread_sigmask", OWN(own_mask) },
                { "sigaction", OWN(own_sigaction) },
                { "signal", OWN(own_signal) },
                { "sigprocmask", OWN(own_procmask) },
                { "ssignal", OWN(own_signal) },
                { "sysv_signal", OWN(own_sysv_signal) } };
enum { WATCHED = sizeof watched / sizeof watched[0] };

bool front_signal_is(const char *name)
{
    if (!strchr("_bdps", name[0])) return false;
    for (int i = 0; i < WATCHED; i++)
        if (!strcmp(name, watched[i].name)) return true;
    return false;
}

uintptr_t front_signal_of(const char *name)
{
    for (int i = 0; !finding && i < WATCHED; i++)
        if (!strcmp(name, watched[i].name)) return (uintptr_t)watched[i].own;
    return 0;
}
