/* One handler for the signals that end a process, and the program's own after it. */
#include "base/fault.h"
#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { SIGNALS = 65 };

static const int access_signal[] = { SIGSEGV, SIGBUS };
static const int end_signal[] = { SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGABRT, SIGFPE, SIGPIPE, SIGALRM, SIGTERM };

static struct program {      /* what the program has asked for, by signal */
    u32 watched;             /* atomic: signals of this number are ours to look at */
    u32 turn;                /* atomic: odd while `theirs` changes */
    struct sigaction theirs; /* its handler */
} programs[SIGNALS];
static u32 changing; /* atomic: somebody changes an entry, with all signals blocked */
static fault_taker *takers[FAULT_TURNS];

static bool is_access_signal(int number) { return number == SIGSEGV || number == SIGBUS; }

/* ---- what the program has asked for ---- */

static struct sigaction theirs_now(int number)
{
    struct program *p = &programs[number];
    struct sigaction copy;
    u32 turn;
    do {
        turn = __atomic_load_n(&p->turn, __ATOMIC_ACQUIRE);
        copy = p->theirs;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    } while (turn % 2 || __atomic_load_n(&p->turn, __ATOMIC_RELAXED) != turn);
    return copy;
}

static void theirs_set(int number, const struct sigaction *theirs)
{
    struct program *p = &programs[number];
    __atomic_add_fetch(&p->turn, 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE); /* what is stored next is not seen before the odd turn */
    p->theirs = *theirs;
    __atomic_add_fetch(&p->turn, 1, __ATOMIC_RELEASE);
}

static void change_begin(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
    while (__atomic_exchange_n(&changing, 1, __ATOMIC_ACQUIRE)) sched_yield();
}
static void change_end(const sigset_t *before)
{
    __atomic_store_n(&changing, 0, __ATOMIC_RELEASE);
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

static bool is_default(const struct sigaction *a) { return !(a->sa_flags & SA_SIGINFO) && a->sa_handler == SIG_DFL; }
static bool is_ignored(const struct sigaction *a) { return !(a->sa_flags & SA_SIGINFO) && a->sa_handler == SIG_IGN; }

/* ---- masks ---- */

/* Which of access_signal the program has blocked in a thread, a bit each: in a key of the thread, since a handler may
 * read that without memory, and a variable of the thread perhaps not. */
static pthread_key_t blocked_key;
static u32 blocked_made; /* atomic: the key is there */

static uintptr_t blocked_now(void)
{
    return __atomic_load_n(&blocked_made, __ATOMIC_ACQUIRE) ? (uintptr_t)pthread_getspecific(blocked_key) : 0;
}

static uintptr_t blocked_in(const sigset_t *set)
{
    uintptr_t bits = 0;
    for (u32 i = 0; i < COUNT_OF(access_signal); i++) bits |= (uintptr_t)(sigismember(set, access_signal[i]) == 1) << i;
    return bits;
}

static bool is_blocked(int number)
{
    for (u32 i = 0; i < COUNT_OF(access_signal); i++)
        if (number == access_signal[i]) return blocked_now() >> i & 1;
    return false;
}

int fault_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    uintptr_t before = blocked_now(), bits = set ? blocked_in(set) : 0;
    sigset_t mine;
    if (set) mine = *set;
    for (u32 i = 0; set && how != SIG_UNBLOCK && i < COUNT_OF(access_signal); i++) sigdelset(&mine, access_signal[i]);
    int error = pthread_sigmask(how, set ? &mine : NULL, old);
    if (error) return error;
    for (u32 i = 0; old && i < COUNT_OF(access_signal); i++)
        if (before >> i & 1) sigaddset(old, access_signal[i]);
    uintptr_t now = how == SIG_BLOCK ? before | bits : how == SIG_UNBLOCK ? before & ~bits : bits;
    if (set && now != before) pthread_setspecific(blocked_key, (void *)now);
    return 0;
}

void fault_watch_blocked(void)
{
    sigset_t now;
    if (!__atomic_load_n(&blocked_made, __ATOMIC_ACQUIRE)) {
        if (pthread_key_create(&blocked_key, NULL)) return;
        __atomic_store_n(&blocked_made, 1, __ATOMIC_RELEASE);
    }
    if (!pthread_sigmask(SIG_SETMASK, NULL, &now) && blocked_in(&now)) fault_sigmask(SIG_SETMASK, &now, NULL);
}

/* ---- the handler ---- */

#if defined __aarch64__
/* Which side of a copy by one instruction (cpyfp and its like) faults: the nearer one. Counts below 0 are of registers
 * that point past the end. */
static bool copy_stores(u32 i, const unsigned long long *reg, u64 address)
{
    u64 from = reg[i >> 16 & 31], to = reg[i & 31], count = reg[i >> 5 & 31];
    if ((s64)count < 0) {
        from += count;
        to += count;
    }
    s64 a = (s64)(address - from), b = (s64)(address - to);
    return (b < 0 ? -b : b) < (a < 0 ? -a : a);
}

/* Whether an instruction of A64 stores: for systems that do not hand on the syndrome register, as qemu's emulation. */
static bool stores(u32 i, const unsigned long long *reg, u64 address)
{
    u32 opc = i >> 22 & 3;
    bool vector = i >> 26 & 1;
    if ((i & 0xffffffe0) == 0xd50b7420) return true;  /* dc zva */
    if ((i & 0x0a000000) != 0x08000000) return false; /* neither a load nor a store */
    if ((i & 0x3b200c00) == 0x19000400) return opc == 3 || copy_stores(i, reg, address); /* memory set, memory copy */
    if ((i & 0x3b000000) == 0x18000000) return false;                                  /* a load from beside the code */
    if ((i & 0x3f200c00) == 0x38200000 || (i & 0x3fa07c00) == 0x08a07c00) return true; /* atomics */
    if ((i & 0x38000000) == 0x38000000) return !opc || (vector && opc == 2);
    return !(opc & 1); /* pairs, exclusive and ordered ones, structures */
}
#endif

static void context_read(struct fault *f, const siginfo_t *info)
{
    const ucontext_t *u = f->context;
    f->is_access = is_access_signal(f->number) && info->si_code > 0;
    if (f->is_access) f->address = (u64)(uintptr_t)info->si_addr;
#if defined __x86_64__
    f->code = (u64)u->uc_mcontext.gregs[REG_RIP];
    f->frame = (u64)u->uc_mcontext.gregs[REG_RBP];
    f->stack = (u64)u->uc_mcontext.gregs[REG_RSP];
    f->write = u->uc_mcontext.gregs[REG_ERR] & 2;
#elif defined __aarch64__
    f->code = u->uc_mcontext.pc;
    f->frame = u->uc_mcontext.regs[29];
    f->stack = u->uc_mcontext.sp;
    const u8 *at = (const u8 *)u->uc_mcontext.__reserved;
    bool found = false;
    for (u32 n = 0; n < 8 && !found; n++) { /* records of { magic, size }; that of the syndrome register says it */
        u32 head[2];
        u64 syndrome;
        memcpy(head, at, sizeof head);
        memcpy(&syndrome, at + 8, 8);
        found = head[0] == 0x45535201;
        if (found) f->write = syndrome >> 6 & 1;
        if (!head[0] || head[1] < 8) break;
        at += head[1];
    }
    if (!found && f->is_access && f->code != f->address)
        f->write = stores(*(const u32 *)(uintptr_t)f->code, u->uc_mcontext.regs, f->address);
#else
    (void)u;
#endif
}

/* The process ends as it would have without us: the instruction runs again, or the signal comes again. */
static void end_by(int number, bool instruction)
{
    struct sigaction none = { .sa_handler = SIG_DFL };
    sigaction(number, &none, NULL);
    if (!instruction) syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    int kept = errno;
    struct sigaction theirs = theirs_now(number);
    bool instruction = info->si_code > 0 && (is_access_signal(number) || number == SIGILL || number == SIGFPE);
    struct fault f = { .number = number, .context = context };
    bool blocked = is_blocked(number);
    if (blocked && !instruction) return; /* sent by somebody: it would wait until the program unblocks it */
    f.deadly = is_default(&theirs) || ((is_ignored(&theirs) || blocked) && instruction);
    context_read(&f, info);
    for (u32 i = 0; i < FAULT_TURNS; i++) {
        fault_taker *taker = __atomic_load_n(&takers[i], __ATOMIC_ACQUIRE);
        if (!taker || !taker(&f)) continue;
        errno = kept;
        return;
    }
    errno = kept;
    if (f.deadly) {
        end_by(number, instruction);
        return;
    }
    if (is_ignored(&theirs)) return;
    if (theirs.sa_flags & (int)SA_RESETHAND) theirs_set(number, &(struct sigaction){ .sa_handler = SIG_DFL });
    if (theirs.sa_flags & SA_SIGINFO)
        theirs.sa_sigaction(number, info, context);
    else
        theirs.sa_handler(number);
}

/* ---- in the kernel's table ---- */

/* What the kernel is to have for a signal that is watched: ours, with the stack, the mask and the flags of the
 * program's handler; or the program's own. */
static int kernel_set(int number, const struct sigaction *theirs)
{
    struct sigaction ours = *theirs;
    if (!is_access_signal(number) && !is_default(theirs)) return sigaction(number, theirs, NULL);
    if (is_default(theirs) || is_ignored(theirs)) {
        ours.sa_flags = SA_ONSTACK;
        sigemptyset(&ours.sa_mask);
    }
    ours.sa_flags = (ours.sa_flags | SA_SIGINFO) & ~(int)SA_RESETHAND;
    ours.sa_sigaction = on_signal;
    return sigaction(number, &ours, NULL);
}

/* Ours is the handler in front, also where the program has set one since by a way that does not lead here. */
static bool is_ours(int number, struct sigaction *now)
{
    return !sigaction(number, NULL, now) && now->sa_flags & SA_SIGINFO && now->sa_sigaction == on_signal;
}

static bool watch(int number)
{
    struct sigaction now;
    sigset_t before;
    bool ok = true;
    if (fault_watches(number) && is_ours(number, &now)) return true;
    change_begin(&before);
    if (!is_ours(number, &now)) {
        theirs_set(number, &now);
        ok = !kernel_set(number, &now);
    }
    if (ok) __atomic_store_n(&programs[number].watched, 1, __ATOMIC_RELEASE);
    change_end(&before);
    return ok;
}

bool fault_watch(enum fault_turn turn, fault_taker *taker)
{
    bool ok = true;
    __atomic_store_n(&takers[turn], taker, __ATOMIC_RELEASE);
    for (u32 i = 0; i < COUNT_OF(access_signal); i++) ok &= watch(access_signal[i]);
    return ok;
}

void fault_watch_ends(void)
{
    for (u32 i = 0; i < COUNT_OF(end_signal); i++) watch(end_signal[i]);
}

bool fault_watches(int number)
{
    return number > 0 && number < SIGNALS && __atomic_load_n(&programs[number].watched, __ATOMIC_ACQUIRE);
}

int fault_sigaction(int number, const struct sigaction *act, struct sigaction *old)
{
    sigset_t before;
    if (!fault_watches(number)) return sigaction(number, act, old);
    struct sigaction wanted = act ? *act : (struct sigaction){ 0 }; /* reads where a fault is the caller's */
    change_begin(&before);
    struct sigaction was = theirs_now(number);
    int result = act ? kernel_set(number, &wanted) : 0;
    if (act && !result) theirs_set(number, &wanted);
    change_end(&before);
    if (!result && old) *old = was;
    return result;
}

bool fault_program_catches(bool (*only_notes)(u64 handler))
{
    static const int never[] = {
        SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT
    }; /* of a thread that runs */
    for (int n = 1; n < SIGNALS; n++) {
        struct sigaction now;
        bool may = true;
        u64 at = 0;
        for (u32 i = 0; i < COUNT_OF(never); i++) may &= n != never[i];
        if (!may || fault_sigaction(n, NULL, &now) || is_default(&now) || is_ignored(&now)) continue;
        memcpy(&at, &now.sa_handler, sizeof now.sa_handler); /* in one place with sa_sigaction */
        if (!only_notes(at)) return true;
    }
    return false;
}

bool fault_program_handles(void)
{
    struct sigaction now;
    return !fault_sigaction(SIGSEGV, NULL, &now) && !is_default(&now);
}
