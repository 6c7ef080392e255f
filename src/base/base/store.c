/* Files named by the hash of what decides their contents (store.h). */
#include "base/store.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STALE_SECONDS = 3600, FILE_PATH = STORE_PATH + 300, HASH_LINE = 3 + HASH_HEX - 1 + 1 };

bool store_folder(const char *name, char *out, size_t size)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *slash = name ? "/" : "";
    int n = xdg && xdg[0] == '/'     ? snprintf(out, size, "%s/lockstep%s%s", xdg, slash, name ? name : "")
            : home && home[0] == '/' ? snprintf(out, size, "%s/.cache/lockstep%s%s", home, slash, name ? name : "")
                                     : -1;
    return n > 0 && n < (int)size && n < STORE_PATH - 64;
}

static bool is_key(const char *key) { return strspn(key, "0123456789abcdef") == HASH_HEX - 1; }

static bool path_of(const struct store *s, const char *key, char out[FILE_PATH])
{
    return s->folder && s->limit && is_key(key) &&
           snprintf(out, FILE_PATH, "%s/%.*s%s", s->folder, HASH_HEX - 1, key, s->ending) < FILE_PATH;
}

/* Makes the folder and those above it. */
static bool make_folder(const char *path)
{
    char part[FILE_PATH];
    for (size_t i = 1; path[i]; i++)
        if (path[i] == '/') {
            snprintf(part, sizeof part, "%.*s", (int)i, path);
            mkdir(part, 0777);
        }
    struct stat st;
    mkdir(path, 0777);
    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static void hash_of(const void *p, size_t n, char hex[HASH_HEX])
{
    struct hash h;
    hash_begin(&h);
    hash_add(&h, p, n);
    hash_end(&h, hex);
}

/* Where the contents of a whole file begin; 0: it is not whole. */
static u32 contents_at(const struct store *s, struct str all)
{
    size_t m = strlen(s->magic);
    char hex[HASH_HEX];
    if (all.n < m + HASH_LINE || memcmp(all.p, s->magic, m) || memcmp(all.p + m, "// ", 3)) return 0;
    hash_of(all.p + m + HASH_LINE, all.n - m - HASH_LINE, hex);
    return memcmp(hex, all.p + m + 3, HASH_HEX - 1) ? 0 : (u32)(m + HASH_LINE);
}

bool store_take(const struct store *s, const char *key, struct taken *out)
{
    char path[FILE_PATH];
    struct str all;
    struct error ignored = { 0 };
    if (!path_of(s, key, path) || !file_is_regular(path) || !file_read(path, &all, &ignored)) return false;
    u32 at = contents_at(s, all);
    if (!at) {
        unlink(path);
        base_free((void *)(uintptr_t)all.p);
        return false;
    }
    utimensat(AT_FDCWD, path, NULL, 0);
    *out = (struct taken){ { all.p + at, all.n - at }, (void *)(uintptr_t)all.p };
    return true;
}

void store_release(struct taken *t)
{
    base_free(t->file);
    *t = (struct taken){ 0 };
}

u32 store_peek(const struct store *s, const char *key, char *out, u32 size)
{
    char path[FILE_PATH];
    u32 skip = (u32)strlen(s->magic) + HASH_LINE;
    int fd = path_of(s, key, path) ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    ssize_t n = fd < 0 ? -1 : pread(fd, out, size - 1, skip);
    if (fd >= 0) close(fd);
    out[n > 0 ? n : 0] = 0;
    return n > 0 ? (u32)n : 0;
}

/* ---- the list ---- */

static int newest_first(const void *a, const void *b)
{
    const struct store_entry *x = a, *y = b;
    return x->used != y->used ? (x->used < y->used) - (x->used > y->used) : strcmp(x->key, y->key);
}

static bool ends_with(const char *name, const char *ending)
{
    return strlen(name) > strlen(ending) && str_ends(str_of(name), ending);
}

static bool is_entry(const struct store *s, const char *name)
{
    return is_key(name) && !strcmp(name + HASH_HEX - 1, s->ending);
}

/* What a process that died while writing has left behind; older versions' files too. */
static bool is_rubbish(const struct store *s, const char *name, const struct stat *st)
{
    bool ours = ends_with(name, ".tmp") || ends_with(name, s->ending);
    return ours && !is_entry(s, name) && time(NULL) - st->st_mtime > STALE_SECONDS;
}

u32 store_list(const struct store *s, struct arena *a, bool everything, struct store_entry **out)
{
    char path[FILE_PATH];
    VEC(struct store_entry) list = { 0 };
    *out = NULL;
    DIR *d = s->folder ? opendir(s->folder) : NULL;
    for (struct dirent *f; d && (f = readdir(d));) {
        struct stat st;
        bool ours = is_entry(s, f->d_name);
        snprintf(path, sizeof path, "%s/%s", s->folder, f->d_name);
        if (lstat(path, &st) || !S_ISREG(st.st_mode)) continue;
        bool old = everything && !ours && (ends_with(f->d_name, ".tmp") || ends_with(f->d_name, s->ending));
        if (old || is_rubbish(s, f->d_name, &st)) unlink(path);
        if (!ours) continue;
        struct store_entry e = { .bytes = (u64)st.st_size, .used = st.st_mtime };
        snprintf(e.key, sizeof e.key, "%.*s", HASH_HEX - 1, f->d_name);
        VEC_PUSH(a, &list, e);
    }
    if (d) closedir(d);
    if (list.n) qsort(list.p, list.n, sizeof *list.p, newest_first);
    *out = list.p;
    return list.n;
}

bool store_remove(const struct store *s, const char *key)
{
    struct store all = *s;
    char path[FILE_PATH];
    all.limit = 1; /* also where nothing is kept any more */
    return path_of(&all, key, path) && !unlink(path);
}

u32 store_clear(const struct store *s)
{
    struct arena a = { 0 };
    struct store_entry *e;
    u32 n = store_list(s, &a, true, &e), removed = 0;
    for (u32 i = 0; i < n; i++) removed += store_remove(s, e[i].key);
    arena_free(&a);
    return removed;
}

/* Down to nine tenths of the limit, so that not every new file has to tidy up. */
static void evict(const struct store *s)
{
    struct arena a = { 0 };
    struct store_entry *e;
    u32 n = store_list(s, &a, false, &e);
    u64 total = 0;
    for (u32 i = 0; i < n; i++) total += e[i].bytes;
    u64 wanted = total > s->limit ? s->limit / 10 * 9 : total;
    for (u32 i = n; i > 1 && total > wanted; i--) /* the newest stays, however large */
        if (store_remove(s, e[i - 1].key)) total -= e[i - 1].bytes;
    arena_free(&a);
}

void store_keep(const struct store *s, const char *key, const void *p, size_t n)
{
    char path[FILE_PATH], hex[HASH_HEX];
    struct text all = { 0 };
    struct error ignored = { 0 };
    if (!path_of(s, key, path) || !make_folder(s->folder)) return;
    hash_of(p, n, hex);
    text_add(&all, "%s// %s\n", s->magic, hex);
    text_put(&all, p, n);
    if (!file_is_regular(path)) unlink(path); /* a pipe there would be waited for, a link be followed */
    file_write(path, all.p, all.n, &ignored);
    text_free(&all);
    evict(s);
}
