/* The GPUs that the driver of this machine has, without opening one. */
#include "gpu/driver.h"

static u32 attribute(const struct driver *c, enum cu_attribute which, int device)
{
    int value = 0;
    return c->attribute(&value, (int)which, device) ? 0 : (u32)value;
}

static bool read_one(const struct driver *c, u32 i, struct gpu_found *out, struct error *e)
{
    int device;
    size_t bytes = 0;
    char text[300];
    *out = (struct gpu_found){ 0 };
    cu_result code = c->get(&device, (int)i);
    if (!code) code = c->name(out->name, (int)sizeof out->name, device);
    if (!code) code = c->total(&bytes, device);
    if (code) return error_set(e, ERR_INPUT, "GPU %u: %s", i, driver_error(c, code, text, sizeof text));
    out->memory = bytes;
    out->sm = attribute(c, CU_MAJOR, device) * 10 + attribute(c, CU_MINOR, device);
    out->multiprocessors = attribute(c, CU_SMS, device);
    out->pageable = attribute(c, CU_PAGEABLE, device);
    out->clock_khz = attribute(c, CU_CLOCK_KHZ, device);
    return true;
}

u32 gpu_list(u32 i, struct gpu_found *out, struct error *e)
{
    struct driver c = { 0 };
    int n = 0;
    char text[300];
    if (!driver_open(&c, e)) return 0;
    cu_result code = c.init(0);
    if (!code) code = c.count(&n);
    if (code || n <= 0)
        error_set(e, ERR_NOTHING, "no GPU here: %s says %s", c.path,
                  code ? driver_error(&c, code, text, sizeof text) : "there is no device");
    else if (out && i >= (u32)n)
        error_set(e, ERR_INPUT, "no GPU %u here: there %s %d, counted from 0", i, n == 1 ? "is" : "are", n);
    else if (out)
        read_one(&c, i, out, e);
    driver_close(&c);
    return code || n < 0 ? 0 : (u32)n;
}
