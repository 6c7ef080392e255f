/* The threads of this process: ours are those that have said so with thread_name, and all others belong to the program
 * that uses the library. A name alone tells nothing: a thread begins with the name of the thread that has created it.
 */
#include "base/thread.h"
#include "base/mapping.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct ours {
    long task;         /* of the system */
    pid_t process;     /* a process that was forked has none of the threads */
    struct ours *next; /* in the list of all */
} * ours;
static lock_t ours_lock = LOCK_INIT;
static pthread_key_t at_exit;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static long this_task(void)
{
#if defined __linux__
    return syscall(SYS_gettid);
#else
    return 0;
#endif
}

/* Its number may be that of another thread soon. */
static void forget(void *of)
{
    lock(&ours_lock);
    struct ours **at = &ours;
    while (*at && *at != of) at = &(*at)->next;
    if (*at) *at = (*at)->next;
    unlock(&ours_lock);
    base_free(of);
}

static void make_key(void) { pthread_key_create(&at_exit, forget); }

void thread_name(const char *name)
{
    pthread_once(&once, make_key);
    struct ours *o = base_need(sizeof *o);
    lock(&ours_lock);
    *o = (struct ours){ this_task(), getpid(), ours };
    ours = o;
    unlock(&ours_lock);
    pthread_setspecific(at_exit, o);
#if defined __linux__
    pthread_setname_np(pthread_self(), name);
#else
    (void)name;
#endif
}

enum { STACK_LEAST = 1 << 20 };

/* As large as threads are by default, which `ulimit -s` says, but not smaller than ours need. */
static int start(pthread_t *thread, size_t least, void *(*run)(void *self), void *self)
{
    pthread_attr_t attributes;
    size_t usual = 0;
    pthread_attr_init(&attributes);
    pthread_attr_getstacksize(&attributes, &usual);
    if (usual < least) pthread_attr_setstacksize(&attributes, least);
    int error = pthread_create(thread, &attributes, run, self);
    pthread_attr_destroy(&attributes);
    return error;
}

struct instead {
    void (*run)(void *self);
    void *self;
    sigset_t mask;
};

static void *run_instead(void *of)
{
    const struct instead *i = of;
    pthread_sigmask(SIG_SETMASK, &i->mask, NULL);
    i->run(i->self);
    return NULL;
}

void stack_enough(void (*run)(void *self), void *self)
{
    enum { STACK = 8 << 20 };
    struct instead i = { .run = run, .self = self };
    pthread_t thread;
    sigset_t all;
    struct rlimit r;
    bool enough = getrlimit(RLIMIT_STACK, &r) || r.rlim_cur == RLIM_INFINITY || r.rlim_cur >= STACK_LEAST;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &i.mask); /* signals find the thread that works */
    bool started = !enough && !start(&thread, STACK, run_instead, &i);
    if (started) pthread_join(thread, NULL);
    pthread_sigmask(SIG_SETMASK, &i.mask, NULL);
    if (!started) run(self);
}

size_t stack_left(void)
{
    static _Thread_local const char *low;
    pthread_attr_t a;
    void *from = NULL;
    size_t size = 0;
#if defined __linux__
    if (!low && !pthread_getattr_np(pthread_self(), &a)) {
        pthread_attr_getstack(&a, &from, &size);
        pthread_attr_destroy(&a);
    }
#else
    (void)a, (void)size;
#endif
    if (!low) low = from ? from : (const char *)1;
    return (size_t)((const char *)__builtin_frame_address(0) - low); /* on a stack of its own: large */
}

int thread_start(pthread_t *thread, void *(*run)(void *self), void *self)
{
    static const int fault[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };
    sigset_t most, before;
    sigfillset(&most);
    for (u32 i = 0; i < COUNT_OF(fault); i++) sigdelset(&most, fault[i]);
    pthread_sigmask(SIG_BLOCK, &most, &before);
    int error = start(thread, STACK_LEAST, run, self); /* a thread begins with the mask of its creator */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static bool is_ours(long task)
{
    pid_t process = getpid();
    lock(&ours_lock);
    const struct ours *o = ours;
    while (o && (o->task != task || o->process != process)) o = o->next;
    unlock(&ours_lock);
    return o != NULL;
}

bool thread_is_ours(void) { return is_ours(this_task()); }

/* Empty: it cannot be read. */
static void text_read(const char *path, char *text, size_t size)
{
    int f = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = f < 0 ? 0 : read(f, text, size - 1);
    if (f >= 0) close(f);
    text[n > 0 ? n : 0] = 0;
}

/* "17 (lk-worker) S 1 ...": what follows the name; NULL: it cannot be read. */
static const char *stat_read(const char *path, char *line, size_t size)
{
    text_read(path, line, size);
    const char *name_end = strrchr(line, ')');
    return name_end && strlen(name_end) > 2 ? name_end + 2 : NULL;
}

/* How many threads the process has; 0: nobody can tell. */
static u32 thread_count(void)
{
    enum { FIELDS = 17 }; /* from the state to the number of threads */
    char line[512];
    const char *at = stat_read("/proc/self/stat", line, sizeof line);
    for (u32 i = 0; at && i < FIELDS; i++)
        if ((at = strchr(at, ' '))) at++;
    return at ? (u32)strtoul(at, NULL, 10) : 0;
}

/* The same as the system tells, which counts those of an emulator (qemu-user answers the question above itself). */
static u32 thread_count_all(void)
{
    char text[4096];
    text_read("/proc/self/status", text, sizeof text);
    const char *at = strstr(text, "\nThreads:");
    return at ? (u32)strtoul(at + strlen("\nThreads:"), NULL, 10) : 0;
}

/* Threads of an emulator: it starts them itself, before the program, and they run none of its code.
 * Two answers that agree are believed: a thread that comes or ends shows in one of them only. */
static u32 strangers(void)
{
    static u32 known; /* atomic: one more; 0: not asked yet */
    u32 n = __atomic_load_n(&known, __ATOMIC_RELAXED);
    for (u32 before = UINT32_MAX, tries = 0; !n; tries++) {
        if (tries == 100) return 0; /* threads come and go all the time: none is vouched for */
        u32 all = thread_count_all(), own = thread_count(), more = all > own ? all - own : 0;
        if (more == before) __atomic_store_n(&known, n = more + 1, __ATOMIC_RELAXED);
        before = more;
    }
    return n - 1;
}

static bool is_awake(const char *task)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", task);
    const char *state = stat_read(path, line, sizeof line);
    return !state || *state == 'R';
}

bool thread_main_ended(int *status)
{
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", (long)getpid());
    const char *state = stat_read(path, line, sizeof line), *last = state ? strrchr(state, ' ') : NULL;
    *status = last ? (int)strtol(last + 1, NULL, 10) : 0;
    return state && *state == 'Z';
}

/* Whether only another thread of this process can end what it sleeps in: a wait at a futex with no limit of time, at a
 * word that no other process has. A futex that is said to be private is looked up in this process alone; one that is
 * not, as that of pthread_join, is where its page is private. */
static bool is_blocked(const char *task)
{
    enum { WAIT = 0, WAIT_BITSET = 9, PRIVATE = 128, REALTIME = 256 };
    char path[64], line[256];
    unsigned long long at, operation, value, limit;
    long call;
    snprintf(path, sizeof path, "/proc/self/task/%.20s/syscall", task);
    text_read(path, line, sizeof line);
    if (sscanf(line, "%ld %llx %llx %llx %llx", &call, &at, &operation, &value, &limit) != 5) return false; /* runs */
    unsigned long long kind = operation & ~(unsigned long long)(PRIVATE | REALTIME);
    if (call != SYS_futex || limit || (kind != WAIT && kind != WAIT_BITSET)) return false;
    return operation & PRIVATE || !mapping_shared_maybe(at);
}

/* How often it has stopped running; UINT64_MAX: nobody can tell. */
static u64 stops_of(const char *task)
{
    static const char *const row[] = { "\nvoluntary_ctxt_switches:", "\nnonvoluntary_ctxt_switches:" };
    char path[64], text[4096];
    u64 sum = 0;
    snprintf(path, sizeof path, "/proc/self/task/%.20s/status", task);
    text_read(path, text, sizeof text);
    for (u32 i = 0; i < COUNT_OF(row); i++) {
        const char *at = strstr(text, row[i]);
        if (!at) return UINT64_MAX;
        sum += strtoull(at + strlen(row[i]), NULL, 10);
    }
    return sum;
}

/* Counts one of the program's. */
static void thread_add(struct threads *t, const char *name, long task)
{
    t->all++;
    if (t->awake_wanted) t->awake += task != this_task() && is_awake(name);
    if (!t->inside) return;
    t->mark = (t->mark ^ (u64)task) * 0x9e3779b97f4a7c15u;
    if (t->inside((s32)task) || !is_blocked(name)) return;
    u64 stops = stops_of(name);
    if (stops == UINT64_MAX) return;
    t->blocked++;
    t->mark = (t->mark ^ stops) * 0x9e3779b97f4a7c15u;
}

bool threads_count(struct threads *t)
{
    u32 listed = 0, before = thread_count(), more = strangers();
    t->all = t->awake = t->blocked = 0;
    t->mark = 1;
    DIR *folder = before ? opendir("/proc/self/task") : NULL;
    if (!folder) return false;
    for (const struct dirent *d; (d = readdir(folder));) {
        if (d->d_name[0] == '.') continue;
        long task = strtol(d->d_name, NULL, 10);
        listed++;
        if (!is_ours(task)) thread_add(t, d->d_name, task);
    }
    closedir(folder);
    t->all -= MIN_OF(more, t->all);
#if defined __SANITIZE_THREAD__
    if (t->all) t->all--; /* the sanitizer has one */
#endif
    return listed == before + more &&
           before == thread_count(); /* a list that is read while a thread ends may lack others */
}

bool threads_of_program(u32 *all, u32 *awake)
{
    struct threads t = { .awake_wanted = awake != NULL };
    bool known = threads_count(&t);
    *all = t.all;
    if (awake) *awake = t.awake;
    return known;
}
