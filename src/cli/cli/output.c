/* How the command prints: whatever a verb gives to stdout or stderr goes through here, and no text of others controls
 * the terminal. Names, files, lines of source, fields of journals and recordings may hold any bytes; those that a
 * terminal would obey are spelled out (base/printable.h), by the streams themselves, so that no verb can forget it.
 * What has colours of Lockstep's own, around parts that were made printable before, goes by cli_put, which lets just
 * these through. What kernels print is the program's, and files that are written to standard output are their readers':
 * both go past the streams, as they are. */
#define _GNU_SOURCE
#include "base/printable.h"
#include "cli/cli.h"
#include <unistd.h>

static struct output_stream {
    int fd;
    char part[8]; /* of a character whose other bytes are still to come */
    u32 parts;
} streams[2] = { { .fd = STDOUT_FILENO }, { .fd = STDERR_FILENO } };

/* How many bytes at the end are a character that is not whole yet. */
static size_t unfinished(const char *p, size_t n)
{
    u32 c;
    for (size_t k = 1; k < 4 && k <= n; k++) {
        u8 lead = (u8)p[n - k];
        if (lead < 0x80) return 0;
        if (lead < 0xc0) continue;
        bool fits = k < (lead < 0xe0 ? 2u : lead < 0xf0 ? 3u : 4u);
        return fits && lead < 0xf5 && !utf8_read(p + n - k, k, &c) ? k : 0;
    }
    return 0;
}

/* The length of a control of Lockstep's own at p: a colour, or what takes a line of progress away; 0: it is not one. */
static u32 control_of_ours(const char *p, size_t n)
{
    static const char *const list[] = { "\x1b[1;31m", "\x1b[1;36m", "\x1b[1m", "\x1b[1;34m",
                                        "\x1b[33m",   "\x1b[0m",    "\x1b[K",  "\r" };
    for (u32 i = 0; i < COUNT_OF(list) && (*p == '\r' || *p == '\x1b'); i++)
        if (n >= strlen(list[i]) && !memcmp(p, list[i], strlen(list[i]))) return (u32)strlen(list[i]);
    return 0;
}

/* Writes without asking for memory: that there is none may be what is printed. */
static bool put_shown(int fd, const char *p, size_t n, bool ours)
{
    char piece[4096];
    size_t at = 0;
    for (u32 used; n; p += used, n -= used) {
        if (at + SHOWN_MOST > sizeof piece) {
            if (!file_put(fd, piece, at)) return false;
            at = 0;
        }
        used = ours ? control_of_ours(p, n) : 0;
        if (used) {
            memcpy(piece + at, p, used);
            at += used;
        } else {
            at += char_shown(p, n, piece + at, &used);
        }
    }
    return file_put(fd, piece, at);
}

static ssize_t stream_write(void *self, const char *p, size_t n)
{
    struct output_stream *s = self;
    size_t taken = 0;
    if (s->fd == STDOUT_FILENO) fflush(program_output);
    while (s->parts && taken < n) { /* one byte more of what has begun, until it is whole or cannot become so */
        s->part[s->parts++] = p[taken++];
        if (unfinished(s->part, s->parts) == s->parts) continue;
        if (!put_shown(s->fd, s->part, s->parts, false)) return 0;
        s->parts = 0;
    }
    size_t later = s->parts ? 0 : unfinished(p + taken, n - taken);
    if (!put_shown(s->fd, p + taken, n - taken - later, false)) return 0;
    if (later) memcpy(s->part, p + n - later, later);
    if (later) s->parts = (u32)later;
    return (ssize_t)n;
}

void cli_streams(void)
{
    static const cookie_io_functions_t calls = { .write = stream_write };
    FILE *out = fopencookie(&streams[0], "w", calls), *err = fopencookie(&streams[1], "w", calls);
    if (!out || !err) base_exhausted(BUFSIZ, "standard streams");
    setvbuf(out, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
    setvbuf(err, NULL, _IONBF, 0);
    program_output = stdout;
    stdout = out;
    stderr = err;
}

static bool lost;

void cli_put(FILE *f, const char *p, size_t n)
{
    if (!memchr(p, '\x1b', n) && !memchr(p, '\r', n)) { /* nothing of ours is in it */
        fwrite(p, 1, n, f);
        return;
    }
    fflush(f);
    if (!put_shown(f == stderr ? STDERR_FILENO : STDOUT_FILENO, p, n, true) && f == stdout) lost = true;
}

bool cli_printed(void)
{
    return !fflush(stdout) && !ferror(stdout) && !fflush(program_output) && !ferror(program_output) && !lost;
}
