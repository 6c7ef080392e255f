/* Reads what the engines write, and puts words in place of the marks in it. */
#include "cli/run_report.h"
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

struct run_process {
    int pid;
    struct sites *sites;
    struct run_process *next;
};

static struct sites *sites_of(struct run_report *r, int pid)
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
    return p->sites;
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
        sites_expand(sites_of(r, atoi(x->d_name)), text, q, &words);
        with(self, found++, atoi(x->d_name), (struct str){ words.p ? words.p : "", (u32)words.n });
        text_free(&words);
        base_free((void *)(uintptr_t)text.p);
    }
    if (d) closedir(d);
    return found;
}

void run_report_remove(const struct run_report *r)
{
    DIR *d = opendir(r->folder);
    struct dirent *x;
    while (d && (x = readdir(d))) {
        char path[400];
        snprintf(path, sizeof path, "%s/%.200s", r->folder, x->d_name);
        if (x->d_name[0] != '.') unlink(path);
    }
    if (d) closedir(d);
    rmdir(r->folder);
}
