/* Journals: lines of JSON with their own hash (journal.h). */
#include "base/journal.h"
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

static const char mark[] = ",\"hash\":\"";

static void hash_of(const char *p, size_t n, char hex[HASH_HEX])
{
    struct hash h;
    hash_begin(&h);
    hash_add(&h, p, n);
    hash_end(&h, hex);
}

bool line_append(const char *path, const char *line, size_t n, struct error *e)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    bool ok = fd >= 0 && file_put(fd, line, n);
    int why = errno;
    if (fd >= 0) close(fd);
    return ok || error_set(e, ERR_SYSTEM, "cannot write %.300s: %s", path, strerror(why));
}

bool journal_append(const char *path, struct text *line, struct error *e)
{
    char hex[HASH_HEX];
    hash_of(line->p, line->n, hex);
    text_add(line, "%s%s\"}\n", mark, hex);
    return line_append(path, line->p, line->n, e);
}

void journal_time(char out[32])
{
    time_t now = time(NULL);
    struct tm tm;
    out[0] = 0;
    if (gmtime_r(&now, &tm)) strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

static enum journal_state state_of(struct str line)
{
    size_t tail = sizeof mark - 1 + HASH_HEX - 1 + 2; /* ,"hash":" hex "} */
    char hex[HASH_HEX];
    if (line.n < tail || memcmp(line.p + line.n - tail, mark, sizeof mark - 1)) return JOURNAL_OLD;
    hash_of(line.p, line.n - tail, hex);
    return memcmp(line.p + line.n - HASH_HEX - 1, hex, HASH_HEX - 1) ? JOURNAL_EDITED : JOURNAL_GOOD;
}

u32 journal_entries(struct arena *a, struct str text, const char *name, struct journal_entry **out)
{
    VEC(struct journal_entry) all = { 0 };
    u32 number = 1;
    for (u32 at = 0; at < text.n; number++) {
        const char *end = memchr(text.p + at, '\n', text.n - at);
        u32 n = end ? (u32)(end - text.p) - at : text.n - at;
        struct journal_entry x = { .line = { text.p + at, n }, .number = number };
        struct error ignored = { 0 };
        at += n + 1;
        if (!n) continue;
        x.value = json_read(a, x.line, name, &ignored);
        bool whole = x.value && x.value->kind == JSON_OBJECT;
        x.state = (u8)(whole ? state_of(x.line) : JOURNAL_CUT);
        if (!whole) x.value = NULL;
        VEC_PUSH(a, &all, x);
    }
    *out = all.p;
    return all.n;
}
