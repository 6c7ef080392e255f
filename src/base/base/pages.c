/* Address space: reserving it, giving it memory, taking the memory back, and files that exist only in memory so that
 * the same bytes can appear at two addresses. What is mapped is counted and remembered by the caller alone. */
#define _GNU_SOURCE
#include "base/mapping.h"
#include <fcntl.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static const int none_flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

u64 page_size(void) { return (u64)sysconf(_SC_PAGESIZE); }

u64 pages_limit(void)
{
    struct rlimit r;
    return getrlimit(RLIMIT_AS, &r) || r.rlim_cur == RLIM_INFINITY ? UINT64_MAX : (u64)r.rlim_cur;
}

u64 pages_reserve(u64 at, u64 bytes)
{
    if (bytes > SIZE_MAX) return 0;
    void *want = (void *)(uintptr_t)at;
    void *p = mmap(want, (size_t)bytes, PROT_NONE, none_flags | (at ? MAP_FIXED_NOREPLACE : 0), -1, 0);
    if (p == MAP_FAILED) return 0;
    if (at && p != want) { /* a kernel that does not know the flag takes the address as a hint */
        munmap(p, (size_t)bytes);
        return 0;
    }
    return (u64)(uintptr_t)p;
}

bool pages_commit(u64 at, u64 bytes) { return !mprotect((void *)(uintptr_t)at, (size_t)bytes, PROT_READ | PROT_WRITE); }

bool pages_discard(u64 at, u64 bytes) { return !madvise((void *)(uintptr_t)at, (size_t)bytes, MADV_DONTNEED); }

/* A page that was swapped out counts as unused there. Where swap is in use, nothing is said. */
bool pages_used(u64 at, u64 bytes, u8 *used)
{
    struct sysinfo now;
    u64 size = page_size(), pages = (bytes + size - 1) / size;
    if (mincore((void *)(uintptr_t)at, (size_t)bytes, used) || sysinfo(&now) || now.freeswap != now.totalswap)
        return false;
    for (u64 k = 0; k < pages; k++) used[k] &= 1;
    return true;
}

/* qemu-user, which runs containers of another architecture, takes the advice and does nothing. */
bool pages_punch(u64 at, u64 bytes)
{
    volatile u8 *first = (u8 *)(uintptr_t)at;
    *first = 1;
    if (madvise((void *)(uintptr_t)at, (size_t)bytes, MADV_REMOVE)) return false;
    if (*first) memset((void *)(uintptr_t)at, 0, (size_t)bytes);
    return true;
}

bool pages_withdraw(u64 at, u64 bytes)
{
    return mmap((void *)(uintptr_t)at, (size_t)bytes, PROT_NONE, none_flags | MAP_FIXED, -1, 0) != MAP_FAILED;
}

void pages_release(u64 at, u64 bytes) { munmap((void *)(uintptr_t)at, (size_t)bytes); }

int pages_file(u64 bytes)
{
    int fd = memfd_create("lockstep", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, (off_t)bytes)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

bool pages_file_grow(int fd, u64 bytes) { return !ftruncate(fd, (off_t)bytes); }

bool pages_file_punch(int fd, u64 offset, u64 bytes)
{
    return !fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes);
}

u64 pages_map(int fd, u64 offset, u64 at, u64 bytes)
{
    int flags = MAP_SHARED | (at ? MAP_FIXED : 0);
    void *p = mmap((void *)(uintptr_t)at, (size_t)bytes, PROT_READ | PROT_WRITE, flags, fd, (off_t)offset);
    return p == MAP_FAILED ? 0 : (u64)(uintptr_t)p;
}

void pages_file_close(int fd) { close(fd); }

/* Where process_vm_readv is forbidden (a sandbox) or missing (qemu-user): through a pipe, since write(2) keeps to the
 * rights of pages; /proc/self/mem would read those without any. */
static bool copy_by_pipe(u8 *to, u64 from, u64 bytes)
{
    enum { PIECE = 4096 };
    int fd[2];
    bool ok = !pipe2(fd, O_CLOEXEC);
    if (!ok) return false;
    for (u64 at = 0, n; ok && at < bytes; at += n) {
        n = MIN_OF(bytes - at, (u64)PIECE);
        ok = write(fd[1], (const void *)(uintptr_t)(from + at), (size_t)n) == (ssize_t)n &&
             read(fd[0], to + at, (size_t)n) == (ssize_t)n;
    }
    close(fd[0]);
    close(fd[1]);
    if (!ok) errno = EFAULT; /* as the other way has it */
    return ok;
}

bool pages_copy(void *to, u64 from, u64 bytes)
{
    struct iovec here = { to, (size_t)bytes }, there = { (void *)(uintptr_t)from, (size_t)bytes };
    s64 got = mapping_read(&here, 1, &there, 1);
    return got < 0 && errno != EFAULT ? copy_by_pipe(to, from, bytes) : got == (s64)bytes;
}

/* ---- whether a pointer that a program hands over can be read: the kernel is asked, a page at a time; pages that could
 * be read before are remembered for the thread, since the same stacks and heaps come again ---- */

enum { REMEMBERED = 64, PAGE = 4096 };

static bool page_readable(uintptr_t page)
{
    static _Thread_local uintptr_t known[REMEMBERED];
    uintptr_t *slot = &known[(page / PAGE) % REMEMBERED];
    char byte;
    if (*slot == page) return true;
    if (!pages_copy(&byte, page, 1)) return errno != EFAULT; /* a sandbox may forbid to ask */
    *slot = page;
    return true;
}

bool bytes_readable(const void *p, u64 bytes)
{
    uintptr_t from = (uintptr_t)p, to = from + bytes - 1;
    if (from < PAGE || !bytes || to < from) return false;
    for (uintptr_t page = from & ~(uintptr_t)(PAGE - 1);; page += PAGE) {
        if (!page_readable(page)) return false;
        if (page + (PAGE - 1) >= to) return true;
    }
}
