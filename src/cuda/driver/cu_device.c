/* Devices and their attributes. */
#include "driver/cu_check.h"
#include "driver/cu.h"
#include "card/card.h"

CU_DEFINE(cuDeviceGetCount, int *, count)
{
    *count = (int)cu_process.devices;
    return CU_OK;
}

CU_DEFINE(cuDeviceGet, int *, device, int, ordinal)
{
    *device = ordinal;
    return CU_OK;
}

CU_DEFINE(cuDeviceGetName, char *, name, int, size, int, device)
{
    snprintf(name, (size_t)size, "%s", card_driver_name(here.device->card));
    return CU_OK;
}

CU_DEFINE(cuDeviceTotalMem_v2, u64 *, bytes, int, device)
{
    *bytes = here.device->card->memory;
    return CU_OK;
}

/* The interface before 3.2 has 32 bits. */
CU_DEFINE(cuDeviceTotalMem, u32 *, bytes, int, device)
{
    u64 all;
    cu_result r = lkcu_cuDeviceTotalMem_v2(&all, device);
    if (!r) *bytes = (u32)MIN_OF(all, (u64)UINT32_MAX);
    return r;
}

/* Affinity is a share of a device that several processes use (MPS). */
CU_DEFINE(cuDeviceGetExecAffinitySupport, int *, out, u32, type, int, device)
{
    *out = 0;
    return CU_OK;
}

CU_DEFINE(cuDeviceComputeCapability, int *, major, int *, minor, int, device)
{
    *major = (int)here.device->card->sm / 10;
    *minor = (int)here.device->card->sm % 10;
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

CU_DEFINE(cuDeviceGetAttribute, int *, value, int, which, int, device)
{
    return attribute_of(here.device, which, value) ? CU_OK : CU_INVALID_VALUE;
}

/* The struct of CUDA 1: what it has is among the attributes. */
CU_DEFINE(cuDeviceGetProperties, int *, out, int, device)
{
    static const int which[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 };
    for (u32 i = 0; i < COUNT_OF(which); i++) attribute_of(here.device, which[i], &out[i]);
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

CU_DEFINE(cuDeviceGetUuid, u8 *, out, int, device)
{
    cu_card_uuid(here.device->number, here.device->card, out);
    return CU_OK;
}
CU_API(cuDeviceGetUuid_v2)(u8 out[16], int device) { return lkcu_cuDeviceGetUuid(out, device); }

/* Only Windows has them. */
CU_DEFINE(cuDeviceGetLuid, char *, luid, unsigned *, mask, int, device) { return CU_NOT_SUPPORTED; }

CU_DEFINE(cuDeviceGetPCIBusId, char *, out, int, size, int, device)
{
    if (size < 13) return CU_INVALID_VALUE;
    snprintf(out, (size_t)size, "0000:00:%02X.0", here.device->number);
    return CU_OK;
}

CU_DEFINE(cuDeviceGetByPCIBusId, int *, device, const char *, id)
{
    unsigned domain = 0, bus, slot, function = 0;
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

CU_DEFINE(cuDeviceCanAccessPeer, int *, can, int, device, int, peer)
{
    *can = 0; /* copies between devices work; a kernel uses memory of its own device */
    return CU_OK;
}
CU_DEFINE(cuDeviceGetP2PAttribute, int *, value, int, which, int, device, int, peer)
{
    if (device == peer) return CU_INVALID_DEVICE;
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
CU_DEFINE(cuDeviceGetHostAtomicCapabilities, u32 *, out, const u32 *, operation, unsigned, n, int, device)
{
    return capabilities(out, operation, n);
}
CU_DEFINE(cuDeviceGetP2PAtomicCapabilities, u32 *, out, const u32 *, operation, unsigned, n, int, device, int, peer)
{
    return device == peer ? CU_INVALID_DEVICE : capabilities(out, operation, n);
}
CU_DEFINE(cuCtxEnablePeerAccess, struct cu_context *, peer, unsigned, flags) { return CU_PEER_UNSUPPORTED; }
CU_DEFINE(cuCtxDisablePeerAccess, struct cu_context *, peer) { return CU_PEER_NOT_ENABLED; }

/* ---- profilers have nothing to start ---- */

CU_DEFINE(cuProfilerStart) { return CU_OK; }
CU_DEFINE(cuProfilerStop) { return CU_OK; }
