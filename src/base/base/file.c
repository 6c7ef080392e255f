/* Files: read whole, written beside and renamed, so that nobody ever sees half of one. */
#include "base/base.h"
#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is no file of known size, a pipe or a device, may give this much: /dev/zero never ends. */
enum { ENDLESS = 1 << 28 };

/* Reads to the end of `fd` into memory of base_alloc; `guess` is the expected size, which a pipe does not know. */
static bool read_all(int fd, const char *path, size_t guess, size_t most, struct str *out, struct error *e)
{
    size_t cap = guess + 1, n = 0;
    char *p = base_alloc(cap);
    while (p) {
        if (n + 1 >= cap) {
            char *q = base_realloc(p, cap = cap * 2 + 4096);
            if (!q) break;
            p = q;
        }
        ssize_t got = read(fd, p + n, MIN_OF(cap - 1 - n, (size_t)1 << 30));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            base_free(p);
            return error_set(e, ERR_INPUT, "cannot read %s: %s", path, strerror(errno));
        }
        n += (size_t)got;
        if (n > most) {
            base_free(p);
            return most == ENDLESS
                       ? error_set(e, ERR_INPUT, "%s is not a file, and has given %u MiB without an end", path,
                                   ENDLESS >> 20)
                       : error_set(e, ERR_INPUT, "%s is larger than 4 GiB, the most that can be read", path);
        }
        if (!got) {
            p[n] = 0;
            *out = (struct str){ p, (u32)n };
            return true;
        }
    }
    base_free(p);
    return error_set(e, ERR_MEMORY, "not enough memory to read %s (%zu bytes)", path, cap);
}

bool file_exists(const char *path) { return !access(path, R_OK); }

static bool is_program(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

bool file_program(const char *name, char *out, size_t size)
{
    const char *path = getenv("PATH");
    bool found = strchr(name, '/') && snprintf(out, size, "%s", name) < (int)size && is_program(out);
    for (const char *p = strchr(name, '/') || !path ? "" : path; *p && !found;) {
        size_t n = strcspn(p, ":");
        const char *folder = n ? p : "."; /* an empty part is the current folder */
        found = snprintf(out, size, "%.*s/%s", (int)(n ? n : 1), folder, name) < (int)size && is_program(out);
        p += n + (p[n] == ':');
    }
    if (!found && size) out[0] = 0;
    return found;
}

bool file_is_pipe(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISFIFO(st.st_mode);
}

bool file_of_package(const char *path) { return strstr(path, "/site-packages/") || strstr(path, "/dist-packages/"); }

bool file_is_regular(const char *path)
{
    struct stat st;
    return !lstat(path, &st) && S_ISREG(st.st_mode);
}

bool file_same(const char *a, const char *b)
{
    struct stat x, y;
    return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool file_read(const char *path, struct str *out, struct error *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return error_set(e, ERR_INPUT, "cannot open %s: %s", path, strerror(errno));
    struct stat st;
    bool ok;
    if (fstat(fd, &st))
        ok = error_set(e, ERR_INPUT, "cannot read %s: %s", path, strerror(errno));
    else if (S_ISDIR(st.st_mode))
        ok = error_set(e, ERR_INPUT, "%s is a directory, not a file", path);
    else if (S_ISREG(st.st_mode) && (u64)st.st_size > UINT32_MAX - 1)
        ok = error_set(e, ERR_INPUT, "%s is larger than 4 GiB, the most that can be read", path);
    else
        ok = S_ISREG(st.st_mode) ? read_all(fd, path, (size_t)st.st_size + 1, UINT32_MAX - 1, out, e)
                                 : read_all(fd, path, 4096, ENDLESS, out, e);
    close(fd);
    return ok;
}

bool file_read_if(const char *path, struct str *out)
{
    struct error e = { 0 };
    if (file_read(path, out, &e)) return true;
    if (e.code == ERR_MEMORY) base_exhausted(0, path);
    return false;
}

bool file_put(int fd, const void *from, size_t n)
{
    const char *p = from;
    while (n) {
        ssize_t put = write(fd, p, n);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return false;
        p += put;
        n -= (size_t)put;
    }
    return true;
}

bool file_get(int fd, void *p, size_t n)
{
    for (char *to = p; n;) {
        ssize_t got = read(fd, to, n);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to += got;
        n -= (size_t)got;
    }
    return true;
}

bool file_write(const char *path, const void *p, size_t n, struct error *e)
{
    if (!strcmp(path, "-")) {
        fflush(stdout);
        return file_put(STDOUT_FILENO, p, n) ||
               error_set(e, ERR_SYSTEM, "cannot write to standard output: %s", strerror(errno));
    }
    /* what is no plain file (a pipe, /dev/null, /dev/fd/N) is written in place: renaming over it would replace it. A
     * link is followed, and stays. */
    struct stat st;
    bool beside = stat(path, &st) || S_ISREG(st.st_mode);
    char temp[4096], target[4096];
    const char *shown = path;
    if (!lstat(path, &st) && S_ISLNK(st.st_mode) && realpath(path, target)) path = target;
    if (beside &&
        snprintf(temp, sizeof temp, "%s.%ld.%" PRIx64 ".tmp", path, (long)getpid(), time_ns()) >= (int)sizeof temp)
        return error_set(e, ERR_INPUT, "the path is too long: %.200s...", path);
    int fd = open(beside ? temp : path, O_WRONLY | O_CREAT | O_CLOEXEC | (beside ? O_EXCL : 0), 0666);
    if (fd < 0) return error_set(e, ERR_INPUT, "cannot write %s: %s", shown, strerror(errno));
    bool ok = file_put(fd, p, n);
    int why = errno;
    if (close(fd) && ok) {
        ok = false;
        why = errno;
    }
    if (ok && beside && rename(temp, path)) {
        ok = false;
        why = errno;
    }
    if (!ok && beside) unlink(temp);
    return ok || error_set(e, ERR_SYSTEM, "cannot write %s: %s", shown, strerror(why));
}

bool folder_make(const char *path, struct error *e)
{
    return !mkdir(path, 0777) || errno == EEXIST ||
           error_set(e, ERR_SYSTEM, "cannot make the folder %s: %s", path, strerror(errno));
}

void folder_remove(const char *path)
{
    DIR *d = opendir(path);
    char inside[4096];
    struct stat st;
    for (struct dirent *f; d && (f = readdir(d));) {
        bool itself = !strcmp(f->d_name, ".") || !strcmp(f->d_name, "..");
        if (itself || snprintf(inside, sizeof inside, "%s/%s", path, f->d_name) >= (int)sizeof inside) continue;
        if (!lstat(inside, &st) && S_ISDIR(st.st_mode))
            folder_remove(inside);
        else
            unlink(inside);
    }
    if (d) closedir(d);
    rmdir(path);
}
