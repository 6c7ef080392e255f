/* Reads of the host's clock: the engine notes those that stand around a launch which nobody has waited for, and a
 * kernel's first launch between two of them (engine/cu_clock.c). Where the program calls a clock of libc, libstdc++ or
 * libgomp, the clock is read as ever, and the engine, if it is there, is told.
 *
 * A clock may be read anywhere, in a handler of signals or in an allocator: nothing is looked up here. */
#include "front/front.h"
#include <stddef.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

enum { CLOCK_GETTIME, GETTIMEOFDAY, CLOCK, TIME, TIMESPEC_GET, STEADY, SYSTEM, WTIME, CLOCKS };

static uintptr_t real[CLOCKS]; /* atomic: the clock itself, of the library that the loader has found; 0: not yet */

#define REAL(which, type) ((type)__atomic_load_n(&real[which], __ATOMIC_ACQUIRE))
/* __builtin_dwarf_cfa: the stack pointer of the caller after the return. */
#define NOTE(which) front_clock_note(which, __builtin_return_address(0), __builtin_dwarf_cfa())

static int own_clock_gettime(clockid_t clock, struct timespec *t)
{
    int r = REAL(CLOCK_GETTIME, int (*)(clockid_t, struct timespec *))(clock, t);
    NOTE(CLOCK_GETTIME | ((uint32_t)clock & 0xff) << 8); /* one of several clocks */
    return r;
}
static int own_gettimeofday(struct timeval *t, void *zone)
{
    int r = REAL(GETTIMEOFDAY, int (*)(struct timeval *, void *))(t, zone);
    NOTE(GETTIMEOFDAY);
    return r;
}
static clock_t own_clock(void)
{
    clock_t r = REAL(CLOCK, clock_t(*)(void))();
    NOTE(CLOCK);
    return r;
}
static time_t own_time(time_t *t)
{
    time_t r = REAL(TIME, time_t(*)(time_t *))(t);
    NOTE(TIME);
    return r;
}
static int own_timespec_get(struct timespec *t, int base)
{
    int r = REAL(TIMESPEC_GET, int (*)(struct timespec *, int))(t, base);
    NOTE(TIMESPEC_GET);
    return r;
}
static int64_t own_steady(void)
{
    int64_t r = REAL(STEADY, int64_t(*)(void))();
    NOTE(STEADY);
    return r;
}
static int64_t own_system(void)
{
    int64_t r = REAL(SYSTEM, int64_t(*)(void))();
    NOTE(SYSTEM);
    return r;
}
static double own_wtime(void)
{
    double r = REAL(WTIME, double (*)(void))();
    NOTE(WTIME);
    return r;
}

#define OWN(f) ((void (*)(void))(f))
static const struct {
    const char *name;
    void (*own)(void);
} watched[CLOCKS] = {
    [CLOCK_GETTIME] = { "clock_gettime", OWN(own_clock_gettime) },
    [GETTIMEOFDAY] = { "gettimeofday", OWN(own_gettimeofday) },
    [CLOCK] = { "clock", OWN(own_clock) },
    [TIME] = { "time", OWN(own_time) },
    [TIMESPEC_GET] = { "timespec_get", OWN(own_timespec_get) },
    [STEADY] = { "_ZNSt6chrono3_V212steady_clock3nowEv", OWN(own_steady) },
    [SYSTEM] = { "_ZNSt6chrono3_V212system_clock3nowEv", OWN(own_system) },
    [WTIME] = { "omp_get_wtime", OWN(own_wtime) },
};

static int number_of(const char *name)
{
    if (!strchr("cgto_", name[0])) return CLOCKS;
    int i = 0;
    while (i < CLOCKS && strcmp(name, watched[i].name)) i++;
    return i;
}

bool front_clock_is(const char *name) { return number_of(name) < CLOCKS; }

uintptr_t front_clock_of(const char *name, uintptr_t found)
{
    int i = number_of(name);
    if (i == CLOCKS) return 0;
    __atomic_store_n(&real[i], found, __ATOMIC_RELEASE);
    return (uintptr_t)watched[i].own;
}
