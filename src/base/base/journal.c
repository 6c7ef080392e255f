/* Journals: lines of JSON with their own hash (journal.h). */
#include "base/journal.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
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

static const char begin[] = "{\"entry\":\""; /* of every entry */

/* Whether these bytes begin as every entry does, as far as they go. */
static bool begins(const char *p, size_t n) { return n && !memcmp(p, begin, MIN_OF(n, sizeof begin - 1)); }

/* Whether an entry may be added to what is there. *cut: the last line has no end. */
static bool may_append(const char *path, bool *cut, struct error *e)
{
    char head[sizeof begin], last = '\n';
    struct stat st;
    *cut = false;
    if (stat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size) return true;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? pread(fd, head, sizeof begin - 1, 0) : 0;
    if (fd >= 0 && pread(fd, &last, 1, st.st_size - 1) == 1) *cut = last != '\n';
    if (fd >= 0) close(fd);
    return n <= 0 || begins(head, (size_t)n) ||
           error_set(e, ERR_INPUT, "%.300s: it does not begin with an entry: it is not a journal, and nothing is added",
                     path);
}

bool journal_append(const char *path, struct text *line, struct error *e)
{
    char hex[HASH_HEX];
    bool cut;
    hash_of(line->p, line->n, hex);
    text_add(line, "%s%s\"}\n", mark, hex);
    if (!may_append(path, &cut, e)) return false;
    return (!cut || line_append(path, "\n", 1, e)) && line_append(path, line->p, line->n, e);
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

bool journal_load(struct arena *a, const char *path, struct journal_entry **out, u32 *n, struct error *e)
{
    struct str text;
    if (!file_read(path, &text, e)) return false;
    *n = journal_entries(a, (struct str){ arena_str(a, text), text.n }, path, out);
    base_free((void *)text.p);
    for (u32 i = 0; i < *n; i++) {
        const struct journal_entry *x = &(*out)[i];
        if (x->value ? json_string(x->value, "entry")[0] != 0 : begins(x->line.p, x->line.n)) return true;
    }
    return !*n || error_set(e, ERR_INPUT, "%.300s: no line of it is an entry: it is not a journal%s", path,
                            (*out)[0].line.p[0] == '{' ? " (`lockstep journal merge` takes in the JSON of Google "
                                                         "Benchmark and of nvbench)"
                                                       : "");
}
