/* unit.h: the whole test framework of the C unit tests. Each test file is a program: it calls UNIT(...) as it goes
 * and ends with `return unit_done();`, which prints "N passed, N failed" and is non-zero when something failed or
 * nothing ran. */
#ifndef LOCKSTEP_UNIT_H
#define LOCKSTEP_UNIT_H
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sanitizers need address space of their own, so limits on it cannot be tested under them. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define UNIT_SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNIT_SANITIZED 1
#endif
#endif

static _Atomic unsigned unit_passed, unit_failed;

#define UNIT(cond) unit_check(!!(cond), __FILE__, __LINE__, #cond)
#define UNIT_EQ(a, b) unit_eq((uint64_t)(a), (uint64_t)(b), __FILE__, __LINE__, #a " == " #b)
#define UNIT_EQ_STR(a, b) unit_eq_str((a), (b), __FILE__, __LINE__, #a)
#define UNIT_HAS(text, part) unit_has((text), (part), __FILE__, __LINE__, #text)

static inline int unit_check(int ok, const char *file, int line, const char *what)
{
    if (ok) {
        unit_passed++;
    } else {
        unit_failed++;
        fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
    }
    return ok;
}

static inline int unit_eq(uint64_t a, uint64_t b, const char *file, int line, const char *what)
{
    if (!unit_check(a == b, file, line, what)) {
        fprintf(stderr, "  left  %" PRIu64 " (0x%" PRIx64 ")\n  right %" PRIu64 " (0x%" PRIx64 ")\n", a, a, b, b);
        return 0;
    }
    return 1;
}

static inline int unit_eq_str(const char *a, const char *b, const char *file, int line, const char *what)
{
    int ok = a && b ? !strcmp(a, b) : a == b;
    if (!unit_check(ok, file, line, what))
        fprintf(stderr, "  is        \"%s\"\n  should be \"%s\"\n", a ? a : "(null)", b ? b : "(null)");
    return ok;
}

/* `part` occurs in `text`; a failure prints the text. */
static inline int unit_has(const char *text, const char *part, const char *file, int line, const char *what)
{
    int ok = text && strstr(text, part);
    if (!unit_check(ok, file, line, what)) fprintf(stderr, "  lacks \"%s\"\n  in:\n%s\n", part, text ? text : "(null)");
    return ok;
}

/* Says what is not tested here, and why: tests/run counts it and lists it. */
static inline void unit_skip(const char *what)
{
    const char *path = getenv("SKIPPED");
    FILE *f = path ? fopen(path, "a") : NULL;
    fprintf(f ? f : stdout, "%s%s\n", f ? "" : "skipped: ", what);
    if (f) fclose(f);
}

static inline int unit_done(void)
{
    printf("%u passed, %u failed\n", unit_passed, unit_failed);
    return unit_failed || !unit_passed;
}
#endif
