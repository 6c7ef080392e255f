/* Clocks, power and temperature of the GPU, as its own NVML says. The library is opened by absolute path, beside the
 * driver's: libnvidia-ml.so.1 by its bare name may be Lockstep's own. Without it times stand without a clock. */
#include "bench/bench_worker.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

enum { NVML_SM = 1, NVML_MEMORY = 2 };
/* Reasons that do not slow it down: the GPU idles, or runs at the clock it was set to. */
enum { NVML_IDLE = 1, NVML_SETTING = 2 };

struct nvml {
    void *device;
    int (*clock)(void *device, int which, unsigned *mhz);
    int (*power)(void *device, unsigned *mw);
    int (*temperature)(void *device, int sensor, unsigned *celsius);
    int (*reasons)(void *device, unsigned long long *bits);
};

static const char *const paths[] = {
#if defined __x86_64__
    "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
#elif defined __aarch64__
    "/usr/lib/aarch64-linux-gnu/libnvidia-ml.so.1",
#endif
    "/usr/lib64/libnvidia-ml.so.1",
    "/usr/lib/libnvidia-ml.so.1",
    "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
    "/usr/lib/wsl/lib/libnvidia-ml.so.1",
    "/run/opengl-driver/lib/libnvidia-ml.so.1",
};

static void find(void *library, const char *name, void *to)
{
    void *f = dlsym(library, name);
    memcpy(to, &f, sizeof f);
}

static bool nvml_open(u32 gpu, struct nvml *n)
{
    const char *given = getenv("LOCKSTEP_LIBNVML");
    void *library = given && given[0] ? dlopen(given, RTLD_NOW | RTLD_LOCAL) : NULL;
    for (u32 i = 0; !library && !(given && given[0]) && i < COUNT_OF(paths); i++)
        if (!access(paths[i], R_OK)) library = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    int (*init)(void), (*handle)(unsigned i, void **device);
    find(library, "nvmlInit_v2", &init);
    find(library, "nvmlDeviceGetHandleByIndex_v2", &handle);
    find(library, "nvmlDeviceGetClockInfo", &n->clock);
    find(library, "nvmlDeviceGetPowerUsage", &n->power);
    find(library, "nvmlDeviceGetTemperature", &n->temperature);
    find(library, "nvmlDeviceGetCurrentClocksEventReasons", &n->reasons);
    if (!n->reasons) find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", &n->reasons);
    return init && handle && n->clock && !init() && !handle(gpu, &n->device);
}

bool nvml_read(u32 gpu, struct bench_clock *out)
{
    static struct nvml n;
    static int state; /* 0: not asked, 1: there, 2: not */
    unsigned x = 0;
    unsigned long long bits = 0;
    if (!state) state = nvml_open(gpu, &n) ? 1 : 2;
    if (state == 2) return false;
    if (!n.clock(n.device, NVML_SM, &x)) out->sm_mhz = x;
    if (!n.clock(n.device, NVML_MEMORY, &x)) out->memory_mhz = x;
    if (n.power && !n.power(n.device, &x)) out->power_mw = x;
    if (n.temperature && !n.temperature(n.device, 0, &x)) out->celsius = x;
    if (n.reasons && !n.reasons(n.device, &bits)) out->throttle = bits & ~(u64)(NVML_IDLE | NVML_SETTING);
    return true;
}
