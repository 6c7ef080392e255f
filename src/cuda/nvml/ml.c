/* libnvidia-ml.so.1: what frameworks and monitors ask about the cards of the machine. All cards are there, whatever
 * CUDA_VISIBLE_DEVICES says, as with NVIDIA's. A software GPU has no temperature, power or fan, and says so
 * (NVML_ERROR_NOT_SUPPORTED). ml.def lists the exports. */
#include "abi/ml_abi.h"
#include "driver/cu.h"
#include "card/card.h"
#include <unistd.h>

typedef int ml_result;
enum ml_error { /* nvmlReturn_t */
                ML_OK = 0,
                ML_UNINITIALIZED = 1,
                ML_INVALID_ARGUMENT = 2,
                ML_NOT_SUPPORTED = 3,
                ML_NOT_FOUND = 6,
                ML_INSUFFICIENT_SIZE = 7,
                ML_VERSION_MISMATCH = 25
};
#define ML_API(symbol) __attribute__((visibility("default"))) ml_result lkml_##symbol

struct ml_device { /* nvmlDevice_t points to one */
    u32 index;
    const struct card *card;
};
static struct {
    lock_t lock;
    u32 started; /* nvmlInit without nvmlShutdown */
    struct ml_device device[CU_DEVICES];
    u32 devices;
} ml = { .lock = LOCK_INIT };

/* ---- beginning and end ---- */

ML_API(nvmlInit_v2)(void)
{
    const struct card *card[CU_DEVICES];
    lock(&ml.lock);
    if (!ml.devices) {
        u32 n = cu_cards(card);
        for (u32 i = 0; i < n; i++) ml.device[i] = (struct ml_device){ i, card[i] };
        ml.devices = n;
    }
    ml.started++;
    unlock(&ml.lock);
    return ML_OK;
}
ML_API(nvmlInit)(void) { return lkml_nvmlInit_v2(); }
ML_API(nvmlInitWithFlags)(unsigned flags) { return (void)flags, lkml_nvmlInit_v2(); }
ML_API(nvmlShutdown)(void)
{
    lock(&ml.lock);
    ml_result r = ml.started ? ML_OK : ML_UNINITIALIZED;
    if (ml.started) ml.started--;
    unlock(&ml.lock);
    return r;
}

static ml_result begin(void) { return __atomic_load_n(&ml.started, __ATOMIC_ACQUIRE) ? ML_OK : ML_UNINITIALIZED; }

/* The beginning of every question about a device; `out` is where the answer goes. */
static ml_result enter(const struct ml_device *d, const void *out, size_t bytes)
{
    ml_result r = begin();
    if (r) return r;
    bool is = d >= ml.device && d < ml.device + ml.devices && d == &ml.device[d - ml.device];
    return is && bytes_readable(out, bytes) ? ML_OK : ML_INVALID_ARGUMENT;
}
#define ENTER(out)                              \
    ml_result r = enter(d, out, sizeof *(out)); \
    if (r) return r

__attribute__((visibility("default"))) const char *lkml_nvmlErrorString(ml_result r);
const char *lkml_nvmlErrorString(ml_result r)
{
    static const char *const words[] = { "Success",
                                         "Uninitialized",
                                         "Invalid Argument",
                                         "Not Supported",
                                         "Insufficient Permissions",
                                         "Already Initialized",
                                         "Not Found",
                                         "Insufficient Size",
                                         "Insufficient External Power",
                                         "Driver Not Loaded",
                                         "Timeout",
                                         "Interrupt Request Issue",
                                         "NVML Shared Library Not Found",
                                         "Function Not Found",
                                         "Corrupted infoROM",
                                         "GPU is lost",
                                         "GPU requires reset",
                                         "GPU access blocked by the operating system" };
    if (r == ML_VERSION_MISMATCH) return "Argument version mismatch";
    return r >= 0 && (u32)r < COUNT_OF(words) ? words[r] : "Unknown Error";
}

static ml_result text_out(char *out, unsigned size, const char *text)
{
    if (!size || !bytes_readable(out, size)) return ML_INVALID_ARGUMENT;
    if (strlen(text) + 1 > size) return ML_INSUFFICIENT_SIZE;
    memcpy(out, text, strlen(text) + 1);
    return ML_OK;
}

/* ---- the system ---- */

#define DRIVER_VERSION "580.65.06" /* the first driver of CUDA 13.0 */
ML_API(nvmlSystemGetDriverVersion)(char *out, unsigned size)
{
    ml_result r = begin();
    return r ? r : text_out(out, size, DRIVER_VERSION);
}
ML_API(nvmlSystemGetNVMLVersion)(char *out, unsigned size)
{
    ml_result r = begin();
    return r ? r : text_out(out, size, "13." DRIVER_VERSION);
}
ML_API(nvmlSystemGetCudaDriverVersion)(int *version)
{
    if (!cu_ok(version)) return ML_INVALID_ARGUMENT;
    *version = CU_VERSION;
    return ML_OK;
}
ML_API(nvmlSystemGetCudaDriverVersion_v2)(int *version) { return lkml_nvmlSystemGetCudaDriverVersion(version); }
ML_API(nvmlUnitGetCount)(unsigned *count)
{
    ml_result r = begin();
    if (r) return r;
    if (!cu_ok(count)) return ML_INVALID_ARGUMENT;
    *count = 0;
    return ML_OK;
}

/* ---- handles ---- */

ML_API(nvmlDeviceGetCount_v2)(unsigned *count)
{
    ml_result r = begin();
    if (r) return r;
    if (!cu_ok(count)) return ML_INVALID_ARGUMENT;
    *count = ml.devices;
    return ML_OK;
}
ML_API(nvmlDeviceGetCount)(unsigned *count) { return lkml_nvmlDeviceGetCount_v2(count); }

ML_API(nvmlDeviceGetHandleByIndex_v2)(unsigned index, struct ml_device **out)
{
    ml_result r = begin();
    if (r) return r;
    if (index >= ml.devices || !cu_ok(out)) return ML_INVALID_ARGUMENT;
    *out = &ml.device[index];
    return ML_OK;
}
ML_API(nvmlDeviceGetHandleByIndex)(unsigned index, struct ml_device **out)
{
    return lkml_nvmlDeviceGetHandleByIndex_v2(index, out);
}

static void uuid_text(const struct ml_device *d, char out[48]) { cu_card_uuid_text(d->index, d->card, out); }
ML_API(nvmlDeviceGetHandleByUUID)(const char *uuid, struct ml_device **out)
{
    char text[48];
    ml_result r = begin();
    if (r) return r;
    if (!cu_ok(uuid) || !cu_ok(out)) return ML_INVALID_ARGUMENT;
    for (u32 i = 0; i < ml.devices; i++) {
        uuid_text(&ml.device[i], text);
        if (strcmp(text, uuid)) continue;
        *out = &ml.device[i];
        return ML_OK;
    }
    return ML_NOT_FOUND;
}
ML_API(nvmlDeviceGetHandleByPciBusId_v2)(const char *id, struct ml_device **out)
{
    unsigned domain = 0, bus = 0, slot = 0, function = 0;
    ml_result r = begin();
    if (r) return r;
    if (!cu_ok(id) || !cu_ok(out)) return ML_INVALID_ARGUMENT;
    if (sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3 &&
        (domain = 0, sscanf(id, "%x:%x.%x", &bus, &slot, &function)) < 2)
        return ML_INVALID_ARGUMENT;
    if (domain || bus || function || slot >= ml.devices) return ML_NOT_FOUND;
    *out = &ml.device[slot];
    return ML_OK;
}
ML_API(nvmlDeviceGetHandleByPciBusId)(const char *id, struct ml_device **out)
{
    return lkml_nvmlDeviceGetHandleByPciBusId_v2(id, out);
}

/* ---- what a device is ---- */

ML_API(nvmlDeviceGetName)(struct ml_device *d, char *out, unsigned size)
{
    ENTER(out);
    return text_out(out, size, card_driver_name(d->card));
}
ML_API(nvmlDeviceGetUUID)(struct ml_device *d, char *out, unsigned size)
{
    char text[48];
    ENTER(out);
    uuid_text(d, text);
    return text_out(out, size, text);
}
static ml_result number(struct ml_device *d, unsigned *out, u32 value)
{
    ENTER(out);
    *out = value;
    return ML_OK;
}
ML_API(nvmlDeviceGetIndex)(struct ml_device *d, unsigned *out)
{
    ENTER(out);
    return number(d, out, d->index);
}
ML_API(nvmlDeviceGetMinorNumber)(struct ml_device *d, unsigned *out)
{
    ENTER(out);
    return number(d, out, d->index);
}
ML_API(nvmlDeviceGetCudaComputeCapability)(struct ml_device *d, int *major, int *minor)
{
    ENTER(major);
    if (!cu_ok(minor)) return ML_INVALID_ARGUMENT;
    *major = (int)d->card->sm / 10;
    *minor = (int)d->card->sm % 10;
    return ML_OK;
}
ML_API(nvmlDeviceGetArchitecture)(struct ml_device *d, unsigned *out)
{
    ENTER(out);
    u32 sm = d->card->sm; /* nvmlDeviceArchitecture_t: Volta 5, Turing 6, Ampere 7, Ada 8, Hopper 9, Blackwell 10 */
    *out = sm >= 100 ? 10 : sm >= 90 ? 9 : sm >= 89 ? 8 : sm >= 80 ? 7 : sm >= 75 ? 6 : sm >= 70 ? 5 : 4;
    return ML_OK;
}
ML_API(nvmlDeviceGetPciInfo_v3)(struct ml_device *d, struct ml_pci *out)
{
    ENTER(out);
    *out = (struct ml_pci){ .device = d->index, .id = 0x10de };
    snprintf(out->legacy, sizeof out->legacy, "0000:00:%02X.0", d->index);
    snprintf(out->text, sizeof out->text, "00000000:00:%02X.0", d->index);
    return ML_OK;
}
/* Before release 3 the struct ended with reserved words, in the place of the long text. */
ML_API(nvmlDeviceGetPciInfo_v2)(struct ml_device *d, struct ml_pci *out)
{
    struct ml_pci made;
    ml_result r = lkml_nvmlDeviceGetPciInfo_v3(d, &made);
    if (!r && !bytes_readable(out, offsetof(struct ml_pci, text))) r = ML_INVALID_ARGUMENT;
    if (!r) memcpy(out, &made, offsetof(struct ml_pci, text));
    return r;
}
ML_API(nvmlDeviceGetPciInfo)(struct ml_device *d, struct ml_pci *out) { return lkml_nvmlDeviceGetPciInfo_v2(d, out); }

ML_API(nvmlDeviceGetPersistenceMode)(struct ml_device *d, unsigned *out) { return number(d, out, 1); }
ML_API(nvmlDeviceGetComputeMode)(struct ml_device *d, unsigned *out) { return number(d, out, 0); } /* shared */
ML_API(nvmlDeviceGetPerformanceState)(struct ml_device *d, unsigned *out) { return number(d, out, 0); }
ML_API(nvmlDeviceGetNumGpuCores)(struct ml_device *d, unsigned *out)
{
    ENTER(out);
    u32 sm = d->card->sm; /* cores of a multiprocessor */
    return number(d, out, d->card->sms * (sm == 80 || sm < 80 ? 64 : 128));
}

/* ---- memory, load, processes ---- */

/* The device of CUDA on this card; NULL: the process has none. */
static const struct cu_device *cuda_device(const struct ml_device *d)
{
    if (cu_begin()) return NULL;
    for (u32 i = 0; i < cu_process.devices; i++)
        if (cu_process.device[i].number == d->index && cu_process.device[i].gpu) return &cu_process.device[i];
    return NULL;
}
static u64 used_of(const struct ml_device *d)
{
    const struct cu_device *c = cuda_device(d);
    return c ? lk_memory_live(c->gpu) : 0;
}

ML_API(nvmlDeviceGetMemoryInfo)(struct ml_device *d, struct ml_memory *out)
{
    ENTER(out);
    u64 used = MIN_OF(used_of(d), d->card->memory);
    *out = (struct ml_memory){ d->card->memory, d->card->memory - used, used };
    return ML_OK;
}
ML_API(nvmlDeviceGetMemoryInfo_v2)(struct ml_device *d, struct ml_memory_v2 *out)
{
    ENTER(out);
    if (out->version != (sizeof *out | 2u << 24)) return ML_VERSION_MISMATCH;
    u64 used = MIN_OF(used_of(d), d->card->memory);
    *out = (struct ml_memory_v2){ out->version, d->card->memory, 0, d->card->memory - used, used };
    return ML_OK;
}

ML_API(nvmlDeviceGetUtilizationRates)(struct ml_device *d, struct ml_load *out)
{
    ENTER(out);
    const struct cu_device *c = cuda_device(d);
    lk_progress p = { .size = sizeof p };
    bool busy = c && lk_gpu_progress(c->gpu, &p);
    *out = (struct ml_load){ busy ? 100 : 0, (unsigned)(used_of(d) * 100 / d->card->memory) };
    return ML_OK;
}

static ml_result processes(struct ml_device *d, unsigned *count, void *out, size_t each)
{
    ENTER(count);
    u32 n = cuda_device(d) != NULL, room = *count;
    struct ml_process mine = { (unsigned)getpid(), used_of(d), UINT32_MAX, UINT32_MAX };
    *count = n;
    if (room < n) return ML_INSUFFICIENT_SIZE;
    if (n && !bytes_readable(out, each)) return ML_INVALID_ARGUMENT;
    if (n) memcpy(out, &mine, each);
    return ML_OK;
}
#define PROCESSES(name)                                                     \
    ML_API(name)(struct ml_device * d, unsigned *n, void *out)              \
    {                                                                       \
        return processes(d, n, out, offsetof(struct ml_process, instance)); \
    }                                                                       \
    ML_API(name##_v2)(struct ml_device * d, unsigned *n, void *out)         \
    {                                                                       \
        return processes(d, n, out, sizeof(struct ml_process));             \
    }                                                                       \
    ML_API(name##_v3)(struct ml_device * d, unsigned *n, void *out)         \
    {                                                                       \
        return processes(d, n, out, sizeof(struct ml_process));             \
    }
PROCESSES(nvmlDeviceGetComputeRunningProcesses)
static ml_result no_processes(struct ml_device *d, unsigned *n)
{
    ENTER(n);
    *n = 0;
    return ML_OK;
}
ML_API(nvmlDeviceGetGraphicsRunningProcesses)(struct ml_device *d, unsigned *n) { return no_processes(d, n); }
ML_API(nvmlDeviceGetGraphicsRunningProcesses_v2)(struct ml_device *d, unsigned *n) { return no_processes(d, n); }
ML_API(nvmlDeviceGetGraphicsRunningProcesses_v3)(struct ml_device *d, unsigned *n) { return no_processes(d, n); }

/* ---- clocks ---- */

enum { CLOCK_MEMORY = 2, CLOCKS = 4 }; /* nvmlClockType_t */
static ml_result clock_of(struct ml_device *d, unsigned type, unsigned *out)
{
    ENTER(out);
    if (type >= CLOCKS) return ML_INVALID_ARGUMENT;
    if (type == CLOCK_MEMORY) return ML_NOT_SUPPORTED; /* the card has the bandwidth only */
    return number(d, out, d->card->clock_mhz);
}
ML_API(nvmlDeviceGetClockInfo)(struct ml_device *d, unsigned type, unsigned *out) { return clock_of(d, type, out); }
ML_API(nvmlDeviceGetMaxClockInfo)(struct ml_device *d, unsigned type, unsigned *out) { return clock_of(d, type, out); }
ML_API(nvmlDeviceGetApplicationsClock)(struct ml_device *d, unsigned type, unsigned *out)
{
    return clock_of(d, type, out);
}

/* ---- between devices ---- */

ML_API(nvmlDeviceGetNvLinkState)(struct ml_device *d, unsigned link, unsigned *active)
{
    ENTER(active);
    if (link >= 18) return ML_INVALID_ARGUMENT;
    *active = 0;
    return ML_OK;
}
ML_API(nvmlDeviceGetP2PStatus)(struct ml_device *d, struct ml_device *peer, unsigned which, unsigned *status)
{
    enum { P2P_NOT_SUPPORTED = 5 }; /* a kernel uses memory of its own device */
    (void)which;
    ENTER(status);
    if ((r = enter(peer, status, sizeof *status))) return r;
    *status = P2P_NOT_SUPPORTED;
    return ML_OK;
}
ML_API(nvmlDeviceGetTopologyCommonAncestor)(struct ml_device *d, struct ml_device *peer, unsigned *level)
{
    ENTER(level);
    if ((r = enter(peer, level, sizeof *level))) return r;
    *level = 30; /* NVML_TOPOLOGY_HOSTBRIDGE */
    return ML_OK;
}

/* Clocks of a software GPU are never throttled: no reason is in force, and none can be. */
static ml_result no_reasons(const struct ml_device *d, unsigned long long *reasons)
{
    ENTER(reasons);
    *reasons = 0;
    return ML_OK;
}
ML_API(nvmlDeviceGetCurrentClocksThrottleReasons)(struct ml_device *d, unsigned long long *reasons)
{
    return no_reasons(d, reasons);
}
ML_API(nvmlDeviceGetCurrentClocksEventReasons)(struct ml_device *d, unsigned long long *reasons)
{
    return no_reasons(d, reasons);
}
ML_API(nvmlDeviceGetSupportedClocksThrottleReasons)(struct ml_device *d, unsigned long long *reasons)
{
    return no_reasons(d, reasons);
}
ML_API(nvmlDeviceGetSupportedClocksEventReasons)(struct ml_device *d, unsigned long long *reasons)
{
    return no_reasons(d, reasons);
}

/* ---- what a software GPU has not ---- */

/* The call ignores its arguments. */
#define ML(symbol)
#define ML_NONE(symbol)                  \
    ML_API(symbol)(void)                 \
    {                                    \
        ml_result r = begin();           \
        return r ? r : ML_NOT_SUPPORTED; \
    }
#include "abi/ml.def"
