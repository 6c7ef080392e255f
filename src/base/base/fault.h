/* fault.h: signals that end a process, and who hears of them first.
 *
 * The engine lives in programs that have handlers of their own, and runtimes (Java, .NET) that live on SIGSEGV. It asks
 * first, and whatever is not its own goes to the program's handler as if nobody had been in between: with the same
 * arguments, on the stack and under the mask that the program asked for. Where `lockstep run` is in front, the
 * program's sigaction and signal come to fault_sigaction (front/front_signal.c), so that the order of installing does
 * not matter, and the program reads back what it has set.
 *
 * Of SIGSEGV and SIGBUS the handler in the kernel's table is ours; of the others it is only while the program has none,
 * so that a program that is about to be killed can be told of. */
#ifndef LOCKSTEP_FAULT_H
#define LOCKSTEP_FAULT_H
#include "base/base.h"
#include <signal.h>

struct fault {
    int number;       /* of the signal */
    bool is_access;   /* an access to memory: `address` and `write` are known */
    bool write;       /* it was a store */
    bool deadly;      /* the program has no handler: the process ends of it */
    u64 address;      /* what was accessed */
    u64 code;         /* of the instruction */
    u64 frame, stack; /* its frame pointer and stack pointer */
    void *context;    /* ucontext_t */
};
/* Who is asked, in this order. In a handler of signals: no locks, no memory. true: it is dealt with, and the
 * instruction runs again. */
enum fault_turn {
    FAULT_PAGES,  /* pages that are without access for a while */
    FAULT_REPORT, /* whoever writes down what happened */
    FAULT_TURNS
};
typedef bool fault_taker(const struct fault *f);
/* From now on it is asked about SIGSEGV and SIGBUS. false: the handler could not be set. */
bool fault_watch(enum fault_turn turn, fault_taker *taker);
/* And about the others that end a process. Only where the program's sigaction comes to fault_sigaction. */
void fault_watch_ends(void);

/* The same where the program has blocked SIGSEGV or SIGBUS: a fault would end the process and ask nobody. Only where
 * the program's sigprocmask comes to fault_sigmask. Of the calling thread, and of each that changes its mask from now
 * on. */
void fault_watch_blocked(void);

/* What the program's pthread_sigmask does: the signals of faults are never blocked, and read back as if they were. */
int fault_sigmask(int how, const sigset_t *set, sigset_t *old);
/* What the program's sigaction does. */
int fault_sigaction(int number, const struct sigaction *act, struct sigaction *old);
/* Whether fault_sigaction has anything to do with this signal. */
bool fault_watches(int number);
/* Whether the program has a handler of its own for faults: memory that is mapped without access may then be its way to
 * see who uses it. */
bool fault_program_handles(void);
/* Whether the program has a handler for a signal that may come at any time: it may write memory while all threads
 * sleep. Those that do no more than note the signal for a thread that is awake, whoever asks knows by their address. */
bool fault_program_catches(bool (*only_notes)(u64 handler));
#endif
