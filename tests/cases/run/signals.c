/* Handlers of signals that a program has set, before and after the engine was loaded: they work as without it. */
#include "api.h"
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile char *own; /* a page of the program's without access */
static volatile int *device;
static char alternate[65536];
static volatile int count, on_alternate, blocked, code, right_address;
static const volatile void *expected;

static void look(int number)
{
    sigset_t now;
    char here;
    sigprocmask(SIG_BLOCK, NULL, &now);
    blocked = sigismember(&now, number) + 2 * sigismember(&now, SIGUSR1);
    on_alternate = &here >= alternate && &here < alternate + sizeof alternate;
    count++;
}
/* Makes the page accessible: the instruction runs again. */
static void with_info(int number, siginfo_t *info, void *context)
{
    look(number);
    code = info->si_code;
    right_address = info->si_addr == (void *)expected && context;
    if (info->si_addr == (void *)own)
        mprotect((void *)own, 4096, PROT_READ | PROT_WRITE);
    else
        siglongjmp(back, 1);
}
static void plain(int number)
{
    look(number);
    siglongjmp(back, 1);
}
static void say(const char *what)
{
    printf("%s: %d times, code %d, address %s, %s stack, blocked %d\n", what, count, code, right_address ? "right" : "wrong",
           on_alternate ? "its own" : "the same", blocked);
    count = code = right_address = 0;
}
static void fault_own(void)
{
    mprotect((void *)own, 4096, PROT_NONE);
    expected = own;
    if (!sigsetjmp(back, 1)) own[0] = 1;
}
static void fault_device(void)
{
    expected = &device[3];
    if (!sigsetjmp(back, 1)) count += device[3] > 100 ? 100 : 200;
}
static void engine(void)
{
    driver_open();
    OK(cuMemAlloc_v2, &device, (word)128);
}


/* What Java and .NET do: a null pointer becomes an exception, and what is not theirs goes to the handler that was there. */
static struct sigaction previous;
static volatile int exceptions;
static void managed_runtime(int number, siginfo_t *info, void *context)
{
    if ((unsigned long)info->si_addr < 4096) {
        exceptions++;
        siglongjmp(back, 1);
    }
    if (previous.sa_flags & SA_SIGINFO)
        previous.sa_sigaction(number, info, context);
    else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
        previous.sa_handler(number);
    else
        _exit(4);
}
static void *in_a_thread(void *self)
{
    static char mine[65536];
    stack_t stack = { .ss_sp = mine, .ss_size = sizeof mine };
    sigaltstack(&stack, NULL);
    for (int i = 0; i < 3; i++)
        if (!sigsetjmp(back, 1)) ++*(volatile int *)8;
    fault_own();
    return self;
}

/* All threads of the engine: of streams, workers, the writer of the report. */
static void engine_threads(void)
{
    static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry past(.param .u64 x)\n{\n.reg .b64 %rd<3>;\n"
                              "ld.param.u64 %rd1, [x];\ncvta.to.global.u64 %rd2, %rd1;\nst.global.u32 [%rd2+128], 7;\nret;\n}\n";
    void *module, *f, *stream, *args[] = { &device };
    OK(cuModuleLoadData, &module, ptx);
    OK(cuModuleGetFunction, &f, module, "past");
    OK(cuStreamCreate, &stream, 1);
    OK(cuMemsetD8Async, device, 0, (word)128, stream);
    OK(cuLaunchKernel, f, 64, 1, 1, 32, 1, 1, 0, stream, args, NULL);
    OK(cuStreamSynchronize, stream);
}
static volatile int elsewhere;
static pthread_t first;
static void whose(int number)
{
    count++;
    elsewhere += !pthread_equal(pthread_self(), first);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    struct sigaction act = { .sa_sigaction = with_info, .sa_flags = SA_SIGINFO }, old;
    stack_t stack = { .ss_sp = alternate, .ss_size = sizeof alternate };
    own = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaltstack(&stack, NULL);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!strcmp(how, "before") || !strcmp(how, "after")) {
        if (!strcmp(how, "after")) engine();
        act.sa_flags |= SA_ONSTACK;
        sigaddset(&act.sa_mask, SIGUSR1);
        sigaction(SIGSEGV, &act, NULL);
        if (!strcmp(how, "before")) engine();
        fault_own();
        say("page of its own");
        fault_own();
        say("again");
        sigaction(SIGSEGV, NULL, &old);
        printf("read back: %s, flags %s, mask %s\n", old.sa_sigaction == with_info ? "its handler" : "another",
               (old.sa_flags & ~0x4000000) == act.sa_flags ? "its own" : "others", sigismember(&old.sa_mask, SIGUSR1) ? "its own" : "another");
        fault_device();
        say("device memory");
    }
    if (!strcmp(how, "plain")) {
        engine();
        printf("signal: %s", signal(SIGSEGV, plain) == SIG_DFL ? "the default before" : "another");
        printf(", %s then\n", signal(SIGSEGV, plain) == plain ? "its handler" : "another");
        fault_own();
        code = 0;
        right_address = 1;
        say("page of its own");
        signal(SIGSEGV, SIG_DFL);
        fault_own();
    }
    if (!strcmp(how, "nodefer")) {
        engine();
        act.sa_flags |= SA_NODEFER;
        sigaction(SIGSEGV, &act, NULL);
        fault_own();
        say("not deferred");
    }
    if (!strcmp(how, "reset")) { /* the second one ends it */
        engine();
        act.sa_flags |= (int)SA_RESETHAND;
        sigaction(SIGSEGV, &act, NULL);
        fault_own();
        say("the first one");
        sigaction(SIGSEGV, NULL, &old);
        printf("then %s\n", old.sa_handler == SIG_DFL ? "the default" : "another");
        fault_own();
    }
    if (!strcmp(how, "ignored")) { /* a signal that is sent is ignored, a fault is not */
        engine();
        signal(SIGSEGV, SIG_IGN);
        raise(SIGSEGV);
        printf("ignored\n");
        fault_own();
    }
    if (!strcmp(how, "blocked")) { /* as without us: the system ends the process */
        engine();
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, SIGSEGV);
        sigaction(SIGSEGV, &act, NULL);
        sigprocmask(SIG_BLOCK, &one, NULL);
        fault_own();
    }
    if (!strcmp(how, "child")) { /* a child of fork has its handlers, and nobody reports for it */
        engine();
        sigaction(SIGSEGV, &act, NULL);
        int status;
        if (!fork()) {
            fault_own();
            say("in the child");
            signal(SIGSEGV, SIG_DFL);
            fault_own();
        }
        wait(&status);
        printf("the child ended: %d\n", status);
    }
    if (!strcmp(how, "sent")) { /* by another process: it ends it, and it is no access */
        engine();
        kill(getpid(), SIGSEGV);
    }
    if (!strcmp(how, "handled")) { /* SIGTERM and SIGINT with a handler are the program's alone */
        engine();
        signal(SIGTERM, look);
        raise(SIGTERM);
        printf("SIGTERM: %d time, read back %s\n", count, signal(SIGTERM, SIG_DFL) == look ? "its handler" : "another");
        sigaction(SIGINT, NULL, &old);
        printf("SIGINT: %s\n", old.sa_handler == SIG_DFL ? "the default" : "another");
    }
    if (!strcmp(how, "chain")) { /* the program's, the engine, then that of a runtime, which hands on */
        pthread_t thread;
        sigaction(SIGSEGV, &act, NULL);
        engine();
        struct sigaction runtime = { .sa_sigaction = managed_runtime, .sa_flags = SA_SIGINFO | SA_ONSTACK };
        sigaction(SIGSEGV, &runtime, &previous);
        printf("read back %s\n", previous.sa_sigaction == with_info ? "the program's" : "another");
        if (!sigsetjmp(back, 1)) ++*(volatile int *)8;
        fault_own();
        pthread_create(&thread, NULL, in_a_thread, NULL);
        pthread_join(thread, NULL);
        printf("%d exceptions, %d handed on\n", exceptions, count);
    }
    if (!strcmp(how, "threads")) { /* no handler of the program runs on a thread of the engine */
        sigset_t one;
        first = pthread_self();
        engine();
        engine_threads();
        signal(SIGUSR1, whose);
        sigemptyset(&one);
        sigaddset(&one, SIGUSR1);
        pthread_sigmask(SIG_BLOCK, &one, NULL);
        kill(getpid(), SIGUSR1);
        usleep(100000);
        printf("blocked: %d times, ", count);
        pthread_sigmask(SIG_UNBLOCK, &one, NULL);
        printf("then %d, on another thread %d\n", count, elsewhere);
    }
    if (!strcmp(how, "wait")) { /* for Ctrl-C */
        engine();
        engine_threads();
        printf("ready\n");
        pause();
    }
    return 0;
}
