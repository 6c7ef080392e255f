/* The file in memory, its senders and their texts. */
#define _GNU_SOURCE
#include "base/channel.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HEAD_MAGIC = 0x6c6b6368,
    SENDER_MAGIC = 0x6c6b7365,
    LINE = 64,     /* pieces of memory begin at multiples of this */
    LEAST = 1024,  /* bytes of a piece */
    READ_TRIES = 8 /* of a text that is being replaced */
};

struct channel_head { /* at offset 0 */
    u32 magic;
    u64 next;    /* atomic: where free memory begins */
    u64 last;    /* atomic: offset of the sender that registered last, 0: none */
    u64 refused; /* atomic: senders that found no room */
};
enum { HEAD_BYTES = (sizeof(struct channel_head) + LINE - 1) / LINE * LINE };

const char *const channel_kind_name[CHANNEL_KINDS] = { "log",   "sites", "txt",  "end",   "json",    "sarif", "junit",
                                                       "rules", "now",   "last", "fault", "profile", "counts" };

static struct channel_head *head_of(const struct channel *c) { return (struct channel_head *)(void *)c->base; }

/* ---- mapping ---- */

/* As much of the file as the limits of the process allow. */
static bool map(struct channel *c, int fd, u64 bytes)
{
    for (u64 size = bytes; size >= 1 << 20; size /= 8) {
        void *p = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
        if (p == MAP_FAILED) continue;
        madvise(p, (size_t)size, MADV_DONTDUMP);
        c->base = p;
        c->bytes = size;
        return true;
    }
    return false;
}

/* A limit on the size of files holds for a file in memory, too: it is lifted while the file gets its size. */
static bool size_set(int fd, u64 bytes)
{
    struct rlimit was, now;
    bool lift = !getrlimit(RLIMIT_FSIZE, &was) && was.rlim_cur < bytes;
    now = was;
    now.rlim_cur = now.rlim_max;
    if (lift && now.rlim_max < bytes) {
        errno = EFBIG;
        return false;
    }
    if (lift) setrlimit(RLIMIT_FSIZE, &now);
    bool ok = !ftruncate(fd, (off_t)bytes);
    if (lift) setrlimit(RLIMIT_FSIZE, &was);
    return ok;
}

/* The descriptor that children inherit lies high, where few programs count on numbers. */
static int fd_high(int fd)
{
    struct rlimit most;
    int floor = !getrlimit(RLIMIT_NOFILE, &most) && most.rlim_cur < 1024 ? (int)most.rlim_cur - 8 : 1000;
    int high = floor > 2 ? fcntl(fd, F_DUPFD, floor) : -1;
    if (high < 0) high = fcntl(fd, F_DUPFD, 3);
    close(fd);
    return high;
}

bool channel_create(struct channel *c, u64 bytes, struct error *e)
{
    *c = (struct channel){ .fd = -1 };
    int fd = memfd_create("lockstep-reports", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    bool ok = fd >= 0 && size_set(fd, bytes) && map(c, fd, bytes);
    /* a program that truncates it would end the processes that write */
    if (ok) fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    if (ok) c->fd = fd_high(fd);
    if (!ok || c->fd < 0) {
        error_set(e, ERR_SYSTEM, "no shared memory of %llu bytes for reports: %s", (unsigned long long)bytes,
                  strerror(errno));
        if (!ok && fd >= 0) close(fd);
        channel_close(c);
        return false;
    }
    c->owner = (s32)getpid();
    struct channel_head *h = head_of(c);
    h->next = HEAD_BYTES;
    h->magic = HEAD_MAGIC;
    return true;
}

void channel_words(const struct channel *c, char *words, size_t size)
{
    struct stat st = { 0 };
    fstat(c->fd, &st);
    snprintf(words, size, "%d %llu %llu %ld", c->fd, (unsigned long long)st.st_dev, (unsigned long long)st.st_ino,
             (long)c->owner);
}

/* Whether it is the file that the words mean: the program may have another one under this number. */
static bool is_it(int fd, unsigned long long device, unsigned long long inode, u64 *bytes)
{
    struct stat st;
    bool same = !fstat(fd, &st) && st.st_dev == device && st.st_ino == inode;
    *bytes = same && st.st_size > 0 ? (u64)st.st_size : 0;
    return *bytes != 0;
}

bool channel_open(struct channel *c, const char *words)
{
    unsigned long long device, inode;
    int fd;
    long pid;
    u64 bytes;
    char path[64];
    *c = (struct channel){ .fd = -1 };
    if (!words || sscanf(words, "%d %llu %llu %ld", &fd, &device, &inode, &pid) != 4) return false;
    if (is_it(fd, device, inode, &bytes)) return map(c, fd, bytes) && head_of(c)->magic == HEAD_MAGIC;
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", pid, fd);
    int other = open(path, O_RDWR | O_CLOEXEC);
    bool ok = other >= 0 && is_it(other, device, inode, &bytes) && map(c, other, bytes);
    if (other >= 0) close(other);
    return ok && head_of(c)->magic == HEAD_MAGIC;
}

bool channel_at(struct channel *c, void *base)
{
    const u64 *at = base; /* lockstep-front.so puts it there: the address and the bytes */
    *c = (struct channel){ .base = (char *)(uintptr_t)at[0], .bytes = at[1], .fd = -1 };
    return c->base && head_of(c)->magic == HEAD_MAGIC;
}

void channel_close(struct channel *c)
{
    if (c->base) munmap(c->base, (size_t)c->bytes);
    if (c->fd >= 0) close(c->fd);
    *c = (struct channel){ .fd = -1 };
}

/* ---- a process that writes ---- */

/* A piece of memory; 0: there is no room. */
static u64 take(const struct channel *c, u64 bytes)
{
    struct channel_head *h = head_of(c);
    u64 at = __atomic_load_n(&h->next, __ATOMIC_RELAXED);
    bytes = (bytes + LINE - 1) / LINE * LINE;
    do {
        if (at < sizeof *h || at % LINE || at > c->bytes || c->bytes - at < bytes) return 0;
    } while (!__atomic_compare_exchange_n(&h->next, &at, at + bytes, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return at;
}

bool channel_begin(struct channel_writer *w, const struct channel *c, s32 pid)
{
    memset(w, 0, sizeof *w);
    w->channel = *c;
    struct channel_head *h = head_of(c);
    u64 at = take(c, sizeof *w->sender);
    if (!at) {
        __atomic_add_fetch(&h->refused, 1, __ATOMIC_RELAXED);
        return false;
    }
    struct channel_sender *s = (struct channel_sender *)(void *)(c->base + at);
    s->magic = SENDER_MAGIC;
    s->pid = pid;
    s->before = __atomic_load_n(&h->last, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&h->last, &s->before, at, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {}
    w->sender = s;
    return true;
}

/* Makes the piece whose turn is next hold at least `need` bytes, at least `room` where it is new. */
static bool piece(struct channel_writer *w, enum channel_kind kind, u32 next, u64 need, u64 room)
{
    if (w->own[kind].room[next] >= need && w->own[kind].room[next]) return true;
    u64 bytes = LEAST;
    while (bytes < room) bytes *= 2;
    u64 at = take(&w->channel, bytes);
    if (!at && bytes > need) at = take(&w->channel, bytes = need); /* the last bit of the file */
    if (!at) return false;
    w->own[kind].offset[next] = at;
    w->own[kind].room[next] = bytes;
    return true;
}

/* A reader that sees anything of what is written now, into the piece of the turn before, sees the last turn, too: a
 * release orders what is in front of it only. */
static void piece_begin(void) { __atomic_thread_fence(__ATOMIC_RELEASE); }

static bool lose(struct channel_sender *s, enum channel_kind kind, size_t n)
{
    __atomic_add_fetch(&s->missing[kind], n, __ATOMIC_RELAXED);
    return false;
}

bool channel_put(struct channel_writer *w, enum channel_kind kind, const void *p, size_t n)
{
    if (!w->sender) return false;
    struct channel_text *t = &w->sender->text[kind];
    u32 turn = __atomic_load_n(&t->turn, __ATOMIC_RELAXED) + 1, next = turn % 2;
    if (n && !piece(w, kind, next, n, n)) return lose(w->sender, kind, n);
    piece_begin();
    if (n) memcpy(w->channel.base + w->own[kind].offset[next], p, n);
    t->view[next] = (struct channel_view){ w->own[kind].offset[next], n };
    __atomic_store_n(&w->sender->missing[kind], 0, __ATOMIC_RELAXED); /* of a version that nobody needs any more */
    __atomic_store_n(&t->turn, turn, __ATOMIC_RELEASE);
    return true;
}

bool channel_add(struct channel_writer *w, enum channel_kind kind, const void *p, size_t n)
{
    if (!w->sender) return false;
    struct channel_text *t = &w->sender->text[kind];
    u32 turn = __atomic_load_n(&t->turn, __ATOMIC_RELAXED), now = turn % 2, next = (turn + 1) % 2;
    u64 bytes = t->view[now].bytes;
    if (turn && w->own[kind].room[now] - bytes >= n) {
        memcpy(w->channel.base + w->own[kind].offset[now] + bytes, p, n);
        __atomic_store_n(&t->view[now].bytes, bytes + n, __ATOMIC_RELEASE);
        return true;
    }
    if (!piece(w, kind, next, bytes + n, 2 * (bytes + n))) return lose(w->sender, kind, n);
    char *to = w->channel.base + w->own[kind].offset[next];
    piece_begin();
    if (bytes) memcpy(to, w->channel.base + w->own[kind].offset[now], bytes);
    memcpy(to + bytes, p, n);
    t->view[next] = (struct channel_view){ w->own[kind].offset[next], bytes + n };
    __atomic_store_n(&t->turn, turn + 1, __ATOMIC_RELEASE);
    return true;
}

void channel_mark(struct channel_writer *w, u32 marks, bool set)
{
    if (!w->sender) return;
    if (set)
        __atomic_or_fetch(&w->sender->marks, marks, __ATOMIC_RELEASE);
    else
        __atomic_and_fetch(&w->sender->marks, ~marks, __ATOMIC_RELEASE);
}

void channel_errors(struct channel_writer *w, u64 errors)
{
    if (w->sender) __atomic_store_n(&w->sender->errors, errors, __ATOMIC_RELEASE);
}

void channel_launches(struct channel_writer *w, u64 launches, u64 checked)
{
    if (!w->sender) return;
    __atomic_store_n(&w->sender->checked, checked, __ATOMIC_RELAXED);
    __atomic_store_n(&w->sender->launches, launches, __ATOMIC_RELEASE);
}

/* ---- the launcher ---- */

static struct channel_sender *sender_at(const struct channel *c, u64 at)
{
    if (at < sizeof(struct channel_head) || at % LINE || at > c->bytes || c->bytes - at < sizeof(struct channel_sender))
        return NULL;
    struct channel_sender *s = (struct channel_sender *)(void *)(c->base + at);
    return s->magic == SENDER_MAGIC ? s : NULL;
}

struct channel_sender **channel_senders(const struct channel *c, u32 *n)
{
    u64 last = __atomic_load_n(&head_of(c)->last, __ATOMIC_ACQUIRE);
    struct channel_sender *s;
    u32 count = 0, at;
    for (u64 k = last; count < CHANNEL_SENDERS && (s = sender_at(c, k)); k = s->before) count++;
    struct channel_sender **out = base_need(sizeof(struct channel_sender *) * MAX_OF(count, 1u));
    *n = at = count;
    for (u64 k = last; at && (s = sender_at(c, k)); k = s->before) out[--at] = s;
    *n -= at; /* some are gone: the list was overwritten meanwhile */
    memmove(out, out + at, sizeof(struct channel_sender *) * *n);
    return out;
}

u64 channel_refused(const struct channel *c) { return __atomic_load_n(&head_of(c)->refused, __ATOMIC_RELAXED); }

void channel_refuse(const struct channel *c, u64 n) { __atomic_store_n(&head_of(c)->refused, n, __ATOMIC_RELAXED); }

void channel_lose(struct channel_writer *w, enum channel_kind kind, u64 bytes)
{
    if (w->sender) lose(w->sender, kind, bytes);
}

bool channel_has(const struct channel_sender *s, enum channel_kind kind)
{
    u32 turn = __atomic_load_n(&s->text[kind].turn, __ATOMIC_ACQUIRE);
    return __atomic_load_n(&s->text[kind].view[turn % 2].bytes, __ATOMIC_ACQUIRE) != 0;
}

u32 channel_marks(const struct channel_sender *s) { return __atomic_load_n(&s->marks, __ATOMIC_ACQUIRE); }
u64 channel_errors_of(const struct channel_sender *s) { return __atomic_load_n(&s->errors, __ATOMIC_ACQUIRE); }

u64 channel_launches_of(const struct channel_sender *s, u64 *checked)
{
    u64 launches = __atomic_load_n(&s->launches, __ATOMIC_ACQUIRE);
    *checked = __atomic_load_n(&s->checked, __ATOMIC_RELAXED);
    return launches;
}

/* Whether a text lies where memory has been given out. One that is being replaced all the time does. */
static bool text_lies_in(const struct channel *c, const struct channel_text *t)
{
    for (u32 tries = 0; tries < READ_TRIES; tries++) {
        u32 turn = __atomic_load_n(&t->turn, __ATOMIC_ACQUIRE);
        const struct channel_view *v = &t->view[turn % 2];
        u64 bytes = __atomic_load_n(&v->bytes, __ATOMIC_ACQUIRE), at = __atomic_load_n(&v->offset, __ATOMIC_RELAXED);
        u64 next = __atomic_load_n(&head_of(c)->next, __ATOMIC_ACQUIRE);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (__atomic_load_n(&t->turn, __ATOMIC_RELAXED) != turn) continue;
        return !bytes || (at >= HEAD_BYTES && at <= next && bytes <= next - at);
    }
    return true;
}

static bool texts_lie_in(const struct channel *c, const struct channel_sender *s)
{
    bool all = true;
    for (u32 kind = 0; kind < CHANNEL_KINDS; kind++) all &= text_lies_in(c, &s->text[kind]);
    return all;
}

/* A process that was killed while it registered has memory and is no sender: what is lost is lost in the same way. */
bool channel_damaged(const struct channel *c)
{
    const struct channel_head *h = head_of(c);
    u64 at = __atomic_load_n(&h->last, __ATOMIC_ACQUIRE), next = __atomic_load_n(&h->next, __ATOMIC_ACQUIRE);
    if (c->lost || h->magic != HEAD_MAGIC || next < HEAD_BYTES || next % LINE || next > c->bytes) return true;
    if (!at) return next > HEAD_BYTES;
    for (u32 n = 0; at; n++) {
        const struct channel_sender *s = sender_at(c, at);
        if (!s || at >= next || n == CHANNEL_SENDERS || !texts_lie_in(c, s)) return true;
        at = s->before;
    }
    return false;
}

bool channel_read(const struct channel *c, const struct channel_sender *s, enum channel_kind kind, u64 from,
                  struct str *out)
{
    const struct channel_text *t = &s->text[kind];
    for (u32 tries = 0; tries < READ_TRIES; tries++) {
        u32 turn = __atomic_load_n(&t->turn, __ATOMIC_ACQUIRE);
        const struct channel_view *v = &t->view[turn % 2];
        u64 bytes = __atomic_load_n(&v->bytes, __ATOMIC_ACQUIRE), at = __atomic_load_n(&v->offset, __ATOMIC_RELAXED);
        if (at > c->bytes || bytes > c->bytes - at || bytes > UINT32_MAX - 1 || bytes <= from) return false;
        char *copy = base_need((size_t)(bytes - from) + 1);
        memcpy(copy, c->base + at + from, (size_t)(bytes - from));
        copy[bytes - from] = 0;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        *out = (struct str){ copy, (u32)(bytes - from) };
        if (__atomic_load_n(&t->turn, __ATOMIC_RELAXED) == turn) return true;
        base_free(copy);
    }
    return false;
}
