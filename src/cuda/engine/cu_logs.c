/* cu_logs.c: the error log of the driver: cuLogsRegisterCallback and its kin, and CUDA_LOG_FILE.
 *
 * A call that fails makes a message of why, where that is known, and one of what it returned. The last 100 are kept, as
 * the Programming Guide tells of the driver, each a line of at most 255 characters, so that all of them fit into the
 * 25600 bytes that cuda.h names. A callback gets the message alone; dumps and CUDA_LOG_FILE have
 * "[time][thread][CUDA][E] " in front of it. An iterator is the number of messages that came before. */
#include "engine/cu_logs.h"
#include "driver/cu_reason.h"
#include "engine/gate_log.h"
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { KEPT = 100, LINE = 256, CU_LOG_ERROR = 0 };
typedef void log_callback(void *data, int level, char *message, size_t length);

struct listener { /* a callback of the program, which is its handle */
    log_callback *function;
    void *data;
    u32 busy;  /* calls of it that have not returned */
    bool gone; /* unregistered: it is called no more */
    struct listener *next;
};
static struct {
    lock_t lock;
    pthread_cond_t idle; /* a call of a callback has returned */
    struct listener *first;
    char line[KEPT][LINE]; /* message n is in n % KEPT, with its prefix */
    u32 n;                 /* messages that ever came */
    FILE *file;            /* of CUDA_LOG_FILE; NULL: none */
    bool asked;            /* CUDA_LOG_FILE was looked at */
} logs = { .lock = LOCK_INIT, .idle = PTHREAD_COND_INITIALIZER };
static _Thread_local struct listener *calling; /* the callback that the thread is in */

/* ---- messages ---- */

/* Under the lock. */
static void file_open(void)
{
    const char *path = logs.asked ? NULL : getenv("CUDA_LOG_FILE");
    logs.asked = true;
    if (!path || !*path) return;
    logs.file = !strcmp(path, "stdout") ? stdout : !strcmp(path, "stderr") ? stderr : fopen(path, "we");
    if (!logs.file) fprintf(stderr, "lockstep: CUDA_LOG_FILE: %s cannot be written\n", path);
}

static void line_add(const char *message)
{
    struct timespec now;
    struct tm day;
    char *line = logs.line[logs.n++ % KEPT];
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &day);
    int n = snprintf(line, LINE, "[%02d:%02d:%02d.%03d][%d][CUDA][E] ", day.tm_hour, day.tm_min, day.tm_sec,
                     (int)(now.tv_nsec / 1000000), (int)syscall(SYS_gettid));
    snprintf(line + n, LINE - (size_t)n, "%s", message);
    file_open();
    if (!logs.file) return;
    fprintf(logs.file, "%s\n", line);
    fflush(logs.file);
}

/* The next callback after `at` (NULL: the first) that is to be called, which stays until listener_leave. */
static struct listener *listener_enter(const struct listener *at)
{
    struct listener *l = at ? at->next : logs.first;
    while (l && l->gone) l = l->next;
    if (l) l->busy++;
    return l;
}

/* Takes out those that nobody is in. */
static void listeners_sweep(void)
{
    for (struct listener **at = &logs.first; *at;) {
        struct listener *l = *at;
        if (l->gone && !l->busy) {
            *at = l->next;
            base_free(l);
        } else {
            at = &l->next;
        }
    }
}

/* A call that a callback makes is written down, and calls nobody: it would call itself. */
static void message_add(const char *text)
{
    char message[LINE];
    lock(&logs.lock);
    line_add(text);
    for (struct listener *l = calling ? NULL : listener_enter(NULL); l;) {
        calling = l;
        unlock(&logs.lock);
        snprintf(message, sizeof message, "%s", text);
        l->function(l->data, CU_LOG_ERROR, message, strlen(message));
        lock(&logs.lock);
        struct listener *next = listener_enter(l);
        l->busy--;
        calling = NULL;
        pthread_cond_broadcast(&logs.idle);
        l = next;
    }
    listeners_sweep();
    unlock(&logs.lock);
}

void cu_logs_failed(const struct cu_call *c)
{
    char text[LINE];
    const struct cu_why *why = cu_reason_now();
    if (why && why->cause[0]) message_add(why->cause);
    snprintf(text, sizeof text, "Returning %d (%s) from %s", (int)c->result, cu_result_name(c), cu_call_name(c));
    message_add(text);
}

/* ---- callbacks ---- */

CU_API(cuLogsRegisterCallback)(log_callback *function, void *data, struct listener **out)
{
    if (!function || (out && !cu_ok(out))) return CU_INVALID_VALUE;
    struct listener *l = base_alloc(sizeof *l);
    if (!l) return CU_OUT_OF_MEMORY;
    *l = (struct listener){ .function = function, .data = data };
    lock(&logs.lock);
    struct listener **end = &logs.first;
    while (*end) end = &(*end)->next;
    *end = l;
    unlock(&logs.lock);
    if (out) *out = l;
    return CU_OK;
}

/* When this returns, the callback runs in no other thread: its data may be freed. */
CU_API(cuLogsUnregisterCallback)(struct listener *callback)
{
    lock(&logs.lock);
    struct listener *l = logs.first;
    while (l && (l != callback || l->gone)) l = l->next;
    if (l) {
        l->gone = true;
        l->busy++; /* it stays until it has been waited for */
        while (l->busy > 1u + (calling == l)) pthread_cond_wait(&logs.idle, &logs.lock);
        l->busy--;
        listeners_sweep();
    }
    unlock(&logs.lock);
    return l ? CU_OK : CU_INVALID_VALUE;
}

/* ---- dumps ---- */

CU_API(cuLogsCurrent)(u32 *out, u32 flags)
{
    if (!cu_ok(out) || flags) return CU_INVALID_VALUE;
    lock(&logs.lock);
    *out = logs.n;
    unlock(&logs.lock);
    return CU_OK;
}

/* Where a dump begins, under the lock: NULL: at the oldest message that is kept. lost: messages before that. */
static u32 dump_begin(const u32 *iterator, u32 *lost)
{
    u32 oldest = logs.n > KEPT ? logs.n - KEPT : 0, from = iterator ? MIN_OF(*iterator, logs.n) : 0;
    *lost = from < oldest ? oldest - from : 0;
    return from + *lost;
}

static void lost_text(u32 lost, char *out, size_t size)
{
    snprintf(out, size, lost ? "%u older message%s left out\n" : "%.0u%.0s", lost, lost == 1 ? " is" : "s are");
}

CU_API(cuLogsDumpToFile)(u32 *iterator, const char *path, u32 flags)
{
    char text[64];
    u32 lost;
    if ((iterator && !cu_ok(iterator)) || !cu_ok(path) || flags) return CU_INVALID_VALUE;
    FILE *f = fopen(path, "we");
    if (!f) {
        cu_reason("The file of cuLogsDumpToFile cannot be written.", NULL, false);
        return CU_INVALID_VALUE;
    }
    lock(&logs.lock);
    u32 from = dump_begin(iterator, &lost);
    lost_text(lost, text, sizeof text);
    fputs(text, f);
    for (u32 i = from; i < logs.n; i++) fprintf(f, "%s\n", logs.line[i % KEPT]);
    if (iterator) *iterator = logs.n;
    unlock(&logs.lock);
    return fclose(f) ? CU_INVALID_VALUE : CU_OK;
}

/* The newest messages that fit, after a line that tells how many do not. */
CU_API(cuLogsDumpToMemory)(u32 *iterator, char *buffer, size_t *size, u32 flags)
{
    char text[64];
    u32 lost;
    size_t room, used = 0;
    if ((iterator && !cu_ok(iterator)) || !cu_ok(size) || flags) return CU_INVALID_VALUE;
    if (!cu_ok(buffer) || !*size) {
        cu_reason("buffer cannot be NULL", NULL, false);
        return CU_INVALID_VALUE;
    }
    lock(&logs.lock);
    room = *size - 1;
    u32 from = dump_begin(iterator, &lost), first = logs.n;
    lost_text(lost, text, sizeof text);
    for (; first > from; first--) {
        size_t n = strlen(logs.line[(first - 1) % KEPT]) + 1;
        if (used + n > room) break;
        used += n;
    }
    for (;; first++) { /* until there is room for the line in front, too */
        lost_text(lost + first - from, text, sizeof text);
        if (first == logs.n || strlen(text) + used <= room) break;
        used -= strlen(logs.line[first % KEPT]) + 1;
    }
    bool none = first == logs.n && from < logs.n;
    *size = !none && first < logs.n ? strlen(text) + used : 0;
    buffer[0] = 0;
    if (*size) {
        char *at = buffer + snprintf(buffer, room + 1, "%s", text);
        for (u32 i = first; i < logs.n; i++) at += sprintf(at, "%s\n", logs.line[i % KEPT]);
    }
    if (iterator && !none) *iterator = logs.n;
    unlock(&logs.lock);
    return none ? CU_INVALID_VALUE : CU_OK;
}
