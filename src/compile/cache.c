/* The cache of compiled kernels: a folder of files named by the hash of everything that decides their contents.
 *
 * A file is a head of lines, the compiler's warnings and the PTX. Its second line names the hash of all that follows,
 * so that a file that was cut short or changed is recognised, removed and made again. Files are written beside and
 * renamed (file_write), so any number of processes may share the folder; nobody locks. A hit moves the file's date to
 * now; when the folder outgrows its limit, the oldest dates go first. Losing an entry at any moment costs a
 * compilation and nothing else. */
#include "compile/compile.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FOLDER_MOST = 3072, STALE_SECONDS = 3600 };
static const char magic[] = "// lockstep cache 4\n";
static const char ending[] = ".ptx";

bool cache_folder(char *out, size_t size)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = xdg && xdg[0] == '/'     ? snprintf(out, size, "%s/lockstep", xdg)
            : home && home[0] == '/' ? snprintf(out, size, "%s/.cache/lockstep", home)
                                     : -1;
    return n > 0 && n < (int)size && n < FOLDER_MOST - 64;
}

bool cache_limit_read(u64 *limit, struct error *e)
{
    const char *text = getenv("LOCKSTEP_CACHE_SIZE");
    char *end;
    *limit = (u64)256 << 20;
    if (!text || !text[0]) return true;
    u64 n = strtoull(text, &end, 10);
    u32 shift = *end == 'K' || *end == 'k' ? 10 : *end == 'M' || *end == 'm' ? 20 : *end == 'G' || *end == 'g' ? 30 : 0;
    if (end == text || text[0] == '-' || end[shift != 0] || n > UINT64_MAX >> shift)
        return error_set(e, ERR_INPUT,
                         "LOCKSTEP_CACHE_SIZE=%.60s: a number of bytes belongs here, 500M or 2G, 0 for no cache", text);
    *limit = n << shift;
    return true;
}

u64 cache_limit(void)
{
    struct error e = { 0 };
    u64 limit;
    cache_limit_read(&limit, &e);
    return limit;
}

static bool entry_path(const char *key, char *out, size_t size)
{
    char folder[FOLDER_MOST];
    return cache_limit() && cache_folder(folder, sizeof folder) &&
           snprintf(out, size, "%s/%s%s", folder, key, ending) < (int)size;
}

/* Makes the folder and those above it. */
static bool make_folder(const char *path)
{
    char part[FOLDER_MOST];
    for (size_t i = 1; path[i]; i++)
        if (path[i] == '/') {
            snprintf(part, sizeof part, "%.*s", (int)i, path);
            mkdir(part, 0777);
        }
    struct stat st;
    mkdir(path, 0777);
    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* The value of the line "// WORD: value" of the head; n = 0: none. */
static struct str head_line(struct str head, const char *word)
{
    char find[64];
    size_t n = (size_t)snprintf(find, sizeof find, "\n// %s: ", word);
    for (const char *p = head.p, *end = head.p + head.n; (size_t)(end - p) > n; p++)
        if (!memcmp(p, find, n)) {
            const char *stop = memchr(p + n, '\n', (size_t)(end - p) - n);
            return (struct str){ p + n, (u32)((stop ? stop : end) - p - (s64)n) };
        }
    return (struct str){ NULL, 0 };
}

/* Cuts a file into head, what the compiler said, and PTX, after checking it. */
static bool open_entry(struct str all, struct str *head, struct str *log, struct str *ptx)
{
    size_t m = sizeof magic - 1, line = 3 + HASH_HEX - 1 + 1;
    if (all.n < m + line || memcmp(all.p, magic, m) || memcmp(all.p + m, "// ", 3)) return false;
    struct hash h;
    char hex[HASH_HEX];
    hash_begin(&h);
    hash_add(&h, all.p + m + line, all.n - m - line);
    hash_end(&h, hex);
    if (memcmp(hex, all.p + m + 3, HASH_HEX - 1)) return false;
    static const char mark[] = "\n// ptx:\n";
    const char *body = strstr(all.p, mark);
    if (!body) return false;
    *head = (struct str){ all.p, (u32)(body + 1 - all.p) };
    body += sizeof mark - 1;
    struct str said = head_line(*head, "log bytes");
    u64 bytes = said.n ? strtoull(said.p, NULL, 10) : 0, rest = (u64)(all.p + all.n - body);
    if (bytes > rest) return false;
    *log = (struct str){ body, (u32)bytes };
    *ptx = (struct str){ body + bytes, (u32)(rest - bytes) };
    return true;
}

static void copy_line(struct str from, char *out, size_t size)
{
    snprintf(out, size, "%.*s", (int)MIN_OF(from.n, 4096u), from.p ? from.p : "");
}

/* Instance i of an entry and what it is called in the PTX; false: there are no more. */
static bool instance_at(struct arena *a, struct str head, u32 i, const char **name, char **lowered)
{
    char word[32];
    snprintf(word, sizeof word, "instance %u", i);
    struct str is = head_line(head, word);
    snprintf(word, sizeof word, "lowered %u", i);
    struct str in_ptx = head_line(head, word);
    if (!is.n || !in_ptx.n) return false;
    *name = arena_str(a, is);
    *lowered = arena_str(a, in_ptx);
    return true;
}

static bool same_but_blanks(const char *a, const char *b)
{
    while (*(a += strspn(a, " ")) == *(b += strspn(b, " ")) && *a) a++, b++;
    return !*a && !*b;
}

/* The names that are asked for: each instance is one of the entry's, or a kernel of its PTX. false: one is neither. */
static bool find_names(struct str head, struct str ptx, const struct compile_options *o, struct compile_result *r)
{
    VEC(char *) hidden = { 0 };
    const char *name;
    char *lowered, **own = NEW_ARRAY(&r->mem, char *, o->names + 1);
    for (u32 k = 0; instance_at(&r->mem, head, k, &name, &lowered); k++) {
        bool asked = false;
        for (u32 i = 0; i < o->names; i++) {
            const char *instance = compile_instance(&r->mem, o->name[i]);
            if (!instance || !same_but_blanks(instance, name)) continue;
            own[i] = lowered;
            asked = true;
        }
        if (!asked) VEC_PUSH(&r->mem, &hidden, lowered);
    }
    for (u32 i = 0; i < o->names; i++) {
        if (!own[i] && compile_instance(&r->mem, o->name[i]) && !(own[i] = compile_entry(&r->mem, ptx, o->name[i])))
            return false;
        for (u32 k = 0; own[i] && k < hidden.n; k++) /* by another spelling */
            if (!strcmp(hidden.p[k], own[i])) hidden.p[k--] = hidden.p[--hidden.n];
    }
    VEC_PUSH(&r->mem, &hidden, NULL);
    r->lowered = own;
    r->hidden = hidden.p;
    return true;
}

bool cache_take(const char *key, const struct compile_options *o, struct compile_result *r)
{
    char path[FOLDER_MOST + 64];
    struct str all, head, log, ptx;
    struct error ignored = { 0 };
    if (!entry_path(key, path, sizeof path) || !file_is_regular(path) || !file_read(path, &all, &ignored)) return false;
    char *copy = NULL;
    bool whole = open_entry(all, &head, &log, &ptx);
    if (whole && find_names(head, ptx, o, r) && (copy = base_alloc((size_t)ptx.n + 1))) {
        memcpy(copy, ptx.p, ptx.n);
        r->ptx = (struct str){ copy, ptx.n };
        text_put(&r->log, log.p, log.n);
        copy_line(head_line(head, "by"), r->by, sizeof r->by);
        copy_line(head_line(head, "arch"), r->arch, sizeof r->arch);
        utimensat(AT_FDCWD, path, NULL, 0);
    } else if (!whole) {
        unlink(path);
    }
    base_free((void *)all.p);
    return copy != NULL;
}

void cache_instances(struct arena *a, const char *key, word_list *out)
{
    char path[FOLDER_MOST + 64], *lowered;
    struct str all, head, log, ptx;
    const char *name;
    if (!entry_path(key, path, sizeof path) || !file_is_regular(path) || !file_read_if(path, &all)) return;
    bool whole = open_entry(all, &head, &log, &ptx);
    for (u32 i = 0; whole && instance_at(a, head, i, &name, &lowered); i++) VEC_PUSH(a, out, name);
    base_free((void *)all.p);
}

static int newest_first(const void *a, const void *b)
{
    const struct cache_entry *x = a, *y = b;
    return x->used != y->used ? (x->used < y->used) - (x->used > y->used) : strcmp(x->key, y->key);
}

static bool is_entry(const char *name)
{
    return strlen(name) == HASH_HEX - 1 + sizeof ending - 1 && !strcmp(name + HASH_HEX - 1, ending) &&
           strspn(name, "0123456789abcdef") == HASH_HEX - 1;
}

/* What a process that died while writing has left behind; older versions' files too. */
static bool is_rubbish(const char *name, const struct stat *st)
{
    size_t n = strlen(name);
    bool ours = n > 4 && (!strcmp(name + n - 4, ".tmp") || !strcmp(name + n - 4, ".ptx"));
    return ours && !is_entry(name) && time(NULL) - st->st_mtime > STALE_SECONDS;
}

/* Reads what an entry says of itself, from its first bytes. */
static void describe(const char *path, struct cache_entry *e)
{
    char head[1024];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head - 1);
    if (fd >= 0) close(fd);
    struct str s = { head, n > 0 ? (u32)n : 0 };
    copy_line(head_line(s, "source"), e->source, sizeof e->source);
    copy_line(head_line(s, "by"), e->by, sizeof e->by);
    copy_line(head_line(s, "arch"), e->arch, sizeof e->arch);
}

static u32 list_entries(struct arena *a, bool described, bool everything, struct cache_entry **out)
{
    char folder[FOLDER_MOST], path[FOLDER_MOST + 300];
    VEC(struct cache_entry) list = { 0 };
    *out = NULL;
    DIR *d = cache_folder(folder, sizeof folder) ? opendir(folder) : NULL;
    for (struct dirent *f; d && (f = readdir(d));) {
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", folder, f->d_name);
        if (lstat(path, &st) || !S_ISREG(st.st_mode)) continue;
        if (is_rubbish(f->d_name, &st) || (everything && !is_entry(f->d_name))) {
            unlink(path);
            continue;
        }
        if (!is_entry(f->d_name)) continue;
        struct cache_entry e = { .bytes = (u64)st.st_size, .used = st.st_mtime };
        snprintf(e.key, sizeof e.key, "%.*s", HASH_HEX - 1, f->d_name);
        if (described) describe(path, &e);
        VEC_PUSH(a, &list, e);
    }
    if (d) closedir(d);
    if (list.n) qsort(list.p, list.n, sizeof *list.p, newest_first);
    *out = list.p;
    return list.n;
}

u32 cache_list(struct arena *a, struct cache_entry **out) { return list_entries(a, true, false, out); }

static bool remove_entry(const char *key)
{
    char folder[FOLDER_MOST], path[FOLDER_MOST + 64];
    if (!cache_folder(folder, sizeof folder)) return false;
    snprintf(path, sizeof path, "%s/%s%s", folder, key, ending);
    return !unlink(path);
}

u32 cache_clear(void)
{
    struct arena a = { 0 };
    struct cache_entry *e;
    u32 n = list_entries(&a, false, true, &e), removed = 0;
    for (u32 i = 0; i < n; i++) removed += remove_entry(e[i].key);
    arena_free(&a);
    return removed;
}

/* Down to nine tenths of the limit, so that not every new entry has to tidy up. */
static void evict(void)
{
    struct arena a = { 0 };
    struct cache_entry *e;
    u32 n = list_entries(&a, false, false, &e);
    u64 total = 0, most = cache_limit();
    for (u32 i = 0; i < n; i++) total += e[i].bytes;
    u64 wanted = total > most ? most / 10 * 9 : total;
    for (u32 i = n; i > 1 && total > wanted; i--) /* the newest stays, however large */
        if (remove_entry(e[i - 1].key)) total -= e[i - 1].bytes;
    arena_free(&a);
}

void cache_keep(const char *key, const char *path, const struct compile_options *o, const struct compile_result *r)
{
    char folder[FOLDER_MOST], file[FOLDER_MOST + 64];
    if (!entry_path(key, file, sizeof file) || !cache_folder(folder, sizeof folder) || !make_folder(folder) ||
        strchr(path, '\n'))
        return;
    struct text body = { 0 }, all = { 0 };
    text_add(&body, "// source: %.255s\n// arch: %s\n// by: %s\n", path, r->arch, r->by);
    struct arena a = { 0 };
    for (u32 i = 0, n = 0; i < o->names; i++) {
        const char *instance = r->lowered[i] ? compile_instance(&a, o->name[i]) : NULL;
        if (instance) text_add(&body, "// instance %u: %s\n// lowered %u: %s\n", n, instance, n, r->lowered[i]);
        n += instance != NULL;
    }
    arena_free(&a);
    text_add(&body, "// log bytes: %zu\n// ptx:\n", r->log.n);
    text_put(&body, r->log.p, r->log.n);
    text_put(&body, r->ptx.p, r->ptx.n);
    struct hash h;
    char hex[HASH_HEX];
    hash_begin(&h);
    hash_add(&h, body.p, body.n);
    hash_end(&h, hex);
    text_add(&all, "%s// %s\n", magic, hex);
    text_put(&all, body.p, body.n);
    if (!file_is_regular(file)) unlink(file); /* a pipe there would be waited for, a link be followed */
    struct error ignored = { 0 };             /* a full disk costs a compilation next time, no more */
    file_write(file, all.p, all.n, &ignored);
    text_free(&body);
    text_free(&all);
    evict();
}
