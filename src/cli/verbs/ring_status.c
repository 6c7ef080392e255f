/* lockstep ring --status without a file: the rings of all processes of this user, as they stand.
 *
 * Any process may take an abstract name. Who answers is asked for before a word of it is read, and no answer is waited
 * for, or read, without end. */
#define _GNU_SOURCE /* SO_PEERCRED: struct ucred */
#include "verbs/ring_command.h"
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ANSWER_MOST = 16 << 20, ANSWER_S = 2 }; /* bytes of an answer; seconds until all of it is there */
enum { LISTENS = 0x10000 };                    /* of the flags in /proc/net/unix */

/* As a terminal may show it. */
static void make_plain(char *z)
{
    for (; *z; z++)
        if (((u8)*z < ' ' && *z != '\n' && *z != '\t') || *z == 127) *z = '?';
}

/* Whether the process at the other end of the socket belongs to this user. */
static bool is_ours(int fd, const char *name)
{
    struct ucred who;
    socklen_t size = sizeof who;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size)) return false;
    if (who.uid == getuid()) return true;
    cli_error("@%s is a socket of another user, number %u: left out", name, (unsigned)who.uid);
    return false;
}

/* false: it does not end, or not in time. */
static bool read_answer(int fd, const char *name, struct text *t)
{
    char buffer[4096];
    ssize_t k;
    u64 end = time_ns() + ANSWER_S * 1000000000ull;
    while ((k = recv(fd, buffer, sizeof buffer, 0)) > 0) {
        text_put(t, buffer, strnlen(buffer, (size_t)k));
        if (t->n <= ANSWER_MOST && time_ns() < end) continue;
        cli_error("@%s answers without end: left out", name);
        return false;
    }
    if (k < 0) cli_error("@%s does not answer: left out", name);
    return k == 0 && t->n;
}

/* Asks the ring behind an abstract name; false: it is gone, or nobody to believe. */
static bool ask(const char *name, char what, struct text *t)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    struct timeval limit = { .tv_sec = ANSWER_S };
    size_t n = strlen(name);
    if (n + 1 > sizeof a.sun_path) return false;
    memcpy(a.sun_path + 1, name, n);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit); /* of connect, too */
    char shown[sizeof a.sun_path];
    snprintf(shown, sizeof shown, "%s", name);
    make_plain(shown);
    bool ok = !connect(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)) &&
              is_ours(fd, shown) && send(fd, &what, 1, MSG_NOSIGNAL) == 1 && read_answer(fd, shown, t);
    close(fd);
    if (ok) make_plain(t->p);
    return ok;
}

int ring_status(struct ring_request *r)
{
    char start[64], line[512];
    struct text t = { 0 };
    struct error e = { 0 };
    u32 found = 0;
    int n = snprintf(start, sizeof start, "@" LK_RING_STATUS_NAME "%u/", (unsigned)getuid());
    FILE *f = fopen("/proc/net/unix", "r");
    if (!f) return cli_error("/proc/net/unix: %s", strerror(errno));
    if (r->json) text_add(&t, "[");
    while (fgets(line, sizeof line, f)) { /* the name is the last word of its line; rings' names have no spaces */
        char *name = strstr(line, start);
        struct text one = { 0 };
        unsigned flags = 0;
        /* a connection that somebody else has at this moment bears the name of the socket that listens */
        if (!name || sscanf(line, "%*s %*s %*s %x", &flags) != 1 || !(flags & LISTENS)) continue;
        name[strcspn(name, "\n")] = 0;
        if (ask(name + 1, r->json ? 'j' : 't', &one)) {
            long pid = strtol(name + n, NULL, 10);
            if (r->json)
                text_add(&t, "%s{\"process\":%ld,\"status\":%s}", found ? "," : "", pid, one.p);
            else
                text_add(&t, "%sprocess %ld, %s", found ? "\n" : "", pid, one.p);
            found++;
        }
        text_free(&one);
    }
    fclose(f);
    if (r->json) text_add(&t, "]\n");
    bool ok = true;
    if (r->json)
        ok = file_write(r->json, t.p, t.n, &e);
    else
        fputs(found ? t.p : "no process of this user has a ring that runs\n", stdout);
    text_free(&t);
    return ok ? EXIT_CLEAN : cli_error_value(&e);
}
