/* The reports of a run in one file, and out of it. */
#include "cli/run_save.h"
#include <dirent.h>
#include <stdlib.h>

static const char magic[] = "lockstep run 1\n";
enum { NAME_MOST = 60 };

/* PID.kind: what the engine writes, and nothing that leads out of a folder. */
static bool is_report(const char *name)
{
    size_t digits = strspn(name, "0123456789"), n = strlen(name);
    return digits && name[digits] == '.' && n < NAME_MOST &&
           digits + 1 + strspn(name + digits + 1, "abcdefghijklmnopqrstuvwxyz") == n && n > digits + 1;
}

bool run_save(const char *folder, const char *file, const char *program, int status, struct error *e)
{
    struct text t = { 0 };
    DIR *d = opendir(folder);
    text_add(&t, "%sstatus %d\nprogram %.*s\n", magic, status, (int)strcspn(program, "\n"), program);
    for (struct dirent *x; d && (x = readdir(d));) {
        char path[600];
        struct str text;
        snprintf(path, sizeof path, "%s/%.200s", folder, x->d_name);
        if (!is_report(x->d_name) || !file_read_if(path, &text)) continue;
        text_add(&t, "%s %u\n", x->d_name, text.n);
        text_put(&t, text.p, text.n);
        text_put(&t, "\n", 1);
        base_free((void *)(uintptr_t)text.p);
    }
    if (d) closedir(d);
    bool ok = file_write(file, t.p, t.n, e);
    text_free(&t);
    return ok;
}

/* The line at *p, which moves behind it; false: there is none. */
static bool line_next(const char **p, const char *end, char *out, size_t size)
{
    const char *stop = memchr(*p, '\n', (size_t)(end - *p));
    if (!stop || (size_t)(stop - *p) >= size) return false;
    snprintf(out, size, "%.*s", (int)(stop - *p), *p);
    *p = stop + 1;
    return true;
}

static bool unpack(struct str all, const char *folder, char *program, size_t size, int *status, struct error *e)
{
    const char *p = all.p, *end = all.p + all.n;
    char line[4200];
    if (all.n < sizeof magic - 1 || memcmp(p, magic, sizeof magic - 1)) return false;
    p += sizeof magic - 1;
    if (!line_next(&p, end, line, sizeof line) || sscanf(line, "status %d", status) != 1) return false;
    if (!line_next(&p, end, line, sizeof line) || strncmp(line, "program ", 8)) return false;
    snprintf(program, size, "%s", line + 8);
    while (p < end) {
        char path[600], *space;
        u64 bytes;
        if (!line_next(&p, end, line, sizeof line) || !(space = strchr(line, ' '))) return false;
        *space = 0;
        bytes = strtoull(space + 1, NULL, 10);
        if (!is_report(line) || bytes >= (u64)(end - p) || p[bytes] != '\n') return false;
        snprintf(path, sizeof path, "%s/%.*s", folder, NAME_MOST, line);
        if (!file_write(path, p, bytes, e)) return false;
        p += bytes + 1;
    }
    return true;
}

bool run_read(const char *file, const char *folder, char *program, size_t size, int *status, struct error *e)
{
    struct str all;
    if (!file_read(file, &all, e)) return false;
    bool ok = unpack(all, folder, program, size, status, e) ||
              error_set(e, ERR_INPUT, "%.200s is not what lockstep run --save has written", file);
    base_free((void *)(uintptr_t)all.p);
    return ok;
}
