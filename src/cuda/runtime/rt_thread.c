/* What a thread has: the device that it chose, and the last error that it was not told of. */
#include "runtime/rt_check.h"
#include "driver/cu_engine.h"
#include "driver/cu_image.h"
#include "runtime/rt.h"

static const char *const name[] = {
#define RT(symbol, first, last, variant, returns, parameters, ...) #symbol,
#include "abi/cudart.def"
};

/* Called by the stub of a function, which its variant for the thread's stream has, too. */
__attribute__((visibility("hidden"))) cu_result rt_refuse(u32 row);
cu_result rt_refuse(u32 row)
{
    cu_refused_call(name[row]);
    return rt_done(CU_NOT_SUPPORTED);
}

static int preferred; /* the device of threads that have chosen none */
static _Thread_local struct {
    bool chosen; /* device says which */
    int device;
    cu_result last;
} mine;

void rt_device_prefer(int device) { preferred = device; }

cu_result rt_done(cu_result r)
{
    if (r && r != CU_NOT_READY) mine.last = r; /* not ready is an answer */
    return r;
}

cu_result rt_ready(void) { return cu_begin() ? lkcu_cuInit(0) : CU_OK; }

/* A context that the program made current with the driver's interface is used as it is. */
cu_result rt_enter(struct cu_context **c)
{
    cu_result r = rt_ready();
    if (r) return r;
    struct cu_context *now = cu_context_top();
    if (!now || !cu_context_lives(now)) {
        struct cu_device *d = cu_device_at(mine.chosen ? mine.device : preferred);
        if (!d) return CU_INVALID_DEVICE;
        r = cu_context_retain(d, &now);
        if (r && cu_sticky(d->gpu)) return CU_DEVICE_UNAVAILABLE; /* after cudaDeviceReset; the driver says which */
        if (r || (r = lkcu_cuCtxSetCurrent(now))) return r;
        static bool began;
        if (!__atomic_exchange_n(&began, true, __ATOMIC_RELAXED) && cu_loading() == CU_EAGER) rt_load_all();
    }
    if (c) *c = now;
    return CU_OK;
}

RT_API(cudaGetLastError)(void)
{
    cu_result r = mine.last; /* an error of a kernel, which stays, is also told once */
    mine.last = CU_OK;
    cu_engine->cu_asked(CU_LAST_ERROR);
    return r;
}
RT_API(cudaPeekAtLastError)(void)
{
    cu_engine->cu_asked(CU_LAST_ERROR);
    return mine.last;
}

RT_DEFINE(cudaSetDevice, int, device)
{
    struct cu_context *c;
    mine.device = device;
    mine.chosen = true;
    cu_result r = cu_context_retain(here.device, &c);
    return r ? r : lkcu_cuCtxSetCurrent(c);
}
RT_DEFINE(cudaInitDevice, int, device, unsigned, flags, unsigned, kind) { return CU_OK; }

RT_DEFINE(cudaGetDevice, int *, device)
{
    *device = (int)here.context->device->ordinal;
    return CU_OK;
}

RT_DEFINE(cudaGetDeviceCount, int *, count)
{
    cu_result r = rt_ready();
    *count = (int)cu_process.devices;
    return r;
}

/* ---- errors by number ---- */

static bool error_find(int number, lk_cuda_error *out)
{
    for (u32 i = 0; lk_cuda_error_at(i, out); i++)
        if ((int)out->number == number && (out->runtime[0] || !number)) return true;
    return false;
}

const char *rt_error_name(int error)
{
    static lock_t guard = LOCK_INIT;
    static char made[1000][64];
    lk_cuda_error x;
    if (error < 0 || error >= 1000 || !error_find(error, &x)) return "unrecognized error code";
    lock(&guard);
    if (!made[error][0]) snprintf(made[error], sizeof made[error], error ? "cudaError%s" : "cudaSuccess", x.runtime);
    unlock(&guard);
    return made[error];
}

__attribute__((visibility("default"))) const char *lkrt_cudaGetErrorName(int error);
const char *lkrt_cudaGetErrorName(int error)
{
    cu_engine->cu_asked(error);
    return rt_error_name(error);
}

__attribute__((visibility("default"))) const char *lkrt_cudaGetErrorString(int error);
const char *lkrt_cudaGetErrorString(int error)
{
    lk_cuda_error x;
    const char *text = NULL, *words = cu_error_words(error);
    cu_engine->cu_asked(error);
    if (error < 0 || error >= 1000 || !error_find(error, &x)) return "unrecognized error code";
    if (!lkcu_cuGetErrorString(error, &text) && text) return text;
    return words ? words : x.meaning;
}
