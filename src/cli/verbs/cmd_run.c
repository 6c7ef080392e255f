/* lockstep run: any CUDA program, unmodified, on the software GPU.
 *
 * The program is started with lockstep-front.so in LD_AUDIT (docs/inside/front.md), so that its requests for the driver
 * and the runtime are answered by ours. The engine then lives in the program, and writes its reports into memory that
 * it shares with the launcher (base/channel.h), which prints them when the program has ended, however it did. */
#include "cli/cli.h"
#include "base/c_text.h"
#include "base/printable.h"
#include "cli/reporting.h"
#include "launcher/run_clients.h"
#include "launcher/run_files.h"
#include "launcher/run_given.h"
#include "launcher/run_keeper.h"
#include "launcher/run_loader.h"
#include "launcher/run_report.h"
#include "launcher/run_save.h"
#include "launcher/run_script.h"
#include "verbs/profiling.h"
#include "verbs/run_source.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPTIONS_run OWN_ROWS
#include "cli/option_own.h"

enum { CHANNEL_MIB = 1024, CHANNEL_MIB_MOST = 1 << 20 }; /* of memory for reports, of which what is written is used */
enum {
    OTHERS_WAIT = 100,
    OTHERS_PAUSE = 20000
}; /* how often, how long in us, processes are waited for that are left */

struct run {
    const struct profiling *profiling; /* lockstep profile; NULL: lockstep run */
    struct common common;
    struct reporting reporting;
    struct text options;     /* for the engine: key=value lines */
    struct run_given given;  /* what only the engine reads, and is looked at before it starts */
    int pid;                 /* of the program */
    const char *save;        /* --save: where the reports go as one file; NULL: nowhere */
    const char *read;        /* --read: such a file, in place of a program; NULL: none */
    const char *log;         /* --log-file: where what is for people goes; NULL: standard error */
    int spoken;              /* with --log-file: standard error as it was */
    const char *record;      /* --record: which launch; NULL: none */
    const char *record_file; /* --record-file, or NULL */
    char recorded[4200];     /* the file, as a whole path; "": none */
    int log_file;            /* it, open; 0: not yet */
    bool unjoined;           /* what was measured could not be put beside what was counted */
    bool lost;               /* a report of a process that still runs will not be kept */
    bool only;               /* --target-processes application-only */
    bool keep_pools;         /* --keep-pools */
    bool time;               /* --time */
    char **program;          /* and its arguments, NULL at the end */
    char **script;    /* for a script: the command line with its interpreter in front, allocated; NULL: not a script */
    char path[4096];  /* of the program */
    char front[4096]; /* of lockstep-front.so */
    char folder[64];  /* for files; "": none was needed */
    struct channel channel; /* for the reports */
    struct run_report report;
    char command[3900]; /* the path of this command */
    char link[96];      /* in it: lockstep-front.so under a name that LD_AUDIT can hold */
};

static bool number_take(struct run *r, const char *key, const struct row *o, const char *value, struct error *e)
{
    u64 n;
    if (!option_number(o, value, UINT64_MAX, &n, e)) return false;
    text_add(&r->options, "%s=%s\n", key, value);
    return true;
}

static bool seconds_take(struct run *r, const char *value, struct error *e)
{
    char *end;
    double seconds = double_read(value, &end);
    if (end == value || *end || !(seconds >= 0 && seconds <= 1e9))
        return error_set(e, ERR_INPUT, "--time-limit %.60s: seconds belong here, from 0 on, as in --time-limit 3600",
                         value);
    text_add(&r->options, "time-limit=%s\n", value);
    return true;
}

/* Given again, it goes on. */
static bool list_take(struct text *list, const char *value)
{
    text_add(list, "%s%s", list->n ? "," : "", value);
    return true;
}

static bool take_option(void *self, const struct row *o, const char *value, struct error *e)
{
    struct run *r = self;
    u64 n;
    if (o->id >= O_run_JSON && o->id <= O_run_ERROR_EXITCODE)
        return reporting_option(&r->reporting, o->id - O_run_JSON, o, value, e);
    switch ((enum own_option)o->id) {
    case OWN_DEVICE: r->given.devices = value; return true;
    case OWN_SEED: return number_take(r, "seed", o, value, e);
    case OWN_THREADS:
        if (!option_number(o, value, 256, &n, e)) return false;
        text_add(&r->options, "threads=%s\n", value);
        return true;
    case OWN_KERNEL_NAME: r->given.kernel_name = value; return true;
    case OWN_LAUNCH_SKIP: return number_take(r, "launch-skip", o, value, e);
    case OWN_LAUNCH_COUNT: return number_take(r, "launch-count", o, value, e);
    case OWN_CHECK_EVERY: return number_take(r, "check-every", o, value, e);
    case OWN_CONTRACT: r->given.contract = value; return true;
    case OWN_RECORD: r->record = value; return true;
    case OWN_RECORD_FILE: r->record_file = value; return true;
    case OWN_KEEP_POOLS: r->keep_pools = true; return true;
    case OWN_TIME: r->time = true; return text_add(&r->options, "time=1\n"), true;
    case OWN_MEMORY: text_add(&r->options, "memory=1\n"); return true;
    case OWN_SAVE: r->save = value; return true;
    case OWN_READ: r->read = value; return true;
    case OWN_LOG: r->log = value; return true;
    case OWN_PROCESSES:
        r->only = !strcmp(value, "application-only");
        return r->only || !strcmp(value, "all") ||
               error_set(e, ERR_INPUT, "--target-processes %.60s: all or application-only belongs here", value);
    case OWN_OTHERS:
        if (strcmp(value, "run") && strcmp(value, "skip"))
            return error_set(e, ERR_INPUT, "--others %.60s: run or skip belongs here", value);
        text_add(&r->options, "others=%s\n", value);
        return true;
    case OWN_CHECK: return list_take(&r->given.check, value);
    case OWN_NO_CHECK: return list_take(&r->given.no_check, value);
    case OWN_BUDGET: return number_take(r, "budget", o, value, e);
    case OWN_TIME_LIMIT: return seconds_take(r, value, e);
    case OWN_FAULTS: text_add(&r->options, "faults=1\n"); return true;
    case OWN_STRICT: text_add(&r->options, "strict-arch=1\n"); return true;
    }
    CHECK(!"an option of run without its case");
}

/* Where the launch is recorded: in this folder, under the name of the kernel or the number. What lies there goes. */
static bool record_prepare(struct run *r, struct error *e)
{
    const char *name = getenv("LOCKSTEP_RECORD");
    char folder[4000] = "", file[200] = "";
    size_t n = 0;
    if (!r->record && name && *name) r->record = name;
    if (!r->record) return !r->record_file || error_set(e, ERR_INPUT, "--record-file needs --record, which says what");
    for (const char *p = r->record; *p && n + 8 < sizeof file; p++) file[n++] = is_word_char(*p) ? *p : '_';
    if (!n || strchr(r->record, '\n'))
        return error_set(e, ERR_INPUT, "--record takes the number of a launch, or a kernel, as in --record scale:3");
    snprintf(file + n, sizeof file - n, ".rec");
    const char *given = r->record_file ? r->record_file : file;
    if (given[0] != '/' && !getcwd(folder, sizeof folder))
        return error_set(e, ERR_SYSTEM, "the folder for --record is not known: %s", strerror(errno));
    int length = snprintf(r->recorded, sizeof r->recorded, "%s%s%s", folder, folder[0] ? "/" : "", given);
    if (length >= (int)sizeof r->recorded || strchr(r->recorded, '\n'))
        return error_set(e, ERR_INPUT, "--record-file %.60s: this path cannot be used", given);
    unlink(r->recorded);
    text_add(&r->options, "record=%s\nrecord-file=%s\n", r->record, r->recorded);
    return true;
}

/* ---- a folder, and memory ---- */

/* Whether a process with this number exists, also of another user. */
static bool is_alive(int pid) { return pid > 0 && (!kill(pid, 0) || errno != ESRCH); }

/* Whether the launcher still uses the folder. */
static bool is_used(const char *folder)
{
    bool used = false, owned = false;
    DIR *d = opendir(folder);
    for (struct dirent *x; d && !used && (x = readdir(d));) {
        int pid = atoi(x->d_name), end = 0;
        if (sscanf(x->d_name, "owner.%d%n", &pid, &end) == 1 && !x->d_name[end]) owned = true;
        used = is_alive(pid);
    }
    if (d) closedir(d);
    return used || !owned;
}

/* A launcher that was killed has left its folder: whoever comes next removes it. */
static void folders_sweep(void)
{
    DIR *d = opendir("/tmp");
    for (struct dirent *x; d && (x = readdir(d));) {
        char path[300];
        struct stat st;
        if (strncmp(x->d_name, "lockstep-run.", 13) != 0) continue;
        snprintf(path, sizeof path, "/tmp/%s", x->d_name);
        if (!lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !is_used(path)) folder_remove(path);
    }
    if (d) closedir(d);
}

/* The folder, which is made when it is needed first: a run that needs none works where the disk is full. */
static bool folder_make_own(struct run *r, struct error *e)
{
    if (r->folder[0]) return true;
    snprintf(r->folder, sizeof r->folder, "/tmp/lockstep-run.XXXXXX");
    if (!mkdtemp(r->folder)) {
        r->folder[0] = 0;
        return error_set(e, ERR_SYSTEM, "cannot make a folder in /tmp: %s", strerror(errno));
    }
    char owner[96];
    snprintf(owner, sizeof owner, "%s/owner.%d", r->folder, (int)getpid());
    int fd = open(owner, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0) close(fd);
    folders_sweep();
    return true;
}

/* LD_AUDIT is a list with colons: a folder whose name has one is reached by a link. */
static bool link_prepare(struct run *r, struct error *e)
{
    *strrchr(r->front, '/') = 0;
    if (!strchr(r->front, ':')) return true;
    if (!folder_make_own(r, e)) return false;
    snprintf(r->link, sizeof r->link, "%s/front", r->folder);
    return !symlink(r->front, r->link) || error_set(e, ERR_SYSTEM, "cannot make a link: %s", strerror(errno));
}

/* The memory for reports. */
static bool channel_prepare(struct run *r, struct error *e)
{
    const char *text = getenv("LOCKSTEP_REPORT_MIB");
    char *end;
    u64 mib = text && *text ? strtoull(text, &end, 10) : CHANNEL_MIB;
    if (text && *text && (*end || !mib || mib > CHANNEL_MIB_MOST))
        return error_set(e, ERR_INPUT, "LOCKSTEP_REPORT_MIB=%.40s: a number from 1 to %d belongs here", text,
                         CHANNEL_MIB_MOST);
    r->report.channel = &r->channel;
    return channel_create(&r->channel, mib << 20, e);
}

/* ---- the program ---- */

static bool program_find(struct run *r, struct error *e)
{
    const char *name = r->program[0];
    if (run_source_is(name))
        return folder_make_own(r, e) &&
               run_source_build(name, r->given.devices, r->folder, r->common.verbose, r->path, sizeof r->path, e);
    r->script = run_script_command(r->program, e);
    if (e->code) return false;
    if (r->script) r->program = r->script;
    return file_program(r->program[0], r->path, sizeof r->path) || run_script_refuse(name, e);
}

/* Beside the command in its build folder, or where it is installed. */
static bool front_find(struct run *r, struct error *e)
{
    static const char *const place[] = { "front", "../lib/lockstep" };
    char self[3900];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) return error_set(e, ERR_SYSTEM, "cannot find the folder of lockstep: %s", strerror(errno));
    self[n] = 0;
    snprintf(r->command, sizeof r->command, "%s", self);
    *strrchr(self, '/') = 0;
    for (u32 i = 0; i < COUNT_OF(place); i++) {
        char path[4000];
        snprintf(path, sizeof path, "%s/%s/lockstep-front.so", self, place[i]);
        if (realpath(path, r->front)) return true;
    }
    return error_set(e, ERR_SYSTEM, "lockstep-front.so is neither in %s/front nor in %s/../lib/lockstep", self, self);
}

static void environment_set(const struct run *r)
{
    char audit[8300];
    const char *others = getenv("LD_AUDIT");
    snprintf(audit, sizeof audit, "%s/lockstep-front.so%s%s", strchr(r->front, ':') ? r->link : r->front,
             others ? ":" : "", others ? others : "");
    setenv("LD_AUDIT", audit, 1);
    char words[120];
    channel_words(&r->channel, words, sizeof words);
    if (r->time) { /* NVTX hands its ranges to the library that it is told of */
        char library[4200];
        snprintf(library, sizeof library, "%s/../liblockstep.so", r->front);
        setenv("NVTX_INJECTION64_PATH", library, 0);
    }
    setenv("LOCKSTEP_RUN", words, 1);
    setenv("LOCKSTEP_RUN_OPTIONS", r->options.p ? r->options.p : "", 1);
    if (r->given.devices) setenv("LOCKSTEP_DEVICES", r->given.devices, 1);
    setenv("LOCKSTEP_RUN_COMMAND", r->command, 1);
    clients_environment(strchr(r->front, ':') ? r->link : r->front, r->keep_pools, r->only);
    char pid[24];
    snprintf(pid, sizeof pid, "%d", (int)getpid()); /* of the child, which becomes the program */
    if (r->only)
        setenv("LOCKSTEP_RUN_PID", pid, 1);
    else
        unsetenv("LOCKSTEP_RUN_PID");
}

/* ---- waiting ---- */

static volatile sig_atomic_t child; /* the program */
static void pass_on(int signal)
{
    if (child > 0) kill((pid_t)child, signal);
}

/* Ctrl-C on a terminal comes from the kernel, to the program, too; what somebody has sent to the launcher is passed on.
 */
static void pass_sent(int signal, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code <= 0) pass_on(signal);
}

/* Before the program starts: whether it can be written. */
static bool log_open(struct run *r, struct error *e)
{
    if (!r->log) return true;
    r->log_file = open(r->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return r->log_file >= 0 || error_set(e, ERR_INPUT, "--log-file %.200s: %s", r->log, strerror(errno));
}

/* From here on the launcher speaks into a file; the program's own standard error is as it was. */
static bool log_begin(struct run *r, struct error *e)
{
    if (!r->log) return true;
    r->spoken = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (dup2(r->log_file, STDERR_FILENO) < 0)
        return error_set(e, ERR_INPUT, "--log-file %.200s: %s", r->log, strerror(errno));
    close(r->log_file);
    return true;
}

/* What is said of the log itself goes to where standard error was: past the streams, so it is made printable here. */
static void say_aside(const struct run *r, const char *what)
{
    struct text t = { 0 };
    text_add(&t, "lockstep: ");
    printable(str_of(what), &t);
    text_put(&t, "\n", 1);
    file_put(r->spoken, t.p, t.n);
    text_free(&t);
}

/* What was said may not have arrived: on a full disk, or where nobody reads. */
static bool is_said(struct run *r)
{
    if (!fflush(stderr) && !ferror(stderr)) return true;
    int why = errno;
    char what[400];
    snprintf(what, sizeof what, "cannot write %.200s: %s", r->log ? r->log : "", strerror(why));
    if (r->log) say_aside(r, what);
    return false;
}

/* Processes that the program has left running get a moment to end: their reports are printed, too. A daemon stays, and
 * its report comes later. */
static void others_wait(struct run *r, int status)
{
    char file[64];
    struct error e = { 0 };
    pid_t who = 0;
    for (u32 k = 0; k < OTHERS_WAIT && (who = waitpid(-1, NULL, WNOHANG)) >= 0;)
        if (!who) {
            thread_sleep_us(OTHERS_PAUSE);
            k++;
        }
    if (who < 0) return;
    if (run_keeper_start(&r->channel, r->program[0], status, file, sizeof file, &e))
        fprintf(stderr,
                "lockstep: %s has ended, and what it started still runs: once that has ended, lockstep run --read %s "
                "prints its report\n",
                r->program[0], file);
    else
        fprintf(stderr,
                "lockstep: %s has ended, and what it started still runs: its report is lost, since lockstep %s\n",
                r->program[0], e.text);
    r->lost = e.code != 0;
}

/* Starts it and waits for its end: the status of waitpid, -1: it did not start. A signal from the terminal reaches the
 * program by itself; one that only the launcher got is passed on. */
static int program_run(struct run *r, struct error *e)
{
    int status = -1;
    fflush(stdout);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* what it leaves running becomes a child of the launcher */
    struct sigaction pass = { .sa_handler = pass_on, .sa_flags = SA_RESTART };
    struct sigaction sent = { .sa_sigaction = pass_sent, .sa_flags = SA_RESTART | SA_SIGINFO };
    sigaction(SIGTERM, &pass, NULL);
    sigaction(SIGHUP, &pass, NULL);
    pid_t pid = fork();
    if (!pid) {
        signal(SIGTERM, SIG_DFL);
        signal(SIGHUP, SIG_DFL);
        environment_set(r);
        execv(r->path, r->program);
        fprintf(stderr, "lockstep: %s: %s\n", r->path, strerror(errno));
        _exit(126);
    }
    if (pid < 0) {
        error_set(e, ERR_SYSTEM, "cannot start a process: %s", strerror(errno));
        return -1;
    }
    child = r->pid = pid;
    if (!log_begin(r, e)) cli_error_value(e);
    sigaction(SIGINT, &sent, NULL);
    sigaction(SIGQUIT, &sent, NULL);
    status = run_report_wait(&r->report, pid);
    child = 0;
    others_wait(r, status);
    return status;
}

/* ---- reports ---- */

static void print_to(void *self, u32 nth, int pid, u32 image, struct str text)
{
    (void)nth, (void)pid, (void)image;
    fwrite(text.p, 1, text.n, self);
}

/* A file could not be written. This is not written to the log, which may be on the same full disk. */
static void say_unwritten(const struct run *r, const struct error *e)
{
    if (r->log)
        say_aside(r, e->text);
    else
        cli_error_value(e);
}

/* The JSON of a profile with what a GPU has measured, if that was asked for; `joined` is room for it. */
static struct str with_measured(struct run *r, struct str text, struct text *joined, struct text *table)
{
    struct error e = { 0 };
    const struct profiling *p = r->profiling;
    if (p && p->hardware.kernels) {
        if (hardware_join(&p->hardware, text, joined, table, &e))
            text = (struct str){ joined->p, (u32)joined->n };
        else
            say_unwritten(r, &e);
        r->unjoined |= e.code != 0;
    }
    if (p && p->pictures.n) {
        struct text more = { 0 };
        pictures_join(&p->pictures, text, &more);
        text_free(joined);
        *joined = more;
        text = (struct str){ joined->p, (u32)joined->n };
    }
    return text;
}
static void measured_print(void *self, u32 nth, int pid, u32 image, struct str text)
{
    struct text joined = { 0 }, table = { 0 };
    (void)nth, (void)pid, (void)image;
    with_measured(self, text, &joined, &table);
    if (table.n) fputs(table.p, stderr);
    text_free(&joined);
    text_free(&table);
}
static void join(void *self, struct text *json)
{
    struct text joined = { 0 };
    struct str text = with_measured(self, (struct str){ json->p, (u32)json->n }, &joined, NULL);
    if (text.p != json->p) {
        text_free(json);
        *json = joined;
    } else {
        text_free(&joined);
    }
}

static void unwritten(void *self, const struct error *e) { say_unwritten(self, e); }
static void quiet(void *self, const struct error *e) { (void)self, (void)e; } /* it was said before */

/* ---- the end ---- */

/* A launch that was to be recorded and was not. */
static bool record_missing(const struct run *r, struct text *why)
{
    if (!r->recorded[0] || !access(r->recorded, F_OK)) return false;
    fprintf(stderr, "lockstep: --record %s: no such launch was recorded\n", r->record);
    text_add(why, "--record %s: no such launch was recorded\n", r->record);
    return true;
}

/* Nothing was judged, and nothing else says that the run is not one that passed. */
static void say_nothing(const struct run *r, const struct run_sum *sum, struct told_ending *t)
{
    bool other = sum->gpus && outcome_ending(&t->outcome) != ENDING_NOTHING;
    if (t->outcome.judged || t->outcome.errors || other) return;
    size_t from = t->why.n;
    if (!sum->gpus)
        text_add(&t->why, "%s used no GPU: nothing was checked\n", run_script_name(r->program));
    else if (!sum->launches)
        text_add(&t->why, "%s launched nothing: nothing was counted\n", run_script_name(r->program));
    else if (sum->launches == 1)
        text_add(&t->why, "nothing was checked: the one launch of %s was not\n", run_script_name(r->program));
    else
        text_add(&t->why, "nothing was checked: none of the %" PRIu64 " launches of %s was\n", sum->launches,
                 run_script_name(r->program));
    fprintf(stderr, "lockstep: %s", t->why.p + from);
}

/* Everything that is missing is said on the way. */
static void ending_find(struct run *r, int status, bool reports_lost, struct told_ending *t)
{
    const char *name = run_script_name(r->program);
    struct run_sum sum = run_report_sum(&r->report);
    struct outcome *o = &t->outcome;
    bool killed = WIFSIGNALED(status);
    int code = killed ? 0 : WEXITSTATUS(status);
    *o = (struct outcome){ .errors = sum.errors,
                           .failed = code != 0,
                           .judged = sum.launches   ? sum.checked
                                     : r->profiling ? 0
                                                    : sum.gpus,
                           .unsupported = sum.cut,
                           .undone = sum.undone + killed + reports_lost,
                           .error_code = r->reporting.error_code,
                           .signal = killed ? WTERMSIG(status) : 0 };
    if (sum.errors)
        text_add(&t->why, "%" PRIu64 " %s%s found\n", sum.errors, r->reporting.fail_on_notes ? "finding" : "error",
                 sum.errors == 1 ? " was" : "s were");
    if (code) text_add(&t->why, "%s ended with exit code %d\n", name, code);
    if (killed)
        text_add(&t->why, "%s was ended by signal %d (%s)\n", name, WTERMSIG(status), strsignal(WTERMSIG(status)));
    u32 missing = run_report_missing(&r->report, killed ? r->pid : 0, &t->why);
    o->undone += missing;
    o->undone += record_missing(r, &t->why);
    if (sum.undone) text_add(&t->why, "something that was asked for was not done: standard error says what\n");
    if (reports_lost) text_add(&t->why, "a report of a process that still runs is lost\n");
    if (sum.cut) text_add(&t->why, "something was reached that Lockstep does not support: standard error says what\n");
    if (!missing) say_nothing(r, &sum, t);
}

/* The program's own exit code comes before all but findings that have one of their own. */
static int code_of(const struct told_ending *t, int status)
{
    bool own = t->outcome.errors && t->outcome.error_code;
    return !WIFSIGNALED(status) && WEXITSTATUS(status) && !own ? WEXITSTATUS(status) : outcome_code(&t->outcome);
}

static void undone_more(struct told_ending *t, const char *why)
{
    t->outcome.undone++;
    text_add(&t->why, "%s\n", why);
}

/* The files that the user asked for. What cannot be written is said in those that can. */
static void files_write(struct run *r, int status, struct told_ending *t)
{
    struct error e = { 0 };
    struct run_files f = { .report = &r->report, .to = &r->reporting, .ending = t, .profiled = r->profiling != NULL };
    f.join = r->profiling ? join : NULL;
    f.unwritten = unwritten;
    f.self = r;
    if (r->save && !run_save(&r->channel, r->save, r->program[0], status, &e)) {
        say_unwritten(r, &e);
        undone_more(t, "the file of --save could not be written");
    }
    t->code = code_of(t, status);
    for (u32 k = 0; k < 2; k++) {
        if (run_files_write(&f, k == 1) && !r->unjoined) continue;
        undone_more(t,
                    r->unjoined ? "what was measured is not beside what was counted" : "a file could not be written");
        r->unjoined = false;
        t->code = code_of(t, status);
        f.unwritten = quiet;
        run_files_write(&f, false);
        f.unwritten = unwritten;
    }
}

static int finish(struct run *r, int status)
{
    struct run_sum sum = run_report_sum(&r->report);
    struct told_ending t = { 0 };
    bool killed = WIFSIGNALED(status);
    if (sum.processes && (sum.errors || !r->common.quiet)) run_report_print(&r->report);
    if (r->profiling && !r->common.quiet) {
        run_report_each(&r->report, CHANNEL_PROFILE, QUOTE_NOT, print_to, stderr);
        run_report_each(&r->report, CHANNEL_COUNTS, QUOTE_JSON, measured_print, r);
    }
    if (r->reporting.print_rules) run_report_each(&r->report, CHANNEL_RULES, QUOTE_NOT, print_to, stdout);
    ending_find(r, status, r->lost, &t);
    if (killed) {
        fprintf(stderr, "lockstep: %s was ended by signal %d (%s)\n", run_script_name(r->program), WTERMSIG(status),
                strsignal(WTERMSIG(status)));
        run_report_last(&r->report, r->pid);
    }
    if (!is_said(r)) undone_more(&t, "what was to be said on standard error could not be written");
    files_write(r, status, &t);
    text_free(&t.why);
    return t.code;
}

static int print_again(struct run *r, struct error *e)
{
    static char name[4200], *program[] = { name, NULL };
    int status;
    r->program = program;
    if (!run_read(r->read, &r->channel, name, sizeof name, &status, e)) return EXIT_USAGE;
    if (!log_begin(r, e)) return EXIT_USAGE;
    int code = finish(r, status);
    run_report_close(&r->report);
    return code;
}

int cmd_run(int argc, char **argv) { return run_profiled(argc, argv, NULL); }

int run_profiled(int argc, char **argv, const struct profiling *profiling)
{
    struct run r = { .profiling = profiling };
    struct error e = { 0 };
    struct parser p = { .verb = VERB_run, .self = &r, .option = take_option, .stops = true };
    if (!options_parse(&p, argc, argv, &e)) return e.code ? cli_error_value(&e) : EXIT_CLEAN;
    r.common = p.common;
    r.program = p.rest;
    if (r.read && r.program) return cli_error("run: --read takes no program: it prints a run that was saved");
    const struct run_given *g = &r.given;
    if (r.read && (r.options.n || r.record || g->devices || g->kernel_name || g->contract || g->check.n ||
                   g->no_check.n || r.reporting.suppressions))
        return cli_error(
            "run: --read prints a run that is over: it takes options of how its report is written, and none "
            "of what is checked or left out");
    if (!r.read && (!r.program || !r.program[0]))
        return cli_error("run: no program is given; lockstep run --help shows how");
    r.given.suppress = r.reporting.suppress;
    r.given.suppressions = r.reporting.suppressions;
    if (!run_given_read(&r.given, &r.options, &e) || !record_prepare(&r, &e) ||
        !reporting_streams(&r.reporting, NULL, 0, &e))
        return cli_error_value(&e);
    text_add(&r.options, "max-findings=%u\n", r.reporting.most);
    text_add(&r.options, "fail-on=%s\n", r.reporting.fail_on_notes ? "note" : "error");
    text_add(&r.options, "color=%d\n",
             r.common.color == COLOR_ALWAYS || (r.common.color == COLOR_AUTO && !r.log && isatty(STDERR_FILENO)));
    const char *stable = getenv("LOCKSTEP_RUN_STABLE");
    bool is_stable = stable && !strcmp(stable, "1");
    r.report.live = !is_stable && !r.common.quiet;
    r.report.terminal = r.report.live && !r.log && isatty(STDERR_FILENO);
    text_add(&r.options, "stable=%d\nprogress=%d\n", is_stable, r.report.terminal);
    text_add(&r.options, "page=%d\n", r.reporting.html || r.save);
    if (profiling)
        text_add(&r.options, "profile=%s\ntimeline=%d\n", profiling->lines ? "lines" : "top", profiling->timeline);
    int code = EXIT_USAGE, status = -1;
    bool ready = log_open(&r, &e) && front_find(&r, &e) && link_prepare(&r, &e) && channel_prepare(&r, &e);
    if (ready && r.read) code = print_again(&r, &e);
    if (ready && !r.read && program_find(&r, &e) && run_reachable(r.path, &e)) {
        status = program_run(&r, &e);
        if (status != -1) code = finish(&r, status);
        run_report_close(&r.report);
    }
    if (r.folder[0]) folder_remove(r.folder);
    channel_close(&r.channel);
    text_free(&r.options);
    base_free(r.script);
    return e.code ? cli_error_value(&e) : code;
}
