/* Maps the shared memory for reports (base/channel.h) before code of the program runs: the program may close the
 * descriptor, change its user, its root or its limits afterwards. LOCKSTEP_RUN says which file it is: the number of a
 * descriptor, device and inode of the file, and the process of the launcher.
 *
 * A program that was started by exec may have lost the descriptor: the launcher's own is then opened by /proc. Where
 * that is denied, too, the engine says so and prints its report itself. */
#define _GNU_SOURCE
#include "front/front.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t place[2]; /* address and bytes, as channel_at of base/channel.c reads them */

static bool map(int fd, unsigned long long device, unsigned long long inode)
{
    struct stat st;
    if (fstat(fd, &st) || st.st_dev != device || st.st_ino != inode) return false;
    for (uint64_t bytes = (uint64_t)st.st_size; bytes >= 1 << 20; bytes /= 8) {
        void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
        if (p == MAP_FAILED) continue;
        madvise(p, bytes, MADV_DONTDUMP);
        place[0] = (uint64_t)(uintptr_t)p;
        place[1] = bytes;
        return true;
    }
    return false;
}

void front_channel_begin(void)
{
    const char *words = getenv("LOCKSTEP_RUN");
    unsigned long long device, inode;
    int fd, other;
    long pid;
    char path[64];
    if (!words || sscanf(words, "%d %llu %llu %ld", &fd, &device, &inode, &pid) != 4 || map(fd, device, inode)) return;
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", pid, fd);
    if ((other = open(path, O_RDWR | O_CLOEXEC)) < 0) return;
    map(other, device, inode);
    close(other);
}

/* The engine's variable, which has no initial value that a relocation would write later. */
void front_channel_engine(const char *file, uintptr_t bias)
{
    uintptr_t at = place[0] ? front_object_symbol(file, bias, "lkfront_channel") : 0;
    if (at) __atomic_store_n((uint64_t **)at, place, __ATOMIC_RELEASE);
}
