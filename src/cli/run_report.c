/* Reads what the engines write, and puts words in place of the marks in it. */
#include "cli/run_report.h"
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAUSE_MS = 50, WIDTH = 100 }; /* between two looks at the files; columns of the line of progress */

struct run_process {
    int pid;
    size_t printed; /* bytes of its log */
    struct sites *sites;
    struct run_process *next;
};

static struct run_process *process_of(struct run_report *r, int pid)
{
    char path[400];
    struct run_process *p = r->process;
    while (p && p->pid != pid) p = p->next;
    if (!p) {
        p = base_need(sizeof *p);
        *p = (struct run_process){ .pid = pid, .sites = sites_new(), .next = r->process };
        r->process = p;
    }
    snprintf(path, sizeof path, "%s/%d.sites", r->folder, pid);
    sites_read(p->sites, path);
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

static bool ends_with(const char *name, const char *suffix)
{
    size_t n = strlen(name), k = strlen(suffix);
    return n > k && !strcmp(name + n - k, suffix);
}

u32 run_report_each(struct run_report *r, const char *suffix, enum quoting q,
                    void (*with)(void *self, u32 nth, int pid, struct str text), void *self)
{
    DIR *d = opendir(r->folder);
    struct dirent *x;
    u32 found = 0;
    while (d && (x = readdir(d))) {
        char path[400];
        struct str text;
        struct text words = { 0 };
        if (!ends_with(x->d_name, suffix)) continue;
        snprintf(path, sizeof path, "%s/%.200s", r->folder, x->d_name);
        if (!file_read_if(path, &text)) continue;
        sites_expand(process_of(r, atoi(x->d_name))->sites, text, q, &words);
        with(self, found++, atoi(x->d_name), (struct str){ words.p ? words.p : "", (u32)words.n });
        text_free(&words);
        base_free((void *)(uintptr_t)text.p);
    }
    if (d) closedir(d);
    return found;
}

/* ---- as they come ---- */

static void line_erase(struct run_report *r)
{
    if (r->drawn) fputs("\r\x1b[K", stderr);
    r->drawn = false;
}

/* What was added to a log since the last look. */
static void log_print(struct run_report *r, const char *name)
{
    char path[400];
    struct str text;
    struct text words = { 0 };
    snprintf(path, sizeof path, "%s/%.200s", r->folder, name);
    if (!file_read_if(path, &text)) return;
    struct run_process *p = process_of(r, atoi(name));
    if (text.n > p->printed) {
        sites_expand(p->sites, (struct str){ text.p + p->printed, (u32)(text.n - p->printed) }, QUOTE_NOT, &words);
        p->printed = text.n;
        line_erase(r);
        fwrite(words.p, 1, words.n, stderr);
    }
    text_free(&words);
    base_free((void *)(uintptr_t)text.p);
}

static void line_draw(struct run_report *r, const char *name)
{
    char path[400];
    struct str text;
    snprintf(path, sizeof path, "%s/%.200s", r->folder, name);
    if (!file_read_if(path, &text)) return;
    fprintf(stderr, "\r\x1b[K%.*s", (int)MIN_OF(text.n, (u32)WIDTH), text.p);
    r->drawn = true;
    base_free((void *)(uintptr_t)text.p);
}

static void look(struct run_report *r)
{
    DIR *d = opendir(r->folder);
    struct dirent *x;
    bool long_one = false;
    while (d && (x = readdir(d))) {
        if (ends_with(x->d_name, ".log")) log_print(r, x->d_name);
        if (r->terminal && !long_one && ends_with(x->d_name, ".now")) {
            line_draw(r, x->d_name);
            long_one = true;
        }
    }
    if (d) closedir(d);
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

static bool has(const struct run_report *r, int pid, const char *suffix)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%d.%s", r->folder, pid, suffix);
    return file_exists(path);
}

/* Whether this process has written its whole report: it came to its end, or a signal that it could see ended it. */
static bool is_done(const struct run_report *r, int pid) { return has(r, pid, "done") || has(r, pid, "whole"); }

struct printing {
    struct run_report *report;
    bool whole; /* those that have a whole report; else the others */
};
static void whole_print(void *self, u32 nth, int pid, struct str text)
{
    const struct printing *p = self;
    (void)nth;
    if (is_done(p->report, pid) == p->whole) fwrite(text.p, 1, text.n, stderr);
}
static void last_print(void *self, u32 nth, int pid, struct str text)
{
    const struct printing *p = self;
    if (is_done(p->report, pid)) return;
    whole_print(self, nth, pid, text);
    fputs("the program did not come to its end: counts are those of its last report, up to 2 seconds older\n", stderr);
}

/* A process that was killed may have found something after its last whole report: the log has it. */
void run_report_print(struct run_report *r)
{
    struct printing done = { r, true }, other = { r, false };
    line_erase(r);
    if (r->live) {
        look(r);
        run_report_each(r, ".end", QUOTE_NOT, last_print, &other);
        run_report_each(r, ".end", QUOTE_NOT, whole_print, &done);
        return;
    }
    run_report_each(r, ".txt", QUOTE_NOT, whole_print, &done);
    run_report_each(r, ".log", QUOTE_NOT, whole_print, &other);
    run_report_each(r, ".end", QUOTE_NOT, last_print, &other);
}

/* What a process was doing that a signal has ended, as it wrote that itself; else where the signal came, as its handler
 * noted it. */
void run_report_last(struct run_report *r, int pid)
{
    static const char ours[] = "  = at: an instruction of Lockstep itself\n"; /* of cu_fault.c */
    enum { FAULT_SITE = 0xfffe };
    char path[400], mark[] = "  = at: {lk@hfffe}\n";
    struct str text = str_of(mark);
    struct text words = { 0 };
    struct run_process *p = process_of(r, pid);
    snprintf(path, sizeof path, "%s/%d.last", r->folder, pid);
    bool told = has(r, pid, "whole") || !has(r, pid, "fault"), read = told && file_read_if(path, &text);
    if (told && !read) return;
    snprintf(path, sizeof path, "%s/%d.fault", r->folder, pid);
    if (!told) sites_read_all(p->sites, path);
    sites_expand(p->sites, text, QUOTE_NOT, &words);
    fwrite(words.p, 1, words.n, stderr);
    if ((words.p && strstr(words.p, ours)) || (!told && sites_is_in(p->sites, FAULT_SITE, "liblockstep")))
        fputs("  = this is code of Lockstep: the program has overwritten memory that the two share (-fsanitize=address "
              "or valgrind, without Lockstep, show where its host code does), or it is a bug of Lockstep's\n",
              stderr);
    text_free(&words);
    if (read) base_free((void *)(uintptr_t)text.p);
}
