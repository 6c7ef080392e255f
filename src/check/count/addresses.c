/* Distinct addresses of a warp's access, and their distance. */
#include "count/addresses.h"

void addresses_of(const u64 addr[LANES], u32 mask, struct addresses *out)
{
    enum { SLOTS = 2 * LANES };
    u8 slot[SLOTS] = { 0 }, lanes[LANES]; /* number of the address + 1; lanes of each */
    u64 seen[LANES];
    *out = (struct addresses){ 0 };
    EACH_SET (l, mask) {
        u64 a = addr[l];
        u32 h = (u32)(a * 0x9e3779b97f4a7c15u >> 58), k;
        while (slot[h] && seen[slot[h] - 1] != a) h = (h + 1) % SLOTS;
        if (!slot[h]) {
            seen[out->distinct] = a;
            lanes[out->distinct] = 0;
            slot[h] = (u8)++out->distinct;
        }
        k = slot[h] - 1u;
        lanes[k]++;
        if (lanes[k] > out->most) out->most = lanes[k];
    }
}

bool addresses_stride(const u64 addr[LANES], u32 mask, s64 *stride)
{
    u32 first = (u32)__builtin_ctz(mask), rest = mask & (mask - 1);
    if (!rest) return false;
    u32 next = (u32)__builtin_ctz(rest);
    s64 apart = (s64)(addr[next] - addr[first]), each = apart / (s64)(next - first);
    if (each * (s64)(next - first) != apart) return false;
    EACH_SET (l, rest) {
        if (addr[l] != addr[first] + (u64)(each * (s64)(l - first))) return false;
    }
    *stride = each;
    return true;
}
