/* Errors as values, the line and caret that go with them, and the end of the process when the bug is ours. */
#include "base/printable.h"
#include <stdlib.h>

_Noreturn void base_bug(const char *file, int line, const char *what)
{
    fprintf(stderr,
            "lockstep: internal error at %s:%d: `%s` does not hold. This is a bug in Lockstep, please report it.\n",
            file, line, what);
    abort();
}

static bool record(struct error *e, enum error_code code, const char *fmt, va_list ap)
{
    e->code = code;
    e->where[0] = e->excerpt[0] = 0;
    vsnprintf(e->text, sizeof e->text, fmt, ap);
    shown_in_place(e->text, sizeof e->text);
    return false;
}

bool error_set(struct error *e, enum error_code code, const char *fmt, ...)
{
    if (!e || e->code != ERR_NONE) return false;
    va_list ap;
    va_start(ap, fmt);
    record(e, code, fmt, ap);
    va_end(ap);
    return false;
}

/* The line around `at` and a caret below. A long line is cut to a window around the caret, so that both lines fit in
 * the excerpt; tabs are kept in front of the caret so that it stands right on any terminal; other control bytes and
 * bytes above 126 become '?'. */
static void excerpt(struct error *e, struct str all, const char *at)
{
    enum { WIDEST = 160, BEFORE = 80 };
    const char *end = all.p + all.n, *from = at, *to = at;
    while (from > all.p && from[-1] != '\n') from--;
    while (to < end && *to != '\n') to++;
    if (at - from > BEFORE && to - from > WIDEST) from = at - BEFORE;
    if (to - from > WIDEST) to = from + WIDEST;
    char *o = e->excerpt;
    for (const char *p = from; p < to; p++)
        if (*p != '\r') *o++ = *p == '\t' || (*p >= 32 && *p < 127) ? *p : '?';
    *o++ = '\n';
    for (const char *p = from; p < at && p < to; p++) *o++ = *p == '\t' ? '\t' : ' ';
    *o++ = '^';
    *o = 0;
}

bool error_at(struct error *e, enum error_code code, const char *file, struct str all, const char *at, const char *fmt,
              ...)
{
    va_list ap;
    va_start(ap, fmt);
    error_at_list(e, code, file, all, at, fmt, ap);
    va_end(ap);
    return false;
}

bool error_at_list(struct error *e, enum error_code code, const char *file, struct str all, const char *at,
                   const char *fmt, va_list ap)
{
    if (!e || e->code != ERR_NONE) return false;
    record(e, code, fmt, ap);
    if (!at || at < all.p || at > all.p + all.n) {
        snprintf(e->where, sizeof e->where, "%s", file ? file : "");
        shown_in_place(e->where, sizeof e->where);
        return false;
    }
    u32 line = 1, col = 1;
    for (const char *p = all.p; p < at; p++) {
        col++;
        if (*p == '\n') {
            line++;
            col = 1;
        }
    }
    /* a path too long for `where` loses its front, never its line */
    const char *shown = file ? file : "input";
    size_t n = strlen(shown), most = sizeof e->where - 24;
    char name[sizeof e->where];
    snprintf(name, sizeof name, "%s", n > most ? shown + (n - most) : shown);
    shown_in_place(name, most);
    snprintf(e->where, sizeof e->where, "%.*s:%u:%u", (int)most, name, line, col);
    excerpt(e, all, at);
    return false;
}

void error_print(FILE *f, const struct error *e)
{
    fprintf(f, "lockstep: %s%s%s\n", e->where, e->where[0] ? ": " : "", e->text);
    const char *nl = e->excerpt[0] ? strchr(e->excerpt, '\n') : NULL;
    if (nl) fprintf(f, "    %.*s\n", (int)(nl - e->excerpt), e->excerpt);
    if (nl && nl[1]) fprintf(f, "    %s\n", nl + 1);
}
