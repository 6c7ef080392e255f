/* Distinct sectors of a warp's access. Lanes mostly ascend, so that equal sectors are neighbours; a table of 64 slots
 * serves the others. */
#include "count/sectors.h"

enum { SLOTS = 2 * LANES };

static u32 bytes_at(u64 addr, u32 bytes)
{
    u32 bits = bytes >= SECTOR_BYTES ? ~0u : (1u << bytes) - 1;
    return bits << (addr & (SECTOR_BYTES - 1));
}

static void add(struct sectors *s, u64 id, u32 used)
{
    s->id[s->n] = id;
    s->used[s->n++] = used;
}

static u32 bytes_of(const struct sectors *s)
{
    u32 sum = 0;
    for (u32 k = 0; k < s->n; k++) sum += (u32)__builtin_popcount(s->used[k]);
    return sum;
}

/* Lanes in any order. */
static void scattered(const u64 addr[LANES], u32 mask, u32 bytes, struct sectors *out)
{
    u8 slot[SLOTS] = { 0 }; /* number of the sector + 1 */
    out->n = 0;
    EACH_SET (l, mask) {
        u64 a = addr[l], id = a >> SECTOR_SHIFT;
        u32 h = (u32)(id * 0x9e3779b97f4a7c15u >> 58);
        while (slot[h] && out->id[slot[h] - 1] != id) h = (h + 1) % SLOTS;
        if (slot[h]) {
            out->used[slot[h] - 1] |= bytes_at(a, bytes);
            continue;
        }
        add(out, id, bytes_at(a, bytes));
        slot[h] = (u8)out->n;
    }
    out->bytes = bytes_of(out);
}

void sectors_of(const u64 addr[LANES], u32 mask, u32 bytes, struct sectors *out)
{
    out->n = 0;
    EACH_SET (l, mask) {
        u64 a = addr[l], id = a >> SECTOR_SHIFT;
        u32 last = out->n - 1;
        if (out->n && out->id[last] == id)
            out->used[last] |= bytes_at(a, bytes);
        else if (out->n && out->id[last] > id) {
            scattered(addr, mask, bytes, out);
            return;
        } else
            add(out, id, bytes_at(a, bytes));
    }
    out->bytes = bytes_of(out);
}

static bool all_alike(const u64 at[LANES], u32 mask)
{
    u64 first = at[__builtin_ctz(mask)];
    EACH_SET (l, mask)
        if (at[l] != first) return false;
    return true;
}

/* Eight lanes share a sector. */
static u32 octets(u32 mask)
{
    return !!(mask & 0xff) + !!(mask & 0xff00) + !!(mask & 0xff0000) + !!(mask & 0xff000000);
}

void sectors_local(const u64 at[LANES], u32 mask, u32 bytes, struct sectors *out)
{
    u32 words = (bytes + 3) / 4, n = 0, sum = 0;
    if (all_alike(at, mask)) {
        out->n = words * octets(mask);
        out->bytes = bytes * (u32)__builtin_popcount(mask);
        return;
    }
    for (u32 k = 0; k < words; k++) {
        u64 place[LANES];
        for (u32 l = 0; l < LANES; l++) place[l] = ((at[l] / 4 + k) * LANES + l) * 4 + at[l] % 4;
        sectors_of(place, mask, MIN_OF(bytes, 4u), out);
        n += out->n;
        sum += out->bytes;
    }
    out->n = n;
    out->bytes = sum;
}
