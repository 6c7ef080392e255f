/* Kernels are stopped before a signal ends the program. */
#include "engine/cu_interrupt.h"
#include "device/dev_work.h"
#include "driver/cu.h"
#include <signal.h>
#include <unistd.h>

enum { STEP_US = 500, KILLED_US = 1000000, AGAIN_NS = 2000000000 };

static int ends_by;   /* atomic: the signal; 0: none has come */
static u64 ends_from; /* atomic: since when, time_ns() */

static const struct device *device_at(u32 i)
{
    const lk_gpu *gpu = __atomic_load_n(&cu_process.device[i].gpu, __ATOMIC_ACQUIRE);
    return gpu && gpu->device->work ? gpu->device : NULL;
}

/* Read without the lock, which the thread that was interrupted may hold. */
static bool any_runs(void)
{
    bool any = false;
    for (u32 i = 0; i < cu_process.devices && !any; i++) {
        const struct device *d = device_at(i);
        any = d && (__atomic_load_n(&d->work->running, __ATOMIC_RELAXED) ||
                    __atomic_load_n(&d->work->held, __ATOMIC_RELAXED));
    }
    return any;
}

bool cu_interrupt_concerns(int number)
{
    static const int by_somebody[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM };
    bool is = false;
    for (u32 i = 0; i < COUNT_OF(by_somebody); i++) is |= number == by_somebody[i];
    return is && any_runs();
}

/* Asked for again and again: the wish ends with the last launch that has seen it, and another one may begin then. */
bool cu_interrupt_launches(u32 ms)
{
    for (u32 us = 0; us < ms * 1000 && any_runs(); us += STEP_US) {
        for (u32 i = 0; i < cu_process.devices; i++) {
            lk_gpu *gpu = __atomic_load_n(&cu_process.device[i].gpu, __ATOMIC_ACQUIRE);
            if (gpu) __atomic_store_n(&gpu->device->interrupt, 1, __ATOMIC_RELAXED);
        }
        thread_sleep_us(STEP_US);
    }
    return !any_runs();
}

void cu_interrupt_begin(int number)
{
    __atomic_store_n(&ends_from, time_ns(), __ATOMIC_RELAXED);
    __atomic_store_n(&ends_by, number, __ATOMIC_RELEASE);
}

bool cu_interrupt_goes_on(void)
{
    return __atomic_load_n(&ends_by, __ATOMIC_ACQUIRE) &&
           time_ns() - __atomic_load_n(&ends_from, __ATOMIC_RELAXED) < AGAIN_NS;
}

void cu_interrupt_end(void)
{
    int number = __atomic_load_n(&ends_by, __ATOMIC_ACQUIRE);
    struct sigaction none = { .sa_handler = SIG_DFL };
    if (!number) return;
    sigaction(number, &none, NULL);
    kill(process_id(), number);
    thread_sleep_us(KILLED_US);
    _exit(128 + number); /* every thread blocks it */
}

void cu_interrupt_returns(void)
{
    while (unlikely(__atomic_load_n(&ends_by, __ATOMIC_RELAXED))) pause();
}
