/* Reads what the engines write, and puts words in place of the marks in it. */
#include "launcher/run_report.h"
#include "cli/cli.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAUSE_MS = 50, WIDTH = 100 }; /* between two looks at the reports; columns of the line of progress */

struct run_process {
    const struct channel_sender *sender;
    u64 printed;    /* bytes of its log */
    u64 lines_read; /* bytes of its lines about sites that were read */
    struct host_sites *sites;
    struct run_process *next;
};

static struct run_process *process_of(struct run_report *r, const struct channel_sender *s)
{
    struct run_process *p = r->process;
    struct str lines;
    while (p && p->sender != s) p = p->next;
    if (!p) {
        p = base_need(sizeof *p);
        *p = (struct run_process){ .sender = s, .sites = sites_new(), .next = r->process };
        r->process = p;
    }
    if (channel_read(r->channel, s, CHANNEL_SITES, p->lines_read, &lines)) {
        p->lines_read += lines.n;
        sites_read(p->sites, lines);
        base_free((void *)(uintptr_t)lines.p);
    }
    return p;
}

void run_report_close(struct run_report *r)
{
    for (struct run_process *p = r->process, *next; p; p = next) {
        next = p->next;
        sites_free(p->sites);
        base_free(p);
    }
    r->process = NULL;
}

/* How many senders before this one have its number. */
static u32 image_of(struct channel_sender *const *s, u32 k)
{
    u32 image = 0;
    for (u32 i = 0; i < k; i++) image += s[i]->pid == s[k]->pid;
    return image;
}

u32 run_report_each(struct run_report *r, enum channel_kind kind, enum quoting q,
                    void (*with)(void *self, u32 nth, int pid, u32 image, struct str text), void *self)
{
    u32 n, found = 0;
    struct channel_sender **s = channel_senders(r->channel, &n);
    for (u32 k = 0; k < n; k++) {
        struct str text;
        struct text words = { 0 };
        if (!channel_read(r->channel, s[k], kind, 0, &text)) continue;
        sites_expand(process_of(r, s[k])->sites, text, q, &words);
        with(self, found++, s[k]->pid, image_of(s, k), (struct str){ words.p ? words.p : "", (u32)words.n });
        text_free(&words);
        base_free((void *)(uintptr_t)text.p);
    }
    base_free(s);
    return found;
}

/* ---- as they come ---- */

static void line_erase(struct run_report *r)
{
    if (r->drawn) cli_put(stderr, "\r\x1b[K", 4);
    r->drawn = false;
}

/* What was added to a log since the last look. */
static void log_print(struct run_report *r, const struct channel_sender *s)
{
    struct str text;
    struct text words = { 0 };
    u64 printed = 0;
    for (const struct run_process *p = r->process; p; p = p->next)
        if (p->sender == s) printed = p->printed;
    if (!channel_read(r->channel, s, CHANNEL_LOG, printed, &text)) return;
    struct run_process *p = process_of(r, s); /* sites are told before the log names them */
    sites_expand(p->sites, text, QUOTE_NOT, &words);
    p->printed += text.n;
    line_erase(r);
    cli_put(stderr, words.n ? words.p : "", words.n);
    text_free(&words);
    base_free((void *)(uintptr_t)text.p);
}

static bool line_draw(struct run_report *r, const struct channel_sender *s)
{
    struct str text;
    if (!channel_read(r->channel, s, CHANNEL_NOW, 0, &text)) return false;
    cli_put(stderr, "\r\x1b[K", 4);
    fprintf(stderr, "%.*s", (int)MIN_OF(text.n, (u32)WIDTH), text.p);
    r->drawn = true;
    base_free((void *)(uintptr_t)text.p);
    return true;
}

static void look(struct run_report *r)
{
    u32 n;
    struct channel_sender **s = channel_senders(r->channel, &n);
    bool long_one = false;
    for (u32 k = 0; k < n; k++) {
        log_print(r, s[k]);
        if (r->terminal && !long_one) long_one = line_draw(r, s[k]);
    }
    base_free(s);
    if (!long_one) line_erase(r);
    fflush(stderr);
}

int run_report_wait(struct run_report *r, pid_t pid)
{
    int status = -1, fd = r->live ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    if (r->live) {
        struct pollfd one = { .fd = fd, .events = POLLIN };
        for (;;) {
            pid_t ended = waitpid(pid, &status, WNOHANG);
            if (ended == pid || (ended < 0 && errno != EINTR)) break;
            if (fd >= 0)
                poll(&one, 1, PAUSE_MS);
            else
                poll(NULL, 0, PAUSE_MS / 5); /* a kernel before 5.3 */
            look(r);
        }
        if (fd >= 0) close(fd);
        return status;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return status;
}

/* ---- at the end ---- */

/* Whether this process has written its whole report: it came to its end, or a signal that it could see ended it. */
static bool is_done(const struct channel_sender *s) { return channel_marks(s) & (CHANNEL_DONE | CHANNEL_WHOLE); }

/* Whether a process is there; also one of another user. */
static bool is_alive(int pid) { return pid > 0 && (!kill(pid, 0) || errno != ESRCH); }

/* Prints the texts of one kind, of the senders that are done or of those that still run. */
static void print_those(struct run_report *r, enum channel_kind kind, bool done)
{
    u32 n;
    struct channel_sender **s = channel_senders(r->channel, &n);
    for (u32 k = 0; k < n; k++) {
        struct str text;
        struct text words = { 0 };
        if (is_done(s[k]) != done || !channel_read(r->channel, s[k], kind, 0, &text)) continue;
        sites_expand(process_of(r, s[k])->sites, text, QUOTE_NOT, &words);
        cli_put(stderr, words.n ? words.p : "", words.n);
        if (kind == CHANNEL_END && !done && !is_alive(s[k]->pid))
            fputs("the program did not come to its end: counts are those of its last report, up to 2 seconds older\n",
                  stderr);
        text_free(&words);
        base_free((void *)(uintptr_t)text.p);
    }
    base_free(s);
}

/* A process that was killed may have found something after its last whole report: the log has it. */
void run_report_print(struct run_report *r)
{
    line_erase(r);
    if (r->live) {
        look(r);
    } else {
        print_those(r, CHANNEL_TXT, true);
        print_those(r, CHANNEL_LOG, false);
    }
    print_those(r, CHANNEL_END, false);
    if (r->live) print_those(r, CHANNEL_END, true);
}

/* A line for people, and a sentence for the files. */
static void say(struct text *why, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void say(struct text *why, const char *fmt, ...)
{
    char line[700];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    fprintf(stderr, "lockstep: %s\n", line);
    text_add(why, "%s\n", line);
}

/* What found no room, by name; false: all did. */
static bool say_full(const struct channel_sender *s, struct text *why)
{
    u64 bytes = 0;
    for (u32 k = 0; k < CHANNEL_KINDS; k++) bytes += __atomic_load_n(&s->missing[k], __ATOMIC_RELAXED);
    if (!bytes) return false;
    struct text names = { 0 };
    for (u32 k = 0; k < CHANNEL_KINDS; k++)
        if (s->missing[k]) text_add(&names, "%s%s", names.n ? ", " : "", channel_kind_name[k]);
    say(why,
        "the memory for reports is full: %llu bytes of process %d are missing (%s); LOCKSTEP_REPORT_MIB=4096 gives it "
        "more, --max-findings makes them fewer",
        (unsigned long long)bytes, s->pid, names.p ? names.p : "");
    text_free(&names);
    return true;
}

/* A process that used the GPU and has not said that its report is complete. */
static bool say_unfinished(const struct channel_sender *s, int killed, struct text *why)
{
    if (is_done(s)) return false;
    if (s->pid == killed) return true;
    if (is_alive(s->pid))
        say(why, "process %d uses the GPU and still runs: what it finds from now on is not in this report", s->pid);
    else
        say(why,
            "process %d used the GPU and ended without its last report: it was killed, or left by the system call "
            "itself. Findings of launches that had ended are here, those of what was in flight are not; "
            "cuCtxSynchronize before that, or an end by exit or _exit, brings them",
            s->pid);
    return true;
}

struct run_sum run_report_sum(const struct run_report *r)
{
    struct run_sum sum = { 0 };
    struct channel_sender **s = channel_senders(r->channel, &sum.processes);
    for (u32 k = 0; k < sum.processes; k++) {
        u32 marks = channel_marks(s[k]);
        u64 checked, launches = channel_launches_of(s[k], &checked);
        sum.errors += channel_errors_of(s[k]);
        sum.launches += launches;
        sum.checked += checked;
        sum.gpus += (marks & CHANNEL_GPU) != 0;
        sum.cut |= (marks & CHANNEL_CUT) != 0;
        sum.undone |= (marks & CHANNEL_UNDONE) != 0;
    }
    base_free(s);
    return sum;
}

u32 run_report_missing(const struct run_report *r, int killed, struct text *why)
{
    u32 n, missing = 0;
    struct channel_sender **s = channel_senders(r->channel, &n);
    u64 refused = channel_refused(r->channel);
    bool damaged = channel_damaged(r->channel);
    for (u32 k = 0; k < n; k++) {
        bool unfinished = say_unfinished(s[k], killed, why), full = say_full(s[k], why);
        missing += unfinished || full;
    }
    base_free(s);
    if (refused && !damaged)
        say(why,
            "the memory for reports is full: nothing is known of %llu process%s; LOCKSTEP_REPORT_MIB=4096 gives it "
            "more",
            (unsigned long long)refused, refused == 1 ? "" : "es");
    if (damaged)
        say(why,
            "the memory for reports was overwritten, by the program perhaps (-fsanitize=address or valgrind, without "
            "Lockstep, show where its host code does): what was found is lost, or a part of it");
    return missing + (refused || damaged);
}

/* What a process was doing that a signal has ended, as it wrote that itself; else where the signal came, as its handler
 * noted it. Of several programs that a process was one after the other it is the last. */
void run_report_last(struct run_report *r, int pid)
{
    static const char ours[] = "  = at: an instruction of Lockstep itself\n"; /* of cu_fault.c */
    enum { FAULT_SITE = 0xfffe };
    char mark[] = "  = at: {lk@hfffe}\n";
    struct str text = str_of(mark), numbers;
    struct text words = { 0 };
    u32 n;
    struct channel_sender **all = channel_senders(r->channel, &n);
    const struct channel_sender *s = NULL;
    for (u32 k = 0; k < n; k++)
        if (all[k]->pid == pid) s = all[k];
    base_free(all);
    if (!s) return;
    struct run_process *p = process_of(r, s);
    bool whole = channel_marks(s) & CHANNEL_WHOLE || !channel_has(s, CHANNEL_FAULT);
    bool read = whole && channel_read(r->channel, s, CHANNEL_LAST, 0, &text);
    if (whole && !read) return;
    if (!whole && channel_read(r->channel, s, CHANNEL_FAULT, 0, &numbers)) {
        sites_read(p->sites, numbers);
        base_free((void *)(uintptr_t)numbers.p);
    }
    sites_expand(p->sites, text, QUOTE_NOT, &words);
    cli_put(stderr, words.n ? words.p : "", words.n);
    if ((words.p && strstr(words.p, ours)) || (!whole && sites_is_in(p->sites, FAULT_SITE, "liblockstep")))
        fputs("  = this is code of Lockstep: the program has overwritten memory that the two share (-fsanitize=address "
              "or valgrind, without Lockstep, show where its host code does), or it is a bug of Lockstep's\n",
              stderr);
    text_free(&words);
    if (read) base_free((void *)(uintptr_t)text.p);
}
