/* How a ring stands, for other processes: from its launch to its end a thread answers on a socket whose name is made of
 * the user, the process and the ring. The name is abstract: it is gone with the process, however that ends. */
#include "ring/ring.h"
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { NAMES = 100, ANSWER_MS = 1000 };

static bool is_same_user(int fd)
{
    struct ucred who;
    socklen_t size = sizeof who;
    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) && who.uid == getuid();
}

static void send_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t k = send(fd, p, n, MSG_NOSIGNAL);
        if (k <= 0) return;
        p += k;
        n -= (size_t)k;
    }
}

/* One question: a byte, 't' for text, 'j' for JSON. */
static void answer(lk_ring *r, int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    char what = 0;
    if (!is_same_user(fd) || poll(&p, 1, ANSWER_MS) != 1 || recv(fd, &what, 1, 0) != 1) return;
    char *text = what == 'j' ? lk_ring_json(r) : lk_ring_text(r);
    if (text) send_all(fd, text, strlen(text));
    lk_text_free(text);
}

static void *serve(void *self)
{
    lk_ring *r = self;
    for (;;) {
        int fd = accept4(r->status_socket, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) return NULL; /* shut down: ring_serve_end */
        struct timeval limit = { .tv_sec = 1 };
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        answer(r, fd);
        close(fd);
    }
}

void ring_serve_begin(lk_ring *r)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool bound = false;
    for (u32 k = 1; fd >= 0 && !bound && k < NAMES; k++) { /* rings of one name in one process have numbers */
        struct sockaddr_un a = { .sun_family = AF_UNIX };
        char number[8] = "";
        if (k > 1) snprintf(number, sizeof number, ".%u", k);
        int n = snprintf(a.sun_path + 1, sizeof a.sun_path - 1, LK_RING_STATUS_NAME "%u/%d/%.60s%s", (unsigned)getuid(),
                         (int)getpid(), r->name, number);
        bound = !bind(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n));
    }
    r->status_socket = fd;
    if (bound && !listen(fd, 8) && !pthread_create(&r->status_thread, NULL, serve, r)) {
        r->has_status = true;
        return;
    }
    if (fd >= 0) close(fd); /* a ring that cannot be asked from outside works all the same */
}

void ring_serve_end(lk_ring *r)
{
    if (!r->has_status) return;
    shutdown(r->status_socket, SHUT_RDWR);
    pthread_join(r->status_thread, NULL);
    close(r->status_socket);
    r->has_status = false;
}
