/* A mistake, two stores behind the end of a buffer by two kernels, and what programs do around it: none of it may lose a
 * finding. argv[1] says what. */
#define _GNU_SOURCE
#include "api.h"
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STORE(name) ".visible .entry " name "(.param .u64 x)\n{\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [x];\n" \
                    "cvta.to.global.u64 %rd2, %rd1;\nst.global.u32 [%rd2+128], 7;\nret;\n}\n"
static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n" STORE("first") STORE("second")
    ".visible .entry long(.param .u64 x, .param .u32 n)\n{\n.reg .b32 %r<3>;\n.reg .pred %p;\nld.param.u32 %r1, [n];\n"
    "again:\nadd.u32 %r1, %r1, -1;\nsetp.ne.u32 %p, %r1, 0;\n@%p bra again;\nret;\n}\n";
static void *context, *module, *kernel[3];
static word x;
static char *self;

static void begin(void)
{
    context = driver_open();
    OK(cuModuleLoadData, &module, ptx);
    OK(cuModuleGetFunction, &kernel[0], module, "first");
    OK(cuModuleGetFunction, &kernel[1], module, "second");
    OK(cuModuleGetFunction, &kernel[2], module, "long");
    OK(cuMemAlloc_v2, &x, (word)128);
}
static void launch(int which)
{
    int n = 2000000;
    void *args[] = { &x, &n };
    OK(cuLaunchKernel, kernel[which], 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
}
static void fail(int which)
{
    launch(which);
    OK(cuCtxSynchronize);
}
/* As many findings as there are lines: their reports take more than a MiB. */
static void many(int lines)
{
    char *text = malloc(200 + (size_t)lines * 60), *p = text;
    p += sprintf(p, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry many(.param .u64 x)\n{\n.reg .b64 %%rd<3>;\n"
                    "ld.param.u64 %%rd1, [x];\ncvta.to.global.u64 %%rd2, %%rd1;\n");
    for (int i = 0; i < lines; i++) p += sprintf(p, "st.global.u32 [%%rd2+%d], %d;\n", 128 + 4 * i, i);
    sprintf(p, "ret;\n}\n");
    OK(cuModuleLoadData, &module, text);
    OK(cuModuleGetFunction, &kernel[0], module, "many");
    fail(0);
}
static void limit(int what, rlim_t n) { setrlimit(what, &(struct rlimit){ n, n }); }

/* Files of the program's own get the numbers of all descriptors that were open: nobody else may write to them. */
static void own_files(const char *folder)
{
    char name[300];
    int file[40], wrong = 0;
    for (int i = 3; i < 2048; i++) close(i);
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "%s/%d", folder, i);
        file[i] = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    }
    fail(1);
    usleep(200000); /* the whole report is written */
    for (int i = 0; i < 40; i++) wrong += lseek(file[i], 0, SEEK_END) != 0;
    printf("files that somebody else wrote to: %d\n", wrong);
}
static void *in_thread(void *how)
{
    OK(cuCtxSetCurrent, context);
    if (!how) usleep(300000); /* main has ended */
    fail(0);
    if (how) exit(0);
    return NULL;
}
static void *clean_thread(void *unused)
{
    (void)unused;
    usleep(300000); /* main has ended */
    return NULL;
}
/* From now on this thread may end, and is killed, alone, by any other call of the system. */
static void filtered(void)
{
    struct sock_filter to[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
                                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD) };
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &(struct sock_fprog){ 4, to })) perror("seccomp");
}
static void nobody(void)
{
    setgroups(0, NULL);
    if (setgid(65534) || setuid(65534)) perror("setuid");
}
static void blocked(void)
{
    sigset_t all, back;
    int *m;
    OK(cuMemAllocManaged, &m, (word)4096, 1);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    sigprocmask(SIG_BLOCK, NULL, &back);
    printf("blocked: %d\n", sigismember(&back, SIGSEGV));
    fail(0);
    launch(2); /* pages are without access while it runs */
    m[0] = 1;
    OK(cuCtxSynchronize);
}

/* How a program changes the process that it is in, before the mistake. */
static int around(const char *how, char **argv)
{
    char command[400];
    if (!strcmp(how, "uid")) nobody();
    else if (!strcmp(how, "chroot")) return chroot("/proc");
    else if (!strcmp(how, "std")) close(0), close(1), close(2);
    else if (!strcmp(how, "fsize")) limit(RLIMIT_FSIZE, 0);
    else if (!strcmp(how, "fsize_ignored")) signal(SIGXFSZ, SIG_IGN), limit(RLIMIT_FSIZE, 0);
    else if (!strcmp(how, "nofile")) limit(RLIMIT_NOFILE, 3);
    else if (!strcmp(how, "emfile")) while (open("/dev/null", O_RDONLY) >= 0) {}
    else if (!strcmp(how, "removed")) return snprintf(command, sizeof command, "rm -rf \"%s\"", getenv("LOCKSTEP_RUN")), system(command);
    else if (!strcmp(how, "cleared")) clearenv();
    else return 1;
    return 0;
}

/* How it ends, with the mistake in flight or behind it; 1: in no way of these. */
static int ending(const char *how)
{
    pthread_t thread;
    int status;
    if (!strcmp(how, "quick_exit")) launch(0), quick_exit(0);
    if (!strcmp(how, "return")) launch(0), exit(0);
    if (!strcmp(how, "_exit")) launch(0), _exit(0);
    if (!strcmp(how, "system_call")) fail(0), syscall(SYS_exit_group, 0);
    if (!strcmp(how, "in_flight")) launch(0), launch(2), usleep(20000), syscall(SYS_exit_group, 0);
    if (!strcmp(how, "clean_call")) syscall(SYS_exit_group, 0);
    if (!strcmp(how, "kill")) fail(0), kill(getpid(), SIGKILL);
    if (!strcmp(how, "abort")) fail(0), abort();
    if (!strcmp(how, "exec")) launch(0), execl(self, self, "other", NULL);
    if (!strcmp(how, "exec_fails")) launch(0), execl("/nowhere", self, NULL), fail(1), exit(0);
    if (!strcmp(how, "exec_uid")) fail(0), nobody(), execl(self, self, "other", NULL);
    if (!strcmp(how, "exec_closed")) {
        fail(0);
        for (int i = 3; i < 2048; i++) close(i);
        execl(self, self, "other", NULL);
    }
    if (!strcmp(how, "thread_exit")) pthread_create(&thread, NULL, in_thread, "exit"), pause();
    if (!strcmp(how, "main_ends")) pthread_create(&thread, NULL, in_thread, NULL), pthread_exit(NULL);
    if (!strcmp(how, "main_status")) pthread_create(&thread, NULL, clean_thread, NULL), syscall(SYS_exit, 7);
    if (!strcmp(how, "seccomp")) filtered(), launch(0), syscall(SYS_exit, 0);
    if (!strcmp(how, "vfork")) {
        fail(0);
        if (!vfork()) execl(self, self, "other", NULL), _exit(9);
        wait(&status);
        exit(0);
    }
    if (!strcmp(how, "child_killed")) {
        if (!fork()) begin(), kill(getpid(), SIGKILL);
        wait(&status);
        exit(0);
    }
    if (!strcmp(how, "daemon")) {
        if (daemon(1, 1)) return 1;
        begin();
        sleep(6); /* three times what a launcher waits, and some for a busy machine */
        fail(0);
        exit(0);
    }
    return 1;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    self = argv[0];
    setvbuf(stdout, NULL, _IONBF, 0);
    if (!strcmp(how, "exec_uid")) self = "/proc/self/exe"; /* where another user may not look for it */
    if (!strcmp(how, "closed_before")) for (int i = 3; i < 2048; i++) close(i);
    if (strcmp(how, "daemon") && strcmp(how, "child_killed")) begin();
    if (!strcmp(how, "files")) fail(0), own_files(argv[2]);
    else if (!strcmp(how, "blocked")) blocked();
    else if (!strcmp(how, "many")) many(1000);
    else if (!strcmp(how, "clean")) return 0;
    else if (!strcmp(how, "other")) fail(1);
    else if (ending(how)) {
        if (strcmp(how, "closed_before") && around(how, argv)) return 9;
        fail(0);
    }
    return 0;
}
