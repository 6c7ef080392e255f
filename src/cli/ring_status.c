/* lockstep ring --status without a file: the rings of all processes of this user, as they stand. */
#include "cli/ring_command.h"
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Asks the ring behind an abstract name; false: it is gone. */
static bool ask(const char *name, char what, struct text *t)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    struct timeval limit = { .tv_sec = 2 };
    size_t n = strlen(name);
    char buffer[4096];
    ssize_t k = -1;
    if (n + 1 > sizeof a.sun_path) return false;
    memcpy(a.sun_path + 1, name, n);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    u32 before = t->n;
    if (!connect(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)) &&
        send(fd, &what, 1, MSG_NOSIGNAL) == 1)
        while ((k = recv(fd, buffer, sizeof buffer, 0)) > 0) text_add(t, "%.*s", (int)k, buffer);
    close(fd);
    return k == 0 && t->n > before;
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
        if (!name) continue;
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
