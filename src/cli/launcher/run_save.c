/* The reports of a run in one file, and out of it. */
#include "launcher/run_save.h"
#include <inttypes.h>
#include <stdlib.h>

static const char magic[] = "lockstep run 2\n";

static const struct {
    const char *name;
    u32 mark;
} mark_names[] = { { "done", CHANNEL_DONE },
                   { "whole", CHANNEL_WHOLE },
                   { "lost", CHANNEL_CUT },
                   { "gpu", CHANNEL_GPU },
                   { "undone", CHANNEL_UNDONE } };

/* ---- into a file ---- */

static void number_put(struct text *t, s32 pid, const char *kind, u64 n)
{
    char number[24];
    int bytes = snprintf(number, sizeof number, "%" PRIu64 "\n", n);
    text_add(t, "%d.%s %d\n%s\n", pid, kind, bytes, number);
}

static void sender_put(struct text *t, const struct channel *c, const struct channel_sender *s)
{
    u32 marks = channel_marks(s);
    u64 checked, launches = channel_launches_of(s, &checked), missing = 0;
    for (u32 kind = 0; kind < CHANNEL_KINDS; kind++) missing += s->missing[kind];
    number_put(t, s->pid, "errors", channel_errors_of(s));
    number_put(t, s->pid, "launches", launches);
    number_put(t, s->pid, "checked", checked);
    if (missing) number_put(t, s->pid, "missing", missing);
    for (u32 i = 0; i < COUNT_OF(mark_names); i++)
        if (marks & mark_names[i].mark) number_put(t, s->pid, mark_names[i].name, 1);
    for (u32 kind = 0; kind < CHANNEL_KINDS; kind++) {
        struct str text;
        if (!channel_read(c, s, kind, 0, &text)) continue;
        text_add(t, "%d.%s %u\n", s->pid, channel_kind_name[kind], text.n);
        text_put(t, text.p, text.n);
        text_put(t, "\n", 1);
        base_free((void *)(uintptr_t)text.p);
    }
}

bool run_save(const struct channel *c, const char *file, const char *program, int status, struct error *e)
{
    struct text t = { 0 };
    u32 n;
    struct channel_sender **s = channel_senders(c, &n);
    text_add(&t, "%sstatus %d\nprogram %.*s\nlost %" PRIu64 " %d\n", magic, status, (int)strcspn(program, "\n"),
             program, channel_refused(c), channel_damaged(c));
    for (u32 k = 0; k < n; k++) sender_put(&t, c, s[k]);
    base_free(s);
    bool ok = file_write(file, t.p, t.n, e);
    text_free(&t);
    return ok;
}

/* ---- out of it ---- */

struct reading {
    const struct channel *channel;
    struct saved { /* a process */
        struct channel_writer to;
        s32 pid;
        bool counted; /* its errors were read */
        u64 launches; /* that it has made */
        struct saved *before;
    } * last;
};

/* The process that a text is of, which is made if it is new; NULL: there is no room. */
static struct saved *saved_of(struct reading *r, s32 pid, bool errors)
{
    struct saved *s = r->last;
    while (s && s->pid != pid) s = s->before;
    if (!s || (errors && s->counted)) {
        s = base_need(sizeof *s);
        *s = (struct saved){ .pid = pid, .before = r->last };
        r->last = s;
        if (!channel_begin(&s->to, r->channel, pid)) return NULL;
    }
    s->counted |= errors;
    return s;
}

/* One text: "PID.KIND". false: there is no such kind, or no room. */
static bool text_take(struct reading *r, const char *name, const char *p, size_t n)
{
    char *kind;
    long pid = strtol(name, &kind, 10);
    if (name[0] < '0' || name[0] > '9' || *kind++ != '.' || pid <= 0 || pid > INT32_MAX) return false;
    bool errors = !strcmp(kind, "errors");
    struct saved *s = saved_of(r, (s32)pid, errors);
    if (!s) return false;
    if (errors) channel_errors(&s->to, strtoull(p, NULL, 10));
    if (!strcmp(kind, "launches")) s->launches = strtoull(p, NULL, 10);
    if (!strcmp(kind, "checked")) channel_launches(&s->to, s->launches, strtoull(p, NULL, 10));
    if (!strcmp(kind, "missing")) channel_lose(&s->to, CHANNEL_LOG, strtoull(p, NULL, 10));
    for (u32 i = 0; i < COUNT_OF(mark_names); i++)
        if (!strcmp(kind, mark_names[i].name)) channel_mark(&s->to, mark_names[i].mark, true);
    for (u32 k = 0; k < CHANNEL_KINDS; k++)
        if (!strcmp(kind, channel_kind_name[k]) && n && !channel_put(&s->to, k, p, n)) return false;
    return true;
}

/* The line at *p, which moves after it; false: there is none. */
static bool line_next(const char **p, const char *end, char *out, size_t size)
{
    const char *stop = memchr(*p, '\n', (size_t)(end - *p));
    if (!stop || (size_t)(stop - *p) >= size) return false;
    snprintf(out, size, "%.*s", (int)(stop - *p), *p);
    *p = stop + 1;
    return true;
}

static bool unpack(struct str all, struct reading *r, struct channel *c, char *program, size_t size, int *status)
{
    const char *p = all.p, *end = all.p + all.n;
    char line[4200];
    if (all.n < sizeof magic - 1 || memcmp(p, magic, sizeof magic - 1)) return false;
    p += sizeof magic - 1;
    if (!line_next(&p, end, line, sizeof line) || sscanf(line, "status %d", status) != 1) return false;
    if (!line_next(&p, end, line, sizeof line) || strncmp(line, "program ", 8)) return false;
    snprintf(program, size, "%s", line + 8);
    unsigned long long refused;
    int damaged;
    if (!line_next(&p, end, line, sizeof line) || sscanf(line, "lost %llu %d", &refused, &damaged) != 2) return false;
    channel_refuse(c, refused);
    c->lost = damaged != 0;
    while (p < end) {
        char *space;
        if (!line_next(&p, end, line, sizeof line) || !(space = strchr(line, ' '))) return false;
        *space = 0;
        u64 bytes = strtoull(space + 1, NULL, 10);
        if (bytes >= (u64)(end - p) || p[bytes] != '\n' || !text_take(r, line, p, (size_t)bytes)) return false;
        p += bytes + 1;
    }
    return true;
}

bool run_read(const char *file, struct channel *c, char *program, size_t size, int *status, struct error *e)
{
    struct str all;
    struct reading r = { .channel = c };
    if (!file_read(file, &all, e)) return false;
    bool ok = unpack(all, &r, c, program, size, status) ||
              error_set(e, ERR_INPUT, "%.200s is not what lockstep run --save has written", file);
    base_free((void *)(uintptr_t)all.p);
    for (struct saved *s = r.last, *before; s; s = before) {
        before = s->before;
        base_free(s);
    }
    return ok;
}
