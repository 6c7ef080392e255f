/* What the process has mapped, by the kernel's list of it, /proc/self/maps. To read the list takes some ten
 * microseconds and more; pages_there asks the kernel in another way first. */
#define _GNU_SOURCE
#include "base/mapping.h"
#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

struct mapping_list {
    FILE *file;
    char line[512];
    bool start; /* the next piece that is read begins a line: the name of a file may be longer than `line` */
};

FILE *mapping_list(void)
{
    FILE *f = fopen("/proc/self/maps", "re");
    int first = f ? fgetc(f) : EOF;
    if (first != EOF) {
        ungetc(first, f);
        return f;
    }
    if (f) fclose(f);
    return fopen("/proc/thread-self/maps", "re");
}

const char *mapping_exe(void)
{
    char byte;
    return readlink("/proc/self/exe", &byte, 1) > 0 ? "/proc/self/exe" : "/proc/thread-self/exe";
}

s64 mapping_read(const struct iovec *to, u32 tos, const struct iovec *from, u32 froms)
{
    ssize_t got = process_vm_readv(process_id(), to, tos, from, froms, 0);
    if (got < 0 && errno == ESRCH) got = process_vm_readv((pid_t)syscall(SYS_gettid), to, tos, from, froms, 0);
    return got;
}

static void list_open(struct mapping_list *l)
{
    l->file = mapping_list();
    l->start = true;
}

static void list_close(struct mapping_list *l)
{
    if (l->file) fclose(l->file);
}

/* The next mapping, in order of addresses; *name: where its name begins in the line. false: there is none. */
static bool list_next(struct mapping_list *l, struct mapping *m, int *name)
{
    while (l->file && fgets(l->line, sizeof l->line, l->file)) {
        unsigned long long low, high;
        char right[8];
        bool whole = l->start;
        l->start = strchr(l->line, '\n') != NULL;
        *name = 0;
        if (!whole || sscanf(l->line, "%llx-%llx %4s %*s %*s %*s %n", &low, &high, right, name) != 3) continue;
        *m = (struct mapping){ .low = low, .high = high, .read = right[0] == 'r', .write = right[1] == 'w' };
        return true;
    }
    return false;
}

bool mapping_at(u64 at, struct mapping *out)
{
    struct mapping_list l;
    int name;
    bool found = false;
    list_open(&l);
    while (!found && list_next(&l, out, &name) && out->low <= at) found = at < out->high;
    list_close(&l);
    return found;
}

bool mapping_shared_maybe(u64 at)
{
    struct mapping_list l;
    struct mapping m;
    int name;
    bool shared = true;
    list_open(&l);
    while (list_next(&l, &m, &name) && m.low <= at)
        if (at < m.high) {
            char right[8] = "";
            shared = sscanf(l.line, "%*s %7s", right) != 1 || right[3] != 'p';
        }
    list_close(&l);
    return shared;
}

bool mapping_file(u64 at, char *path, size_t size)
{
    static const char gone[] = " (deleted)";
    char line[4096 + 256]; /* the longest path, and what stands in front of it */
    unsigned long long low, high;
    bool found = false;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f)) {
        int name = 0;
        if (sscanf(line, "%llx-%llx %*s %*s %*s %*s %n", &low, &high, &name) != 2 || at < low || at >= high) continue;
        size_t n = strcspn(line, "\n"), cut = sizeof gone - 1;
        line[n] = 0;
        found = line[name] == '/' && n - (size_t)name < size && (n < cut || strcmp(line + n - cut, gone) != 0);
        if (found) memcpy(path, line + name, n - (size_t)name + 1);
        break;
    }
    if (f) fclose(f);
    return found;
}

/* The same as mapping_at, of bytes that need a read, a write, or both. UINT64_MAX: there is no list. */
static u64 listed(u64 at, u64 bytes, bool read, bool write)
{
    struct mapping_list l;
    struct mapping m;
    int name;
    u64 need = at, end = at + bytes < at ? UINT64_MAX : at + bytes;
    list_open(&l);
    bool any = l.file != NULL;
    while (need < end && list_next(&l, &m, &name)) {
        if (m.high <= need) continue;
        if (m.low > need || (read && !m.read) || (write && !m.write)) break;
        need = m.high;
    }
    list_close(&l);
    return any ? MIN_OF(need - at, bytes) : UINT64_MAX;
}

bool pages_usable(u64 at, u64 bytes) { return listed(at, bytes, true, true) == bytes; }

u64 pages_readable(const void *p, u64 bytes)
{
    enum { AT_ONCE = 256 };
    u64 from = (uintptr_t)p, page = page_size(), good = from, step = page;
    if (bytes > (16u << 20)) { /* one page of 16, in what the list of mappings has without a gap */
        step = 16 * page;
        bytes = MIN_OF(listed(from, bytes, true, false), bytes);
    }
    u64 end = from + bytes < from ? UINT64_MAX : from + bytes;
    char byte[AT_ONCE];
    struct iovec at[AT_ONCE];
    for (u64 next = from; next < end;) {
        u32 n = 0;
        u64 begin = next;
        for (; n < AT_ONCE && next < end; n++) {
            at[n] = (struct iovec){ (void *)(uintptr_t)next, 1 };
            u64 after = (next & ~(page - 1)) + step;
            next = after > next ? after : end;
        }
        struct iovec to = { byte, n };
        s64 got = mapping_read(&to, 1, at, n);
        if (got < 0 && errno != EFAULT)
            return MIN_OF(listed(from, bytes, true, false), bytes); /* a sandbox may forbid to ask */
        if (got > 0) good = (uintptr_t)at[got - 1].iov_base;
        if (got == (s64)n) continue;
        u64 first = got > 0 ? (uintptr_t)at[got].iov_base : begin; /* of those that were asked for, not readable */
        if (first - good <= page) return first - from;
        return good - from + pages_readable((void *)(uintptr_t)good, first - good);
    }
    return bytes;
}

/* Whether the kernel knows how to populate pages: it then says in one call whether all of them are there. At 0 none is:
 * qemu-user takes every advice and does nothing. */
static bool populates(void)
{
    static u32 known; /* atomic; 1: no, 2: yes */
    u32 is = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (!is) {
        u64 page = page_size(), here = (uintptr_t)&is & ~(page - 1);
        is = madvise((void *)(uintptr_t)here, page, MADV_POPULATE_READ) || !madvise(NULL, page, MADV_POPULATE_READ) ? 1
                                                                                                                    : 2;
        __atomic_store_n(&known, is, __ATOMIC_RELAXED);
    }
    return is == 2;
}

u64 pages_there(const void *p, u64 bytes, bool write)
{
    u64 page = page_size(), at = (uintptr_t)p, low = at & ~(page - 1), high = (at + bytes + page - 1) & ~(page - 1);
    if (!bytes) return 0;
    if (high <= low) return listed(at, bytes, !write, write); /* beyond the end of the address space */
    int error = errno, how = write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
    bool asks = populates(), all = asks && !madvise((void *)(uintptr_t)low, high - low, how);
    errno = error;
    if (all) return bytes;
    u64 n = asks || write ? listed(at, bytes, !write, write) : pages_readable(p, bytes);
    return n > bytes ? bytes : n;
}

enum process_memory process_memory_at(u64 at, char *file, size_t size)
{
    struct mapping_list l;
    struct mapping m;
    int name;
    enum process_memory is = PROCESS_NOTHING;
    list_open(&l);
    while (list_next(&l, &m, &name)) {
        if (m.high <= at) continue;
        if (m.low > at || !m.read || !name) break;
        l.line[strcspn(l.line, "\n")] = 0;
        const char *path = l.line + name;
        Dl_info in;
        if (path[0] != '/' && dladdr((const void *)(uintptr_t)at, &in) && in.dli_fname && in.dli_fname[0])
            path = in.dli_fname; /* variables that begin as zero lie after those of the file */
        const char *slash = strrchr(path, '/');
        if (size) snprintf(file, size, "%s", slash ? slash + 1 : path);
        is = !strcmp(path, "[stack]") ? PROCESS_STACK : slash && slash[1] ? PROCESS_FILE : PROCESS_OTHER;
        break;
    }
    list_close(&l);
    return is;
}
