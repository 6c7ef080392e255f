/* Devices and their attributes. */
#include "driver/cu.h"
#include "card/card.h"

/* The beginning of every call about a device. */
static cu_result enter(int device, struct cu_device **d)
{
    cu_result r = cu_begin();
    *d = cu_device_at(device);
    return r ? r : *d ? CU_OK : CU_INVALID_DEVICE;
}

CU_API(cuDeviceGetCount)(int *count)
{
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_ok(count)) return CU_INVALID_VALUE;
    *count = (int)cu_process.devices;
    return CU_OK;
}

CU_API(cuDeviceGet)(int *device, int ordinal)
{
    struct cu_device *d;
    cu_result r = enter(ordinal, &d);
    if (r) return r;
    if (!cu_ok(device)) return CU_INVALID_VALUE;
    *device = ordinal;
    return CU_OK;
}

CU_API(cuDeviceGetName)(char *name, int size, int device)
{
    struct cu_device *d;
    cu_result r = enter(device, &d);
    if (r) return r;
    if (!cu_ok(name) || size <= 0) return CU_INVALID_VALUE;
    snprintf(name, (size_t)size, "%s", card_driver_name(d->card));
    return CU_OK;
}

CU_API(cuDeviceTotalMem_v2)(u64 *bytes, int device)
{
    struct cu_device *d;
    cu_result r = enter(device, &d);
    if (r) return r;
    if (!bytes) return CU_INVALID_VALUE;
    *bytes = d->card->memory;
    return CU_OK;
}

/* The interface before 3.2 has 32 bits. */
CU_API(cuDeviceTotalMem)(u32 *bytes, int device)
{
    u64 all;
    cu_result r = cu_ok(bytes) ? lkcu_cuDeviceTotalMem_v2(&all, device) : CU_INVALID_VALUE;
    if (!r) *bytes = (u32)MIN_OF(all, (u64)UINT32_MAX);
    return r;
}

/* Affinity is a share of a device that several processes use (MPS). */
CU_API(cuDeviceGetExecAffinitySupport)(int *out, u32 type, int device)
{
    struct cu_device *d;
    cu_result r = enter(device, &d);
    if (r) return r;
    if (!cu_ok(out) || type) return CU_INVALID_VALUE;
    *out = 0;
    return CU_OK;
}

CU_API(cuDeviceComputeCapability)(int *major, int *minor, int device)
{
    struct cu_device *d;
    cu_result r = enter(device, &d);
    if (r) return r;
    if (!cu_ok(major) || !cu_ok(minor)) return CU_INVALID_VALUE;
    *major = (int)d->card->sm / 10;
    *minor = (int)d->card->sm % 10;
    return CU_OK;
}

static bool attribute_of(const struct cu_device *d, int which, int *value)
{
    const struct card *p = d->card;
    switch (which) {
#define ATTRIBUTE(number, name, v) \
    case number:                   \
        *value = (int)(v);         \
        return true;
#include "abi/cu_attribute.def"
#undef ATTRIBUTE
    default: return false;
    }
}

CU_API(cuDeviceGetAttribute)(int *value, int which, int device)
{
    struct cu_device *d;
    cu_result r = enter(device, &d);
    if (r) return r;
    return value && attribute_of(d, which, value) ? CU_OK : CU_INVALID_VALUE;
}

/* The struct of CUDA 1: what it has is among the attributes. */
CU_API(cuDeviceGetProperties)(int out[14], int device)
{
    static const int which[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 };
    struct cu_device *d;
    cu_result r = enter(device, &d);
    if (r) return r;
    if (!cu_ok(out)) return CU_INVALID_VALUE;
    for (u32 i = 0; i < COUNT_OF(which); i++) attribute_of(d, which[i], &out[i]);
    return CU_OK;
}

void cu_card_uuid(u32 number, const struct card *p, u8 out[16])
{
    u64 h = 0xcbf29ce484222325u ^ number;
    for (const char *c = p->name; *c; c++) h = (h ^ (u8)*c) * 0x100000001b3u;
    memcpy(out, "Lockstep", 8);
    memcpy(out + 8, &h, 8);
}

void cu_card_uuid_text(u32 number, const struct card *p, char out[48])
{
    u8 u[16];
    cu_card_uuid(number, p, u);
    snprintf(out, 48, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1], u[2],
             u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
}

CU_API(cuDeviceGetUuid)(u8 out[16], int device)
{
    struct cu_device *d;
    cu_result r = enter(device, &d);
    if (r) return r;
    if (!cu_ok(out)) return CU_INVALID_VALUE;
    cu_card_uuid(d->number, d->card, out);
    return CU_OK;
}
CU_API(cuDeviceGetUuid_v2)(u8 out[16], int device) { return lkcu_cuDeviceGetUuid(out, device); }

/* Only Windows has them. */
CU_API(cuDeviceGetLuid)(char *luid, unsigned *mask, int device)
{
    struct cu_device *d;
    cu_result r = enter(device, &d);
    if (r) return r;
    return cu_ok(luid) && cu_ok(mask) ? CU_NOT_SUPPORTED : CU_INVALID_VALUE;
}

CU_API(cuDeviceGetPCIBusId)(char *out, int size, int device)
{
    struct cu_device *d;
    cu_result r = enter(device, &d);
    if (r) return r;
    if (!cu_ok(out) || size < 13) return CU_INVALID_VALUE;
    snprintf(out, (size_t)size, "0000:00:%02X.0", d->number);
    return CU_OK;
}

CU_API(cuDeviceGetByPCIBusId)(int *device, const char *id)
{
    unsigned domain = 0, bus, slot, function = 0;
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_ok(device) || !cu_ok(id)) return CU_INVALID_VALUE;
    if (sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3 &&
        (domain = 0, sscanf(id, "%x:%x.%x", &bus, &slot, &function)) < 2)
        return CU_INVALID_VALUE;
    for (u32 i = 0; i < cu_process.devices && !domain && !bus && !function; i++) {
        if (cu_process.device[i].number != slot) continue;
        *device = (int)i;
        return CU_OK;
    }
    return CU_INVALID_DEVICE;
}

/* ---- between devices ---- */

CU_API(cuDeviceCanAccessPeer)(int *can, int device, int peer)
{
    struct cu_device *a, *b;
    cu_result r = enter(device, &a);
    if (r || (r = enter(peer, &b))) return r;
    if (!cu_ok(can)) return CU_INVALID_VALUE;
    *can = 0; /* copies between devices work; a kernel uses memory of its own device */
    return CU_OK;
}
CU_API(cuDeviceGetP2PAttribute)(int *value, int which, int device, int peer)
{
    struct cu_device *a, *b;
    cu_result r = enter(device, &a);
    if (r || (r = enter(peer, &b))) return r;
    if (a == b) return CU_INVALID_DEVICE;
    if (!cu_ok(value) || which < 1 || which > 5) return CU_INVALID_VALUE;
    *value = 0;
    return CU_OK;
}
/* Which atomic operations work over a link: to the host over PCIe, and between devices, none natively. */
static cu_result capabilities(u32 *out, const u32 *operation, unsigned n)
{
    enum { OPERATIONS = 12 };
    if (!n || !bytes_readable(out, n * sizeof *out) || !bytes_readable(operation, n * sizeof *operation))
        return CU_INVALID_VALUE;
    for (u32 i = 0; i < n; i++) {
        if (operation[i] > OPERATIONS) return CU_INVALID_VALUE;
        out[i] = 0;
    }
    return CU_OK;
}
CU_API(cuDeviceGetHostAtomicCapabilities)(u32 *out, const u32 *operation, unsigned n, int device)
{
    struct cu_device *d;
    cu_result r = enter(device, &d);
    return r ? r : capabilities(out, operation, n);
}
CU_API(cuDeviceGetP2PAtomicCapabilities)(u32 *out, const u32 *operation, unsigned n, int device, int peer)
{
    struct cu_device *a, *b;
    cu_result r = enter(device, &a);
    if (r || (r = enter(peer, &b))) return r;
    return a == b ? CU_INVALID_DEVICE : capabilities(out, operation, n);
}
CU_API(cuCtxEnablePeerAccess)(struct cu_context *peer, unsigned flags)
{
    struct cu_context *c;
    cu_result r = cu_current(&c);
    if (r) return r;
    if (flags) return CU_INVALID_VALUE;
    return cu_handle_is(peer, CU_CONTEXT) ? CU_PEER_UNSUPPORTED : CU_INVALID_CONTEXT;
}
CU_API(cuCtxDisablePeerAccess)(struct cu_context *peer)
{
    struct cu_context *c;
    cu_result r = cu_current(&c);
    if (r) return r;
    return cu_handle_is(peer, CU_CONTEXT) ? CU_PEER_NOT_ENABLED : CU_INVALID_CONTEXT;
}

/* ---- profilers have nothing to start ---- */

CU_API(cuProfilerStart)(void)
{
    struct cu_context *c;
    return cu_current(&c);
}
CU_API(cuProfilerStop)(void)
{
    struct cu_context *c;
    return cu_current(&c);
}
